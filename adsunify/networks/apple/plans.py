"""Changes at Apple Ads as plans: one entity per write, keywords in one write together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from attrs import evolve

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, edited, risk_of
from adsunify.adapter.flows import maybe, settled
from adsunify.adapter.network import Account, Level, level, native_amount
from adsunify.adapter.settings import settings_of
from adsunify.errors import InvalidInput, Issue, refuse, refused
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
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
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import put, read, text

from . import native as apple
from . import reads
from .settings import conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, NETWORK, app
from .targeting import campaign_targeting, countries_of, group_targeting, merged

ID = "id"
"""The output of every step: the id of what was made, or of all keywords in the order sent."""
CALLED = {"campaign": "campaign", "adGroup": "ad group", "ad": "ad"}
KEYWORDS = "keywords"
MADE = (Output(ID, ("/body/result/id",)),)
MONEY = ("dailyBudget", "bidStrategy", "sharedBudgets", "bid")
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _write(account: Account, method: str, path: str, body: Json) -> Request:
    headers = apple.context(account)
    return Request(method, f"{apple.API}/{path}", headers=headers, body=body, encoding="json", nature="write")


def _create(
    account: Account, one: Level, does: str, entity: Body, *, under: Level | None = None, parent: str | None = None
) -> Step:
    """A step that makes one entity, under what the step of the level ``under`` makes."""
    bindings = () if under is None else (Binding(f"/body{one.parent}", under.kind, ID, cast="integer"),)
    request = _write(account, "POST", one.path, entity)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=MADE)


def _update(
    account: Account,
    one: Level,
    entity_id: str,
    does: str,
    changed: Body,
    *,
    key: str = "",
    told: Sequence[Change] = (),
    parent: str | None = None,
) -> Step:
    """A step that changes members of one entity; what is left out stays."""
    request = _write(account, "PUT", f"{one.path}/{{id}}", changed)
    same = int(entity_id) if apple.IDENTIFIER(entity_id) else entity_id
    return Step(
        key or one.kind,
        one.kind,
        does,
        evolve(request, path={ID: entity_id}),
        "update",
        entity_id,
        parent,
        promises=(Promise(f"/body/result{one.id}", same),),
        changes=tuple(told),
    )


def _bulk(
    account: Account, operation: str, entities: Sequence[Body], key: str, does: str, bindings: Sequence[Binding] = ()
) -> Step:
    """A step that writes keywords, all or none."""
    listed = [{"correlationId": position, "data": entity} for position, entity in enumerate(entities)]
    body = {"allowPartialSuccess": False, "items": listed}
    return Step(
        key,
        KEYWORD.kind,
        does,
        _write(account, "POST", f"{KEYWORD.path}/bulk-{operation}", body),
        "create" if operation == "create" else "update",
        bindings=tuple(bindings),
        items=Items("/body/items", ID),
    )


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _pair(name: str) -> Body:
    return {"bidStrategyType": name, "bidStrategyGoal": apple.STRATEGIES[name]}


def _campaign(account: Account, brief: CampaignBrief) -> Body:
    budget = native_amount(NETWORK.unit(account), brief.budget.amount, "budget.amount")
    body: Body = {
        "name": brief.name,
        "adAccountId": apple.number(account.native_id, "account.nativeId"),
        "promotedObjectType": apple.APPSTORE_APP,
        "promotedObjectId": brief.platform.app_id,
        "billingEvent": apple.TAPS,
        "status": apple.PAUSED,
        "startTime": apple.native_time(brief.schedule.start),
        "dailyBudget": {"value": apple.money(account, budget)},
        "targeting": campaign_targeting(brief),
        "bidStrategy": _pair(apple.MANUAL_CPT),
    }
    return body if brief.schedule.end is None else body | {"endTime": apple.native_time(brief.schedule.end)}


def _ad_group(brief: CampaignBrief, bid: Body) -> Body:
    body: Body = {
        "name": f"{brief.name} - ad group",
        "pricingModel": apple.CPT,
        "status": apple.PAUSED,
        "startTime": apple.native_time(brief.schedule.start),  # its end is the campaign's
        # Apple would add Search Match to keywords; the brief asks only for its own, and nothing is widened.
        "automatedKeywordsOptIn": not brief.targeting.keywords,
        "bidStrategy": _pair(apple.MANUAL_CPT) | {"bid": bid},
    }
    targeting = group_targeting(brief)
    return body | {"targeting": targeting} if targeting else body


def _keywords(account: Account, brief: CampaignBrief, bid: Body) -> list[Step]:
    wanted = brief.targeting.keywords or ()
    entities: list[Body] = [
        {"text": keyword.text, "matchType": keyword.match.upper(), "status": apple.PAUSED, "bid": dict(bid)}
        for keyword in wanted
    ]
    under = [
        Binding(f"/body/items/{position}/data{KEYWORD.parent}", AD_GROUP.kind, ID, cast="integer")
        for position in range(len(entities))
    ]
    does = f"Create {len(entities)} paused keywords, all or none."
    return [_bulk(account, "create", entities, KEYWORDS, does, under)] if entities else []


def _warnings(brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if not brief.targeting.keywords:
        yield "There are no keywords: Search Match chooses the search terms."
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Apple may refuse it, else the ads run at once when they are activated."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group with the bid, keywords, and ad over the existing creative; all paused."""
    bid = apple.money(account, native_amount(NETWORK.unit(account), brief.bid or "", "bid"))
    creative = apple.number(brief.creative.existing_id or "", "creative.existingId")
    ad = {"name": f"{brief.name} - ad", "creativeId": creative, "status": apple.PAUSED}
    steps = [
        _create(account, CAMPAIGN, "Create the campaign with budget and countries, paused.", _campaign(account, brief)),
        _create(account, AD_GROUP, "Create the ad group with the bid, paused.", _ad_group(brief, bid), under=CAMPAIGN),
        *_keywords(account, brief, bid),
        _create(account, AD, "Create the ad over the existing creative, paused.", ad, under=AD_GROUP),
    ]
    return (yield from settled(_plan(account, "create", *steps, warnings=list(_warnings(brief, now)))))


# -- activate and status ------------------------------------------------------------------------------------------


def _set_status(account: Account, one: Level, entity_id: str, status: str, key: str = "") -> Step:
    does = f"Set the {CALLED[one.kind]} {entity_id} to {status}."
    return _update(account, one, entity_id, does, {"status": one.settable[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Keywords, ad, ad group, then the campaign: with the last of them spending begins."""
    made = list(outputs.get(KEYWORDS, {}).get(ID, ()))
    entities: list[Body] = [{ID: apple.number(one, KEYWORDS), "status": apple.ENABLED} for one in made]
    does = f"Enable the {len(entities)} keywords."
    steps = [_bulk(account, "update", entities, f"activate_{KEYWORDS}", does)] if entities else []
    steps += [
        _set_status(account, one, str(outputs[one.kind][ID]), "active", f"activate_{one.kind}")
        for one in (AD, AD_GROUP, CAMPAIGN)
    ]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"Apple Ads sets these: {', '.join(one.settable)}.")
    active = status == "active"
    warnings = ["Apple refuses a second enabled ad in an ad group."] if active and one is AD else []
    step = _set_status(account, one, entity_id, status)
    return (yield from settled(_plan(account, "status", step, risk="spend" if active else "low", warnings=warnings)))


# -- native -------------------------------------------------------------------------------------------------------


def _foreign(payload: Mapping[str, Json]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    if ID in payload:
        yield Issue("payload.id", "read_only", "Apple Ads gives the id itself.")
    if "status" in payload and payload["status"] not in apple.STATUSES:
        yield Issue("payload.status", "choice", f"Apple Ads takes these: {', '.join(apple.STATUSES)}.")
    if "bidStrategy" in payload:
        name, goal = (text(payload, f"/bidStrategy/{member}") for member in ("bidStrategyType", "bidStrategyGoal"))
        if name is None or goal is None or apple.STRATEGIES.get(name) != goal:
            pairs = ", ".join(f"{one} with {other}" for one, other in apple.STRATEGIES.items())
            yield Issue("payload.bidStrategy", "invalid", f"Apple Ads takes type and goal in these pairs: {pairs}.")


def _locked(kind: Kind, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """Members that are never changed."""
    for setting in settings_of(NETWORK, kind):
        if setting.native in {f"/{name}" for name in payload if name != "targeting"} and isinstance(setting.lock, str):
            yield Issue(f"payload.{setting.field}", "locked", f"Apple Ads: {setting.field} is locked: {setting.lock}.")


def _owner(account: Account, one: Level, payload: Mapping[str, Json], parent_id: str | None) -> tuple[str, int | None]:
    """The member that names what the entity belongs to, and its id as the request says it, once."""
    if not one.parent and parent_id is not None:
        raise refused("parentId", "not_supported", "A campaign of Apple Ads has no parent.")
    member, where = (one.parent.removeprefix("/"), "parentId") if one.parent else ("adAccountId", "account.nativeId")
    wanted = parent_id if one.parent else account.native_id
    said = text(payload, f"/{member}")
    if member in payload and (said is None or (wanted is not None and said != wanted)):
        at = "parentId" if one.parent else f"payload.{member}"
        raise refused(at, "conflict", f"payload.{member} names another one than the request.")
    if wanted is None and said is None:
        return member, None
    return member, apple.number(wanted or said or "", where if wanted is not None else f"payload.{member}")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = level(NETWORK, kind)
    refuse(_foreign(payload))
    member, owner = _owner(account, one, payload, parent_id)
    if owner is None:
        raise refused("parentId", "required", f"Name the {CALLED[one.parent_kind]} that it belongs to.")
    entity = {"status": one.born, **payload, member: owner}
    active = entity["status"] == apple.ENABLED
    does = f"Create the {CALLED[kind]} from native members, {'active' if active else 'paused'}."
    step = _create(account, one, does, entity, parent=str(owner) if one.parent else None)
    return (yield from settled(_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity replaced; others stay as they are."""
    one = level(NETWORK, kind)
    issues = [*_foreign(payload), *_locked(kind, payload)]
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    refuse(issues)
    if parent_id is not None:
        _owner(account, one, payload, parent_id)
    risky = payload.get("status") == apple.ENABLED or not set(MONEY).isdisjoint(payload)
    does = f"Change {', '.join(payload)} of the {CALLED[kind]} {entity_id}."
    step = _update(account, one, entity_id, does, dict(payload), parent=parent_id)
    return (yield from settled(_plan(account, "update", step, risk="spend" if risky else "low")))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it."""
    one = level(NETWORK, kind)
    below = "" if one is AD else " and all below it"
    does = f"Delete the {CALLED[kind]} {entity_id}{below}; this cannot be undone."
    url = f"{apple.API}/{one.path}/{{id}}"
    request = Request("DELETE", url, {ID: entity_id}, headers=apple.context(account), nature="write")
    # What a deletion answers is documented nowhere: the status is all that counts.
    step = Step(kind, kind, does, request, "delete", entity_id, empty_ok=True)
    return (yield from settled(_plan(account, "delete", step, risk="destructive")))


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_warnings(changed: Body) -> Iterator[str]:
    if changed.get("automatedKeywordsOptIn") is True:
        yield "Search Match adds search terms beyond the ad group's keywords."
    if read(changed, "/bidStrategy/bidStrategyType") == apple.MAX_CONVERSIONS and "bid" not in changed["bidStrategy"]:
        yield "Apple chooses what taps cost from then on; bids do not limit it any more."
    if changed.get("status") == apple.ENABLED:
        yield "With it spending may begin; of the ads of an ad group one may be enabled at a time."


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, laid over what it is now."""
    one = level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from reads.editable(account, kind, entity_id)
    changed: Body = {}
    told: list[Change] = []
    issues: list[Issue] = []
    try:
        fields = edited(NETWORK, account, kind, current.native, edit, now)
        for pointer, value in fields.native.items():
            put(changed, pointer, value)
        told += fields.changes
        issues += conflicts(current.native, changed, now)
    except InvalidInput as problem:
        issues += problem.issues
    try:
        if edit.targeting:
            held = changed.get("targeting", current.native.get("targeting"))
            changed["targeting"], parts = merged(kind, held, edit.targeting)
            told += parts
    except InvalidInput as problem:
        issues += problem.issues
    refuse(issues)
    does = f"Change {', '.join(change.field for change in told)} of the {CALLED[kind]} {entity_id}."
    step = _update(account, one, entity_id, does, changed, told=told)
    risky = changed.get("status") == apple.ENABLED or "bidStrategy" in edit.fields
    risk: Risk = "spend" if risky else risk_of(NETWORK, kind, told)
    return _plan(account, "edit", step, risk=risk, warnings=list(_edit_warnings(changed)))


# -- preflight ----------------------------------------------------------------------------------------------------


def _creative_issues(creative: Mapping[str, Json], app_id: str | None) -> Iterator[str]:
    kind, own = text(creative, "/creativeType"), text(creative, "/destination/parameters/adamId")
    if kind != apple.CUSTOM_PRODUCT_PAGE:
        yield f"the creative is no {apple.CUSTOM_PRODUCT_PAGE}"
    if own != app_id:
        yield "the creative shows another app than platform.appId"
    if creative.get("deleted") is True:
        yield "the creative is deleted"
    if creative.get("systemStatus") == apple.INVALID:
        yield "the creative is invalid"


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the creative fits the app, and the App Store has the app in the countries."""
    app_id, creative_id = brief.platform.app_id or "", brief.creative.existing_id or ""
    issues: list[Issue] = []
    warnings: list[str] = []
    url, path = f"{apple.API}/creatives/{{id}}", "creative.existingId"
    found = yield from maybe(NETWORK, Request("GET", url, {ID: creative_id}, headers=apple.context(account)))
    if found is None:
        issues.append(Issue(path, "not_found", "Apple Ads has no such creative in the ad account; see creatives."))
    else:
        creative = apple.result(found, "creative")
        issues += [Issue(path, "ineligible", f"Apple Ads: {wrong}.") for wrong in _creative_issues(creative, app_id)]
        if creative.get("systemStatus") == apple.PENDING:
            warnings.append("Apple still examines the creative; until it is valid the ad does not serve.")
    found = yield from maybe(NETWORK, app(account, app_id))
    if found is None:
        issues.append(Issue("platform.appId", "not_found", "Apple Ads finds no app with this App Store id."))
    else:
        stores = apple.result(found, "app").get("availableStorefronts")
        absent = [one for one in countries_of(brief) if isinstance(stores, list) and one not in stores]
        if absent:
            at = "targeting.countries" if brief.targeting.countries else "targeting.native"
            message = f"Apple Ads: the App Store does not have the app in {', '.join(absent)}."
            issues.append(Issue(at, "ineligible", message))
    return issues, warnings
