"""Changes at Reddit as plans: one entity per write; a POST creates, paused, a PATCH changes what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.brief_checks import coin_warnings
from adsunify.adapter.edit_members import check_edit, together
from adsunify.adapter.edits import Edit, edited, risk_of
from adsunify.adapter.flows import maybe, pages, settled
from adsunify.adapter.network import Account, Level, level, native_amount
from adsunify.adapter.settings import settings_of
from adsunify.errors import Issue, ProviderError, refuse, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Kind,
    Output,
    Outputs,
    Plan,
    Promise,
    Risk,
    Step,
    StepAction,
    planned,
)
from adsunify.values.dates import utc_text
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import identifier, read, text

from . import native as reddit
from .reads import editable
from .settings import closed, conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK
from .targeting import everywhere, merged, not_native

ID = "id"
MADE = (Output(ID, ("/body/data/id",), text_only=True),)
STATUS = "configured_status"
EVERYWHERE = "The targeting names no geolocations: the ads are shown everywhere."
Body = dict[str, Json]
Changes = Sequence[Change]


# -- steps --------------------------------------------------------------------------------------------------------


def _member(one: Level) -> str:
    """The member that names the parent."""
    return one.parent.removeprefix("/")


def _create(account: Account, one: Level, does: str, entity: Body, parent: str | None = None, under: str = "") -> Step:
    """A step that makes one entity, below the parent or below what the step ``under`` makes; its key is its kind."""
    url = f"/ad_accounts/{{account}}/{one.path}"
    request = reddit.sent("POST", url, {"account": account.native_id}, entity)
    bindings = (Binding(f"/body/data/{_member(one)}", under, ID),) if under else ()
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=MADE)


def _change(
    one: Level,
    entity_id: str,
    does: str,
    changed: Mapping[str, Json],
    *,
    key: str = "",
    action: StepAction = "update",
    parent: str | None = None,
    told: Changes = (),
) -> Step:
    """A step that changes members of one entity; the answer names the same entity."""
    request = reddit.sent("PATCH", f"/{one.path}/{{id}}", {"id": reddit.known_id(entity_id)}, changed)
    same = (Promise("/body/data/id", entity_id),)
    return Step(key or one.kind, one.kind, does, request, action, entity_id, parent, promises=same, changes=tuple(told))


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _campaign(brief: CampaignBrief) -> Body:
    # What is made without a status is ACTIVE. Without a funding instrument it would end in PENDING_BILLING_INFO.
    return {
        "name": brief.name,
        "objective": reddit.CLICKS,
        STATUS: CAMPAIGN.born,
        "funding_instrument_id": brief.platform.funding_instrument_id,
    }


def _ad_group(account: Account, brief: CampaignBrief) -> Body:
    unit = reddit.unit(account)
    bid: Body = {"bid_strategy": reddit.MAXIMIZE_VOLUME, "bid_type": reddit.CPC}
    if brief.bid is not None:
        amount = native_amount(unit, brief.bid, "bid")
        bid = {"bid_strategy": reddit.MANUAL_BIDDING, "bid_type": reddit.CPC, "bid_value": amount}
    times = {"start_time": utc_text(brief.schedule.start)}
    if brief.schedule.end is not None:
        times["end_time"] = utc_text(brief.schedule.end)
    return {
        "name": brief.name,
        STATUS: AD_GROUP.born,
        "conversion_pixel_id": brief.platform.pixel_id,  # since 2026-07-13 of every ad group
        "optimization_goal": reddit.CLICKS,
        **bid,
        "goal_type": reddit.DAILY_SPEND,
        "goal_value": native_amount(unit, brief.budget.amount, "budget.amount"),
        **times,
        "targeting": dict(brief.targeting.native or {}),
    }


def _warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    yield from coin_warnings(NETWORK.title, account, brief)
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Reddit may refuse it, else the ads run at once when they are activated."
    if everywhere(brief.targeting.native or {}):
        yield EVERYWHERE


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group with the budget, and ad over the existing post; all paused."""
    ad = {"name": brief.name, STATUS: AD.born, "post_id": brief.creative.existing_id}
    does = "Create the ad group with budget, schedule, pixel and targeting, paused."
    steps = (
        _create(account, CAMPAIGN, "Create the campaign, paused.", _campaign(brief)),
        _create(account, AD_GROUP, does, _ad_group(account, brief), under=CAMPAIGN.kind),
        _create(account, AD, "Create the ad over the existing post, paused.", ad, under=AD_GROUP.kind),
    )
    return (yield from settled(_plan(account, "create", *steps, warnings=list(_warnings(account, brief, now)))))


# -- activate and status ------------------------------------------------------------------------------------------


def _set_status(one: Level, entity_id: str, status: str, key: str = "") -> Step:
    does = f"Set the {one.native} {entity_id} to {status}."
    return _change(one, entity_id, does, {STATUS: one.settable[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad group, then campaign; the post is not touched."""
    steps = [
        _set_status(one, str(outputs[one.kind][ID]), "active", f"activate_{one.kind}")
        for one in (AD, AD_GROUP, CAMPAIGN)
    ]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"Reddit sets these: {', '.join(one.settable)}.")
    risk: Risk = "spend" if status == "active" else "low"
    return (yield from settled(_plan(account, "status", _set_status(one, entity_id, status), risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------


def _foreign(one: Level, payload: Mapping[str, Json], accepted: Sequence[str]) -> Iterator[Issue]:
    """What a native payload may not carry: an unknown member, or one that can only be read."""
    for name in payload:
        if name not in accepted:
            message = f"Reddit lets a {one.native} have these written: {', '.join(accepted)}."
            yield Issue(f"payload.{name[:60]}", "not_supported", message)
    targeting = payload.get("targeting")
    if targeting is not None and "targeting" in accepted:
        wrong = not_native(targeting) if isinstance(targeting, Mapping) else "targeting is an object"
        if wrong:
            yield Issue("payload.targeting", "invalid", f"Reddit: {wrong}.")
    if payload.get(STATUS, one.born) not in reddit.STATUSES:
        yield Issue(f"payload.{STATUS}", "choice", f"Reddit takes these: {', '.join(reddit.STATUSES)}.")


def _no_parent(one: Level, parent_id: str | None) -> None:
    if not one.parent and parent_id is not None:
        raise refused("parentId", "not_supported", "A campaign of Reddit has no parent.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = level(NETWORK, kind)
    _no_parent(one, parent_id)
    issues = list(_foreign(one, payload, reddit.WRITABLE[kind]))
    parent: str | None = None
    if one.parent:
        said = payload.get(_member(one))
        if said is None and parent_id is None:
            message = f"Name the {level(NETWORK, one.parent_kind).native} that it belongs to."
            issues.append(Issue("parentId", "required", message))
        elif said is not None and not (isinstance(said, str) and said):
            issues.append(Issue(f"payload.{_member(one)}", "type", "Ids of Reddit are texts."))
        elif None not in (said, parent_id) and said != parent_id:
            issues.append(Issue("parentId", "conflict", f"payload.{_member(one)} names another one."))
        else:
            parent = parent_id or said
    refuse(issues)
    owner = {} if parent is None else {_member(one): parent}
    entity = {**owner, STATUS: one.born, **payload}
    active = entity[STATUS] == reddit.ACTIVE
    does = f"Create the {one.native} from native members, {'active' if active else 'not serving'}."
    step = _create(account, one, does, entity, parent)
    return (yield from settled(_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity replaced, each as a whole. An amount may be a raise: it is not read before."""
    one = level(NETWORK, kind)
    _no_parent(one, parent_id)
    locked = {setting.native for setting in settings_of(NETWORK, kind) if isinstance(setting.lock, str)}
    accepted = [name for name in reddit.WRITABLE[kind] if f"/{name}" not in locked]
    issues = list(_foreign(one, payload, accepted))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    refuse(issues)
    risk: Risk = "low"
    if payload.get(STATUS) in reddit.CLOSED:
        risk = "destructive"
    elif payload.get(STATUS) == reddit.ACTIVE or not set(reddit.MONEY).isdisjoint(payload):
        risk = "spend"
    does = f"Change {', '.join(payload)} of the {one.native} {entity_id}."
    step = _change(one, entity_id, does, payload, parent=parent_id)
    return (yield from settled(_plan(account, "update", step, risk=risk)))


# Reported of the live API by one integration: the order, and the three hours (both unverified).
ARCHIVES = (
    "Reddit deletes only what is archived: this archives it, which ends its delivery for good. To delete it, delete it"
    " again; Reddit may refuse that within three hours of the last change."
)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """What is archived is deleted, anything else is archived first; what it is now tells which."""
    one = level(NETWORK, kind)
    current = yield from editable(account, kind, entity_id)
    if current.native_status == reddit.DELETED:
        raise refused("entityId", "deleted", f"The {one.native} is deleted already.")
    archived = current.native_status == reddit.ARCHIVED
    status = reddit.DELETED if archived else reddit.ARCHIVED
    does = f"Set the {one.native} {entity_id} to {status}, for good."
    told = (Change("status", current.native_status, status),)
    step = _change(one, entity_id, does, {STATUS: status}, action="delete", told=told)
    return _plan(account, "delete", step, risk="destructive", warnings=() if archived else (ARCHIVES,))


# -- edit ---------------------------------------------------------------------------------------------------------

Part = tuple[Body, Changes]


def _fields(account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    done = edited(NETWORK, account, kind, entity, edit, now)
    body = done.members
    refuse(conflicts(entity, body, now))
    return body, done.changes


def _targeting(account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    """The whole targeting: Ads API: what is written replaces it all."""
    if not edit.targeting:
        return {}, ()
    if reason := closed(entity):
        raise refused("targeting", "locked", f"Reddit: {reason}.")
    targeting, changes = merged(entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and post of one entity in one write, held against what it is now."""
    one = level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from editable(account, kind, entity_id)
    parts = (_fields, _targeting)
    body, told = together(partial(part, account, kind, current.native, edit, now) for part in parts)
    warnings = [EVERYWHERE] if "targeting" in body and everywhere(body["targeting"]) else []
    warnings += ["The ad goes to review again with its new post."] if "post_id" in body else []
    does = f"Change {', '.join(change.field for change in told)} of the {one.native} {entity_id}."
    unbid = body.get("bid_strategy") == reddit.MAXIMIZE_VOLUME  # what a click costs is then up to Reddit
    risk: Risk = "spend" if unbid else risk_of(NETWORK, kind, told)
    step = _change(one, entity_id, does, body, told=told)
    return _plan(account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def _has_post(post_id: str) -> Flow[bool]:
    """Whether there is such a post: one of either form is complete once it can be read."""
    for path in ("posts", "structured_posts"):
        if (yield from maybe(NETWORK, reddit.asked(f"/{path}/{{id}}", {"id": post_id}))) is not None:
            return True
    return False


def _found(request: Request, wanted: str | None) -> Flow[Mapping[str, Json] | None]:
    """The row of a list that has the id."""
    answers: list[Response] = yield from pages(NETWORK, request, reddit.following)
    listed = (row for answer in answers for row in reddit.listed(answer))
    return next((row for row in listed if identifier(read(row, "/id")) == wanted), None)


def _unfit(instrument: Mapping[str, Json] | None, currency: str | None) -> Iterator[Issue]:
    path = "platform.fundingInstrumentId"
    if instrument is None:
        yield Issue(path, "not_found", "Reddit: the account has no such funding instrument.")
        return
    if read(instrument, "/is_servable") is not True:
        reasons = read(instrument, "/reasons_not_servable")
        said = ", ".join(map(str, reasons))[:300] if isinstance(reasons, list) and reasons else "Reddit says no reason"
        yield Issue(path, "ineligible", f"Reddit: this funding instrument cannot pay: {said}.")
    counts_in = text(instrument, "/currency")
    if counts_in != currency:
        yield Issue(path, "currency_mismatch", f"The funding instrument counts in {counts_in}; no conversion is made.")


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the post is complete, the funding instrument can pay, and the account has the pixel.

    What cannot be looked up says nothing of the brief: it is a warning.
    """
    issues: list[Issue] = []
    warnings: list[str] = []
    try:
        if not (yield from _has_post(brief.creative.existing_id or "")):
            message = "Reddit has no such post, or it is still being made."
            issues.append(Issue("creative.existingId", "not_found", message))
    except ProviderError as problem:
        warnings.append(f"Whether the post is complete could not be checked: {problem.message}")
    try:
        # Of all modes, so that one that cannot pay says why.
        instruments = reddit.of_account(account, "funding_instruments", {"mode": "ALL"})
        instrument = yield from _found(instruments, brief.platform.funding_instrument_id)
        issues += _unfit(instrument, account.currency)
    except ProviderError as problem:
        warnings.append(f"Whether the funding instrument can pay could not be checked: {problem.message}")
    try:
        if (yield from _found(reddit.of_account(account, "pixels"), brief.platform.pixel_id)) is None:
            issues.append(Issue("platform.pixelId", "not_found", "Reddit: the account has no such pixel."))
    except ProviderError as problem:
        warnings.append(f"Whether the account has the pixel could not be checked: {problem.message}")
    return issues, warnings
