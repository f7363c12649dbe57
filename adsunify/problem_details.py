"""Converts errors to RFC 9457 problem details and back. REST, MCP, the pages and the shell share this form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

from adsunify.errors import (
    AdsunifyError,
    Conflict,
    Forbidden,
    GuardrailRefused,
    InvalidInput,
    Issue,
    LookupNeeded,
    NativeErrorDetails,
    NotFound,
    OperationError,
    PermissionRefused,
    PlanStale,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    RateLimited,
    RuleBreach,
    ServerUnreachable,
    StaleValue,
    StoreError,
    TokenRefused,
    Unauthenticated,
    ValuesMoved,
    VaultError,
    WriteOutcome,
)

WRITE_OUTCOMES = get_args(WriteOutcome)
TYPE_PREFIX = "urn:adsunify:problem:"

PROBLEM_CODES: Mapping[str, tuple[int, str]] = {
    "provider_rejected": (400, "The network refused; `network` holds its own error."),
    "provider_token_refused": (400, "The network refused the account's token; perhaps it must be connected again."),
    "provider_permission_refused": (400, "The network account or its token lacks a permission."),
    "provider_throttled": (400, "The network asks to wait; `retryAfterMs` gives the time if the network gave one."),
    "media_processing": (400, "The network is still processing a video or an image; ask again after `retryAfterMs`."),
    "provider_unreadable": (400, "The network gave no usable answer to a read."),
    "connection_lost": (400, "The connection to the network was lost during a read."),
    "not_sent": (400, "The network could not be reached; nothing was sent."),
    "step_not_sendable": (400, "A step cannot be sent because an id from an earlier step does not fit into it."),
    "outcome_unknown": (400, "It is not known whether a native write was done; inspect and resume the operation."),
    "operation_stalled": (400, "The process ended during a native write, so it is not known whether it was done."),
    "operation_expired": (400, "The 30 minutes for review and execution are over."),
    "change_set_closed": (400, "The change set is over, so it cannot be cancelled any more."),
    "operation_cancelled": (400, "The operation was cancelled."),
    "operation_running": (400, "The operation is being executed."),
    "operation_succeeded": (400, "The operation was executed already."),
    "operation_unknown": (400, "It is not known whether a native write of the operation was done."),
    "outcome_changed": (400, "A late answer changed what an operation has to write; resume it again."),
    "plan_stale": (400, "Values on which the plan rests have changed at the network; the error lists them."),
    "clock_ahead": (400, "The operation has a time ahead of the server's clock; see `adsunify admin clock`."),
    "account_disconnected": (400, "The account is disconnected; connect it again."),
    "malformed_request": (400, "The request line, the headers or the framing of the request are not valid HTTP."),
    "unauthenticated": (401, "The bearer token is invalid, expired or revoked."),
    "token_missing": (401, "No bearer token was sent."),
    "forbidden": (403, "Only the owner may do this."),
    "write_required": (403, "This needs a write-enabled credential of a member or admin."),
    "admin_required": (403, "This needs a write-enabled credential of an admin."),
    "not_for_agents": (403, "Agents may not do this; a person must."),
    "outside_scope": (403, "The credential is bound to networks or accounts, and the action concerns others as well."),
    "approval_required": (
        403,
        "A signed-in person must execute, at `operation.reviewUrl`; `guardrails` lists rules that demand it.",
    ),
    "guardrail_exceeded": (403, "A guardrail refuses what the plan would spend; `guardrails` says what would fit."),
    "guardrail_currency": (403, "A guardrail has no amount in the account's currency, and nothing is converted."),
    "credential_frozen": (403, "A guardrail has frozen the credential, which can only read and cancel."),
    "person_required": (403, "Only a signed-in person may do this."),
    "access_lost": (403, "The key, the role, the membership or the account no longer permits native writes."),
    "not_found": (404, "The workspace does not contain it, or the address does not exist."),
    "provider_not_found": (
        404,
        "The network has no such entity in this account; `issues` lists those of a bulk request.",
    ),
    "method_not_allowed": (405, "The address does not support this method; see `Allow`."),
    "not_acceptable": (406, "The `Accept` header excludes JSON."),
    "idempotency_conflict": (409, "The idempotency key is bound to another request."),
    "already_resumed": (409, "Another operation carries on with this one; the message names it."),
    "guardrail_changed": (409, "Another request changed the guardrails at the same time."),
    "outcome_undecided": (409, "It is not known whether a step was done; inspect the operation, or settle the step."),
    "moved": (409, "The network holds other values than the operation wrote; `differences` lists them."),
    "body_removed": (409, "Retention has removed the plan, or the responses, that this call needs."),
    "database_restored": (409, "The database was restored from a backup, so it is not known what is written."),
    "already_undone": (409, "Another operation undoes this one already."),
    "run_open": (409, "The launch has an open change set; execute or cancel it first."),
    "digest_changed": (409, "The change set has another digest than the one that was confirmed; review it again."),
    "delivery_pending": (409, "The notification is waiting for its delivery, or is being delivered."),
    "webhook_ended": (409, "The webhook's key, grant or membership has ended, so nothing is sent to it any more."),
    "password_changed": (409, "Another request changed the password at the same time."),
    "body_too_large": (413, "The body is larger than 1 MiB."),
    "unsupported_media_type": (415, "The body is not application/json."),
    "invalid_input": (422, "The input is refused; `issues` lists every error in it."),
    "not_reversible": (422, "The operation, or a step of it, cannot be undone; `issues` says why."),
    "nothing_to_resume": (422, "Nothing of the operation is left to be written, or it can simply be executed."),
    "lookup_needed": (422, "A plan needs a read of the network, and no answer for it was given."),
    "rate_limited": (429, "Too many requests of this credential or address; nothing was done. See `Retry-After`."),
    "too_many_tries": (429, "Too many wrong passwords; wait before the next try."),
    "internal_error": (500, "The server failed; its log has the reason."),
    "vault_error": (500, "A stored secret cannot be decrypted."),
    "store_unavailable": (503, "The database is not reachable or refused the statement."),
    "server_unreachable": (503, "Raised by clients: the server is down, too slow, cut off, or is not this API."),
    "not_ready": (503, "The server is shutting down, or this version cannot use the schema of its database."),
}
"""Problem code -> HTTP status and meaning. Codes are stable; new ones may be added."""

PROBLEM_TITLES: Mapping[str, str] = {
    "provider_rejected": "The network refused",
    "provider_token_refused": "The network refused the account's token",
    "provider_throttled": "The network asks to wait",
    "not_sent": "The network was not reached",
    "outcome_unknown": "It is not known whether the write was done",
    "operation_stalled": "It is not known whether the write was done",
    "operation_expired": "The time for review and execution is over",
    "operation_cancelled": "The operation was cancelled",
    "operation_succeeded": "The operation was executed already",
    "operation_running": "The operation is being executed",
    "approval_required": "A person must approve",
    "credential_frozen": "The credential is frozen",
    "clock_ahead": "A clock is or was wrong",
}
"""Problem code -> title, for codes that are more specific than the title of their error class."""


def to_problem_details(error: AdsunifyError) -> dict[str, Any]:
    """Return the problem details of an error. The reason of an internal error (5xx) is logged, not shown."""
    inside = error.status >= 500 and not isinstance(error, ServerUnreachable)
    problem: dict[str, Any] = {
        "type": TYPE_PREFIX + error.code,
        "title": PROBLEM_TITLES.get(error.code, error.title),
        "status": error.status,
        "detail": f"{error.title}; the reason is in the log." if inside else error.message,
        "code": error.code,
        "outcome": error.outcome,
    }
    if isinstance(error, InvalidInput) or (isinstance(error, ProviderNotFound) and error.issues):
        problem["issues"] = [issue.to_json() for issue in error.issues]
    if isinstance(error, GuardrailRefused):
        problem["guardrails"] = [breach.to_json() for breach in error.breaches]
    if isinstance(error, PlanStale | ValuesMoved):
        problem["differences"] = [difference.to_json() for difference in error.differences]
    if isinstance(error, ProviderError | OperationError) and error.native is not None:
        problem["network"] = error.native.to_json()
    if isinstance(error, ProviderThrottled | RateLimited | OperationError) and error.retry_after is not None:
        problem["retryAfterMs"] = math.ceil(error.retry_after * 1000)
    if error.operation_data is not None:
        problem["operationId"] = error.operation_data["id"]
        problem["appliedSteps"] = list(error.applied_steps)
        problem["operation"] = error.operation_data
    return problem


_ERRORS_BY_STATUS: Mapping[int, type[AdsunifyError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    503: StoreError,
}
GUARDRAIL_CODES = ("guardrail_exceeded", "guardrail_currency")
_PROVIDER_ERRORS_BY_CODE: Mapping[str, type[ProviderError]] = {
    kind.default_code: kind
    for kind in (TokenRefused, PermissionRefused, ProviderNotFound, ProviderThrottled, ProviderUnreadable)
} | {"media_processing": ProviderThrottled, "not_sent": ProviderUnreadable, "connection_lost": ProviderUnreadable}


def from_problem_details(problem: Mapping[str, Any]) -> AdsunifyError:
    """Return the error that problem details describe, of the class from which the server made them."""
    message = str(problem["detail"])
    error = _make_error(problem, message, str(problem["code"]))
    error.status = int(problem["status"])
    error.outcome = problem["outcome"] if problem["outcome"] in WRITE_OUTCOMES else "unknown"
    error.operation_data = problem.get("operation")
    error.message, error.applied_steps = message, tuple(problem.get("appliedSteps", ()))
    error.request_id = problem.get("requestId")
    if isinstance(error, ProviderError | OperationError) and "retryAfterMs" in problem:
        error.retry_after = int(problem["retryAfterMs"]) / 1000
    return error


def _make_error(problem: Mapping[str, Any], message: str, code: str) -> AdsunifyError:
    status = int(problem["status"])
    native = None if problem.get("network") is None else NativeErrorDetails.from_json(problem["network"])
    issues = [Issue(issue["path"], issue["code"], issue["message"]) for issue in problem.get("issues", ())]
    if status == 422:
        return (LookupNeeded if code == LookupNeeded.default_code else InvalidInput)(issues, code=code)
    if native is not None and problem.get("operation") is None:
        if code == ProviderNotFound.default_code:
            return ProviderNotFound(message, native=native, issues=issues)
        return _PROVIDER_ERRORS_BY_CODE.get(code, ProviderError)(message, native=native, code=code)
    if status == 429:
        return RateLimited(message, code=code, retry_after=int(problem.get("retryAfterMs", 0)) / 1000)
    if code in (PlanStale.default_code, ValuesMoved.default_code):
        stale = PlanStale if code == PlanStale.default_code else ValuesMoved
        return stale(
            message, differences=[StaleValue.from_json(difference) for difference in problem.get("differences", ())]
        )
    if status == 400:
        return OperationError(message, code=code, native=native)
    if code in GUARDRAIL_CODES or "guardrails" in problem:
        breaches = [RuleBreach.from_json(breach) for breach in problem.get("guardrails", ())]
        return GuardrailRefused(message, breaches=breaches, code=code)
    if code == ServerUnreachable.default_code:
        return ServerUnreachable(message, code=code)
    if code == VaultError.default_code:
        return VaultError(message, code=code)
    return _ERRORS_BY_STATUS.get(status, AdsunifyError)(message, code=code)
