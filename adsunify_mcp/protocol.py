"""The messages of the Model Context Protocol: JSON-RPC in, JSON-RPC out, without I/O and state.

Source: modelcontextprotocol.io, revisions 2025-11-25, 2025-06-18 and 2025-03-26.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from adsunify.contract.messages import run_large_in_thread
from adsunify.errors import RateLimited
from adsunify.models.parsing import MAX_VALUES, count_values
from adsunify.values.exact_json import Json, RepeatedMembers, dumps_bytes, loads

from .results import error_result


@frozen
class ProtocolVersion:
    """A revision of the protocol. ``allows_batches``: a body may hold several messages in an array."""

    name: str
    allows_batches: bool = False


VERSIONS = {
    one.name: one
    for one in (ProtocolVersion("2025-11-25"), ProtocolVersion("2025-06-18"), ProtocolVersion("2025-03-26", True))
}
NEWEST_VERSION = "2025-11-25"
DEFAULT_VERSION = "2025-03-26"
"""The version of a request without the header (2025-06-18, "Protocol Version Header")."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, RATE_LIMITED = -32700, -32600, -32601, -32602, -32000
MAX_MESSAGES = 50
"""The largest batch."""
MAX_BATCH_BYTES = 4 * 1024 * 1024
"""When the responses of a batch have this size, the remaining messages are refused."""


class RpcError(Exception):
    """A JSON-RPC error: the message was refused and nothing was done."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


MethodHandler = Callable[[Mapping[str, Json]], Awaitable[Json]]
CountMessage = Callable[[], object]
"""Counts a message of the caller. Raises RateLimited."""


@frozen
class Reply:
    """A response. ``body``: JSON; None for an empty 202."""

    status: int
    body: bytes | None = None


def refuse_body(status: int, code: int, message: str) -> Reply:
    """Return the reply to a refused body."""
    return Reply(status, dumps_bytes(_error_response(None, code, message)))


async def handle_message(
    methods: Mapping[str, MethodHandler], raw: bytes, version: ProtocolVersion, count: CountMessage = lambda: None
) -> Reply:
    """Answer the body of one POST: a message, or a batch where the revision has batches.

    ``count`` is called for every message, and once for a body that is refused as a whole.
    """
    parsed, problem = await run_large_in_thread(raw, _parse_body, raw, version)
    if problem is not None:
        try:
            count()
        except RateLimited as limited:
            return refuse_body(429, RATE_LIMITED, limited.message)
        return problem
    if not isinstance(parsed, list):
        response = await _handle_one(methods, parsed, count)
        if response is None:
            return Reply(202)
        invalid = "error" in response and response["error"]["code"] == INVALID_REQUEST
        return Reply(400 if invalid else 200, dumps_bytes(response))
    answers: list[bytes] = []
    for message in parsed:
        if sum(map(len, answers)) < MAX_BATCH_BYTES:
            response = await _handle_one(methods, message, count)
        else:
            response = _error_response(
                _message_id(message),
                RATE_LIMITED,
                "Nothing was done: the responses before it are too long. Send the message alone.",
            )
        if response is not None:
            answers.append(dumps_bytes(response))
        await asyncio.sleep(0)  # other callers run between two messages
    return Reply(200, b"[" + b",".join(answers) + b"]") if answers else Reply(202)


def _parse_body(raw: bytes, version: ProtocolVersion) -> tuple[Json, Reply | None]:
    """The message or messages of a body, or the reply that refuses the whole body."""
    if count_values(raw) > MAX_VALUES:
        return None, refuse_body(400, INVALID_REQUEST, f"A body may hold at most {MAX_VALUES:,} values.")
    try:
        parsed = loads(raw)
    except RepeatedMembers:
        return None, refuse_body(400, INVALID_REQUEST, "An object of the message has a member twice.")
    except ValueError as problem:
        return None, refuse_body(400, PARSE_ERROR, f"The body is not valid JSON: {problem}")
    refusal = None
    if isinstance(parsed, list):
        if not version.allows_batches:
            refusal = "A body must be one message; only version 2025-03-26 has batches."
        elif not parsed:
            refusal = "The batch is empty; it must have at least one message."
        elif len(parsed) > MAX_MESSAGES:
            refusal = f"A batch may have at most {MAX_MESSAGES} messages. Send several batches."
        elif any(isinstance(message, Mapping) and message.get("method") == "initialize" for message in parsed):
            refusal = "initialize must be sent alone, not in a batch."
    return parsed, None if refusal is None else refuse_body(400, INVALID_REQUEST, refusal)


def _message_id(message: Json) -> str | int | None:
    id_ = message.get("id") if isinstance(message, Mapping) else None
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


async def _handle_one(
    methods: Mapping[str, MethodHandler], message: Json, count: CountMessage
) -> dict[str, Any] | None:
    """The response to a message; None for a notification or a response."""
    try:
        count()
    except RateLimited as problem:
        return _limited_response(message, problem)
    if not isinstance(message, Mapping) or message.get("jsonrpc") != "2.0":
        return _error_response(None, INVALID_REQUEST, 'A message must be an object with "jsonrpc": "2.0".')
    id_, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method is None and ("result" in message or "error" in message):
        return None
    if not isinstance(method, str):
        return _error_response(None, INVALID_REQUEST, "A request must have a method.")
    if "id" not in message:
        return None
    if not isinstance(id_, str | int) or isinstance(id_, bool):
        return _error_response(None, INVALID_REQUEST, "id must be a string or an integer.")
    if not isinstance(params, Mapping):
        return _error_response(id_, INVALID_PARAMS, "params must be an object.")
    if method not in methods:
        return _error_response(id_, METHOD_NOT_FOUND, f"Unknown method; the methods are {', '.join(methods)}.")
    try:
        return {"jsonrpc": "2.0", "id": id_, "result": await methods[method](params)}
    except RpcError as problem:
        return _error_response(id_, problem.code, str(problem))


def _limited_response(message: Json, problem: RateLimited) -> dict[str, Any] | None:
    """The response to a message beyond the rate limit: for a tool a result that says how long to wait."""
    if not isinstance(message, Mapping) or "id" not in message:
        return None
    if message.get("method") == "tools/call":
        return {"jsonrpc": "2.0", "id": _message_id(message), "result": error_result(problem)}
    return _error_response(_message_id(message), RATE_LIMITED, problem.message)


def _error_response(id_: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def negotiate_version(requested: Json) -> str:
    """Return the protocol version that ``initialize`` answers with."""
    return requested if isinstance(requested, str) and requested in VERSIONS else NEWEST_VERSION
