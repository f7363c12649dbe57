"""Flows: reads that talk to a network, as generators without I/O, and the records they return.

A flow yields a :class:`~adsunify.http.messages.Request` (or a ``Sleep``) and receives its ``Response``. Any driver can
run it: the transport, a test, or :func:`replay_flow` from recorded answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from adsunify.adapter.error_rules import find_read_error
from adsunify.adapter.network import Network
from adsunify.errors import (
    Issue,
    LookupNeeded,
    ProviderError,
    ProviderNotFound,
    ProviderUnreadable,
)
from adsunify.http.messages import Flow, Request, Response, Sleep, build_request_url
from adsunify.values.exact_json import dumps_canonical

ResultT = TypeVar("ResultT")
MAX_PAGES = 1_000
"""No list of an account is read further than this; a tree that is longer says ``truncated``."""
MAX_FLOW_BYTES = 64 * 1024 * 1024
MAX_FLOW_SECONDS = 300.0
"""A flow asks nothing more once its answers have so many bytes together (inflated), or after so long."""


# -- asking -------------------------------------------------------------------------------------------------------


def completed_flow(result: ResultT) -> Flow[ResultT]:
    """A flow that reads nothing and returns the result."""
    yield from ()
    return result


def fetch_response(network: Network, request: Request) -> Flow[Response]:
    """Send a read and return its good answer; raises the ProviderError that the ERRORS table makes of a bad one."""
    response = yield request
    problem = find_read_error(network, response)
    if problem is not None:
        raise problem
    return response


def fetch_or_none(network: Network, request: Request) -> Flow[Response | None]:
    """As :func:`fetch_response`, but None where the network has no such thing."""
    try:
        return (yield from fetch_response(network, request))
    except ProviderNotFound:
        return None


def fetch_if_possible(network: Network, request: Request) -> Flow[Response | None]:
    """As :func:`fetch_response`, but None where no good answer is to be had: refused, not reached, or not recorded."""
    try:
        return (yield from fetch_response(network, request))
    except (ProviderError, LookupNeeded):
        return None


def fetch_pages(
    network: Network, request: Request, following: Callable[[Request, Response], Request | None]
) -> Generator[Request | Sleep, Response, list[Response]]:
    """All pages of a list. ``following`` makes the request of the next page from an answer, None at the end.

    A cursor that comes back a second time is refused as unreadable.
    """
    answers = [(yield from fetch_response(network, request))]
    seen: set[bytes] = set()
    while (then := following(request, answers[-1])) is not None:
        seen.add(dumps_canonical(request.to_json()))
        if dumps_canonical(then.to_json()) in seen or len(answers) >= MAX_PAGES:
            raise ProviderUnreadable(f"{network.title}: the list does not end, or its cursor repeats.")
        request = then
        answers.append((yield from fetch_response(network, request)))
    return answers


def memoize_reads(flow: Flow[ResultT]) -> Flow[ResultT]:
    """The flow, each of its reads asked once: the same request has the same good answer again. A wait forgets."""
    answers: dict[bytes, Response] = {}
    try:
        item = next(flow)
        while True:
            key = dumps_canonical(item.to_json()) if isinstance(item, Request) and item.kind == "read" else None
            if isinstance(item, Sleep):
                answers.clear()
            if key in answers:
                item = flow.send(answers[key])
                continue
            try:
                response = yield item
            except (ProviderError, LookupNeeded) as problem:
                item = flow.throw(problem)
                continue
            if key is not None and response.is_ok:
                answers[key] = response
            item = flow.send(response)
    except StopIteration as end:
        result: ResultT = end.value
        return result


# -- driving ------------------------------------------------------------------------------------------------------


def run_flow(flow: Flow[ResultT], answer: Callable[[Request], Response]) -> ResultT:
    """Run a flow with a function that answers requests; waits are passed over.

    A ProviderError or LookupNeeded of ``answer`` is raised inside the flow, which may handle it.
    """
    try:
        item = next(flow)
        while True:
            try:
                response = Response(204, {}, None, "empty") if isinstance(item, Sleep) else answer(item)
            except (ProviderError, LookupNeeded) as problem:
                item = flow.throw(problem)
            else:
                item = flow.send(response)
    except StopIteration as end:
        result: ResultT = end.value
        return result


async def run_flow_async(
    flow: Flow[ResultT],
    send: Callable[[Request], Awaitable[Response]],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ResultT:
    """Run a flow of reads to its result. A ProviderError of ``send`` is raised inside the flow, which may handle it.

    Raises what the flow raises; ValueError where a flow asks for a write; ProviderUnreadable where its answers exceed
    :data:`MAX_FLOW_BYTES` together, or it goes on asking after :data:`MAX_FLOW_SECONDS`.
    """
    loop = asyncio.get_running_loop()
    deadline, size = loop.time() + MAX_FLOW_SECONDS, 0
    try:
        item = next(flow)
        while True:
            if size > MAX_FLOW_BYTES or loop.time() > deadline:
                limit = f"{MAX_FLOW_BYTES // 2**20} MiB" if size > MAX_FLOW_BYTES else f"{MAX_FLOW_SECONDS:g} seconds"
                raise ProviderUnreadable(f"The network's answers to this call take more than {limit}; ask for less.")
            try:
                answer = await _perform_request(item, send, sleep)
            except ProviderError as problem:
                problem.outcome = "not_applied"  # a flow only reads, whatever became of the request
                item = flow.throw(problem)
            else:
                size += answer.size
                item = flow.send(answer)
    except StopIteration as end:
        result: ResultT = end.value
        return result
    finally:
        flow.close()


async def _perform_request(
    item: Request | Sleep,
    send: Callable[[Request], Awaitable[Response]],
    sleep: Callable[[float], Awaitable[None]],
) -> Response:
    if isinstance(item, Sleep):
        await sleep(max(0.0, item.seconds))
        return Response(204, {}, None, "empty")
    if item.kind == "write":
        raise ValueError("a flow only reads")
    return await send(item)


def _normalize_url(url: str) -> tuple[str, list[tuple[str, str]]]:
    """The address and its query parameters, whatever their order."""
    address, _, query = url.partition("?")
    return address, sorted(parse_qsl(query, keep_blank_values=True))


def replay_flow(flow: Flow[ResultT], exchange: Sequence[Mapping[str, Any]]) -> ResultT:
    """Run a flow from recorded answers: a list of ``{"request": {"method", "url"}, "response": {"status", "body"}}``.

    Raises LookupNeeded where the flow asks for something that was not recorded.
    """
    recorded = list(exchange)

    def find_recorded_response(request: Request) -> Response:
        url = build_request_url(request)
        for index, record in enumerate(recorded):
            expected = record["request"]
            if expected.get("method", request.method) == request.method and _normalize_url(
                expected["url"]
            ) == _normalize_url(url):
                del recorded[index]
                recorded_response = record["response"]
                body = recorded_response.get("body")
                headers = {name.lower(): value for name, value in recorded_response.get("headers", {}).items()}
                return Response(
                    recorded_response.get("status", 200), headers, body, "empty" if body is None else "json"
                )
        raise LookupNeeded(
            (
                Issue(
                    "lookups",
                    "lookup_needed",
                    f"The plan needs an answer to {request.method} {url}; give it as a recorded look-up.",
                ),
            )
        )

    return run_flow(flow, find_recorded_response)
