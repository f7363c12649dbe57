"""Flows: generators that read from a network without I/O of their own.

A flow yields a :class:`~adsunify.http.messages.Request` or a ``Sleep``, and receives the ``Response``. A driver runs
it: the transport, a test, or :func:`replay_flow` with recorded responses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from attrs import evolve

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
from adsunify.values.exact_json import Json, dumps_canonical

ResultT = TypeVar("ResultT")
MAX_PAGES = 1_000
"""The maximum number of pages of a list. A longer tree is marked ``truncated``."""
MAX_FLOW_BYTES = 64 * 1024 * 1024
MAX_FLOW_SECONDS = 300.0
"""A flow sends no further request after this many decompressed bytes of responses, or after this many seconds."""


# -- requests of a flow -------------------------------------------------------------------------------------------


def completed_flow(result: ResultT) -> Flow[ResultT]:
    """Return a flow that reads nothing and returns ``result``."""
    yield from ()
    return result


def fetch_response(network: Network, request: Request) -> Flow[Response]:
    """Send a read and return its response. An error response raises the ProviderError of its ERRORS row."""
    response = yield request
    problem = find_read_error(network, response)
    if problem is not None:
        raise problem
    return response


def fetch_or_none(network: Network, request: Request) -> Flow[Response | None]:
    """Fetch as :func:`fetch_response` does; None if the network answers that the object does not exist."""
    try:
        return (yield from fetch_response(network, request))
    except ProviderNotFound:
        return None


def fetch_if_possible(network: Network, request: Request) -> Flow[Response | None]:
    """Fetch as :func:`fetch_response` does; None if the read is refused, fails, or was not recorded."""
    try:
        return (yield from fetch_response(network, request))
    except (ProviderError, LookupNeeded):
        return None


def fetch_pages(
    network: Network, request: Request, following: Callable[[Request, Response], Request | None]
) -> Generator[Request | Sleep, Response, list[Response]]:
    """Fetch all pages of a list. ``following`` makes the next request from a response; None at the end.

    Raises:
        ProviderUnreadable: a cursor repeats, or the list has more than :data:`MAX_PAGES` pages.
    """
    answers = [(yield from fetch_response(network, request))]
    sent_requests: set[bytes] = set()
    while (next_request := following(request, answers[-1])) is not None:
        sent_requests.add(dumps_canonical(request.to_json()))
        if dumps_canonical(next_request.to_json()) in sent_requests or len(answers) >= MAX_PAGES:
            raise ProviderUnreadable(f"{network.title}: the list does not end, or its cursor repeats.")
        request = next_request
        answers.append((yield from fetch_response(network, request)))
    return answers


def next_page_builder(
    parameter: str, parse_cursor: Callable[[Response], str | int | None]
) -> Callable[[Request, Response], Request | None]:
    """Return the function for :func:`fetch_pages` that puts the next cursor into a parameter of the query."""

    def build_next_request(request: Request, response: Response) -> Request | None:
        cursor = parse_cursor(response)
        return None if cursor is None else evolve(request, query={**request.query, parameter: str(cursor)})

    return build_next_request


def fetch_rows(
    network: Network,
    request: Request,
    following: Callable[[Request, Response], Request | None],
    parse: Callable[[Response], list[Mapping[str, Json]]],
) -> Flow[list[Mapping[str, Json]]]:
    """Fetch all pages of a list as :func:`fetch_pages` does, and return their rows."""
    answers = yield from fetch_pages(network, request, following)
    return [row for answer in answers for row in parse(answer)]


def memoize_reads(flow: Flow[ResultT]) -> Flow[ResultT]:
    """Wrap a flow so that a repeated read gets the earlier successful response. A sleep clears these responses."""
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


# -- drivers ------------------------------------------------------------------------------------------------------


def run_flow(flow: Flow[ResultT], answer: Callable[[Request], Response]) -> ResultT:
    """Run a flow with a function that answers its requests, without sleeping.

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

    Raises:
        ValueError: the flow yields a write.
        ProviderUnreadable: the responses exceed :data:`MAX_FLOW_BYTES` together, or the flow continues after
            :data:`MAX_FLOW_SECONDS`. The flow itself may raise other errors.
    """
    loop = asyncio.get_running_loop()
    deadline, size = loop.time() + MAX_FLOW_SECONDS, 0
    try:
        item = next(flow)
        while True:
            if size > MAX_FLOW_BYTES or loop.time() > deadline:
                limit = f"{MAX_FLOW_BYTES // 2**20} MiB" if size > MAX_FLOW_BYTES else f"{MAX_FLOW_SECONDS:g} seconds"
                raise ProviderUnreadable(f"The network's responses exceed {limit}. Request less at once.")
            try:
                answer = await _perform_request(item, send, sleep)
            except ProviderError as problem:
                problem.outcome = "not_applied"  # a flow only reads, so no write was applied
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


def _is_same_url(first: str, second: str) -> bool:
    """Whether two addresses differ at most in the order and the encoding of their query parameters."""
    return first == second or _normalize_url(first) == _normalize_url(second)


def _normalize_url(url: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the address without its query, and the sorted query parameters."""
    address, _, query = url.partition("?")
    return address, sorted(parse_qsl(query, keep_blank_values=True))


def replay_flow(flow: Flow[ResultT], exchange: Sequence[Mapping[str, Any]]) -> ResultT:
    """Run a flow with recorded responses: ``[{"request": {"method", "url"}, "response": {"status", "body"}}]``.

    Raises:
        LookupNeeded: the flow sends a request that was not recorded.
    """
    recorded = list(exchange)

    def find_recorded_response(request: Request) -> Response:
        url = build_request_url(request)
        for index, record in enumerate(recorded):
            expected = record["request"]
            if expected.get("method", request.method) == request.method and _is_same_url(expected["url"], url):
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
                    f"The plan needs the answer to {request.method} {url}. Pass it as a recorded look-up.",
                ),
            )
        )

    return run_flow(flow, find_recorded_response)
