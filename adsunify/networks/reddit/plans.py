"""Changes at Reddit as plans: one entity per write; a POST creates, paused, a PATCH changes what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.brief_checks import collect_minor_unit_warnings
from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow, fetch_or_none, fetch_pages
from adsunify.adapter.network import Account, Level, get_level, to_native_amount
from adsunify.adapter.settings import list_settings
from adsunify.errors import Issue, ProviderError, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Expectation,
    Kind,
    Output,
    Outputs,
    Plan,
    Risk,
    Step,
    StepAction,
    make_plan,
)
from adsunify.values.dates import format_utc
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id

from . import native as reddit
from .reads import fetch_editable_entity
from .settings import check_conflicts, get_closed_reason
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK
from .targeting import find_native_targeting_error, is_worldwide, merge_targeting

ID_OUTPUT = "id"
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/data/id",), is_text_only=True),)
STATUS_MEMBER = "configured_status"
WORLDWIDE_WARNING = "The targeting names no geolocations: the ads are shown everywhere."
Body = dict[str, Json]
Changes = Sequence[Change]


# -- steps --------------------------------------------------------------------------------------------------------


def _get_parent_member(one: Level) -> str:
    """The member that names the parent."""
    return one.parent.removeprefix("/")


def _build_create_step(
    account: Account, one: Level, does: str, entity: Body, parent: str | None = None, under: str = ""
) -> Step:
    """A step that makes one entity, below the parent or below what the step ``under`` makes; its key is its kind."""
    url = f"/ad_accounts/{{account}}/{one.path}"
    request = reddit.build_write_request("POST", url, {"account": account.native_id}, entity)
    bindings = (Binding(f"/body/data/{_get_parent_member(one)}", under, ID_OUTPUT),) if under else ()
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(
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
    request = reddit.build_write_request(
        "PATCH", f"/{one.path}/{{id}}", {"id": reddit.ensure_valid_id(entity_id)}, changed
    )
    same = (Expectation("/body/data/id", entity_id),)
    return Step(
        key or one.kind, one.kind, does, request, action, entity_id, parent, expectations=same, changes=tuple(told)
    )


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _build_campaign(brief: CampaignBrief) -> Body:
    # What is made without a status is ACTIVE. Without a funding instrument it would end in PENDING_BILLING_INFO.
    return {
        "name": brief.name,
        "objective": reddit.CLICKS,
        STATUS_MEMBER: CAMPAIGN.initial_status,
        "funding_instrument_id": brief.platform.funding_instrument_id,
    }


def _build_ad_group(account: Account, brief: CampaignBrief) -> Body:
    unit = reddit.get_money_unit(account)
    bid: Body = {"bid_strategy": reddit.MAXIMIZE_VOLUME, "bid_type": reddit.CPC}
    if brief.bid is not None:
        amount = to_native_amount(unit, brief.bid, "bid")
        bid = {"bid_strategy": reddit.MANUAL_BIDDING, "bid_type": reddit.CPC, "bid_value": amount}
    times = {"start_time": format_utc(brief.schedule.start)}
    if brief.schedule.end is not None:
        times["end_time"] = format_utc(brief.schedule.end)
    return {
        "name": brief.name,
        STATUS_MEMBER: AD_GROUP.initial_status,
        "conversion_pixel_id": brief.platform.pixel_id,  # since 2026-07-13 of every ad group
        "optimization_goal": reddit.CLICKS,
        **bid,
        "goal_type": reddit.DAILY_SPEND,
        "goal_value": to_native_amount(unit, brief.budget.amount, "budget.amount"),
        **times,
        "targeting": dict(brief.targeting.native or {}),
    }


def _collect_warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    yield from collect_minor_unit_warnings(NETWORK.title, account, brief)
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Reddit may refuse it, else the ads run at once when they are activated."
    if is_worldwide(brief.targeting.native or {}):
        yield WORLDWIDE_WARNING


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group with the budget, and ad over the existing post; all paused."""
    ad = {"name": brief.name, STATUS_MEMBER: AD.initial_status, "post_id": brief.creative.existing_id}
    does = "Create the ad group with budget, schedule, pixel and targeting, paused."
    steps = (
        _build_create_step(account, CAMPAIGN, "Create the campaign, paused.", _build_campaign(brief)),
        _build_create_step(account, AD_GROUP, does, _build_ad_group(account, brief), under=CAMPAIGN.kind),
        _build_create_step(account, AD, "Create the ad over the existing post, paused.", ad, under=AD_GROUP.kind),
    )
    return (
        yield from completed_flow(
            _make_plan(account, "create", *steps, warnings=list(_collect_warnings(account, brief, now)))
        )
    )


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(one: Level, entity_id: str, status: str, key: str = "") -> Step:
    does = f"Set the {one.native} {entity_id} to {status}."
    return _build_update_step(one, entity_id, does, {STATUS_MEMBER: one.writable_statuses[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad group, then campaign; the post is not touched."""
    steps = [
        _build_status_step(one, str(outputs[one.kind][ID_OUTPUT]), "active", f"activate_{one.kind}")
        for one in (AD, AD_GROUP, CAMPAIGN)
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"Reddit sets these: {', '.join(one.writable_statuses)}.")
    risk: Risk = "spend" if status == "active" else "low"
    return (
        yield from completed_flow(_make_plan(account, "status", _build_status_step(one, entity_id, status), risk=risk))
    )


# -- native -------------------------------------------------------------------------------------------------------


def _check_payload(one: Level, payload: Mapping[str, Json], accepted: Sequence[str]) -> Iterator[Issue]:
    """What a native payload may not carry: an unknown member, or one that can only be read."""
    for name in payload:
        if name not in accepted:
            message = f"Reddit lets a {one.native} have these written: {', '.join(accepted)}."
            yield Issue(f"payload.{name[:60]}", "not_supported", message)
    targeting = payload.get("targeting")
    if targeting is not None and "targeting" in accepted:
        wrong = find_native_targeting_error(targeting) if isinstance(targeting, Mapping) else "targeting is an object"
        if wrong:
            yield Issue("payload.targeting", "invalid", f"Reddit: {wrong}.")
    if payload.get(STATUS_MEMBER, one.initial_status) not in reddit.STATUSES:
        yield Issue(f"payload.{STATUS_MEMBER}", "choice", f"Reddit takes these: {', '.join(reddit.STATUSES)}.")


def _ensure_no_parent(one: Level, parent_id: str | None) -> None:
    if not one.parent and parent_id is not None:
        raise invalid_input("parentId", "not_supported", "A campaign of Reddit has no parent.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = get_level(NETWORK, kind)
    _ensure_no_parent(one, parent_id)
    issues = list(_check_payload(one, payload, reddit.CREATE_MEMBERS[kind]))
    parent: str | None = None
    if one.parent:
        said = payload.get(_get_parent_member(one))
        if said is None and parent_id is None:
            message = f"Name the {get_level(NETWORK, one.parent_kind).native} that it belongs to."
            issues.append(Issue("parentId", "required", message))
        elif said is not None and not (isinstance(said, str) and said):
            issues.append(Issue(f"payload.{_get_parent_member(one)}", "type", "Ids of Reddit are texts."))
        elif None not in (said, parent_id) and said != parent_id:
            issues.append(Issue("parentId", "conflict", f"payload.{_get_parent_member(one)} names another one."))
        else:
            parent = parent_id or said
    raise_if_issues(issues)
    owner = {} if parent is None else {_get_parent_member(one): parent}
    entity = {**owner, STATUS_MEMBER: one.initial_status, **payload}
    active = entity[STATUS_MEMBER] == reddit.ACTIVE
    does = f"Create the {one.native} from native members, {'active' if active else 'not serving'}."
    step = _build_create_step(account, one, does, entity, parent)
    return (yield from completed_flow(_make_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity replaced, each as a whole. An amount may be a raise: it is not read before."""
    one = get_level(NETWORK, kind)
    _ensure_no_parent(one, parent_id)
    locked = {setting.native for setting in list_settings(NETWORK, kind) if isinstance(setting.lock, str)}
    accepted = [name for name in reddit.CREATE_MEMBERS[kind] if f"/{name}" not in locked]
    issues = list(_check_payload(one, payload, accepted))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    raise_if_issues(issues)
    risk: Risk = "low"
    if payload.get(STATUS_MEMBER) in reddit.CLOSED_STATUSES:
        risk = "destructive"
    elif payload.get(STATUS_MEMBER) == reddit.ACTIVE or not set(reddit.MONEY_MEMBERS).isdisjoint(payload):
        risk = "spend"
    does = f"Change {', '.join(payload)} of the {one.native} {entity_id}."
    step = _build_update_step(one, entity_id, does, payload, parent=parent_id)
    return (yield from completed_flow(_make_plan(account, "update", step, risk=risk)))


# Reported of the live API by one integration: the order, and the three hours (both unverified).
ARCHIVE_WARNING = (
    "Reddit deletes only what is archived: this archives it, which ends its delivery for good. To delete it, delete it"
    " again; Reddit may refuse that within three hours of the last change."
)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """What is archived is deleted, anything else is archived first; what it is now tells which."""
    one = get_level(NETWORK, kind)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    if current.native_status == reddit.DELETED:
        raise invalid_input("entityId", "deleted", f"The {one.native} is deleted already.")
    archived = current.native_status == reddit.ARCHIVED
    status = reddit.DELETED if archived else reddit.ARCHIVED
    does = f"Set the {one.native} {entity_id} to {status}, for good."
    told = (Change("status", current.native_status, status),)
    step = _build_update_step(one, entity_id, does, {STATUS_MEMBER: status}, action="delete", told=told)
    return _make_plan(account, "delete", step, risk="destructive", warnings=() if archived else (ARCHIVE_WARNING,))


# -- edit ---------------------------------------------------------------------------------------------------------

EditPart = tuple[Body, Changes]


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
    """The whole targeting: Ads API: what is written replaces it all."""
    if not edit.targeting:
        return {}, ()
    if reason := get_closed_reason(entity):
        raise invalid_input("targeting", "locked", f"Reddit: {reason}.")
    targeting, changes = merge_targeting(kind, entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and post of one entity in one write, held against what it is now."""
    one = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    parts = (_edit_fields, _edit_targeting)
    body, told = merge_edit_parts(partial(part, account, kind, current.native, edit, now) for part in parts)
    warnings = [WORLDWIDE_WARNING] if "targeting" in body and is_worldwide(body["targeting"]) else []
    warnings += ["The ad goes to review again with its new post."] if "post_id" in body else []
    does = f"Change {', '.join(change.field for change in told)} of the {one.native} {entity_id}."
    unbid = body.get("bid_strategy") == reddit.MAXIMIZE_VOLUME  # what a click costs is then up to Reddit
    risk: Risk = "spend" if unbid else assess_risk(NETWORK, kind, told)
    step = _build_update_step(one, entity_id, does, body, told=told)
    return _make_plan(account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def _has_post(post_id: str) -> Flow[bool]:
    """Whether there is such a post: one of either form is complete once it can be read."""
    for path in ("posts", "structured_posts"):
        if (
            yield from fetch_or_none(NETWORK, reddit.build_get_request(f"/{path}/{{id}}", {"id": post_id}))
        ) is not None:
            return True
    return False


def _find_row(request: Request, wanted: str | None) -> Flow[Mapping[str, Json] | None]:
    """The row of a list that has the id."""
    answers: list[Response] = yield from fetch_pages(NETWORK, request, reddit.build_next_request)
    listed = (row for answer in answers for row in reddit.parse_rows(answer))
    return next((row for row in listed if parse_id(get_value(row, "/id")) == wanted), None)


def _check_funding_instrument(instrument: Mapping[str, Json] | None, currency: str | None) -> Iterator[Issue]:
    path = "platform.fundingInstrumentId"
    if instrument is None:
        yield Issue(path, "not_found", "Reddit: the account has no such funding instrument.")
        return
    if get_value(instrument, "/is_servable") is not True:
        reasons = get_value(instrument, "/reasons_not_servable")
        said = ", ".join(map(str, reasons))[:300] if isinstance(reasons, list) and reasons else "Reddit says no reason"
        yield Issue(path, "ineligible", f"Reddit: this funding instrument cannot pay: {said}.")
    counts_in = get_text(instrument, "/currency")
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
        instruments = reddit.build_account_get_request(account, "funding_instruments", {"mode": "ALL"})
        instrument = yield from _find_row(instruments, brief.platform.funding_instrument_id)
        issues += _check_funding_instrument(instrument, account.currency)
    except ProviderError as problem:
        warnings.append(f"Whether the funding instrument can pay could not be checked: {problem.message}")
    try:
        if (yield from _find_row(reddit.build_account_get_request(account, "pixels"), brief.platform.pixel_id)) is None:
            issues.append(Issue("platform.pixelId", "not_found", "Reddit: the account has no such pixel."))
    except ProviderError as problem:
        warnings.append(f"Whether the account has the pixel could not be checked: {problem.message}")
    return issues, warnings
