"""What the tests of all adapters share: answers, and flows that are run with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adsunify.adapter.flows import run_flow
from adsunify.http.messages import Flow, Request, Response, build_request_url
from adsunify.values.exact_json import dumps, loads


def make_response(body: Any, status: int = 200, **headers: str) -> Response:
    """A response with this body, bytes or JSON; ``headers`` with underscores for hyphens."""
    lower = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response.from_bytes(status, lower, body if isinstance(body, bytes) else dumps(body).encode())


def run(flow: Flow[Any], *answers: Response) -> tuple[Any, list[Request]]:
    """The result of the flow and its requests. The flow takes all of these answers, in their order."""
    requests: list[Request] = []
    remaining = list(answers)

    def answer(request: Request) -> Response:
        requests.append(request)
        return remaining.pop(0)

    result = run_flow(flow, answer)
    assert not remaining
    return result, requests


def round_trip_json(value: Any) -> Any:
    """The value that a reader of its JSON has."""
    return loads(dumps(value))


def refuse_request(request: Request) -> Response:
    raise AssertionError(f"{request.method} {build_request_url(request)} was not expected")


def make_responder(answers: Mapping[str, Any], requests: list[Request] | None = None) -> Callable[[Request], Response]:
    """A function that answers by method and address: a Response, what a callable returns, or the body of a 200."""

    def answer(request: Request) -> Response:
        if requests is not None:
            requests.append(request)
        response = answers[f"{request.method} {build_request_url(request)}"]
        if callable(response):
            response = response(request)
        return response if isinstance(response, Response) else Response(200, {}, round_trip_json(response))

    return answer
