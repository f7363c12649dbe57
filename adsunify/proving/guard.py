"""Refuses writes that would activate something, and plans that create something active, by the adapter's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import run_flow
from adsunify.adapter.lifecycle import get_status_members
from adsunify.adapter.network import Level, Network
from adsunify.adapter.protocols import Adapter
from adsunify.errors import InvalidInput, Issue, LookupNeeded
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.plans.records import ENTITY_KINDS, Plan
from adsunify.testing.contract.plan_checks import check_paused
from adsunify.values.exact_json import Json, loads


def find_active_creation(network: Network, plan: Plan) -> str | None:
    """Return where a plan creates an entity without a paused status, in words; None if it creates none.

    Without a status, most networks create an active entity.
    """
    differences = (check_paused(network, step, f"/steps/{index}") for index, step in enumerate(plan.steps))
    return next(map(str, chain.from_iterable(differences)), None)


@frozen
class ActivationGuard:
    """The writes of a network that activate.

    Attributes:
        members: sets of members; an object with all members of one set makes an entity active.
        unpausable: the paths of levels whose entities cannot be created paused.
        addresses: method and address of requests whose address alone activates.
    """

    members: tuple[Mapping[str, Json], ...]
    unpausable: tuple[str, ...]
    addresses: frozenset[tuple[str, str]]

    def find_activation(self, request: Request) -> str | None:
        """Describe the entity that a write would activate; None if the write activates nothing."""
        if request.kind == "read":
            return None
        if (request.method, request.url) in self.addresses:
            return f"{request.method} {request.url} activates an entity."
        if self._creates_unpausable_entity(request):
            return None
        for part in _list_objects([request.body, dict(request.query)]):
            for members in self.members:
                if all(_is_equal(part.get(name), value) for name, value in members.items()):
                    words = ", ".join(f"{name} {value}" for name, value in members.items())
                    return f"{request.method} {build_request_url(request)} sends {words}."
        return None

    def _creates_unpausable_entity(self, request: Request) -> bool:
        address = build_request_url(request).partition("?")[0]
        is_update = any(name.lower() == "x-restli-method" for name in request.headers)
        return request.method == "POST" and not is_update and address.endswith(self.unpausable)


def make_guard(adapter: Adapter, account: Account) -> ActivationGuard:
    """Make the guard of a network from its levels and from the plans that set a status."""
    network = adapter.network
    members = [member for level in network.levels for member in _list_active_members(level)]
    unpausable = [
        f"/{level.path}"
        for level in network.levels
        if level.path and level.writable_statuses and not level.initial_status
    ]
    return ActivationGuard(tuple(members), tuple(unpausable), frozenset(_list_addresses(adapter, account, members)))


def _list_active_members(level: Level) -> Iterator[Mapping[str, Json]]:
    natives = {native for native, unified in level.unified_statuses.items() if unified == "active"}
    natives |= {native for unified, native in level.writable_statuses.items() if unified == "active"}
    for native in sorted(natives):
        if native in level.status_members or (isinstance(level.status, str) and level.status):
            members = get_status_members(level, native)
            yield {name.rpartition("/")[2]: value for name, value in members.items()}


def _list_addresses(adapter: Adapter, account: Account, members: list[Mapping[str, Json]]) -> Iterator[tuple[str, str]]:
    """Yield the requests of plans that activate an entity without one of the members (ChatGPT)."""

    def refuse(request: Request) -> Response:
        raise LookupNeeded([Issue("", "lookup_needed", "A guard reads nothing.")])

    by_members = ActivationGuard(tuple(members), (), frozenset())
    for level in adapter.network.levels:
        kind = next((own for own in ENTITY_KINDS if own == level.kind), None)
        if kind is None or "active" not in level.writable_statuses:
            continue
        try:
            plan = run_flow(adapter.plans.plan_status(account, kind, "1", "active"), refuse)
        except (LookupNeeded, InvalidInput):  # the plan needs a read, so the members of its write decide
            continue
        for step in plan.steps:
            if step.overlay is None and by_members.find_activation(step.request) is None:
                yield step.request.method, step.request.url


def _list_objects(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield every object in a value, also those in JSON texts of a form."""
    if isinstance(value, Mapping):
        yield value
        for member in value.values():
            yield from _list_objects(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _list_objects(member)
    elif isinstance(value, str) and value[:1] in "{[" and value:
        try:
            yield from _list_objects(loads(value))
        except ValueError:
            return


def _is_equal(sent: Json, active: Json) -> bool:
    if isinstance(sent, str) and isinstance(active, str):
        return sent.casefold() == active.casefold()
    if isinstance(sent, str) and isinstance(active, bool):
        return sent.casefold() == str(active).casefold()
    return type(sent) is type(active) and bool(sent == active)
