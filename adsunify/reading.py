"""Flows: reads that talk to a network, as generators without I/O, and the records they return.

A flow yields a :class:`~adsunify.wire.Request` (or a ``Wait``) and receives its ``Response``; any driver can run it:
the transport, a test, or :func:`answered` from recorded answers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from attrs import field, frozen

from .errors import InvalidInput, Issue, LookupNeeded, ProviderError, ProviderNotFound, ProviderUnreadable, refused
from .network import Account, Catalog, Level, Network, level, unified, value_at
from .outcomes import failure
from .wire import Flow, Json, Request, Response, Wait, canonical, filled, identifier, read, rows, text

Result = TypeVar("Result")
MAX_PAGES = 1_000
"""No list of an account is read further than this; a tree that is longer says ``truncated``."""
FILTER_PAGES = 20
"""A list that is filtered on our side reads at most this many provider pages for one call."""
FLOW_BYTES = 64 * 1024 * 1024
FLOW_SECONDS = 300.0
"""A flow asks nothing more once its answers have so many bytes together (inflated), or after so long."""


# -- what reads return --------------------------------------------------------------------------------------------


@frozen
class Entity:
    """One native entity: ``status`` is the unified one (None where unknown), ``native`` the whole as it was read."""

    kind: str
    id: str
    parent_id: str | None
    name: str | None
    status: str | None
    native_status: str | None
    native: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "id": self.id,
            "parentId": self.parent_id,
            "name": self.name,
            "status": self.status,
            "nativeStatus": self.native_status,
            "native": dict(self.native),
        }


@frozen
class Page:
    """One page of entities or catalog rows; ``cursor`` is the network's own, None at the end."""

    entities: tuple[Entity, ...]
    cursor: str | None = None


@frozen
class Query:
    """How a list is asked for. ``cursor`` is the network's own (the service signs and unsigns it)."""

    limit: int = 50
    cursor: str | None = None
    parent_id: str | None = None
    status: str | None = None
    search: str | None = None


@frozen
class Tree:
    """The native hierarchy, flat, parents first."""

    nodes: tuple[Entity, ...]
    truncated: bool = False


@frozen
class CatalogRow:
    """One row of a catalog."""

    id: str
    name: str
    native: Json

    def to_json(self) -> dict[str, Json]:
        return {"id": self.id, "name": self.name, "native": self.native}


@frozen
class CatalogPage:
    """One page of a catalog."""

    rows: tuple[CatalogRow, ...]
    cursor: str | None = None


@frozen
class FoundAccount:
    """An ad account that a token reaches; ``status`` is ``active`` or a native word where it cannot serve."""

    native_id: str
    name: str
    currency: str | None
    timezone: str | None
    native_status: str | None = None
    extras: Mapping[str, str] = field(factory=dict)


# -- asking -------------------------------------------------------------------------------------------------------


def settled(result: Result) -> Flow[Result]:
    """A flow that reads nothing and returns the result."""
    yield from ()
    return result


def ask(network: Network, request: Request) -> Flow[Response]:
    """Send a read and return its good answer; raises the ProviderError that the ERRORS table makes of a bad one."""
    response = yield request
    problem = failure(network, response)
    if problem is not None:
        raise problem
    return response


def maybe(network: Network, request: Request) -> Flow[Response | None]:
    """As :func:`ask`, but None where the network has no such thing."""
    try:
        return (yield from ask(network, request))
    except ProviderNotFound:
        return None


def optional(network: Network, request: Request) -> Flow[Response | None]:
    """As :func:`ask`, but None where no good answer is to be had: refused, not reached, or not recorded."""
    try:
        return (yield from ask(network, request))
    except (ProviderError, LookupNeeded):
        return None


def pages(
    network: Network, request: Request, following: Callable[[Request, Response], Request | None]
) -> Generator[Request | Wait, Response, list[Response]]:
    """All pages of a list. ``following`` makes the request of the next page from an answer, None at the end.

    A cursor that comes back a second time is refused as unreadable.
    """
    answers = [(yield from ask(network, request))]
    seen: set[bytes] = set()
    while (then := following(request, answers[-1])) is not None:
        seen.add(canonical(request.to_json()))
        if canonical(then.to_json()) in seen or len(answers) >= MAX_PAGES:
            raise ProviderUnreadable(f"{network.title}: the list does not end, or its cursor repeats.")
        request = then
        answers.append((yield from ask(network, request)))
    return answers


def entity(one: Level, native: Mapping[str, Json], parent_id: str | None = None) -> Entity:
    """A native entity read by its level's pointers; raises ProviderUnreadable where it has no id."""
    found = identifier(read(native, one.id))
    if found is None:
        raise ProviderUnreadable(f"A {one.native} in the answer has no id.")
    native_status = text(native, one.status) if one.status else None
    parent = parent_id if parent_id is not None else identifier(read(native, one.parent)) if one.parent else None
    return Entity(one.kind, found, parent, text(native, one.name), unified(one, native_status), native_status, native)


def nest(nodes: Iterable[Entity]) -> tuple[Entity, ...]:
    """The nodes, given parents first, without those whose parent was not read (deleted, or out of reach) and all that
    hangs on them."""
    kept: list[Entity] = []
    known: set[str] = set()
    for node in nodes:
        if node.parent_id is None or node.parent_id in known:
            known.add(node.id)
            kept.append(node)
    return tuple(kept)


# -- whose an entity is --------------------------------------------------------------------------------------------


def known(network: Network, kind: str, entity_id: str) -> None:
    """Raise ProviderNotFound for what is no id of this kind: nothing is asked for it."""
    one = level(network, kind)
    if re.fullmatch(one.ids, entity_id) is None:
        raise ProviderNotFound(f"{network.title} has no {one.native} of such an id.")


def owned(
    network: Network, account: Account, found: Entity, above: Callable[[Level, str], Flow[Entity]]
) -> Flow[tuple[Entity, ...]]:
    """The entity as it was read, for a network whose requests do not name the account; then what it hangs on, as far
    up as has to be read for one that says whose it is. ``above`` reads one without asking whose it is.

    Raises ProviderNotFound for another account's, ProviderUnreadable where the network does not say.
    """
    line = [found]
    while True:
        one = level(network, line[-1].kind)
        owner = identifier(value_at(line[-1].native, one.account)) if one.account else None
        if owner == account.native_id:
            return tuple(line)
        if owner is not None:
            raise ProviderNotFound(
                f"{network.title}: the account has no {level(network, found.kind).native} {found.id}."
            )
        if not one.parent_kind or line[-1].parent_id is None:
            raise ProviderUnreadable(f"{network.title} does not say which account the {one.native} belongs to.")
        line.append((yield from above(level(network, one.parent_kind), line[-1].parent_id)))


def remembered(flow: Flow[Result]) -> Flow[Result]:
    """The flow, each of its reads asked once: the same request has the same good answer again. A wait forgets."""
    answers: dict[bytes, Response] = {}
    try:
        asked = next(flow)
        while True:
            key = canonical(asked.to_json()) if isinstance(asked, Request) and asked.nature == "read" else None
            if isinstance(asked, Wait):
                answers.clear()
            if key in answers:
                asked = flow.send(answers[key])
                continue
            try:
                given = yield asked
            except (ProviderError, LookupNeeded) as problem:
                asked = flow.throw(problem)
                continue
            if key is not None and given.ok:
                answers[key] = given
            asked = flow.send(given)
    except StopIteration as done:
        result: Result = done.value
        return result


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(network: Network, account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of an allow-listed catalog; ``resource`` is ``name`` or ``name:suffix`` (``_`` stands for a space).

    ``query.search`` is the suffix of a catalog that takes one and was given none; others are filtered by it here.
    """
    name, _, suffix = resource.partition(":")
    declared = next((one for one in network.catalogs if one.resource == name), None)
    if declared is None:
        names = ", ".join(one.resource for one in network.catalogs)
        raise refused("resource", "catalog_not_supported", f"{network.title} has no catalog {name}; it has {names}.")
    sought, search = suffix.replace("_", " "), query.search or ""
    if declared.suffix != "none" and not sought:
        sought, search = search, ""
    if (declared.suffix == "required" and not sought) or (declared.suffix == "none" and suffix):
        form = f"{name}:<text>" if declared.suffix == "required" else name
        raise refused("resource", "catalog_suffix", f"This catalog is asked for as {form}.")
    response = yield from ask(network, declared.request(account, sought, query.cursor, query.limit))
    following = declared.next(response) if declared.next is not None else None
    found = catalog_rows(declared, response)
    return CatalogPage(tuple(row for row in found if search.casefold() in row.name.casefold()), following)


def catalog_rows(declared: Catalog, response: Response) -> tuple[CatalogRow, ...]:
    """The rows of a catalog's answer; rows without an id are unreadable."""
    found: list[CatalogRow] = []
    listed = declared.items(response) if callable(declared.items) else rows(response.body, declared.items, "catalog")
    for native in listed:
        row_id = identifier(value_at(native, declared.id))
        if row_id is None:
            raise ProviderUnreadable(f"A row of the catalog {declared.resource} has no id.")
        name = value_at(native, declared.name)
        found.append(CatalogRow(row_id, name if isinstance(name, str) else row_id, native))
    return tuple(found)


# -- lists --------------------------------------------------------------------------------------------------------


def check_query(network: Network, kind: str, query: Query) -> Level:
    """The level of a list, its parent and status filters held against the table."""
    one = level(network, kind)
    issues: list[Issue] = []
    if query.parent_id is not None and not one.parent_kind:
        issues.append(Issue("parentId", "not_supported", f"A {kind} of {network.title} has no parent to filter by."))
    if query.status is not None and query.status not in one.filters:
        accepted = ", ".join(one.filters) or "none"
        issues.append(
            Issue("status", "choice", f"{network.title} filters a {kind} by these native statuses: {accepted}.")
        )
    if issues:
        raise InvalidInput(issues)
    return one


# -- driving ------------------------------------------------------------------------------------------------------


def drive(flow: Flow[Result], answer: Callable[[Request], Response]) -> Result:
    """Run a flow with a function that answers requests; waits are passed over.

    A ProviderError or LookupNeeded of ``answer`` is raised inside the flow, which may handle it.
    """
    try:
        asked = next(flow)
        while True:
            try:
                given = Response(204, {}, None, "empty") if isinstance(asked, Wait) else answer(asked)
            except (ProviderError, LookupNeeded) as problem:
                asked = flow.throw(problem)
            else:
                asked = flow.send(given)
    except StopIteration as done:
        result: Result = done.value
        return result


async def run_flow_async(
    flow: Flow[Result],
    send: Callable[[Request], Awaitable[Response]],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Result:
    """Run a flow of reads to its result. A ProviderError of ``send`` is raised inside the flow, which may handle it.

    Raises what the flow raises; ValueError where a flow asks for a write; ProviderUnreadable where its answers exceed
    :data:`FLOW_BYTES` together, or it goes on asking after :data:`FLOW_SECONDS`.
    """
    loop = asyncio.get_running_loop()
    deadline, size = loop.time() + FLOW_SECONDS, 0
    try:
        asked = next(flow)
        while True:
            if size > FLOW_BYTES or loop.time() > deadline:
                limit = f"{FLOW_BYTES // 2**20} MiB" if size > FLOW_BYTES else f"{FLOW_SECONDS:g} seconds"
                raise ProviderUnreadable(f"The network's answers to this call take more than {limit}; ask for less.")
            try:
                answer = await _answer(asked, send, sleep)
            except ProviderError as problem:
                problem.outcome = "not_applied"  # a flow only reads, whatever became of the request
                asked = flow.throw(problem)
            else:
                size += answer.size
                asked = flow.send(answer)
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        flow.close()


async def _answer(
    asked: Request | Wait,
    send: Callable[[Request], Awaitable[Response]],
    sleep: Callable[[float], Awaitable[None]],
) -> Response:
    if isinstance(asked, Wait):
        await sleep(max(0.0, asked.seconds))
        return Response(204, {}, None, "empty")
    if asked.nature == "write":
        raise ValueError("a flow only reads")
    return await send(asked)


def _any_order(url: str) -> tuple[str, list[tuple[str, str]]]:
    """The address and its query parameters, whatever their order."""
    address, _, query = url.partition("?")
    return address, sorted(parse_qsl(query, keep_blank_values=True))


def answered(flow: Flow[Result], exchange: Sequence[Mapping[str, Any]]) -> Result:
    """Run a flow from recorded answers: a list of ``{"request": {"method", "url"}, "response": {"status", "body"}}``.

    Raises LookupNeeded where the flow asks for something that was not recorded.
    """
    recorded = list(exchange)

    def answer(request: Request) -> Response:
        url = filled(request)
        for index, one in enumerate(recorded):
            wanted = one["request"]
            if wanted.get("method", request.method) == request.method and _any_order(wanted["url"]) == _any_order(url):
                del recorded[index]
                said = one["response"]
                body = said.get("body")
                headers = {name.lower(): value for name, value in said.get("headers", {}).items()}
                return Response(said.get("status", 200), headers, body, "empty" if body is None else "json")
        raise LookupNeeded(
            (
                Issue(
                    "lookups",
                    "lookup_needed",
                    f"The plan needs an answer to {request.method} {url}; give it as a recorded look-up.",
                ),
            )
        )

    return drive(flow, answer)
