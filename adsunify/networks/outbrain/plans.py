"""Changes at Outbrain as plans: budget, campaign and promoted link, one write each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, EditResult, apply_edit, assess_risk
from adsunify.adapter.flows import fetch_if_possible, fetch_response
from adsunify.adapter.lifecycle import ID_OUTPUT, build_plan, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import InvalidInput, Issue, ProviderNotFound, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import Binding, Change, Expectation, ItemBatch, Kind, Output, Plan, Risk, Step
from adsunify.values.dates import get_midnight
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, parse_id

from . import native as outbrain
from . import reads
from .settings import check_changed_amounts, check_conflicts
from .tables import AD, CAMPAIGN, NETWORK, build_budget
from .targeting import (
    LOCATION_MEMBERS,
    LOCATIONS_VERSION,
    WORLDWIDE_WARNING,
    build_placed_targeting,
    fetch_country_id,
    merge_targeting,
    to_writable_targeting,
)

BUDGET_KEY = "budget"
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",)),)
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity. The URL of a link contains its campaign, which a binding may supply."""
    path = "campaigns" if level is CAMPAIGN else "campaigns/{campaignId}/promotedLinks"
    slots = {name: value for name, value in members.items() if level is AD and name == "campaignId"}
    body = {name: value for name, value in members.items() if name not in slots}
    request = outbrain.build_write_request("POST", path, body, **slots)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of a campaign, or the status of a link.

    Amplify reference, "PromotedLinks": the response to a new status has no body. Another request changes the content.
    """
    if level is AD:
        request = outbrain.build_write_request("PUT", "promotedLinks/{ids}", dict(members), ids=entity_id)
        return Step(level.kind, level.kind, does, request, "update", entity_id, can_be_empty=True)
    request = outbrain.build_write_request("PUT", "campaigns/{id}", dict(members), id=entity_id)
    same = (Expectation("/body/id", entity_id),)
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


def _build_content_step(entity_id: str, campaign: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes the content of a link."""
    # unverified: the headline is title in the request that changes it, though it is text in the link.
    renamed = {"title" if name == "text" else name: value for name, value in members.items()}
    path = "campaigns/{campaignId}/promotedLinks/"
    request = outbrain.build_write_request("PUT", path, [{ID_OUTPUT: entity_id, **renamed}], campaignId=campaign)
    items = ItemBatch("/body", ID_OUTPUT, sent=ID_OUTPUT, many=False)
    return Step(AD.kind, AD.kind, does, request, "update", entity_id, campaign, items=items)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


# -- create -------------------------------------------------------------------------------------------------------


def _build_budget_step(account: Account, brief: CampaignBrief) -> Step:
    amount = to_native_amount(NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount")
    name = brief.name[: outbrain.MAX_NAME_LENGTH - outbrain.MAX_SUFFIX_LENGTH]
    path = "marketers/{marketer}/budgets"
    request = outbrain.build_write_request("POST", path, build_budget(brief, amount), marketer=account.native_id)
    does = f"Create the {brief.budget.period} budget; it spends nothing by itself."
    return Step(
        BUDGET_KEY,
        BUDGET_KEY,
        does,
        request,
        outputs=CREATED_OUTPUTS,
        marks=(IdempotencyMark("/body/name", "short", f"{name} "),),
    )


def _build_targeted_campaign(account: Account, brief: CampaignBrief, targeting: Body) -> Body:
    return {
        "name": brief.name,
        "enabled": False,
        "cpc": to_native_amount(NETWORK.get_money_unit(account), brief.bid or "", "bid"),
        "objective": outbrain.OBJECTIVES[brief.goal],
        "creativeFormat": outbrain.STANDARD_FORMAT,
        "campaignOptimization": {"optimizationType": outbrain.TRAFFIC},
        "targeting": targeting,
    }


def _build_link(brief: CampaignBrief) -> Body:
    content = brief.creative
    image = {"url": content.image_url} if content.image_url is not None else {"id": content.image_hash}
    members: Body = {
        "url": content.url,
        "enabled": False,
        "text": content.headline,
        "description": content.body,
        "sectionName": brief.platform.brand_name,
        "imageMetadata": None if content.headline is None else image,
    }
    return {name: value for name, value in members.items() if value is not None}


def _collect_targeting_warnings(brief: CampaignBrief, targeting: Body) -> Iterator[str]:
    if not targeting.get("locations"):
        yield WORLDWIDE_WARNING
    end = brief.schedule.end
    if end is not None and end != get_midnight(outbrain.get_eastern_date(end), outbrain.TIMEZONE):
        first, last = outbrain.get_eastern_serving_days(brief)
        until = "without an end" if last is None else f"through {last}"
        yield f"Outbrain keeps whole days of US Eastern time: it serves from 00:00 of {first} {until}."
    if brief.creative.headline is not None:
        yield "Images made by AI have to be declared to Outbrain; a brief cannot say it, so that this one is not."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a budget, a paused campaign and a paused promoted link."""
    places: list[str] = []
    for code in dict.fromkeys(brief.targeting.countries or ()):
        places += [(yield from fetch_country_id(NETWORK, code))]
    targeting = build_placed_targeting(brief, places)
    does = f"Create the paused campaign {brief.name} with the bid and the targeting."
    budget = Binding("/body/budgetId", BUDGET_KEY, ID_OUTPUT)
    in_campaign = Binding("/path/campaignId", CAMPAIGN.kind, ID_OUTPUT)
    steps = (
        _build_budget_step(account, brief),
        _build_create_step(account, CAMPAIGN, does, _build_targeted_campaign(account, brief, targeting), budget),
        _build_create_step(account, AD, "Create the paused promoted link.", _build_link(brief), in_campaign),
    )
    return build_plan(NETWORK, account, "create", *steps, warnings=tuple(_collect_targeting_warnings(brief, targeting)))


# -- activate and status ------------------------------------------------------------------------------------------


# A budget has no status.
plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)
plan_status = partial(lifecycle.plan_status, NETWORK, _build_status_step)


# -- native -------------------------------------------------------------------------------------------------------


def _check_flag(payload: Mapping[str, Json]) -> Iterator[Issue]:
    if "enabled" in payload and not isinstance(payload["enabled"], bool):
        yield Issue("payload.enabled", "wrong_type", "enabled is true or false.")


def _check_native_create(level: Level, payload: Mapping[str, Json]) -> Iterator[Issue]:
    yield from _check_flag(payload)
    if level is CAMPAIGN and parse_id(payload.get("budgetId")) is None:
        yield Issue("payload.budgetId", "required", "A campaign needs a budget of the catalog budgets.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    issues = _check_native_create(level, payload)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, issues)
    if level is CAMPAIGN:
        yield from _ensure_own_budget(account, str(payload["budgetId"]))
    does = f"Create the {level.label} from native members, {'active' if create.is_active else 'paused'}."
    step = evolve(_build_create_step(account, level, does, create.members), parent=create.parent_id)
    return build_plan(NETWORK, account, "create", step, risk=create.risk)


def _ensure_own_budget(account: Account, budget: str) -> Flow[None]:
    """Check that the budget belongs to the marketer. Amplify reference: a campaign belongs to its budget's marketer."""
    request = outbrain.build_get_request("marketers/{marketer}/budgets", marketer=account.native_id)
    response = yield from fetch_response(NETWORK, request)
    rows = get_objects(response.body, "/budgets", "list of budgets")
    if not any(parse_id(get_value(row, "/id")) == budget for row in rows):
        raise ProviderNotFound("Outbrain: the marketer has no such budget.")


def _require_campaign_id(link: NativeEntity) -> str:
    campaign_id = parse_id(link.get("campaignId"))
    if campaign_id is None:
        raise ProviderUnreadable("Outbrain does not say which campaign the promoted link belongs to.")
    return campaign_id


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. Other members stay unchanged."""
    level = get_level(NETWORK, kind)
    issues = lifecycle.check_native_update(NETWORK, level, payload, parent_id)
    raise_if_issues([*issues, *_check_flag(payload)])
    does = lifecycle.describe_update(level, entity_id, payload)
    if level is CAMPAIGN or set(payload) == {"enabled"}:
        step = _build_update_step(account, level, entity_id, does, payload)
    else:
        campaign = _require_campaign_id((yield from reads.fetch_entity(account, kind, entity_id)).native)
        if parent_id not in (None, campaign):
            raise invalid_input("parentId", "conflict", "The promoted link belongs to another campaign.")
        step = _build_content_step(entity_id, campaign, does, payload)
    return build_plan(NETWORK, account, "update", step, risk=lifecycle.assess_payload_risk(level, payload))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the archiving of one campaign. Raises InvalidInput for a promoted link, which cannot be deleted."""
    if get_level(NETWORK, kind) is AD:
        raise invalid_input("kind", "not_supported", "Outbrain deletes no promoted links; pause it instead.")
    does = f"Archive the campaign {entity_id}: it is never deleted."
    members = lifecycle.get_status_members(CAMPAIGN, outbrain.ARCHIVED)
    step = evolve(_build_update_step(account, CAMPAIGN, entity_id, does, members), action="delete")
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive"))


# -- edit ---------------------------------------------------------------------------------------------------------

DAY_FIELDS = ("startAt", "endAt")
BUDGET_FIELDS = ("budgetType", "budget", "pacing", "dailyTarget", *DAY_FIELDS)


def _get_changed_members(native: Mapping[str, Json], part: str) -> Body:
    """Return the changed members of a part. Removed members are left out, because a flag removes them."""
    members = {pointer.removeprefix(part): value for pointer, value in native.items() if pointer.startswith(part)}
    return {name: value for name, value in members.items() if value is not None}


def _plan_campaign_edit(account: Account, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    entity = (yield from reads.fetch_editable_entity(account, "campaign", entity_id)).native
    currencies = None
    if {"bid", "budget", "budgetType"} & set(edit.fields):
        currencies = yield from fetch_if_possible(NETWORK, outbrain.build_currencies_request())
    result, issues = EditResult({}, ()), list[Issue]()
    try:
        result = apply_edit(NETWORK, account, "campaign", entity, edit, now)
        members = result.native_object
        issues += check_conflicts(account, "campaign", entity, members, edit, now)
        issues += check_changed_amounts(account, entity, members, currencies)
    except InvalidInput as problem:
        issues += problem.issues
    targeting, targeting_changes = _get_changed_members(result.native, "/targeting/"), list[Change]()
    if edit.targeting or targeting:
        current = to_writable_targeting(entity.get("targeting"))
        try:
            merged, targeting_changes = merge_targeting("campaign", current, edit.targeting)
            targeting = {**current, **targeting, **merged}
        except InvalidInput as problem:
            issues += problem.issues
        if any(f"/targeting/{name}" in result.native or name in edit.targeting for name in LOCATION_MEMBERS):
            targeting.setdefault("locationsVersion", LOCATIONS_VERSION)
    raise_if_issues(issues)
    return _build_campaign_plan(account, entity_id, entity, result, targeting, targeting_changes)


def _build_campaign_plan(
    account: Account,
    entity_id: str,
    entity: NativeEntity,
    result: EditResult,
    targeting: Body,
    targeting_changes: Sequence[Change],
) -> Plan:
    """Build up to two steps: the budget with all of its changed members, then the campaign."""
    budget_changes = [change for change in result.changes if change.field in BUDGET_FIELDS]
    campaign_changes = [change for change in result.changes if change.field not in BUDGET_FIELDS]
    campaign_changes += targeting_changes
    steps, warnings = [], []
    if budget_changes:
        budget = parse_id(get_value(entity, "/budget/id"))
        if budget is None:
            raise ProviderUnreadable("Outbrain does not say which budget the campaign has.")
        names = ", ".join(change.field for change in budget_changes)
        does = f"Change {names} of the campaign's budget {budget}."
        members = _get_changed_members(result.native, "/budget/")
        request = outbrain.build_write_request("PUT", "budgets/{id}", members, id=budget)
        same = (Expectation("/body/id", budget),)
        step = Step(BUDGET_KEY, BUDGET_KEY, does, request, "update", budget, expectations=same)
        steps.append(evolve(step, changes=tuple(budget_changes)))
    if campaign_changes:
        own = {name: value for name, value in _get_changed_members(result.native, "/").items() if "/" not in name}
        members = own | ({"targeting": targeting} if targeting else {})
        steps.append(
            lifecycle.build_edit_step(_build_update_step, account, CAMPAIGN, entity_id, members, campaign_changes)
        )
    days = [f"{change.field} {change.after or 'none'}" for change in budget_changes if change.field in DAY_FIELDS]
    if days:
        warnings.append(f"Outbrain keeps whole days of US Eastern time: {', '.join(days)}.")
    # Another budget type changes the meaning of the amount. Without an end the campaign continues to spend.
    is_open_ended = any(
        change.field == "budgetType" or (change.field == "endAt" and change.after is None) for change in budget_changes
    )
    risk: Risk = "spend" if is_open_ended else assess_risk(NETWORK, "campaign", result.changes)
    return build_plan(NETWORK, account, "edit", *steps, risk=risk, warnings=warnings)


def _plan_link_edit(account: Account, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    entity = (yield from reads.fetch_editable_entity(account, "ad", entity_id)).native
    result = apply_edit(NETWORK, account, "ad", entity, edit, now)
    members = result.native_by_name
    does = lifecycle.describe_update(AD, entity_id, [change.field for change in result.changes])
    if set(members) == {"enabled"}:
        step = _build_update_step(account, AD, entity_id, does, members)
    else:
        step = _build_content_step(entity_id, _require_campaign_id(entity), does, members)
    risk = lifecycle.assess_payload_risk(AD, members)
    return build_plan(NETWORK, account, "edit", evolve(step, changes=result.changes), risk=risk)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan a change of fields, targeting and content of one entity, after a read of the entity."""
    check_edit(NETWORK, kind, edit)
    eastern = evolve(account, timezone=outbrain.TIMEZONE)  # all dates of Outbrain are in this time zone
    plan = _plan_link_edit if kind == AD.kind else _plan_campaign_edit
    return (yield from plan(eastern, entity_id, edit, now))


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check the currency's limits, and that the name is free.

    If Outbrain refused a later step for one of these reasons, an unused budget would be left.
    """
    currency = require_currency(account)
    row = outbrain.find_currency_row(
        (yield from fetch_response(NETWORK, outbrain.build_currencies_request())), currency
    )
    if row is None:
        return [Issue("budget.currency", "not_supported", f"Outbrain does not sell in {currency}.")], []
    amount = to_native_amount(NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount")
    issues = list(
        outbrain.check_budget_floor(
            outbrain.parse_budget_floors(row), build_budget(brief, amount), "budget.amount", currency
        )
    )
    issues += outbrain.check_click_cost(row, Decimal(brief.bid or "0"), "bid", currency)
    response = yield from fetch_response(NETWORK, outbrain.build_campaign_names_request(account, archived=True))
    names = [get_text(row, "/name") or "" for row in get_objects(response.body, "/campaigns", "list of campaigns")]
    if brief.name.casefold() in map(str.casefold, names):
        issues.append(
            Issue("name", "taken", "The marketer has a campaign of this name; Outbrain takes each name once.")
        )
    return issues, []
