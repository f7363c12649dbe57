"""Plays the network of a case: answers the requests of a flow from ``exchange``, and compares them with the record."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence

from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.errors import Issue, LookupNeeded
from adsunify.http.messages import Request, Response, ResponseFormat, build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json, dumps

from .matching import Difference, compare_bodies, compare_headers, compare_urls, format_value

PLANTED_SECRET = "planted-credential"
_FORM = "application/x-www-form-urlencoded"
_MEDIA_TYPES = {"json": "application/json", "form": _FORM, "form_json": _FORM}


class UnexpectedRequest(LookupNeeded):
    """A flow made a request that the case does not record; ``difference`` shows it.

    If the request is part of an optional look-up, the flow continues.
    """

    def __init__(self, difference: Difference) -> None:
        super().__init__((Issue("exchange", "lookup_needed", str(difference)),))
        self.difference = difference


class Conversation:
    """Answers requests from the exchange of a case.

    Args:
        network: the code of the network.
        exchange: the recorded requests and responses.
        strict: answer in the recorded order only, each response once. Otherwise a later or an already
            used response may answer as well, because a flow may divide its reads in other ways.
    """

    def __init__(self, network: str, exchange: Sequence[Mapping[str, Json]], *, strict: bool = False) -> None:
        self.network = network
        self.exchange = tuple(exchange)
        self.strict = strict
        self.answered: list[tuple[Request, int]] = []
        """Each request so far, and the position of its response in the exchange."""
        self._responses: dict[tuple[int, ResponseFormat], Response] = {}

    @property
    def unused_positions(self) -> list[int]:
        """The positions of the responses that no request has used."""
        used = {position for _, position in self.answered}
        return [position for position in range(len(self.exchange)) if position not in used]

    def answer(self, request: Request) -> Response:
        """Return the recorded response of a request. Raises UnexpectedRequest if none was recorded."""
        unused = self.unused_positions
        others = [] if self.strict else [*unused[1:], *(position for _, position in reversed(self.answered))]
        first_differences = []
        for position in [*unused[:1], *others]:
            expected = self.exchange[position].get("request") or {}
            difference = next(compare_requests(self.network, expected, request, f"/exchange/{position}"), None)
            if difference is None:
                self.answered.append((request, position))
                return self.get_response(position, request)
            first_differences.append(difference)
        if unused:
            raise UnexpectedRequest(first_differences[0])
        actual = f"{request.method} {build_request_url(request)}"
        raise UnexpectedRequest(Difference(f"/exchange/{len(self.exchange)}", "no further request", actual))

    def get_response(self, position: int, request: Request) -> Response:
        """Return the response at a position of the exchange; it is parsed once for each format."""
        key = (position, request.response_format)
        if key not in self._responses:
            self._responses[key] = make_response(self.exchange[position]["response"], request)
        return self._responses[key]


def compare_requests(network: str, expected: Mapping[str, Json], request: Request, place: str) -> Iterator[Difference]:
    """Compare a request with the recorded one: method, address, body and headers, if the record names them."""
    if expected.get("method", request.method) != request.method:
        actual = f"{request.method} {build_request_url(request)}"
        yield Difference(f"{place}/request/method", format_value(expected["method"]), actual)
    if expected.get("url"):
        yield from compare_urls(str(expected["url"]), build_request_url(request), f"{place}/request/url")
    signed = {name.lower() for name in set(_sign_request(network, request).headers) - set(request.headers)}
    headers = {name: value for name, value in (expected.get("headers") or {}).items() if name.lower() not in signed}
    yield from compare_headers(headers, get_sent_headers(request), f"{place}/request/headers")
    if expected.get("body") is not None:
        yield from compare_bodies(expected["body"], request.body, request.encoding, f"{place}/request/body")


def _sign_request(network: str, request: Request) -> Request:
    sign = get_adapter(network).credential_flows.sign_request
    return sign(request, Credentials(PLANTED_SECRET), OAuthClient(PLANTED_SECRET, PLANTED_SECRET), 0, PLANTED_SECRET)


def get_sent_headers(request: Request) -> dict[str, str]:
    """Return the headers of a request, with the media type that its encoding implies."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if request.encoding in _MEDIA_TYPES:
        headers.setdefault("content-type", _MEDIA_TYPES[request.encoding])
    return headers


def make_response(recorded: Mapping[str, Json], request: Request) -> Response:
    """Make the response of a record: its bytes are made, and read as those of every response."""
    headers = {str(name): str(value) for name, value in (recorded.get("headers") or {}).items()}
    body = recorded.get("body")
    content = body.encode() if isinstance(body, str) else b"" if body is None else dumps(body).encode()
    status = int(recorded.get("status", 200))
    if request.response_format == "bytes" and status < 300 and "gzip" in " ".join(headers.values()).lower():
        content = gzip.compress(content, mtime=0)
    return Response.from_bytes(status, headers, content, request.response_format)
