"""Changes at LinkedIn as plans: a POST creates and answers an id in a header, a PARTIAL_UPDATE changes one entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache, partial

from attrs import evolve, frozen

from adsunify.adapter.edit_members import check_edit, together
from adsunify.adapter.edits import Edit, edited, risk_of
from adsunify.adapter.flows import optional, settled
from adsunify.adapter.network import Account, Level, currency_of, level
from adsunify.errors import Issue, ProviderUnreadable, refuse, refused
from adsunify.http.messages import Flow, Request, filled
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Action, Binding, Change, Kind, Output, Outputs, Plan, Risk, Step, StepAction, planned
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import rows

from . import native as linkedin
from .reads import editable
from .settings import automated, conflicts, default_group
from .tables import CAMPAIGN, CREATIVE, GROUP, NETWORK, enterprise, page_of
from .targeting import Post, merged, post_of, wrong_criteria

ID, URN = "id", "urn"
CREATED_AT = ("/headers/x-restli-id", "/headers/x-linkedin-id", "/body/id")
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _create(account: Account, one: Level, does: str, body: Body, *bindings: Binding, parent: str | None = None) -> Step:
    """A step that makes one entity; the answer is a header with its id, and no body."""
    url = f"{linkedin.REST}/adAccounts/{{account}}/{one.path}"
    slots, headers = linkedin.owned(account), linkedin.HEADERS
    request = Request("POST", url, slots, headers=headers, body=body, encoding="json", nature="write")
    outputs = _made(one)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=outputs, empty_ok=True)


@cache
def _made(one: Level) -> tuple[Output, ...]:
    urn = Output(URN, CREATED_AT, after=":", decoded=True, prefix=linkedin.URNS[one.kind])
    return Output(ID, CREATED_AT, after=":", decoded=True), urn


def _write(account: Account, one: Level, entity_id: str, method: str, headers: Mapping[str, str]) -> Request:
    url = f"{linkedin.REST}/adAccounts/{{account}}/{one.path}/{{id}}"
    slots = linkedin.owned(account) | {"id": linkedin.own_id(one, entity_id)}
    return Request(method, url, slots, headers={**linkedin.HEADERS, **headers}, nature="write")


def _patch(
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
    request = _write(account, one, entity_id, "POST", {linkedin.METHOD: linkedin.PARTIAL_UPDATE})
    request = evolve(request, body={"patch": patch}, encoding="json")
    return Step(
        key or one.kind,
        one.kind,
        does,
        request,
        action=action,
        entity=entity_id,
        parent=parent,
        empty_ok=True,
        changes=tuple(changes),
    )


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


@frozen
class Aim:
    """What a goal is natively: its objective, and the target that LinkedIn bids for where no bid is given."""

    objective: str
    without_bid: str


AIMS: Mapping[str, Aim] = {
    "traffic": Aim(linkedin.WEBSITE_VISIT, "MAX_CLICK"),
    "awareness": Aim(linkedin.BRAND_AWARENESS, "MAX_IMPRESSION"),
}


def _window(brief: CampaignBrief) -> Body:
    schedule: Body = {"start": linkedin.milliseconds(brief.schedule.start)}
    return schedule | ({} if brief.schedule.end is None else {"end": linkedin.milliseconds(brief.schedule.end)})


def _campaign(account: Account, brief: CampaignBrief, page: str, post: Post) -> Body:
    aim, locale = AIMS[brief.goal], brief.platform.locale
    assert locale is not None
    # Always the three together: each has a default of its own. LinkedIn ignores the amount where it bids by itself.
    target = linkedin.MANUAL if brief.bid is not None else aim.without_bid
    body: Body = {
        "account": linkedin.account_urn(account),
        "name": brief.name,
        "type": linkedin.SPONSORED_UPDATES,
        "status": CAMPAIGN.born,
        "objectiveType": aim.objective,
        "optimizationTargetType": target,
        "costType": linkedin.TARGETS[aim.objective][target],
        "unitCost": linkedin.money(account, brief.bid or "0", "bid"),
    }
    if brief.budget.period == "daily":
        body["dailyBudget"] = linkedin.money(account, brief.budget.amount, "budget.amount")
    else:  # the pacing can be set at creation only
        body["totalBudget"] = linkedin.money(account, brief.budget.amount, "budget.amount")
        body["pacingStrategy"] = linkedin.LIFETIME_PACING
    if post.format is not None:  # other formats follow from the first creative
        body["format"] = post.format
    return body | {
        "associatedEntity": page,
        "locale": {"country": locale.country, "language": locale.language},
        "runSchedule": _window(brief),
        "creativeSelection": linkedin.OPTIMIZED,
        "audienceExpansionEnabled": False,
        "offsiteDeliveryEnabled": False,
        "politicalIntent": linkedin.POLITICAL_INTENT[brief.platform.eu_political_advertising],
        "targetingCriteria": brief.targeting.native,
    }


def _budget_warning(account: Account, brief: CampaignBrief) -> Iterator[str]:
    daily = brief.budget.period == "daily"
    least = linkedin.LEAST_DAILY_USD if daily else linkedin.LEAST_LIFETIME_USD
    if currency_of(account) == "USD" and Decimal(brief.budget.amount) < least:
        yield f"LinkedIn is reported to take no {brief.budget.period} budget below about {least} USD."


GROUP_IS_ACTIVE = (
    "LinkedIn creates no paused campaign group: the group is ACTIVE from its creation, and a campaign in it serves as"
    " soon as that campaign is active."
)


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign group, paused campaign with the budget, and the post as a creative in draft."""
    page, reference = page_of(account, brief) or "", brief.creative.existing_id or ""
    post = yield from post_of(NETWORK, page, reference)
    group = {
        "account": linkedin.account_urn(account),
        "name": brief.name,
        "status": linkedin.GROUP_BORN,
        "runSchedule": _window(brief),
    }
    creative = {"content": {"reference": reference}, "intendedStatus": CREATIVE.born, "name": brief.name}
    steps = (
        _create(
            account,
            GROUP,
            "Create the campaign group, ACTIVE because LinkedIn creates none paused; nothing in it serves while its "
            "campaign is paused.",
            group,
        ),
        _create(
            account,
            CAMPAIGN,
            "Create the campaign with budget, bidding, schedule and targeting, paused.",
            _campaign(account, brief, page, post),
            Binding("/body/campaignGroup", GROUP.kind, ID, prefix=linkedin.GROUP_URN),
        ),
        _create(
            account,
            CREATIVE,
            "Create the creative of the post as a draft, which is neither reviewed nor served.",
            creative,
            Binding("/body/campaign", CAMPAIGN.kind, ID, prefix=linkedin.CAMPAIGN_URN),
        ),
    )
    return _plan(
        account, "create", *steps, warnings=(*post.warnings, *_budget_warning(account, brief), GROUP_IS_ACTIVE)
    )


# -- activate and status ------------------------------------------------------------------------------------------


def _set_status(account: Account, kind: str, entity_id: str, status: str, key: str = "") -> Step:
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"LinkedIn sets a {one.native} to {' or '.join(one.settable)}.")
    does = f"Set the {one.native} {entity_id} to {status}."
    return _patch(account, one, entity_id, does, {one.status.removeprefix("/"): one.settable[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Creative, campaign, group. The group is active since its creation; it may have been paused meanwhile."""
    creative = outputs[CREATIVE.kind]
    made = [(CREATIVE.kind, str(creative.get(URN) or creative[ID]))]
    made += [(one.kind, str(outputs[one.kind][ID])) for one in (CAMPAIGN, GROUP)]
    steps = [_set_status(account, kind, entity_id, "active", f"activate_{kind}") for kind, entity_id in made]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    risk: Risk = "spend" if status == "active" else "low"
    entity_id = linkedin.own_id(level(NETWORK, kind), entity_id)
    return (yield from settled(_plan(account, "status", _set_status(account, kind, entity_id, status), risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------

MONEY = ("dailyBudget", "totalBudget", "unitCost")


def _own(payload: Mapping[str, Json]) -> None:
    """Refuses members that LinkedIn writes by itself."""
    refuse(
        Issue(f"payload.{name}", "not_supported", f"LinkedIn sets {name} itself.")
        for name in linkedin.NEVER_SENT
        if name in payload
    )


def _named(payload: Mapping[str, Json], member: str, wanted: str, path: str) -> None:
    """Refuses a payload that names another owner than the request does."""
    if member in payload and payload[member] != wanted:
        raise refused(f"payload.{member}", "conflict", f"{member} is another one than {path} says; give only one.")


def _parent(one: Level, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    """The member that names the parent, as a URN."""
    if not one.parent:
        if parent_id is not None:
            raise refused("parentId", "not_supported", f"A {one.native} of LinkedIn has no parent.")
        return {}
    member, prefix = one.parent.removeprefix("/"), linkedin.URNS[one.parent_kind]
    if parent_id is None:
        if member not in payload:
            owner = level(NETWORK, one.parent_kind).native
            raise refused("parentId", "required", f"A {one.native} of LinkedIn needs its {owner}.")
        return {}
    _named(payload, member, linkedin.urn(prefix, parent_id), "parentId")
    return {member: linkedin.urn(prefix, parent_id)}


def _born(account: Account, one: Level, payload: Mapping[str, Json]) -> str:
    """The status of a new entity: the payload's, or one that spends nothing."""
    member = one.status.removeprefix("/")
    said = payload.get(member)
    accepted: tuple[str, ...] = linkedin.LIVE
    if one is GROUP:
        accepted = (linkedin.ACTIVE, linkedin.DRAFT)
        if enterprise(account):
            raise refused("account.extras.type", "not_supported", "LinkedIn creates no group in an ENTERPRISE account.")
        if said is None:
            said = linkedin.DRAFT if {"totalBudget", "dailyBudget"} & set(payload) else linkedin.GROUP_BORN
    if said is None:
        return one.born
    if said not in accepted:
        raise refused(f"payload.{member}", "choice", f"LinkedIn creates a {one.native} as {' or '.join(accepted)}.")
    return str(said)


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused or a draft unless they say otherwise, a group ACTIVE."""
    one = level(NETWORK, kind)
    _own(payload)
    owner: Body = {}
    if one is CREATIVE:
        if ("content" in payload) == ("inlineContent" in payload):
            raise refused("payload.content", "required", "A creative of LinkedIn has either content or inlineContent.")
    else:
        owner = {"account": linkedin.account_urn(account)}
        _named(payload, "account", owner["account"], "the account")
    status = _born(account, one, payload)
    body = {**owner, **_parent(one, payload, parent_id), **payload, one.status.removeprefix("/"): status}
    does = f"Create one {one.native} as given, {status}."
    step = _create(account, one, does, body, parent=parent_id)
    serving = status == linkedin.ACTIVE and one is not GROUP
    warnings = (GROUP_IS_ACTIVE,) if one is GROUP and status == linkedin.ACTIVE else ()
    return (yield from settled(_plan(account, "create", step, risk="spend" if serving else "low", warnings=warnings)))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Changed members in native units; one that is null is deleted."""
    one = level(NETWORK, kind)
    entity_id = linkedin.own_id(one, entity_id)
    _own(payload)
    if parent_id is not None:
        _parent(one, payload, parent_id)
    if not payload:
        raise refused("payload", "required", "Name at least one member to change.")
    status = payload.get(one.status.removeprefix("/"))
    risk: Risk = "low"
    if status in linkedin.GONE:
        risk = "destructive"
    elif status == linkedin.ACTIVE or not payload.keys().isdisjoint(MONEY):
        risk = "spend"
    does = f"Change {', '.join(payload)} of the {one.native} {entity_id}."
    return (
        yield from settled(
            _plan(account, "update", _patch(account, one, entity_id, does, payload, parent=parent_id), risk=risk)
        )
    )


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """A draft is deleted; anything else is marked for deletion, an enterprise account's group is archived."""
    one = level(NETWORK, kind)
    entity_id = linkedin.own_id(one, entity_id)
    current = yield from editable(account, kind, entity_id)
    member, before = one.status.removeprefix("/"), current.native_status
    if default_group(current.native):
        raise refused("entityId", "locked", "LinkedIn: the account's default group cannot be deleted.")
    after = linkedin.PENDING_DELETION
    if one is GROUP and enterprise(account):  # NO_DELETE_ON_LMS_ENTERPRISE_CAMPAIGN_GROUPS
        after = linkedin.ARCHIVED
    elif before == linkedin.DRAFT:  # DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS
        does = f"Delete the draft {one.native} {entity_id}; this cannot be undone."
        request = _write(account, one, entity_id, "DELETE", {})
        changes = (Change(member, before, None),)
        step = Step(kind, kind, does, request, "delete", entity_id, empty_ok=True, changes=changes)
        return _plan(account, "delete", step, risk="destructive")
    verb = "Archive" if after == linkedin.ARCHIVED else "Mark for deletion"
    does = f"{verb} the {one.native} {entity_id} and all below it; this cannot be undone."
    changes = (Change(member, before, after),)
    step = _patch(account, one, entity_id, does, {member: after}, action="delete", changes=changes)
    return _plan(account, "delete", step, risk="destructive")


# -- edit ---------------------------------------------------------------------------------------------------------


Part = tuple[Body, Sequence[Change]]


def _fields(account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    done = edited(NETWORK, account, kind, entity, edit, now)
    body = done.members
    refuse(conflicts(account, kind, entity, body, edit, now))
    return body, done.changes


def _targeting(account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    if not edit.targeting:
        return {}, ()
    current = entity.get("targetingCriteria")
    if wrong_criteria(current) is not None or not isinstance(current, Mapping):
        raise ProviderUnreadable("LinkedIn: the campaign's targeting criteria are not of a known form.")
    criteria, changes = merged(current, edit.targeting)
    return {"targetingCriteria": criteria}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, held against what it is now."""
    one = level(NETWORK, kind)
    entity_id = linkedin.own_id(one, entity_id)
    check_edit(NETWORK, kind, edit)
    current = yield from editable(account, kind, entity_id)
    parts = (_fields, _targeting)
    body, changes = together(partial(part, account, kind, current.native, edit, now) for part in parts)
    window = "A campaign's days have to lie inside its group's: LinkedIn refuses the edit otherwise."
    warnings = (window,) if "runSchedule" in body else ()
    does = f"Change {', '.join(change.field for change in changes)} of the {one.native} {entity_id}."
    step = _patch(account, one, entity_id, does, body, changes=changes)
    # Automated delivery gives the bid away as a limit.
    unlimited = automated(body.get("optimizationTargetType"))
    risk: Risk = "spend" if unlimited else risk_of(NETWORK, kind, changes)
    return _plan(account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the audience is large enough, where LinkedIn tells. The post is looked at with the plan."""
    query = {"q": "targetingCriteriaV2", "targetingCriteria": brief.targeting.native}
    request = linkedin.get("audienceCounts", {}, query)
    if len(filled(request)) > linkedin.ADDRESS_BYTES:
        return [], ["The targeting is too long to ask LinkedIn for the size of its audience."]
    found = yield from optional(NETWORK, request)
    if found is None:
        return [], ["LinkedIn did not tell the size of the audience."]
    for row in rows(found.body, "/elements", "audience count"):
        total = row.get("total")
        if linkedin.is_integer(total) and total < linkedin.LEAST_AUDIENCE:  # AUDIENCE_SIZE_TOO_SMALL
            message = f"LinkedIn takes an audience of at least {linkedin.LEAST_AUDIENCE} members; this one has fewer."
            return [Issue("targeting.native", "too_small", message)], []
    return [], []
