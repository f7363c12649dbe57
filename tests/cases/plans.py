"""The plans of cases: the flow of each planning kind, the source of an activation, steps by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from attrs import evolve

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.flows import run_flow
from adsunify.cli.plan import plan_to_json
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan_create
from adsunify.plans.records import Outputs, Plan, Step, add_operation_marks
from adsunify.values.exact_json import Json, dumps
from tests.networks.samples import get_samples, list_example_briefs

from .cases import Case, Library, NotACase, moment
from .recorded import Conversation, headers_of

PLANNING = ("create", "activate", "status", "update", "delete", "edit", "native_create")
"""The kinds that make a plan."""


def need(case: Case, name: str) -> Json:
    if case.input.get(name) is None:
        raise NotACase(f"input.{name} is missing")
    return case.input[name]


def planned_by(case: Case, library: Library) -> Flow[Plan]:
    """The flow to the plan of a case of any planning kind, with the marks of its operation."""
    return add_operation_marks((yield from _planned(case, library)), str(case.input.get("operationId") or ""))


def _planned(case: Case, library: Library) -> Flow[Plan]:
    plans, given = get_adapter(case.network).plans, case.input
    if case.kind == "create":
        return (yield from plan_create(case.account, brief_of(need(case, "brief")), moment(given.get("now"))))
    if case.kind == "activate":
        return (yield from plans.plan_activate(case.account, *source_of(case, library)))
    if case.kind == "native_create":
        parent = given.get("parentId")
        return (yield from plans.plan_native_create(case.account, need(case, "kind"), need(case, "payload"), parent))
    kind, entity_id = need(case, "kind"), str(need(case, "entityId"))
    if case.kind == "status":
        return (yield from plans.plan_status(case.account, kind, entity_id, need(case, "status")))
    if case.kind == "update":
        return (
            yield from plans.plan_update(case.account, kind, entity_id, need(case, "payload"), given.get("parentId"))
        )
    if case.kind == "delete":
        return (yield from plans.plan_delete(case.account, kind, entity_id))
    edit = _edit(given.get("edit", given))
    return (yield from plans.plan_edit(case.account, kind, entity_id, edit, moment(given.get("now"))))


def shown_plan(plan: Plan) -> dict[str, Json]:
    """A plan as ``plan --json`` prints it; each step also says its action, its headers are the ones sent."""
    whole = plan_to_json(plan)
    steps = [
        {**shown, "action": step.action, "entity": step.entity, "headers": headers_of(step.request)}
        for shown, step in zip(whole["steps"], plan.steps, strict=True)
    ]
    return {**whole, "action": plan.action, "steps": steps}


def brief_of(value: Json) -> CampaignBrief:
    if not isinstance(value, Mapping):
        raise NotACase("input.brief is an object")
    return read_brief(dumps(value))


def _edit(value: Json) -> Edit:
    if "field" in value:  # a bulk edit
        mode = value.get("mode", "set")
        amount = value["value"] if mode == "set" else {"mode": mode, "value": value["value"]}
        value = {"fields": {value["field"]: amount}}
    fields = {
        name: Percentage(one["mode"], Decimal(one["value"])) if isinstance(one, Mapping) else one
        for name, one in value.get("fields", {}).items()
    }
    return Edit(fields, value.get("targeting") or {}, value.get("creative") or {})


# -- the source of an activation ----------------------------------------------------------------------------------

_ABOUT = ("case", "source", "brief", "outputs", "now")


def source_of(case: Case, library: Library) -> tuple[Plan, Mapping[str, Outputs]]:
    """The source of an activation: its plan, and what each of its steps brought."""
    given = case.input
    outputs = given.get("outputs") or {name: one for name, one in given.items() if name not in _ABOUT}
    if not isinstance(outputs, Mapping) or not outputs:
        raise NotACase("input holds the outputs of the source operation per step key")
    named = given.get("case") or given.get("source")
    if isinstance(given.get("brief"), Mapping):
        plan = run_flow(plan_create(case.account, brief_of(given["brief"])), Conversation(case.network, ()).answer)
    elif isinstance(named, str):
        plan = created(library.named(case.network, named), library)
    else:
        plan = _fitting(case, library, set(outputs))
    return plan, dict(_named_outputs(case.network, plan, key, value) for key, value in outputs.items())


def created(case: Case, library: Library) -> Plan:
    """The plan of another case."""
    return run_flow(planned_by(case, library), Conversation(case.network, case.exchange).answer)


def _fitting(case: Case, library: Library, keys: set[str]) -> Plan:
    """The first create plan of the network that has these step keys: of a case, else of an example brief."""
    for one in library.creating(case.network):
        plan = created(one, library)
        if all(step_called(case.network, plan.steps, key) for key in keys):
            return plan
    for path in list_example_briefs(case.network):
        brief = read_brief(path.read_bytes())
        account = evolve(case.account, currency=brief.budget.currency, timezone=get_samples(case.network).timezone)
        plan = run_flow(plan_create(account, brief), Conversation(case.network, ()).answer)
        if all(step_called(case.network, plan.steps, key) for key in keys):
            return plan
    raise NotACase(f"no create plan of {case.network} has the steps {', '.join(sorted(keys))}")


def _named_outputs(network: str, plan: Plan, key: str, value: Json) -> tuple[str, Outputs]:
    step = step_called(network, plan.steps, key)
    names = output_names(step) if step is not None else []
    if not isinstance(value, Mapping):
        if len(names) != 1:
            raise NotACase(f"the outputs of {key} are an object: {', '.join(names)}")
        value = {names[0]: value}
    if len(names) == len(value) == 1:  # one output each: its name says nothing more
        value = {names[0]: next(iter(value.values()))}
    outputs = {name: one if isinstance(one, str) else [str(id_) for id_ in one] for name, one in value.items()}
    return step.key if step is not None else key, outputs


def step_called(network: str, steps: Sequence[Step], name: str) -> Step | None:
    """The step of this key; else the only one there is, or of a level of that name, unified or native."""
    for step in steps:
        if step.key == name or len(steps) == 1:
            return step
    word = _word(name)
    kinds = {one.kind for one in get_adapter(network).network.levels if word in (_word(one.kind), _word(one.native))}
    found = [step for step in steps if step.kind in kinds or _word(step.kind) == word]
    return found[0] if len(found) == 1 else None


def _word(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removesuffix("s")


def output_names(step: Step) -> list[str]:
    """What a step brings, by name."""
    return [output.name for output in step.outputs] + ([step.items.output] if step.items is not None else [])
