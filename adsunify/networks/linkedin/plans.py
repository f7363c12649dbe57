"""Changes at LinkedIn as plans: a POST creates and answers an id in a header, a PARTIAL_UPDATE changes one entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache, partial

from attrs import evolve, frozen

from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow, fetch_if_possible
from adsunify.adapter.network import Account, Level, get_level, require_currency
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request, build_request_url
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Kind,
    Output,
    Outputs,
    Plan,
    Risk,
    Step,
    StepAction,
    make_plan,
)
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects

from . import native as linkedin
from .reads import fetch_editable_entity
from .settings import check_conflicts, is_automated, is_default_group
from .tables import CAMPAIGN, CAMPAIGN_GROUP, CREATIVE, NETWORK, get_page_urn, is_enterprise
from .targeting import PostDetails, fetch_post, find_native_targeting_error, merge_targeting

ID_OUTPUT, URN_OUTPUT = "id", "urn"
CREATED_ID_POINTERS = ("/headers/x-restli-id", "/headers/x-linkedin-id", "/body/id")
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(
    account: Account, one: Level, does: str, body: Body, *bindings: Binding, parent: str | None = None
) -> Step:
    """A step that makes one entity; the answer is a header with its id, and no body."""
    url = f"{linkedin.API_URL}/adAccounts/{{account}}/{one.path}"
    slots, headers = linkedin.build_account_slots(account), linkedin.HEADERS
    request = Request("POST", url, slots, headers=headers, body=body, encoding="json", kind="write")
    outputs = _get_created_outputs(one)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=outputs, can_be_empty=True)


@cache
def _get_created_outputs(one: Level) -> tuple[Output, ...]:
    urn = Output(
        URN_OUTPUT, CREATED_ID_POINTERS, separator=":", is_percent_encoded=True, prefix=linkedin.URN_PREFIXES[one.kind]
    )
    return Output(ID_OUTPUT, CREATED_ID_POINTERS, separator=":", is_percent_encoded=True), urn


def _build_write_request(
    account: Account, one: Level, entity_id: str, method: str, headers: Mapping[str, str]
) -> Request:
    url = f"{linkedin.API_URL}/adAccounts/{{account}}/{one.path}/{{id}}"
    slots = linkedin.build_account_slots(account) | {"id": linkedin.get_path_id(one, entity_id)}
    return Request(method, url, slots, headers={**linkedin.HEADERS, **headers}, kind="write")


def _build_update_step(
    account: Account,
    one: Level,
    entity_id: str,
    does: str,
    changed: Mapping[str, Json],
    *,
    key: str = "",
    action: StepAction = "update",
    parent: str | None = None,
    changes: Sequence[Change] = (),
) -> Step:
    """A step that changes members of one entity; a member that becomes null is deleted."""
    kept = {name: value for name, value in changed.items() if value is not None}
    gone = [name for name, value in changed.items() if value is None]
    patch = {**({"$set": kept} if kept else {}), **({"$delete": gone} if gone else {})}
    request = _build_write_request(account, one, entity_id, "POST", {linkedin.METHOD_HEADER: linkedin.PARTIAL_UPDATE})
    request = evolve(request, body={"patch": patch}, encoding="json")
    return Step(
        key or one.kind,
        one.kind,
        does,
        request,
        action=action,
        entity=entity_id,
        parent=parent,
        can_be_empty=True,
        changes=tuple(changes),
    )


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


@frozen
class NativeObjective:
    """What a goal is natively: its objective, and the target that LinkedIn bids for where no bid is given."""

    objective: str
    without_bid: str


OBJECTIVES: Mapping[str, NativeObjective] = {
    "traffic": NativeObjective(linkedin.WEBSITE_VISIT, "MAX_CLICK"),
    "awareness": NativeObjective(linkedin.BRAND_AWARENESS, "MAX_IMPRESSION"),
}


def _build_schedule(brief: CampaignBrief) -> Body:
    schedule: Body = {"start": linkedin.write_time(brief.schedule.start)}
    return schedule | ({} if brief.schedule.end is None else {"end": linkedin.write_time(brief.schedule.end)})


def _build_campaign(account: Account, brief: CampaignBrief, page: str, post: PostDetails) -> Body:
    aim, locale = OBJECTIVES[brief.goal], brief.platform.locale
    assert locale is not None
    # Always the three together: each has a default of its own. LinkedIn ignores the amount where it bids by itself.
    target = linkedin.MANUAL_TARGET if brief.bid is not None else aim.without_bid
    body: Body = {
        "account": linkedin.build_account_urn(account),
        "name": brief.name,
        "type": linkedin.SPONSORED_UPDATES,
        "status": CAMPAIGN.initial_status,
        "objectiveType": aim.objective,
        "optimizationTargetType": target,
        "costType": linkedin.OPTIMIZATION_TARGETS[aim.objective][target],
        "unitCost": linkedin.build_money(account, brief.bid or "0", "bid"),
    }
    if brief.budget.period == "daily":
        body["dailyBudget"] = linkedin.build_money(account, brief.budget.amount, "budget.amount")
    else:  # the pacing can be set at creation only
        body["totalBudget"] = linkedin.build_money(account, brief.budget.amount, "budget.amount")
        body["pacingStrategy"] = linkedin.LIFETIME_PACING
    if post.format is not None:  # other formats follow from the first creative
        body["format"] = post.format
    return body | {
        "associatedEntity": page,
        "locale": {"country": locale.country, "language": locale.language},
        "runSchedule": _build_schedule(brief),
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
    """Campaign group, paused campaign with the budget, and the post as a creative in draft."""
    page, reference = get_page_urn(account, brief) or "", brief.creative.existing_id or ""
    post = yield from fetch_post(NETWORK, page, reference)
    group = {
        "account": linkedin.build_account_urn(account),
        "name": brief.name,
        "status": linkedin.INITIAL_GROUP_STATUS,
        "runSchedule": _build_schedule(brief),
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
            _build_campaign(account, brief, page, post),
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
    return _make_plan(
        account,
        "create",
        *steps,
        warnings=(*post.warnings, *_collect_budget_warnings(account, brief), ACTIVE_GROUP_WARNING),
    )


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(account: Account, kind: str, entity_id: str, status: str, key: str = "") -> Step:
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input(
            "status", "choice", f"LinkedIn sets a {one.native} to {' or '.join(one.writable_statuses)}."
        )
    does = f"Set the {one.native} {entity_id} to {status}."
    return _build_update_step(
        account, one, entity_id, does, {one.status.removeprefix("/"): one.writable_statuses[status]}, key=key
    )


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Creative, campaign, group. The group is active since its creation; it may have been paused meanwhile."""
    creative = outputs[CREATIVE.kind]
    made = [(CREATIVE.kind, str(creative.get(URN_OUTPUT) or creative[ID_OUTPUT]))]
    made += [(one.kind, str(outputs[one.kind][ID_OUTPUT])) for one in (CAMPAIGN, CAMPAIGN_GROUP)]
    steps = [_build_status_step(account, kind, entity_id, "active", f"activate_{kind}") for kind, entity_id in made]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    risk: Risk = "spend" if status == "active" else "low"
    entity_id = linkedin.get_path_id(get_level(NETWORK, kind), entity_id)
    return (
        yield from completed_flow(
            _make_plan(account, "status", _build_status_step(account, kind, entity_id, status), risk=risk)
        )
    )


# -- native -------------------------------------------------------------------------------------------------------

MONEY_MEMBERS = ("dailyBudget", "totalBudget", "unitCost")


def _ensure_no_reserved_members(payload: Mapping[str, Json]) -> None:
    """Refuses members that LinkedIn writes by itself."""
    raise_if_issues(
        Issue(f"payload.{name}", "not_supported", f"LinkedIn sets {name} itself.")
        for name in linkedin.READ_ONLY_MEMBERS
        if name in payload
    )


def _ensure_same_owner(payload: Mapping[str, Json], member: str, wanted: str, path: str) -> None:
    """Refuses a payload that names another owner than the request does."""
    if member in payload and payload[member] != wanted:
        raise invalid_input(
            f"payload.{member}", "conflict", f"{member} is another one than {path} says; give only one."
        )


def _build_parent_member(one: Level, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    """The member that names the parent, as a URN."""
    if not one.parent:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", f"A {one.native} of LinkedIn has no parent.")
        return {}
    member, prefix = one.parent.removeprefix("/"), linkedin.URN_PREFIXES[one.parent_kind]
    if parent_id is None:
        if member not in payload:
            owner = get_level(NETWORK, one.parent_kind).native
            raise invalid_input("parentId", "required", f"A {one.native} of LinkedIn needs its {owner}.")
        return {}
    _ensure_same_owner(payload, member, linkedin.build_urn(prefix, parent_id), "parentId")
    return {member: linkedin.build_urn(prefix, parent_id)}


def _get_initial_status(account: Account, one: Level, payload: Mapping[str, Json]) -> str:
    """The status of a new entity: the payload's, or one that spends nothing."""
    member = one.status.removeprefix("/")
    said = payload.get(member)
    accepted: tuple[str, ...] = linkedin.LIVE_STATUSES
    if one is CAMPAIGN_GROUP:
        accepted = (linkedin.ACTIVE, linkedin.DRAFT)
        if is_enterprise(account):
            raise invalid_input(
                "account.extras.type", "not_supported", "LinkedIn creates no group in an ENTERPRISE account."
            )
        if said is None:
            said = linkedin.DRAFT if {"totalBudget", "dailyBudget"} & set(payload) else linkedin.INITIAL_GROUP_STATUS
    if said is None:
        return one.initial_status
    if said not in accepted:
        raise invalid_input(
            f"payload.{member}", "choice", f"LinkedIn creates a {one.native} as {' or '.join(accepted)}."
        )
    return str(said)


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused or a draft unless they say otherwise, a group ACTIVE."""
    one = get_level(NETWORK, kind)
    _ensure_no_reserved_members(payload)
    owner: Body = {}
    if one is CREATIVE:
        if ("content" in payload) == ("inlineContent" in payload):
            raise invalid_input(
                "payload.content", "required", "A creative of LinkedIn has either content or inlineContent."
            )
    else:
        owner = {"account": linkedin.build_account_urn(account)}
        _ensure_same_owner(payload, "account", owner["account"], "the account")
    status = _get_initial_status(account, one, payload)
    body = {**owner, **_build_parent_member(one, payload, parent_id), **payload, one.status.removeprefix("/"): status}
    does = f"Create one {one.native} as given, {status}."
    step = _build_create_step(account, one, does, body, parent=parent_id)
    serving = status == linkedin.ACTIVE and one is not CAMPAIGN_GROUP
    warnings = (ACTIVE_GROUP_WARNING,) if one is CAMPAIGN_GROUP and status == linkedin.ACTIVE else ()
    return (
        yield from completed_flow(
            _make_plan(account, "create", step, risk="spend" if serving else "low", warnings=warnings)
        )
    )


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Changed members in native units; one that is null is deleted."""
    one = get_level(NETWORK, kind)
    entity_id = linkedin.get_path_id(one, entity_id)
    _ensure_no_reserved_members(payload)
    if parent_id is not None:
        _build_parent_member(one, payload, parent_id)
    if not payload:
        raise invalid_input("payload", "required", "Name at least one member to change.")
    status = payload.get(one.status.removeprefix("/"))
    risk: Risk = "low"
    if status in linkedin.CLOSED_STATUSES:
        risk = "destructive"
    elif status == linkedin.ACTIVE or not payload.keys().isdisjoint(MONEY_MEMBERS):
        risk = "spend"
    does = f"Change {', '.join(payload)} of the {one.native} {entity_id}."
    return (
        yield from completed_flow(
            _make_plan(
                account,
                "update",
                _build_update_step(account, one, entity_id, does, payload, parent=parent_id),
                risk=risk,
            )
        )
    )


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """A draft is deleted; anything else is marked for deletion, an enterprise account's group is archived."""
    one = get_level(NETWORK, kind)
    entity_id = linkedin.get_path_id(one, entity_id)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    member, before = one.status.removeprefix("/"), current.native_status
    if is_default_group(current.native):
        raise invalid_input("entityId", "locked", "LinkedIn: the account's default group cannot be deleted.")
    after = linkedin.PENDING_DELETION
    if one is CAMPAIGN_GROUP and is_enterprise(account):  # NO_DELETE_ON_LMS_ENTERPRISE_CAMPAIGN_GROUPS
        after = linkedin.ARCHIVED
    elif before == linkedin.DRAFT:  # DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS
        does = f"Delete the draft {one.native} {entity_id}; this cannot be undone."
        request = _build_write_request(account, one, entity_id, "DELETE", {})
        changes = (Change(member, before, None),)
        step = Step(kind, kind, does, request, "delete", entity_id, can_be_empty=True, changes=changes)
        return _make_plan(account, "delete", step, risk="destructive")
    verb = "Archive" if after == linkedin.ARCHIVED else "Mark for deletion"
    does = f"{verb} the {one.native} {entity_id} and all below it; this cannot be undone."
    changes = (Change(member, before, after),)
    step = _build_update_step(account, one, entity_id, does, {member: after}, action="delete", changes=changes)
    return _make_plan(account, "delete", step, risk="destructive")


# -- edit ---------------------------------------------------------------------------------------------------------


EditPart = tuple[Body, Sequence[Change]]


def _edit_fields(
    account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    done = apply_edit(NETWORK, account, kind, entity, edit, now)
    body = done.native_by_name
    raise_if_issues(check_conflicts(account, kind, entity, body, edit, now))
    return body, done.changes


def _edit_targeting(
    account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    if not edit.targeting:
        return {}, ()
    current = entity.get("targetingCriteria")
    if find_native_targeting_error(current) is not None or not isinstance(current, Mapping):
        raise ProviderUnreadable("LinkedIn: the campaign's targeting criteria are not of a known form.")
    criteria, changes = merge_targeting(kind, current, edit.targeting)
    return {"targetingCriteria": criteria}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, held against what it is now."""
    one = get_level(NETWORK, kind)
    entity_id = linkedin.get_path_id(one, entity_id)
    check_edit(NETWORK, kind, edit)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    parts = (_edit_fields, _edit_targeting)
    body, changes = merge_edit_parts(partial(part, account, kind, current.native, edit, now) for part in parts)
    window = "A campaign's days have to lie inside its group's: LinkedIn refuses the edit otherwise."
    warnings = (window,) if "runSchedule" in body else ()
    does = f"Change {', '.join(change.field for change in changes)} of the {one.native} {entity_id}."
    step = _build_update_step(account, one, entity_id, does, body, changes=changes)
    # Automated delivery gives the bid away as a limit.
    unlimited = is_automated(body.get("optimizationTargetType"))
    risk: Risk = "spend" if unlimited else assess_risk(NETWORK, kind, changes)
    return _make_plan(account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the audience is large enough, where LinkedIn tells. The post is looked at with the plan."""
    query = {"q": "targetingCriteriaV2", "targetingCriteria": brief.targeting.native}
    request = linkedin.build_get_request("audienceCounts", {}, query)
    if len(build_request_url(request)) > linkedin.MAX_URL_BYTES:
        return [], ["The targeting is too long to ask LinkedIn for the size of its audience."]
    found = yield from fetch_if_possible(NETWORK, request)
    if found is None:
        return [], ["LinkedIn did not tell the size of the audience."]
    for row in get_objects(found.body, "/elements", "audience count"):
        total = row.get("total")
        if linkedin.is_integer(total) and total < linkedin.MIN_AUDIENCE_SIZE:  # AUDIENCE_SIZE_TOO_SMALL
            message = (
                f"LinkedIn takes an audience of at least {linkedin.MIN_AUDIENCE_SIZE} members; this one has fewer."
            )
            return [Issue("targeting.native", "too_small", message)], []
    return [], []
