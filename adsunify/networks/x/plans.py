"""Changes at X as plans. Parameters stand in the query, so that ids of earlier steps are bound there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache

from attrs import evolve

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.network import Account, Level, get_level, to_native_units
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
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
    make_plan,
)
from adsunify.values.dates import format_utc
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as x
from . import reads
from .settings import check_conflicts
from .tables import CAMPAIGN, LINE_ITEM, NETWORK, PROMOTED_POST
from .targeting import (
    ALL_COUNTRIES_WARNING,
    EQUAL,
    LOCATION,
    WORLDWIDE_WARNING,
    Criterion,
    build_create_operation,
    build_criteria,
    build_delete_operation,
    diff_criteria,
    fetch_country_ids,
    fetch_criteria,
    fetch_funding_instruments,
    is_promotable,
)

ID_OUTPUT = "id"
"""The output of every step: the id of what was made, or the ids in the order sent."""
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/data/id",)),)
TARGETING_KEY = "targeting"
KIND_NAMES = {"campaign": "campaign", "adGroup": "line item", "ad": "promoted post"}
ACTIVE_POST_WARNING = (
    "X makes a promoted post active at once and never pauses it; only the paused line item holds it back."
)
QueryParameters = dict[str, str]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(
    account: Account,
    one: Level,
    does: str,
    query: QueryParameters,
    *bindings: Binding,
    parent: str | None = None,
    posts: int = 1,
) -> Step:
    """A step that makes one entity. Posts are answered by a list, as many as were named."""
    request = x.build_request(
        "POST", f"/accounts/{{account}}/{one.path}", query, nature="write", account=account.native_id
    )
    outputs = _get_post_outputs(posts) if one is PROMOTED_POST else CREATED_OUTPUTS
    return Step(one.kind, one.kind, does, request, parent=parent, bindings=bindings, outputs=outputs)


@cache
def _get_post_outputs(posts: int) -> tuple[Output, ...]:
    places = [f"/body/data/{position}/id" for position in range(posts)]
    return tuple(
        Output(f"{ID_OUTPUT}{number}" if number > 1 else ID_OUTPUT, (at,)) for number, at in enumerate(places, 1)
    )


def _build_write_request(account: Account, one: Level, method: str, entity_id: str, query: QueryParameters) -> Request:
    path = f"/accounts/{{account}}/{one.path}/{{id}}"
    return x.build_request(method, path, query, nature="write", account=account.native_id, id=entity_id)


def _build_update_step(
    account: Account,
    one: Level,
    entity_id: str,
    does: str,
    query: QueryParameters,
    *promises: Expectation,
    key: str = "",
    parent: str | None = None,
    changes: Sequence[Change] = (),
) -> Step:
    """A step that changes one entity: only what is sent."""
    same = Expectation("/body/data/id", entity_id)
    request = _build_write_request(account, one, "PUT", entity_id, query)
    return Step(
        key or one.kind,
        one.kind,
        does,
        request,
        "update",
        entity_id,
        parent,
        expectations=(same, *promises),
        changes=tuple(changes),
    )


def _build_batch_request(account: Account, operations: Sequence[Json]) -> Request:
    path = "/batch/accounts/{account}/targeting_criteria"
    return x.build_request("POST", path, {}, nature="write", body=list(operations), account=account.native_id)


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _format_micros(account: Account, amount: str, path: str) -> str:
    return str(to_native_units(x.get_money_unit(account), amount, path))


def _build_campaign(account: Account, brief: CampaignBrief) -> QueryParameters:
    amount = x.DAILY_BUDGET_MEMBER if brief.budget.period == "daily" else x.TOTAL_BUDGET_MEMBER
    return {
        "funding_instrument_id": brief.platform.funding_instrument_id or "",
        "name": brief.name,
        "entity_status": x.PAUSED,  # X would make it active
        "budget_optimization": x.LINE_ITEM_BUDGET,
        amount: _format_micros(account, brief.budget.amount, "budget.amount"),
    }


def _build_line_item(account: Account, brief: CampaignBrief) -> QueryParameters:
    query = {
        "name": brief.name,
        "objective": x.WEBSITE_CLICKS,
        "product_type": x.PROMOTED_POSTS,
        "placements": x.ALL_PLACEMENTS,
        "goal": x.LINK_CLICKS,
        "bid_strategy": x.AUTO_BID,
        "entity_status": x.PAUSED,
        "start_time": format_utc(brief.schedule.start),
    }
    if brief.schedule.end is not None:
        query["end_time"] = format_utc(brief.schedule.end)
    if brief.bid is not None:
        # pay_by is left out: the documentation contradicts itself on whether it may be set here.
        query |= {"bid_strategy": x.MAX_BID, x.BID_MEMBER: _format_micros(account, brief.bid, "bid")}
    return query


def _build_targeting_step(account: Account, criteria: Sequence[Criterion]) -> Step:
    """One batch under the new line item."""
    request = _build_batch_request(account, [build_create_operation(None, one) for one in criteria])
    bindings = tuple(
        Binding(f"/body/{position}/params/line_item_id", LINE_ITEM.kind, ID_OUTPUT) for position in range(len(criteria))
    )
    does = f"Target the line item by {len(criteria)} criteria."
    return Step(TARGETING_KEY, TARGETING_KEY, does, request, bindings=bindings, items=ItemBatch("/body", ID_OUTPUT))


def _collect_warnings(brief: CampaignBrief, criteria: Sequence[Criterion], now: datetime | None) -> Iterator[str]:
    if not criteria:
        yield WORLDWIDE_WARNING
    elif not any((one.type, one.operator) == (LOCATION, EQUAL) for one in criteria):
        yield ALL_COUNTRIES_WARNING
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: once activated, the post is promoted at once."
    if brief.targeting.countries == ("RU",):
        yield "X wants Russian-language ads where only Russia is targeted."
    if brief.bid is not None and Decimal(brief.bid) > Decimal(brief.budget.amount):
        yield "The bid lies above the budget: X may find the campaign unservable."
    yield ACTIVE_POST_WARNING


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign and line item, paused; its targeting; and last the post, so that it never lies in an untargeted one."""
    places = yield from fetch_country_ids(NETWORK, brief.targeting.countries or ())
    criteria = build_criteria(brief, places)
    steps = [
        _build_create_step(
            account,
            CAMPAIGN,
            f"Create the campaign {brief.name} with its budget, paused.",
            _build_campaign(account, brief),
        ),
        _build_create_step(
            account,
            LINE_ITEM,
            "Create its line item with schedule and bid, paused.",
            _build_line_item(account, brief),
            Binding("/query/campaign_id", CAMPAIGN.kind, ID_OUTPUT),
        ),
    ]
    if criteria:
        steps.append(_build_targeting_step(account, criteria))
    post = brief.creative.existing_id or ""
    does = f"Promote the post {post}. It cannot be created paused: the paused line item holds it back."
    in_line_item = Binding("/query/line_item_id", LINE_ITEM.kind, ID_OUTPUT)
    steps.append(_build_create_step(account, PROMOTED_POST, does, {"tweet_ids": post}, in_line_item))
    return _make_plan(account, "create", *steps, warnings=tuple(_collect_warnings(brief, criteria, now)))


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(account: Account, one: Level, entity_id: str, status: str, key: str = "") -> Step:
    if one is PROMOTED_POST:
        reason = "promoted posts have no settable status: pause the line item or delete the promoted post"
        raise invalid_input("status", "not_supported", f"X: {reason}.")
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"X sets these: {', '.join(one.writable_statuses)}.")
    word = one.writable_statuses[status]
    does = f"Set the {KIND_NAMES[one.kind]} {entity_id} to {status}."
    done = Expectation("/body/data/entity_status", word)
    return _build_update_step(account, one, entity_id, does, {"entity_status": word}, done, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Line item, then campaign; the post is active already."""
    steps = [
        _build_status_step(account, one, str(outputs[one.kind][ID_OUTPUT]), "active", f"activate_{one.kind}")
        for one in (LINE_ITEM, CAMPAIGN)
    ]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One campaign or line item set active or paused."""
    step = _build_status_step(account, get_level(NETWORK, kind), entity_id, status)
    risk: Risk = "spend" if status == "active" else "low"
    return (yield from completed_flow(_make_plan(account, "status", step, risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------


def _build_parameters(
    kind: Kind, payload: Mapping[str, Json], names: Sequence[str], statuses: Sequence[str]
) -> QueryParameters:
    """A native payload as parameters. Raises InvalidInput with all that X has no place for."""
    query: QueryParameters = {}
    issues: list[Issue] = []
    for name, value in payload.items():
        path = f"payload.{name[:60]}"
        if name not in names:
            issues.append(Issue(path, "not_supported", f"X takes no such parameter for a {KIND_NAMES[kind]} here."))
            continue
        try:
            query[name] = x.format_parameter(value, path)
        except InvalidInput as problem:
            issues.extend(problem.issues)
    if "entity_status" in query and query["entity_status"] not in statuses:
        issues.append(Issue("payload.entity_status", "choice", f"X takes these here: {', '.join(statuses)}."))
    raise_if_issues(issues)
    return query


def _resolve_parent_id(one: Level, query: QueryParameters, parent_id: str | None) -> str | None:
    """The parent's id, put into the parameters; of the payload and the request alike."""
    if not one.parent:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", f"A {KIND_NAMES[one.kind]} of X has no parent.")
        return None
    name = one.parent.removeprefix("/")
    said = query.setdefault(name, parent_id) if parent_id is not None else query.get(name)
    if said is None:
        raise invalid_input("parentId", "required", f"Name the {KIND_NAMES[one.parent_kind]} that it belongs to.")
    if parent_id is not None and said != parent_id:
        raise invalid_input(f"payload.{name}", "conflict", f"parentId names another {KIND_NAMES[one.parent_kind]}.")
    return said


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native parameters; paused where they do not say and it can be."""
    one = get_level(NETWORK, kind)
    query = _build_parameters(kind, payload, x.CREATE_MEMBERS[kind], x.STATUSES)
    parent = _resolve_parent_id(one, query, parent_id)
    missing = [
        Issue(f"payload.{name}", "required", "X needs it.") for name in x.REQUIRED_MEMBERS[kind] if name not in query
    ]
    posts = query.get("tweet_ids", "").split(",")
    if len(posts) > x.MAX_POSTS_PER_REQUEST:
        missing.append(
            Issue("payload.tweet_ids", "too_many", f"X takes at most {x.MAX_POSTS_PER_REQUEST} posts at once.")
        )
    raise_if_issues(missing)
    if one.initial_status:
        query = {"entity_status": one.initial_status} | query
    active = query.get("entity_status", x.ACTIVE) == x.ACTIVE
    does = f"Create the {KIND_NAMES[kind]} from native parameters, {'active' if active else 'paused'}."
    step = _build_create_step(account, one, does, query, parent=parent, posts=len(posts))
    warnings = () if one.initial_status else (ACTIVE_POST_WARNING,)
    risk: Risk = "spend" if active else "low"
    return (yield from completed_flow(_make_plan(account, "create", step, risk=risk, warnings=warnings)))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native parameters of one entity changed; others stay as they are."""
    one = get_level(NETWORK, kind)
    if one is PROMOTED_POST:
        raise invalid_input("kind", "not_supported", "X cannot change a promoted post: delete it and promote another.")
    if not payload:
        raise invalid_input("payload", "required", "Name at least one parameter to change.")
    if parent_id is not None and not one.parent:
        raise invalid_input("parentId", "not_supported", f"A {KIND_NAMES[kind]} of X has no parent.")
    query = _build_parameters(kind, payload, x.UPDATE_MEMBERS[kind], (x.ACTIVE, x.PAUSED))
    risky = query.get("entity_status") == x.ACTIVE or not x.MONEY_MEMBERS.isdisjoint(query)
    does = f"Change {', '.join(query)} of the {KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(account, one, entity_id, does, query, parent=parent_id)
    return (yield from completed_flow(_make_plan(account, "update", step, risk="spend" if risky else "low")))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Permanent; what lies below is not deleted, but hidden."""
    one = get_level(NETWORK, kind)
    does = f"Delete the {KIND_NAMES[kind]} {entity_id} for good."
    request = _build_write_request(account, one, "DELETE", entity_id, {})
    done = (Expectation("/body/data/id", entity_id), Expectation("/body/data/deleted", True))
    step = Step(kind, kind, does, request, "delete", entity_id, expectations=done)
    warnings = ("Deleting is permanent at X. What lies below is hidden with it.",)
    return (yield from completed_flow(_make_plan(account, "delete", step, risk="destructive", warnings=warnings)))


# -- edit ---------------------------------------------------------------------------------------------------------


def _build_fields_steps(
    account: Account, kind: Kind, entity_id: str, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> list[Step]:
    """The step that changes fields; none where the edit names none."""
    if not edit.fields:
        return []
    change = apply_edit(NETWORK, account, kind, entity, edit, now)
    changed = change.native_by_name
    raise_if_issues(check_conflicts(account, kind, entity, changed, edit, now))
    # An empty value takes the end away.
    query = {
        name: "" if value is None else x.format_parameter(value, f"fields.{name}") for name, value in changed.items()
    }
    names = ", ".join(told.field for told in change.changes)
    does = f"Change {names} of the {KIND_NAMES[kind]} {entity_id}."
    return [_build_update_step(account, get_level(NETWORK, kind), entity_id, does, query, changes=change.changes)]


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields of one entity in one write; the targeting of a line item in one batch."""
    check_edit(NETWORK, kind, edit)
    issues: list[Issue] = []
    entity = (yield from reads.fetch_entity(account, kind, entity_id)).native
    warnings: list[str] = []
    steps: list[Step] = []
    try:
        steps += _build_fields_steps(account, kind, entity_id, entity, edit, now)
    except InvalidInput as problem:
        issues.extend(problem.issues)
    if edit.targeting:
        current = yield from fetch_criteria(NETWORK, account, entity_id)
        try:
            found = diff_criteria(current, edit.targeting)
        except InvalidInput as problem:
            raise InvalidInput([*issues, *problem.issues]) from None
        operations = [build_create_operation(entity_id, one) for one in found.created] + [
            build_delete_operation(one) for one in found.deleted
        ]
        if operations:
            does = f"Make {len(found.created)} and delete {len(found.deleted)} criteria of the line item {entity_id}."
            request = _build_batch_request(account, operations)
            step = Step(
                TARGETING_KEY,
                TARGETING_KEY,
                does,
                request,
                "update",
                parent=entity_id,
                items=ItemBatch("/body", ID_OUTPUT),
            )
            steps.append(evolve(step, changes=found.changes))
        if len(current) + len(found.created) == len(found.deleted):
            warnings.append(WORLDWIDE_WARNING)
    raise_if_issues(issues)
    changes = [change for step in steps for change in step.changes]
    risk = assess_risk(NETWORK, kind, changes)
    if any(change.field == "entity_status" and change.after == x.ACTIVE for change in changes):
        risk = "spend"
    return _make_plan(account, "edit", *steps, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the funding instrument can pay, and the post is there to be promoted."""
    issues: list[Issue] = []
    path, wanted = "platform.fundingInstrumentId", brief.platform.funding_instrument_id or ""
    found = yield from fetch_funding_instruments(NETWORK, account.native_id, funding_instrument_ids=wanted)
    instrument = next((one for one in found if get_text(one, "/id") == wanted), None)
    if instrument is None:
        issues.append(Issue(path, "not_found", "X: the account has no such funding instrument."))
    elif get_value(instrument, "/able_to_fund") is not True:
        issues.append(Issue(path, "ineligible", "X: this funding instrument is not able to fund campaigns."))
    elif get_text(instrument, "/currency") != brief.budget.currency:
        message = f"This funding instrument counts in {get_text(instrument, '/currency')}; no conversion is made."
        issues.append(Issue(path, "currency_mismatch", message))
    if not (yield from is_promotable(NETWORK, account, brief.creative.existing_id or "")):
        issues.append(Issue("creative.existingId", "not_found", "X: the account can promote no such published post."))
    return issues, []
