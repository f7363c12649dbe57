"""Requests to a network and its responses, as data. Nothing here opens a socket."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Literal, TypeVar
from urllib.parse import quote

from attrs import field, frozen

from adsunify.values.exact_json import Json, _parse_response_json

MAX_RESPONSE_BYTES = 32 * 1024 * 1024

BodyEncoding = Literal["none", "json", "form", "form_json", "multipart"]
RequestKind = Literal["read", "read_once", "write"]
ResponseFormat = Literal["json", "bytes"]
BodyState = Literal["json", "empty", "unreadable", "bytes"]


# -- requests and responses ---------------------------------------------------------------------------------------


@frozen
class Request:
    """One native HTTP request, as data.

    ``url`` is a template: ``{slot}`` is filled from ``path``, percent-encoded. ``body`` is the decoded value; bytes are
    made when it is sent: ``json``; ``form`` (flat strings); ``form_json`` (form whose objects, arrays and booleans are
    JSON strings, Meta); ``multipart``. ``kind`` says what it is, which the method does not: ``read`` may be repeated,
    ``read_once`` may not, ``write`` changes the account. ``query_raw`` is an already encoded query (Rest.li).
    ``response_format`` is what the body of the answer is. ``is_signed`` false: no credentials are ever added (foreign
    downloads).
    """

    method: str
    url: str
    path: Mapping[str, str] = field(factory=dict)
    query: Mapping[str, str] = field(factory=dict)
    headers: Mapping[str, str] = field(factory=dict)
    body: Json = None
    encoding: BodyEncoding = "none"
    kind: RequestKind = "read"
    query_raw: str | None = None
    response_format: ResponseFormat = "json"
    is_signed: bool = True

    def to_json(self) -> dict[str, Json]:
        """As JSON, defaults left out."""
        value: dict[str, Json] = {"method": self.method, "url": self.url}
        if self.path:
            value["path"] = dict(self.path)
        if self.query:
            value["query"] = dict(self.query)
        if self.headers:
            value["headers"] = dict(self.headers)
        if self.encoding != "none":
            value["encoding"] = self.encoding
            value["body"] = self.body
        if self.kind != "read":
            value["nature"] = self.kind
        if self.query_raw is not None:
            value["queryRaw"] = self.query_raw
        if self.response_format != "json":
            value["answer"] = self.response_format
        if not self.is_signed:
            value["signed"] = False
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Request:
        return cls(
            method=value["method"],
            url=value["url"],
            path=value.get("path", {}),
            query=value.get("query", {}),
            headers=value.get("headers", {}),
            body=value.get("body"),
            encoding=value.get("encoding", "none"),
            kind=value.get("nature", "read"),
            query_raw=value.get("queryRaw"),
            response_format=value.get("answer", "json"),
            is_signed=value.get("signed", True),
        )


_PERCENT_CODES = {code: quote(chr(code), safe="") for code in range(128)}


def build_request_url(request: Request) -> str:
    """The request's address with its path and query values, percent-encoded."""
    return build_url(request.url, request.path, request.query, request.query_raw)


def build_url(url: str, path: Mapping[str, str], query: Mapping[str, str], query_raw: str | None = None) -> str:
    """As :func:`build_request_url`, from the members that make the address of a request."""
    for slot, value in path.items():
        url = url.replace("{" + slot + "}", _percent_encode(value))
    if query_raw is None:
        query_raw = "&".join(
            [f"{_percent_encode(name)}={_percent_encode(str(value))}" for name, value in query.items()]
        )
    return f"{url}?{query_raw}" if query_raw else url


def _percent_encode(text_: str) -> str:
    if not text_.isascii():
        return quote(text_, safe="")
    return text_ if text_.isalnum() else text_.translate(_PERCENT_CODES)


@frozen
class Response:
    """What came back: ``headers`` in lower case; ``body`` is parsed JSON, bytes (``state`` = "bytes"), or None.

    ``state`` "empty": no body at all. "unreadable": not the JSON it should be; ``body`` is then a short text of why.
    ``size``: bytes of the body, inflated.
    """

    status: int
    headers: Mapping[str, str] = field(factory=dict)
    body: Json = None
    state: BodyState = "json"
    size: int = field(default=0, eq=False)

    @classmethod
    def from_bytes(
        cls, status: int, headers: Mapping[str, str], content: bytes, answer: ResponseFormat = "json"
    ) -> Response:
        """Read the bytes of an answer."""
        lower = {name.lower(): value for name, value in headers.items()}
        size = len(content)
        if size > MAX_RESPONSE_BYTES:
            return cls(status, lower, f"larger than {MAX_RESPONSE_BYTES} bytes", "unreadable", size)
        if not content.strip():
            return cls(status, lower, None, "empty", size)
        if answer == "bytes" and status < 300:
            return cls(status, lower, content, "bytes", size)
        try:
            return cls(status, lower, _parse_response_json(content), "json", size)
        except ValueError as reason:
            return cls(status, lower, f"not JSON: {str(reason)[:80]}", "unreadable", size)

    @property
    def is_ok(self) -> bool:
        """A 2xx status with a readable body, or none."""
        return 200 <= self.status < 300 and self.state != "unreadable"


@frozen
class Sleep:
    """A flow asks to pause: ``seconds``, and why."""

    seconds: float
    reason: str


ResultT = TypeVar("ResultT")
Flow = Generator[Request | Sleep, Response, ResultT]
"""A read, or the reads before a plan: yields requests and waits, receives responses, returns its result."""
