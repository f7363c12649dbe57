"""Errors as they are told over a wire, and back: RFC 9457 problem details, the same at every door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import (
    AdsunifyError,
    Conflict,
    Forbidden,
    InvalidInput,
    Issue,
    LookupNeeded,
    NativeError,
    NotFound,
    OperationError,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    StoreError,
    TokenRefused,
    Unauthenticated,
    VaultError,
)

TYPE = "urn:adsunify:problem:"


def described(error: AdsunifyError) -> dict[str, Any]:
    """The problem details of an error. What went wrong inside (status 5xx) is for the log, not for the caller."""
    inside = error.status >= 500
    problem: dict[str, Any] = {
        "type": TYPE + error.code,
        "title": error.title,
        "status": error.status,
        "detail": f"{error.title}; the reason is in the log." if inside else error.message,
        "code": error.code,
        "outcome": error.outcome,
    }
    if isinstance(error, InvalidInput):
        problem["issues"] = [issue.to_json() for issue in error.issues]
    if isinstance(error, ProviderError | OperationError) and error.native is not None:
        problem["network"] = error.native.to_json()
    if error.operation is not None:
        problem["operationId"] = error.operation["id"]
        problem["operation"] = error.operation
    return problem


_BY_STATUS: Mapping[int, type[AdsunifyError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    503: StoreError,
}
_PROVIDER_ERRORS: Mapping[str, type[ProviderError]] = {
    kind.default_code: kind
    for kind in (TokenRefused, PermissionRefused, ProviderNotFound, ProviderThrottled, ProviderUnreadable)
} | {"not_sent": ProviderUnreadable, "connection_lost": ProviderUnreadable}


def error_from(problem: Mapping[str, Any]) -> AdsunifyError:
    """The error that problem details describe: of the class that was raised where they were made."""
    error = _error(problem, str(problem["detail"]), str(problem["code"]))
    error.status, error.outcome, error.operation = int(problem["status"]), problem["outcome"], problem.get("operation")
    return error


def _error(problem: Mapping[str, Any], message: str, code: str) -> AdsunifyError:
    status = int(problem["status"])
    native = None if problem.get("network") is None else NativeError.from_json(problem["network"])
    if status == 422:
        issues = [Issue(one["path"], one["code"], one["message"]) for one in problem.get("issues", ())]
        return (LookupNeeded if code == LookupNeeded.default_code else InvalidInput)(issues, code=code)
    if native is not None and problem.get("operation") is None:
        return _PROVIDER_ERRORS.get(code, ProviderError)(message, native=native, code=code)
    if status == 400:
        return OperationError(message, code=code, native=native)
    if code == VaultError.default_code:
        return VaultError(message, code=code)
    return _BY_STATUS.get(status, AdsunifyError)(message, code=code)
