"""Changes at Amazon Ads as plans. Every write sends an array and is judged item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow, fetch_response
from adsunify.adapter.network import Account, Level, get_level, require_timezone, to_native_amount
from adsunify.errors import Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Change, ItemBatch, Kind, Outputs, Plan, Risk, Step, make_plan
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text

from . import reads
from .native import (
    DOWN_ONLY,
    ELIGIBLE_WITH_WARNING,
    ENABLED,
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
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, LIVE_STATUSES, NETWORK
from .targeting import build_eligibility_request, build_sku_products_request, parse_products

ID_OUTPUT = "id"
"""The output of every step: the id of what was written, or the ids in the order sent."""


# -- steps --------------------------------------------------------------------------------------------------------


def _build_write_request(account: Account, one: Level, method: str, path: str, body: Json) -> Request:
    headers = {"Content-Type": get_media_type(one), "Accept": get_media_type(one), SCOPE_HEADER: account.native_id}
    return Request(method, get_base_url(account) + path, headers=headers, body=body, encoding="json", kind="write")


def _build_create_step(
    account: Account,
    one: Level,
    entities: Sequence[Mapping[str, Json]],
    *,
    key: str,
    does: str,
    bindings: Sequence[Binding] = (),
    many: bool = False,
    parent: str | None = None,
) -> Step:
    name = get_collection_member(one)
    return Step(
        key,
        one.kind,
        does,
        _build_write_request(account, one, "POST", one.path, {name: [dict(entity) for entity in entities]}),
        parent=parent,
        bindings=tuple(bindings),
        items=ItemBatch(f"/body/{name}", ID_OUTPUT, many=many),
    )


def _build_update_step(
    account: Account,
    one: Level,
    ids: Sequence[str],
    changed: Mapping[str, Json],
    *,
    key: str,
    does: str,
    many: bool = False,
    changes: Sequence[Change] = (),
    parent: str | None = None,
) -> Step:
    name = get_collection_member(one)
    return Step(
        key,
        one.kind,
        does,
        _build_write_request(
            account, one, "PUT", one.path, {name: [{get_id_member(one): id_, **changed} for id_ in ids]}
        ),
        action="update",
        entity=None if many else ids[0],
        parent=parent,
        items=ItemBatch(f"/body/{name}", ID_OUTPUT, sent=get_id_member(one), many=many),
        changes=tuple(changes),
    )


# -- create -------------------------------------------------------------------------------------------------------


def _build_campaign(account: Account, brief: CampaignBrief, first: date, last: date | None) -> dict[str, Json]:
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
def _bind_parents(one: Level, *parents: Level, count: int = 1) -> tuple[Binding, ...]:
    """Bindings that put the ids of the steps before into every entity of a step."""
    entities = f"/body/{get_collection_member(one)}"
    return tuple(
        Binding(f"{entities}/{position}/{get_id_member(parent)}", parent.kind, ID_OUTPUT)
        for position in range(count)
        for parent in parents
    )


def _format_days_warning(account: Account, first: date, last: date | None) -> str:
    end = f"to 24:00 of {last}" if last is not None else "without an end"
    return f"Amazon Ads keeps whole days: it serves from 00:00 of {first} {end}, {require_timezone(account)} time."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group, product ad and keywords, all paused."""
    first, last = get_serving_days(account, brief)
    bid = to_native_amount(NETWORK.get_money_unit(account), brief.bid or "", "bid")
    sku, asin = brief.platform.sku, brief.platform.asin
    keywords = _build_keywords(brief, bid)
    group = {"name": brief.name, "state": PAUSED, "defaultBid": bid}
    product = {"sku": sku} if sku is not None else {"asin": asin}
    steps = (
        _build_create_step(
            account,
            CAMPAIGN,
            [_build_campaign(account, brief, first, last)],
            key=CAMPAIGN.kind,
            does=f"Create the paused campaign {brief.name} with its daily budget.",
        ),
        _build_create_step(
            account,
            AD_GROUP,
            [group],
            key=AD_GROUP.kind,
            does="Create its paused ad group with the default bid.",
            bindings=_bind_parents(AD_GROUP, CAMPAIGN),
        ),
        _build_create_step(
            account,
            AD,
            [{"state": PAUSED, **product}],
            key=AD.kind,
            does=f"Create the paused ad for {sku or asin}.",
            bindings=_bind_parents(AD, CAMPAIGN, AD_GROUP),
        ),
        _build_create_step(
            account,
            KEYWORD,
            keywords,
            key="keywords",
            does=f"Create {len(keywords)} paused keywords.",
            bindings=_bind_parents(KEYWORD, CAMPAIGN, AD_GROUP, count=len(keywords)),
            many=True,
        ),
    )
    warnings = (_format_days_warning(account, first, last),)
    return (yield from completed_flow(make_plan(NETWORK.code, "create", account.native_id, steps, warnings)))


# -- activate and status ------------------------------------------------------------------------------------------

# Leaves first, so that nothing serves before all of it is ready: step key of the create, level.
_ACTIVATION_ORDER = (("keywords", KEYWORD), ("ad", AD), ("adGroup", AD_GROUP), ("campaign", CAMPAIGN))


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Switches on exactly what the source operation made."""
    steps = []
    for key, one in _ACTIVATION_ORDER:
        made = outputs[key][ID_OUTPUT]
        ids = [made] if isinstance(made, str) else list(made)
        many = not isinstance(made, str)
        does = f"Enable the {len(ids)} keywords." if many else f"Enable the {one.native} {ids[0]}."
        state = {"state": one.writable_statuses["active"]}
        steps.append(_build_update_step(account, one, ids, state, key=f"activate_{key}", does=does, many=many))
    return (yield from completed_flow(make_plan(NETWORK.code, "activate", account.native_id, steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Sets one entity ``active`` or ``paused``."""
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"Amazon Ads sets a {kind} to {' or '.join(one.writable_statuses)}.")
    state = {"state": one.writable_statuses[status]}
    step = _build_update_step(
        account, one, [entity_id], state, key=kind, does=f"Set the {one.native} {entity_id} to {status}."
    )
    risk: Risk = "spend" if status == "active" else "low"
    return (yield from completed_flow(make_plan(NETWORK.code, "status", account.native_id, [step], risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------

_MONEY_MEMBERS = ("budget", "defaultBid", "bid")


def _ensure_same_id(payload: Mapping[str, Json], member: str, value: str, path: str) -> None:
    """Refuses a payload that names another id than the request does."""
    if member in payload and str(payload[member]) != value:
        raise invalid_input(
            f"payload.{member}", "conflict", f"{member} is another one than {path} says; give only one."
        )


def _get_payload_status(payload: Mapping[str, Json]) -> Json:
    state = payload.get("state")
    if "state" in payload and state not in LIVE_STATUSES:
        raise invalid_input(
            "payload.state", "choice", f"Amazon Ads takes the states {', '.join(LIVE_STATUSES)}; to archive, delete it."
        )
    return state


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity in native units; paused unless the payload says otherwise."""
    one = get_level(NETWORK, kind)
    state = _get_payload_status(payload)
    entity = {**payload, "state": state or one.initial_status}
    if not one.parent:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", "A campaign of Amazon Ads has no parent.")
    else:
        member = one.parent.removeprefix("/")
        parent_id = parent_id if parent_id is not None else get_text(payload, one.parent)
        if parent_id is None:
            raise invalid_input("parentId", "required", f"An Amazon Ads {one.native} needs its {one.parent_kind}'s id.")
        _ensure_same_id(payload, member, parent_id, "parentId")
        entity[member] = parent_id
        if one is AD and get_id_member(CAMPAIGN) not in entity:
            group = yield from reads.fetch_entity(account, AD_GROUP.kind, parent_id)
            entity[get_id_member(CAMPAIGN)] = group.parent_id
    does = f"Create one {one.native} as given, {'serving at once' if state == ENABLED else 'paused'}."
    step = _build_create_step(account, one, [entity], key=kind, does=does, parent=parent_id)
    return make_plan(NETWORK.code, "create", account.native_id, [step], risk="spend" if state == ENABLED else "low")


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Changed members in native units. An amount may be a raise: what it was before is not read."""
    one = get_level(NETWORK, kind)
    _ensure_same_id(payload, get_id_member(one), entity_id, "the path")
    if parent_id is not None:
        _ensure_same_id(payload, one.parent.removeprefix("/"), parent_id, "parentId")
    changed = {name: value for name, value in payload.items() if name != get_id_member(one)}
    if not changed:
        raise invalid_input("payload", "nothing_to_do", "There is nothing to change.")
    risky = _get_payload_status(payload) == ENABLED or any(member in payload for member in _MONEY_MEMBERS)
    does = f"Change {', '.join(changed)} of the {one.native} {entity_id}."
    step = _build_update_step(account, one, [entity_id], changed, key=kind, does=does, parent=parent_id)
    risk: Risk = "spend" if risky else "low"
    return (yield from completed_flow(make_plan(NETWORK.code, "update", account.native_id, [step], risk=risk)))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Archives, which is final."""
    one = get_level(NETWORK, kind)
    name = get_id_filter_member(one)
    step = Step(
        kind,
        kind,
        f"Archive the {one.native} {entity_id} for good.",
        _build_write_request(account, one, "POST", f"{one.path}/delete", {name: {"include": [entity_id]}}),
        action="delete",
        entity=entity_id,
        items=ItemBatch(f"/body/{name}/include", ID_OUTPUT, sent=get_id_member(one), many=False),
    )
    warnings = ("Archiving is final: it cannot be undone, and what is archived cannot be changed any more.",)
    return (
        yield from completed_flow(
            make_plan(NETWORK.code, "delete", account.native_id, [step], warnings, risk="destructive")
        )
    )


# -- edit ---------------------------------------------------------------------------------------------------------


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields of the unified vocabulary, laid beside what stands there now."""
    one = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = yield from reads.fetch_editable_entity(account, kind, entity_id)
    change = apply_edit(NETWORK, account, kind, entity.native, edit, now)
    changed = change.native_object
    raise_if_issues(check_conflicts(account, kind, entity.native, changed, edit, now))
    warnings = []
    if {"startDate", "endDate"} & set(changed):
        days = ", ".join(f"{name} {changed[name] or 'none'}" for name in ("startDate", "endDate") if name in changed)
        warnings.append(f"Amazon Ads keeps whole days in the profile's time zone: {days}.")
    if "defaultBid" in changed:
        warnings.append("Keywords that have a bid of their own keep it.")
    names = ", ".join(one_.field for one_ in change.changes)
    steps = [
        _build_update_step(
            account,
            one,
            [entity_id],
            changed,
            key=kind,
            does=f"Change {names} of the {one.native} {entity_id}.",
            changes=change.changes,
        )
    ]
    risk = assess_risk(NETWORK, kind, change.changes)
    return make_plan(NETWORK.code, "edit", account.native_id, steps, warnings, risk)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the listing exists and may be advertised."""
    sku, asin = brief.platform.sku, brief.platform.asin
    path = "platform.sku" if sku is not None else "platform.asin"
    product: dict[str, Json] = {"asin": asin}
    if sku is not None:  # eligibility is asked for by ASIN; a sku alone is not enough
        found = parse_products((yield from fetch_response(NETWORK, build_sku_products_request(account, sku))))
        asin = get_text(found[0], "/asin") if found else None
        if asin is None:
            return [Issue(path, "not_found", "Amazon Ads: the seller has no listing with this sku.")], []
        product = {"asin": asin, "sku": sku}
    response = yield from fetch_response(NETWORK, build_eligibility_request(account, product))
    for answer in get_objects(response.body, "/productResponseList"):
        status = get_text(answer, "/overallStatus")
        said = "; ".join(
            get_text(reason, "/message") or get_text(reason, "/name") or ""
            for reason in get_objects(answer, "/eligibilityStatusList")
        )
        if status == INELIGIBLE:
            return [Issue(path, "ineligible", f"Amazon Ads: the listing may not be advertised: {said or status}.")], []
        if status == ELIGIBLE_WITH_WARNING:
            return [], [f"Amazon Ads: the listing may be advertised, but may not be shown: {said or status}."]
    return [], []
