"""Changes at X as plans. Parameters are in the query, so IDs of earlier steps are bound into the query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache, partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, assess_risk
from adsunify.adapter.lifecycle import ID_OUTPUT, bind_parent, build_plan, build_schedule, completed_plan
from adsunify.adapter.native_money import to_native_units
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Expectation, ItemBatch, Kind, Output, Plan, Risk, Step
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
    CriteriaDiff,
    Criterion,
    build_create_operation,
    build_delete_operation,
    build_targeting_criteria,
    diff_criteria,
    fetch_country_ids,
    fetch_criteria,
    fetch_funding_instruments,
    is_promotable,
)

CREATED_OUTPUTS: tuple[Output, ...] = (Output(ID_OUTPUT, ("/body/data/id",)),)
TARGETING_KEY = "targeting"
ACTIVE_POST_WARNING = (
    "X makes a promoted post active at once and never pauses it; only the paused line item holds it back."
)
QueryParameters = dict[str, str]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(
    account: Account, level: Level, does: str, members: Mapping[str, Json], *bindings: Binding
) -> Step:
    """Build a step that creates one entity. The response to promoted posts is a list with one row for each post."""
    url = f"/accounts/{{account}}/{level.path}"
    request = x.build_request("POST", url, members, nature="write", account=account.native_id)
    outputs = CREATED_OUTPUTS
    if level is PROMOTED_POST:
        outputs = _get_post_outputs(len(members["tweet_ids"].split(",")))
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=outputs)


@cache
def _get_post_outputs(posts: int) -> tuple[Output, ...]:
    places = [f"/body/data/{position}/id" for position in range(posts)]
    return tuple(
        Output(f"{ID_OUTPUT}{number}" if number > 1 else ID_OUTPUT, (at,)) for number, at in enumerate(places, 1)
    )


def _build_query_write(
    account: Account, level: Level, method: str, entity_id: str, query: Mapping[str, str]
) -> Request:
    path = f"/accounts/{{account}}/{level.path}/{{id}}"
    return x.build_request(method, path, query, nature="write", account=account.native_id, id=entity_id)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes the named parameters of one entity."""
    request = _build_query_write(account, level, "PUT", entity_id, members)
    same = (Expectation("/body/data/id", entity_id),)
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


def _build_status_step(account: Account, level: Level, entity_id: str, status: str) -> Step:
    step = lifecycle.build_status_step(_build_update_step, account, level, entity_id, status)
    is_set = Expectation("/body/data/entity_status", level.writable_statuses[status])
    return evolve(step, expectations=(*step.expectations, is_set))


def _build_batch_request(account: Account, operations: Sequence[Json]) -> Request:
    path = "/batch/accounts/{account}/targeting_criteria"
    return x.build_request("POST", path, {}, nature="write", body=list(operations), account=account.native_id)


# -- create -------------------------------------------------------------------------------------------------------


def _format_micros(account: Account, amount: str, path: str) -> str:
    return str(to_native_units(x.get_money_unit(account), amount, path))


def _build_campaign(account: Account, brief: CampaignBrief) -> QueryParameters:
    amount = x.DAILY_BUDGET_MEMBER if brief.budget.period == "daily" else x.TOTAL_BUDGET_MEMBER
    return {
        "funding_instrument_id": brief.platform.funding_instrument_id or "",
        "name": brief.name,
        "entity_status": x.PAUSED,  # X's default is ACTIVE
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
        **build_schedule(x.TIME, brief),
    }
    if brief.bid is not None:
        # pay_by is left out: the documentation contradicts itself about its use here.
        query |= {"bid_strategy": x.MAX_BID, x.BID_MEMBER: _format_micros(account, brief.bid, "bid")}
    return query


def _build_targeting_step(account: Account, criteria: Sequence[Criterion]) -> Step:
    """Build a step that creates all criteria of the new line item in one batch."""
    request = _build_batch_request(account, [build_create_operation(None, criterion) for criterion in criteria])
    bindings = tuple(
        Binding(f"/body/{position}/params/line_item_id", LINE_ITEM.kind, ID_OUTPUT) for position in range(len(criteria))
    )
    does = f"Target the line item by {len(criteria)} criteria."
    return Step(TARGETING_KEY, TARGETING_KEY, does, request, bindings=bindings, items=ItemBatch("/body", ID_OUTPUT))


def _collect_criteria_warnings(
    brief: CampaignBrief, criteria: Sequence[Criterion], now: datetime | None
) -> Iterator[str]:
    if not criteria:
        yield WORLDWIDE_WARNING
    elif not any((criterion.type, criterion.operator) == (LOCATION, EQUAL) for criterion in criteria):
        yield ALL_COUNTRIES_WARNING
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: once activated, the post is promoted at once."
    if brief.targeting.countries == ("RU",):
        yield "X wants Russian-language ads where only Russia is targeted."
    if brief.bid is not None and Decimal(brief.bid) > Decimal(brief.budget.amount):
        yield "The bid lies above the budget: X may find the campaign unservable."
    yield ACTIVE_POST_WARNING


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign and a line item, both paused, then the targeting, and last the post, so it is always targeted."""
    places = yield from fetch_country_ids(NETWORK, brief.targeting.countries or ())
    criteria = build_targeting_criteria(brief, places)
    does = f"Create the campaign {brief.name} with its budget, paused."
    campaign = _build_create_step(account, CAMPAIGN, does, _build_campaign(account, brief))
    does = "Create its line item with schedule and bid, paused."
    in_campaign = bind_parent(LINE_ITEM, "/query")
    line_item = _build_create_step(account, LINE_ITEM, does, _build_line_item(account, brief), in_campaign)
    steps = [campaign, line_item]
    if criteria:
        steps.append(_build_targeting_step(account, criteria))
    post = brief.creative.existing_id or ""
    does = f"Promote the post {post}. It cannot be created paused: the paused line item holds it back."
    in_line_item = bind_parent(PROMOTED_POST, "/query")
    steps.append(_build_create_step(account, PROMOTED_POST, does, {"tweet_ids": post}, in_line_item))
    return build_plan(
        NETWORK, account, "create", *steps, warnings=tuple(_collect_criteria_warnings(brief, criteria, now))
    )


# -- activate and status ------------------------------------------------------------------------------------------


# A promoted post is active from its creation, so it has no activation step.
plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Plan one write that sets one campaign or line item to active or paused."""
    if kind == PROMOTED_POST.kind:
        reason = "promoted posts have no settable status: pause the line item or delete the promoted post"
        raise invalid_input("status", "not_supported", f"X: {reason}.")
    return (yield from lifecycle.plan_status(NETWORK, _build_status_step, account, kind, entity_id, status))


# -- native -------------------------------------------------------------------------------------------------------


def _format_parameters(payload: Mapping[str, Json], accepted: Collection[str]) -> tuple[QueryParameters, list[Issue]]:
    """Return the members of a native payload as parameters, with the issues of accepted members."""
    query: QueryParameters = {}
    issues: list[Issue] = []
    for name, value in payload.items():
        try:
            query[name] = x.format_parameter(value, f"payload.{name[:60]}")
        except InvalidInput as problem:
            query[name] = ""
            issues += problem.issues if name in accepted else ()
    return query, issues


def _check_create_query(level: Level, query: Mapping[str, str]) -> Iterator[Issue]:
    for name in x.REQUIRED_MEMBERS[level.kind]:
        if name not in query and name != lifecycle.get_parent_member(level):
            yield Issue(f"payload.{name}", "required", "X needs it.")
    if len(query.get("tweet_ids", "").split(",")) > x.MAX_POSTS_PER_REQUEST:
        message = f"X takes at most {x.MAX_POSTS_PER_REQUEST} posts at once."
        yield Issue("payload.tweet_ids", "too_many", message)


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native parameters.

    Without a status it is paused, except for a promoted post, which cannot be paused.
    """
    level = get_level(NETWORK, kind)
    query, issues = _format_parameters(payload, level.payload.create)
    issues += _check_create_query(level, query)
    create = lifecycle.prepare_native_create(NETWORK, level, query, parent_id, issues)
    is_active = create.is_active or level is PROMOTED_POST
    does = f"Create the {level.label} from native parameters, {'active' if is_active else 'paused'}."
    step = evolve(_build_create_step(account, level, does, create.members), parent=create.parent_id)
    warnings = (ACTIVE_POST_WARNING,) if level is PROMOTED_POST else ()
    risk = lifecycle.assess_status_risk("active" if is_active else "paused")
    return (yield from completed_plan(NETWORK, account, "create", step, risk=risk, warnings=warnings))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native parameters of one entity. Other parameters stay unchanged."""
    level = get_level(NETWORK, kind)
    if level is PROMOTED_POST:
        raise invalid_input("kind", "not_supported", "X cannot change a promoted post: delete it and promote another.")
    query, issues = _format_parameters(payload, level.payload.update)
    update = lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, query, parent_id, issues)
    return (yield from update)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the permanent deletion of one entity. X hides the entities below it and does not delete them."""
    level = get_level(NETWORK, kind)
    does = f"Delete the {level.label} {entity_id} for good."
    request = _build_query_write(account, level, "DELETE", entity_id, {})
    is_deleted = (Expectation("/body/data/id", entity_id), Expectation("/body/data/deleted", True))
    step = Step(kind, kind, does, request, "delete", entity_id, expectations=is_deleted)
    warnings = ("Deleting is permanent at X. What lies below is hidden with it.",)
    return (yield from completed_plan(NETWORK, account, "delete", step, risk="destructive", warnings=warnings))


# -- edit ---------------------------------------------------------------------------------------------------------


def _build_fields_steps(
    account: Account, kind: Kind, entity_id: str, entity: NativeEntity, edit: Edit, now: datetime | None
) -> list[Step]:
    """Return the step that changes fields; empty for an edit without fields."""
    if not edit.fields:
        return []
    members, changes = lifecycle.merge_edit(NETWORK, account, kind, entity, edit, now, check_conflicts)
    # An empty value removes the end.
    query = {
        name: "" if value is None else x.format_parameter(value, f"fields.{name}") for name, value in members.items()
    }
    level = get_level(NETWORK, kind)
    return [lifecycle.build_edit_step(_build_update_step, account, level, entity_id, query, changes)]


def _build_criteria_steps(account: Account, entity_id: str, diff: CriteriaDiff) -> list[Step]:
    """Return the batch that changes the criteria of a line item; empty if they stay the same."""
    operations = [build_create_operation(entity_id, criterion) for criterion in diff.created]
    operations += [build_delete_operation(criterion) for criterion in diff.deleted]
    if not operations:
        return []
    does = f"Make {len(diff.created)} and delete {len(diff.deleted)} criteria of the line item {entity_id}."
    request, items = _build_batch_request(account, operations), ItemBatch("/body", ID_OUTPUT)
    step = Step(TARGETING_KEY, TARGETING_KEY, does, request, "update", parent=entity_id, items=items)
    return [evolve(step, changes=diff.changes)]


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write for the fields of an entity, and one batch for the targeting of a line item."""
    check_edit(NETWORK, kind, edit)
    issues: list[Issue] = []
    entity = (yield from reads.fetch_entity(account, kind, entity_id)).native
    warnings: list[str] = []
    steps: list[Step] = []
    try:
        steps += _build_fields_steps(account, kind, entity_id, entity, edit, now)
    except InvalidInput as problem:
        issues += problem.issues
    if edit.targeting:
        current = yield from fetch_criteria(NETWORK, account, entity_id)
        try:
            diff = diff_criteria(current, edit.targeting)
            steps += _build_criteria_steps(account, entity_id, diff)
            if len(current) + len(diff.created) == len(diff.deleted):
                warnings.append(WORLDWIDE_WARNING)
        except InvalidInput as problem:
            issues += problem.issues
    raise_if_issues(issues)
    changes = [change for step in steps for change in step.changes]
    is_activated = any(change.field == "entity_status" and change.after == x.ACTIVE for change in changes)
    risk: Risk = "spend" if is_activated else assess_risk(NETWORK, kind, changes)
    return build_plan(NETWORK, account, "edit", *steps, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that the funding instrument can pay, and that the account may promote the post."""
    issues: list[Issue] = []
    path, instrument_id = "platform.fundingInstrumentId", brief.platform.funding_instrument_id or ""
    rows = yield from fetch_funding_instruments(NETWORK, account.native_id, funding_instrument_ids=instrument_id)
    instrument = next((row for row in rows if get_text(row, "/id") == instrument_id), None)
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
