"""Changes at X as plans. Parameters stand in the query, so that ids of earlier steps are bound there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache

from attrs import evolve

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, edited, risk_of
from adsunify.adapter.flows import settled
from adsunify.adapter.network import Account, Level, level, whole_units
from adsunify.errors import InvalidInput, Issue, refuse, refused
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
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
    planned,
)
from adsunify.values.dates import utc_text
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from . import native as x
from . import reads
from .settings import conflicts
from .tables import CAMPAIGN, LINE_ITEM, NETWORK, POST
from .targeting import (
    EQUAL,
    IN_ALL_COUNTRIES,
    LOCATION,
    WORLDWIDE,
    Criterion,
    creation,
    criteria,
    criteria_of,
    deletion,
    difference,
    instruments,
    is_promotable,
    places_of,
)

ID = "id"
"""The output of every step: the id of what was made, or the ids in the order sent."""
MADE = (Output(ID, ("/body/data/id",)),)
TARGETING = "targeting"
CALLED = {"campaign": "campaign", "adGroup": "line item", "ad": "promoted post"}
BORN_ACTIVE = "X makes a promoted post active at once and never pauses it; only the paused line item holds it back."
Query = dict[str, str]


# -- steps --------------------------------------------------------------------------------------------------------


def _create(
    account: Account, one: Level, does: str, query: Query, *bindings: Binding, parent: str | None = None, posts: int = 1
) -> Step:
    """A step that makes one entity. Posts are answered by a list, as many as were named."""
    request = x.call("POST", f"/accounts/{{account}}/{one.path}", query, nature="write", account=account.native_id)
    outputs = _posted(posts) if one is POST else MADE
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=outputs)


@cache
def _posted(posts: int) -> tuple[Output, ...]:
    places = [f"/body/data/{position}/id" for position in range(posts)]
    return tuple(Output(f"{ID}{number}" if number > 1 else ID, (at,)) for number, at in enumerate(places, 1))


def _single(account: Account, one: Level, method: str, entity_id: str, query: Query) -> Request:
    path = f"/accounts/{{account}}/{one.path}/{{id}}"
    return x.call(method, path, query, nature="write", account=account.native_id, id=entity_id)


def _change(
    account: Account,
    one: Level,
    entity_id: str,
    does: str,
    query: Query,
    *promises: Promise,
    key: str = "",
    parent: str | None = None,
    changes: Sequence[Change] = (),
) -> Step:
    """A step that changes one entity: only what is sent."""
    same = Promise("/body/data/id", entity_id)
    request = _single(account, one, "PUT", entity_id, query)
    return Step(
        key or one.kind,
        one.kind,
        does,
        request,
        "update",
        entity_id,
        parent,
        promises=(same, *promises),
        changes=tuple(changes),
    )


def _batch(account: Account, operations: Sequence[Json]) -> Request:
    path = "/batch/accounts/{account}/targeting_criteria"
    return x.call("POST", path, {}, nature="write", body=list(operations), account=account.native_id)


def _plan(account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()) -> Plan:
    return planned(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _micros(account: Account, amount: str, path: str) -> str:
    return str(whole_units(x.unit(account), amount, path))


def _campaign(account: Account, brief: CampaignBrief) -> Query:
    amount = x.DAILY if brief.budget.period == "daily" else x.TOTAL
    return {
        "funding_instrument_id": brief.platform.funding_instrument_id or "",
        "name": brief.name,
        "entity_status": x.PAUSED,  # X would make it active
        "budget_optimization": x.LINE_ITEM_BUDGET,
        amount: _micros(account, brief.budget.amount, "budget.amount"),
    }


def _line_item(account: Account, brief: CampaignBrief) -> Query:
    query = {
        "name": brief.name,
        "objective": x.WEBSITE_CLICKS,
        "product_type": x.PROMOTED_POSTS,
        "placements": x.EVERYWHERE,
        "goal": x.LINK_CLICKS,
        "bid_strategy": x.AUTO,
        "entity_status": x.PAUSED,
        "start_time": utc_text(brief.schedule.start),
    }
    if brief.schedule.end is not None:
        query["end_time"] = utc_text(brief.schedule.end)
    if brief.bid is not None:
        # pay_by is left out: the documentation contradicts itself on whether it may be set here.
        query |= {"bid_strategy": x.MAX, x.BID: _micros(account, brief.bid, "bid")}
    return query


def _targeted(account: Account, criteria: Sequence[Criterion]) -> Step:
    """One batch under the new line item."""
    request = _batch(account, [creation(None, one) for one in criteria])
    bindings = tuple(
        Binding(f"/body/{position}/params/line_item_id", LINE_ITEM.kind, ID) for position in range(len(criteria))
    )
    does = f"Target the line item by {len(criteria)} criteria."
    return Step(TARGETING, TARGETING, does, request, bindings=bindings, items=Items("/body", ID))


def _warnings(brief: CampaignBrief, criteria: Sequence[Criterion], now: datetime | None) -> Iterator[str]:
    if not criteria:
        yield WORLDWIDE
    elif not any((one.type, one.operator) == (LOCATION, EQUAL) for one in criteria):
        yield IN_ALL_COUNTRIES
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: once activated, the post is promoted at once."
    if brief.targeting.countries == ("RU",):
        yield "X wants Russian-language ads where only Russia is targeted."
    if brief.bid is not None and Decimal(brief.bid) > Decimal(brief.budget.amount):
        yield "The bid lies above the budget: X may find the campaign unservable."
    yield BORN_ACTIVE


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign and line item, paused; its targeting; and last the post, so that it never lies in an untargeted one."""
    places = yield from places_of(NETWORK, brief.targeting.countries or ())
    criteria = criteria_of(brief, places)
    steps = [
        _create(
            account, CAMPAIGN, f"Create the campaign {brief.name} with its budget, paused.", _campaign(account, brief)
        ),
        _create(
            account,
            LINE_ITEM,
            "Create its line item with schedule and bid, paused.",
            _line_item(account, brief),
            Binding("/query/campaign_id", CAMPAIGN.kind, ID),
        ),
    ]
    if criteria:
        steps.append(_targeted(account, criteria))
    post = brief.creative.existing_id or ""
    does = f"Promote the post {post}. It cannot be created paused: the paused line item holds it back."
    in_line_item = Binding("/query/line_item_id", LINE_ITEM.kind, ID)
    steps.append(_create(account, POST, does, {"tweet_ids": post}, in_line_item))
    return _plan(account, "create", *steps, warnings=tuple(_warnings(brief, criteria, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _set_status(account: Account, one: Level, entity_id: str, status: str, key: str = "") -> Step:
    if one is POST:
        reason = "promoted posts have no settable status: pause the line item or delete the promoted post"
        raise refused("status", "not_supported", f"X: {reason}.")
    if status not in one.settable:
        raise refused("status", "choice", f"X sets these: {', '.join(one.settable)}.")
    word = one.settable[status]
    does = f"Set the {CALLED[one.kind]} {entity_id} to {status}."
    done = Promise("/body/data/entity_status", word)
    return _change(account, one, entity_id, does, {"entity_status": word}, done, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Line item, then campaign; the post is active already."""
    steps = [
        _set_status(account, one, str(outputs[one.kind][ID]), "active", f"activate_{one.kind}")
        for one in (LINE_ITEM, CAMPAIGN)
    ]
    return (yield from settled(_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One campaign or line item set active or paused."""
    step = _set_status(account, level(NETWORK, kind), entity_id, status)
    risk: Risk = "spend" if status == "active" else "low"
    return (yield from settled(_plan(account, "status", step, risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------


def _parameters(kind: Kind, payload: Mapping[str, Json], names: Sequence[str], statuses: Sequence[str]) -> Query:
    """A native payload as parameters. Raises InvalidInput with all that X has no place for."""
    query: Query = {}
    issues: list[Issue] = []
    for name, value in payload.items():
        path = f"payload.{name[:60]}"
        if name not in names:
            issues.append(Issue(path, "not_supported", f"X takes no such parameter for a {CALLED[kind]} here."))
            continue
        try:
            query[name] = x.parameter(value, path)
        except InvalidInput as problem:
            issues.extend(problem.issues)
    if "entity_status" in query and query["entity_status"] not in statuses:
        issues.append(Issue("payload.entity_status", "choice", f"X takes these here: {', '.join(statuses)}."))
    refuse(issues)
    return query


def _under(one: Level, query: Query, parent_id: str | None) -> str | None:
    """The parent's id, put into the parameters; of the payload and the request alike."""
    if not one.parent:
        if parent_id is not None:
            raise refused("parentId", "not_supported", f"A {CALLED[one.kind]} of X has no parent.")
        return None
    name = one.parent.removeprefix("/")
    said = query.setdefault(name, parent_id) if parent_id is not None else query.get(name)
    if said is None:
        raise refused("parentId", "required", f"Name the {CALLED[one.parent_kind]} that it belongs to.")
    if parent_id is not None and said != parent_id:
        raise refused(f"payload.{name}", "conflict", f"parentId names another {CALLED[one.parent_kind]}.")
    return said


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native parameters; paused where they do not say and it can be."""
    one = level(NETWORK, kind)
    query = _parameters(kind, payload, x.CREATE_NAMES[kind], x.STATUSES)
    parent = _under(one, query, parent_id)
    missing = [
        Issue(f"payload.{name}", "required", "X needs it.") for name in x.REQUIRED_NAMES[kind] if name not in query
    ]
    posts = query.get("tweet_ids", "").split(",")
    if len(posts) > x.POSTS_A_CALL:
        missing.append(Issue("payload.tweet_ids", "too_many", f"X takes at most {x.POSTS_A_CALL} posts at once."))
    refuse(missing)
    if one.born:
        query = {"entity_status": one.born} | query
    active = query.get("entity_status", x.ACTIVE) == x.ACTIVE
    does = f"Create the {CALLED[kind]} from native parameters, {'active' if active else 'paused'}."
    step = _create(account, one, does, query, parent=parent, posts=len(posts))
    warnings = () if one.born else (BORN_ACTIVE,)
    risk: Risk = "spend" if active else "low"
    return (yield from settled(_plan(account, "create", step, risk=risk, warnings=warnings)))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native parameters of one entity changed; others stay as they are."""
    one = level(NETWORK, kind)
    if one is POST:
        raise refused("kind", "not_supported", "X cannot change a promoted post: delete it and promote another.")
    if not payload:
        raise refused("payload", "required", "Name at least one parameter to change.")
    if parent_id is not None and not one.parent:
        raise refused("parentId", "not_supported", f"A {CALLED[kind]} of X has no parent.")
    query = _parameters(kind, payload, x.UPDATE_NAMES[kind], (x.ACTIVE, x.PAUSED))
    risky = query.get("entity_status") == x.ACTIVE or not x.MONEY_NAMES.isdisjoint(query)
    does = f"Change {', '.join(query)} of the {CALLED[kind]} {entity_id}."
    step = _change(account, one, entity_id, does, query, parent=parent_id)
    return (yield from settled(_plan(account, "update", step, risk="spend" if risky else "low")))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Permanent; what lies below is not deleted, but hidden."""
    one = level(NETWORK, kind)
    does = f"Delete the {CALLED[kind]} {entity_id} for good."
    request = _single(account, one, "DELETE", entity_id, {})
    done = (Promise("/body/data/id", entity_id), Promise("/body/data/deleted", True))
    step = Step(kind, kind, does, request, "delete", entity_id, promises=done)
    warnings = ("Deleting is permanent at X. What lies below is hidden with it.",)
    return (yield from settled(_plan(account, "delete", step, risk="destructive", warnings=warnings)))


# -- edit ---------------------------------------------------------------------------------------------------------


def _fields(
    account: Account, kind: Kind, entity_id: str, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> list[Step]:
    """The step that changes fields; none where the edit names none."""
    if not edit.fields:
        return []
    change = edited(NETWORK, account, kind, entity, edit, now)
    changed = change.members
    refuse(conflicts(entity, changed, now))
    # An empty value takes the end away.
    query = {name: "" if value is None else x.parameter(value, f"fields.{name}") for name, value in changed.items()}
    names = ", ".join(told.field for told in change.changes)
    does = f"Change {names} of the {CALLED[kind]} {entity_id}."
    return [_change(account, level(NETWORK, kind), entity_id, does, query, changes=change.changes)]


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields of one entity in one write; the targeting of a line item in one batch."""
    check_edit(NETWORK, kind, edit)
    issues: list[Issue] = []
    entity = (yield from reads.entity(account, kind, entity_id)).native
    warnings: list[str] = []
    steps: list[Step] = []
    try:
        steps += _fields(account, kind, entity_id, entity, edit, now)
    except InvalidInput as problem:
        issues.extend(problem.issues)
    if edit.targeting:
        current = yield from criteria(NETWORK, account, entity_id)
        try:
            found = difference(current, edit.targeting)
        except InvalidInput as problem:
            raise InvalidInput([*issues, *problem.issues]) from None
        operations = [creation(entity_id, one) for one in found.made] + [deletion(one) for one in found.deleted]
        if operations:
            does = f"Make {len(found.made)} and delete {len(found.deleted)} criteria of the line item {entity_id}."
            request = _batch(account, operations)
            step = Step(TARGETING, TARGETING, does, request, "update", parent=entity_id, items=Items("/body", ID))
            steps.append(evolve(step, changes=found.changes))
        if len(current) + len(found.made) == len(found.deleted):
            warnings.append(WORLDWIDE)
    refuse(issues)
    changes = [change for step in steps for change in step.changes]
    risk = risk_of(NETWORK, kind, changes)
    if any(change.field == "entity_status" and change.after == x.ACTIVE for change in changes):
        risk = "spend"
    return _plan(account, "edit", *steps, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the funding instrument can pay, and the post is there to be promoted."""
    issues: list[Issue] = []
    path, wanted = "platform.fundingInstrumentId", brief.platform.funding_instrument_id or ""
    found = yield from instruments(NETWORK, account.native_id, funding_instrument_ids=wanted)
    instrument = next((one for one in found if text(one, "/id") == wanted), None)
    if instrument is None:
        issues.append(Issue(path, "not_found", "X: the account has no such funding instrument."))
    elif read(instrument, "/able_to_fund") is not True:
        issues.append(Issue(path, "ineligible", "X: this funding instrument is not able to fund campaigns."))
    elif text(instrument, "/currency") != brief.budget.currency:
        message = f"This funding instrument counts in {text(instrument, '/currency')}; no conversion is made."
        issues.append(Issue(path, "currency_mismatch", message))
    if not (yield from is_promotable(NETWORK, account, brief.creative.existing_id or "")):
        issues.append(Issue("creative.existingId", "not_found", "X: the account can promote no such published post."))
    return issues, []
