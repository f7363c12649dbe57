"""What is checked around every case that makes a plan, unasked."""

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
from .kinds import Done, run
from .matching import Difference, differ
from .plans import created, output_names, source_of
from .writes import step_of

_SECRET_NAMES = re.compile(r"(?i)authorization|access_?token|refresh_?token|client_?secret|appsecret|password|cookie")


def differences_of(case: Case, library: Library, result: Done) -> list[Difference]:
    """Everything about the case's plan that must hold of every plan."""
    differences: list[Difference] = []
    if result.plan is not None:
        again = run(case, library).plan
        if again is None or encode_plan(again) != encode_plan(result.plan):
            differences.append(Difference("/plan", "the same bytes for the same input", "others the second time"))
        network = get_adapter(case.network).network
        differences += plan_differences(network, result.plan, paused=case.kind == "create")
        if case.kind == "activate":
            differences += activation_differences(network, result.plan, source_of(case, library)[1])
    if case.kind == "outcome" and result.value["outcome"] == "applied":
        differences += _bound_elsewhere(case, library, result)
    return differences


def plan_differences(network: Network, plan: Plan, *, paused: bool) -> Iterator[Difference]:
    """``paused``: nothing that the plan creates may serve."""
    stored = encode_plan(plan)
    if encode_plan(Plan.from_bytes(stored, plan.digest)) != stored:
        yield Difference("/plan", "the same plan after a round trip through JSON", "another")
    earlier: dict[str, list[str]] = {}
    for index, step in enumerate(plan.steps):
        at = f"/steps/{index}"
        for request in [step.request, *([step.overlay.read_request] if step.overlay is not None else [])]:
            yield from request_differences(network, request, at)
        if step.request.kind != "write":
            yield Difference(f"{at}/nature", "a write", step.request.kind)
        for binding in step.bindings:
            if binding.output not in earlier.get(binding.step, ()):
                outputs = f"one of {earlier}"
                yield Difference(f"{at}/bindings{binding.to}", outputs, f"{binding.step}.{binding.output}")
        earlier[step.key] = output_names(step)
        if paused:
            yield from _serving(network, step, at)


def request_differences(network: Network, request: Request, at: str) -> Iterator[Difference]:
    """Only https, only declared hosts, and nothing that looks like a credential."""
    address = urlsplit(build_request_url(request))
    if address.scheme != "https" or address.netloc not in network.hosts:
        yield Difference(f"{at}/url", f"https and one of {', '.join(network.hosts)}", build_request_url(request))
    names = [*request.headers, *request.query, *_names(request.body)]
    for name in names:
        if _SECRET_NAMES.search(name):
            yield Difference(at, "no credential in a plan", f"a member named {name}")


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name
            yield from _names(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _names(member)


# -- born paused --------------------------------------------------------------------------------------------------


def _serving(network: Network, step: Step, at: str) -> Iterator[Difference]:
    """A created entity is paused, except where its level's table says that it cannot be."""
    if step.action != "create":
        return
    members = _status_members(network)
    states = {native: unified for one in network.levels for native, unified in one.unified_statuses.items()}
    for place, entity, kind in _entities(network, step):
        one = next((level for level in network.levels if level.kind == kind), None)
        if one is not None and not one.initial_status:
            continue
        said = {name: entity[name] for name in members if isinstance(entity.get(name), str | bool)}
        for name, value in said.items():
            if value is not False and states.get(value) != "paused":  # false: a flag that is off
                yield differ(f"{at}{place}/{name}", "a paused state", value)
        if one is not None and one.initial_status and not said:
            yield differ(f"{at}{place}", f"{one.status} = {one.initial_status}", dumps(entity)[:200])


def _entities(network: Network, step: Step) -> Iterator[tuple[str, Mapping[str, Json], str]]:
    """The entities that a step creates: place, members, kind. Batches that mix kinds name them by operation."""
    body = step.request.body
    if not isinstance(body, Mapping):
        return
    if len(body) == 1 and isinstance(inside := next(iter(body.values())), Mapping):
        yield f"/body/{next(iter(body))}", inside, step.kind  # an envelope around one entity
        return
    lists = [(name, one) for name, one in body.items() if isinstance(one, list) and one and isinstance(one[0], Mapping)]
    if not lists or (step.items is None and not any("create" in str(one[0]) for _, one in lists)):
        alone = [(name, one[0]) for name, one in lists if len(one) == 1 and _says_status(network, one[0])]
        if len(alone) == 1 and not _says_status(network, body):  # a list of one, beside what it belongs to
            yield f"/body/{alone[0][0]}/0", alone[0][1], step.kind
            return
        yield "/body", body, step.kind
        return
    for name, entries in lists:
        for index, entry in enumerate(entries):
            place = f"/body/{name}/{index}"
            mixed = [(key, one["create"]) for key, one in entry.items() if isinstance(one, Mapping) and "create" in one]
            inside = entry.get("data")  # an item around the entity, which has a number of its own beside it
            if isinstance(inside, Mapping):
                yield f"{place}/data", inside, step.kind
            elif not mixed:
                yield place, entry, step.kind
            for key, entity in mixed:
                yield f"{place}/{key}/create", entity, _kind(network, key.removesuffix("Operation"))


def _says_status(network: Network, entity: Mapping[str, Json]) -> bool:
    return not _status_members(network).isdisjoint(entity)


def _status_members(network: Network) -> set[str]:
    """The members that say a status: a level has one, or several that say it together."""
    alone = {level.status.rpartition("/")[2] for level in network.levels if isinstance(level.status, str)}
    together = {name for level in network.levels for members in level.status_members.values() for name in members}
    return (alone | together) - {""}


def _kind(network: Network, native: str) -> str:
    """The kind of a level by its native name (adGroupAd is the ad)."""
    return next((level.kind for level in network.levels if level.native.lower() == native.lower()), "")


# -- activation ---------------------------------------------------------------------------------------------------


def activation_differences(network: Network, plan: Plan, outputs: Mapping[str, Outputs]) -> Iterator[Difference]:
    """Leaves first, the campaign last; nothing but what the source operation made."""
    created_ids = {
        id_ for step in outputs.values() for one in step.values() for id_ in ([one] if isinstance(one, str) else one)
    }
    kinds = [one.kind for one in network.levels]
    lowest = len(kinds)
    for index, step in enumerate(plan.steps):
        for kind, id_ in _touched(network, step):
            if id_ not in created_ids:
                yield Difference(
                    f"/steps/{index}", f"one of what the source made: {sorted(created_ids)}", f"{kind} {id_}"
                )
            if kind in kinds:
                if kinds.index(kind) > lowest:
                    yield Difference(f"/steps/{index}", f"leaves before a {kinds[lowest]}", kind)
                lowest = kinds.index(kind)


def _touched(network: Network, step: Step) -> Iterator[tuple[str, Json]]:
    """Kind and id of everything that a step changes."""
    if step.items is None:
        yield step.kind, step.entity
        return
    for item in get_value({"body": step.request.body}, step.items.at, []):
        if isinstance(item, str):  # a list of ids
            yield step.kind, item
            continue
        mixed = [(name, one["update"]) for name, one in item.items() if isinstance(one, Mapping) and "update" in one]
        inside = item.get("data")
        if isinstance(inside, Mapping):
            yield step.kind, str(inside.get("id"))
        elif not mixed:
            yield step.kind, item.get(step.items.sent)
        for name, entity in mixed:
            yield _kind(network, name.removesuffix("Operation")), entity.get("resourceName")


# -- bindings meet the exemplary answer ---------------------------------------------------------------------------


def _bound_elsewhere(case: Case, library: Library, result: Done) -> Iterator[Difference]:
    """What later steps of the plan take from this step stands in the answer."""
    step, source = step_of(case, library)
    if source is None:
        return
    for later in created(source, library).steps:
        for binding in later.bindings:
            if binding.step == step.key and not result.value["outputs"].get(binding.output):
                yield Difference(
                    "/outputs", f"{binding.output}, which {later.key} is bound to", str(result.value["outputs"])
                )
