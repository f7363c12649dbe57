"""Changes at Snapchat as plans: one entity per write. The execution reads the object and applies an update to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import collect_minor_unit_warnings
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.lifecycle import ID_OUTPUT, build_plan, build_schedule, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, ProviderUnreadable, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Expectation, ItemBatch, Kind, Outputs, Overlay, Plan, Risk, Step
from adsunify.values.exact_json import Json

from . import native as snap
from . import reads
from .settings import check_conflicts
from .tables import AD, AD_SQUAD, CAMPAIGN, NETWORK
from .targeting import build_targeting, fetch_ad_type, merge_targeting

Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_wrapped_write(level: Level, method: str, members: Body, parent: str | None) -> Request:
    """Build the write of one entity under its parent. Without ``parent`` a binding adds the parent's ID to the URL."""
    owner, member = snap.PARENTS[level.kind]
    path = {} if parent is None else {member: parent}
    url, body = f"{snap.API_URL}/{owner}/{{{member}}}/{level.path}", {level.path: [members]}
    return Request(method, url, path, body=body, encoding="json", kind="write")


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity under the parent that the members name or a binding supplies."""
    parent = members.get(snap.PARENTS[level.kind][1])
    request = _build_wrapped_write(level, "POST", members, parent)
    items = _get_created_items(level)
    return Step(level.kind, level.kind, does, request, parent=parent, bindings=bindings, items=items)


@cache
def _get_created_items(level: Level) -> ItemBatch:
    return ItemBatch(f"/body/{level.path}", ID_OUTPUT, many=False)


@cache
def _bind_parent(level: Level) -> tuple[Binding, ...]:
    """Bind the ID of a parent that an earlier step creates: in the URL and in the body."""
    _, member = snap.PARENTS[level.kind]
    places = (f"/path/{member}", f"/body/{level.path}/0/{member}")
    return tuple(Binding(place, level.parent_kind, ID_OUTPUT) for place in places)


def _build_child_update_step(
    parent: str,
    account: Account,
    level: Level,
    entity_id: str,
    does: str,
    members: Mapping[str, Json],
    *,
    removed: Sequence[str] = (),
) -> Step:
    """Build a step that changes members of one entity.

    Ads API: a PUT takes the full object and resets missing members.
    """
    at = f"/body/{level.path}"
    overlay = Overlay(
        snap.build_level_entity_request(level, entity_id),
        f"/{level.path}/0/{level.native}",
        f"{at}/0",
        snap.READ_ONLY_MEMBERS,
        {_build_pointer(name): value for name, value in members.items()},
        tuple(map(_build_pointer, removed)),
    )
    request = _build_wrapped_write(level, "PUT", {ID_OUTPUT: entity_id, **members}, parent)
    items = ItemBatch(at, ID_OUTPUT, sent=ID_OUTPUT, many=False)
    return Step(level.kind, level.kind, does, request, "update", entity_id, parent, items=items, overlay=overlay)


def _build_pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _fetch_parent_id(account: Account, level: Level, entity_id: str) -> Flow[str]:
    """Return the ID that the URL of an update needs: the account's, or the parent's, after a read of the entity."""
    if not level.parent:
        return account.native_id
    entity = yield from reads.fetch_entity(account, level.kind, entity_id)
    return _require_parent_id(account, entity.parent_id, level)


def _require_parent_id(account: Account, parent_id: str | None, level: Level) -> str:
    if not level.parent:
        return account.native_id
    if parent_id is None:
        parent = get_level(NETWORK, level.parent_kind).label
        raise ProviderUnreadable(f"The {level.label} does not say which {parent} it belongs to.")
    return parent_id


# -- create -------------------------------------------------------------------------------------------------------


def _build_paused_campaign(brief: CampaignBrief) -> Body:
    body: Body = {
        "name": brief.name,
        "status": snap.PAUSED,
        "buy_model": snap.AUCTION,
        **build_schedule(snap.TIME, brief),
        # Ads API: this replaces the deprecated member objective. Both together are not allowed.
        "objective_v2_properties": {"objective_v2_type": snap.AWARENESS},
    }
    if brief.platform.special_ad_categories:
        body["regulations"] = {"restricted_delivery_signals": True}
    return body


def _build_ad_squad(account: Account, brief: CampaignBrief) -> Body:
    unit = snap.get_money_unit(account)
    bid: Body = {"bid_strategy": snap.AUTO_BID}
    if brief.bid is not None:
        bid = {"bid_strategy": snap.MAX_BID, "bid_micro": to_native_amount(unit, brief.bid, "bid")}
    return {
        "name": brief.name,
        "type": snap.SNAP_ADS,
        "status": snap.PAUSED,
        "placement_v2": {"config": snap.AUTOMATIC},
        "billing_event": snap.IMPRESSION,
        "optimization_goal": snap.IMPRESSIONS,
        **bid,
        f"{brief.budget.period}_budget_micro": to_native_amount(unit, brief.budget.amount, "budget.amount"),
        **build_schedule(snap.TIME, brief),
        "targeting": build_targeting(brief),
    }


def _collect_warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    yield from collect_minor_unit_warnings(NETWORK.title, account, brief)
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Snapchat may refuse it, else the ads run at once when they are activated."
    native = brief.targeting.native or {}
    if native.get("interests") or native.get("segments"):
        yield "Snapchat widens interests and audiences unless auto_expansion_options say otherwise; never the places."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign, an ad squad with the budget, and an ad with the existing creative, all paused."""
    creative_id = brief.creative.existing_id or ""
    ad_type, warnings = yield from fetch_ad_type(NETWORK, account, creative_id)
    campaign = {"ad_account_id": account.native_id, **_build_paused_campaign(brief)}
    ad = {"creative_id": creative_id, "name": brief.name, "type": ad_type, "status": snap.PAUSED}
    does = "Create the ad squad with budget, schedule and targeting, paused."
    steps = (
        _build_create_step(account, CAMPAIGN, "Create the campaign, paused.", campaign),
        _build_create_step(account, AD_SQUAD, does, _build_ad_squad(account, brief), *_bind_parent(AD_SQUAD)),
        _build_create_step(account, AD, "Create the ad over the existing creative, paused.", ad, *_bind_parent(AD)),
    )
    warnings = [*warnings, *_collect_warnings(account, brief, now)]
    return build_plan(NETWORK, account, "create", *steps, warnings=warnings)


# -- activate and status ------------------------------------------------------------------------------------------


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Plan the activation of ad, ad squad and campaign. Each is activated after the entities below it."""
    parents = {"campaign": account.native_id, "adGroup": str(outputs["campaign"][ID_OUTPUT])}
    parents["ad"] = str(outputs["adGroup"][ID_OUTPUT])

    def build_step(account: Account, level: Level, entity_id: str, status: str) -> Step:
        update = partial(_build_child_update_step, parents[level.kind])
        return lifecycle.build_status_step(update, account, level, entity_id, status)

    return lifecycle.plan_activate(NETWORK, build_step, account, source, outputs)


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused."""
    level = get_level(NETWORK, kind)
    lifecycle.ensure_writable_status(NETWORK, level, status)
    parent = yield from _fetch_parent_id(account, level, entity_id)
    update = partial(_build_child_update_step, parent)
    step = lifecycle.build_status_step(update, account, level, entity_id, status)
    return build_plan(NETWORK, account, "status", step, risk=lifecycle.assess_status_risk(status))


# -- native -------------------------------------------------------------------------------------------------------


def _check_account(account: Account, level: Level, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """Refuse a campaign that names another account."""
    if not level.parent:
        yield from lifecycle.check_same_id(payload, "ad_account_id", account.native_id, "the account")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    issues = _check_account(account, level, payload)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, issues)
    owner = {} if level.parent else {"ad_account_id": account.native_id}
    does = f"Create the {level.label} from native members, {'active' if create.is_active else 'paused'}."
    step = _build_create_step(account, level, does, {**create.members, **owner})
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. Each is replaced as a whole; others stay unchanged."""
    level = get_level(NETWORK, kind)
    issues = lifecycle.check_native_update(NETWORK, level, payload, parent_id)
    raise_if_issues([*issues, *_check_account(account, level, payload)])
    parent = lifecycle.find_parent_id(level, payload, parent_id)
    parent = parent or (yield from _fetch_parent_id(account, level, entity_id))
    does = lifecycle.describe_update(level, entity_id, payload)
    step = _build_child_update_step(parent, account, level, entity_id, does, payload)
    return build_plan(NETWORK, account, "update", step, risk=lifecycle.assess_payload_risk(level, payload))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the deletion of one entity and of all entities below it."""
    level = get_level(NETWORK, kind)
    does = f"Delete the {level.label} {entity_id} and all below it; this cannot be undone."
    request = Request("DELETE", f"{snap.API_URL}/{level.path}/{{id}}", {"id": entity_id}, kind="write")
    # The response has a status for the whole request, and no entity.
    success = (Expectation("/body/request_status", snap.SUCCESS, is_case_insensitive=True),)
    step = Step(kind, kind, does, request, "delete", entity_id, expectations=success)
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive"))


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    targeting, changes = merge_targeting(kind, entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields and targeting of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from reads.fetch_editable_entity(account, kind, entity_id)
    members, changes = lifecycle.merge_edit(
        *(NETWORK, account, kind, current.native, edit, now, check_conflicts), merge_targeting=_edit_targeting
    )
    removed = [name for name, value in members.items() if value is None]
    values = {name: value for name, value in members.items() if value is not None}
    parent = _require_parent_id(account, current.parent_id, level)
    update = partial(_build_child_update_step, parent, removed=removed)
    step = lifecycle.build_edit_step(update, account, level, entity_id, values, changes)
    is_activated = members.get("status") == snap.ACTIVE
    risk: Risk = "spend" if is_activated else assess_risk(NETWORK, kind, changes)
    is_collection = current.native.get("child_ad_type") == snap.COLLECTION
    warnings = ["Snapchat is reported to refuse changes of an ad squad of collection ads."] if is_collection else []
    if "targeting" in members:
        warnings.append("Snapchat computes the reach of the changed targeting anew; until then it may not serve.")
    return build_plan(NETWORK, account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check nothing: the plan needs the creative, so :func:`plan_create` has read it."""
    nothing: tuple[list[Issue], list[str]] = ([], [])
    return (yield from completed_flow(nothing))
