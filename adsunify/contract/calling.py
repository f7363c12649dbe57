"""One way to call an endpoint, whatever the door: the REST server, the agents' tools, the library."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from attrs import frozen

from adsunify.actor import Actor
from adsunify.errors import Forbidden, InvalidInput, Issue
from adsunify.service.core import Idempotency, Result, Service
from adsunify.validation import WireModel, read
from adsunify.wire import Json, canonical

from .endpoint import PATH_PATTERNS, Endpoint

KEY_LENGTH = 200


@frozen
class Call:
    """A call as it came through a door: path and query as text, the body as bytes."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    idempotency_key: str | None = None


@frozen
class Answer:
    """The envelope's content and the status. ``replayed``: the idempotency key was bound before."""

    status: int
    data: Json
    pages: bool = False
    next_cursor: str | None = None
    replayed: bool = False

    def envelope(self) -> dict[str, Json]:
        """``{"data": ...}``, with ``page`` where the list pages."""
        return {"data": self.data, "page": {"nextCursor": self.next_cursor}} if self.pages else {"data": self.data}


async def call(service: Service, actor: Actor, endpoint: Endpoint, asked: Call) -> Answer:
    """Check access and input, run the use case, and wrap what it returns.

    Raises Forbidden, InvalidInput with all issues, and whatever the use case raises. A refused call stores nothing.
    """
    permit(actor, endpoint)
    arguments, digest = read_call(endpoint, asked)
    if endpoint.idempotent:
        key = asked.idempotency_key
        arguments["idempotency"] = None if key is None else Idempotency(key, digest)
    result = await endpoint.use_case(service, actor, **arguments)
    if isinstance(result, Result):
        return Answer(endpoint.status, result.data, endpoint.pages, result.next_cursor, result.replayed)
    return Answer(endpoint.status, result, endpoint.pages)


def permit(actor: Actor, endpoint: Endpoint) -> None:
    """Raise Forbidden where the actor's authority is less than the endpoint needs."""
    if endpoint.access == "write" and not actor.writes:
        raise Forbidden("This needs a write-enabled credential of a member or admin.", code="write_required")
    if endpoint.access == "admin" and not actor.administers:
        raise Forbidden("This needs a write-enabled credential of an admin.", code="admin_required")


def read_call(endpoint: Endpoint, asked: Call) -> tuple[dict[str, Any], str]:
    """The use case's keyword arguments, and the digest of the canonical request (for idempotency keys)."""
    issues: list[Issue] = []
    path = {name: _path_value(name, asked.path[name], issues) for name in endpoint.parameters}
    _check_key(endpoint, asked.idempotency_key, issues)
    arguments: dict[str, Any] = {_snake(name): value for name, value in path.items()}
    body: WireModel | None = None
    try:
        if endpoint.query is not None:
            arguments |= _members(read(endpoint.query, asked.query))
        elif asked.query:
            issues.extend(Issue(name, "unknown", "is no query parameter of this endpoint.") for name in asked.query)
        if endpoint.body is not None:
            body = read(endpoint.body, asked.body or b"{}")
            arguments |= _members(body)
    except InvalidInput as problem:
        issues.extend(problem.issues)
    if issues:
        raise InvalidInput(issues)
    return arguments, _digest(endpoint, path, body)


def _digest(endpoint: Endpoint, path: Mapping[str, str], body: WireModel | None) -> str:
    if not endpoint.idempotent:
        return ""
    members = None if body is None else _json(body.model_dump(exclude_none=True))
    return hashlib.sha256(canonical([endpoint.operation_id, dict(path), members])).hexdigest()


def _json(value: Any) -> Json:
    if isinstance(value, dict):
        return {name: _json(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_json(member) for member in value]
    return str(value) if isinstance(value, UUID) else value


def _members(model: WireModel) -> dict[str, Any]:
    values = {name: getattr(model, name) for name in type(model).model_fields}
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _path_value(name: str, value: str, issues: list[Issue]) -> str:
    pattern = PATH_PATTERNS.get(name)
    if pattern is None:
        try:
            return str(UUID(value)) if len(value) == 36 else _refuse(name, issues)
        except ValueError:
            return _refuse(name, issues)
    if not re.fullmatch(pattern, value) or "\x00" in value:
        issues.append(Issue(name, "malformed", f"{name} does not have the form {pattern}."))
    return value


def _refuse(name: str, issues: list[Issue]) -> str:
    issues.append(Issue(name, "malformed", f"{name} is a uuid."))
    return ""


def _check_key(endpoint: Endpoint, key: str | None, issues: list[Issue]) -> None:
    if key is None:
        return
    if not endpoint.idempotent:
        issues.append(Issue("Idempotency-Key", "not_supported", "This endpoint takes no idempotency key."))
    elif not 1 <= len(key) <= KEY_LENGTH:
        issues.append(Issue("Idempotency-Key", "length", f"An idempotency key has 1 to {KEY_LENGTH} characters."))


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)
