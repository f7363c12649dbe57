"""Changes of Outbrain as plans: budget, campaign and promoted link, one write each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from attrs import evolve

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, EditResult, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow, fetch_if_possible, fetch_response
from adsunify.adapter.network import Account, Level, get_level, require_currency, to_native_amount
from adsunify.errors import InvalidInput, Issue, ProviderNotFound, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Expectation,
    ItemBatch,
    Kind,
    Output,
    Outputs,
    Plan,
    Risk,
    Step,
    make_plan,
)
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
    build_targeting,
    fetch_country_id,
    merge_targeting,
    to_writable_targeting,
)

ID_OUTPUT = "id"
BUDGET_KEY = "budget"
Body = dict[str, Json]
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",)),)


# -- steps --------------------------------------------------------------------------------------------------------


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


def _build_campaign_update_step(
    entity_id: str, body: Body, does: str, *, key: str = "", changes: Sequence[Change] = ()
) -> Step:
    """A step that changes members of a campaign: others stay as they are."""
    request = outbrain.build_write_request("PUT", "campaigns/{id}", body, id=entity_id)
    return Step(
        key or "campaign",
        "campaign",
        does,
        request,
        "update",
        entity_id,
        expectations=(Expectation("/body/id", entity_id),),
        changes=tuple(changes),
    )


def _build_link_status_step(
    entity_id: str, enabled: Json, does: str, *, key: str = "", changes: Sequence[Change] = ()
) -> Step:
    """A step that switches a promoted link. Amplify reference: its success is an answer without a body."""
    request = outbrain.build_write_request("PUT", "promotedLinks/{ids}", {"enabled": enabled}, ids=entity_id)
    return Step(
        *(key or "ad", "ad", does, request, "update", entity_id),
        can_be_empty=True,
        changes=tuple(changes),
    )


def _build_content_step(entity_id: str, campaign: str, body: Body, does: str, changes: Sequence[Change] = ()) -> Step:
    """A step that changes what a link shows. The reference names the headline title here, not text (unverified)."""
    renamed = {"title" if name == "text" else name: value for name, value in body.items()}
    path = "campaigns/{campaignId}/promotedLinks/"
    request = outbrain.build_write_request("PUT", path, [{ID_OUTPUT: entity_id, **renamed}], campaignId=campaign)
    sent = ItemBatch("/body", ID_OUTPUT, sent=ID_OUTPUT, many=False)
    return Step("ad", "ad", does, request, "update", entity_id, campaign, items=sent, changes=tuple(changes))


def _build_status_step(one: Level, entity_id: str, status: str, key: str = "") -> Step:
    enabled, does = status == "active", f"Set the {one.native} {entity_id} to {status}."
    if one is AD:
        return _build_link_status_step(entity_id, enabled, does, key=key)
    return _build_campaign_update_step(entity_id, {"enabled": enabled}, does, key=key)


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


def _build_campaign_step(account: Account, brief: CampaignBrief, targeting: Body) -> Step:
    body: Body = {
        "name": brief.name,
        "enabled": False,
        "cpc": to_native_amount(NETWORK.get_money_unit(account), brief.bid or "", "bid"),
        "objective": outbrain.OBJECTIVES[brief.goal],
        "creativeFormat": outbrain.STANDARD_FORMAT,
        "campaignOptimization": {"optimizationType": outbrain.TRAFFIC},
        "targeting": targeting,
    }
    does = f"Create the paused campaign {brief.name} with the bid and the targeting."
    bindings = (Binding("/body/budgetId", BUDGET_KEY, ID_OUTPUT),)
    return Step(
        "campaign",
        "campaign",
        does,
        outbrain.build_write_request("POST", "campaigns", body),
        bindings=bindings,
        outputs=CREATED_OUTPUTS,
    )


def _build_link_step(brief: CampaignBrief) -> Step:
    content = brief.creative
    image = {"url": content.image_url} if content.image_url is not None else {"id": content.image_hash}
    body: Body = {
        "url": content.url,
        "enabled": False,
        "text": content.headline,
        "description": content.body,
        "sectionName": brief.platform.brand_name,
        "imageMetadata": None if content.headline is None else image,
    }
    body = {name: value for name, value in body.items() if value is not None}
    request = outbrain.build_write_request("POST", "campaigns/{campaignId}/promotedLinks", body)
    bindings = (Binding("/path/campaignId", "campaign", ID_OUTPUT),)
    return Step("ad", "ad", "Create the paused promoted link.", request, bindings=bindings, outputs=CREATED_OUTPUTS)


def _collect_warnings(brief: CampaignBrief, targeting: Body) -> Iterator[str]:
    if not targeting.get("locations"):
        yield WORLDWIDE_WARNING
    end = brief.schedule.end
    if end is not None and end != get_midnight(outbrain.get_eastern_date(end), outbrain.TIMEZONE):
        first, last = outbrain.get_serving_days(brief)
        until = "without an end" if last is None else f"through {last}"
        yield f"Outbrain keeps whole days of US Eastern time: it serves from 00:00 of {first} {until}."
    if brief.creative.headline is not None:
        yield "Images made by AI have to be declared to Outbrain; a brief cannot say it, so that this one is not."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Budget, campaign and promoted link; campaign and link paused."""
    places: list[str] = []
    for code in dict.fromkeys(brief.targeting.countries or ()):
        places += [(yield from fetch_country_id(NETWORK, code))]
    targeting = build_targeting(brief, places)
    steps = (
        _build_budget_step(account, brief),
        _build_campaign_step(account, brief, targeting),
        _build_link_step(brief),
    )
    return _make_plan(account, "create", *steps, warnings=tuple(_collect_warnings(brief, targeting)))


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Link, then campaign. A budget has no status."""
    steps = [
        _build_status_step(one, str(outputs[one.kind][ID_OUTPUT]), "active", f"activate_{one.kind}")
        for one in (AD, CAMPAIGN)
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One campaign or link set active or paused."""
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"Outbrain sets these: {', '.join(one.writable_statuses)}.")
    risk: Risk = "spend" if status == "active" else "low"
    return (
        yield from completed_flow(_make_plan(account, "status", _build_status_step(one, entity_id, status), risk=risk))
    )


# -- native -------------------------------------------------------------------------------------------------------

_READ_ONLY_MEMBERS = ("id", "marketerId", "budget", "liveStatus", "minimumCpc", "contentType", "autoArchived")
FIXED_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": (*_READ_ONLY_MEMBERS, "budgetId", "creativeFormat"),
    "ad": ("id", "campaignId", "url", "approvalStatus", "onAirStatus"),
}
"""What an update cannot change."""
_MONEY_MEMBERS = ("cpc", "bids", "campaignOptimization", "cpcAdjustment")


def _check_payload(names: Sequence[str], payload: Mapping[str, Json]) -> Iterator[Issue]:
    for name in payload:
        if name in names:
            yield Issue(f"payload.{name}", "read_only", f"Outbrain does not let {name} be changed.")
    if "enabled" in payload and not isinstance(payload["enabled"], bool):
        yield Issue("payload.enabled", "wrong_type", "enabled is true or false.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = get_level(NETWORK, kind)
    issues = list(_check_payload(_READ_ONLY_MEMBERS if one is CAMPAIGN else FIXED_MEMBERS["ad"][:1], payload))
    parent = None if one is CAMPAIGN else parent_id or parse_id(payload.get("campaignId"))
    if one is CAMPAIGN and parent_id is not None:
        issues.append(Issue("parentId", "not_supported", "A campaign of Outbrain has no parent but its budgetId."))
    if one is CAMPAIGN and parse_id(payload.get("budgetId")) is None:
        issues.append(Issue("payload.budgetId", "required", "A campaign needs a budget of the catalog budgets."))
    if one is AD and parent is None:
        issues.append(Issue("parentId", "required", "Name the campaign that the promoted link belongs to."))
    if one is AD and payload.get("campaignId", parent) != parent:
        issues.append(Issue("payload.campaignId", "conflict", "campaignId is another one than parentId says."))
    raise_if_issues(issues)
    if one is CAMPAIGN:
        yield from _ensure_own_budget(account, str(payload["budgetId"]))
    body = {"enabled": False, **payload}
    request = outbrain.build_write_request("POST", "campaigns", body)
    if parent is not None:
        body.pop("campaignId", None)
        request = outbrain.build_write_request("POST", "campaigns/{campaignId}/promotedLinks", body, campaignId=parent)
    active = body["enabled"] is True
    does = f"Create the {one.native} from native members, {'active' if active else 'paused'}."
    step = Step(kind, kind, does, request, parent=parent, outputs=CREATED_OUTPUTS)
    return _make_plan(account, "create", step, risk="spend" if active else "low")


def _ensure_own_budget(account: Account, budget: str) -> Flow[None]:
    """Amplify reference: a campaign belongs to the marketer of its budget; nothing else in the request names one."""
    response = yield from fetch_response(
        NETWORK, outbrain.build_get_request("marketers/{marketer}/budgets", marketer=account.native_id)
    )
    if not any(
        parse_id(get_value(row, "/id")) == budget for row in get_objects(response.body, "/budgets", "list of budgets")
    ):
        raise ProviderNotFound("Outbrain: the marketer has no such budget.")


def _require_campaign_id(link: Mapping[str, Json]) -> str:
    found = parse_id(link.get("campaignId"))
    if found is None:
        raise ProviderUnreadable("Outbrain does not say which campaign the promoted link belongs to.")
    return found


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members changed; others stay as they are."""
    one = get_level(NETWORK, kind)
    issues = list(_check_payload(FIXED_MEMBERS[kind], payload))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    if one is CAMPAIGN and parent_id is not None:
        issues.append(Issue("parentId", "not_supported", "A campaign of Outbrain has no parent but its budgetId."))
    raise_if_issues(issues)
    does = f"Change {', '.join(payload)} of the {one.native} {entity_id}."
    if one is CAMPAIGN:
        step = _build_campaign_update_step(entity_id, dict(payload), does)
    elif set(payload) == {"enabled"}:
        step = _build_link_status_step(entity_id, payload["enabled"], does)
    else:
        campaign = _require_campaign_id((yield from reads.fetch_entity(account, kind, entity_id)).native)
        if parent_id not in (None, campaign):
            raise invalid_input("parentId", "conflict", "The promoted link belongs to another campaign.")
        step = _build_content_step(entity_id, campaign, dict(payload), does)
    risky = payload.get("enabled") is True or not set(_MONEY_MEMBERS).isdisjoint(payload)
    return _make_plan(account, "update", step, risk="spend" if risky else "low")


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """A campaign is archived; a promoted link stays."""
    if get_level(NETWORK, kind) is AD:
        raise invalid_input("kind", "not_supported", "Outbrain deletes no promoted links; pause it instead.")
    step = _build_campaign_update_step(
        entity_id, {"archived": True}, f"Archive the campaign {entity_id}: it is never deleted."
    )
    return (yield from completed_flow(_make_plan(account, "delete", evolve(step, action="delete"), risk="destructive")))


# -- edit ---------------------------------------------------------------------------------------------------------

BUDGET_FIELDS = ("budgetType", "budget", "pacing", "dailyTarget", "startAt", "endAt")


def _get_changed_members(native: Mapping[str, Json], part: str) -> Body:
    """The changed members of a part; one that is taken away is left out, since another flag says so."""
    found = {pointer.removeprefix(part): value for pointer, value in native.items() if pointer.startswith(part)}
    return {name: value for name, value in found.items() if value is not None}


def _plan_campaign_edit(account: Account, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    current = yield from reads.fetch_editable_entity(account, "campaign", entity_id)
    before = current.native
    currencies = None
    if {"bid", "budget", "budgetType"} & set(edit.fields):
        currencies = yield from fetch_if_possible(NETWORK, outbrain.build_currencies_request())
    done, issues = EditResult({}, ()), list[Issue]()
    try:
        done = apply_edit(NETWORK, account, "campaign", before, edit, now)
        changed = done.native_object
        issues += check_conflicts(account, "campaign", before, changed, edit, now)
        issues += check_changed_amounts(account, before, changed, currencies)
    except InvalidInput as problem:
        issues += problem.issues
    targeting, moved = _get_changed_members(done.native, "/targeting/"), list[Change]()
    if edit.targeting or targeting:
        standing = to_writable_targeting(before.get("targeting"))
        try:
            wanted, moved = merge_targeting("campaign", standing, edit.targeting)
            targeting = {**standing, **targeting, **wanted}
        except InvalidInput as problem:
            issues += problem.issues
        if any(f"/targeting/{name}" in done.native or name in edit.targeting for name in LOCATION_MEMBERS):
            targeting.setdefault("locationsVersion", LOCATIONS_VERSION)
    raise_if_issues(issues)
    return _make_campaign_plan(account, entity_id, before, done, targeting, moved)


def _make_campaign_plan(
    account: Account, entity_id: str, before: Mapping[str, Json], done: EditResult, targeting: Body, moved: list[Change]
) -> Plan:
    """Up to two steps: the budget first, with all of its changed members, then the campaign."""
    on_budget = [one for one in done.changes if one.field in BUDGET_FIELDS]
    on_campaign = [one for one in done.changes if one.field not in BUDGET_FIELDS] + moved
    steps, warnings = [], []
    if on_budget:
        budget = parse_id(get_value(before, "/budget/id"))
        if budget is None:
            raise ProviderUnreadable("Outbrain does not say which budget the campaign has.")
        does = f"Change {_join_field_names(on_budget)} of the campaign's budget {budget}."
        request = outbrain.build_write_request(
            "PUT", "budgets/{id}", _get_changed_members(done.native, "/budget/"), id=budget
        )
        same = (Expectation("/body/id", budget),)
        steps.append(
            Step(BUDGET_KEY, BUDGET_KEY, does, request, "update", budget, expectations=same, changes=tuple(on_budget))
        )
    if on_campaign:
        own = {name: value for name, value in _get_changed_members(done.native, "/").items() if "/" not in name}
        body = own | ({"targeting": targeting} if targeting else {})
        does = f"Change {_join_field_names(on_campaign)} of the campaign {entity_id}."
        steps.append(_build_campaign_update_step(entity_id, body, does, changes=on_campaign))
    days = [f"{one.field} {one.after or 'none'}" for one in on_budget if one.field in ("startAt", "endAt")]
    if days:
        warnings.append(f"Outbrain keeps whole days of US Eastern time: {', '.join(days)}.")
    # Another kind of budget gives the same amount another meaning; an end that is taken away lets it spend on.
    open_ended = any(one.field == "budgetType" or (one.field == "endAt" and one.after is None) for one in on_budget)
    risk: Risk = "spend" if open_ended else assess_risk(NETWORK, "campaign", done.changes)
    return _make_plan(account, "edit", *steps, risk=risk, warnings=warnings)


def _join_field_names(changes: Sequence[Change]) -> str:
    return ", ".join(change.field for change in changes)


def _plan_link_edit(account: Account, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    current = yield from reads.fetch_editable_entity(account, "ad", entity_id)
    done = apply_edit(NETWORK, account, "ad", current.native, edit, now)
    body = done.native_by_name
    does = f"Change {_join_field_names(done.changes)} of the promoted link {entity_id}."
    steps = []
    if set(body) == {"enabled"}:
        steps.append(_build_link_status_step(entity_id, body["enabled"], does, changes=done.changes))
    elif body:
        steps.append(_build_content_step(entity_id, _require_campaign_id(current.native), body, does, done.changes))
    return _make_plan(account, "edit", *steps, risk="spend" if body.get("enabled") is True else "low")


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and content, held against what stands there now."""
    check_edit(NETWORK, kind, edit)
    eastern = evolve(account, timezone=outbrain.TIMEZONE)  # all dates of Outbrain are of this zone
    one = _plan_link_edit if kind == AD.kind else _plan_campaign_edit
    return (yield from one(eastern, entity_id, edit, now))


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Bounds of the currency, and whether the name is free: refused only later, it would leave a budget behind."""
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
    taken = [get_text(one, "/name") or "" for one in get_objects(response.body, "/campaigns", "list of campaigns")]
    if brief.name.casefold() in map(str.casefold, taken):
        issues.append(
            Issue("name", "taken", "The marketer has a campaign of this name; Outbrain takes each name once.")
        )
    return issues, []
