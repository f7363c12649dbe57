"""The messages of the Model Context Protocol: JSON-RPC in, JSON-RPC out, without I/O and state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from adsunify.contract.messages import run_large_in_thread
from adsunify.errors import RateLimited
from adsunify.models.parsing import MAX_VALUES, count_values
from adsunify.values.exact_json import Json, RepeatedMembers, dumps_bytes, loads

from .method_results import complete_result
from .request_metadata import Notify, RequestHeaders, RequestMetadata, RpcError, make_version_error, read_context
from .results import error_result
from .versions import (
    DEFAULT_VERSION,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RATE_LIMITED,
    STATELESS_STATUSES,
    ProtocolVersion,
)

MAX_MESSAGES = 50
"""The largest batch."""
MAX_BATCH_BYTES = 4 * 1024 * 1024
"""When the responses of a batch have this size, the remaining messages are refused."""

MethodHandler = Callable[[Mapping[str, Json], RequestMetadata], Awaitable[Mapping[str, Json]]]
"""Takes the params and the metadata of a request; returns the result. Raises RpcError."""
CountMessage = Callable[[], object]
"""Counts a message of the caller. Raises RateLimited."""


@frozen
class CallerMethods:
    """A caller's methods by name, and the function that counts the caller's messages."""

    methods: Mapping[str, MethodHandler]
    count: CountMessage = lambda: None


@frozen
class Reply:
    """A response. ``body``: JSON; None for an empty 202."""

    status: int
    body: bytes | None = None


def refuse_body(status: int, code: int, message: str, data: Json = None) -> Reply:
    """Return the reply to a refused body."""
    return Reply(status, dumps_bytes(_error_response(None, RpcError(code, message, data))))


async def handle_message(
    caller: CallerMethods, raw: bytes, headers: RequestHeaders | None = None, notify: Notify | None = None
) -> Reply:
    """Answer the body of one POST or one line: a message, or a batch where the revision has batches.

    Every message is counted. A body that is refused as a whole counts as one message. ``headers`` is None for
    transports without headers; then ``_meta`` alone names the revision. ``notify`` sends a notification
    before the reply.
    """
    parsed, problem = await run_large_in_thread(raw, _parse_body, raw, headers)
    if problem is not None:
        try:
            caller.count()
        except RateLimited as limited:
            return refuse_body(429, RATE_LIMITED, limited.message)
        return problem
    if not isinstance(parsed, list):
        response, status = await _handle_one(caller, parsed, headers, notify)
        return Reply(202) if response is None else Reply(status, dumps_bytes(response))
    answers: list[bytes] = []
    for message in parsed:
        if sum(map(len, answers)) < MAX_BATCH_BYTES:
            response, _ = await _handle_one(caller, message, headers, None)
        else:
            full = "Nothing was done: the responses before it are too long. Send the message alone."
            response = _error_response(_message_id(message), RpcError(RATE_LIMITED, full))
        if response is not None:
            answers.append(dumps_bytes(response))
        await asyncio.sleep(0)  # other callers run between two messages
    return Reply(200, b"[" + b",".join(answers) + b"]") if answers else Reply(202)


def _parse_body(raw: bytes, headers: RequestHeaders | None) -> tuple[Json, Reply | None]:
    """Return the message or messages of a body, or the reply that refuses the whole body."""
    if count_values(raw) > MAX_VALUES:
        return None, refuse_body(400, INVALID_REQUEST, f"A body may hold at most {MAX_VALUES:,} values.")
    try:
        parsed = loads(raw)
    except RepeatedMembers:
        return None, refuse_body(400, INVALID_REQUEST, "An object of the message has a member twice.")
    except ValueError as problem:
        return None, refuse_body(400, PARSE_ERROR, f"The body is not valid JSON: {problem}")
    if not isinstance(parsed, list):
        return parsed, None
    version = DEFAULT_VERSION if headers is None else headers.find_version()
    if headers is not None and version is None:
        unknown = make_version_error(headers.version[0])
        return None, refuse_body(400, unknown.code, str(unknown), unknown.data)
    refusal = _find_batch_error(parsed, version or DEFAULT_VERSION)
    return parsed, None if refusal is None else refuse_body(400, INVALID_REQUEST, refusal)


def _find_batch_error(messages: list[Json], version: ProtocolVersion) -> str | None:
    if not version.allows_batches:
        return "A body must be one message; only version 2025-03-26 has batches."
    if not messages:
        return "The batch is empty; it must have at least one message."
    if len(messages) > MAX_MESSAGES:
        return f"A batch may have at most {MAX_MESSAGES} messages. Send several batches."
    if any(isinstance(message, Mapping) and message.get("method") == "initialize" for message in messages):
        return "initialize must be sent alone, not in a batch."
    return None


def _message_id(message: Json) -> str | int | None:
    id_ = message.get("id") if isinstance(message, Mapping) else None
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


async def _handle_one(
    caller: CallerMethods, message: Json, headers: RequestHeaders | None, notify: Notify | None
) -> tuple[dict[str, Any] | None, int]:
    """Return the response to a message and its HTTP status. The response to a notification or a response is None."""
    statuses = STATELESS_STATUSES  # until the revision is known
    try:
        limited = _find_limit(caller)
        if limited is not None and not isinstance(message, Mapping):
            raise limited
        _check_message(message)
        context = read_context(message, headers, notify)
        statuses = context.version.error_statuses
        if "method" not in message or "id" not in message:
            _check_accepted(message, context.version)
            return None, 202
        if limited is not None and message["method"] != "tools/call":
            raise limited
        result = error_result(limited).to_json() if limited is not None else await _call(caller, message, context)
    except RateLimited as problem:
        if isinstance(message, Mapping) and "id" not in message:
            return None, 202
        return _error_response(_message_id(message), RpcError(RATE_LIMITED, problem.message)), 200
    except RpcError as refusal:
        return _error_response(_message_id(message), refusal), statuses.get(refusal.code, 200)
    result = complete_result(context.version, message["method"], result)
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}, 200


def _find_limit(caller: CallerMethods) -> RateLimited | None:
    """Count a message. Return the error if the caller has reached the limit."""
    try:
        caller.count()
    except RateLimited as problem:
        return problem
    return None


def _check_message(message: Json) -> None:
    """Raise RpcError for what is neither a request nor a notification nor a response."""
    if not isinstance(message, Mapping) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A message must be an object with "jsonrpc": "2.0".')
    if "method" not in message and ("result" in message or "error" in message):
        return
    if not isinstance(message.get("method"), str):
        raise RpcError(INVALID_REQUEST, "A request must have a method.")
    if "id" in message and _message_id(message) is None:
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer.")


def _check_accepted(message: Mapping[str, Any], version: ProtocolVersion) -> None:
    """Raise RpcError for a response if the revision accepts none (MCP 2026-07-28, "Sending Messages")."""
    if version.is_stateless and "method" not in message:
        raise RpcError(INVALID_REQUEST, "A body must be a request or a notification, not a response.")


async def _call(caller: CallerMethods, message: Mapping[str, Any], context: RequestMetadata) -> Mapping[str, Json]:
    method, params = message["method"], message.get("params", {})
    if not isinstance(params, Mapping):
        raise RpcError(INVALID_PARAMS, "params must be an object.")
    known = [name for name in caller.methods if name not in context.version.removed_methods]
    if method not in known:
        raise RpcError(METHOD_NOT_FOUND, f"Unknown method; the methods are {', '.join(known)}.")
    return await caller.methods[method](params, context)


def _error_response(id_: str | int | None, problem: RpcError) -> dict[str, Any]:
    error: dict[str, Any] = {"code": problem.code, "message": str(problem)}
    if problem.data is not None:
        error["data"] = problem.data
    return {"jsonrpc": "2.0", "id": id_, "error": error}
