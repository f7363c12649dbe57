"""Changes at TikTok as plans: everything is created with ``operation_status`` DISABLE, ads are activated first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from functools import cache, partial

from adsunify.adapter.edit_members import check_edit, together
from adsunify.adapter.edits import Edit, edited, require_change, risk_of
from adsunify.adapter.flows import settled
from adsunify.adapter.hierarchy import Entity
from adsunify.adapter.network import Account, is_number, level, native_amount
from adsunify.errors import Issue, refuse, refused
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.marks import Mark
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Items,
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
from adsunify.values.json_pointer import ident, identifier, parts, put, read

from . import native as tiktok
from .reads import editable, entity, flow_of
from .settings import beyond_smart, conflicts
from .tables import NETWORK, SETTABLE
from .tables import flow_of as create_flow
from .targeting import Found, found_for, retargeted, suggested, usable

ID, IMAGE = "id", "image_id"
COVER = "cover"
REQUEST_ID = Mark("/body/request_id")
DONE = (Promise("/body/code", tiktok.DONE),)
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


@cache
def _path(flow: tiktok.Create, kind: Kind, verb: str) -> str:
    return f"{tiktok.PREFIX[flow]}/{tiktok.RESOURCES[kind]}/{verb}/"


def _id_name(flow: tiktok.Create, kind: Kind) -> str:
    return tiktok.SMART_AD if flow == tiktok.SMART_PLUS and kind == "ad" else tiktok.IDS[kind]


def _create(account: Account, flow: tiktok.Create, kind: Kind, does: str, body: Body, *bindings: Binding) -> Step:
    """A step that makes one entity. API for Business: an ad has no request_id, so nothing tells a repeat."""
    request = tiktok.posted(account, _path(flow, kind, "create"), body)
    marks = () if kind == "ad" else (REQUEST_ID,)
    outputs = _made(flow, kind)
    return Step(kind, kind, does, request, bindings=bindings, outputs=outputs, promises=DONE, marks=marks)


@cache
def _made(flow: tiktok.Create, kind: Kind) -> tuple[Output, ...]:
    at = "/body/data/ad_ids/0" if (flow, kind) == (tiktok.MANUAL, "ad") else f"/body/data/{_id_name(flow, kind)}"
    return (Output(ID, (at,), text_only=True),)


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _upload(account: Account, image_url: str) -> Step:
    body = {"upload_type": tiktok.BY_URL, "image_url": image_url}
    request = tiktok.posted(account, "/file/image/ad/upload/", body, "multipart")
    return Step(
        COVER,
        "creative",
        "Let TikTok fetch the cover into the account's images.",
        request,
        outputs=(Output(IMAGE, ("/body/data/image_id",), text_only=True),),
        promises=DONE,
        marks=(Mark("/body/file_name", prefix="cover-"),),  # API for Business: a name is taken once
    )


def _campaign(flow: tiktok.Create, brief: CampaignBrief) -> Body:
    body: Body = {"campaign_name": brief.name, "objective_type": tiktok.TRAFFIC}
    if flow == tiktok.MANUAL:
        body["budget_mode"] = tiktok.NO_BUDGET
    body |= {"budget_optimize_on": False, "operation_status": tiktok.DISABLE}
    if brief.platform.special_ad_categories:
        body["special_industries"] = list(brief.platform.special_ad_categories)
    return body


def _ad_group(account: Account, flow: tiktok.Create, brief: CampaignBrief, found: Found) -> Body:
    unit, end = tiktok.unit(account), brief.schedule.end
    assert end is not None
    targeting = dict(brief.targeting.native or {}) if found.locations is None else {"location_ids": found.locations}
    body: Body = {
        "adgroup_name": brief.name,
        "promotion_type": tiktok.WEBSITE,
        "placement_type": tiktok.CHOSEN_PLACEMENTS,
        "placements": [tiktok.ON_TIKTOK],
        "budget_mode": tiktok.BUDGET_MODES[brief.budget.period],
        "budget": native_amount(unit, brief.budget.amount, "budget.amount"),
        "schedule_type": tiktok.START_END,
        "schedule_start_time": tiktok.native_time(brief.schedule.start),
        "schedule_end_time": tiktok.native_time(end),
        "optimization_goal": tiktok.CLICK,
        "billing_event": tiktok.COST_PER_CLICK,
        "bid_type": tiktok.NO_BID if brief.bid is None else tiktok.CUSTOM_BID,
    }
    if brief.bid is not None:
        body["bid_price"] = native_amount(unit, brief.bid, "bid")
    if flow == tiktok.SMART_PLUS:
        body |= {"targeting_optimization_mode": tiktok.NO_WIDENING, "targeting_spec": targeting}
    else:
        body |= {**targeting, "pacing": tiktok.SMOOTH}
    return body | {"operation_status": tiktok.DISABLE}


def _identity(brief: CampaignBrief, found: Found) -> Body:
    body: Body = {"identity_type": brief.platform.identity_type, "identity_id": brief.platform.identity_id}
    return body if found.centre is None else body | {"identity_authorized_bc_id": found.centre}


def _dark(brief: CampaignBrief) -> Body:
    """API for Business: shown as an ad only; without it the ad's post would stand on the profile."""
    return {"dark_post_status": tiktok.ON} if brief.platform.identity_type in tiktok.TIKTOK_ACCOUNTS else {}


def _manual_ad(brief: CampaignBrief, found: Found) -> Body:
    creative: Body = {
        "ad_name": brief.name,
        "ad_format": tiktok.SINGLE_VIDEO,
        **_identity(brief, found),
        "video_id": brief.creative.existing_id,
        "image_ids": [] if found.cover is None else [found.cover],
        "ad_text": brief.creative.body,
        "call_to_action": tiktok.LEARN_MORE,
        "landing_page_url": brief.creative.url,
        **_dark(brief),
        "operation_status": tiktok.DISABLE,
    }
    return {"creatives": [creative]}


def _smart_ad(brief: CampaignBrief, found: Found) -> Body:
    creative: Body = {
        "ad_format": tiktok.SINGLE_VIDEO,
        "video_info": {"video_id": brief.creative.existing_id},
        "image_info": [{} if found.cover is None else {"web_uri": found.cover}],
        **_identity(brief, found),
    }
    body: Body = {
        "ad_name": brief.name,
        "operation_status": tiktok.DISABLE,
        "creative_list": [{"creative_info": creative}],
        "ad_text_list": [{"ad_text": brief.creative.body}],
        "call_to_action_list": [{"call_to_action": tiktok.LEARN_MORE}],
        "landing_page_url_list": [{"landing_page_url": brief.creative.url}],
    }
    dark = _dark(brief)
    return body | ({"ad_configuration": dark} if dark else {})


COVER_AT: Mapping[tiktok.Create, str] = {
    tiktok.MANUAL: "/body/creatives/0/image_ids/0",
    tiktok.SMART_PLUS: "/body/creative_list/0/creative_info/image_info/0/web_uri",
}


SMART_PLUS_UNLISTED = (
    "The account's createFlow is smart_plus: TikTok's reference of Upgraded Smart+ does not list the objective TRAFFIC"
    " (unverified), so TikTok may refuse the first step, which leaves nothing behind. createFlow: manual is the other"
    " flow."
)
MANUAL_MAY_END = (
    "TikTok has announced the end of manual creation for 2026-12-31 and may refuse the first step, which leaves nothing"
    " behind. createFlow: smart_plus is the other flow."
)


def _warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    if create_flow(account) == tiktok.SMART_PLUS:
        yield SMART_PLUS_UNLISTED
    elif now is not None and now >= tiktok.MANUAL_MAY_END:
        yield MANUAL_MAY_END
    if tiktok.unit(account).assumed:
        yield tiktok.unit(account).assumed
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: once activated, the ad runs at once."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group with budget, schedule and targeting, and one video ad; all paused."""
    found = yield from found_for(NETWORK, account, brief)
    flow = create_flow(account)
    called = "manual flow" if flow == tiktok.MANUAL else "Upgraded Smart+ flow"
    steps = [] if brief.creative.image_url is None else [_upload(account, brief.creative.image_url)]
    does = f"Create the campaign in the {called}, paused."
    steps.append(_create(account, flow, "campaign", does, _campaign(flow, brief)))
    does = "Create the ad group with budget, schedule and targeting, paused."
    in_campaign = Binding("/body/campaign_id", "campaign", ID)
    steps.append(_create(account, flow, "adGroup", does, _ad_group(account, flow, brief, found), in_campaign))
    bindings = [Binding("/body/adgroup_id", "adGroup", ID)]
    if brief.creative.image_url is not None:
        bindings.append(Binding(COVER_AT[flow], COVER, IMAGE))
    ad = _manual_ad(brief, found) if flow == tiktok.MANUAL else _smart_ad(brief, found)
    steps.append(_create(account, flow, "ad", "Create the video ad, paused.", ad, *bindings))
    return _plan(account, "create", *steps, warnings=tuple(_warnings(account, brief, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _set_status(
    account: Account,
    flow: tiktok.Create,
    kind: Kind,
    entity_id: str,
    native: str,
    does: str,
    *,
    key: str = "",
    action: StepAction = "update",
    changes: Sequence[Change] = (),
) -> Step:
    name = f"{_id_name(flow, kind)}s"
    body: Body = {name: [entity_id], "operation_status": native}
    if (flow, kind) == (tiktok.MANUAL, "adGroup"):
        body["allow_partial_success"] = False
    request = tiktok.posted(account, _path(flow, kind, "status/update"), body)
    answered = Items(f"/body/{name}", ID, sent=name.removesuffix("s"), many=False)
    return Step(
        key or kind, kind, does, request, action, entity_id, items=answered, promises=(), changes=tuple(changes)
    )


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, ad group, campaign, in the flow that made them; what holds all of them is switched on last."""
    smart = f"{tiktok.PREFIX[tiktok.SMART_PLUS]}/" in source.step("campaign").request.url
    flow = tiktok.SMART_PLUS if smart else tiktok.MANUAL
    kinds: tuple[Kind, ...] = ("ad", "adGroup", "campaign")
    steps = [
        _set_status(
            account,
            flow,
            kind,
            str(outputs[kind][ID]),
            tiktok.ENABLE,
            f"Set the {tiktok.CALLED[kind]} {outputs[kind][ID]} to active.",
            key=f"activate_{kind}",
        )
        for kind in kinds
    ]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def _own_id(found: Entity, flow: tiktok.Create, kind: Kind) -> str:
    """The id by which the endpoints of its flow know the entity."""
    return ident(found.native, f"/{_id_name(flow, kind)}", tiktok.CALLED[kind])


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused, in the flow that it was made in."""
    level(NETWORK, kind)
    if status not in SETTABLE:
        raise refused("status", "choice", f"TikTok sets these: {', '.join(SETTABLE)}.")
    found = yield from entity(account, kind, entity_id)
    flow = flow_of(found)
    if found.status == "deleted":
        raise refused("entityId", "not_supported", "TikTok does not change the status of what is deleted.")
    does = f"Set the {tiktok.CALLED[kind]} {entity_id} to {status}."
    change = Change("status", found.status, status)
    native_id = _own_id(found, flow, kind)
    step = _set_status(account, flow, kind, native_id, SETTABLE[status], does, changes=(change,))
    return _plan(account, "status", step, risk="spend" if status == "active" else "low")


# -- native -------------------------------------------------------------------------------------------------------


def _foreign(account: Account, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    if "request_id" in payload:
        yield Issue("payload.request_id", "not_supported", "It follows from the operation, so that a repeat is known.")
    if payload.get("advertiser_id", account.native_id) != account.native_id:
        yield Issue("payload.advertiser_id", "conflict", "It names another account.")


def _parent(kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    one = level(NETWORK, kind)
    name = one.parent.removeprefix("/")
    if not name:
        if parent_id is not None:
            raise refused("parentId", "not_supported", "A campaign of TikTok has no parent.")
        return {}
    said = identifier(payload.get(name))
    if said is None and parent_id is None:
        raise refused(
            "parentId", "required", f"Name the {tiktok.CALLED['campaign' if kind == 'adGroup' else 'adGroup']}."
        )
    if said is not None and parent_id is not None and said != parent_id:
        raise refused("parentId", "conflict", f"payload.{name} names another one.")
    return {name: parent_id or said}


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native parameters, in the account's create flow; paused where they do not say."""
    level(NETWORK, kind)
    issues = list(_foreign(account, payload))
    status = payload.get("operation_status", tiktok.DISABLE)
    if status not in tiktok.BORN:
        message = f"TikTok makes these: {', '.join(tiktok.BORN)}."
        issues.append(Issue("payload.operation_status", "choice", message))
    refuse(issues)
    flow, parent = create_flow(account), _parent(kind, payload, parent_id)
    own = {name: value for name, value in payload.items() if name not in ("advertiser_id", *parent)}
    own["operation_status"] = status
    body = {**parent, "creatives": [own]} if (flow, kind) == (tiktok.MANUAL, "ad") else {**parent, **own}
    active = status == tiktok.ENABLE
    does = f"Create the {tiktok.CALLED[kind]} from native parameters, {'active' if active else 'paused'}."
    step = _create(account, flow, kind, does, body)
    unlisted = flow == tiktok.SMART_PLUS and payload.get("objective_type") == tiktok.TRAFFIC
    # A native create is not held against the present: the warning names the day itself.
    warnings = (MANUAL_MAY_END,) if flow == tiktok.MANUAL else (SMART_PLUS_UNLISTED,) if unlisted else ()
    return (yield from settled(_plan(account, "create", step, risk="spend" if active else "low", warnings=warnings)))


def _change(
    account: Account, flow: tiktok.Create, kind: Kind, found: Entity, body: Body, does: str, *changes: Change
) -> Step:
    """A step that changes one entity; ``body`` holds the changed members (of a manual ad, those of its creative)."""
    native_id = _own_id(found, flow, kind)
    whole: Body = {_id_name(flow, kind): native_id, **body}
    if (flow, kind) == (tiktok.MANUAL, "ad"):
        whole = {"adgroup_id": ident(found.native, "/adgroup_id", "ad")}
        if set(body) <= tiktok.PATCHED:
            whole |= {"patch_update": True, "creatives": [{"ad_id": native_id, **body}]}
        else:  # API for Business: without patch_update the creative is replaced, so all of it is sent
            kept = {name: found.native[name] for name in sorted(tiktok.CREATIVE_NAMES & set(found.native))}
            kept = {name: value for name, value in kept.items() if value not in (None, "", [])}
            whole["creatives"] = [{**kept, **body, "ad_id": native_id}]
    request = tiktok.posted(account, _path(flow, kind, "update"), whole)
    return Step(kind, kind, does, request, "update", native_id, found.parent_id, promises=DONE, changes=changes)


def _raises(found: Entity, payload: Mapping[str, Json]) -> bool:
    """Whether an amount is raised, or set where there was none."""
    for name in tiktok.MONEY_NAMES & set(payload):
        before, after = found.native.get(name), payload[name]
        if not (is_number(before) and is_number(after) and after <= before):
            return True
    return False


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native parameters of one entity changed; others stay as they are."""
    one = level(NETWORK, kind)
    issues = list(_foreign(account, payload))
    if "operation_status" in payload:
        message = "An update does not take it; change the status instead."
        issues.append(Issue("payload.operation_status", "not_supported", message))
    if parent_id is not None and not one.parent:
        issues.append(Issue("parentId", "not_supported", "A campaign of TikTok has no parent."))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one parameter to change."))
    refuse(issues)
    found = yield from entity(account, kind, entity_id)
    flow = flow_of(found)
    ids = {"advertiser_id": account.native_id, one.id.removeprefix("/"): entity_id}
    ids[_id_name(flow, kind)] = _own_id(found, flow, kind)
    if one.parent:
        ids[one.parent.removeprefix("/")] = found.parent_id or ""
    for name, known in ids.items():
        if payload.get(name, known) != known:
            raise refused(f"payload.{name}", "conflict", "It names another entity.")
    if parent_id is not None and parent_id != found.parent_id:
        raise refused("parentId", "conflict", "The entity has another parent.")
    body = {name: value for name, value in payload.items() if name not in ids}
    does = f"Change {', '.join(payload)} of the {tiktok.CALLED[kind]} {entity_id}."
    changes = [Change(name, found.native.get(name), value) for name, value in body.items()]
    step = _change(account, flow, kind, found, body, does, *changes)
    return _plan(account, "update", step, risk="spend" if _raises(found, body) else "low")


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it: a change of status."""
    level(NETWORK, kind)
    found = yield from entity(account, kind, entity_id)
    flow = flow_of(found)
    does = f"Delete the {tiktok.CALLED[kind]} {entity_id} and all below it; this cannot be undone."
    change = Change("status", found.status, "deleted")
    native_id = _own_id(found, flow, kind)
    step = _set_status(account, flow, kind, native_id, tiktok.DELETE, does, action="delete", changes=(change,))
    return _plan(account, "delete", step, risk="destructive")


# -- edit ---------------------------------------------------------------------------------------------------------


Part = tuple[Body, tuple[Change, ...]]


def _creative(
    account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None
) -> Part:
    """The cover; the other members of ``creative`` are fields of the ad."""
    if "imageHash" not in edit.creative:
        return {}, ()
    if flow == tiktok.SMART_PLUS:
        raise refused("creative.imageHash", "not_supported", "Change a Smart+ ad's creative_list natively.")
    cover = [edit.creative["imageHash"]]
    change = Change("creative.imageHash", found.native.get("image_ids"), cover)
    return {"image_ids": cover}, (require_change(change, "creative.imageHash"),)


def _fields(account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None) -> Part:
    done = edited(NETWORK, account, kind, found.native, edit, now)
    whole = deepcopy(dict(found.native))
    for pointer, value in done.native.items():
        put(whole, pointer, value)
    members = {parts(pointer)[0] for pointer in done.native}
    return {name: whole[name] for name in sorted(members)}, done.changes


def _targeting(
    account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None
) -> Part:
    if not edit.targeting:
        return {}, ()
    spec = read(found.native, "/targeting_spec") if flow == tiktok.SMART_PLUS else found.native
    current = spec if isinstance(spec, Mapping) else {}
    members, changes = retargeted(current, edit.targeting)
    body = {"targeting_spec": {**current, **members}} if flow == tiktok.SMART_PLUS else members
    return body, tuple(changes)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and creative of one entity in one write, held against what it is now."""
    check_edit(NETWORK, kind, edit)
    found = yield from editable(account, kind, entity_id)
    flow = flow_of(found)
    body, changes = together(
        partial(part, account, kind, found, flow, edit, now) for part in (_creative, _fields, _targeting)
    )
    refuse([*conflicts(account, kind, {**found.native, **body}, body, now), *beyond_smart(kind, flow, body)])
    if "video_id" in body:
        path = "creative.existingId" if "existingId" in edit.creative else "fields.existingId"
        yield from usable(NETWORK, account, body["video_id"], path)
        if "image_ids" not in body:  # the cover has to be of the video's own shape
            body["image_ids"] = [(yield from suggested(NETWORK, account, body["video_id"]))]
    does = f"Change {', '.join(change.field for change in changes)} of the {tiktok.CALLED[kind]} {entity_id}."
    step = _change(account, flow, kind, found, body, does, *changes)
    warnings = ("The ad goes to review again.",) if kind == "ad" and set(body) != {"ad_name"} else ()
    return _plan(account, "edit", step, risk=risk_of(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Nothing more: video, identity, cover and places are read for the plan itself."""
    return (yield from settled(([], [])))
