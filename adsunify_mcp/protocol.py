"""The Model Context Protocol as messages: JSON-RPC in, JSON-RPC out, without I/O and without state.

Source: modelcontextprotocol.io, revisions 2025-11-25, 2025-06-18 and 2025-03-26.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from adsunify.wire import Json, loads


@frozen
class Version:
    """A revision of the protocol. ``batches``: several messages may stand in one array."""

    name: str
    batches: bool = False


VERSIONS = {one.name: one for one in (Version("2025-11-25"), Version("2025-06-18"), Version("2025-03-26", True))}
NEWEST = "2025-11-25"
UNSAID = "2025-03-26"
"""What a request without the header speaks (2025-06-18, "Protocol Version Header")."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


class RpcError(Exception):
    """A JSON-RPC error: the message was not understood, so nothing was done."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


Method = Callable[[Mapping[str, Json]], Awaitable[Json]]


@frozen
class Reply:
    """What goes back: ``body`` None is an empty 202."""

    status: int
    body: Json = None


async def answer(methods: Mapping[str, Method], raw: bytes, version: Version) -> Reply:
    """Answer the body of one POST: a message, or where the revision has them a batch of messages."""
    try:
        said = loads(raw)
    except ValueError as problem:
        return Reply(400, _error(None, PARSE_ERROR, f"The body is no JSON: {problem}"))
    if not isinstance(said, list):
        found = await _one(methods, said)
        if found is None:
            return Reply(202)
        invalid = "error" in found and found["error"]["code"] == INVALID_REQUEST
        return Reply(400 if invalid else 200, found)
    if not version.batches:
        return Reply(400, _error(None, INVALID_REQUEST, "A body is one message; batches ended with 2025-03-26."))
    if not said:
        return Reply(400, _error(None, INVALID_REQUEST, "A batch holds at least one message; this one is empty."))
    if any(isinstance(one, Mapping) and one.get("method") == "initialize" for one in said):
        return Reply(400, _error(None, INVALID_REQUEST, "initialize stands alone, never in a batch."))
    answers = [found for one in said if (found := await _one(methods, one)) is not None]
    return Reply(200, answers) if answers else Reply(202)


async def _one(methods: Mapping[str, Method], message: Json) -> dict[str, Any] | None:
    """The answer to a message; None for a notification, or an answer to a question that we never asked."""
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


def _error(id_: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def negotiated(asked: Json) -> str:
    """The revision that ``initialize`` answers with."""
    return asked if isinstance(asked, str) and asked in VERSIONS else NEWEST
