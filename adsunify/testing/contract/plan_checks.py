"""Checks that every plan must pass, whatever its case expects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from adsunify.adapter.network import Network
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Outputs, Plan, Step, encode_plan
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import get_value

from .cases import Case, Library
from .kinds import CaseResult, run_case
from .matching import Difference, make_difference
from .plans import find_activation_source, list_output_names, make_plan_of_case
from .writes import find_answered_step

_has_secret_name = re.compile(
    r"(?i)authorization|access_?token|refresh_?token|client_?secret|appsecret|password|cookie"
).search


def check_result(case: Case, library: Library, result: CaseResult) -> Iterator[Difference]:
    """Yield the defects of the plan of a case, or of the outputs of an applied write."""
    if result.plan is not None:
        again = run_case(case, library).plan
        if again is None or encode_plan(again) != encode_plan(result.plan):
            yield Difference("/plan", "the same bytes for the same input", "others the second time")
        network = get_adapter(case.network).network
        yield from check_plan(network, result.plan, must_be_paused=case.kind == "create")
        if case.kind == "activate":
            yield from check_activation(network, result.plan, find_activation_source(case, library)[1])
    if case.kind == "outcome" and result.value["outcome"] == "applied":
        yield from _check_bound_outputs(case, library, result)


def check_plan(network: Network, plan: Plan, *, must_be_paused: bool) -> Iterator[Difference]:
    """Check a plan: its JSON, its requests and its bindings.

    Args:
        network: the tables of the network.
        plan: the plan.
        must_be_paused: whether nothing that the plan creates may serve ads.
    """
    stored = encode_plan(plan)
    if encode_plan(Plan.from_bytes(stored, plan.digest)) != stored:
        yield Difference("/plan", "the same plan after a round trip through JSON", "another")
    earlier: dict[str, list[str]] = {}
    for index, step in enumerate(plan.steps):
        place = f"/steps/{index}"
        for request in [step.request, *([step.overlay.read_request] if step.overlay is not None else [])]:
            yield from check_request(network, request, place)
        if step.request.kind != "write":
            yield Difference(f"{place}/nature", "a write", step.request.kind)
        for binding in step.bindings:
            if binding.output not in earlier.get(binding.step, ()):
                outputs = f"one of {earlier}"
                yield Difference(f"{place}/bindings{binding.to}", outputs, f"{binding.step}.{binding.output}")
        earlier[step.key] = list_output_names(step)
        if must_be_paused:
            yield from check_paused(network, step, place)


def check_request(network: Network, request: Request, place: str) -> Iterator[Difference]:
    """Check that a request uses https and a declared host, and has no member with the name of a credential."""
    address = urlsplit(build_request_url(request))
    if address.scheme != "https" or address.netloc not in network.hosts:
        yield Difference(f"{place}/url", f"https and one of {', '.join(network.hosts)}", build_request_url(request))
    for name in [*request.headers, *request.query, *_list_member_names(request.body)]:
        if _has_secret_name(name):
            yield Difference(place, "no credential in a plan", f"a member named {name}")


def _list_member_names(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name
            yield from _list_member_names(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _list_member_names(member)


# -- paused at creation -------------------------------------------------------------------------------------------


def check_paused(network: Network, step: Step, place: str) -> Iterator[Difference]:
    """Yield where a step creates an entity that is not paused, unless the table of its level has no initial status."""
    if step.action != "create":
        return
    status_members = _list_status_members(network)
    statuses = {native: unified for level in network.levels for native, unified in level.unified_statuses.items()}
    for inner_place, entity, kind in _list_created_entities(network, step):
        level = next((level for level in network.levels if level.kind == kind), None)
        if level is not None and not level.initial_status:
            continue
        sent = {name: entity[name] for name in status_members if isinstance(entity.get(name), str | bool)}
        for name, value in sent.items():
            if value is not False and statuses.get(value) != "paused":  # false is a flag that is off
                yield make_difference(f"{place}{inner_place}/{name}", "a paused state", value)
        if level is not None and level.initial_status and not sent:
            expected = f"{level.status} = {level.initial_status}"
            yield make_difference(f"{place}{inner_place}", expected, dumps(entity)[:200])


def _list_created_entities(network: Network, step: Step) -> Iterator[tuple[str, Mapping[str, Json], str]]:
    """The place, members and kind of each entity that a step creates. A batch may name the kinds by operation."""
    body = step.request.body
    if body is None and step.request.query:
        yield "/query", step.request.query, step.kind
    if not isinstance(body, Mapping):
        return
    if len(body) == 1 and isinstance(content := next(iter(body.values())), Mapping):
        yield f"/body/{next(iter(body))}", content, step.kind  # an envelope around one entity
        return
    lists = [
        (name, value)
        for name, value in body.items()
        if isinstance(value, list) and value and isinstance(value[0], Mapping)
    ]
    if not lists or (step.items is None and not any("create" in str(entries[0]) for _, entries in lists)):
        single = [
            (name, entries[0]) for name, entries in lists if len(entries) == 1 and _has_status(network, entries[0])
        ]
        if len(single) == 1 and not _has_status(network, body):  # a list of one entity, and members about this entity
            yield f"/body/{single[0][0]}/0", single[0][1], step.kind
            return
        yield "/body", body, step.kind
        return
    for name, entries in lists:
        for index, entry in enumerate(entries):
            place = f"/body/{name}/{index}"
            operations = [
                (key, value["create"])
                for key, value in entry.items()
                if isinstance(value, Mapping) and "create" in value
            ]
            content = entry.get("data")  # an item with the entity and a number
            if isinstance(content, Mapping):
                yield f"{place}/data", content, step.kind
            elif not operations:
                yield place, entry, step.kind
            for key, entity in operations:
                yield f"{place}/{key}/create", entity, _find_kind(network, key.removesuffix("Operation"))


def _has_status(network: Network, entity: Mapping[str, Json]) -> bool:
    return not _list_status_members(network).isdisjoint(entity)


def _list_status_members(network: Network) -> set[str]:
    """The members that hold the status. A level has one status member, or several that together hold the status."""
    single = {level.status.rpartition("/")[2] for level in network.levels if isinstance(level.status, str)}
    several = {name for level in network.levels for members in level.status_members.values() for name in members}
    return (single | several) - {""}


def _find_kind(network: Network, native: str) -> str:
    """The kind of a level by its native name, such as adGroupAd for the ad."""
    return next((level.kind for level in network.levels if level.native.lower() == native.lower()), "")


# -- activation ---------------------------------------------------------------------------------------------------


def check_activation(network: Network, plan: Plan, outputs: Mapping[str, Outputs]) -> Iterator[Difference]:
    """Check that an activation begins with the leaves and changes only what the source operation created.

    Args:
        network: the tables of the network.
        plan: the plan of the activation.
        outputs: the outputs of the steps of the source operation, by step key.
    """
    created_ids = {
        id_
        for step_outputs in outputs.values()
        for ids in step_outputs.values()
        for id_ in ([ids] if isinstance(ids, str) else ids)
    }
    kinds = [level.kind for level in network.levels]
    lowest = len(kinds)
    for index, step in enumerate(plan.steps):
        for kind, id_ in _list_changed_entities(network, step):
            if id_ not in created_ids:
                expected = f"one of what the source made: {sorted(created_ids)}"
                yield Difference(f"/steps/{index}", expected, f"{kind} {id_}")
            if kind in kinds:
                if kinds.index(kind) > lowest:
                    yield Difference(f"/steps/{index}", f"leaves before a {kinds[lowest]}", kind)
                lowest = kinds.index(kind)


def _list_changed_entities(network: Network, step: Step) -> Iterator[tuple[str, Json]]:
    """The kind and id of each entity that a step changes."""
    if step.items is None:
        yield step.kind, step.entity
        return
    for item in get_value({"body": step.request.body}, step.items.at, []):
        if isinstance(item, str):  # a list of ids
            yield step.kind, item
            continue
        operations = [
            (name, value["update"]) for name, value in item.items() if isinstance(value, Mapping) and "update" in value
        ]
        content = item.get("data")
        if isinstance(content, Mapping):
            yield step.kind, str(content.get("id"))
        elif not operations:
            yield step.kind, item.get(step.items.sent)
        for name, entity in operations:
            yield _find_kind(network, name.removesuffix("Operation")), entity.get("resourceName")


# -- outputs that bindings need -----------------------------------------------------------------------------------


def _check_bound_outputs(case: Case, library: Library, result: CaseResult) -> Iterator[Difference]:
    """Check that an applied write has the outputs that later steps of its plan bind."""
    step, source = find_answered_step(case, library)
    if source is None:
        return
    outputs = result.value["outputs"]
    for later in make_plan_of_case(source, library).steps:
        for binding in later.bindings:
            if binding.step == step.key and not outputs.get(binding.output):
                expected = f"{binding.output}, which {later.key} is bound to"
                yield Difference("/outputs", expected, str(outputs))
