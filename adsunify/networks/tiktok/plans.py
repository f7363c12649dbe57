"""Changes at TikTok as plans: everything is created with ``operation_status`` DISABLE, ads are activated first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from functools import cache, partial

from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk, require_change
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import Account, get_level, is_number, to_native_amount
from adsunify.errors import Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Expectation,
    ItemBatch,
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
from adsunify.values.json_pointer import get_value, parse_id, require_id, set_value, split_pointer

from . import native as tiktok
from .reads import fetch_editable_entity, fetch_entity, get_entity_flow
from .settings import check_conflicts, check_smart_plus_edit
from .tables import NETWORK, WRITABLE_STATUSES
from .tables import get_account_flow as create_flow
from .targeting import BriefLookups, ensure_video_usable, fetch_brief_lookups, fetch_suggested_cover, merge_targeting

ID_OUTPUT, IMAGE_OUTPUT = "id", "image_id"
COVER_KEY = "cover"
REQUEST_ID_MARK = IdempotencyMark("/body/request_id")
SUCCESS_PROMISES = (Expectation("/body/code", tiktok.SUCCESS_CODE),)
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


@cache
def _build_path(flow: tiktok.CreateFlow, kind: Kind, verb: str) -> str:
    return f"{tiktok.PATH_PREFIXES[flow]}/{tiktok.RESOURCES[kind]}/{verb}/"


def _get_id_member(flow: tiktok.CreateFlow, kind: Kind) -> str:
    return tiktok.SMART_AD_ID_MEMBER if flow == tiktok.SMART_PLUS_FLOW and kind == "ad" else tiktok.ID_MEMBERS[kind]


def _build_create_step(
    account: Account, flow: tiktok.CreateFlow, kind: Kind, does: str, body: Body, *bindings: Binding
) -> Step:
    """A step that makes one entity. API for Business: an ad has no request_id, so nothing tells a repeat."""
    request = tiktok.build_account_write_request(account, _build_path(flow, kind, "create"), body)
    marks = () if kind == "ad" else (REQUEST_ID_MARK,)
    outputs = _get_created_outputs(flow, kind)
    return Step(
        kind, kind, does, request, bindings=bindings, outputs=outputs, expectations=SUCCESS_PROMISES, marks=marks
    )


@cache
def _get_created_outputs(flow: tiktok.CreateFlow, kind: Kind) -> tuple[Output, ...]:
    at = (
        "/body/data/ad_ids/0"
        if (flow, kind) == (tiktok.MANUAL_FLOW, "ad")
        else f"/body/data/{_get_id_member(flow, kind)}"
    )
    return (Output(ID_OUTPUT, (at,), is_text_only=True),)


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _build_upload_step(account: Account, image_url: str) -> Step:
    body = {"upload_type": tiktok.BY_URL, "image_url": image_url}
    request = tiktok.build_account_write_request(account, "/file/image/ad/upload/", body, "multipart")
    return Step(
        COVER_KEY,
        "creative",
        "Let TikTok fetch the cover into the account's images.",
        request,
        outputs=(Output(IMAGE_OUTPUT, ("/body/data/image_id",), is_text_only=True),),
        expectations=SUCCESS_PROMISES,
        marks=(IdempotencyMark("/body/file_name", prefix="cover-"),),  # API for Business: a name is taken once
    )


def _build_campaign(flow: tiktok.CreateFlow, brief: CampaignBrief) -> Body:
    body: Body = {"campaign_name": brief.name, "objective_type": tiktok.TRAFFIC}
    if flow == tiktok.MANUAL_FLOW:
        body["budget_mode"] = tiktok.NO_BUDGET
    body |= {"budget_optimize_on": False, "operation_status": tiktok.DISABLE}
    if brief.platform.special_ad_categories:
        body["special_industries"] = list(brief.platform.special_ad_categories)
    return body


def _build_ad_group(account: Account, flow: tiktok.CreateFlow, brief: CampaignBrief, found: BriefLookups) -> Body:
    unit, end = tiktok.get_money_unit(account), brief.schedule.end
    assert end is not None
    targeting = dict(brief.targeting.native or {}) if found.locations is None else {"location_ids": found.locations}
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


def _build_identity(brief: CampaignBrief, found: BriefLookups) -> Body:
    body: Body = {"identity_type": brief.platform.identity_type, "identity_id": brief.platform.identity_id}
    return body if found.business_center is None else body | {"identity_authorized_bc_id": found.business_center}


def _build_ad_only_members(brief: CampaignBrief) -> Body:
    """API for Business: shown as an ad only; without it the ad's post would stand on the profile."""
    return {"dark_post_status": tiktok.ON} if brief.platform.identity_type in tiktok.TIKTOK_ACCOUNTS else {}


def _build_manual_ad(brief: CampaignBrief, found: BriefLookups) -> Body:
    creative: Body = {
        "ad_name": brief.name,
        "ad_format": tiktok.SINGLE_VIDEO,
        **_build_identity(brief, found),
        "video_id": brief.creative.existing_id,
        "image_ids": [] if found.cover is None else [found.cover],
        "ad_text": brief.creative.body,
        "call_to_action": tiktok.LEARN_MORE,
        "landing_page_url": brief.creative.url,
        **_build_ad_only_members(brief),
        "operation_status": tiktok.DISABLE,
    }
    return {"creatives": [creative]}


def _build_smart_ad(brief: CampaignBrief, found: BriefLookups) -> Body:
    creative: Body = {
        "ad_format": tiktok.SINGLE_VIDEO,
        "video_info": {"video_id": brief.creative.existing_id},
        "image_info": [{} if found.cover is None else {"web_uri": found.cover}],
        **_build_identity(brief, found),
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
    """Campaign, ad group with budget, schedule and targeting, and one video ad; all paused."""
    found = yield from fetch_brief_lookups(NETWORK, account, brief)
    flow = create_flow(account)
    called = "manual flow" if flow == tiktok.MANUAL_FLOW else "Upgraded Smart+ flow"
    steps = [] if brief.creative.image_url is None else [_build_upload_step(account, brief.creative.image_url)]
    does = f"Create the campaign in the {called}, paused."
    steps.append(_build_create_step(account, flow, "campaign", does, _build_campaign(flow, brief)))
    does = "Create the ad group with budget, schedule and targeting, paused."
    in_campaign = Binding("/body/campaign_id", "campaign", ID_OUTPUT)
    steps.append(
        _build_create_step(account, flow, "adGroup", does, _build_ad_group(account, flow, brief, found), in_campaign)
    )
    bindings = [Binding("/body/adgroup_id", "adGroup", ID_OUTPUT)]
    if brief.creative.image_url is not None:
        bindings.append(Binding(COVER_POINTERS[flow], COVER_KEY, IMAGE_OUTPUT))
    ad = _build_manual_ad(brief, found) if flow == tiktok.MANUAL_FLOW else _build_smart_ad(brief, found)
    steps.append(_build_create_step(account, flow, "ad", "Create the video ad, paused.", ad, *bindings))
    return _make_plan(account, "create", *steps, warnings=tuple(_collect_warnings(account, brief, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(
    account: Account,
    flow: tiktok.CreateFlow,
    kind: Kind,
    entity_id: str,
    native: str,
    does: str,
    *,
    key: str = "",
    action: StepAction = "update",
    changes: Sequence[Change] = (),
) -> Step:
    name = f"{_get_id_member(flow, kind)}s"
    body: Body = {name: [entity_id], "operation_status": native}
    if (flow, kind) == (tiktok.MANUAL_FLOW, "adGroup"):
        body["allow_partial_success"] = False
    request = tiktok.build_account_write_request(account, _build_path(flow, kind, "status/update"), body)
    answered = ItemBatch(f"/body/{name}", ID_OUTPUT, sent=name.removesuffix("s"), many=False)
    return Step(
        key or kind, kind, does, request, action, entity_id, items=answered, expectations=(), changes=tuple(changes)
    )


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, ad group, campaign, in the flow that made them; what holds all of them is switched on last."""
    smart = f"{tiktok.PATH_PREFIXES[tiktok.SMART_PLUS_FLOW]}/" in source.get_step("campaign").request.url
    flow = tiktok.SMART_PLUS_FLOW if smart else tiktok.MANUAL_FLOW
    kinds: tuple[Kind, ...] = ("ad", "adGroup", "campaign")
    steps = [
        _build_status_step(
            account,
            flow,
            kind,
            str(outputs[kind][ID_OUTPUT]),
            tiktok.ENABLE,
            f"Set the {tiktok.KIND_NAMES[kind]} {outputs[kind][ID_OUTPUT]} to active.",
            key=f"activate_{kind}",
        )
        for kind in kinds
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def _get_native_id(found: ParsedEntity, flow: tiktok.CreateFlow, kind: Kind) -> str:
    """The id by which the endpoints of its flow know the entity."""
    return require_id(found.native, f"/{_get_id_member(flow, kind)}", tiktok.KIND_NAMES[kind])


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused, in the flow that it was made in."""
    get_level(NETWORK, kind)
    if status not in WRITABLE_STATUSES:
        raise invalid_input("status", "choice", f"TikTok sets these: {', '.join(WRITABLE_STATUSES)}.")
    found = yield from fetch_entity(account, kind, entity_id)
    flow = get_entity_flow(found)
    if found.status == "deleted":
        raise invalid_input("entityId", "not_supported", "TikTok does not change the status of what is deleted.")
    does = f"Set the {tiktok.KIND_NAMES[kind]} {entity_id} to {status}."
    change = Change("status", found.status, status)
    native_id = _get_native_id(found, flow, kind)
    step = _build_status_step(account, flow, kind, native_id, WRITABLE_STATUSES[status], does, changes=(change,))
    return _make_plan(account, "status", step, risk="spend" if status == "active" else "low")


# -- native -------------------------------------------------------------------------------------------------------


def _check_payload(account: Account, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    if "request_id" in payload:
        yield Issue("payload.request_id", "not_supported", "It follows from the operation, so that a repeat is known.")
    if payload.get("advertiser_id", account.native_id) != account.native_id:
        yield Issue("payload.advertiser_id", "conflict", "It names another account.")


def _build_parent_member(kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    one = get_level(NETWORK, kind)
    name = one.parent.removeprefix("/")
    if not name:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", "A campaign of TikTok has no parent.")
        return {}
    said = parse_id(payload.get(name))
    if said is None and parent_id is None:
        raise invalid_input(
            "parentId", "required", f"Name the {tiktok.KIND_NAMES['campaign' if kind == 'adGroup' else 'adGroup']}."
        )
    if said is not None and parent_id is not None and said != parent_id:
        raise invalid_input("parentId", "conflict", f"payload.{name} names another one.")
    return {name: parent_id or said}


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native parameters, in the account's create flow; paused where they do not say."""
    get_level(NETWORK, kind)
    issues = list(_check_payload(account, payload))
    status = payload.get("operation_status", tiktok.DISABLE)
    if status not in tiktok.CREATE_STATUSES:
        message = f"TikTok makes these: {', '.join(tiktok.CREATE_STATUSES)}."
        issues.append(Issue("payload.operation_status", "choice", message))
    raise_if_issues(issues)
    flow, parent = create_flow(account), _build_parent_member(kind, payload, parent_id)
    own = {name: value for name, value in payload.items() if name not in ("advertiser_id", *parent)}
    own["operation_status"] = status
    body = {**parent, "creatives": [own]} if (flow, kind) == (tiktok.MANUAL_FLOW, "ad") else {**parent, **own}
    active = status == tiktok.ENABLE
    does = f"Create the {tiktok.KIND_NAMES[kind]} from native parameters, {'active' if active else 'paused'}."
    step = _build_create_step(account, flow, kind, does, body)
    unlisted = flow == tiktok.SMART_PLUS_FLOW and payload.get("objective_type") == tiktok.TRAFFIC
    # A native create is not held against the present: the warning names the day itself.
    warnings = (MANUAL_END_WARNING,) if flow == tiktok.MANUAL_FLOW else (SMART_PLUS_WARNING,) if unlisted else ()
    return (
        yield from completed_flow(
            _make_plan(account, "create", step, risk="spend" if active else "low", warnings=warnings)
        )
    )


def _build_update_step(
    account: Account, flow: tiktok.CreateFlow, kind: Kind, found: ParsedEntity, body: Body, does: str, *changes: Change
) -> Step:
    """A step that changes one entity; ``body`` holds the changed members (of a manual ad, those of its creative)."""
    native_id = _get_native_id(found, flow, kind)
    whole: Body = {_get_id_member(flow, kind): native_id, **body}
    if (flow, kind) == (tiktok.MANUAL_FLOW, "ad"):
        whole = {"adgroup_id": require_id(found.native, "/adgroup_id", "ad")}
        if set(body) <= tiktok.PATCHABLE_AD_MEMBERS:
            whole |= {"patch_update": True, "creatives": [{"ad_id": native_id, **body}]}
        else:  # API for Business: without patch_update the creative is replaced, so all of it is sent
            kept = {name: found.native[name] for name in sorted(tiktok.CREATIVE_MEMBERS & set(found.native))}
            kept = {name: value for name, value in kept.items() if value not in (None, "", [])}
            whole["creatives"] = [{**kept, **body, "ad_id": native_id}]
    request = tiktok.build_account_write_request(account, _build_path(flow, kind, "update"), whole)
    return Step(
        kind, kind, does, request, "update", native_id, found.parent_id, expectations=SUCCESS_PROMISES, changes=changes
    )


def _is_raised(found: ParsedEntity, payload: Mapping[str, Json]) -> bool:
    """Whether an amount is raised, or set where there was none."""
    for name in tiktok.MONEY_MEMBERS & set(payload):
        before, after = found.native.get(name), payload[name]
        if not (is_number(before) and is_number(after) and after <= before):
            return True
    return False


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native parameters of one entity changed; others stay as they are."""
    one = get_level(NETWORK, kind)
    issues = list(_check_payload(account, payload))
    if "operation_status" in payload:
        message = "An update does not take it; change the status instead."
        issues.append(Issue("payload.operation_status", "not_supported", message))
    if parent_id is not None and not one.parent:
        issues.append(Issue("parentId", "not_supported", "A campaign of TikTok has no parent."))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one parameter to change."))
    raise_if_issues(issues)
    found = yield from fetch_entity(account, kind, entity_id)
    flow = get_entity_flow(found)
    ids = {"advertiser_id": account.native_id, one.id.removeprefix("/"): entity_id}
    ids[_get_id_member(flow, kind)] = _get_native_id(found, flow, kind)
    if one.parent:
        ids[one.parent.removeprefix("/")] = found.parent_id or ""
    for name, known in ids.items():
        if payload.get(name, known) != known:
            raise invalid_input(f"payload.{name}", "conflict", "It names another entity.")
    if parent_id is not None and parent_id != found.parent_id:
        raise invalid_input("parentId", "conflict", "The entity has another parent.")
    body = {name: value for name, value in payload.items() if name not in ids}
    does = f"Change {', '.join(payload)} of the {tiktok.KIND_NAMES[kind]} {entity_id}."
    changes = [Change(name, found.native.get(name), value) for name, value in body.items()]
    step = _build_update_step(account, flow, kind, found, body, does, *changes)
    return _make_plan(account, "update", step, risk="spend" if _is_raised(found, body) else "low")


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it: a change of status."""
    get_level(NETWORK, kind)
    found = yield from fetch_entity(account, kind, entity_id)
    flow = get_entity_flow(found)
    does = f"Delete the {tiktok.KIND_NAMES[kind]} {entity_id} and all below it; this cannot be undone."
    change = Change("status", found.status, "deleted")
    native_id = _get_native_id(found, flow, kind)
    step = _build_status_step(account, flow, kind, native_id, tiktok.DELETE, does, action="delete", changes=(change,))
    return _make_plan(account, "delete", step, risk="destructive")


# -- edit ---------------------------------------------------------------------------------------------------------


EditPart = tuple[Body, tuple[Change, ...]]


def _edit_creative(
    account: Account, kind: Kind, found: ParsedEntity, flow: tiktok.CreateFlow, edit: Edit, now: datetime | None
) -> EditPart:
    """The cover; the other members of ``creative`` are fields of the ad."""
    if "imageHash" not in edit.creative:
        return {}, ()
    if flow == tiktok.SMART_PLUS_FLOW:
        raise invalid_input("creative.imageHash", "not_supported", "Change a Smart+ ad's creative_list natively.")
    cover = [edit.creative["imageHash"]]
    change = Change("creative.imageHash", found.native.get("image_ids"), cover)
    return {"image_ids": cover}, (require_change(change, "creative.imageHash"),)


def _edit_fields(
    account: Account, kind: Kind, found: ParsedEntity, flow: tiktok.CreateFlow, edit: Edit, now: datetime | None
) -> EditPart:
    done = apply_edit(NETWORK, account, kind, found.native, edit, now)
    whole = deepcopy(dict(found.native))
    for pointer, value in done.native.items():
        set_value(whole, pointer, value)
    members = {split_pointer(pointer)[0] for pointer in done.native}
    return {name: whole[name] for name in sorted(members)}, done.changes


def _edit_targeting(
    account: Account, kind: Kind, found: ParsedEntity, flow: tiktok.CreateFlow, edit: Edit, now: datetime | None
) -> EditPart:
    if not edit.targeting:
        return {}, ()
    spec = get_value(found.native, "/targeting_spec") if flow == tiktok.SMART_PLUS_FLOW else found.native
    current = spec if isinstance(spec, Mapping) else {}
    members, changes = merge_targeting(kind, current, edit.targeting)
    body = {"targeting_spec": {**current, **members}} if flow == tiktok.SMART_PLUS_FLOW else members
    return body, tuple(changes)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and creative of one entity in one write, held against what it is now."""
    check_edit(NETWORK, kind, edit)
    found = yield from fetch_editable_entity(account, kind, entity_id)
    flow = get_entity_flow(found)
    body, changes = merge_edit_parts(
        partial(part, account, kind, found, flow, edit, now) for part in (_edit_creative, _edit_fields, _edit_targeting)
    )
    raise_if_issues(
        [*check_conflicts(account, kind, found.native, body, edit, now), *check_smart_plus_edit(kind, flow, body)]
    )
    if "video_id" in body:
        path = "creative.existingId" if "existingId" in edit.creative else "fields.existingId"
        yield from ensure_video_usable(NETWORK, account, body["video_id"], path)
        if "image_ids" not in body:  # the cover has to be of the video's own shape
            body["image_ids"] = [(yield from fetch_suggested_cover(NETWORK, account, body["video_id"]))]
    does = f"Change {', '.join(change.field for change in changes)} of the {tiktok.KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(account, flow, kind, found, body, does, *changes)
    warnings = ("The ad goes to review again.",) if kind == "ad" and set(body) != {"ad_name"} else ()
    return _make_plan(account, "edit", step, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Nothing more: video, identity, cover and places are read for the plan itself."""
    return (yield from completed_flow(([], [])))
