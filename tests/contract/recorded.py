"""A case's ``exchange`` as the network: it answers the requests of a flow, and holds each against what is recorded."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence

from adsunify.connecting import App, Credentials
from adsunify.networks import adapter
from adsunify.wire import Json, Request, Response, dumps, filled

from .matching import Difference, body_differences, header_differences, shown, url_differences

PLANTED = "planted-credential"
_MEDIA = {"json": "application/json", "form": "application/x-www-form-urlencoded"}
_MEDIA["form_json"] = _MEDIA["form"]


class Unexpected(Exception):
    """A flow asked for something else than the case says; ``difference`` tells where."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(str(difference))
        self.difference = difference


class Conversation:
    """Answers requests in the order of the exchange. Raises Unexpected for any other."""

    def __init__(self, network: str, exchange: Sequence[Mapping[str, Json]]) -> None:
        self.network = network
        self.exchange = tuple(exchange)
        self.asked: list[Request] = []

    @property
    def left(self) -> tuple[Mapping[str, Json], ...]:
        return self.exchange[len(self.asked) :]

    def answer(self, request: Request) -> Response:
        place = f"/exchange/{len(self.asked)}"
        if not self.left:
            raise Unexpected(Difference(place, "no further request", f"{request.method} {filled(request)}"))
        recorded = self.left[0]
        wrong = next(request_differences(self.network, recorded.get("request") or {}, request, place), None)
        if wrong is not None:
            raise Unexpected(wrong)
        self.asked.append(request)
        return response_of(recorded["response"], request)


def request_differences(
    network: str, expected: Mapping[str, Json], request: Request, place: str
) -> Iterator[Difference]:
    """Where a request is not the recorded one: method, address, body and headers, as far as they are named."""
    if expected.get("method", request.method) != request.method:
        yield Difference(f"{place}/request/method", shown(expected["method"]), f"{request.method} {filled(request)}")
    if expected.get("url"):
        yield from url_differences(str(expected["url"]), filled(request), f"{place}/request/url")
    signed = {name.lower() for name in set(_signed(network, request).headers) - set(request.headers)}
    headers = {name: value for name, value in (expected.get("headers") or {}).items() if name.lower() not in signed}
    yield from header_differences(headers, headers_of(request), f"{place}/request/headers")
    if expected.get("body") is not None:
        yield from body_differences(expected["body"], request.body, request.encoding, f"{place}/request/body")


def _signed(network: str, request: Request) -> Request:
    sign = adapter(network).reads.sign
    return sign(request, Credentials(PLANTED), App(PLANTED, PLANTED), 0, PLANTED)


def headers_of(request: Request) -> dict[str, str]:
    """The headers of a request, with the media type that its encoding implies."""
    lower = {name.lower(): value for name, value in request.headers.items()}
    if request.encoding in _MEDIA:
        lower.setdefault("content-type", _MEDIA[request.encoding])
    return lower


def response_of(recorded: Mapping[str, Json], request: Request) -> Response:
    """A recorded answer as it would have come: its bytes are made, and read as every answer is."""
    headers = {str(name): str(value) for name, value in (recorded.get("headers") or {}).items()}
    body = recorded.get("body")
    content = body.encode() if isinstance(body, str) else b"" if body is None else dumps(body).encode()
    status = int(recorded.get("status", 200))
    if request.answer == "bytes" and status < 300 and "gzip" in " ".join(headers.values()).lower():
        content = gzip.compress(content, mtime=0)
    return Response.of(status, headers, content, request.answer)
