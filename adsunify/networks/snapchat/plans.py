"""Changes of Snapchat as plans: one entity per write; an update is laid over what is there when it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.brief_checks import coin_warnings
from adsunify.adapter.edit_members import check_edit, together
from adsunify.adapter.edits import Edit, edited, risk_of
from adsunify.adapter.flows import settled
from adsunify.adapter.network import Account, Level, level, native_amount
from adsunify.errors import Issue, ProviderUnreadable, refuse, refused
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Items,
    Kind,
    Outputs,
    Overlay,
    Plan,
    Promise,
    Risk,
    Step,
    planned,
)
from adsunify.values.exact_json import Json

from . import native as snap
from . import reads
from .settings import conflicts
from .tables import AD, AD_SQUAD, CAMPAIGN, NETWORK
from .targeting import ad_type, merged, targeting_of

ID = "id"
CALLED = {"campaign": "campaign", "adGroup": "ad squad", "creative": "creative", "ad": "ad"}
Body = dict[str, Json]
Changes = Sequence[Change]


# -- steps --------------------------------------------------------------------------------------------------------


def _request(one: Level, method: str, entity: Body, parent: str | None) -> Request:
    """A write of one entity under its parent; without one the address waits for a binding."""
    owner, member = snap.PARENTS[one.kind]
    path = {} if parent is None else {member: parent}
    url, body = f"{snap.API}/{owner}/{{{member}}}/{one.path}", {one.path: [entity]}
    return Request(method, url, path, body=body, encoding="json", nature="write")


def _create(one: Level, does: str, entity: Body, parent: str | None, under: str = "") -> Step:
    """A step that makes one entity under a parent, or under what the step ``under`` makes."""
    _, member = snap.PARENTS[one.kind]
    if parent is not None:
        entity = {member: parent, **entity}
    at = f"/body/{one.path}"
    bindings = (Binding(f"/path/{member}", under, ID), Binding(f"{at}/0/{member}", under, ID)) if under else ()
    request, sent = _request(one, "POST", entity, parent), Items(at, ID, many=False)
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, items=sent)


def _update(
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
        snap.single(one, entity_id),
        f"/{one.path}/0/{one.native}",
        f"{at}/0",
        snap.READ_ONLY,
        {_pointer(name): value for name, value in changes.items()},
        tuple(map(_pointer, remove)),
    )
    return Step(
        key or one.kind,
        one.kind,
        does,
        _request(one, "PUT", {ID: entity_id, **changes}, parent),
        "update",
        entity_id,
        parent,
        items=Items(at, ID, sent=ID, many=False),
        overlay=whole,
        changes=tuple(told),
    )


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


def _parent(account: Account, one: Level, entity_id: str) -> Flow[str]:
    """The id that stands in the address of an update: the account's, or the parent's as it is read."""
    if not one.parent:
        return account.native_id
    found = yield from reads.entity(account, one.kind, entity_id)
    return _parent_of(account, found.parent_id, one)


def _parent_of(account: Account, found: str | None, one: Level) -> str:
    if not one.parent:
        return account.native_id
    if found is None:
        raise ProviderUnreadable(f"The {CALLED[one.kind]} does not say which {CALLED[one.parent_kind]} it belongs to.")
    return found


# -- create -------------------------------------------------------------------------------------------------------


def _times(brief: CampaignBrief) -> Body:
    times: Body = {"start_time": snap.native_time(brief.schedule.start)}
    return times if brief.schedule.end is None else times | {"end_time": snap.native_time(brief.schedule.end)}


def _campaign(brief: CampaignBrief) -> Body:
    body: Body = {
        "name": brief.name,
        "status": snap.PAUSED,
        "buy_model": snap.AUCTION,
        **_times(brief),
        # The older member objective says the same and is being given up: never both.
        "objective_v2_properties": {"objective_v2_type": snap.AWARENESS},
    }
    if brief.platform.special_ad_categories:
        body["regulations"] = {"restricted_delivery_signals": True}
    return body


def _ad_squad(account: Account, brief: CampaignBrief) -> Body:
    unit = snap.unit(account)
    bid: Body = {"bid_strategy": snap.AUTO_BID}
    if brief.bid is not None:
        bid = {"bid_strategy": snap.MAX_BID, "bid_micro": native_amount(unit, brief.bid, "bid")}
    return {
        "name": brief.name,
        "type": snap.SNAP_ADS,
        "status": snap.PAUSED,
        "placement_v2": {"config": snap.AUTOMATIC},
        "billing_event": snap.IMPRESSION,
        "optimization_goal": snap.IMPRESSIONS,
        **bid,
        f"{brief.budget.period}_budget_micro": native_amount(unit, brief.budget.amount, "budget.amount"),
        **_times(brief),
        "targeting": targeting_of(brief),
    }


def _warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    yield from coin_warnings(NETWORK.title, account, brief)
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Snapchat may refuse it, else the ads run at once when they are activated."
    native = brief.targeting.native or {}
    if native.get("interests") or native.get("segments"):
        yield "Snapchat widens interests and audiences unless auto_expansion_options say otherwise; never the places."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad squad with the budget, and ad over the existing creative; all paused."""
    creative_id = brief.creative.existing_id or ""
    kind, warnings = yield from ad_type(NETWORK, account, creative_id)
    ad = {"creative_id": creative_id, "name": brief.name, "type": kind, "status": snap.PAUSED}
    does = "Create the ad squad with budget, schedule and targeting, paused."
    steps = (
        _create(CAMPAIGN, "Create the campaign, paused.", _campaign(brief), account.native_id),
        _create(AD_SQUAD, does, _ad_squad(account, brief), None, CAMPAIGN.kind),
        _create(AD, "Create the ad over the existing creative, paused.", ad, None, AD_SQUAD.kind),
    )
    return _plan(account, "create", *steps, warnings=[*warnings, *_warnings(account, brief, now)])


# -- activate and status ------------------------------------------------------------------------------------------


def _set_status(one: Level, entity_id: str, parent: str, status: str, key: str = "") -> Step:
    does = f"Set the {CALLED[one.kind]} {entity_id} to {status}."
    return _update(one, entity_id, parent, does, {"status": one.settable[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad squad, then campaign: what others hang on comes when all below it is ready."""
    made = {kind: str(outputs[kind][ID]) for kind in ("campaign", "adGroup", "ad")}
    steps = [
        _set_status(one, made[one.kind], made.get(one.parent_kind, account.native_id), "active", f"activate_{one.kind}")
        for one in (AD, AD_SQUAD, CAMPAIGN)
    ]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"Snapchat sets these: {', '.join(one.settable)}.")
    parent = yield from _parent(account, one, entity_id)
    risk: Risk = "spend" if status == "active" else "low"
    return _plan(account, "status", _set_status(one, entity_id, parent, status), risk=risk)


# -- native -------------------------------------------------------------------------------------------------------


def _foreign(one: Level, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """What a native payload may not carry."""
    for name in payload:
        if name == ID or name in snap.READ_ONLY:
            yield Issue(f"payload.{name}", "read_only", f"Snapchat sets {name} itself.")
    if "status" in payload and payload["status"] not in snap.STATUSES:
        yield Issue("payload.status", "choice", f"Snapchat takes these: {', '.join(snap.STATUSES)}.")


def _owner(account: Account, one: Level, payload: Mapping[str, Json], parent_id: str | None) -> str | None:
    """The parent as the request says it, once: the account of a campaign; None where nothing is said."""
    _, member = snap.PARENTS[one.kind]
    if not one.parent and parent_id is not None:
        raise refused("parentId", "not_supported", "A campaign of Snapchat has no parent.")
    wanted = parent_id if one.parent else account.native_id
    said = payload.get(member, wanted)
    if not isinstance(said, str | None) or (wanted is not None and said != wanted):
        where = "parentId" if one.parent else f"payload.{member}"
        raise refused(where, "conflict", f"payload.{member} names another one than the request.")
    return said


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native members; paused where they do not say."""
    one = level(NETWORK, kind)
    refuse(_foreign(one, payload))
    parent = _owner(account, one, payload, parent_id)
    if parent is None:
        raise refused("parentId", "required", f"Name the {CALLED[one.parent_kind]} that it belongs to.")
    entity = {"status": one.born, **payload}
    active = entity["status"] == snap.ACTIVE
    does = f"Create the {CALLED[kind]} from native members, {'active' if active else 'paused'}."
    step = _create(one, does, entity, parent)
    return (yield from settled(_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native members of one entity replaced, each as a whole; others stay as they are."""
    one = level(NETWORK, kind)
    issues = list(_foreign(one, payload))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one member to change."))
    refuse(issues)
    parent = _owner(account, one, payload, parent_id) or (yield from _parent(account, one, entity_id))
    risky = payload.get("status") == snap.ACTIVE or not set(snap.MONEY).isdisjoint(payload)
    does = f"Change {', '.join(payload)} of the {CALLED[kind]} {entity_id}."
    step = _update(one, entity_id, parent, does, payload)
    return _plan(account, "update", step, risk="spend" if risky else "low")


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it."""
    one = level(NETWORK, kind)
    does = f"Delete the {CALLED[kind]} {entity_id} and all below it; this cannot be undone."
    request = Request("DELETE", f"{snap.API}/{one.path}/{{id}}", {"id": entity_id}, nature="write")
    # The answer does not hold the entity: the status is all it says.
    done = (Promise("/body/request_status", snap.SUCCESS, any_case=True),)
    step = Step(kind, kind, does, request, "delete", entity_id, promises=done)
    return (yield from settled(_plan(account, "delete", step, risk="destructive")))


# -- edit ---------------------------------------------------------------------------------------------------------


Part = tuple[Body, Changes]


def _fields(account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    done = edited(NETWORK, account, kind, entity, edit, now)
    body = done.members
    refuse(conflicts(kind, entity, body, now))
    return body, done.changes


def _targeting(account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None) -> Part:
    if not edit.targeting:
        return {}, ()
    targeting, changes = merged(entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, held against what it is now."""
    one = level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from reads.editable(account, kind, entity_id)
    parts = (_fields, _targeting)
    changed, told = together(partial(part, account, kind, current.native, edit, now) for part in parts)
    step = _update(
        one,
        entity_id,
        _parent_of(account, current.parent_id, one),
        f"Change {', '.join(change.field for change in told)} of the {CALLED[kind]} {entity_id}.",
        {name: value for name, value in changed.items() if value is not None},
        remove=[name for name, value in changed.items() if value is None],
        told=told,
    )
    risk: Risk = "spend" if changed.get("status") == snap.ACTIVE else risk_of(NETWORK, kind, told)
    collection = current.native.get("child_ad_type") == snap.COLLECTION
    warnings = ["Snapchat is reported to refuse changes of an ad squad of collection ads."] if collection else []
    if "targeting" in changed:
        warnings.append("Snapchat computes the reach of the changed targeting anew; until then it may not serve.")
    return _plan(account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Nothing more: the creative is read for the plan itself."""
    nothing: tuple[list[Issue], list[str]] = ([], [])
    return (yield from settled(nothing))
