"""A case's ``exchange`` as the network: it answers the requests of a flow, and holds each against what is recorded."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence

from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.errors import Issue, LookupNeeded
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json, dumps

from .matching import Difference, body_differences, header_differences, shown, url_differences

PLANTED = "planted-credential"
_MEDIA = {"json": "application/json", "form": "application/x-www-form-urlencoded"}
_MEDIA["form_json"] = _MEDIA["form"]


class Unexpected(LookupNeeded):
    """A flow asked for something else than the case says; ``difference`` tells where. An optional look-up goes on."""

    def __init__(self, difference: Difference) -> None:
        super().__init__((Issue("exchange", "lookup_needed", str(difference)),))
        self.difference = difference


class Conversation:
    """Answers requests from the exchange. Raises Unexpected for a request that is not recorded.

    ``strict``: only in the recorded order, each once. Else an answer that stands later, or was given before, is taken
    too: how a flow divides its reads is its own affair as long as it asks for nothing else.
    """

    def __init__(self, network: str, exchange: Sequence[Mapping[str, Json]], *, strict: bool = False) -> None:
        self.network = network
        self.exchange = tuple(exchange)
        self.strict = strict
        self.served: list[tuple[Request, int]] = []
        """Each request so far, and the place of its answer in the exchange."""

    @property
    def left(self) -> list[int]:
        """The places whose answers nobody asked for."""
        used = {place for _, place in self.served}
        return [place for place in range(len(self.exchange)) if place not in used]

    def answer(self, request: Request) -> Response:
        left = self.left
        others = [] if self.strict else [*left[1:], *(place for _, place in reversed(self.served))]
        wrongs = []
        for place in [*left[:1], *others]:
            expected = self.exchange[place].get("request") or {}
            wrong = next(request_differences(self.network, expected, request, f"/exchange/{place}"), None)
            if wrong is None:
                self.served.append((request, place))
                return response_of(self.exchange[place]["response"], request)
            wrongs.append(wrong)
        asked = f"{request.method} {build_request_url(request)}"
        raise Unexpected(
            wrongs[0] if left else Difference(f"/exchange/{len(self.exchange)}", "no further request", asked)
        )


def request_differences(
    network: str, expected: Mapping[str, Json], request: Request, place: str
) -> Iterator[Difference]:
    """Where a request is not the recorded one: method, address, body and headers, as far as they are named."""
    if expected.get("method", request.method) != request.method:
        yield Difference(
            f"{place}/request/method", shown(expected["method"]), f"{request.method} {build_request_url(request)}"
        )
    if expected.get("url"):
        yield from url_differences(str(expected["url"]), build_request_url(request), f"{place}/request/url")
    signed = {name.lower() for name in set(_signed(network, request).headers) - set(request.headers)}
    headers = {name: value for name, value in (expected.get("headers") or {}).items() if name.lower() not in signed}
    yield from header_differences(headers, headers_of(request), f"{place}/request/headers")
    if expected.get("body") is not None:
        yield from body_differences(expected["body"], request.body, request.encoding, f"{place}/request/body")


def _signed(network: str, request: Request) -> Request:
    sign = get_adapter(network).credential_flows.sign_request
    return sign(request, Credentials(PLANTED), OAuthClient(PLANTED, PLANTED), 0, PLANTED)


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
    if request.response_format == "bytes" and status < 300 and "gzip" in " ".join(headers.values()).lower():
        content = gzip.compress(content, mtime=0)
    return Response.from_bytes(status, headers, content, request.response_format)
