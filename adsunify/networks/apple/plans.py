"""Changes at Apple Ads as plans: one entity per write, keywords in one write together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from attrs import evolve

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow, fetch_or_none
from adsunify.adapter.network import Account, Level, get_level, to_native_amount
from adsunify.adapter.settings import list_settings
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
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
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as apple
from . import reads
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, NETWORK, build_app_request
from .targeting import build_ad_group_targeting, build_campaign_targeting, get_brief_countries, merge_targeting

ID_OUTPUT = "id"
"""The output of every step: the id of what was made, or of all keywords in the order sent."""
KIND_NAMES = {"campaign": "campaign", "adGroup": "ad group", "ad": "ad"}
KEYWORDS_KEY = "keywords"
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/result/id",)),)
MONEY_MEMBERS = ("dailyBudget", "bidStrategy", "sharedBudgets", "bid")
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_write_request(account: Account, method: str, path: str, body: Json) -> Request:
    headers = apple.build_context_headers(account)
    return Request(method, f"{apple.API_URL}/{path}", headers=headers, body=body, encoding="json", kind="write")


def _build_create_step(
    account: Account, one: Level, does: str, entity: Body, *, under: Level | None = None, parent: str | None = None
) -> Step:
    """A step that makes one entity, under what the step of the level ``under`` makes."""
    bindings = () if under is None else (Binding(f"/body{one.parent}", under.kind, ID_OUTPUT, cast="integer"),)
    request = _build_write_request(account, "POST", one.path, entity)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(
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
    request = _build_write_request(account, "PUT", f"{one.path}/{{id}}", changed)
    same = int(entity_id) if apple.match_id_number(entity_id) else entity_id
    return Step(
        key or one.kind,
        one.kind,
        does,
        evolve(request, path={ID_OUTPUT: entity_id}),
        "update",
        entity_id,
        parent,
        expectations=(Expectation(f"/body/result{one.id}", same),),
        changes=tuple(told),
    )


def _build_bulk_step(
    account: Account, operation: str, entities: Sequence[Body], key: str, does: str, bindings: Sequence[Binding] = ()
) -> Step:
    """A step that writes keywords, all or none."""
    listed = [{"correlationId": position, "data": entity} for position, entity in enumerate(entities)]
    body = {"allowPartialSuccess": False, "items": listed}
    return Step(
        key,
        KEYWORD.kind,
        does,
        _build_write_request(account, "POST", f"{KEYWORD.path}/bulk-{operation}", body),
        "create" if operation == "create" else "update",
        bindings=tuple(bindings),
        items=ItemBatch("/body/items", ID_OUTPUT),
    )


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _build_bid_strategy_pair(name: str) -> Body:
    return {"bidStrategyType": name, "bidStrategyGoal": apple.BID_STRATEGIES[name]}


def _build_campaign(account: Account, brief: CampaignBrief) -> Body:
    budget = to_native_amount(NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount")
    body: Body = {
        "name": brief.name,
        "adAccountId": apple.parse_id_number(account.native_id, "account.nativeId"),
        "promotedObjectType": apple.APPSTORE_APP,
        "promotedObjectId": brief.platform.app_id,
        "billingEvent": apple.TAPS,
        "status": apple.PAUSED,
        "startTime": apple.TIME.format(brief.schedule.start),
        "dailyBudget": {"value": apple.build_money(account, budget)},
        "targeting": build_campaign_targeting(brief),
        "bidStrategy": _build_bid_strategy_pair(apple.MANUAL_CPT),
    }
    return body if brief.schedule.end is None else body | {"endTime": apple.TIME.format(brief.schedule.end)}


def _build_ad_group(brief: CampaignBrief, bid: Body) -> Body:
    body: Body = {
        "name": f"{brief.name} - ad group",
        "pricingModel": apple.CPT,
        "status": apple.PAUSED,
        "startTime": apple.TIME.format(brief.schedule.start),  # its end is the campaign's
        # Apple would add Search Match to keywords; the brief asks only for its own, and nothing is widened.
        "automatedKeywordsOptIn": not brief.targeting.keywords,
        "bidStrategy": _build_bid_strategy_pair(apple.MANUAL_CPT) | {"bid": bid},
    }
    targeting = build_ad_group_targeting(brief)
    return body | {"targeting": targeting} if targeting else body


def _build_keyword_steps(account: Account, brief: CampaignBrief, bid: Body) -> list[Step]:
    wanted = brief.targeting.keywords or ()
    entities: list[Body] = [
        {"text": keyword.text, "matchType": keyword.match.upper(), "status": apple.PAUSED, "bid": dict(bid)}
        for keyword in wanted
    ]
    under = [
        Binding(f"/body/items/{position}/data{KEYWORD.parent}", AD_GROUP.kind, ID_OUTPUT, cast="integer")
        for position in range(len(entities))
    ]
    does = f"Create {len(entities)} paused keywords, all or none."
    return [_build_bulk_step(account, "create", entities, KEYWORDS_KEY, does, under)] if entities else []


def _collect_warnings(brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if not brief.targeting.keywords:
        yield "There are no keywords: Search Match chooses the search terms."
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Apple may refuse it, else the ads run at once when they are activated."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group with the bid, keywords, and ad over the existing creative; all paused."""
    bid = apple.build_money(account, to_native_amount(NETWORK.get_money_unit(account), brief.bid or "", "bid"))
    creative = apple.parse_id_number(brief.creative.existing_id or "", "creative.existingId")
    ad = {"name": f"{brief.name} - ad", "creativeId": creative, "status": apple.PAUSED}
    steps = [
        _build_create_step(
            account, CAMPAIGN, "Create the campaign with budget and countries, paused.", _build_campaign(account, brief)
        ),
        _build_create_step(
            account, AD_GROUP, "Create the ad group with the bid, paused.", _build_ad_group(brief, bid), under=CAMPAIGN
        ),
        *_build_keyword_steps(account, brief, bid),
        _build_create_step(account, AD, "Create the ad over the existing creative, paused.", ad, under=AD_GROUP),
    ]
    return (
        yield from completed_flow(_make_plan(account, "create", *steps, warnings=list(_collect_warnings(brief, now))))
    )


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(account: Account, one: Level, entity_id: str, status: str, key: str = "") -> Step:
    does = f"Set the {KIND_NAMES[one.kind]} {entity_id} to {status}."
    return _build_update_step(account, one, entity_id, does, {"status": one.writable_statuses[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Keywords, ad, ad group, then the campaign: with the last of them spending begins."""
    made = list(outputs.get(KEYWORDS_KEY, {}).get(ID_OUTPUT, ()))
    entities: list[Body] = [
        {ID_OUTPUT: apple.parse_id_number(one, KEYWORDS_KEY), "status": apple.ENABLED} for one in made
    ]
    does = f"Enable the {len(entities)} keywords."
    steps = [_build_bulk_step(account, "update", entities, f"activate_{KEYWORDS_KEY}", does)] if entities else []
    steps += [
        _build_status_step(account, one, str(outputs[one.kind][ID_OUTPUT]), "active", f"activate_{one.kind}")
        for one in (AD, AD_GROUP, CAMPAIGN)
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"Apple Ads sets these: {', '.join(one.writable_statuses)}.")
    active = status == "active"
    warnings = ["Apple refuses a second enabled ad in an ad group."] if active and one is AD else []
    step = _build_status_step(account, one, entity_id, status)
    return (
        yield from completed_flow(
            _make_plan(account, "status", step, risk="spend" if active else "low", warnings=warnings)
        )
    )


# -- native -------------------------------------------------------------------------------------------------------


def _check_payload(payload: Mapping[str, Json]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    if ID_OUTPUT in payload:
        yield Issue("payload.id", "read_only", "Apple Ads gives the id itself.")
    if "status" in payload and payload["status"] not in apple.STATUSES:
        yield Issue("payload.status", "choice", f"Apple Ads takes these: {', '.join(apple.STATUSES)}.")
    if "bidStrategy" in payload:
        name, goal = (get_text(payload, f"/bidStrategy/{member}") for member in ("bidStrategyType", "bidStrategyGoal"))
        if name is None or goal is None or apple.BID_STRATEGIES.get(name) != goal:
            pairs = ", ".join(f"{one} with {other}" for one, other in apple.BID_STRATEGIES.items())
            yield Issue("payload.bidStrategy", "invalid", f"Apple Ads takes type and goal in these pairs: {pairs}.")


def _check_locked_members(kind: Kind, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """Members that are never changed."""
    for setting in list_settings(NETWORK, kind):
        if setting.native in {f"/{name}" for name in payload if name != "targeting"} and isinstance(setting.lock, str):
            yield Issue(f"payload.{setting.field}", "locked", f"Apple Ads: {setting.field} is locked: {setting.lock}.")


def _resolve_parent(
    account: Account, one: Level, payload: Mapping[str, Json], parent_id: str | None
) -> tuple[str, int | None]:
    """The member that names what the entity belongs to, and its id as the request says it, once."""
    if not one.parent and parent_id is not None:
        raise invalid_input("parentId", "not_supported", "A campaign of Apple Ads has no parent.")
    member, where = (one.parent.removeprefix("/"), "parentId") if one.parent else ("adAccountId", "account.nativeId")
    wanted = parent_id if one.parent else account.native_id
    said = get_text(payload, f"/{member}")
    if member in payload and (said is None or (wanted is not None and said != wanted)):
        at = "parentId" if one.parent else f"payload.{member}"
        raise invalid_input(at, "conflict", f"payload.{member} names another one than the request.")
    if wanted is None and said is None:
        return member, None
    return member, apple.parse_id_number(wanted or said or "", where if wanted is not None else f"payload.{member}")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = get_level(NETWORK, kind)
    raise_if_issues(_check_payload(payload))
    member, owner = _resolve_parent(account, one, payload, parent_id)
    if owner is None:
        raise invalid_input("parentId", "required", f"Name the {KIND_NAMES[one.parent_kind]} that it belongs to.")
    entity = {"status": one.initial_status, **payload, member: owner}
    active = entity["status"] == apple.ENABLED
    does = f"Create the {KIND_NAMES[kind]} from native members, {'active' if active else 'paused'}."
    step = _build_create_step(account, one, does, entity, parent=str(owner) if one.parent else None)
    return (yield from completed_flow(_make_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity replaced; others stay as they are."""
    one = get_level(NETWORK, kind)
    issues = [*_check_payload(payload), *_check_locked_members(kind, payload)]
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    raise_if_issues(issues)
    if parent_id is not None:
        _resolve_parent(account, one, payload, parent_id)
    risky = payload.get("status") == apple.ENABLED or not set(MONEY_MEMBERS).isdisjoint(payload)
    does = f"Change {', '.join(payload)} of the {KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(account, one, entity_id, does, dict(payload), parent=parent_id)
    return (yield from completed_flow(_make_plan(account, "update", step, risk="spend" if risky else "low")))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it."""
    one = get_level(NETWORK, kind)
    below = "" if one is AD else " and all below it"
    does = f"Delete the {KIND_NAMES[kind]} {entity_id}{below}; this cannot be undone."
    url = f"{apple.API_URL}/{one.path}/{{id}}"
    request = Request("DELETE", url, {ID_OUTPUT: entity_id}, headers=apple.build_context_headers(account), kind="write")
    # What a deletion answers is documented nowhere: the status is all that counts.
    step = Step(kind, kind, does, request, "delete", entity_id, can_be_empty=True)
    return (yield from completed_flow(_make_plan(account, "delete", step, risk="destructive")))


# -- edit ---------------------------------------------------------------------------------------------------------


def _collect_edit_warnings(changed: Body) -> Iterator[str]:
    if changed.get("automatedKeywordsOptIn") is True:
        yield "Search Match adds search terms beyond the ad group's keywords."
    if (
        get_value(changed, "/bidStrategy/bidStrategyType") == apple.MAX_CONVERSIONS
        and "bid" not in changed["bidStrategy"]
    ):
        yield "Apple chooses what taps cost from then on; bids do not limit it any more."
    if changed.get("status") == apple.ENABLED:
        yield "With it spending may begin; of the ads of an ad group one may be enabled at a time."


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, laid over what it is now."""
    one = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from reads.fetch_editable_entity(account, kind, entity_id)
    changed: Body = {}
    told: list[Change] = []
    issues: list[Issue] = []
    try:
        fields = apply_edit(NETWORK, account, kind, current.native, edit, now)
        changed = fields.native_object
        told += fields.changes
        issues += check_conflicts(account, kind, current.native, changed, edit, now)
    except InvalidInput as problem:
        issues += problem.issues
    try:
        if edit.targeting:
            held = changed.get("targeting", current.native.get("targeting"))
            changed["targeting"], parts = merge_targeting(kind, held, edit.targeting)
            told += parts
    except InvalidInput as problem:
        issues += problem.issues
    raise_if_issues(issues)
    does = f"Change {', '.join(change.field for change in told)} of the {KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(account, one, entity_id, does, changed, told=told)
    risky = changed.get("status") == apple.ENABLED or "bidStrategy" in edit.fields
    risk: Risk = "spend" if risky else assess_risk(NETWORK, kind, told)
    return _make_plan(account, "edit", step, risk=risk, warnings=list(_collect_edit_warnings(changed)))


# -- preflight ----------------------------------------------------------------------------------------------------


def _find_creative_errors(creative: Mapping[str, Json], app_id: str | None) -> Iterator[str]:
    kind, own = get_text(creative, "/creativeType"), get_text(creative, "/destination/parameters/adamId")
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
    url, path = f"{apple.API_URL}/creatives/{{id}}", "creative.existingId"
    found = yield from fetch_or_none(
        NETWORK, Request("GET", url, {ID_OUTPUT: creative_id}, headers=apple.build_context_headers(account))
    )
    if found is None:
        issues.append(Issue(path, "not_found", "Apple Ads has no such creative in the ad account; see creatives."))
    else:
        creative = apple.parse_object(found, "creative")
        issues += [
            Issue(path, "ineligible", f"Apple Ads: {wrong}.") for wrong in _find_creative_errors(creative, app_id)
        ]
        if creative.get("systemStatus") == apple.PENDING:
            warnings.append("Apple still examines the creative; until it is valid the ad does not serve.")
    found = yield from fetch_or_none(NETWORK, build_app_request(account, app_id))
    if found is None:
        issues.append(Issue("platform.appId", "not_found", "Apple Ads finds no app with this App Store id."))
    else:
        stores = apple.parse_object(found, "app").get("availableStorefronts")
        absent = [one for one in get_brief_countries(brief) if isinstance(stores, list) and one not in stores]
        if absent:
            at = "targeting.countries" if brief.targeting.countries else "targeting.native"
            message = f"Apple Ads: the App Store does not have the app in {', '.join(absent)}."
            issues.append(Issue(at, "ineligible", message))
    return issues, warnings
