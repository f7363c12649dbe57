"""Changes at LinkedIn as plans: a POST creates an entity, a PARTIAL_UPDATE changes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache, partial

from attrs import evolve, frozen

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk
from adsunify.adapter.flows import fetch_if_possible
from adsunify.adapter.lifecycle import ID_OUTPUT, build_plan, build_schedule, completed_plan, get_status_member
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request, build_request_url
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Change, Kind, Output, Outputs, Plan, Risk, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects

from . import native as linkedin
from .reads import fetch_editable_entity
from .settings import check_conflicts, is_automated, is_default_group
from .tables import CAMPAIGN, CAMPAIGN_GROUP, CREATIVE, NETWORK, get_page_urn, is_enterprise
from .targeting import PostDetails, fetch_post, find_native_targeting_error, merge_targeting

CREATED_ID_POINTERS = ("/headers/x-restli-id", "/headers/x-linkedin-id", "/body/id")
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity. The response has the ID in a header, and no body."""
    url = f"{linkedin.API_URL}/adAccounts/{{account}}/{level.path}"
    slots, headers = linkedin.build_account_slots(account), linkedin.HEADERS
    request = Request("POST", url, slots, headers=headers, body=members, encoding="json", kind="write")
    outputs = _get_created_outputs(level)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=outputs, can_be_empty=True)


@cache
def _get_created_outputs(level: Level) -> tuple[Output, ...]:
    output = partial(Output, at=CREATED_ID_POINTERS, separator=":", is_percent_encoded=True)
    return output(ID_OUTPUT), output(linkedin.URN_OUTPUT, prefix=linkedin.URN_PREFIXES[level.kind])


def _build_entity_write(
    account: Account, level: Level, entity_id: str, method: str, headers: Mapping[str, str]
) -> Request:
    url = f"{linkedin.API_URL}/adAccounts/{{account}}/{level.path}/{{id}}"
    slots = linkedin.build_account_slots(account) | {"id": linkedin.get_path_id(level, entity_id)}
    return Request(method, url, slots, headers={**linkedin.HEADERS, **headers}, kind="write")


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of one entity. The value null deletes a member."""
    values = {name: value for name, value in members.items() if value is not None}
    removed = [name for name, value in members.items() if value is None]
    patch = {**({"$set": values} if values else {}), **({"$delete": removed} if removed else {})}
    headers = {linkedin.METHOD_HEADER: linkedin.PARTIAL_UPDATE}
    request = _build_entity_write(account, level, entity_id, "POST", headers)
    request = evolve(request, body={"patch": patch}, encoding="json")
    return Step(level.kind, level.kind, does, request, "update", entity_id, can_be_empty=True)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


# -- create -------------------------------------------------------------------------------------------------------


@frozen
class NativeObjective:
    """The native members of a goal: the objective, and the optimization target of a brief without a bid."""

    objective: str
    without_bid: str


OBJECTIVES: Mapping[str, NativeObjective] = {
    "traffic": NativeObjective(linkedin.WEBSITE_VISIT, "MAX_CLICK"),
    "awareness": NativeObjective(linkedin.BRAND_AWARENESS, "MAX_IMPRESSION"),
}


def _build_post_campaign(account: Account, brief: CampaignBrief, page: str, post: PostDetails) -> Body:
    aim, locale = OBJECTIVES[brief.goal], brief.platform.locale
    assert locale is not None
    # optimizationTargetType, costType and unitCost are sent together, because each has a default. An automated target
    # ignores unitCost.
    target = linkedin.MANUAL_TARGET if brief.bid is not None else aim.without_bid
    body: Body = {
        "account": linkedin.build_account_urn(account),
        "name": brief.name,
        "type": linkedin.SPONSORED_UPDATES,
        "status": CAMPAIGN.initial_status,
        "objectiveType": aim.objective,
        "optimizationTargetType": target,
        "costType": linkedin.OPTIMIZATION_TARGETS[aim.objective][target],
        "unitCost": linkedin.build_money_amount(account, brief.bid or "0", "bid"),
    }
    if brief.budget.period == "daily":
        body["dailyBudget"] = linkedin.build_money_amount(account, brief.budget.amount, "budget.amount")
    else:  # only a create can set the pacing
        body["totalBudget"] = linkedin.build_money_amount(account, brief.budget.amount, "budget.amount")
        body["pacingStrategy"] = linkedin.LIFETIME_PACING
    if post.format is not None:  # without a format LinkedIn derives it from the first creative
        body["format"] = post.format
    return body | {
        "associatedEntity": page,
        "locale": {"country": locale.country, "language": locale.language},
        "runSchedule": build_schedule(linkedin.TIME, brief, ("start", "end")),
        "creativeSelection": linkedin.OPTIMIZED,
        "audienceExpansionEnabled": False,
        "offsiteDeliveryEnabled": False,
        "politicalIntent": linkedin.POLITICAL_INTENT[brief.platform.eu_political_advertising],
        "targetingCriteria": brief.targeting.native,
    }


def _collect_budget_warnings(account: Account, brief: CampaignBrief) -> Iterator[str]:
    daily = brief.budget.period == "daily"
    least = linkedin.MIN_DAILY_BUDGET_USD if daily else linkedin.MIN_LIFETIME_BUDGET_USD
    if require_currency(account) == "USD" and Decimal(brief.budget.amount) < least:
        yield f"LinkedIn is reported to take no {brief.budget.period} budget below about {least} USD."


ACTIVE_GROUP_WARNING = (
    "LinkedIn creates no paused campaign group: the group is ACTIVE from its creation, and a campaign in it serves as"
    " soon as that campaign is active."
)


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign group, a paused campaign with the budget, and the post as a draft creative."""
    page, reference = get_page_urn(account, brief) or "", brief.creative.existing_id or ""
    post = yield from fetch_post(NETWORK, page, reference)
    group = {
        "account": linkedin.build_account_urn(account),
        "name": brief.name,
        "status": linkedin.INITIAL_GROUP_STATUS,
        "runSchedule": build_schedule(linkedin.TIME, brief, ("start", "end")),
    }
    creative = {"content": {"reference": reference}, "intendedStatus": CREATIVE.initial_status, "name": brief.name}
    steps = (
        _build_create_step(
            account,
            CAMPAIGN_GROUP,
            "Create the campaign group, ACTIVE because LinkedIn creates none paused; nothing in it serves while its "
            "campaign is paused.",
            group,
        ),
        _build_create_step(
            account,
            CAMPAIGN,
            "Create the campaign with budget, bidding, schedule and targeting, paused.",
            _build_post_campaign(account, brief, page, post),
            Binding("/body/campaignGroup", CAMPAIGN_GROUP.kind, ID_OUTPUT, prefix=linkedin.GROUP_URN),
        ),
        _build_create_step(
            account,
            CREATIVE,
            "Create the creative of the post as a draft, which is neither reviewed nor served.",
            creative,
            Binding("/body/campaign", CAMPAIGN.kind, ID_OUTPUT, prefix=linkedin.CAMPAIGN_URN),
        ),
    )
    warnings = (*post.warnings, *_collect_budget_warnings(account, brief), ACTIVE_GROUP_WARNING)
    return build_plan(NETWORK, account, "create", *steps, warnings=warnings)


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Plan the activation of creative, campaign and group.

    The group is created active, but somebody may have paused it since.
    """
    creative = outputs[CREATIVE.kind]
    creative = {ID_OUTPUT: creative.get(linkedin.URN_OUTPUT) or creative[ID_OUTPUT]}
    return lifecycle.plan_activate(NETWORK, _build_status_step, account, source, {**outputs, CREATIVE.kind: creative})


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused."""
    entity_id = linkedin.get_path_id(get_level(NETWORK, kind), entity_id)
    return lifecycle.plan_status(NETWORK, _build_status_step, account, kind, entity_id, status)


# -- native -------------------------------------------------------------------------------------------------------


def _build_parent_urn(level: Level, parent_id: str | None) -> str | None:
    if parent_id is None or not level.parent:
        return parent_id
    return linkedin.build_urn(linkedin.URN_PREFIXES[level.parent_kind], parent_id)


def _get_owner(account: Account, level: Level) -> Mapping[str, str]:
    """Return the member that names the account, which groups and campaigns have."""
    return {} if level is CREATIVE else {"account": linkedin.build_account_urn(account)}


def _check_create_payload(account: Account, level: Level, payload: Mapping[str, Json]) -> Iterator[Issue]:
    for member, value in _get_owner(account, level).items():
        yield from lifecycle.check_same_id(payload, member, value, "the account")
    if level is CREATIVE and ("content" in payload) == ("inlineContent" in payload):
        message = "A creative of LinkedIn has either content or inlineContent."
        yield Issue("payload.content", "required", message)
    if level is CAMPAIGN_GROUP and is_enterprise(account):
        message = "LinkedIn creates no group in an ENTERPRISE account."
        yield Issue("account.extras.type", "not_supported", message)


def _get_initial_status(level: Level, payload: Mapping[str, Json]) -> str:
    """Return the initial status of an entity. In it the entity spends nothing."""
    if level is not CAMPAIGN_GROUP:
        return level.initial_status
    return linkedin.DRAFT if {"totalBudget", "dailyBudget"} & set(payload) else linkedin.INITIAL_GROUP_STATUS


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members.

    Without a status, a campaign is paused, a creative is a draft, and a group is ACTIVE, or a draft if it has a budget.
    """
    level = get_level(NETWORK, kind)
    parent, issues = _build_parent_urn(level, parent_id), _check_create_payload(account, level, payload)
    member = get_status_member(level)
    payload = {member: _get_initial_status(level, payload), **payload}
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent, issues)
    members = {**_get_owner(account, level), **create.members}
    does = f"Create one {level.label} as given, {members[member]}."
    step = evolve(_build_create_step(account, level, does, members), parent=parent_id)
    if level is CAMPAIGN_GROUP:  # without an active campaign a group spends nothing
        warnings = (ACTIVE_GROUP_WARNING,) if create.is_active else ()
        return (yield from completed_plan(NETWORK, account, "create", step, warnings=warnings))
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. The value null deletes a member."""
    level = get_level(NETWORK, kind)
    entity_id = linkedin.get_path_id(level, entity_id)
    parent = _build_parent_urn(level, parent_id)
    raise_if_issues(lifecycle.check_native_update(NETWORK, level, payload, parent))
    does = lifecycle.describe_update(level, entity_id, payload)
    step = evolve(_build_update_step(account, level, entity_id, does, payload), parent=parent_id)
    risk = lifecycle.assess_payload_risk(level, payload)
    return (yield from completed_plan(NETWORK, account, "update", step, risk=risk))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Delete a draft, archive an enterprise account's group, or mark any other entity for deletion."""
    level = get_level(NETWORK, kind)
    entity_id = linkedin.get_path_id(level, entity_id)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    member, before = get_status_member(level), current.native_status
    if is_default_group(current.native):
        raise invalid_input("entityId", "locked", "LinkedIn: the account's default group cannot be deleted.")
    # LinkedIn's error NO_DELETE_ON_LMS_ENTERPRISE_CAMPAIGN_GROUPS
    is_archived = level is CAMPAIGN_GROUP and is_enterprise(account)
    if before == linkedin.DRAFT and not is_archived:  # LinkedIn's error DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS
        does = f"Delete the draft {level.label} {entity_id}; this cannot be undone."
        request = _build_entity_write(account, level, entity_id, "DELETE", {})
        changes = (Change(member, before, None),)
        step = Step(kind, kind, does, request, "delete", entity_id, can_be_empty=True, changes=changes)
        return build_plan(NETWORK, account, "delete", step, risk="destructive")
    verb, after = ("Archive", linkedin.ARCHIVED) if is_archived else ("Mark for deletion", linkedin.PENDING_DELETION)
    does = f"{verb} the {level.label} {entity_id} and all below it; this cannot be undone."
    step = _build_update_step(account, level, entity_id, does, {member: after})
    step = evolve(step, action="delete", changes=(Change(member, before, after),))
    return build_plan(NETWORK, account, "delete", step, risk="destructive")


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    current = entity.get("targetingCriteria")
    if find_native_targeting_error(current) is not None or not isinstance(current, Mapping):
        raise ProviderUnreadable("LinkedIn: the campaign's targeting criteria are not of a known form.")
    criteria, changes = merge_targeting(kind, current, edit.targeting)
    return {"targetingCriteria": criteria}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields and targeting of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    entity_id = linkedin.get_path_id(level, entity_id)
    check_edit(NETWORK, kind, edit)
    entity = (yield from fetch_editable_entity(account, kind, entity_id)).native
    members, changes = lifecycle.merge_edit(
        *(NETWORK, account, kind, entity, edit, now, check_conflicts), merge_targeting=_edit_targeting
    )
    warning = "A campaign's days have to lie inside its group's: LinkedIn refuses the edit otherwise."
    warnings = (warning,) if "runSchedule" in members else ()
    # Automated delivery has no bid, so a change to it removes a limit of the spend.
    is_unlimited = is_automated(members.get("optimizationTargetType"))
    risk: Risk = "spend" if is_unlimited else assess_risk(NETWORK, kind, changes)
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    return build_plan(NETWORK, account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check the size of the audience. The plan has already checked the post."""
    query = {"q": "targetingCriteriaV2", "targetingCriteria": brief.targeting.native}
    request = linkedin.build_restli_request("audienceCounts", {}, query)
    if len(build_request_url(request)) > linkedin.MAX_URL_BYTES:
        return [], ["The targeting is too long to ask LinkedIn for the size of its audience."]
    response = yield from fetch_if_possible(NETWORK, request)
    if response is None:
        return [], ["LinkedIn did not tell the size of the audience."]
    for row in get_objects(response.body, "/elements", "audience count"):
        total = row.get("total")
        if linkedin.is_integer(total) and total < linkedin.MIN_AUDIENCE_SIZE:  # error AUDIENCE_SIZE_TOO_SMALL
            message = (
                f"LinkedIn takes an audience of at least {linkedin.MIN_AUDIENCE_SIZE} members; this one has fewer."
            )
            return [Issue("targeting.native", "too_small", message)], []
    return [], []
