"""Changes of ads in ChatGPT as plans: one entity per write; creates carry an idempotency key of the operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from attrs import evolve

from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk, require_change
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.network import Account, Level, get_level, to_native_amount
from adsunify.errors import Issue, LookupNeeded, ProviderError, ProviderNotFound, invalid_input, raise_if_issues
from adsunify.http.messages import BodyEncoding, Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import IdempotencyMark
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
from adsunify.values.exact_json import Json

from . import native as openai
from .reads import fetch_entity
from .settings import check_conflicts, find_url_error, get_writable_members, is_bid_per_thousand
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK, OBJECTIVES, get_native_bid
from .targeting import WORLDWIDE_WARNING, fetch_conversion_event, merge_targeting

ID_OUTPUT = "id"
IMAGE_KEY = "image"
IDEMPOTENCY_MARK = IdempotencyMark(f"/headers/{openai.IDEMPOTENCY_KEY}", "key")
"""Sent again with this key, a create answers what it made the first time, in place of making it twice."""
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",), is_text_only=True),)
KIND_NAMES = {"campaign": "campaign", "adGroup": "ad group", "ad": "ad"}
ARCHIVE_WARNING = "Archiving is final: what is archived can neither be changed nor served again."
UNKNOWN_STATUS_WARNING = "OpenAI did not tell what it is now: what is archived cannot be changed."
REVIEW_WARNING = "The changed creative is reviewed anew, and the ad may not serve until then."
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_write_request(path: str, body: Body | None, **slots: str) -> Request:
    """A write. All are POST, updates too; the calls that only set a status have no body."""
    encoding: BodyEncoding = "none" if body is None else "json"
    return Request(
        "POST", f"{openai.API_URL}/{path}", slots, headers=openai.HEADERS, body=body, encoding=encoding, kind="write"
    )


def _build_create_step(one: Level, does: str, body: Body, *bindings: Binding, parent: str | None = None) -> Step:
    request = _build_write_request(one.path, body)
    return Step(
        one.kind,
        one.kind,
        does,
        request,
        parent=parent,
        bindings=bindings,
        outputs=CREATED_OUTPUTS,
        marks=(IDEMPOTENCY_MARK,),
    )


def _build_upload_step(url: str) -> Step:
    """The image comes first: it fails most often, and leaves nothing that spends."""
    request, made = (
        _build_write_request("upload", {"image_url": url}),
        Output(ID_OUTPUT, ("/body/file_id",), is_text_only=True),
    )
    return Step(IMAGE_KEY, IMAGE_KEY, "Let OpenAI fetch the image.", request, outputs=(made,))


def _build_update_step(
    one: Level,
    entity_id: str,
    does: str,
    body: Body,
    *bindings: Binding,
    parent: str | None = None,
    changes: Sequence[Change] = (),
) -> Step:
    return Step(
        one.kind,
        one.kind,
        does,
        _build_write_request(f"{one.path}/{{id}}", body, id=entity_id),
        "update",
        entity_id,
        parent,
        bindings,
        expectations=(Expectation("/body/id", entity_id),),
        changes=tuple(changes),
    )


def _build_status_call_step(
    one: Level,
    entity_id: str,
    call: str,
    status: str,
    does: str,
    key: str = "",
    action: StepAction = "update",
    changes: Sequence[Change] = (),
) -> Step:
    """A call that sets a status. Its answer tells: reads show the old status for some seconds (field report)."""
    promises = (Expectation("/body/id", entity_id), Expectation("/body/status", status))
    request = _build_write_request(f"{one.path}/{{id}}/{call}", None, id=entity_id)
    return Step(
        key or one.kind, one.kind, does, request, action, entity_id, expectations=promises, changes=tuple(changes)
    )


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _build_campaign(account: Account, brief: CampaignBrief, event: str | None) -> Body:
    schedule = brief.schedule
    body: Body = {
        "name": brief.name,
        "status": CAMPAIGN.initial_status,
        "bidding_type": OBJECTIVES[brief.goal][0],
        "budget": {
            openai.LIFETIME_LIMIT_MEMBER: to_native_amount(
                NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount"
            ),
        },
        "start_time": openai.TIME.format(schedule.start),
        "targeting": brief.targeting.native,
    }
    if schedule.end is not None:
        body["end_time"] = openai.TIME.format(schedule.end)
    return body if event is None else body | {"conversion_event_setting_ids": [event]}


def _build_ad_group(account: Account, brief: CampaignBrief) -> Body:
    bidding = {
        "billing_event_type": OBJECTIVES[brief.goal][1],
        "strategy": openai.FIXED_BID,
        "max_bid_micros": get_native_bid(account, brief),
    }
    return {"name": brief.name, "status": AD_GROUP.initial_status, "bidding_config": bidding}


def _build_ad(brief: CampaignBrief) -> Body:
    told = brief.creative
    card: Body = {"type": openai.CHAT_CARD, "title": told.headline, "body": told.body, "target_url": told.url}
    if told.existing_id is not None:
        card["file_id"] = told.existing_id
    return {"name": brief.name, "status": AD.initial_status, "creative": card}


def _collect_warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if not (brief.targeting.native or {}).get("locations"):
        yield WORLDWIDE_WARNING
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: the campaign serves as soon as it is activated."
    finer = [("budget", brief.budget.amount)]
    if OBJECTIVES[brief.goal][1] == openai.CLICK:
        finer.append(("bid", brief.bid or ""))
    for name, amount in finer:
        if openai.is_finer_than_currency(account, amount):
            yield f"The {name} is finer than the smallest coin of {account.currency}; OpenAI may refuse it."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Image (unless it is there already), campaign with the budget, ad group with the bid, ad; all paused."""
    event = (yield from fetch_conversion_event(NETWORK, brief)) if brief.goal == "conversions" else None
    image = brief.creative.image_url
    first = () if image is None else (_build_upload_step(image),)
    shown = () if image is None else (Binding("/body/creative/file_id", IMAGE_KEY, ID_OUTPUT),)
    steps = (
        *first,
        _build_create_step(
            CAMPAIGN,
            "Create the campaign with budget, schedule and targeting, paused.",
            _build_campaign(account, brief, event),
        ),
        _build_create_step(
            AD_GROUP,
            "Create the ad group with the bid, paused.",
            _build_ad_group(account, brief),
            Binding("/body/campaign_id", CAMPAIGN.kind, ID_OUTPUT),
        ),
        _build_create_step(
            AD,
            "Create the ad with its chat card, paused; the card is reviewed at once.",
            _build_ad(brief),
            Binding("/body/ad_group_id", AD_GROUP.kind, ID_OUTPUT),
            *shown,
        ),
    )
    return _make_plan(account, "create", *steps, warnings=tuple(_collect_warnings(account, brief, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _fetch_status(account: Account, kind: Kind, entity_id: str) -> Flow[tuple[str | None, tuple[str, ...]]]:
    """The native status, and a warning where it is not to be had. Refuses what is archived, and what is not there."""
    try:
        found = yield from fetch_entity(account, kind, entity_id)
    except ProviderNotFound:
        raise
    except (ProviderError, LookupNeeded):
        return None, (UNKNOWN_STATUS_WARNING,)
    if found.native_status == openai.ARCHIVED:
        raise invalid_input("entityId", "locked", f"The {KIND_NAMES[kind]} is archived, which is final.")
    return found.native_status, ()


def _build_status_step(one: Level, entity_id: str, status: str, key: str = "", changes: Sequence[Change] = ()) -> Step:
    native = one.writable_statuses[status]
    does = f"Set the {KIND_NAMES[one.kind]} {entity_id} to {status}."
    return _build_status_call_step(one, entity_id, openai.STATUS_CALLS[native], native, does, key, changes=changes)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad group, then campaign: what others hang on comes when all below it is ready; files have no status."""
    steps = [
        _build_status_step(one, str(outputs[one.kind][ID_OUTPUT]), "active", f"activate_{one.kind}")
        for one in (AD, AD_GROUP, CAMPAIGN)
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused; what is below it keeps its own status."""
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"OpenAI sets these: {', '.join(one.writable_statuses)}.")
    before, warnings = yield from _fetch_status(account, kind, entity_id)
    changes = () if before is None else (Change("status", before, one.writable_statuses[status]),)
    risk: Risk = "spend" if status == "active" else "low"
    step = _build_status_step(one, entity_id, status, changes=changes)
    return _make_plan(account, "status", step, risk=risk, warnings=warnings)


# -- native -------------------------------------------------------------------------------------------------------

MONEY_MEMBERS = ("budget", "bidding_config")
WHOLE_MEMBERS = ("budget", "bidding_config", "creative", "targeting", "context_hints", "conversion_event_setting_ids")


def _check_payload(payload: Mapping[str, Json], statuses: Sequence[str]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    for name in payload:
        if name in openai.READ_ONLY_MEMBERS:
            yield Issue(f"payload.{name}", "read_only", f"OpenAI sets {name} itself.")
    if "status" in payload and payload["status"] not in statuses:
        yield Issue("payload.status", "choice", f"OpenAI takes these: {', '.join(statuses)}.")


def _build_parent_member(one: Level, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    """The member that names the parent."""
    if not one.parent:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", "A campaign of OpenAI has no parent.")
        return {}
    member = one.parent.removeprefix("/")
    said = payload.get(member, parent_id)
    if not isinstance(said, str) or not said:
        raise invalid_input("parentId", "required", f"Name the {KIND_NAMES[one.parent_kind]} that it belongs to.")
    if parent_id is not None and said != parent_id:
        raise invalid_input(
            f"payload.{member}", "conflict", f"{member} is another one than parentId says; give only one."
        )
    return {member: said}


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = get_level(NETWORK, kind)
    raise_if_issues(_check_payload(payload, openai.CREATE_STATUSES))
    owner = _build_parent_member(one, payload, parent_id)
    body = {**owner, "status": one.initial_status, **payload}
    active = body["status"] == openai.ACTIVE
    does = f"Create the {KIND_NAMES[kind]} from native members, {'active' if active else 'paused'}."
    step = _build_create_step(one, does, body, parent=next(iter(owner.values()), None))
    return (yield from completed_flow(_make_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity; others stay as they are."""
    one = get_level(NETWORK, kind)
    issues = list(_check_payload(payload, openai.STATUSES))
    member = one.parent.removeprefix("/")
    if one.parent and member in payload:
        issues.append(Issue(f"payload.{member}", "locked", f"OpenAI: the {KIND_NAMES[one.parent_kind]} is fixed."))
    if not one.parent and parent_id is not None:
        issues.append(Issue("parentId", "not_supported", "A campaign of OpenAI has no parent."))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    raise_if_issues(issues)
    _, warnings = yield from _fetch_status(account, kind, entity_id)
    status = payload.get("status")
    risk: Risk = "low"
    if status == openai.ARCHIVED:
        risk, warnings = "destructive", (*warnings, ARCHIVE_WARNING)
    elif status == openai.ACTIVE or not set(MONEY_MEMBERS).isdisjoint(payload):
        risk = "spend"
    whole = [name for name in WHOLE_MEMBERS if name in payload]
    if whole:
        warnings = (*warnings, f"Replaced whole, whatever stands there now: {', '.join(whole)}.")
    does = f"Change {', '.join(payload)} of the {KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(one, entity_id, does, dict(payload), parent=parent_id)
    return _make_plan(account, "update", step, risk=risk, warnings=warnings)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Archives, which is final: nothing can be deleted."""
    one = get_level(NETWORK, kind)
    before, warnings = yield from _fetch_status(account, kind, entity_id)
    does = f"Archive the {KIND_NAMES[kind]} {entity_id}; this cannot be undone."
    changes = (Change("status", before, openai.ARCHIVED),)
    step = _build_status_call_step(
        one, entity_id, openai.ARCHIVE, openai.ARCHIVED, does, action="delete", changes=changes
    )
    return _make_plan(account, "delete", step, risk="destructive", warnings=(*warnings, ARCHIVE_WARNING))


# -- edit ---------------------------------------------------------------------------------------------------------

IMAGE_MEMBERS = {"imageUrl": "image_url", "existingId": "file_id"}


def _check_image(edit: Edit) -> Iterator[Issue]:
    """What is wrong with the image of an edit's creative."""
    if "imageUrl" in edit.creative and (wrong := find_url_error(edit.creative["imageUrl"])) is not None:
        yield Issue("creative.imageUrl", "invalid", f"OpenAI: {wrong}.")
    if IMAGE_MEMBERS.keys() <= edit.creative.keys():
        yield Issue("creative.existingId", "conflict", "Give the image by imageUrl or by existingId.")


EditPart = tuple[Body, list[Change]]


def _edit_fields(
    account: Account, kind: Kind, native: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    # A bid for impressions is edited per thousand, and is natively for a single one.
    network = evolve(NETWORK, get_money_unit=openai.get_impression_bid_unit) if is_bid_per_thousand(native) else NETWORK
    done = apply_edit(network, account, kind, native, edit, now)
    body = done.native_by_name
    raise_if_issues(check_conflicts(account, kind, native, body, edit, now))
    return body, list(done.changes)


def _edit_targeting(
    account: Account, kind: Kind, native: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    if not edit.targeting:
        return {}, []
    targeting, changes = merge_targeting(kind, native.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def _edit_image(native: Mapping[str, Json], edit: Edit, body: Body) -> tuple[Body, list[Change], Step | None]:
    """The creative with another image, and the step that brings it where it is not there yet."""
    if IMAGE_MEMBERS.keys().isdisjoint(edit.creative):
        return body, [], None
    card = body.get("creative") or get_writable_members(native, "creative", openai.CREATIVE_MEMBERS)
    if card.get("type") != openai.CHAT_CARD:
        raise invalid_input(
            "creative", "locked", f"The creative is no {openai.CHAT_CARD}; change it with a native update."
        )
    before = card.pop("file_id", None)
    if "existingId" in edit.creative:
        file_id = edit.creative["existingId"]
        change = require_change(Change("existingId", before, file_id), "creative.existingId")
        return body | {"creative": card | {"file_id": file_id}}, [change], None
    url = edit.creative["imageUrl"]
    return body | {"creative": card}, [Change("imageUrl", before, url)], _build_upload_step(url)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and creative of one entity in one write, held against what it is now."""
    one = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    raise_if_issues(_check_image(edit))
    native = (yield from fetch_entity(account, kind, entity_id)).native
    if native.get("status") == openai.ARCHIVED:
        raise invalid_input("entityId", "locked", f"The {KIND_NAMES[kind]} is archived, which is final.")
    parts = (_edit_fields, _edit_targeting)
    body, changes = merge_edit_parts(partial(part, account, kind, native, edit, now) for part in parts)
    body, told, upload = _edit_image(native, edit, body)
    changes += told
    does = f"Change {', '.join(change.field for change in changes)} of the {KIND_NAMES[kind]} {entity_id}."
    bindings = () if upload is None else (Binding("/body/creative/file_id", IMAGE_KEY, ID_OUTPUT),)
    update = _build_update_step(one, entity_id, does, body, *bindings, changes=changes)
    steps = (update,) if upload is None else (upload, update)
    warnings = (REVIEW_WARNING,) if "creative" in body else ()
    return _make_plan(account, "edit", *steps, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Nothing more: the event is read for the plan itself, and files are not listed."""
    nothing: tuple[list[Issue], list[str]] = ([], [])
    return (yield from completed_flow(nothing))
