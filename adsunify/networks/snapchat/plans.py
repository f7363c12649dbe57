"""Changes of Snapchat as plans: one entity per write; an update is laid over what is there when it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.brief_checks import collect_minor_unit_warnings
from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.network import Account, Level, get_level, to_native_amount
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Expectation,
    ItemBatch,
    Kind,
    Outputs,
    Overlay,
    Plan,
    Risk,
    Step,
    make_plan,
)
from adsunify.values.exact_json import Json

from . import native as snap
from . import reads
from .settings import check_conflicts
from .tables import AD, AD_SQUAD, CAMPAIGN, NETWORK
from .targeting import build_targeting, fetch_ad_type, merge_targeting

ID_OUTPUT = "id"
KIND_NAMES = {"campaign": "campaign", "adGroup": "ad squad", "creative": "creative", "ad": "ad"}
Body = dict[str, Json]
Changes = Sequence[Change]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_write_request(one: Level, method: str, entity: Body, parent: str | None) -> Request:
    """A write of one entity under its parent; without one the address waits for a binding."""
    owner, member = snap.PARENTS[one.kind]
    path = {} if parent is None else {member: parent}
    url, body = f"{snap.API_URL}/{owner}/{{{member}}}/{one.path}", {one.path: [entity]}
    return Request(method, url, path, body=body, encoding="json", kind="write")


def _build_create_step(one: Level, does: str, entity: Body, parent: str | None, under: str = "") -> Step:
    """A step that makes one entity under a parent, or under what the step ``under`` makes."""
    _, member = snap.PARENTS[one.kind]
    if parent is not None:
        entity = {member: parent, **entity}
    at = f"/body/{one.path}"
    bindings = (
        (Binding(f"/path/{member}", under, ID_OUTPUT), Binding(f"{at}/0/{member}", under, ID_OUTPUT)) if under else ()
    )
    request, sent = _build_write_request(one, "POST", entity, parent), ItemBatch(at, ID_OUTPUT, many=False)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, items=sent)


def _build_update_step(
    one: Level,
    entity_id: str,
    parent: str,
    does: str,
    changes: Mapping[str, Json],
    *,
    remove: Sequence[str] = (),
    key: str = "",
    told: Changes = (),
) -> Step:
    """A step that changes members of one entity. Ads API: a PUT takes the full object, what it leaves out is reset."""
    at = f"/body/{one.path}"
    whole = Overlay(
        snap.build_entity_request(one, entity_id),
        f"/{one.path}/0/{one.native}",
        f"{at}/0",
        snap.READ_ONLY_MEMBERS,
        {_build_pointer(name): value for name, value in changes.items()},
        tuple(map(_build_pointer, remove)),
    )
    return Step(
        key or one.kind,
        one.kind,
        does,
        _build_write_request(one, "PUT", {ID_OUTPUT: entity_id, **changes}, parent),
        "update",
        entity_id,
        parent,
        items=ItemBatch(at, ID_OUTPUT, sent=ID_OUTPUT, many=False),
        overlay=whole,
        changes=tuple(told),
    )


def _build_pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


def _fetch_parent_id(account: Account, one: Level, entity_id: str) -> Flow[str]:
    """The id that stands in the address of an update: the account's, or the parent's as it is read."""
    if not one.parent:
        return account.native_id
    found = yield from reads.fetch_entity(account, one.kind, entity_id)
    return _require_parent_id(account, found.parent_id, one)


def _require_parent_id(account: Account, found: str | None, one: Level) -> str:
    if not one.parent:
        return account.native_id
    if found is None:
        raise ProviderUnreadable(
            f"The {KIND_NAMES[one.kind]} does not say which {KIND_NAMES[one.parent_kind]} it belongs to."
        )
    return found


# -- create -------------------------------------------------------------------------------------------------------


def _build_schedule(brief: CampaignBrief) -> Body:
    times: Body = {"start_time": snap.write_time(brief.schedule.start)}
    return times if brief.schedule.end is None else times | {"end_time": snap.write_time(brief.schedule.end)}


def _build_campaign(brief: CampaignBrief) -> Body:
    body: Body = {
        "name": brief.name,
        "status": snap.PAUSED,
        "buy_model": snap.AUCTION,
        **_build_schedule(brief),
        # The older member objective says the same and is being given up: never both.
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
        **_build_schedule(brief),
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
    """Campaign, ad squad with the budget, and ad over the existing creative; all paused."""
    creative_id = brief.creative.existing_id or ""
    kind, warnings = yield from fetch_ad_type(NETWORK, account, creative_id)
    ad = {"creative_id": creative_id, "name": brief.name, "type": kind, "status": snap.PAUSED}
    does = "Create the ad squad with budget, schedule and targeting, paused."
    steps = (
        _build_create_step(CAMPAIGN, "Create the campaign, paused.", _build_campaign(brief), account.native_id),
        _build_create_step(AD_SQUAD, does, _build_ad_squad(account, brief), None, CAMPAIGN.kind),
        _build_create_step(AD, "Create the ad over the existing creative, paused.", ad, None, AD_SQUAD.kind),
    )
    return _make_plan(account, "create", *steps, warnings=[*warnings, *_collect_warnings(account, brief, now)])


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(one: Level, entity_id: str, parent: str, status: str, key: str = "") -> Step:
    does = f"Set the {KIND_NAMES[one.kind]} {entity_id} to {status}."
    return _build_update_step(one, entity_id, parent, does, {"status": one.writable_statuses[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad squad, then campaign: what others hang on comes when all below it is ready."""
    made = {kind: str(outputs[kind][ID_OUTPUT]) for kind in ("campaign", "adGroup", "ad")}
    steps = [
        _build_status_step(
            one, made[one.kind], made.get(one.parent_kind, account.native_id), "active", f"activate_{one.kind}"
        )
        for one in (AD, AD_SQUAD, CAMPAIGN)
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"Snapchat sets these: {', '.join(one.writable_statuses)}.")
    parent = yield from _fetch_parent_id(account, one, entity_id)
    risk: Risk = "spend" if status == "active" else "low"
    return _make_plan(account, "status", _build_status_step(one, entity_id, parent, status), risk=risk)


# -- native -------------------------------------------------------------------------------------------------------


def _check_payload(one: Level, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    for name in payload:
        if name == ID_OUTPUT or name in snap.READ_ONLY_MEMBERS:
            yield Issue(f"payload.{name}", "read_only", f"Snapchat sets {name} itself.")
    if "status" in payload and payload["status"] not in snap.STATUSES:
        yield Issue("payload.status", "choice", f"Snapchat takes these: {', '.join(snap.STATUSES)}.")


def _resolve_parent_id(account: Account, one: Level, payload: Mapping[str, Json], parent_id: str | None) -> str | None:
    """The parent as the request says it, once: the account of a campaign; None where nothing is said."""
    _, member = snap.PARENTS[one.kind]
    if not one.parent and parent_id is not None:
        raise invalid_input("parentId", "not_supported", "A campaign of Snapchat has no parent.")
    wanted = parent_id if one.parent else account.native_id
    said = payload.get(member, wanted)
    if not isinstance(said, str | None) or (wanted is not None and said != wanted):
        where = "parentId" if one.parent else f"payload.{member}"
        raise invalid_input(where, "conflict", f"payload.{member} names another one than the request.")
    return said


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = get_level(NETWORK, kind)
    raise_if_issues(_check_payload(one, payload))
    parent = _resolve_parent_id(account, one, payload, parent_id)
    if parent is None:
        raise invalid_input("parentId", "required", f"Name the {KIND_NAMES[one.parent_kind]} that it belongs to.")
    entity = {"status": one.initial_status, **payload}
    active = entity["status"] == snap.ACTIVE
    does = f"Create the {KIND_NAMES[kind]} from native members, {'active' if active else 'paused'}."
    step = _build_create_step(one, does, entity, parent)
    return (yield from completed_flow(_make_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity replaced, each as a whole; others stay as they are."""
    one = get_level(NETWORK, kind)
    issues = list(_check_payload(one, payload))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    raise_if_issues(issues)
    parent = _resolve_parent_id(account, one, payload, parent_id) or (
        yield from _fetch_parent_id(account, one, entity_id)
    )
    risky = payload.get("status") == snap.ACTIVE or not set(snap.MONEY_MEMBERS).isdisjoint(payload)
    does = f"Change {', '.join(payload)} of the {KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(one, entity_id, parent, does, payload)
    return _make_plan(account, "update", step, risk="spend" if risky else "low")


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it."""
    one = get_level(NETWORK, kind)
    does = f"Delete the {KIND_NAMES[kind]} {entity_id} and all below it; this cannot be undone."
    request = Request("DELETE", f"{snap.API_URL}/{one.path}/{{id}}", {"id": entity_id}, kind="write")
    # The answer does not hold the entity: the status is all it says.
    done = (Expectation("/body/request_status", snap.SUCCESS, is_case_insensitive=True),)
    step = Step(kind, kind, does, request, "delete", entity_id, expectations=done)
    return (yield from completed_flow(_make_plan(account, "delete", step, risk="destructive")))


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
    if not edit.targeting:
        return {}, ()
    targeting, changes = merge_targeting(kind, entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, held against what it is now."""
    one = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from reads.fetch_editable_entity(account, kind, entity_id)
    parts = (_edit_fields, _edit_targeting)
    changed, told = merge_edit_parts(partial(part, account, kind, current.native, edit, now) for part in parts)
    step = _build_update_step(
        one,
        entity_id,
        _require_parent_id(account, current.parent_id, one),
        f"Change {', '.join(change.field for change in told)} of the {KIND_NAMES[kind]} {entity_id}.",
        {name: value for name, value in changed.items() if value is not None},
        remove=[name for name, value in changed.items() if value is None],
        told=told,
    )
    risk: Risk = "spend" if changed.get("status") == snap.ACTIVE else assess_risk(NETWORK, kind, told)
    collection = current.native.get("child_ad_type") == snap.COLLECTION
    warnings = ["Snapchat is reported to refuse changes of an ad squad of collection ads."] if collection else []
    if "targeting" in changed:
        warnings.append("Snapchat computes the reach of the changed targeting anew; until then it may not serve.")
    return _make_plan(account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Nothing more: the creative is read for the plan itself."""
    nothing: tuple[list[Issue], list[str]] = ([], [])
    return (yield from completed_flow(nothing))
