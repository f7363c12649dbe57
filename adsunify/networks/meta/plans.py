"""Changes at Meta as plans: a POST under the account creates a paused entity, a POST to an ID changes the entity."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk, require_change
from adsunify.adapter.flows import fetch_or_none
from adsunify.adapter.lifecycle import ID_OUTPUT, bind_parent, build_plan, build_schedule, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, ProviderUnreadable
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Change, Expectation, Kind, Output, Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, require_value

from . import native as meta
from .reads import fetch_editable_entity
from .settings import check_conflicts
from .tables import AD, AD_SET, CAMPAIGN, NETWORK, OBJECTIVES
from .targeting import build_targeting, get_targeted_countries, has_special_category, is_in_europe, merge_targeting

CREATIVE_KEY, CREATIVES_EDGE = "creative", "adcreatives"
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",), is_text_only=True),)
SUCCESS = (Expectation("/body/success", True),)
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_request(account: Account, edge: str, members: Body) -> Request:
    url, path = f"{meta.API_URL}/{{account}}/{edge}", {"account": account.native_id}
    return Request("POST", url, path, body=members, encoding="form_json", kind="write")


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity under the account. The step's key is the entity's kind."""
    request = _build_create_request(account, level.path, members)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes one entity."""
    url, path = f"{meta.API_URL}/{{id}}", {"id": entity_id}
    request = Request("POST", url, path, body=dict(members), encoding="form_json", kind="write")
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=SUCCESS)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


# -- create -------------------------------------------------------------------------------------------------------


def _build_auction_campaign(brief: CampaignBrief, targeting: Body) -> Body:
    body: Body = {
        "name": brief.name,
        "objective": OBJECTIVES[brief.goal].objective,
        "status": meta.PAUSED,
        "buying_type": meta.AUCTION,
        "special_ad_categories": list(brief.platform.special_ad_categories or ()),
    }
    if has_special_category(brief):
        body["special_ad_category_country"] = list(get_targeted_countries(targeting))
    # Marketing API, "Ad set budget sharing": required since v24.0 for a campaign without a budget.
    return body | {"is_adset_budget_sharing_enabled": False}


def _build_ad_set(account: Account, brief: CampaignBrief, targeting: Body, europe: bool | None) -> Body:
    aim, unit = OBJECTIVES[brief.goal], meta.get_money_unit(account)
    body: Body = {
        "name": brief.name,
        "status": meta.PAUSED,
        "optimization_goal": aim.optimization_goal,
        "billing_event": aim.billing_event if brief.bid is None else aim.with_bid,
    }
    if aim.destination_type is not None:
        body["destination_type"] = aim.destination_type
    if aim.promoted_object is not None:
        body["promoted_object"] = aim.promoted_object(brief)
    body["bid_strategy"] = meta.UNCAPPED if brief.bid is None else meta.BID_CAP
    if brief.bid is not None:
        body["bid_amount"] = to_native_amount(unit, brief.bid, "bid")
    body[f"{brief.budget.period}_budget"] = to_native_amount(unit, brief.budget.amount, "budget.amount")
    body |= {**build_schedule(meta.TIME, brief), "targeting": targeting}
    if europe is not False:
        known = {name: account.extras.get(extra) for extra, name in meta.DSA_MEMBERS.items()}
        body |= {name: value for name, value in known.items() if value}
    return body


def _build_creative(brief: CampaignBrief) -> Body:
    content = brief.creative
    image = {"picture": content.image_url} if content.image_url is not None else {"image_hash": content.image_hash}
    link_data: Body = {"link": content.url, "message": content.body, "name": content.headline, **image}
    # Marketing API, "Ad creative object story spec": the link of the button equals the link of the ad.
    link_data["call_to_action"] = {"type": meta.CALL_TO_ACTION, "value": {"link": content.url}}
    story = {"page_id": brief.platform.page_id, "link_data": link_data}
    return {"name": brief.name, "object_story_spec": story}


def _collect_region_warnings(
    account: Account, brief: CampaignBrief, europe: bool | None, now: datetime | None
) -> list[str]:
    assumption = meta.get_money_unit(account).assumption
    warnings = [assumption] if assumption else []
    if now is not None and brief.schedule.start <= now:
        warnings.append("The start lies in the past: once activated, the ads run at once.")
    unread_extras = [extra for extra in meta.DSA_MEMBERS if extra not in account.extras]
    if europe and unread_extras:
        warnings.append(f"Ads in the EU name who benefits and who pays; {' and '.join(unread_extras)} were never read.")
    return warnings


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign, an ad set with the budget, a new creative if there is one, and an ad, all paused."""
    targeting = build_targeting(brief)
    europe = is_in_europe(targeting)
    campaign = _build_auction_campaign(brief, targeting)
    ad_set = _build_ad_set(account, brief, targeting, europe)
    does = "Create the ad set with budget, schedule and targeting, paused."
    steps = [
        _build_create_step(account, CAMPAIGN, "Create the campaign, paused.", campaign),
        _build_create_step(account, AD_SET, does, ad_set, bind_parent(AD_SET)),
    ]
    ad: Body = {"name": brief.name, "creative": {}, "status": meta.PAUSED}
    bindings = [bind_parent(AD)]
    if brief.creative.existing_id is not None:
        ad["creative"] = {"creative_id": brief.creative.existing_id}
    else:
        request = _build_create_request(account, CREATIVES_EDGE, _build_creative(brief))
        does = "Create the creative; it does not serve by itself."
        steps.append(Step(CREATIVE_KEY, CREATIVE_KEY, does, request, outputs=CREATED_OUTPUTS))
        bindings.append(Binding("/body/creative/creative_id", CREATIVE_KEY, ID_OUTPUT))
    steps.append(_build_create_step(account, AD, "Create the ad, paused.", ad, *bindings))
    warnings = _collect_region_warnings(account, brief, europe, now)
    return (yield from completed_plan(NETWORK, account, "create", *steps, warnings=warnings))


# -- activate and status ------------------------------------------------------------------------------------------


plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)
plan_status = partial(lifecycle.plan_status, NETWORK, _build_status_step)


# -- native -------------------------------------------------------------------------------------------------------


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native parameters. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id)
    does = f"Create the {level.label} from native parameters, {'active' if create.is_active else 'paused'}."
    step = _build_create_step(account, level, does, create.members)
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native parameters of one entity. Other parameters stay unchanged."""
    return lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, payload, parent_id)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the deletion of one entity and of all entities below it."""
    does = f"Delete the {get_level(NETWORK, kind).label} {entity_id} and all below it; this cannot be undone."
    request = Request("DELETE", f"{meta.API_URL}/{{id}}", {"id": entity_id}, kind="write")
    step = Step(kind, kind, does, request, "delete", entity_id, expectations=SUCCESS)
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive"))


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    current = require_value(entity, "/targeting", "ad set")
    if not isinstance(current, Mapping):
        raise ProviderUnreadable("The ad set's targeting is no object.")
    targeting, changes = merge_targeting(kind, current, edit.targeting)
    return {"targeting": targeting}, changes


def _edit_creative(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    creative = edit.creative["existingId"]
    change = Change("creative.existingId", get_text(entity, "/creative/id"), creative)
    return {"creative": {"creative_id": creative}}, (require_change(change, "creative.existingId"),)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields, targeting and creative of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from fetch_editable_entity(account, kind, entity_id)).native
    members, changes = lifecycle.merge_edit(
        *(NETWORK, account, kind, entity, edit, now, check_conflicts),
        merge_targeting=_edit_targeting,
        merge_creative=_edit_creative,
    )
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    warnings = ("The ad goes to review again with its new creative.",) if "creative" in members else ()
    return build_plan(NETWORK, account, "edit", step, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that an existing creative exists."""
    creative = brief.creative.existing_id
    if creative is None:
        return [], []
    response = yield from fetch_or_none(NETWORK, meta.build_node_request(creative, "id,name,status"))
    if response is not None and get_text(response.body, "/status") != meta.DELETED:
        return [], []
    return [Issue("creative.existingId", "not_found", "Meta has no such creative, or does not show it.")], []
