"""Plans changes at Northway. Each write concerns one entity: POST creates it, PATCH changes the members it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk, check_payload_amounts
from adsunify.adapter.flows import fetch_pages
from adsunify.adapter.lifecycle import ID_OUTPUT, build_plan, completed_plan, get_parent_member
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, ProviderError
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Expectation, Kind, Output, Plan, Risk, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text

from . import native as northway
from .reads import fetch_editable_entity
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK, OBJECTIVES, PERIODS
from .targeting import build_targeting, find_native_targeting_error, merge_targeting

CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",), is_text_only=True),)
CREATE_PATHS: Mapping[str, str] = {
    "campaign": "advertisers/{advertiser}/campaigns",
    "adGroup": "campaigns/{campaign_id}/ad_sets",
    "ad": "ad_sets/{ad_set_id}/ads",
}
Body = dict[str, Json]


# -- steps -----------------------------------------------------------------------------------------------------------


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """A step that creates one entity. A binding fills in the parent in the path, unless a member names it."""
    slots = {} if level.parent else {"advertiser": account.native_id}
    body = dict(members)
    if level.parent and get_parent_member(level) in body:
        slots = {get_parent_member(level): body.pop(get_parent_member(level))}
    request = northway.build_write_request("POST", CREATE_PATHS[level.kind], body, **slots)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """A step that changes members of one entity; the response must have the id of this entity."""
    request = northway.build_write_request("PATCH", f"{level.path}/{{id}}", members, id=entity_id)
    same = (Expectation("/body/id", entity_id),)
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


# -- create ----------------------------------------------------------------------------------------------------------


def _build_campaign(account: Account, brief: CampaignBrief) -> Body:
    unit = northway.get_money_unit(account)
    body: Body = {
        "name": brief.name,
        "objective": OBJECTIVES[brief.goal],
        "state": CAMPAIGN.initial_status,
        PERIODS[brief.budget.period]: to_native_amount(unit, brief.budget.amount, "budget.amount"),
        "starts_at": northway.TIME.format(brief.schedule.start),
    }
    return body if brief.schedule.end is None else body | {"ends_at": northway.TIME.format(brief.schedule.end)}


def _build_ad_set(account: Account, brief: CampaignBrief) -> Body:
    bid: Body = {"mode": northway.AUTO}
    if brief.bid is not None:
        bid = {
            "mode": northway.CAP,
            "cap_minor": to_native_amount(northway.get_money_unit(account), brief.bid, "bid"),
        }
    body: Body = {
        "name": brief.name,
        "state": AD_GROUP.initial_status,
        "targeting": build_targeting(brief),
        "bid": bid,
    }
    return body if brief.platform.pixel_id is None else body | {"pixel_id": brief.platform.pixel_id}


def _build_ad(brief: CampaignBrief) -> Body:
    content = brief.creative
    return {
        "name": brief.name,
        "state": AD.initial_status,
        "headline": content.headline,
        "body": content.body,
        "url": content.url,
        "image_url": content.image_url,
        "cta": northway.CALLS_TO_ACTION[0],
    }


def _bind_parent(level: Level) -> Binding:
    return Binding(f"/path/{get_parent_member(level)}", level.parent_kind, ID_OUTPUT)


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Create a campaign with budget and schedule, an ad set and an ad; all are HELD."""
    ad_set, ad = _build_ad_set(account, brief), _build_ad(brief)
    does = "Create the ad set with bid and targeting, held."
    steps = (
        _build_create_step(account, CAMPAIGN, "Create the campaign, held.", _build_campaign(account, brief)),
        _build_create_step(account, AD_GROUP, does, ad_set, _bind_parent(AD_GROUP)),
        _build_create_step(account, AD, "Create the ad, held.", ad, _bind_parent(AD)),
    )
    return (yield from completed_plan(NETWORK, account, "create", *steps))


# -- activate and status ---------------------------------------------------------------------------------------------


plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)
plan_status = partial(lifecycle.plan_status, NETWORK, _build_status_step)


# -- native ----------------------------------------------------------------------------------------------------------


def _check_payload(account: Account, kind: Kind, payload: Mapping[str, Json]) -> Iterator[Issue]:
    yield from check_payload_amounts(NETWORK, account, kind, payload)
    if kind == AD_GROUP.kind and "targeting" in payload:
        targeting = payload["targeting"]
        is_object = isinstance(targeting, Mapping)
        if error := find_native_targeting_error(targeting) if is_object else "targeting must be an object":
            yield Issue("payload.targeting", "invalid", f"Northway: {error}.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Create one entity from native members. The entity is HELD unless the members set its state."""
    level = get_level(NETWORK, kind)
    issues = _check_payload(account, kind, payload)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, issues)
    does = f"Create the {level.label} from native members, {'live' if create.is_active else 'held'}."
    step = evolve(_build_create_step(account, level, does, create.members), parent=create.parent_id)
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Replace native members of one entity, each as a whole."""
    issues = _check_payload(account, kind, payload)
    return lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, payload, parent_id, issues)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Archive one entity: Northway deletes nothing."""
    current = yield from fetch_editable_entity(account, kind, entity_id)
    step = lifecycle.build_deletion_step(_build_update_step, account, get_level(NETWORK, kind), current)
    return build_plan(NETWORK, account, "delete", step, risk="destructive")


# -- edit ------------------------------------------------------------------------------------------------------------


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    """The whole targeting, because a PATCH replaces it (API v3, "Editing")."""
    targeting, changes = merge_targeting(kind, entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Edit fields, targeting and content of one entity in one write."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from fetch_editable_entity(account, kind, entity_id)).native
    members, changes = lifecycle.merge_edit(
        *(NETWORK, account, kind, entity, edit, now, check_conflicts), merge_targeting=_edit_targeting
    )
    has_no_cap = members.get("bid", {}).get("mode") == northway.AUTO  # Northway then decides what a click costs
    risk: Risk = "spend" if has_no_cap else assess_risk(NETWORK, kind, changes)
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    return build_plan(NETWORK, account, "edit", step, risk=risk)


# -- preflight -------------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that the advertiser has the pixel of the brief. A look-up that fails is a warning."""
    if brief.platform.pixel_id is None:
        return [], []
    request = northway.build_account_get_request(account, "pixels", northway.build_list_query(northway.MAX_PAGE_SIZE))
    try:
        answers = yield from fetch_pages(NETWORK, request, northway.build_next_request)
        pixels = {get_text(row, "/id") for answer in answers for row in northway.parse_rows(answer)}
    except ProviderError as problem:
        return [], [f"Northway did not say whether the advertiser has the pixel: {problem.message}"]
    if brief.platform.pixel_id in pixels:
        return [], []
    return [Issue("platform.pixelId", "not_found", "The advertiser has no pixel with this id.")], []
