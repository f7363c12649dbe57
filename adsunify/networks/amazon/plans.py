"""Changes at Amazon Ads as plans. Every write sends an array, and every item has its own result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache, partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, assess_risk
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.lifecycle import ID_OUTPUT, build_plan, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, get_level
from adsunify.errors import Issue
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, ItemBatch, Kind, Outputs, Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text

from . import reads
from .native import (
    DOWN_ONLY,
    ELIGIBLE_WITH_WARNING,
    INELIGIBLE,
    MANUAL_TARGETING,
    PAUSED,
    SCOPE_HEADER,
    build_daily_budget,
    get_base_url,
    get_collection_member,
    get_id_filter_member,
    get_id_member,
    get_media_type,
    get_serving_days,
)
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, NETWORK
from .targeting import build_eligibility_request, build_sku_products_request, parse_products

KEYWORDS_KEY = "keywords"
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_level_write(account: Account, level: Level, method: str, path: str, body: Json) -> Request:
    media_type = get_media_type(level)
    headers = {"Content-Type": media_type, "Accept": media_type, SCOPE_HEADER: account.native_id}
    return Request(method, get_base_url(account) + path, headers=headers, body=body, encoding="json", kind="write")


def _build_items_request(account: Account, level: Level, method: str, items: Sequence[Mapping[str, Json]]) -> Request:
    return _build_level_write(account, level, method, level.path, {get_collection_member(level): list(items)})


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity. The step's key is the entity's kind."""
    request = _build_items_request(account, level, "POST", [members])
    return Step(level.kind, level.kind, does, request, bindings=bindings, items=_get_created_items(level))


@cache
def _get_created_items(level: Level) -> ItemBatch:
    return ItemBatch(f"/body/{get_collection_member(level)}", ID_OUTPUT, many=False)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of one entity."""
    id_member = get_id_member(level)
    request = _build_items_request(account, level, "PUT", [{id_member: entity_id, **members}])
    items = ItemBatch(f"/body/{get_collection_member(level)}", ID_OUTPUT, sent=id_member, many=False)
    return Step(level.kind, level.kind, does, request, "update", entity_id, items=items)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)
_KEYWORD_ITEMS = f"/body/{get_collection_member(KEYWORD)}"


# -- create -------------------------------------------------------------------------------------------------------


def _build_dated_campaign(account: Account, brief: CampaignBrief, first: date, last: date | None) -> dict[str, Json]:
    return {
        "name": brief.name,
        "targetingType": MANUAL_TARGETING,
        "state": PAUSED,
        "budget": build_daily_budget(
            to_native_amount(NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount")
        ),
        "startDate": first.isoformat(),
        **({"endDate": last.isoformat()} if last is not None else {}),
        "dynamicBidding": {"strategy": DOWN_ONLY, "placementBidding": []},
    }


def _build_keywords(brief: CampaignBrief, bid: Json) -> list[dict[str, Json]]:
    return [
        {"state": PAUSED, "keywordText": keyword.text, "matchType": keyword.match.upper(), "bid": bid}
        for keyword in brief.targeting.keywords or ()
    ]


@cache
def _bind_parents(level: Level, *parents: Level, count: int = 1) -> tuple[Binding, ...]:
    """Bind the IDs of created parents into every entity of a step."""
    entities = f"/body/{get_collection_member(level)}"
    return tuple(
        Binding(f"{entities}/{position}/{get_id_member(parent)}", parent.kind, ID_OUTPUT)
        for position in range(count)
        for parent in parents
    )


def _format_days_warning(account: Account, first: date, last: date | None) -> str:
    end = f"to 24:00 of {last}" if last is not None else "without an end"
    return f"Amazon Ads keeps whole days: it serves from 00:00 of {first} {end}, {require_timezone(account)} time."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign, an ad group, a product ad and keywords, all paused."""
    first, last = get_serving_days(account, brief)
    bid = to_native_amount(NETWORK.get_money_unit(account), brief.bid or "", "bid")
    sku, asin = brief.platform.sku, brief.platform.asin
    keywords = _build_keywords(brief, bid)
    group = {"name": brief.name, "state": PAUSED, "defaultBid": bid}
    product = {"sku": sku} if sku is not None else {"asin": asin}
    does_campaign = f"Create the paused campaign {brief.name} with its daily budget."
    does_ad_group = "Create its paused ad group with the default bid."
    does_ad = f"Create the paused ad for {sku or asin}."
    steps = (
        _build_create_step(account, CAMPAIGN, does_campaign, _build_dated_campaign(account, brief, first, last)),
        _build_create_step(account, AD_GROUP, does_ad_group, group, *_bind_parents(AD_GROUP, CAMPAIGN)),
        _build_create_step(account, AD, does_ad, {"state": PAUSED, **product}, *_bind_parents(AD, CAMPAIGN, AD_GROUP)),
        Step(
            *(KEYWORDS_KEY, KEYWORD.kind, f"Create {len(keywords)} paused keywords."),
            _build_items_request(account, KEYWORD, "POST", keywords),
            bindings=_bind_parents(KEYWORD, CAMPAIGN, AD_GROUP, count=len(keywords)),
            items=ItemBatch(_KEYWORD_ITEMS, ID_OUTPUT),
        ),
    )
    warnings = (_format_days_warning(account, first, last),)
    return (yield from completed_plan(NETWORK, account, "create", *steps, warnings=warnings))


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Plan the activation of the keywords, ad, ad group and campaign that the source operation created."""
    id_member, state = get_id_member(KEYWORD), {"state": KEYWORD.writable_statuses["active"]}
    items = [{id_member: keyword_id, **state} for keyword_id in outputs[KEYWORDS_KEY][ID_OUTPUT]]
    steps = [
        Step(
            *(f"activate_{KEYWORDS_KEY}", KEYWORD.kind, f"Enable the {len(items)} keywords."),
            _build_items_request(account, KEYWORD, "PUT", items),
            action="update",
            items=ItemBatch(_KEYWORD_ITEMS, ID_OUTPUT, sent=id_member),
        )
    ]
    for step in lifecycle.build_activation_steps(NETWORK, _build_status_step, account, outputs):
        level = get_level(NETWORK, step.kind)
        steps.append(evolve(step, description=f"Enable the {level.label} {step.entity}."))
    return (yield from completed_plan(NETWORK, account, "activate", *steps, risk="spend"))


plan_status = partial(lifecycle.plan_status, NETWORK, _build_status_step)


# -- native -------------------------------------------------------------------------------------------------------


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id)
    members = create.members
    if level is AD and create.parent_id is not None and get_id_member(CAMPAIGN) not in members:
        group = yield from reads.fetch_entity(account, AD_GROUP.kind, create.parent_id)
        members[get_id_member(CAMPAIGN)] = group.parent_id
    does = f"Create one {level.label} as given, {'serving at once' if create.is_active else 'paused'}."
    step = evolve(_build_create_step(account, level, does, members), parent=create.parent_id)
    return build_plan(NETWORK, account, "create", step, risk=create.risk)


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity."""
    id_member = get_id_member(get_level(NETWORK, kind))
    issues = lifecycle.check_same_id(payload, id_member, entity_id, "the entity")
    changed = {name: value for name, value in payload.items() if name != id_member}
    return lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, changed, parent_id, issues)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the archiving of one entity, which is final."""
    level = get_level(NETWORK, kind)
    name = get_id_filter_member(level)
    body = {name: {"include": [entity_id]}}
    request = _build_level_write(account, level, "POST", f"{level.path}/delete", body)
    items = ItemBatch(f"/body/{name}/include", ID_OUTPUT, sent=get_id_member(level), many=False)
    does = f"Archive the {level.label} {entity_id} for good."
    step = Step(kind, kind, does, request, action="delete", entity=entity_id, items=items)
    warnings = ("Archiving is final: it cannot be undone, and what is archived cannot be changed any more.",)
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive", warnings=warnings))


# -- edit ---------------------------------------------------------------------------------------------------------


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields of one entity. The entity is read first."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from reads.fetch_editable_entity(account, kind, entity_id)).native
    members, changes = lifecycle.merge_edit(NETWORK, account, kind, entity, edit, now, check_conflicts)
    warnings = []
    days = ", ".join(f"{name} {members[name] or 'none'}" for name in ("startDate", "endDate") if name in members)
    if days:
        warnings.append(f"Amazon Ads keeps whole days in the profile's time zone: {days}.")
    if "defaultBid" in members:
        warnings.append("Keywords that have a bid of their own keep it.")
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    return build_plan(NETWORK, account, "edit", step, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that the listing exists and may be advertised."""
    sku, asin = brief.platform.sku, brief.platform.asin
    path = "platform.sku" if sku is not None else "platform.asin"
    product: dict[str, Json] = {"asin": asin}
    if sku is not None:  # the request for eligibility needs the ASIN, not only the SKU
        products = parse_products((yield from fetch_response(NETWORK, build_sku_products_request(account, sku))))
        asin = get_text(products[0], "/asin") if products else None
        if asin is None:
            return [Issue(path, "not_found", "Amazon Ads: the seller has no listing with this sku.")], []
        product = {"asin": asin, "sku": sku}
    response = yield from fetch_response(NETWORK, build_eligibility_request(account, product))
    for answer in get_objects(response.body, "/productResponseList"):
        status = get_text(answer, "/overallStatus")
        reasons = "; ".join(
            get_text(reason, "/message") or get_text(reason, "/name") or ""
            for reason in get_objects(answer, "/eligibilityStatusList")
        )
        if status == INELIGIBLE:
            return [
                Issue(path, "ineligible", f"Amazon Ads: the listing may not be advertised: {reasons or status}.")
            ], []
        if status == ELIGIBLE_WITH_WARNING:
            return [], [f"Amazon Ads: the listing may be advertised, but may not be shown: {reasons or status}."]
    return [], []
