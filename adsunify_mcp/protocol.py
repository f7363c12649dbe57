"""The Model Context Protocol as messages: JSON-RPC in, JSON-RPC out, without I/O and without state.

Source: modelcontextprotocol.io, revisions 2025-11-25, 2025-06-18 and 2025-03-26.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from adsunify.contract.messages import read_apart
from adsunify.errors import RateLimited
from adsunify.models.base import MAX_VALUES, count_values
from adsunify.values.exact_json import Json, RepeatedMembers, json_bytes, loads

from .telling import failed


@frozen
class Version:
    """A revision of the protocol. ``batches``: several messages may stand in one array."""

    name: str
    batches: bool = False


VERSIONS = {one.name: one for one in (Version("2025-11-25"), Version("2025-06-18"), Version("2025-03-26", True))}
NEWEST = "2025-11-25"
UNSAID = "2025-03-26"
"""What a request without the header speaks (2025-06-18, "Protocol Version Header")."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, LIMITED = -32700, -32600, -32601, -32602, -32000
MAX_MESSAGES = 50
"""The largest batch."""
MAX_BATCH_BYTES = 4 * 1024 * 1024
"""When the answers of a batch are as long, the messages that are left are refused."""


class RpcError(Exception):
    """A JSON-RPC error: the message was not understood, so nothing was done."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


Method = Callable[[Mapping[str, Json]], Awaitable[Json]]
Count = Callable[[], object]
"""Counts a message of the caller; raises RateLimited."""


@frozen
class Reply:
    """What goes back, as JSON: ``body`` None is an empty 202."""

    status: int
    body: bytes | None = None


def refused(status: int, code: int, message: str) -> Reply:
    """The reply to a body of which nothing was done."""
    return Reply(status, json_bytes(_error(None, code, message)))


async def answer(methods: Mapping[str, Method], raw: bytes, version: Version, count: Count = lambda: None) -> Reply:
    """Answer the body of one POST: a message, or where the revision has them a batch of messages.

    ``count`` is called for every message, and once for a body that is refused as a whole.
    """
    said, problem = await read_apart(raw, _read, raw, version)
    if problem is not None:
        try:
            count()
        except RateLimited as limited:
            return refused(429, LIMITED, limited.message)
        return problem
    if not isinstance(said, list):
        found = await _one(methods, said, count)
        if found is None:
            return Reply(202)
        invalid = "error" in found and found["error"]["code"] == INVALID_REQUEST
        return Reply(400 if invalid else 200, json_bytes(found))
    answers: list[bytes] = []
    for one in said:
        if sum(map(len, answers)) < MAX_BATCH_BYTES:
            found = await _one(methods, one, count)
        else:
            found = _error(_id(one), LIMITED, "Nothing was done: the answers before are too long. Send it alone.")
        if found is not None:
            answers.append(json_bytes(found))
        await asyncio.sleep(0)  # other callers have their turn between two messages
    return Reply(200, b"[" + b",".join(answers) + b"]") if answers else Reply(202)


def _read(raw: bytes, version: Version) -> tuple[Json, Reply | None]:
    """The message or messages of a body, or what is wrong with it as a whole."""
    if count_values(raw) > MAX_VALUES:
        return None, refused(400, INVALID_REQUEST, f"A body holds at most {MAX_VALUES:,} values.")
    try:
        said = loads(raw)
    except RepeatedMembers:
        return None, refused(400, INVALID_REQUEST, "An object of the message names a member twice.")
    except ValueError as problem:
        return None, refused(400, PARSE_ERROR, f"The body is no JSON: {problem}")
    wrong = None
    if isinstance(said, list):
        if not version.batches:
            wrong = "A body is one message; batches ended with 2025-03-26."
        elif not said:
            wrong = "A batch holds at least one message; this one is empty."
        elif len(said) > MAX_MESSAGES:
            wrong = f"A batch holds at most {MAX_MESSAGES} messages. Send several batches."
        elif any(isinstance(one, Mapping) and one.get("method") == "initialize" for one in said):
            wrong = "initialize stands alone, never in a batch."
    return said, None if wrong is None else refused(400, INVALID_REQUEST, wrong)


def _id(message: Json) -> str | int | None:
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


async def _one(methods: Mapping[str, Method], message: Json, count: Count) -> dict[str, Any] | None:
    """The answer to a message; None for a notification, or an answer to a question that we never asked."""
    try:
        count()
    except RateLimited as problem:
        return _limited(message, problem)
    if not isinstance(message, Mapping) or message.get("jsonrpc") != "2.0":
        return _error(None, INVALID_REQUEST, 'A message is an object with "jsonrpc": "2.0".')
    id_, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method is None and ("result" in message or "error" in message):
        return None
    if not isinstance(method, str):
        return _error(None, INVALID_REQUEST, "A request has a method.")
    if "id" not in message:
        return None
    if not isinstance(id_, str | int) or isinstance(id_, bool):
        return _error(None, INVALID_REQUEST, "An id is a string or an integer.")
    if not isinstance(params, Mapping):
        return _error(id_, INVALID_PARAMS, "params is an object.")
    if method not in methods:
        return _error(id_, METHOD_NOT_FOUND, f"There is no such method; there are {', '.join(methods)}.")
    try:
        return {"jsonrpc": "2.0", "id": id_, "result": await methods[method](params)}
    except RpcError as problem:
        return _error(id_, problem.code, str(problem))


def _limited(message: Json, problem: RateLimited) -> dict[str, Any] | None:
    """The answer to a message beyond the rate limit: of a tool a result, so that the agent reads when to come back."""
    if not isinstance(message, Mapping) or "id" not in message:
        return None
    if message.get("method") == "tools/call":
        return {"jsonrpc": "2.0", "id": _id(message), "result": failed(problem)}
    return _error(_id(message), LIMITED, problem.message)


def _error(id_: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def negotiated(asked: Json) -> str:
    """The revision that ``initialize`` answers with."""
    return asked if isinstance(asked, str) and asked in VERSIONS else NEWEST
