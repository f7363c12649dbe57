"""The checks that write: a paused campaign is created, read, edited and deleted; a wrong request is refused."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from attrs import evolve

from adsunify.adapter.edits import Edit
from adsunify.adapter.error_rules import match_error_rule
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.network import Level, ParsedError, unify_status
from adsunify.adapter.settings import build_settings, to_account_time
from adsunify.errors import AdsunifyError, GuardrailRefused, InvalidInput, ProviderError
from adsunify.http.messages import Request
from adsunify.models.brief import CampaignBrief
from adsunify.outcomes.comparison import is_equal
from adsunify.plans.records import Plan, Step, make_plan
from adsunify.service import campaigns, entities
from adsunify.service.entities import Mutation
from adsunify.service.outcomes.undo import undo_operation
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json

from . import writes
from .proof import READ_ERRORS, Proof, ProofEntity, describe_problem
from .reads import LARGE_PAGE, LARGE_PAGES, list_ids
from .writes import Execution

EDITED_SUFFIX = " edited"


async def create_campaign(proof: Proof, brief: CampaignBrief, brief_json: Mapping[str, Json]) -> Execution | None:
    """Create the campaign of a brief, paused, and read every entity back."""
    now = proof.now()
    with proof.transport.tape.record() as exchanges:
        operation_id = await writes.prepare(
            proof,
            "create",
            campaigns.prepare_campaign(
                proof.service, proof.actor, account_id=proof.account_id, campaign=brief, idempotency=None
            ),
        )
    if operation_id is None:
        return None
    await proof.cases.add("create", "create", {"brief": dict(brief_json), "now": now.isoformat()}, exchanges)
    execution = await writes.execute(proof, "create", operation_id)
    await writes.inspect(proof, "create", execution)
    proof.report.objects += writes.list_other_objects(proof, execution)
    for entity in [*proof.created]:
        await _check_created_entity(proof, entity, brief)
    return execution


async def _check_created_entity(proof: Proof, created: ProofEntity, brief: CampaignBrief) -> None:
    """Read a created entity: its id, its status, its parent, its place in the list, and its amounts."""
    level = next(level for kind, level in proof.list_levels() if kind == created.kind)
    members = {"kind": created.kind, "entityId": created.id}
    fact = f"created.{created.kind}"
    flow = proof.adapter.reads.fetch_entity(proof.account, created.kind, created.id)
    entity = await proof.read(f"{fact}.read", "entity", members, flow)
    if entity is None:
        return
    proof.report.compare(f"{fact}.id", created.id, entity.id)
    if level.name and entity.name is None:
        proof.report.contradict(f"{fact}.name", f"a text at {level.name}", None)
    if created.kind == "campaign" and entity.name is not None:
        proof.report.compare(f"{fact}.name", brief.name, entity.name)
    _check_initial_status(proof, fact, level, entity.status, entity.native_status)
    parents = [parent.id for parent in proof.created if parent.kind == level.parent_kind]
    if len(parents) == 1 and entity.parent_id is not None:
        proof.report.compare(f"{fact}.parent", parents[0], entity.parent_id)
    if not level.catalog:
        await _check_listed(proof, fact, created, parents)
    await _check_amounts(proof, fact, created, brief)


def _check_initial_status(proof: Proof, fact: str, level: Level, status: str | None, native: Json) -> None:
    if not level.initial_status:
        proof.report.skip(f"{fact}.status", level.note or "Entities of this level cannot be created paused.")
        return
    expected = unify_status(level, level.initial_status)
    proof.report.compare(f"{fact}.status", expected, status, f"The native status is {native}.")


async def _check_listed(proof: Proof, fact: str, created: ProofEntity, parents: list[str]) -> None:
    """Look for a created entity in the list of its level, below its parent."""
    query = ListQuery(LARGE_PAGE, parent_id=parents[0] if len(parents) == 1 else None)
    try:
        ids = await list_ids(proof, created.kind, query, LARGE_PAGES)
    except READ_ERRORS as problem:
        proof.report.contradict(f"{fact}.listed", 1, None, describe_problem(problem))
        return
    proof.report.compare(f"{fact}.listed", 1, ids.count(created.id), "How often the list shows the new entity.")


async def _check_amounts(proof: Proof, fact: str, created: ProofEntity, brief: CampaignBrief) -> None:
    """Compare the amounts that the settings of an entity show with the brief, in major units."""
    fields = await read_fields(proof, f"{fact}.settings", created)
    expected = {"budget": brief.budget.amount, "bid": brief.bid}
    for name, amount in expected.items():
        row = fields.get(name)
        if row is None or row["value"] is None or amount is None:
            continue
        if _to_decimal(row["value"]) == "0":  # 0 means that another level has the budget or the bid
            continue
        if name == "budget" and row.get("period") not in (None, brief.budget.period):
            continue
        proof.report.compare(f"{fact}.{name}", _to_decimal(amount), _to_decimal(row["value"]), "In major units.")
    start = fields.get("startAt")
    if start is not None and isinstance(start["value"], str):
        expected_start = _describe_start(proof, brief.schedule.start_at, start["value"])
        proof.report.compare(f"{fact}.startAt", expected_start, start["value"])


def _describe_start(proof: Proof, start: str, setting_text: str) -> str:
    """Return the start of the brief in the form in which the settings show it: a day of the account, or an instant."""
    planned_start = parse_instant(start, "schedule.startAt")
    if len(setting_text) == len("2026-01-01"):
        local = to_account_time(proof.account, planned_start) or planned_start
        return str(local.date())
    return setting_text if parse_instant(setting_text, "startAt") == planned_start else start


def _to_decimal(value: Json) -> Json:
    try:
        return format(Decimal(str(value)).normalize(), "f")
    except InvalidOperation:
        return str(value)


async def read_fields(proof: Proof, fact: str, created: ProofEntity) -> dict[str, Json]:
    """Return the settings of an entity by field; none if they cannot be read."""
    now = proof.now()
    flow = proof.adapter.reads.fetch_editable_entity(proof.account, created.kind, created.id)
    members = {"kind": created.kind, "entityId": created.id, "now": now.isoformat()}
    entity = await proof.read(fact, "settings", members, flow)
    if entity is None:
        return {}
    settings = build_settings(proof.network, proof.account, created.id, entity, now)
    return {row["field"]: row for row in settings["fields"]}


# -- edits --------------------------------------------------------------------------------------------------------


async def edit_entities(proof: Proof) -> None:
    """Edit the name and the budget of each created entity, and read the values back."""
    for created in [*proof.created]:
        before = await read_fields(proof, f"edit.{created.kind}.before", created)
        changes = _choose_changes(before)
        if not changes:
            proof.report.skip(f"edit.{created.kind}", "Neither its name nor its budget can be edited.")
            continue
        await _edit_entity(proof, created, changes)


def _choose_changes(fields: Mapping[str, Json]) -> dict[str, Json]:
    changes: dict[str, Json] = {}
    name, budget = fields.get("name"), fields.get("budget")
    if name is not None and not name["locked"] and isinstance(name["value"], str):
        changes["name"] = f"{name['value'][:80]}{EDITED_SUFFIX}"
    if budget is not None and not budget["locked"] and budget["value"] is not None:
        changes["budget"] = str(Decimal(str(budget["value"])) + 1)
    return changes


async def _edit_entity(proof: Proof, created: ProofEntity, changes: Mapping[str, Json]) -> None:
    fact, now = f"edit.{created.kind}", proof.now()
    mutation = Mutation("edit", created.kind, created.id, edit=Edit(changes))
    preparing = entities.prepare_mutation(proof.service, proof.actor, proof.account_id, mutation, None)
    with proof.transport.tape.record() as exchanges:
        operation_id = await writes.prepare(proof, fact, preparing)
    if operation_id is None:
        return
    members = {"kind": created.kind, "entityId": created.id, "edit": {"fields": dict(changes)}, "now": now.isoformat()}
    await proof.cases.add(fact, "edit", members, exchanges)
    execution = await writes.execute(proof, fact, operation_id)
    await writes.inspect(proof, fact, execution)
    after = await read_fields(proof, f"{fact}.after", created)
    for name, value in changes.items():
        if name in after:
            current = after[name]["value"]
            same = is_equal(proof.network, value, current)
            proof.report.compare(f"{fact}.{name}.value", value, value if same else current)


# -- refusals -----------------------------------------------------------------------------------------------------


async def check_refusals(proof: Proof, plan: Plan | None) -> None:
    """Send a create that lacks its name, which the network must refuse with an error that the tables have."""
    step = None if plan is None else _find_independent_step(proof, plan)
    if step is None:
        proof.report.skip("refusal", "No step of the plan can be sent by itself.")
        return
    spoiled = evolve(step, request=_spoil(step.request))
    wrong = make_plan(proof.network.code, "create", proof.account.native_id, [spoiled], [], "low")
    operation_id = await writes.prepare_plan(proof, "refusal", wrong)
    if operation_id is None:
        return
    before = len(proof.report.findings)
    execution = await writes.execute(proof, "refusal", operation_id)
    del proof.report.findings[before:]  # here a refusal is expected
    _judge_refusal(proof, spoiled, execution)
    await writes.inspect(proof, "refusal", execution) if execution.status == "unknown" else None


def _judge_refusal(proof: Proof, step: Step, execution: Execution) -> None:
    receipt = execution.receipts[-1] if execution.receipts else None
    if receipt is None:
        proof.report.contradict("refusal", "rejected", None, execution.error)
        return
    reason = f"The network answered {receipt.http_status}."
    if not proof.report.compare("refusal.outcome", "rejected", receipt.state, reason):
        return
    errors = [receipt.error, *(item.error for item in receipt.items)]
    codes = [text for error in errors if error is not None and (text := error.code or error.message)]
    if not codes:
        proof.report.contradict("refusal.code", "a native error code or message", None, reason)
        return
    status = receipt.http_status or 0
    rules = [match_error_rule(proof.network, ParsedError((code,)), status, step.action) for code in codes]
    proof.report.confirm("refusal.code", codes[0])
    if any(rule is not None and rule.codes for rule in rules):
        proof.report.confirm("refusal.rule", codes[0])
    else:
        proof.report.skip("refusal.rule", f"No row of ERRORS names the code {codes[0]}, so the status decides.")


def _find_independent_step(proof: Proof, plan: Plan) -> Step | None:
    """Return the first step of a level that needs no id of an earlier step."""
    kinds = {level.kind for level in (*proof.network.levels, *proof.network.beside)}
    steps = [step for step in plan.steps if step.action == "create" and step.kind in kinds]
    return next((step for step in steps if not step.bindings), None)


def _spoil(request: Request) -> Request:
    """Return the request with every name empty and every amount negative."""
    query = {name: str(_spoil_member(name, value)) for name, value in request.query.items()}
    return evolve(request, body=_spoil_members(request.body), query=query)


def _spoil_members(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _spoil_member(name, member) for name, member in value.items()}
    return [_spoil_members(member) for member in value] if isinstance(value, list | tuple) else value


def _spoil_member(name: str, value: Json) -> Json:
    if isinstance(value, str) and name.lower().endswith("name") and not name.lower().endswith("resourcename"):
        return ""
    if "amount" in name.lower() and isinstance(value, int | Decimal) and not isinstance(value, bool):
        return -value
    return _spoil_members(value)


async def check_unknown_entity(proof: Proof) -> None:
    """Read a campaign that does not exist; the network must say so."""
    missing = _make_missing_id(proof)
    if missing is None:
        proof.report.skip("unknown_entity", "No id of an entity is known.")
        return
    try:
        exists, _ = await proof.fetch_or_none("campaign", missing)
    except READ_ERRORS as problem:
        proof.report.contradict("unknown_entity", "not found", None, describe_problem(problem))
        return
    proof.report.compare("unknown_entity", False, exists)


def _make_missing_id(proof: Proof) -> str | None:
    """Return the id of a created campaign with other last digits."""
    known = next((entity.id for entity in proof.created if entity.kind == "campaign"), None)
    if known is None:
        return None
    digits = [position for position, letter in enumerate(known) if letter.isdigit()][-3:]
    letters = [str((int(letter) + 7) % 10) if position in digits else letter for position, letter in enumerate(known)]
    return "".join(letters)


async def check_validation(proof: Proof, plan: Plan | None) -> None:
    """Let the network validate the first step without writing, where it can."""
    build = proof.network.build_validation
    if build is None:
        proof.report.skip("validate_only", "The network has no request that only validates.")
        return
    step = None if plan is None else _find_independent_step(proof, plan)
    if step is None:
        proof.report.skip("validate_only", "There is no plan.")
        return
    request = evolve(build(step.request), kind="read_once")
    with proof.transport.tape.record():
        try:
            response = await proof.session.send_read(request)
        except AdsunifyError as problem:
            proof.report.contradict("validate_only", "a success", None, describe_problem(problem))
            return
    error = proof.network.parse_error(response)
    if response.is_ok and error is None:
        proof.report.confirm("validate_only", response.status)
    else:
        message = error.message if error is not None else None
        proof.report.contradict("validate_only", "a success", response.status, message or "")


# -- deletion -----------------------------------------------------------------------------------------------------


async def delete_by_undo(proof: Proof, execution: Execution) -> None:
    """Undo the creation; :func:`adsunify.proving.cleanup.clean_up` deletes what is left."""
    if proof.foreign:
        proof.report.skip("undo", "The receipts name an entity that the account had before the proof.")
        return
    undoing = undo_operation(proof.service, proof.actor, operation_id=execution.id, idempotency=None)
    try:
        operation_id = str((await undoing).data["id"])
    except (GuardrailRefused, InvalidInput, ProviderError, AdsunifyError) as problem:
        proof.report.contradict("undo", "a plan that deletes what was created", None, describe_problem(problem))
        return
    await writes.execute(proof, "undo", operation_id)
