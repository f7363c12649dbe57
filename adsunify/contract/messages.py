"""Requests to an endpoint and its responses. The REST server, the MCP tools and the library all use them."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar
from unicodedata import category

from attrs import frozen

from adsunify.errors import InvalidInput, Issue
from adsunify.models.base import ApiModel
from adsunify.models.parsing import count_values, parse_model
from adsunify.values.exact_json import Json, dumps_canonical
from adsunify.values.money import format_decimal

from .endpoint import PATH_PATTERNS, UUID_PATTERN, Endpoint
from .requests import Nothing

ModelT = TypeVar("ModelT", bound=ApiModel)
ResultT = TypeVar("ResultT")
MAX_KEY_LENGTH = 200
LARGE_VALUES = 2_000
"""A body with more values is parsed in a thread, because that takes from milliseconds to tenths of a second."""


@frozen
class ApiRequest:
    """A request before it is parsed: path and query parameters as text, the body as bytes."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    idempotency_key: str | None = None


@frozen
class ApiResponse:
    """The status and the content of the envelope. ``is_replay``: an earlier request has used the idempotency key."""

    status: int
    data: Json
    is_paged: bool = False
    next_cursor: str | None = None
    is_replay: bool = False

    def to_envelope(self) -> dict[str, Json]:
        """Return ``{"data": ...}``, with ``page`` if the response is a page of a list."""
        return {"data": self.data, "page": {"nextCursor": self.next_cursor}} if self.is_paged else {"data": self.data}


async def run_large_in_thread(body: bytes, read: Callable[..., ResultT], *arguments: Any) -> ResultT:
    """Call ``read`` with its arguments, in a thread if the body is large, so that other requests are not delayed."""
    if count_values(body) <= LARGE_VALUES:
        return read(*arguments)
    return await asyncio.to_thread(read, *arguments)


def parse_request(endpoint: Endpoint, request: ApiRequest) -> tuple[dict[str, Any], str]:
    """Parse and validate a request.

    Returns:
        The keyword arguments of the use case, and the digest of the canonical request (empty if the endpoint takes no
        idempotency key).

    Raises:
        InvalidInput: all issues of path, header, query and body.
    """
    issues: list[Issue] = []
    path = {name: _parse_path_parameter(name, request.path.get(name, ""), issues) for name in endpoint.parameters}
    _check_key(endpoint, request.idempotency_key, issues)
    query = _parse_model(endpoint.query or Nothing, request.query, issues) if endpoint.query or request.query else None
    body = _parse_model(endpoint.body, request.body or b"{}", issues) if endpoint.body is not None else None
    if issues:
        raise InvalidInput(issues)
    arguments: dict[str, Any] = {_to_snake(name): value for name, value in path.items()}
    if endpoint.kind is not None:
        arguments["kind"] = endpoint.kind
    for model in (query, body):
        if model is not None:
            arguments |= {_to_snake(name): value for name, value in model.to_arguments().items()}
    return arguments, _digest_request(endpoint, path, body) if endpoint.takes_idempotency_key else ""


def _digest_request(endpoint: Endpoint, path: Mapping[str, str], body: ApiModel | None) -> str:
    """Compute the digest of the canonical request. Equal numbers are written alike, so 30 and 30.0 are one request."""
    members = None if body is None else body.to_json()
    return hashlib.sha256(dumps_canonical([endpoint.operation_id, path, members], format_decimal)).hexdigest()


def _parse_model(model: type[ModelT], raw: bytes | Mapping[str, str], issues: list[Issue]) -> ModelT | None:
    try:
        return parse_model(model, raw)
    except InvalidInput as problem:
        issues.extend(problem.issues)
        return None


def _parse_path_parameter(name: str, value: str, issues: list[Issue]) -> str:
    form = PATH_PATTERNS.get(name, UUID_PATTERN)
    if not form.match(value):
        issues.append(Issue(name, "malformed", f"must be {form.description}."))
    return value.lower() if form is UUID_PATTERN else value


def _check_key(endpoint: Endpoint, key: str | None, issues: list[Issue]) -> None:
    if key is None:
        return
    if not (endpoint.takes_idempotency_key or endpoint.ignores_idempotency_key):
        issues.append(Issue("Idempotency-Key", "not_supported", "is not accepted by this endpoint; leave it out."))
    elif not 1 <= len(key) <= MAX_KEY_LENGTH:
        issues.append(Issue("Idempotency-Key", "length", f"must have 1 to {MAX_KEY_LENGTH} characters."))
    elif not (key.isascii() and key.isprintable()) and any(category(character) in ("Cc", "Cs") for character in key):
        issues.append(Issue("Idempotency-Key", "malformed", "must be text in UTF-8 without control characters."))


@cache
def _to_snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)
