"""Flows driven to their results."""

from __future__ import annotations

from contextlib import suppress

import pytest

from adsunify.adapter import flows
from adsunify.adapter.flows import run_flow_async
from adsunify.errors import ProviderError, ProviderUnreadable, RequestNotSent, ResponseLost
from adsunify.http.messages import Flow, Request, Response, Sleep
from adsunify.http.transport import HttpTransport
from tests.unit.http.server import HOST, answer, answer_in_turn, serve_script

READ = Request("GET", f"https://{HOST}/x")


async def _answers(request: Request) -> Response:
    return Response(200, {}, {"url": request.url})


async def test_a_flow_asks_waits_and_returns() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def flow() -> Flow[list[object]]:
        first = yield READ
        waited = yield Sleep(2.5, "the report is not ready")
        second = yield READ
        return [first.body, waited.state, second.body]

    assert await run_flow_async(flow(), _answers, sleep=sleep) == [{"url": READ.url}, "empty", {"url": READ.url}]
    assert waits == [2.5]


async def test_a_flow_over_http() -> None:
    def flow() -> Flow[int]:
        pages = 0
        while True:
            response = yield READ
            pages += 1
            if response.body["last"]:
                return pages

    script = answer_in_turn(*(answer(200, body) for body in (b'{"last":false}', b'{"last":false}', b'{"last":true}')))
    async with serve_script(script) as server:
        sending = HttpTransport(server.url)
        assert await run_flow_async(flow(), lambda request: sending.send(request, hosts=(HOST,))) == 3


@pytest.mark.parametrize("problem", [RequestNotSent("refused"), ResponseLost("reset"), ProviderError("no")])
async def test_a_failure_is_raised_inside_the_flow_which_may_handle_it(problem: ProviderError) -> None:
    async def raise_problem(request: Request) -> Response:
        raise problem

    def read_or_warn() -> Flow[str]:
        try:
            yield READ
        except ProviderError as error:
            return f"a warning: {error.message}"
        return "fine"

    def read_or_fail() -> Flow[str]:
        yield READ
        return "fine"

    assert await run_flow_async(read_or_warn(), raise_problem) == f"a warning: {problem.message}"
    with pytest.raises(ProviderError) as failure:
        await run_flow_async(read_or_fail(), raise_problem)
    assert failure.value is problem


async def test_a_failure_may_be_followed_by_another_question() -> None:
    async def fails_once(request: Request) -> Response:
        if request.url.endswith("x"):
            raise ProviderUnreadable("gone")
        return await _answers(request)

    def flow() -> Flow[str]:
        try:
            yield READ
        except ProviderUnreadable:
            response = yield Request("GET", f"https://{HOST}/y")
        return str(response.body["url"])

    assert await run_flow_async(flow(), fails_once) == f"https://{HOST}/y"


async def test_a_flow_that_writes_is_refused_and_closed() -> None:
    closed = False

    def flow() -> Flow[None]:
        nonlocal closed
        try:
            yield Request("POST", READ.url, kind="write")
        finally:
            closed = True

    with pytest.raises(ValueError, match="only reads"):
        await run_flow_async(flow(), _answers)
    assert closed


@pytest.mark.parametrize(("size", "seconds", "pages"), [(1024 * 1024, 300.0, 65), (0, -1.0, 0)])
async def test_a_list_that_does_not_end_is_given_up(
    size: int, seconds: float, pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 64 MiB in all, or its time; also where the flow would handle a failure."""
    monkeypatch.setattr(flows, "MAX_FLOW_SECONDS", seconds)
    request_count = 0

    async def page(request: Request) -> Response:
        nonlocal request_count
        request_count += 1
        return Response(200, {}, {}, size=size)

    def read_forever() -> Flow[None]:
        while True:
            with suppress(ProviderError):
                yield READ

    with pytest.raises(ProviderUnreadable, match="MiB" if size else "seconds"):
        await run_flow_async(read_forever(), page)
    assert request_count == pages
