"""Changes of ads in ChatGPT as plans: one entity per write; creates carry an idempotency key of the operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk, require_change
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.lifecycle import ID_OUTPUT, bind_parent, build_plan, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, LookupNeeded, ProviderError, ProviderNotFound, invalid_input, raise_if_issues
from adsunify.http.messages import BodyEncoding, Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import Binding, Change, Expectation, Kind, Output, Plan, Step
from adsunify.values.exact_json import Json

from . import native as openai
from .reads import fetch_entity
from .settings import check_conflicts, find_url_error, get_writable_members, is_bid_per_thousand
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK, OBJECTIVES, get_native_bid
from .targeting import WORLDWIDE_WARNING, fetch_conversion_event, merge_targeting

IMAGE_KEY = "image"
# unverified: whether a repeat after a refusal gets the stored refusal.
IDEMPOTENCY_MARK = IdempotencyMark(f"/headers/{openai.IDEMPOTENCY_KEY}", "key")
"""A create that is sent again with this key returns the entity of the first request. It creates no second entity."""
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",), is_text_only=True),)
ARCHIVE_WARNING = "Archiving is final: what is archived can neither be changed nor served again."
UNKNOWN_STATUS_WARNING = "OpenAI did not tell what it is now: what is archived cannot be changed."
REVIEW_WARNING = "The changed creative is reviewed anew, and the ad may not serve until then."
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_post_request(path: str, body: Body | None, **slots: str) -> Request:
    """Build a write. Updates are POSTs, too. A call that only sets a status has no body."""
    encoding: BodyEncoding = "none" if body is None else "json"
    return Request(
        "POST", f"{openai.API_URL}/{path}", slots, headers=openai.HEADERS, body=body, encoding=encoding, kind="write"
    )


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity. The step's key is the entity's kind."""
    request, marks = _build_post_request(level.path, members), (IDEMPOTENCY_MARK,)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS, marks=marks)


def _build_image_step(url: str) -> Step:
    """Build the upload of the image. It comes first: it fails most often, and an image alone spends nothing."""
    request = _build_post_request("upload", {"image_url": url})
    outputs = (Output(ID_OUTPUT, ("/body/file_id",), is_text_only=True),)
    return Step(IMAGE_KEY, IMAGE_KEY, "Let OpenAI fetch the image.", request, outputs=outputs)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of one entity."""
    request = _build_post_request(f"{level.path}/{{id}}", dict(members), id=entity_id)
    same = (Expectation("/body/id", entity_id),)
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


def _build_status_call_step(level: Level, entity_id: str, does: str, native_status: str) -> Step:
    """Build a step that sets a status.

    The response has to show the new status. Later reads show the old status for some seconds (field report).
    """
    request = _build_post_request(f"{level.path}/{{id}}/{openai.STATUS_CALLS[native_status]}", None, id=entity_id)
    same = (Expectation("/body/id", entity_id), Expectation("/body/status", native_status))
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


def _build_status_step(account: Account, level: Level, entity_id: str, status: str) -> Step:
    does = f"Set the {level.label} {entity_id} to {status}."
    return _build_status_call_step(level, entity_id, does, level.writable_statuses[status])


# -- create -------------------------------------------------------------------------------------------------------


def _build_campaign_for_event(account: Account, brief: CampaignBrief, event: str | None) -> Body:
    body: Body = {
        "name": brief.name,
        "status": CAMPAIGN.initial_status,
        "bidding_type": OBJECTIVES[brief.goal][0],
        "budget": {
            openai.LIFETIME_LIMIT_MEMBER: to_native_amount(
                NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount"
            ),
        },
        "start_time": openai.TIME.format(brief.schedule.start),
        "targeting": brief.targeting.native,
    }
    if brief.schedule.end is not None:
        body["end_time"] = openai.TIME.format(brief.schedule.end)
    return body if event is None else body | {"conversion_event_setting_ids": [event]}


def _build_ad_group(account: Account, brief: CampaignBrief) -> Body:
    bidding = {
        "billing_event_type": OBJECTIVES[brief.goal][1],
        "strategy": openai.FIXED_BID,
        "max_bid_micros": get_native_bid(account, brief),
    }
    return {"name": brief.name, "status": AD_GROUP.initial_status, "bidding_config": bidding}


def _build_ad(brief: CampaignBrief) -> Body:
    content = brief.creative
    card: Body = {"type": openai.CHAT_CARD, "title": content.headline, "body": content.body, "target_url": content.url}
    if content.existing_id is not None:
        card["file_id"] = content.existing_id
    return {"name": brief.name, "status": AD.initial_status, "creative": card}


def _collect_warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if not (brief.targeting.native or {}).get("locations"):
        yield WORLDWIDE_WARNING
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: the campaign serves as soon as it is activated."
    amounts = [("budget", brief.budget.amount)]
    if OBJECTIVES[brief.goal][1] == openai.CLICK:
        amounts.append(("bid", brief.bid or ""))
    for name, amount in amounts:
        if openai.is_finer_than_currency(account, amount):
            yield f"The {name} is finer than the smallest coin of {account.currency}; OpenAI may refuse it."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign with the budget, an ad group with the bid, and an ad, all paused. A new image is sent first."""
    event = (yield from fetch_conversion_event(NETWORK, brief)) if brief.goal == "conversions" else None
    image = brief.creative.image_url
    uploads = () if image is None else (_build_image_step(image),)
    image_bindings = () if image is None else (Binding("/body/creative/file_id", IMAGE_KEY, ID_OUTPUT),)
    in_campaign, in_ad_group = bind_parent(AD_GROUP), bind_parent(AD)
    does_campaign = "Create the campaign with budget, schedule and targeting, paused."
    does_ad_group = "Create the ad group with the bid, paused."
    does_ad = "Create the ad with its chat card, paused; the card is reviewed at once."
    steps = (
        *uploads,
        _build_create_step(account, CAMPAIGN, does_campaign, _build_campaign_for_event(account, brief, event)),
        _build_create_step(account, AD_GROUP, does_ad_group, _build_ad_group(account, brief), in_campaign),
        _build_create_step(account, AD, does_ad, _build_ad(brief), in_ad_group, *image_bindings),
    )
    return build_plan(NETWORK, account, "create", *steps, warnings=tuple(_collect_warnings(account, brief, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _fetch_status(account: Account, kind: Kind, entity_id: str) -> Flow[tuple[str | None, tuple[str, ...]]]:
    """Read the native status; a warning if it cannot be read.

    Raises InvalidInput for an archived entity and ProviderNotFound for a missing one.
    """
    try:
        entity = yield from fetch_entity(account, kind, entity_id)
    except ProviderNotFound:
        raise
    except (ProviderError, LookupNeeded):
        return None, (UNKNOWN_STATUS_WARNING,)
    _ensure_not_archived(kind, entity.native_status)
    return entity.native_status, ()


def _ensure_not_archived(kind: Kind, native_status: Json) -> None:
    if native_status == openai.ARCHIVED:
        label = get_level(NETWORK, kind).label
        raise invalid_input("entityId", "locked", f"The {label} is archived, which is final.")


# An uploaded file has no status, so it has no activation step.
plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused. The entities below it keep their status."""
    level = get_level(NETWORK, kind)
    lifecycle.ensure_writable_status(NETWORK, level, status)
    before, warnings = yield from _fetch_status(account, kind, entity_id)
    changes = () if before is None else (Change("status", before, level.writable_statuses[status]),)
    step = evolve(_build_status_step(account, level, entity_id, status), changes=changes)
    risk = lifecycle.assess_status_risk(status)
    return build_plan(NETWORK, account, "status", step, risk=risk, warnings=warnings)


# -- native -------------------------------------------------------------------------------------------------------

WHOLE_MEMBERS = ("budget", "bidding_config", "creative", "targeting", "context_hints", "conversion_event_setting_ids")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id)
    does = f"Create the {level.label} from native members, {'active' if create.is_active else 'paused'}."
    step = evolve(_build_create_step(account, level, does, create.members), parent=create.parent_id)
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. Other members stay unchanged."""
    level = get_level(NETWORK, kind)
    raise_if_issues(lifecycle.check_native_update(NETWORK, level, payload, parent_id))
    _, warnings = yield from _fetch_status(account, kind, entity_id)
    if payload.get("status") == openai.ARCHIVED:
        warnings = (*warnings, ARCHIVE_WARNING)
    whole_members = [name for name in WHOLE_MEMBERS if name in payload]
    if whole_members:
        warnings = (*warnings, f"Replaced whole, whatever stands there now: {', '.join(whole_members)}.")
    does = lifecycle.describe_update(level, entity_id, payload)
    step = evolve(_build_update_step(account, level, entity_id, does, payload), parent=parent_id)
    risk = lifecycle.assess_payload_risk(level, payload)
    return build_plan(NETWORK, account, "update", step, risk=risk, warnings=warnings)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the archiving of one entity, which is final. OpenAI cannot delete entities."""
    level = get_level(NETWORK, kind)
    before, warnings = yield from _fetch_status(account, kind, entity_id)
    does = f"Archive the {level.label} {entity_id}; this cannot be undone."
    step = _build_status_call_step(level, entity_id, does, openai.ARCHIVED)
    step = evolve(step, action="delete", changes=(Change("status", before, openai.ARCHIVED),))
    return build_plan(NETWORK, account, "delete", step, risk="destructive", warnings=(*warnings, ARCHIVE_WARNING))


# -- edit ---------------------------------------------------------------------------------------------------------

IMAGE_MEMBERS = {"imageUrl": "image_url", "existingId": "file_id"}


def _check_image(edit: Edit) -> Iterator[Issue]:
    """Check the image of an edit's creative."""
    if "imageUrl" in edit.creative and (error := find_url_error(edit.creative["imageUrl"])) is not None:
        yield Issue("creative.imageUrl", "invalid", f"OpenAI: {error}.")
    if IMAGE_MEMBERS.keys() <= edit.creative.keys():
        yield Issue("creative.existingId", "conflict", "Give the image by imageUrl or by existingId.")


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    targeting, changes = merge_targeting(kind, entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def _edit_image(entity: NativeEntity, edit: Edit, body: Body) -> tuple[Body, list[Change], Step | None]:
    """Return the creative with the image of the edit, and the step that uploads the image, if it is new."""
    if IMAGE_MEMBERS.keys().isdisjoint(edit.creative):
        return body, [], None
    card = body.get("creative") or get_writable_members(entity, "creative", openai.CREATIVE_MEMBERS)
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
    return body | {"creative": card}, [Change("imageUrl", before, url)], _build_image_step(url)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields, targeting and creative of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    raise_if_issues(_check_image(edit))
    entity = (yield from fetch_entity(account, kind, entity_id)).native
    _ensure_not_archived(kind, entity.get("status"))
    # An edit has a bid per thousand impressions, the native bid is for one.
    unit = openai.get_impression_bid_unit if is_bid_per_thousand(entity) else NETWORK.get_money_unit
    members, changes = lifecycle.merge_edit(
        *(evolve(NETWORK, get_money_unit=unit), account, kind, entity, edit, now, check_conflicts),
        merge_targeting=_edit_targeting,
    )
    members, image_changes, upload = _edit_image(entity, edit, members)
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, [*changes, *image_changes])
    steps = [step]
    if upload is not None:
        steps = [upload, evolve(step, bindings=(Binding("/body/creative/file_id", IMAGE_KEY, ID_OUTPUT),))]
    warnings = (REVIEW_WARNING,) if "creative" in members else ()
    risk = assess_risk(NETWORK, kind, step.changes)
    return build_plan(NETWORK, account, "edit", *steps, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check nothing: the plan has already read the conversion event, and OpenAI has no list of files."""
    nothing: tuple[list[Issue], list[str]] = ([], [])
    return (yield from completed_flow(nothing))
