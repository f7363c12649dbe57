"""Changes at Pinterest as plans: a POST of an array with one entity creates, paused; a PATCH of one changes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import collect_minor_unit_warnings
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.lifecycle import ID_OUTPUT, bind_parent, build_plan, build_schedule, check_same_id, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, ProviderUnreadable, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, ItemBatch, Kind, Output, Plan, Risk, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as pinterest
from .reads import fetch_editable_entity
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, NETWORK, OBJECTIVES
from .targeting import build_targeting, fetch_creative_type, merge_targeting

PIN_KEY, KEYWORDS_KEY = "pin", "keywords"
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_write_request(account: Account, method: str, path: str, body: Json) -> Request:
    raise_if_issues(pinterest.check_account_writable(account))
    return pinterest.build_account_write_request(account, method, path, body)


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity. The step's key is the entity's kind."""
    request = _build_write_request(account, "POST", level.path, [members])
    items = ItemBatch("/body", ID_OUTPUT, many=False)
    return Step(level.kind, level.kind, does, request, bindings=bindings, items=items)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of one entity."""
    ids = {"id": entity_id, **_get_account_member(account, level)}
    request = _build_write_request(account, "PATCH", level.path, [{**ids, **members}])
    items = ItemBatch("/body", ID_OUTPUT, sent="id", many=False)
    return Step(level.kind, level.kind, does, request, "update", entity_id, items=items)


def _get_account_member(account: Account, level: Level) -> Mapping[str, str]:
    """Return the member that names the account, which only a campaign has."""
    return {} if level.parent else {"ad_account_id": account.native_id}


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


# -- create -------------------------------------------------------------------------------------------------------


def _build_pin_step(account: Account, brief: CampaignBrief) -> Step:
    content = brief.creative
    texts = {"title": content.headline, "description": content.body, "link": content.url}
    body: Body = {"board_id": brief.platform.board_id} | {name: value for name, value in texts.items() if value}
    body["media_source"] = {"source_type": pinterest.IMAGE_URL, "url": content.image_url}
    url = f"{pinterest.API_URL}/pins"
    query = {"ad_account_id": account.native_id}  # Pinterest then acts as the owner of this account
    request = Request("POST", url, {}, query, pinterest.HEADERS, body, encoding="json", kind="write")
    does = "Publish the pin on its board, at once; it is no ad and spends nothing."
    return Step(PIN_KEY, "creative", does, request, outputs=(Output(ID_OUTPUT, ("/body/id",)),))


def _build_campaign(account: Account, brief: CampaignBrief) -> Body:
    return {
        "ad_account_id": account.native_id,
        "name": brief.name,
        "objective_type": OBJECTIVES[brief.goal].objective,
        "status": pinterest.PAUSED,  # Pinterest's default is ACTIVE
        "is_campaign_budget_optimization": True,
        "is_flexible_daily_budgets": False,  # a flexible daily budget may spend more in a day
        pinterest.SPEND_CAP_MEMBERS[brief.budget.period]: to_native_amount(
            NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount"
        ),
        **build_schedule(pinterest.TIME, brief),
    }


def _build_ad_group(account: Account, brief: CampaignBrief) -> Body:
    body: Body = {
        "name": brief.name,
        "status": pinterest.PAUSED,
        "billable_event": OBJECTIVES[brief.goal].billable_event,
        "bid_strategy_type": pinterest.AUTOMATIC_BID,
    }
    if brief.bid is not None:
        bid = to_native_amount(NETWORK.get_money_unit(account), brief.bid, "bid")
        body |= {"bid_strategy_type": pinterest.MAX_BID, "bid_in_micro_currency": bid}
    return body | {
        "budget_type": pinterest.CAMPAIGN_BUDGET_TYPE,
        "pacing_delivery_type": pinterest.STANDARD_PACING,
        "placement_group": pinterest.ALL_PLACEMENTS,
        "auto_targeting_enabled": False,  # by default Pinterest widens interests and keywords
        "targeting_spec": build_targeting(brief),
    }


def _build_keywords_step(account: Account, brief: CampaignBrief) -> Step:
    keywords = [
        {"match_type": keyword.match.upper(), "value": keyword.text} for keyword in brief.targeting.keywords or ()
    ]
    return Step(
        KEYWORDS_KEY,
        KEYWORD.kind,
        f"Give the ad group its {len(keywords)} keywords; they serve when it does.",
        _build_write_request(account, "POST", KEYWORD.path, {"keywords": keywords}),
        bindings=(bind_parent(KEYWORD),),
        items=ItemBatch("/body/keywords", ID_OUTPUT),
    )


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a new pin if there is one, a campaign with the budget, an ad group, keywords and an ad.

    Campaign, ad group and ad are paused. Pins and keywords have no status.
    """
    steps: list[Step] = []
    warnings: list[str] = []
    ad: Body = {"creative_type": pinterest.REGULAR, "name": brief.name, "status": pinterest.PAUSED}
    bindings = [bind_parent(AD, "/body/0")]
    if brief.creative.existing_id is not None:
        ad["pin_id"] = brief.creative.existing_id
        ad["creative_type"], warnings = yield from fetch_creative_type(NETWORK, account, brief.creative.existing_id)
    else:
        steps.append(_build_pin_step(account, brief))
        bindings.append(Binding("/body/0/pin_id", PIN_KEY, ID_OUTPUT))
        warnings.append("The pin shows on its board before activation; an ad-only board keeps it off the profile.")
        if brief.creative.url is not None:
            ad["destination_url"] = brief.creative.url
    does = f"Create the campaign with its {brief.budget.period} budget and schedule, paused."
    steps.append(_build_create_step(account, CAMPAIGN, does, _build_campaign(account, brief)))
    does = "Create the ad group with bid and targeting, paused."
    in_campaign = bind_parent(AD_GROUP, "/body/0")
    steps.append(_build_create_step(account, AD_GROUP, does, _build_ad_group(account, brief), in_campaign))
    if brief.targeting.keywords:
        steps.append(_build_keywords_step(account, brief))
    steps.append(_build_create_step(account, AD, "Create the ad of the pin, paused.", ad, *bindings))
    if now is not None and brief.schedule.start <= now:
        warnings.append("The start lies in the past: once activated, the campaign runs at once, if Pinterest takes it.")
    warnings += collect_minor_unit_warnings(NETWORK.title, account, brief)
    return build_plan(NETWORK, account, "create", *steps, warnings=warnings)


# -- activate and status ------------------------------------------------------------------------------------------


# Pin and keywords have no status to set.
plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)
plan_status = partial(lifecycle.plan_status, NETWORK, _build_status_step)


# -- native -------------------------------------------------------------------------------------------------------


def _check_same_ids(payload: Mapping[str, Json], ids: Mapping[str, str]) -> Iterator[Issue]:
    for member, value in ids.items():
        yield from check_same_id(payload, member, value, "the request")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    owner = _get_account_member(account, level)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, _check_same_ids(payload, owner))
    does = f"Create one {level.label} as given, {'active' if create.is_active else 'not serving'}."
    step = _build_create_step(account, level, does, {**create.members, **owner})
    step = evolve(step, parent=create.parent_id)
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def _check_update_ids(ids: Mapping[str, str], payload: Mapping[str, Json]) -> Iterator[Issue]:
    yield from _check_same_ids(payload, ids)
    if {"targeting_spec", "targeting_spec_operations"} <= set(payload):
        message = "Pinterest takes targeting_spec or targeting_spec_operations, not both."
        yield Issue("payload.targeting_spec_operations", "conflict", message)


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity."""
    ids = {"id": entity_id, **_get_account_member(account, get_level(NETWORK, kind))}
    changed = {name: value for name, value in payload.items() if name not in ("id", "ad_account_id")}
    issues = _check_update_ids(ids, payload)
    return lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, changed, parent_id, issues)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the archiving of one entity, because Pinterest deletes only drafts."""
    current = yield from fetch_editable_entity(account, kind, entity_id)
    step = lifecycle.build_deletion_step(_build_update_step, account, get_level(NETWORK, kind), current)
    warnings = ("Pinterest deletes by archiving: what is archived does not serve again. Pins stay on their boards.",)
    return build_plan(NETWORK, account, "delete", step, risk="destructive", warnings=warnings)


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    current = get_value(entity, "/targeting_spec") or {}
    if not isinstance(current, Mapping):
        raise ProviderUnreadable("The ad group's targeting_spec is no object.")
    spec, changes = merge_targeting(kind, current, edit.targeting)
    return {"targeting_spec": spec}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields and targeting of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from fetch_editable_entity(account, kind, entity_id)).native
    members, changes = lifecycle.merge_edit(
        *(NETWORK, account, kind, entity, edit, now, check_conflicts), merge_targeting=_edit_targeting
    )
    has_no_cap = "bid_in_micro_currency" in members and members["bid_in_micro_currency"] is None
    risk: Risk = "spend" if has_no_cap else assess_risk(NETWORK, kind, changes)
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    return build_plan(NETWORK, account, "edit", step, risk=risk)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that Pinterest sells ads in the brief's countries."""
    if not brief.targeting.countries:
        return [], []
    response = yield from fetch_response(NETWORK, pinterest.build_countries_request())
    sold = {get_text(row, "/code") for row in pinterest.parse_rows(response)}
    issues = [
        Issue(f"targeting.countries.{index}", "not_supported", "Pinterest sells no ads in this country.")
        for index, country in enumerate(brief.targeting.countries)
        if country not in sold
    ]
    return issues, []
