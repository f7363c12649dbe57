"""Changes at Google Ads as plans. A plan has one step: one atomic write of several operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.edit_members import EditPart, check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.lifecycle import build_plan, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.adapter.settings import to_account_time
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import ENTITY_KINDS, Change, ItemBatch, Kind, Outputs, Plan, Step, StepAction
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value

from . import native as google
from .reads import fetch_editable_entity
from .settings import check_conflicts, get_goal_name
from .tables import AD, CAMPAIGN, NETWORK
from .targeting import build_criteria, build_targeting_operations, get_geo_targets

NAMES_OUTPUT = "resourceNames"
"""The output of every step: the resource names of the written objects, in the order of the operations."""
Operations = Sequence[Mapping[str, Json]]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_step(
    account: Account,
    key: str,
    kind: str,
    does: str,
    operations: Operations,
    action: StepAction = "create",
    entity: str | None = None,
    parent: str | None = None,
    changes: Sequence[Change] = (),
) -> Step:
    request = google.build_mutate_request(account, operations)
    items = ItemBatch(f"/body/{google.OPERATIONS}", NAMES_OUTPUT)
    return Step(key, kind, does, request, action, entity, parent, items=items, changes=tuple(changes))


def _get_writable_level(kind: str) -> Level:
    """Return the level of a kind that a plan can change alone. A keyword is only written with its ad group."""
    if kind not in ENTITY_KINDS:
        raise invalid_input(
            "kind", "level_not_supported", f"A {kind} cannot be changed here; {', '.join(ENTITY_KINDS)} can."
        )
    return get_level(NETWORK, kind)


def _get_resource_name(account: Account, level: Level, entity_id: str) -> str:
    """Return the resource name of an entity. Raises InvalidInput for an ID of another form than its level's."""
    ids = google.parse_resource_ids(level.native, entity_id, "entityId")
    return google.build_resource_name(account, level.native, *ids)


# -- create -------------------------------------------------------------------------------------------------------

ServingDays = tuple[date, date | None, datetime | None]
"""The first and last day of a campaign, and the present in the account's time zone."""


def _build_campaign_resource(brief: CampaignBrief, name: str, budget: str, days: ServingDays) -> dict[str, Json]:
    first, last, local = days
    native = brief.targeting.native or {}
    campaign: dict[str, Json] = {
        "resourceName": name,
        "name": brief.name,
        "status": google.PAUSED,
        "advertisingChannelType": google.SEARCH,
        "campaignBudget": budget,
        "targetSpend" if brief.bid is None else "manualCpc": {},
        # With search partners or the Display Network the campaign would serve outside Google Search.
        "networkSettings": {
            "targetGoogleSearch": True,
            "targetSearchNetwork": False,
            "targetContentNetwork": False,
            "targetPartnerSearchNetwork": False,
        },
        # The default also targets people who are only interested in the place.
        "geoTargetTypeSetting": {"positiveGeoTargetType": google.PRESENCE, **native.get("geoTargetTypeSetting", {})},
    }
    # Google refuses a past date (DateError.CANNOT_SET_DATE_TO_PAST). Without a start the campaign starts now.
    if local is None or first > local.date():
        campaign["startDateTime"] = google.format_day_start(first)
    if last is not None:
        campaign["endDateTime"] = google.format_day_end(last)
    political = brief.platform.eu_political_advertising
    return campaign | {"containsEuPoliticalAdvertising": google.POLITICAL_ADVERTISING[political is True]}


def _build_ad(brief: CampaignBrief) -> dict[str, Json]:
    content = brief.creative
    texts = {"headlines": content.headlines or (), "descriptions": content.descriptions or ()}
    assets = {member: [{"text": text} for text in values] for member, values in texts.items()}
    return {"finalUrls": [content.url], "responsiveSearchAd": assets}


def _build_hierarchy_operations(
    account: Account, brief: CampaignBrief, criteria: Sequence[Mapping[str, Json]], days: ServingDays
) -> Iterator[Mapping[str, Json]]:
    """Build the operations, parents first. Negative IDs are valid only within the request."""
    unit = NETWORK.get_money_unit(account)
    budget, campaign, group = (
        google.build_resource_name(account, resource, str(-number))
        for number, resource in enumerate(("campaignBudget", "campaign", "adGroup"), 1)
    )
    yield google.build_operation(
        "campaignBudget",
        create={
            "resourceName": budget,
            "amountMicros": to_native_amount(unit, brief.budget.amount, "budget.amount"),
            "deliveryMethod": "STANDARD",
            "explicitlyShared": False,  # Google's default is true
        },
    )
    yield google.build_operation("campaign", create=_build_campaign_resource(brief, campaign, budget, days))
    for criterion in criteria:
        yield google.build_operation("campaignCriterion", create={"campaign": campaign, **criterion})
    ad_group = {
        "resourceName": group,
        "campaign": campaign,
        "name": brief.name,
        "type": google.SEARCH_GROUP,
        "status": google.PAUSED,
    }
    if brief.bid is not None:
        ad_group["cpcBidMicros"] = to_native_amount(unit, brief.bid, "bid")
    yield google.build_operation("adGroup", create=ad_group)
    paused = {"adGroup": group, "status": google.PAUSED}
    for keyword in brief.targeting.keywords or ():
        words = {"text": keyword.text, "matchType": keyword.match.upper()}
        yield google.build_operation("adGroupCriterion", create={**paused, "keyword": words})
    yield google.build_operation("adGroupAd", create={**paused, "ad": _build_ad(brief)})


def _collect_day_warnings(account: Account, brief: CampaignBrief, days: ServingDays) -> Iterator[str]:
    assumption = NETWORK.get_money_unit(account).assumption
    if assumption:
        yield assumption
    first, last, local = days
    end = f"to 24:00 of {last}" if last is not None else "without an end"
    start = f"from 00:00 of {first}"
    if local is not None and first <= local.date():
        start = "from its activation on"
        if brief.schedule.start < local:
            yield "The start lies in the past: it serves once it is activated."
    yield f"Google Ads keeps whole days: it serves {start} {end}, {require_timezone(account)} time."
    if brief.platform.eu_political_advertising:
        yield "Declared as political advertising: Google does not serve it in the European Union."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan one write of budget, campaign with its places, ad group, keywords and ad, all paused."""
    days = *google.get_serving_days(account, brief), to_account_time(account, now)
    criteria = build_criteria(brief)
    operations = list(_build_hierarchy_operations(account, brief, criteria, days))
    keywords, places = len(brief.targeting.keywords or ()), len(criteria)
    does = (
        f"Create, all together or nothing: a daily budget, the paused campaign {brief.name} with {places} targeting"
        f" criteria, its paused ad group with {keywords} paused keywords, and a paused responsive search ad."
    )
    step = _build_step(account, CAMPAIGN.kind, CAMPAIGN.kind, does, operations)
    warnings = tuple(_collect_day_warnings(account, brief, days))
    return (yield from completed_plan(NETWORK, account, "create", step, warnings=warnings))


# -- activate and status ------------------------------------------------------------------------------------------

# Ads come first, campaigns last. Budgets and criteria of campaigns have no status.
_ACTIVATION_ORDER = ("adGroupCriterion", "adGroupAd", "adGroup", "campaign")


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Plan one write that activates exactly the entities that the source operation created."""
    pairs = [
        pair
        for step in source.steps
        for pair in zip(step.request.body[google.OPERATIONS], outputs[step.key][NAMES_OUTPUT], strict=True)
    ]
    enabled = {"status": google.ENABLED}
    operations = [
        google.build_update_operation(resource, name, enabled)
        for resource in _ACTIVATION_ORDER
        for operation, name in pairs
        if f"{resource}Operation" in operation
    ]
    does = "Enable, all together or nothing: the keywords, the ad, the ad group, and the campaign."
    step = _build_step(account, f"activate_{CAMPAIGN.kind}", CAMPAIGN.kind, does, operations, "update")
    return (yield from completed_plan(NETWORK, account, "activate", step, risk="spend"))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused."""
    level = _get_writable_level(kind)
    lifecycle.ensure_writable_status(NETWORK, level, status)
    name, members = _get_resource_name(account, level, entity_id), {"status": level.writable_statuses[status]}
    does = f"Set the {level.label} {entity_id} to {status}."
    operation = google.build_update_operation(level.native, name, members)
    step = _build_step(account, kind, kind, does, [operation], "update", entity_id)
    return (yield from completed_plan(NETWORK, account, "status", step, risk=lifecycle.assess_status_risk(status)))


# -- native -------------------------------------------------------------------------------------------------------


def _check_mutate_payload(payload: Mapping[str, Json]) -> Iterator[Issue]:
    """Refuse a resource name, an unknown status and malformed member names in a native payload."""
    if "resourceName" in payload:
        yield Issue("payload.resourceName", "not_supported", "The resourceName follows from the account and the id.")
    status = payload.get("status")
    if "status" in payload and status not in CAMPAIGN.writable_statuses.values():
        accepted = ", ".join(CAMPAIGN.writable_statuses.values())
        yield Issue("payload.status", "choice", f"Google Ads takes these: {accepted}; to remove it, delete it.")
    if not all(name.isascii() and name.isalnum() for name in _list_member_names(payload)):
        yield Issue("payload", "malformed", "Members are named in letters and digits, as in Google's JSON.")


def _list_member_names(value: Mapping[str, Json]) -> Iterator[str]:
    """Return the names of all members that an update mask could contain."""
    for name, member in value.items():
        yield name
        if isinstance(member, Mapping):
            yield from _list_member_names(member)


def _build_parent_member(
    account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None
) -> dict[str, Json]:
    """Return the member that names the parent, from the payload or from ``parentId``."""
    level = _get_writable_level(kind)
    if not level.parent_kind:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", "A campaign of Google Ads has no parent.")
        return {}
    member, parent = level.parent_kind, get_level(NETWORK, level.parent_kind).label
    named = payload.get(member)
    if parent_id is None and named is None:
        raise invalid_input("parentId", "required", f"Name the {parent} that the {level.label} belongs to.")
    if named is not None and not google.is_resource_name(account, member, named):
        message = f"It is the resource name of a {parent} of this account; or leave it out and give parentId."
        raise invalid_input(f"payload.{member}", "malformed", message)
    if parent_id is None:
        return {member: named}
    name = google.build_resource_name(account, member, *google.parse_resource_ids(member, parent_id, "parentId"))
    if named not in (None, name):
        raise invalid_input("parentId", "conflict", f"payload.{member} contradicts it: it names another {parent}.")
    return {member: name}


def _build_campaign_operations(account: Account, campaign: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """Build the operations that create a campaign. If the payload has the budget as an object, it is created first."""
    budget = campaign.get("campaignBudget")
    if isinstance(budget, Mapping):
        if "resourceName" in budget:
            raise invalid_input(
                "payload.campaignBudget.resourceName",
                "not_supported",
                "Google Ads names a new budget itself; leave it out.",
            )
        name = google.build_resource_name(account, "campaignBudget", "-1")
        yield google.build_operation(
            "campaignBudget", create={"resourceName": name, "explicitlyShared": False, **budget}
        )
        campaign = {**campaign, "campaignBudget": name}
    elif not google.is_resource_name(account, "campaignBudget", budget):
        raise invalid_input(
            "payload.campaignBudget",
            "required",
            "Give the resource name of a budget of this account, or a new budget as an object.",
        )
    if campaign.get("containsEuPoliticalAdvertising") not in google.POLITICAL_ADVERTISING.values():
        path, accepted = "payload.containsEuPoliticalAdvertising", ", ".join(google.POLITICAL_ADVERTISING.values())
        raise invalid_input(path, "required", f"Google Ads needs the declaration: {accepted}.")
    yield google.build_operation("campaign", create=campaign)


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = _get_writable_level(kind)
    raise_if_issues(_check_mutate_payload(payload))
    members = {"status": level.initial_status, **payload, **_build_parent_member(account, kind, payload, parent_id)}
    operations = (
        list(_build_campaign_operations(account, members))
        if level is CAMPAIGN
        else [google.build_operation(level.native, create=members)]
    )
    is_active = members["status"] == google.ENABLED
    does = f"Create the {level.label} as given, {'active' if is_active else 'paused'}."
    step = _build_step(account, kind, kind, does, operations, parent=parent_id)
    return (yield from completed_plan(NETWORK, account, "create", step, risk="spend" if is_active else "low"))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. The value null clears a member. Present amounts are not read."""
    level = _get_writable_level(kind)
    issues = list(_check_mutate_payload(payload))
    if not payload:
        issues.append(Issue("payload", "required", "There is nothing to change: name at least one member."))
    if parent_id is not None and not level.parent_kind:
        issues.append(Issue("parentId", "not_supported", "A campaign of Google Ads has no parent."))
    if parent_id is not None and level is AD and entity_id.partition("~")[0] != parent_id:
        issues.append(Issue("parentId", "conflict", "The ad's id names another ad group."))
    raise_if_issues(issues)
    places = google.build_update_mask(payload)
    name = _get_resource_name(account, level, entity_id)
    operation = google.build_update_operation(level.native, name, payload)
    does = lifecycle.describe_update(level, entity_id, places)
    step = _build_step(account, kind, kind, does, [operation], "update", entity_id, parent_id)
    risk = lifecycle.assess_status_risk("active" if payload.get("status") == google.ENABLED else "paused")
    return (yield from completed_plan(NETWORK, account, "update", step, risk=risk))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the permanent removal of one entity and of all entities below it."""
    level = _get_writable_level(kind)
    operation = google.build_operation(level.native, remove=_get_resource_name(account, level, entity_id))
    does = f"Remove the {level.label} {entity_id} and all below it; this cannot be undone."
    step = _build_step(account, kind, kind, does, [operation], "delete", entity_id)
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive"))


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_fields(account: Account, kind: Kind, entity: NativeEntity, edit: Edit, now: datetime | None) -> EditPart:
    result = apply_edit(NETWORK, account, kind, entity, edit, now)
    members = result.native_object
    raise_if_issues(check_conflicts(account, kind, entity, members, edit, now))
    return members, result.changes


def _build_update_operations(
    account: Account, level: Level, entity_id: str, entity: NativeEntity, changed: Mapping[str, Json]
) -> Iterator[Mapping[str, Json]]:
    """Build the operations of an edit's fields: one for each resource with a changed field."""
    if "campaignBudget" in changed:
        budget = get_text(entity, "/campaign/campaignBudget")
        if not google.is_resource_name(account, "campaignBudget", budget):
            raise ProviderUnreadable("The campaign does not name its budget.")
        yield google.build_update_operation("campaignBudget", str(budget), changed["campaignBudget"])
    # Google derives biddingStrategyType from the member that is set.
    campaign = {name: value for name, value in changed.get("campaign", {}).items() if name != "biddingStrategyType"}
    if campaign:
        yield google.build_update_operation("campaign", _get_resource_name(account, level, entity_id), campaign)
    goals = {get_goal_name(goal): goal for goal in get_objects(entity, "/campaignConversionGoals", "campaign")}
    for goal in changed.get("campaignConversionGoals", ()):
        if goal["biddable"] != (get_value(goals[get_goal_name(goal)], "/biddable") is True):
            name = google.build_resource_name(account, "campaignConversionGoal", entity_id, get_goal_name(goal))
            yield google.build_update_operation("campaignConversionGoal", name, {"biddable": goal["biddable"]})
    if "adGroup" in changed:
        yield google.build_update_operation(
            "adGroup", _get_resource_name(account, level, entity_id), changed["adGroup"]
        )
    if "adGroupAd" in changed:
        name = google.build_resource_name(account, "ad", entity_id.partition("~")[2])
        yield google.build_update_operation("ad", name, changed["adGroupAd"]["ad"])


def _collect_edit_warnings(edit: Edit, changed: Mapping[str, Json]) -> Iterator[str]:
    campaign = get_value(changed, "/campaign", {})
    days = [f"{name} {campaign[name] or 'none'}" for name in ("startDateTime", "endDateTime") if name in campaign]
    if days:
        yield f"Google Ads keeps whole days in the account's time zone: {', '.join(days)}."
    if edit.targeting.get("languages") == []:
        yield "Without a language the campaign serves in all of them."
    if "cpcBidMicros" in changed.get("adGroup", {}):
        yield "Keywords that have a bid of their own keep it."
    if "adGroupAd" in changed:
        yield "The ad goes to review again."


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields, targeting or texts of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from fetch_editable_entity(account, kind, entity_id)).native
    criteria: list[Mapping[str, Json]] = []

    def edit_targeting() -> EditPart:
        operations, changes = build_targeting_operations(account, entity_id, entity, edit)
        criteria.extend(operations)
        return {}, changes

    changed, changes = merge_edit_parts([partial(_edit_fields, account, kind, entity, edit, now), edit_targeting])
    operations = [*_build_update_operations(account, level, entity_id, entity, changed), *criteria]
    does = lifecycle.describe_update(level, entity_id, [change.field for change in changes])
    step = _build_step(account, kind, kind, does, operations, "update", entity_id, changes=changes)
    warnings = list(_collect_edit_warnings(edit, changed))
    return build_plan(NETWORK, account, "edit", step, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that the name is free, and that Google Ads can target the places."""
    places, warnings = yield from _check_places(account, brief)
    names = yield from _find_name_conflict(account, brief)
    return [*names, *places], warnings


def _find_name_conflict(account: Account, brief: CampaignBrief) -> Flow[list[Issue]]:
    """Check that no campaign has the name. Such a campaign could be mistaken for the new one if a response is lost."""
    conditions = (f"campaign.name = {google.quote_literal(brief.name)}", *google.SOURCES[CAMPAIGN.kind].live_conditions)
    query = google.build_gaql(("campaign.resource_name",), "campaign", *conditions)
    response = yield from fetch_response(NETWORK, google.build_search_request(account, query))
    if not get_objects(response.body, "/results"):
        return []
    return [Issue("name", "taken", "The account has a campaign of this name; Google Ads takes each name once.")]


def _check_places(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that Google Ads can target the places: it lacks some countries of ISO, and removes geo targets."""
    places = get_geo_targets(brief)
    if not places:
        return [], []
    names = ", ".join(google.quote_literal(f"{google.LOCATION_PREFIX}{place}") for place in places)
    fields = ("geo_target_constant.resource_name", "geo_target_constant.status")
    query = google.build_gaql(fields, "geo_target_constant", f"geo_target_constant.resource_name IN ({names})")
    response = yield from fetch_response(NETWORK, google.build_search_request(account, query))
    statuses = {
        google.parse_resource_id(get_text(row, "/geoTargetConstant/resourceName") or ""): get_text(
            row, "/geoTargetConstant/status"
        )
        for row in get_objects(response.body, "/results")
    }
    issues = [
        Issue(path, "not_found", f"Google Ads cannot target this {'country' if 'countries' in path else 'location'}.")
        for place, path in places.items()
        if place not in statuses
    ]
    retired = [path for place, path in places.items() if statuses.get(place) == google.REMOVAL_PLANNED]
    return issues, [f"Google Ads is about to give up the place of {path}." for path in retired]
