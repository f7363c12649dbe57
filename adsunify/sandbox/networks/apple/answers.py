"""Envelopes, the native error shapes, the guard, and pages."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Problem, Request, bearer, text

# Code of a problem: HTTP status and Apple's word. Everything else is a VALIDATION_ERROR.
_CODES: Mapping[str, tuple[int, str]] = {
    "token_missing": (401, "unauthorized"),
    "token_invalid": (401, "unauthorized"),
    "token_expired": (401, "unauthorized"),
    "forbidden": (403, "forbidden"),
    "absent": (404, "not_found"),
    "unreadable": (400, "bad_request"),
    "duplicate": (400, "bad_request"),
    "header": (400, "bad_request"),
    "media_type": (415, "bad_request"),
}
_STATUS_CODES = {400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found",
                 429: "rate_limit_exceeded"}  # fmt: skip
_LIMIT, _RESET, _RETRY = 1000, 60, 7
_OAUTH = ("invalid_client", "unsupported_grant_type", "invalid_scope")
# Without X-AP-Context; of the others every call names its ad account.
_WITHOUT_ACCOUNT = re.compile(r"/v1/(me|acls|orgs/[^/]+|advertiser-resources)")


def answered(body: Any, status: int = 200) -> Answer:
    """An answer with the headers that every response carries."""
    return Answer(status, body, _headers())


def _headers(remaining: int = _LIMIT - 1) -> dict[str, str]:
    return {"RateLimit-Limit": str(_LIMIT), "RateLimit-Remaining": str(remaining), "RateLimit-Reset": str(_RESET)}


def problem(request: Request, problem: Problem) -> Answer:
    """A refused request."""
    if request.route.role == "login":  # the shape of OAuth (unverified)
        return Answer(400, {"error": problem.code if problem.code in _OAUTH else "invalid_request"})
    status, _ = native_code(problem)
    return answered({"error": native_error(problem)}, status)


def native_code(problem: Problem) -> tuple[int, str]:
    """HTTP status and Apple's word for a failed check."""
    return _CODES.get(problem.code, (400, "VALIDATION_ERROR"))


def native_error(problem: Problem) -> dict[str, Any]:
    """The content of `error`. A 404 has the other shape that the pages show (where is chosen)."""
    status, code = native_code(problem)
    if status == 404:
        return {"errors": [{"code": code, "message": problem.message}]}
    field = problem.where.strip("/").replace("/", ".")
    details = [{"code": problem.code.upper(), "message": problem.message, "info": {"field": field}}] if field else []
    return {"code": code, "message": f"{field}: {problem.message}" if field else problem.message, "details": details}


def failure(request: Request, status: int) -> Answer:
    """A bare status: unknown path or method, or a told fault."""
    code = _STATUS_CODES.get(status, "internal_server_error" if status >= 500 else "bad_request")
    error = {"code": code, "message": f"HTTP {status}", "details": []}
    if status == 429:
        return Answer(status, {"error": error}, {**_headers(0), "Retry-After": str(_RETRY)})
    return Answer(status, {"error": error}, _headers())


def guard(request: Request) -> None:
    """The bearer token, and for what belongs to an ad account its context."""
    bearer(request)
    if not _WITHOUT_ACCOUNT.fullmatch(request.path):
        account_of(request)


def account_of(request: Request) -> Account:
    """The ad account of X-AP-Context. Problem `header`, or `forbidden` where the user has no role there."""
    context = request.header("X-AP-Context", text(pattern=r"adAccountId=[1-9][0-9]*"))
    account = request.account(context.partition("=")[2])
    if account is None:
        raise Problem("forbidden", "", "no role in this ad account")
    return account


def absent(what: str) -> Problem:
    """What is raised for an object that is not there."""
    return Problem("absent", "", f"{what} not found")


def refused(where: str, message: str) -> Problem:
    """A rule about fields that is broken."""
    return Problem("rule", where, message)


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}")


def instant(value: Any, where: str) -> str:
    """`yyyy-MM-dd'T'HH:mm:ss.SSS`: UTC, and nothing says so."""
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise Problem("value", where, "must be yyyy-MM-dd'T'HH:mm:ss.SSS, UTC without a suffix")
    try:
        moment(value)
    except ValueError as error:
        raise Problem("value", where, "is no instant") from error
    return value


def moment(value: str) -> datetime:
    """An `instant` as an aware one."""
    return datetime.fromisoformat(value).replace(tzinfo=UTC)


def written(at: datetime) -> str:
    """An aware instant as Apple writes it."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


def paged(
    rows: Sequence[Mapping[str, Any]], offset: int, size: int, *, total: bool = True
) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """One page and its `pagination`; `totalCount` only where it was asked for."""
    pagination = {"offset": offset, "pageSize": size}
    return list(rows[offset : offset + size]), {**pagination, "totalCount": len(rows)} if total else pagination
