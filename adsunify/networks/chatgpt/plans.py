"""Changes of ads in ChatGPT as plans: one entity per write; creates carry an idempotency key of the operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from attrs import evolve

from adsunify.adapter.edit_members import check_edit, together
from adsunify.adapter.edits import Edit, edited, require_change, risk_of
from adsunify.adapter.flows import settled
from adsunify.adapter.network import Account, Level, level, native_amount
from adsunify.errors import Issue, LookupNeeded, ProviderError, ProviderNotFound, refuse, refused
from adsunify.http.messages import Encoding, Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import Mark
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
from adsunify.values.exact_json import Json

from . import native as openai
from .reads import entity
from .settings import conflicts, kept, per_thousand, wrong_url
from .tables import AD, AD_GROUP, CAMPAIGN, GOALS, NETWORK, bid_of
from .targeting import EVERYWHERE, event_of, merged

ID = "id"
IMAGE = "image"
KEY = Mark(f"/headers/{openai.IDEMPOTENCY_KEY}", "key")
"""Sent again with this key, a create answers what it made the first time, in place of making it twice."""
MADE = (Output(ID, ("/body/id",), text_only=True),)
CALLED = {"campaign": "campaign", "adGroup": "ad group", "ad": "ad"}
FINAL = "Archiving is final: what is archived can neither be changed nor served again."
UNSEEN = "OpenAI did not tell what it is now: what is archived cannot be changed."
REVIEWED_AGAIN = "The changed creative is reviewed anew, and the ad may not serve until then."
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _write(path: str, body: Body | None, **slots: str) -> Request:
    """A write. All are POST, updates too; the calls that only set a status have no body."""
    encoding: Encoding = "none" if body is None else "json"
    return Request(
        "POST", f"{openai.API}/{path}", slots, headers=openai.HEADERS, body=body, encoding=encoding, nature="write"
    )


def _create(one: Level, does: str, body: Body, *bindings: Binding, parent: str | None = None) -> Step:
    request = _write(one.path, body)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=MADE, marks=(KEY,))


def _upload(url: str) -> Step:
    """The image comes first: it fails most often, and leaves nothing that spends."""
    request, made = _write("upload", {"image_url": url}), Output(ID, ("/body/file_id",), text_only=True)
    return Step(IMAGE, IMAGE, "Let OpenAI fetch the image.", request, outputs=(made,))


def _update(
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
        _write(f"{one.path}/{{id}}", body, id=entity_id),
        "update",
        entity_id,
        parent,
        bindings,
        promises=(Promise("/body/id", entity_id),),
        changes=tuple(changes),
    )


def _called(
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
    promises = (Promise("/body/id", entity_id), Promise("/body/status", status))
    request = _write(f"{one.path}/{{id}}/{call}", None, id=entity_id)
    return Step(key or one.kind, one.kind, does, request, action, entity_id, promises=promises, changes=tuple(changes))


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _campaign(account: Account, brief: CampaignBrief, event: str | None) -> Body:
    schedule = brief.schedule
    body: Body = {
        "name": brief.name,
        "status": CAMPAIGN.born,
        "bidding_type": GOALS[brief.goal][0],
        "budget": {
            openai.LIFETIME_LIMIT: native_amount(NETWORK.unit(account), brief.budget.amount, "budget.amount"),
        },
        "start_time": openai.whole_seconds(schedule.start),
        "targeting": brief.targeting.native,
    }
    if schedule.end is not None:
        body["end_time"] = openai.whole_seconds(schedule.end)
    return body if event is None else body | {"conversion_event_setting_ids": [event]}


def _ad_group(account: Account, brief: CampaignBrief) -> Body:
    bidding = {
        "billing_event_type": GOALS[brief.goal][1],
        "strategy": openai.FIXED_BID,
        "max_bid_micros": bid_of(account, brief),
    }
    return {"name": brief.name, "status": AD_GROUP.born, "bidding_config": bidding}


def _ad(brief: CampaignBrief) -> Body:
    told = brief.creative
    card: Body = {"type": openai.CHAT_CARD, "title": told.headline, "body": told.body, "target_url": told.url}
    if told.existing_id is not None:
        card["file_id"] = told.existing_id
    return {"name": brief.name, "status": AD.born, "creative": card}


def _warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if not (brief.targeting.native or {}).get("locations"):
        yield EVERYWHERE
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: the campaign serves as soon as it is activated."
    finer = [("budget", brief.budget.amount)]
    if GOALS[brief.goal][1] == openai.CLICK:
        finer.append(("bid", brief.bid or ""))
    for name, amount in finer:
        if openai.finer(account, amount):
            yield f"The {name} is finer than the smallest coin of {account.currency}; OpenAI may refuse it."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Image (unless it is there already), campaign with the budget, ad group with the bid, ad; all paused."""
    event = (yield from event_of(NETWORK, brief)) if brief.goal == "conversions" else None
    image = brief.creative.image_url
    first = () if image is None else (_upload(image),)
    shown = () if image is None else (Binding("/body/creative/file_id", IMAGE, ID),)
    steps = (
        *first,
        _create(
            CAMPAIGN,
            "Create the campaign with budget, schedule and targeting, paused.",
            _campaign(account, brief, event),
        ),
        _create(
            AD_GROUP,
            "Create the ad group with the bid, paused.",
            _ad_group(account, brief),
            Binding("/body/campaign_id", CAMPAIGN.kind, ID),
        ),
        _create(
            AD,
            "Create the ad with its chat card, paused; the card is reviewed at once.",
            _ad(brief),
            Binding("/body/ad_group_id", AD_GROUP.kind, ID),
            *shown,
        ),
    )
    return _plan(account, "create", *steps, warnings=tuple(_warnings(account, brief, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _now(account: Account, kind: Kind, entity_id: str) -> Flow[tuple[str | None, tuple[str, ...]]]:
    """The native status, and a warning where it is not to be had. Refuses what is archived, and what is not there."""
    try:
        found = yield from entity(account, kind, entity_id)
    except ProviderNotFound:
        raise
    except (ProviderError, LookupNeeded):
        return None, (UNSEEN,)
    if found.native_status == openai.ARCHIVED:
        raise refused("entityId", "locked", f"The {CALLED[kind]} is archived, which is final.")
    return found.native_status, ()


def _set_status(one: Level, entity_id: str, status: str, key: str = "", changes: Sequence[Change] = ()) -> Step:
    native = one.settable[status]
    does = f"Set the {CALLED[one.kind]} {entity_id} to {status}."
    return _called(one, entity_id, openai.CALLS[native], native, does, key, changes=changes)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad group, then campaign: what others hang on comes when all below it is ready; files have no status."""
    steps = [
        _set_status(one, str(outputs[one.kind][ID]), "active", f"activate_{one.kind}")
        for one in (AD, AD_GROUP, CAMPAIGN)
    ]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused; what is below it keeps its own status."""
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"OpenAI sets these: {', '.join(one.settable)}.")
    before, warnings = yield from _now(account, kind, entity_id)
    changes = () if before is None else (Change("status", before, one.settable[status]),)
    risk: Risk = "spend" if status == "active" else "low"
    step = _set_status(one, entity_id, status, changes=changes)
    return _plan(account, "status", step, risk=risk, warnings=warnings)


# -- native -------------------------------------------------------------------------------------------------------

MONEY = ("budget", "bidding_config")
WHOLE = ("budget", "bidding_config", "creative", "targeting", "context_hints", "conversion_event_setting_ids")


def _foreign(payload: Mapping[str, Json], statuses: Sequence[str]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    for name in payload:
        if name in openai.READ_ONLY:
            yield Issue(f"payload.{name}", "read_only", f"OpenAI sets {name} itself.")
    if "status" in payload and payload["status"] not in statuses:
        yield Issue("payload.status", "choice", f"OpenAI takes these: {', '.join(statuses)}.")


def _parent(one: Level, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    """The member that names the parent."""
    if not one.parent:
        if parent_id is not None:
            raise refused("parentId", "not_supported", "A campaign of OpenAI has no parent.")
        return {}
    member = one.parent.removeprefix("/")
    said = payload.get(member, parent_id)
    if not isinstance(said, str) or not said:
        raise refused("parentId", "required", f"Name the {CALLED[one.parent_kind]} that it belongs to.")
    if parent_id is not None and said != parent_id:
        raise refused(f"payload.{member}", "conflict", f"{member} is another one than parentId says; give only one.")
    return {member: said}


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = level(NETWORK, kind)
    refuse(_foreign(payload, openai.BORN))
    owner = _parent(one, payload, parent_id)
    body = {**owner, "status": one.born, **payload}
    active = body["status"] == openai.ACTIVE
    does = f"Create the {CALLED[kind]} from native members, {'active' if active else 'paused'}."
    step = _create(one, does, body, parent=next(iter(owner.values()), None))
    return (yield from settled(_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity; others stay as they are."""
    one = level(NETWORK, kind)
    issues = list(_foreign(payload, openai.STATUSES))
    member = one.parent.removeprefix("/")
    if one.parent and member in payload:
        issues.append(Issue(f"payload.{member}", "locked", f"OpenAI: the {CALLED[one.parent_kind]} is fixed."))
    if not one.parent and parent_id is not None:
        issues.append(Issue("parentId", "not_supported", "A campaign of OpenAI has no parent."))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    refuse(issues)
    _, warnings = yield from _now(account, kind, entity_id)
    status = payload.get("status")
    risk: Risk = "low"
    if status == openai.ARCHIVED:
        risk, warnings = "destructive", (*warnings, FINAL)
    elif status == openai.ACTIVE or not set(MONEY).isdisjoint(payload):
        risk = "spend"
    whole = [name for name in WHOLE if name in payload]
    if whole:
        warnings = (*warnings, f"Replaced whole, whatever stands there now: {', '.join(whole)}.")
    does = f"Change {', '.join(payload)} of the {CALLED[kind]} {entity_id}."
    step = _update(one, entity_id, does, dict(payload), parent=parent_id)
    return _plan(account, "update", step, risk=risk, warnings=warnings)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Archives, which is final: nothing can be deleted."""
    one = level(NETWORK, kind)
    before, warnings = yield from _now(account, kind, entity_id)
    does = f"Archive the {CALLED[kind]} {entity_id}; this cannot be undone."
    changes = (Change("status", before, openai.ARCHIVED),)
    step = _called(one, entity_id, openai.ARCHIVE, openai.ARCHIVED, does, action="delete", changes=changes)
    return _plan(account, "delete", step, risk="destructive", warnings=(*warnings, FINAL))


# -- edit ---------------------------------------------------------------------------------------------------------

IMAGES = {"imageUrl": "image_url", "existingId": "file_id"}


def _image_issues(edit: Edit) -> Iterator[Issue]:
    """What is wrong with the image of an edit's creative."""
    if "imageUrl" in edit.creative and (wrong := wrong_url(edit.creative["imageUrl"])) is not None:
        yield Issue("creative.imageUrl", "invalid", f"OpenAI: {wrong}.")
    if IMAGES.keys() <= edit.creative.keys():
        yield Issue("creative.existingId", "conflict", "Give the image by imageUrl or by existingId.")


Part = tuple[Body, list[Change]]


def _fields(account: Account, kind: Kind, native: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    # A bid for impressions is edited per thousand, and is natively for a single one.
    network = evolve(NETWORK, unit=openai.unit_of_impressions) if per_thousand(native) else NETWORK
    done = edited(network, account, kind, native, edit, now)
    body = done.members
    refuse(conflicts(edit, native, body, now))
    return body, list(done.changes)


def _targeting(account: Account, kind: Kind, native: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    if not edit.targeting:
        return {}, []
    targeting, changes = merged(native.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def _image(native: Mapping[str, Json], edit: Edit, body: Body) -> tuple[Body, list[Change], Step | None]:
    """The creative with another image, and the step that brings it where it is not there yet."""
    if IMAGES.keys().isdisjoint(edit.creative):
        return body, [], None
    card = body.get("creative") or kept(native, "creative", openai.CREATIVE)
    if card.get("type") != openai.CHAT_CARD:
        raise refused("creative", "locked", f"The creative is no {openai.CHAT_CARD}; change it with a native update.")
    before = card.pop("file_id", None)
    if "existingId" in edit.creative:
        file_id = edit.creative["existingId"]
        change = require_change(Change("existingId", before, file_id), "creative.existingId")
        return body | {"creative": card | {"file_id": file_id}}, [change], None
    url = edit.creative["imageUrl"]
    return body | {"creative": card}, [Change("imageUrl", before, url)], _upload(url)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and creative of one entity in one write, held against what it is now."""
    one = level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    refuse(_image_issues(edit))
    native = (yield from entity(account, kind, entity_id)).native
    if native.get("status") == openai.ARCHIVED:
        raise refused("entityId", "locked", f"The {CALLED[kind]} is archived, which is final.")
    parts = (_fields, _targeting)
    body, changes = together(partial(part, account, kind, native, edit, now) for part in parts)
    body, told, upload = _image(native, edit, body)
    changes += told
    does = f"Change {', '.join(change.field for change in changes)} of the {CALLED[kind]} {entity_id}."
    bindings = () if upload is None else (Binding("/body/creative/file_id", IMAGE, ID),)
    update = _update(one, entity_id, does, body, *bindings, changes=changes)
    steps = (update,) if upload is None else (upload, update)
    warnings = (REVIEWED_AGAIN,) if "creative" in body else ()
    return _plan(account, "edit", *steps, risk=risk_of(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Nothing more: the event is read for the plan itself, and files are not listed."""
    nothing: tuple[list[Issue], list[str]] = ([], [])
    return (yield from settled(nothing))
