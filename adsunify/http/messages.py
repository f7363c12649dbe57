"""Requests to a network and its responses, as data. This module opens no socket."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Literal, TypeVar
from urllib.parse import quote

from attrs import field, frozen

from adsunify.values.exact_json import Json, parse_response_json

MAX_RESPONSE_BYTES = 32 * 1024 * 1024

BodyEncoding = Literal["none", "json", "form", "form_json", "multipart"]
RequestKind = Literal["read", "read_once", "write"]
ResponseFormat = Literal["json", "bytes"]
BodyState = Literal["json", "empty", "unreadable", "bytes"]


# -- requests and responses ---------------------------------------------------------------------------------------


@frozen
class Request:
    """One native HTTP request, as data.

    Attributes:
        method: the HTTP method.
        url: a template; each ``{slot}`` is replaced by the percent-encoded value of ``path``.
        path: slot -> value.
        query: the query parameters, not encoded.
        headers: the headers without credentials.
        body: the decoded value, which the transport encodes.
        encoding: how the body is encoded: ``json``; ``form`` (flat strings); ``form_json`` (a form in which objects,
            arrays and booleans are JSON strings, Meta); ``multipart``; ``none``.
        kind: ``read`` may be repeated, ``read_once`` may not, ``write`` changes the account. The HTTP method does not
            determine the kind.
        query_raw: a query that is encoded already (Rest.li); it replaces ``query``.
        response_format: whether the body of the response is JSON or bytes.
        is_signed: False for downloads from other hosts, to which no credentials are added.
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
        """Return the stored form, without members that have their default."""
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
        """Read what :meth:`to_json` wrote."""
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
_find_reserved = re.compile(r"[^A-Za-z0-9_.~-]").search


def build_request_url(request: Request) -> str:
    """Return the URL of a request, with its path and query values percent-encoded."""
    return build_url(request.url, request.path, request.query, request.query_raw)


def build_url(url: str, path: Mapping[str, str], query: Mapping[str, str], query_raw: str | None = None) -> str:
    """Return the URL that a request with these members has."""
    for slot, value in path.items():
        url = url.replace("{" + slot + "}", _percent_encode(value))
    if query_raw is None:
        query_raw = "&".join(
            [f"{_percent_encode(name)}={_percent_encode(str(value))}" for name, value in query.items()]
        )
    return f"{url}?{query_raw}" if query_raw else url


def _percent_encode(text_: str) -> str:
    if _find_reserved(text_) is None:
        return text_
    return text_.translate(_PERCENT_CODES) if text_.isascii() else quote(text_, safe="")


@frozen
class Response:
    """A response.

    Attributes:
        status: the HTTP status.
        headers: the headers, with names in lower case.
        body: the value that ``state`` describes.
        state: "json" (``body`` is parsed JSON), "bytes" (``body`` is bytes), "empty" (there is no body), or
            "unreadable" (the body is not the expected JSON, and ``body`` is a short text that says why).
        size: the bytes of the decompressed body.
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
        """Make a response from its status, headers and decompressed bytes. It never raises."""
        lower = {name.lower(): value for name, value in headers.items()}
        size = len(content)
        if size > MAX_RESPONSE_BYTES:
            return cls(status, lower, f"larger than {MAX_RESPONSE_BYTES} bytes", "unreadable", size)
        if not content.strip():
            return cls(status, lower, None, "empty", size)
        if answer == "bytes" and status < 300:
            return cls(status, lower, content, "bytes", size)
        try:
            return cls(status, lower, parse_response_json(content), "json", size)
        except ValueError as reason:
            return cls(status, lower, f"not JSON: {str(reason)[:80]}", "unreadable", size)

    @property
    def is_ok(self) -> bool:
        """Whether the status is 2xx and the body is readable or empty."""
        return 200 <= self.status < 300 and self.state != "unreadable"


@frozen
class Sleep:
    """A flow yields this to pause for ``seconds``."""

    seconds: float
    reason: str


ResultT = TypeVar("ResultT")
Flow = Generator[Request | Sleep, Response, ResultT]
"""A generator that reads from a network: it yields requests and sleeps, receives responses, and returns a result."""
