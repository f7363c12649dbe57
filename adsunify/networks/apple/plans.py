"""Changes at Apple Ads as plans: one entity per write, keywords in one write together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import fetch_or_none
from adsunify.adapter.lifecycle import ID_OUTPUT, build_plan, completed_plan, get_parent_member
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, get_level
from adsunify.errors import InvalidInput, Issue, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Change, Expectation, ItemBatch, Kind, Output, Outputs, Plan, Risk, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as apple
from . import reads
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, NETWORK, build_app_request
from .targeting import build_ad_group_targeting, build_campaign_targeting, get_brief_countries, merge_targeting

KEYWORDS_KEY = "keywords"
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/result/id",)),)
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_write_request(account: Account, method: str, path: str, body: Json) -> Request:
    headers = apple.build_context_headers(account)
    return Request(method, f"{apple.API_URL}/{path}", headers=headers, body=body, encoding="json", kind="write")


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity. The step's key is the entity's kind."""
    request = _build_write_request(account, "POST", level.path, members)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS)


@cache
def _bind_parent_id(level: Level, entity: str = "/body") -> Binding:
    """Bind the ID of a parent that an earlier step creates, as a number, into an entity of the request."""
    return Binding(f"{entity}{level.parent}", level.parent_kind, ID_OUTPUT, cast="integer")


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of one entity. Other members stay unchanged."""
    request = _build_write_request(account, "PUT", f"{level.path}/{{id}}", dict(members))
    request = evolve(request, path={ID_OUTPUT: entity_id})
    native_id = int(entity_id) if apple.match_id_number(entity_id) else entity_id
    same = (Expectation(f"/body/result{level.id}", native_id),)
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


def _build_bulk_step(
    account: Account, operation: str, entities: Sequence[Body], key: str, does: str, bindings: Sequence[Binding] = ()
) -> Step:
    """Build a step that writes keywords. Apple applies all of them or none."""
    items = [{"correlationId": position, "data": entity} for position, entity in enumerate(entities)]
    body = {"allowPartialSuccess": False, "items": items}
    return Step(
        key,
        KEYWORD.kind,
        does,
        _build_write_request(account, "POST", f"{KEYWORD.path}/bulk-{operation}", body),
        "create" if operation == "create" else "update",
        bindings=tuple(bindings),
        items=ItemBatch("/body/items", ID_OUTPUT),
    )


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


def _build_search_ad_group(brief: CampaignBrief, bid: Body) -> Body:
    body: Body = {
        "name": f"{brief.name} - ad group",
        "pricingModel": apple.CPT,
        "status": apple.PAUSED,
        "startTime": apple.TIME.format(brief.schedule.start),  # no endTime: the ad group ends with the campaign
        # By default Search Match adds keywords. A brief with keywords must get only its own keywords.
        "automatedKeywordsOptIn": not brief.targeting.keywords,
        "bidStrategy": _build_bid_strategy_pair(apple.MANUAL_CPT) | {"bid": bid},
    }
    targeting = build_ad_group_targeting(brief)
    return body | {"targeting": targeting} if targeting else body


def _build_keyword_steps(account: Account, brief: CampaignBrief, bid: Body) -> list[Step]:
    entities: list[Body] = [
        {"text": keyword.text, "matchType": keyword.match.upper(), "status": apple.PAUSED, "bid": dict(bid)}
        for keyword in brief.targeting.keywords or ()
    ]
    bindings = [_bind_parent_id(KEYWORD, f"/body/items/{position}/data") for position in range(len(entities))]
    does = f"Create {len(entities)} paused keywords, all or none."
    return [_build_bulk_step(account, "create", entities, KEYWORDS_KEY, does, bindings)] if entities else []


def _collect_search_warnings(brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if not brief.targeting.keywords:
        yield "There are no keywords: Search Match chooses the search terms."
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Apple may refuse it, else the ads run at once when they are activated."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign, an ad group with the bid, keywords, and an ad with the existing creative, all paused."""
    bid = apple.build_money(account, to_native_amount(NETWORK.get_money_unit(account), brief.bid or "", "bid"))
    creative = apple.parse_id_number(brief.creative.existing_id or "", "creative.existingId")
    ad = {"name": f"{brief.name} - ad", "creativeId": creative, "status": apple.PAUSED}
    does_campaign = "Create the campaign with budget and countries, paused."
    does_ad_group = "Create the ad group with the bid, paused."
    ad_group = _build_search_ad_group(brief, bid)
    steps = [
        _build_create_step(account, CAMPAIGN, does_campaign, _build_campaign(account, brief)),
        _build_create_step(account, AD_GROUP, does_ad_group, ad_group, _bind_parent_id(AD_GROUP)),
        *_build_keyword_steps(account, brief, bid),
        _build_create_step(account, AD, "Create the ad over the existing creative, paused.", ad, _bind_parent_id(AD)),
    ]
    warnings = tuple(_collect_search_warnings(brief, now))
    return (yield from completed_plan(NETWORK, account, "create", *steps, warnings=warnings))


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Plan the activation of keywords, ad and ad group, and last of the campaign, which starts the spending."""
    entities: list[Body] = [
        {ID_OUTPUT: apple.parse_id_number(keyword_id, KEYWORDS_KEY), "status": apple.ENABLED}
        for keyword_id in outputs.get(KEYWORDS_KEY, {}).get(ID_OUTPUT, ())
    ]
    does = f"Enable the {len(entities)} keywords."
    steps = [_build_bulk_step(account, "update", entities, f"activate_{KEYWORDS_KEY}", does)] if entities else []
    steps += lifecycle.build_activation_steps(NETWORK, _build_status_step, account, outputs)
    return (yield from completed_plan(NETWORK, account, "activate", *steps, risk="spend"))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused."""
    plan = yield from lifecycle.plan_status(NETWORK, _build_status_step, account, kind, entity_id, status)
    is_activated_ad = status == "active" and kind == AD.kind
    return evolve(plan, warnings=("Apple refuses a second enabled ad in an ad group.",)) if is_activated_ad else plan


# -- native -------------------------------------------------------------------------------------------------------


def _check_level_payload(account: Account, kind: Kind, payload: Mapping[str, Json]) -> Iterator[Issue]:
    if kind == CAMPAIGN.kind:
        yield from lifecycle.check_same_id(payload, "adAccountId", account.native_id, "the account")
    if "bidStrategy" in payload:
        name, goal = (get_text(payload, f"/bidStrategy/{member}") for member in ("bidStrategyType", "bidStrategyGoal"))
        if name is None or goal is None or apple.BID_STRATEGIES.get(name) != goal:
            pairs = ", ".join(f"{type_} with {goal}" for type_, goal in apple.BID_STRATEGIES.items())
            yield Issue("payload.bidStrategy", "invalid", f"Apple Ads takes type and goal in these pairs: {pairs}.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    issues = _check_level_payload(account, kind, payload)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, issues)
    member, owner, path = "adAccountId", account.native_id, "account.nativeId"
    if create.parent_id is not None:
        member, owner = get_parent_member(level), create.parent_id
        path = f"payload.{member}" if parent_id is None else "parentId"
    members = {**create.members, member: apple.parse_id_number(owner, path)}
    does = f"Create the {level.label} from native members, {'active' if create.is_active else 'paused'}."
    step = evolve(_build_create_step(account, level, does, members), parent=create.parent_id)
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. Other members stay unchanged."""
    issues = _check_level_payload(account, kind, payload)
    return lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, payload, parent_id, issues)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the deletion of one entity and of all entities below it."""
    level = get_level(NETWORK, kind)
    below = "" if level is AD else " and all below it"
    does = f"Delete the {level.label} {entity_id}{below}; this cannot be undone."
    url, path = f"{apple.API_URL}/{level.path}/{{id}}", {ID_OUTPUT: entity_id}
    request = Request("DELETE", url, path, headers=apple.build_context_headers(account), kind="write")
    # The response to a deletion is not documented, so only its HTTP status counts.
    step = Step(kind, kind, does, request, "delete", entity_id, can_be_empty=True)
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive"))


# -- edit ---------------------------------------------------------------------------------------------------------


def _collect_bid_warnings(changed: Body) -> Iterator[str]:
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
    """Plan one write that changes fields and targeting of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from reads.fetch_editable_entity(account, kind, entity_id)).native
    members: Body = {}
    changes: list[Change] = []
    issues: list[Issue] = []
    try:
        result = apply_edit(NETWORK, account, kind, entity, edit, now)
        members = result.native_object
        changes += result.changes
        issues += check_conflicts(account, kind, entity, members, edit, now)
    except InvalidInput as problem:
        issues += problem.issues
    try:
        if edit.targeting:  # the fields of this edit may have changed the targeting
            targeting = members.get("targeting", entity.get("targeting"))
            members["targeting"], targeting_changes = merge_targeting(kind, targeting, edit.targeting)
            changes += targeting_changes
    except InvalidInput as problem:
        issues += problem.issues
    raise_if_issues(issues)
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    may_spend = members.get("status") == apple.ENABLED or "bidStrategy" in edit.fields
    risk: Risk = "spend" if may_spend else assess_risk(NETWORK, kind, changes)
    return build_plan(NETWORK, account, "edit", step, risk=risk, warnings=list(_collect_bid_warnings(members)))


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
    """Check that the creative is of the app, and that the App Store has the app in the countries."""
    app_id, creative_id = brief.platform.app_id or "", brief.creative.existing_id or ""
    issues: list[Issue] = []
    warnings: list[str] = []
    url, path = f"{apple.API_URL}/creatives/{{id}}", "creative.existingId"
    response = yield from fetch_or_none(
        NETWORK, Request("GET", url, {ID_OUTPUT: creative_id}, headers=apple.build_context_headers(account))
    )
    if response is None:
        issues.append(Issue(path, "not_found", "Apple Ads has no such creative in the ad account; see creatives."))
    else:
        creative = apple.parse_object(response, "creative")
        issues += [
            Issue(path, "ineligible", f"Apple Ads: {error}.") for error in _find_creative_errors(creative, app_id)
        ]
        if creative.get("systemStatus") == apple.PENDING:
            warnings.append("Apple still examines the creative; until it is valid the ad does not serve.")
    response = yield from fetch_or_none(NETWORK, build_app_request(account, app_id))
    if response is None:
        issues.append(Issue("platform.appId", "not_found", "Apple Ads finds no app with this App Store id."))
    else:
        stores = apple.parse_object(response, "app").get("availableStorefronts")
        absent = [
            country for country in get_brief_countries(brief) if isinstance(stores, list) and country not in stores
        ]
        if absent:
            at = "targeting.countries" if brief.targeting.countries else "targeting.native"
            message = f"Apple Ads: the App Store does not have the app in {', '.join(absent)}."
            issues.append(Issue(at, "ineligible", message))
    return issues, warnings
