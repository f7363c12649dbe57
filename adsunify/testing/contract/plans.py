"""Makes the plans of cases: the flow of each planning kind, the source of an activation, steps by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adsunify.adapter.edits import Edit
from adsunify.adapter.flows import run_flow
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan_create
from adsunify.plans.display import plan_to_json
from adsunify.plans.records import Outputs, Plan, Step, add_operation_marks
from adsunify.values.exact_json import Json, dumps

from .cases import Case, InvalidCase, Library, parse_time
from .conversation import Conversation, get_sent_headers

PLANNING = ("create", "activate", "status", "update", "delete", "edit", "native_create")
"""The kinds that make a plan."""
_NO_OUTPUTS = frozenset({"case", "source", "brief", "outputs", "now"})
"""Members of the input of an activation that are not the outputs of a step."""


def require_member(case: Case, name: str) -> Json:
    """Return a member of the input of a case. Raises InvalidCase if it is missing."""
    if case.input.get(name) is None:
        raise InvalidCase(f"input.{name} is missing.")
    return case.input[name]


def plan_case(case: Case, library: Library) -> Flow[Plan]:
    """Return the flow to the plan of a case of any planning kind, with the marks of its operation."""
    return add_operation_marks((yield from _plan_kind(case, library)), str(case.input.get("operationId") or ""))


def _plan_kind(case: Case, library: Library) -> Flow[Plan]:
    plans, members = get_adapter(case.network).plans, case.input
    now = parse_time(members.get("now"))
    if case.kind == "create":
        return (yield from plan_create(case.account, parse_brief(require_member(case, "brief")), now))
    if case.kind == "activate":
        return (yield from plans.plan_activate(case.account, *find_activation_source(case, library)))
    kind = require_member(case, "kind")
    if case.kind == "native_create":
        payload, parent_id = require_member(case, "payload"), members.get("parentId")
        return (yield from plans.plan_native_create(case.account, kind, payload, parent_id))
    entity_id = str(require_member(case, "entityId"))
    if case.kind == "status":
        return (yield from plans.plan_status(case.account, kind, entity_id, require_member(case, "status")))
    if case.kind == "update":
        payload, parent_id = require_member(case, "payload"), members.get("parentId")
        return (yield from plans.plan_update(case.account, kind, entity_id, payload, parent_id))
    if case.kind == "delete":
        return (yield from plans.plan_delete(case.account, kind, entity_id))
    edit = _parse_edit(members.get("edit", members))
    return (yield from plans.plan_edit(case.account, kind, entity_id, edit, now))


def describe_plan(plan: Plan) -> dict[str, Json]:
    """Return a plan as ``plan --json`` prints it; each step also has its action, entity and the headers it sends."""
    value = plan_to_json(plan)
    steps = [
        {**printed, "action": step.action, "entity": step.entity, "headers": get_sent_headers(step.request)}
        for printed, step in zip(value["steps"], plan.steps, strict=True)
    ]
    return {**value, "action": plan.action, "steps": steps}


def parse_brief(value: Json) -> CampaignBrief:
    """Parse the brief of a case. Raises InvalidCase if it is no object, InvalidInput if the brief is refused."""
    if not isinstance(value, Mapping):
        raise InvalidCase("input.brief must be an object.")
    return read_brief(dumps(value))


def _parse_edit(value: Json) -> Edit:
    if "field" in value:  # a bulk edit
        mode = value.get("mode", "set")
        amount = value["value"] if mode == "set" else {"mode": mode, "value": value["value"]}
        value = {"fields": {value["field"]: amount}}
    return Edit.from_json(value)


# -- the source of an activation ----------------------------------------------------------------------------------


def find_activation_source(case: Case, library: Library) -> tuple[Plan, Mapping[str, Outputs]]:
    """Return the plan of the operation that an activate case activates, and the outputs of its steps by key.

    Raises InvalidCase if the input has no outputs, or no create case of the folder has these steps.
    """
    members = case.input
    outputs = members.get("outputs") or {name: value for name, value in members.items() if name not in _NO_OUTPUTS}
    if not isinstance(outputs, Mapping) or not outputs:
        raise InvalidCase("input must have the outputs of the source operation by step key.")
    name = members.get("case") or members.get("source")
    if isinstance(members.get("brief"), Mapping):
        flow = plan_create(case.account, parse_brief(members["brief"]))
        plan = run_flow(flow, Conversation(case.network, ()).answer)
    elif isinstance(name, str):
        plan = make_plan_of_case(library.find_case(case.network, name), library)
    else:
        plan = _find_source_plan(case, library, list(outputs))
    return plan, dict(_parse_outputs(case.network, plan, key, value) for key, value in outputs.items())


def make_plan_of_case(case: Case, library: Library) -> Plan:
    """Make the plan of a case from its own exchange."""
    return run_flow(plan_case(case, library), Conversation(case.network, case.exchange).answer)


def _find_source_plan(case: Case, library: Library, keys: Sequence[str]) -> Plan:
    """The plan of the first create case of the network that has a step for each key."""
    for create_case in library.list_create_cases(case.network):
        plan = make_plan_of_case(create_case, library)
        if all(find_step(case.network, plan.steps, key) for key in keys):
            return plan
    raise InvalidCase(
        f"No create case of {case.network} has the steps {', '.join(sorted(keys))}. Name the source in input.case, or "
        "give its brief in input.brief."
    )


def _parse_outputs(network: str, plan: Plan, key: str, value: Json) -> tuple[str, Outputs]:
    step = find_step(network, plan.steps, key)
    names = list_output_names(step) if step is not None else []
    if not isinstance(value, Mapping):
        if len(names) != 1:
            raise InvalidCase(f"The outputs of {key} must be an object with {', '.join(names)}.")
        value = {names[0]: value}
    if len(names) == len(value) == 1:  # the names of single outputs need not match
        value = {names[0]: next(iter(value.values()))}
    outputs = {name: ids if isinstance(ids, str) else [str(id_) for id_ in ids] for name, ids in value.items()}
    return step.key if step is not None else key, outputs


def find_step(network: str, steps: Sequence[Step], name: str) -> Step | None:
    """Return the step with this key, or the only step, or the only step of the level with this name.

    The name of the level is the unified or the native name.
    """
    for step in steps:
        if step.key == name or len(steps) == 1:
            return step
    word = _normalize_name(name)
    levels = get_adapter(network).network.levels
    kinds = {level.kind for level in levels if word in (_normalize_name(level.kind), _normalize_name(level.native))}
    matches = [step for step in steps if step.kind in kinds or _normalize_name(step.kind) == word]
    return matches[0] if len(matches) == 1 else None


def _normalize_name(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removesuffix("s")


def list_output_names(step: Step) -> list[str]:
    """Return the names of the outputs of a step."""
    return [output.name for output in step.outputs] + ([step.items.output] if step.items is not None else [])
