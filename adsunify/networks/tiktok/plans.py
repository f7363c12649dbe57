"""Changes at TikTok as plans. Entities are created with ``operation_status`` DISABLE; ads are activated first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import datetime
from functools import cache, partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import EditPart, check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk, require_change
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.lifecycle import ID_OUTPUT, bind_parent, build_plan, check_same_id, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, get_level
from adsunify.errors import Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import Binding, Change, Expectation, ItemBatch, Kind, Output, Outputs, Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value, require_id, set_value, split_pointer

from . import native as tiktok
from .reads import fetch_editable_entity, fetch_entity, get_entity_flow
from .settings import check_conflicts, check_smart_plus_edit
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK
from .tables import get_account_flow as create_flow
from .targeting import BriefLookups, ensure_video_usable, fetch_brief_lookups, fetch_suggested_cover, merge_targeting

IMAGE_OUTPUT = "image_id"
COVER_KEY = "cover"
REQUEST_ID_MARK = IdempotencyMark("/body/request_id")
SUCCESS = (Expectation("/body/code", tiktok.SUCCESS_CODE),)
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


@cache
def _build_path(flow: tiktok.CreateFlow, level: Level, verb: str) -> str:
    return f"{tiktok.PATH_PREFIXES[flow]}/{level.path}/{verb}/"


def _get_id_member(flow: tiktok.CreateFlow, level: Level) -> str:
    return tiktok.SMART_AD_ID_MEMBER if flow == tiktok.SMART_PLUS_FLOW and level is AD else level.id.removeprefix("/")


def _is_manual_ad(flow: tiktok.CreateFlow, level: Level) -> bool:
    """Return whether the endpoint takes a list of creatives."""
    return flow == tiktok.MANUAL_FLOW and level is AD


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity in the account's flow.

    API for Business: the create of an ad takes no request_id.
    """
    flow = create_flow(account)
    request = tiktok.build_post_write_request(account, _build_path(flow, level, "create"), members)
    return Step(
        *(level.kind, level.kind, does, request),
        bindings=bindings,
        outputs=_get_flow_outputs(flow, level),
        expectations=SUCCESS,
        marks=() if level is AD else (REQUEST_ID_MARK,),
    )


@cache
def _get_flow_outputs(flow: tiktok.CreateFlow, level: Level) -> tuple[Output, ...]:
    at = "/body/data/ad_ids/0" if _is_manual_ad(flow, level) else f"/body/data/{_get_id_member(flow, level)}"
    return (Output(ID_OUTPUT, (at,), is_text_only=True),)


def _build_flow_status_step(
    account: Account, flow: tiktok.CreateFlow, level: Level, native_id: str, does: str, native_status: str
) -> Step:
    """Build a step that sets a status by the endpoint of the flow that created the entity."""
    member = _get_id_member(flow, level)
    body: Body = {f"{member}s": [native_id], "operation_status": native_status}
    if flow == tiktok.MANUAL_FLOW and level is AD_GROUP:
        body["allow_partial_success"] = False
    request = tiktok.build_post_write_request(account, _build_path(flow, level, "status/update"), body)
    items = ItemBatch(f"/body/{member}s", ID_OUTPUT, sent=member, many=False)
    return Step(level.kind, level.kind, does, request, "update", native_id, items=items)


def _get_native_id(entity: ParsedEntity, level: Level) -> str:
    """Return the entity's ID in the endpoints of its flow."""
    return require_id(entity.native, f"/{_get_id_member(get_entity_flow(entity), level)}", level.label)


def _build_entity_update_step(account: Account, level: Level, entity: ParsedEntity, does: str, members: Body) -> Step:
    """Build a step that changes members of one entity (of a manual ad, members of its creative)."""
    flow, native_id = get_entity_flow(entity), _get_native_id(entity, level)
    body: Body = {_get_id_member(flow, level): native_id, **members}
    if _is_manual_ad(flow, level):
        body = {"adgroup_id": require_id(entity.native, "/adgroup_id", "ad")}
        if set(members) <= tiktok.PATCHABLE_AD_MEMBERS:
            body |= {"patch_update": True, "creatives": [{"ad_id": native_id, **members}]}
        else:  # without patch_update TikTok replaces the creative, so all its members are sent
            current = {name: entity.native[name] for name in sorted(tiktok.CREATIVE_MEMBERS & set(entity.native))}
            current = {name: value for name, value in current.items() if value not in (None, "", [])}
            body["creatives"] = [{**current, **members, "ad_id": native_id}]
    request = tiktok.build_post_write_request(account, _build_path(flow, level, "update"), body)
    return Step(level.kind, level.kind, does, request, "update", native_id, entity.parent_id, expectations=SUCCESS)


# -- create -------------------------------------------------------------------------------------------------------


def _build_upload_step(account: Account, image_url: str) -> Step:
    body = {"upload_type": tiktok.BY_URL, "image_url": image_url}
    request = tiktok.build_post_write_request(account, "/file/image/ad/upload/", body, "multipart")
    return Step(
        COVER_KEY,
        "creative",
        "Let TikTok fetch the cover into the account's images.",
        request,
        outputs=(Output(IMAGE_OUTPUT, ("/body/data/image_id",), is_text_only=True),),
        expectations=SUCCESS,
        marks=(IdempotencyMark("/body/file_name", prefix="cover-"),),  # API for Business: file names are unique
    )


def _build_campaign_of_flow(flow: tiktok.CreateFlow, brief: CampaignBrief) -> Body:
    body: Body = {"campaign_name": brief.name, "objective_type": tiktok.TRAFFIC}
    if flow == tiktok.MANUAL_FLOW:
        body["budget_mode"] = tiktok.NO_BUDGET
    body |= {"budget_optimize_on": False, "operation_status": tiktok.DISABLE}
    if brief.platform.special_ad_categories:
        body["special_industries"] = list(brief.platform.special_ad_categories)
    return body


def _build_ad_group_of_flow(
    account: Account, flow: tiktok.CreateFlow, brief: CampaignBrief, lookups: BriefLookups
) -> Body:
    unit, end = tiktok.get_money_unit(account), brief.schedule.end
    assert end is not None
    targeting = dict(brief.targeting.native or {}) if lookups.locations is None else {"location_ids": lookups.locations}
    body: Body = {
        "adgroup_name": brief.name,
        "promotion_type": tiktok.WEBSITE,
        "placement_type": tiktok.CHOSEN_PLACEMENTS,
        "placements": [tiktok.TIKTOK_PLACEMENT],
        "budget_mode": tiktok.BUDGET_MODES[brief.budget.period],
        "budget": to_native_amount(unit, brief.budget.amount, "budget.amount"),
        "schedule_type": tiktok.START_END_SCHEDULE,
        "schedule_start_time": tiktok.TIME.format(brief.schedule.start),
        "schedule_end_time": tiktok.TIME.format(end),
        "optimization_goal": tiktok.CLICK,
        "billing_event": tiktok.COST_PER_CLICK,
        "bid_type": tiktok.NO_BID if brief.bid is None else tiktok.CUSTOM_BID,
    }
    if brief.bid is not None:
        body["bid_price"] = to_native_amount(unit, brief.bid, "bid")
    if flow == tiktok.SMART_PLUS_FLOW:
        body |= {"targeting_optimization_mode": tiktok.NO_AUDIENCE_EXPANSION, "targeting_spec": targeting}
    else:
        body |= {**targeting, "pacing": tiktok.SMOOTH}
    return body | {"operation_status": tiktok.DISABLE}


def _build_identity(brief: CampaignBrief, lookups: BriefLookups) -> Body:
    body: Body = {"identity_type": brief.platform.identity_type, "identity_id": brief.platform.identity_id}
    return body if lookups.business_center is None else body | {"identity_authorized_bc_id": lookups.business_center}


def _build_ad_only_members(brief: CampaignBrief) -> Body:
    """Return the member that keeps a post off the profile, so that it is only an ad (API for Business)."""
    return {"dark_post_status": tiktok.ON} if brief.platform.identity_type in tiktok.TIKTOK_ACCOUNTS else {}


def _build_manual_ad(brief: CampaignBrief, lookups: BriefLookups) -> Body:
    creative: Body = {
        "ad_name": brief.name,
        "ad_format": tiktok.SINGLE_VIDEO,
        **_build_identity(brief, lookups),
        "video_id": brief.creative.existing_id,
        "image_ids": [] if lookups.cover is None else [lookups.cover],
        "ad_text": brief.creative.body,
        "call_to_action": tiktok.LEARN_MORE,
        "landing_page_url": brief.creative.url,
        **_build_ad_only_members(brief),
        "operation_status": tiktok.DISABLE,
    }
    return {"creatives": [creative]}


def _build_smart_ad(brief: CampaignBrief, lookups: BriefLookups) -> Body:
    creative: Body = {
        "ad_format": tiktok.SINGLE_VIDEO,
        "video_info": {"video_id": brief.creative.existing_id},
        "image_info": [{} if lookups.cover is None else {"web_uri": lookups.cover}],
        **_build_identity(brief, lookups),
    }
    body: Body = {
        "ad_name": brief.name,
        "operation_status": tiktok.DISABLE,
        "creative_list": [{"creative_info": creative}],
        "ad_text_list": [{"ad_text": brief.creative.body}],
        "call_to_action_list": [{"call_to_action": tiktok.LEARN_MORE}],
        "landing_page_url_list": [{"landing_page_url": brief.creative.url}],
    }
    dark = _build_ad_only_members(brief)
    return body | ({"ad_configuration": dark} if dark else {})


COVER_POINTERS: Mapping[tiktok.CreateFlow, str] = {
    tiktok.MANUAL_FLOW: "/body/creatives/0/image_ids/0",
    tiktok.SMART_PLUS_FLOW: "/body/creative_list/0/creative_info/image_info/0/web_uri",
}


SMART_PLUS_WARNING = (
    "The account's createFlow is smart_plus: TikTok's reference of Upgraded Smart+ does not list the objective TRAFFIC"
    " (unverified), so TikTok may refuse the first step, which leaves nothing behind. createFlow: manual is the other"
    " flow."
)
MANUAL_END_WARNING = (
    "TikTok has announced the end of manual creation for 2026-12-31 and may refuse the first step, which leaves nothing"
    " behind. createFlow: smart_plus is the other flow."
)


def _collect_warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if create_flow(account) == tiktok.SMART_PLUS_FLOW:
        yield SMART_PLUS_WARNING
    elif now is not None and now >= tiktok.MANUAL_CREATION_END:
        yield MANUAL_END_WARNING
    if tiktok.get_money_unit(account).assumption:
        yield tiktok.get_money_unit(account).assumption
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: once activated, the ad runs at once."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign, an ad group with budget, schedule and targeting, and one video ad, all paused."""
    lookups = yield from fetch_brief_lookups(NETWORK, account, brief)
    flow = create_flow(account)
    flow_name = "manual flow" if flow == tiktok.MANUAL_FLOW else "Upgraded Smart+ flow"
    steps = [] if brief.creative.image_url is None else [_build_upload_step(account, brief.creative.image_url)]
    does = f"Create the campaign in the {flow_name}, paused."
    steps.append(_build_create_step(account, CAMPAIGN, does, _build_campaign_of_flow(flow, brief)))
    does = "Create the ad group with budget, schedule and targeting, paused."
    in_campaign = bind_parent(AD_GROUP)
    ad_group = _build_ad_group_of_flow(account, flow, brief, lookups)
    steps.append(_build_create_step(account, AD_GROUP, does, ad_group, in_campaign))
    bindings = [bind_parent(AD)]
    if brief.creative.image_url is not None:
        bindings.append(Binding(COVER_POINTERS[flow], COVER_KEY, IMAGE_OUTPUT))
    ad = _build_manual_ad(brief, lookups) if flow == tiktok.MANUAL_FLOW else _build_smart_ad(brief, lookups)
    steps.append(_build_create_step(account, AD, "Create the video ad, paused.", ad, *bindings))
    return build_plan(NETWORK, account, "create", *steps, warnings=tuple(_collect_warnings(account, brief, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Plan the activation of ad, ad group and campaign, in the flow that created them."""
    is_smart = f"{tiktok.PATH_PREFIXES[tiktok.SMART_PLUS_FLOW]}/" in source.get_step("campaign").request.url
    flow = tiktok.SMART_PLUS_FLOW if is_smart else tiktok.MANUAL_FLOW

    def build_step(account: Account, level: Level, entity_id: str, status: str) -> Step:
        does = f"Set the {level.label} {entity_id} to {status}."
        return _build_flow_status_step(account, flow, level, entity_id, does, level.writable_statuses[status])

    return lifecycle.plan_activate(NETWORK, build_step, account, source, outputs)


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused, in the flow that created it."""
    level = get_level(NETWORK, kind)
    lifecycle.ensure_writable_status(NETWORK, level, status)
    entity = yield from fetch_entity(account, kind, entity_id)
    flow = get_entity_flow(entity)
    does, native_id = f"Set the {level.label} {entity_id} to {status}.", _get_native_id(entity, level)
    step = _build_flow_status_step(account, flow, level, native_id, does, level.writable_statuses[status])
    step = evolve(step, changes=(Change("status", entity.status, status),))
    return build_plan(NETWORK, account, "status", step, risk=lifecycle.assess_status_risk(status))


# -- native -------------------------------------------------------------------------------------------------------


def _check_payload(account: Account, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """Yield an issue for each member that contradicts the operation or the account."""
    if "request_id" in payload:
        yield Issue("payload.request_id", "not_supported", "It follows from the operation, so that a repeat is known.")
    yield from check_same_id(payload, "advertiser_id", account.native_id, "the account")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity in the account's create flow. It is paused unless the payload says otherwise."""
    level, flow = get_level(NETWORK, kind), create_flow(account)
    issues = _check_payload(account, payload)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, issues)
    members = {name: value for name, value in create.members.items() if name != "advertiser_id"}
    if _is_manual_ad(flow, level):
        parent = lifecycle.get_parent_member(level)
        members = {parent: members.pop(parent), "creatives": [members]}
    does = f"Create the {level.label} from native parameters, {'active' if create.is_active else 'paused'}."
    step = _build_create_step(account, level, does, members)
    is_unlisted = flow == tiktok.SMART_PLUS_FLOW and payload.get("objective_type") == tiktok.TRAFFIC
    # This function does not know the time, so the plan always has the warning, which names the date.
    warnings = (MANUAL_END_WARNING,) if flow == tiktok.MANUAL_FLOW else (SMART_PLUS_WARNING,) if is_unlisted else ()
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk, warnings=warnings))


def _check_update(
    account: Account, level: Level, payload: Mapping[str, Json], parent_id: str | None
) -> Iterator[Issue]:
    yield from lifecycle.check_native_update(NETWORK, level, payload, parent_id)
    yield from _check_payload(account, payload)
    if "operation_status" in payload:
        message = "An update does not take it; change the status instead."
        yield Issue("payload.operation_status", "not_supported", message)


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native parameters of one entity. Other parameters stay unchanged."""
    level = get_level(NETWORK, kind)
    raise_if_issues(_check_update(account, level, payload, parent_id))
    entity = yield from fetch_entity(account, kind, entity_id)
    ids = {"advertiser_id": account.native_id, level.id.removeprefix("/"): entity_id}
    ids[_get_id_member(get_entity_flow(entity), level)] = _get_native_id(entity, level)
    if level.parent:
        ids[lifecycle.get_parent_member(level)] = entity.parent_id or ""
    raise_if_issues(issue for name, value in ids.items() for issue in check_same_id(payload, name, value, "the entity"))
    if parent_id is not None and parent_id != entity.parent_id:
        raise invalid_input("parentId", "conflict", "The entity has another parent.")
    members = {name: value for name, value in payload.items() if name not in ids}
    does = lifecycle.describe_update(level, entity_id, payload)
    step = _build_entity_update_step(account, level, entity, does, members)
    changes = tuple(Change(name, entity.native.get(name), value) for name, value in members.items())
    return build_plan(NETWORK, account, "update", evolve(step, changes=changes))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the deletion of one entity and of all entities below it, by a change of status."""
    level = get_level(NETWORK, kind)
    entity = yield from fetch_entity(account, kind, entity_id)
    does = f"Delete the {level.label} {entity_id} and all below it; this cannot be undone."
    flow, native_id = get_entity_flow(entity), _get_native_id(entity, level)
    step = _build_flow_status_step(account, flow, level, native_id, does, tiktok.DELETE)
    step = evolve(step, action="delete", changes=(Change("status", entity.status, "deleted"),))
    return build_plan(NETWORK, account, "delete", step, risk="destructive")


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_ad_creative(entity: ParsedEntity, edit: Edit) -> EditPart:
    """Return the change of the cover. The other members of ``creative`` are fields of the ad."""
    if "imageHash" not in edit.creative:
        return {}, ()
    if get_entity_flow(entity) == tiktok.SMART_PLUS_FLOW:
        raise invalid_input("creative.imageHash", "not_supported", "Change a Smart+ ad's creative_list natively.")
    cover = [edit.creative["imageHash"]]
    change = Change("creative.imageHash", entity.native.get("image_ids"), cover)
    return {"image_ids": cover}, (require_change(change, "creative.imageHash"),)


def _edit_fields(account: Account, kind: Kind, entity: ParsedEntity, edit: Edit, now: datetime | None) -> EditPart:
    result = apply_edit(NETWORK, account, kind, entity.native, edit, now)
    changed = deepcopy(dict(entity.native))
    for pointer, value in result.native.items():
        set_value(changed, pointer, value)
    names = {split_pointer(pointer)[0] for pointer in result.native}
    return {name: changed[name] for name in sorted(names)}, result.changes


def _edit_targeting(kind: Kind, entity: ParsedEntity, edit: Edit) -> EditPart:
    if not edit.targeting:
        return {}, ()
    is_smart = get_entity_flow(entity) == tiktok.SMART_PLUS_FLOW
    targeting = get_value(entity.native, "/targeting_spec") if is_smart else entity.native
    current = targeting if isinstance(targeting, Mapping) else {}
    members, changes = merge_targeting(kind, current, edit.targeting)
    return {"targeting_spec": {**current, **members}} if is_smart else members, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields, targeting and creative of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = yield from fetch_editable_entity(account, kind, entity_id)
    flow = get_entity_flow(entity)
    members, changes = merge_edit_parts(
        [
            partial(_edit_ad_creative, entity, edit),
            partial(_edit_fields, account, kind, entity, edit, now),
            partial(_edit_targeting, kind, entity, edit),
        ]
    )
    conflicts = check_conflicts(account, kind, entity.native, members, edit, now)
    raise_if_issues([*conflicts, *check_smart_plus_edit(kind, flow, members)])
    if "video_id" in members:
        path = "creative.existingId" if "existingId" in edit.creative else "fields.existingId"
        yield from ensure_video_usable(NETWORK, account, members["video_id"], path)
        if "image_ids" not in members:  # a cover must have the aspect ratio of its video
            members["image_ids"] = [(yield from fetch_suggested_cover(NETWORK, account, members["video_id"]))]
    does = lifecycle.describe_update(level, entity_id, [change.field for change in changes])
    step = evolve(_build_entity_update_step(account, level, entity, does, members), changes=tuple(changes))
    warnings = ("The ad goes to review again.",) if level is AD and set(members) != {"ad_name"} else ()
    return build_plan(NETWORK, account, "edit", step, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check nothing: the plan needs video, identity, cover and places, so :func:`plan_create` has read them."""
    return (yield from completed_flow(([], [])))
