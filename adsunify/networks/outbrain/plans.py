"""Changes of Outbrain as plans: budget, campaign and promoted link, one write each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from decimal import Decimal

from attrs import evolve

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, Edited, edited, risk_of
from adsunify.adapter.flows import ask, optional, settled
from adsunify.adapter.network import Account, Level, currency_of, level, native_amount
from adsunify.adapter.settings import local_time
from adsunify.errors import InvalidInput, Issue, ProviderNotFound, ProviderUnreadable, refuse, refused
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import Mark
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Items,
    Kind,
    Output,
    Outputs,
    Plan,
    Promise,
    Risk,
    Step,
    planned,
)
from adsunify.values.dates import midnight
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import identifier, put, read, rows, text

from . import native as outbrain
from . import reads
from .settings import conflicts
from .tables import AD, CAMPAIGN, NETWORK, budget_of
from .targeting import EVERYWHERE, ISO_VERSION, PLACES, as_written, country, merged, targeting_of

ID = "id"
BUDGET = "budget"
Body = dict[str, Json]
MADE = (Output(ID, ("/body/id",)),)


# -- steps --------------------------------------------------------------------------------------------------------


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


def _set_campaign(entity_id: str, body: Body, does: str, *, key: str = "", changes: Sequence[Change] = ()) -> Step:
    """A step that changes members of a campaign: others stay as they are."""
    request = outbrain.send("PUT", "campaigns/{id}", body, id=entity_id)
    return Step(
        key or "campaign",
        "campaign",
        does,
        request,
        "update",
        entity_id,
        promises=(Promise("/body/id", entity_id),),
        changes=tuple(changes),
    )


def _set_link(entity_id: str, enabled: Json, does: str, *, key: str = "", changes: Sequence[Change] = ()) -> Step:
    """A step that switches a promoted link. Amplify reference: its success is an answer without a body."""
    request = outbrain.send("PUT", "promotedLinks/{ids}", {"enabled": enabled}, ids=entity_id)
    return Step(
        *(key or "ad", "ad", does, request, "update", entity_id),
        empty_ok=True,
        changes=tuple(changes),
    )


def _content(entity_id: str, campaign: str, body: Body, does: str, changes: Sequence[Change] = ()) -> Step:
    """A step that changes what a link shows. The reference names the headline title here, not text (unverified)."""
    renamed = {"title" if name == "text" else name: value for name, value in body.items()}
    path = "campaigns/{campaignId}/promotedLinks/"
    request = outbrain.send("PUT", path, [{ID: entity_id, **renamed}], campaignId=campaign)
    sent = Items("/body", ID, sent=ID, many=False)
    return Step("ad", "ad", does, request, "update", entity_id, campaign, items=sent, changes=tuple(changes))


def _set_status(one: Level, entity_id: str, status: str, key: str = "") -> Step:
    enabled, does = status == "active", f"Set the {one.native} {entity_id} to {status}."
    if one is AD:
        return _set_link(entity_id, enabled, does, key=key)
    return _set_campaign(entity_id, {"enabled": enabled}, does, key=key)


# -- create -------------------------------------------------------------------------------------------------------


def _budget(account: Account, brief: CampaignBrief) -> Step:
    amount = native_amount(NETWORK.unit(account), brief.budget.amount, "budget.amount")
    name = brief.name[: outbrain.NAME_LENGTH - outbrain.SUFFIX_LENGTH]
    path = "marketers/{marketer}/budgets"
    request = outbrain.send("POST", path, budget_of(brief, amount), marketer=account.native_id)
    does = f"Create the {brief.budget.period} budget; it spends nothing by itself."
    return Step(BUDGET, BUDGET, does, request, outputs=MADE, marks=(Mark("/body/name", "short", f"{name} "),))


def _campaign(account: Account, brief: CampaignBrief, targeting: Body) -> Step:
    body: Body = {
        "name": brief.name,
        "enabled": False,
        "cpc": native_amount(NETWORK.unit(account), brief.bid or "", "bid"),
        "objective": outbrain.OBJECTIVE_OF[brief.goal],
        "creativeFormat": outbrain.STANDARD,
        "campaignOptimization": {"optimizationType": outbrain.TRAFFIC},
        "targeting": targeting,
    }
    does = f"Create the paused campaign {brief.name} with the bid and the targeting."
    bindings = (Binding("/body/budgetId", BUDGET, ID),)
    return Step("campaign", "campaign", does, outbrain.send("POST", "campaigns", body), bindings=bindings, outputs=MADE)


def _link(brief: CampaignBrief) -> Step:
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
    request = outbrain.send("POST", "campaigns/{campaignId}/promotedLinks", body)
    bindings = (Binding("/path/campaignId", "campaign", ID),)
    return Step("ad", "ad", "Create the paused promoted link.", request, bindings=bindings, outputs=MADE)


def _warnings(brief: CampaignBrief, targeting: Body) -> Iterator[str]:
    if not targeting.get("locations"):
        yield EVERYWHERE
    end = brief.schedule.end
    if end is not None and end != midnight(outbrain.today(end), outbrain.ZONE):
        first, last = outbrain.serving_days(brief)
        until = "without an end" if last is None else f"through {last}"
        yield f"Outbrain keeps whole days of US Eastern time: it serves from 00:00 of {first} {until}."
    if brief.creative.headline is not None:
        yield "Images made by AI have to be declared to Outbrain; a brief cannot say it, so that this one is not."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Budget, campaign and promoted link; campaign and link paused."""
    places: list[str] = []
    for code in dict.fromkeys(brief.targeting.countries or ()):
        places += [(yield from country(NETWORK, code))]
    targeting = targeting_of(brief, places)
    steps = (_budget(account, brief), _campaign(account, brief, targeting), _link(brief))
    return _plan(account, "create", *steps, warnings=tuple(_warnings(brief, targeting)))


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Link, then campaign. A budget has no status."""
    steps = [_set_status(one, str(outputs[one.kind][ID]), "active", f"activate_{one.kind}") for one in (AD, CAMPAIGN)]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One campaign or link set active or paused."""
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"Outbrain sets these: {', '.join(one.settable)}.")
    risk: Risk = "spend" if status == "active" else "low"
    return (yield from settled(_plan(account, "status", _set_status(one, entity_id, status), risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------

_READ_ONLY = ("id", "marketerId", "budget", "liveStatus", "minimumCpc", "contentType", "autoArchived")
FIXED: Mapping[str, tuple[str, ...]] = {
    "campaign": (*_READ_ONLY, "budgetId", "creativeFormat"),
    "ad": ("id", "campaignId", "url", "approvalStatus", "onAirStatus"),
}
"""What an update cannot change."""
_MONEY = ("cpc", "bids", "campaignOptimization", "cpcAdjustment")


def _foreign(names: Sequence[str], payload: Mapping[str, Json]) -> Iterator[Issue]:
    for name in payload:
        if name in names:
            yield Issue(f"payload.{name}", "read_only", f"Outbrain does not let {name} be changed.")
    if "enabled" in payload and not isinstance(payload["enabled"], bool):
        yield Issue("payload.enabled", "wrong_type", "enabled is true or false.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = level(NETWORK, kind)
    issues = list(_foreign(_READ_ONLY if one is CAMPAIGN else FIXED["ad"][:1], payload))
    parent = None if one is CAMPAIGN else parent_id or identifier(payload.get("campaignId"))
    if one is CAMPAIGN and parent_id is not None:
        issues.append(Issue("parentId", "not_supported", "A campaign of Outbrain has no parent but its budgetId."))
    if one is CAMPAIGN and identifier(payload.get("budgetId")) is None:
        issues.append(Issue("payload.budgetId", "required", "A campaign needs a budget of the catalog budgets."))
    if one is AD and parent is None:
        issues.append(Issue("parentId", "required", "Name the campaign that the promoted link belongs to."))
    if one is AD and payload.get("campaignId", parent) != parent:
        issues.append(Issue("payload.campaignId", "conflict", "campaignId is another one than parentId says."))
    refuse(issues)
    if one is CAMPAIGN:
        yield from _own_budget(account, str(payload["budgetId"]))
    body = {"enabled": False, **payload}
    request = outbrain.send("POST", "campaigns", body)
    if parent is not None:
        body.pop("campaignId", None)
        request = outbrain.send("POST", "campaigns/{campaignId}/promotedLinks", body, campaignId=parent)
    active = body["enabled"] is True
    does = f"Create the {one.native} from native members, {'active' if active else 'paused'}."
    step = Step(kind, kind, does, request, parent=parent, outputs=MADE)
    return _plan(account, "create", step, risk="spend" if active else "low")


def _own_budget(account: Account, budget: str) -> Flow[None]:
    """Amplify reference: a campaign belongs to the marketer of its budget; nothing else in the request names one."""
    response = yield from ask(NETWORK, outbrain.get("marketers/{marketer}/budgets", marketer=account.native_id))
    if not any(identifier(read(row, "/id")) == budget for row in rows(response.body, "/budgets", "list of budgets")):
        raise ProviderNotFound("Outbrain: the marketer has no such budget.")


def _campaign_of(link: Mapping[str, Json]) -> str:
    found = identifier(link.get("campaignId"))
    if found is None:
        raise ProviderUnreadable("Outbrain does not say which campaign the promoted link belongs to.")
    return found


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members changed; others stay as they are."""
    one = level(NETWORK, kind)
    issues = list(_foreign(FIXED[kind], payload))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    if one is CAMPAIGN and parent_id is not None:
        issues.append(Issue("parentId", "not_supported", "A campaign of Outbrain has no parent but its budgetId."))
    refuse(issues)
    does = f"Change {', '.join(payload)} of the {one.native} {entity_id}."
    if one is CAMPAIGN:
        step = _set_campaign(entity_id, dict(payload), does)
    elif set(payload) == {"enabled"}:
        step = _set_link(entity_id, payload["enabled"], does)
    else:
        campaign = _campaign_of((yield from reads.entity(account, kind, entity_id)).native)
        if parent_id not in (None, campaign):
            raise refused("parentId", "conflict", "The promoted link belongs to another campaign.")
        step = _content(entity_id, campaign, dict(payload), does)
    risky = payload.get("enabled") is True or not set(_MONEY).isdisjoint(payload)
    return _plan(account, "update", step, risk="spend" if risky else "low")


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """A campaign is archived; a promoted link stays."""
    if level(NETWORK, kind) is AD:
        raise refused("kind", "not_supported", "Outbrain deletes no promoted links; pause it instead.")
    step = _set_campaign(entity_id, {"archived": True}, f"Archive the campaign {entity_id}: it is never deleted.")
    return (yield from settled(_plan(account, "delete", evolve(step, action="delete"), risk="destructive")))


# -- edit ---------------------------------------------------------------------------------------------------------

BUDGET_FIELDS = ("budgetType", "budget", "pacing", "dailyTarget", "startAt", "endAt")


def _after(before: Mapping[str, Json], native: Mapping[str, Json]) -> Body:
    whole: Body = deepcopy(dict(before))
    for pointer, value in native.items():
        put(whole, pointer, value)
    return whole


def _under(native: Mapping[str, Json], part: str) -> Body:
    """The changed members of a part; one that is taken away is left out, since another flag says so."""
    found = {pointer.removeprefix(part): value for pointer, value in native.items() if pointer.startswith(part)}
    return {name: value for name, value in found.items() if value is not None}


def _edit_campaign(account: Account, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    current = yield from reads.editable(account, "campaign", entity_id)
    before = current.native
    told = None
    if {"bid", "budget", "budgetType"} & set(edit.fields):
        told = yield from optional(NETWORK, outbrain.currencies())
    done, issues = Edited({}, ()), list[Issue]()
    try:
        done = edited(NETWORK, account, "campaign", before, edit, now)
        after = _after(before, done.native)
        issues += conflicts(account, after, done.native, edit.fields, told, local_time(account, now))
    except InvalidInput as problem:
        issues += problem.issues
    targeting, moved = _under(done.native, "/targeting/"), list[Change]()
    if edit.targeting or targeting:
        standing = as_written(before.get("targeting"))
        try:
            wanted, moved = merged(standing, edit.targeting)
            targeting = {**standing, **targeting, **wanted}
        except InvalidInput as problem:
            issues += problem.issues
        if any(f"/targeting/{name}" in done.native or name in edit.targeting for name in PLACES):
            targeting.setdefault("locationsVersion", ISO_VERSION)
    refuse(issues)
    return _campaign_plan(account, entity_id, before, done, targeting, moved)


def _campaign_plan(
    account: Account, entity_id: str, before: Mapping[str, Json], done: Edited, targeting: Body, moved: list[Change]
) -> Plan:
    """Up to two steps: the budget first, with all of its changed members, then the campaign."""
    on_budget = [one for one in done.changes if one.field in BUDGET_FIELDS]
    on_campaign = [one for one in done.changes if one.field not in BUDGET_FIELDS] + moved
    steps, warnings = [], []
    if on_budget:
        budget = identifier(read(before, "/budget/id"))
        if budget is None:
            raise ProviderUnreadable("Outbrain does not say which budget the campaign has.")
        does = f"Change {_named(on_budget)} of the campaign's budget {budget}."
        request = outbrain.send("PUT", "budgets/{id}", _under(done.native, "/budget/"), id=budget)
        same = (Promise("/body/id", budget),)
        steps.append(Step(BUDGET, BUDGET, does, request, "update", budget, promises=same, changes=tuple(on_budget)))
    if on_campaign:
        own = {name: value for name, value in _under(done.native, "/").items() if "/" not in name}
        body = own | ({"targeting": targeting} if targeting else {})
        does = f"Change {_named(on_campaign)} of the campaign {entity_id}."
        steps.append(_set_campaign(entity_id, body, does, changes=on_campaign))
    days = [f"{one.field} {one.after or 'none'}" for one in on_budget if one.field in ("startAt", "endAt")]
    if days:
        warnings.append(f"Outbrain keeps whole days of US Eastern time: {', '.join(days)}.")
    # Another kind of budget gives the same amount another meaning; an end that is taken away lets it spend on.
    open_ended = any(one.field == "budgetType" or (one.field == "endAt" and one.after is None) for one in on_budget)
    risk: Risk = "spend" if open_ended else risk_of(NETWORK, "campaign", done.changes)
    return _plan(account, "edit", *steps, risk=risk, warnings=warnings)


def _named(changes: Sequence[Change]) -> str:
    return ", ".join(change.field for change in changes)


def _edit_link(account: Account, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    current = yield from reads.editable(account, "ad", entity_id)
    done = edited(NETWORK, account, "ad", current.native, edit, now)
    body = done.members
    does = f"Change {_named(done.changes)} of the promoted link {entity_id}."
    steps = []
    if set(body) == {"enabled"}:
        steps.append(_set_link(entity_id, body["enabled"], does, changes=done.changes))
    elif body:
        steps.append(_content(entity_id, _campaign_of(current.native), body, does, done.changes))
    return _plan(account, "edit", *steps, risk="spend" if body.get("enabled") is True else "low")


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and content, held against what stands there now."""
    check_edit(NETWORK, kind, edit)
    eastern = evolve(account, timezone=outbrain.ZONE)  # all dates of Outbrain are of this zone
    one = _edit_link if kind == AD.kind else _edit_campaign
    return (yield from one(eastern, entity_id, edit, now))


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Bounds of the currency, and whether the name is free: refused only later, it would leave a budget behind."""
    currency = currency_of(account)
    row = outbrain.currency_row((yield from ask(NETWORK, outbrain.currencies())), currency)
    if row is None:
        return [Issue("budget.currency", "not_supported", f"Outbrain does not sell in {currency}.")], []
    amount = native_amount(NETWORK.unit(account), brief.budget.amount, "budget.amount")
    issues = list(outbrain.too_small(outbrain.floors_of(row), budget_of(brief, amount), "budget.amount", currency))
    issues += outbrain.cost_issues(row, Decimal(brief.bid or "0"), "bid", currency)
    response = yield from ask(NETWORK, outbrain.names(account, archived=True))
    taken = [text(one, "/name") or "" for one in rows(response.body, "/campaigns", "list of campaigns")]
    if brief.name.casefold() in map(str.casefold, taken):
        issues.append(
            Issue("name", "taken", "The marketer has a campaign of this name; Outbrain takes each name once.")
        )
    return issues, []
