"""The envelope, the native error shape, the guard, and lists in pages."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Problem,
    Request,
    bearer,
    integer_text,
    text,
)
from adsunify.sandbox.networks.reddit.tables import (
    DEFAULT_PAGE,
    GENERIC_AGENTS,
    HOST,
    MOST_PAGE,
    READ_SCOPE,
    USABLE,
    WRITE_SCOPE,
)

_REASONS = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 410: "Gone", 429: "Too Many Requests",
    500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
}  # fmt: skip
# Statuses of problems; what is not here is a 400.
_STATUSES = {"token_missing": 401, "token_invalid": 401, "token_expired": 401, "access": 403, "absent": 404}
# What a told 429 says of the limits: `t` is the wait; a Retry-After does not come along ("may").
_LIMITED = {
    "RateLimit-Policy": '"campaign_management";q=200;w=60',
    "RateLimit": '"campaign_management";r=0;t=7',
}


def problem(request: Request, problem: Problem) -> Answer:
    """A refused request, in the shape of the log-in or of the API."""
    if request.route.role == "login":
        return _refused_login(problem)
    status = _STATUSES.get(problem.code, 400)
    error: dict[str, Any] = {"code": status, "message": _REASONS[status]}
    if status == 400:
        place = problem.where.strip("/") or ("data" if problem.code in ("unreadable", "type") else "")
        error["fields"] = [{"field": place, "message": problem.message}]
    elif problem.message:
        error["message"] = f"{_REASONS[status]}: {problem.message}"
    return Answer(status, {"error": error})


def failure(request: Request, status: int) -> Answer:
    """A bare status: a told fault, or an unknown path. An unsupported verb is 404, not 405."""
    status = 404 if status == 405 else status
    if request.route.role == "login":
        return Answer(status, {"message": _REASONS.get(status, "Error"), "error": status})
    body = {"error": {"code": status, "message": _REASONS.get(status, "Error")}}
    return Answer(status, body, _LIMITED if status == 429 else {})


def _refused_login(problem: Problem) -> Answer:
    """OAuth's own words; a refused client is a bare 401 (chosen: the documentation allows either)."""
    if problem.code == "invalid_client":
        return Answer(401, {"message": "Unauthorized", "error": 401})
    if problem.code == "access":
        return Answer(403, {"message": "Forbidden", "error": 403})
    code = problem.code if problem.code == "invalid_grant" else "invalid_request"
    return Answer(400, {"error": code})


def guard(request: Request) -> None:
    """The bearer token and its scope, and the headers that every request has."""
    named_agent(request)
    token = bearer(request)
    reads = request.method == "GET" or request.path.endswith(("/reports", "/query"))
    needed = READ_SCOPE if reads else WRITE_SCOPE
    if needed not in token.scopes:
        raise Problem("access", "", f"the scope {needed} was not granted")
    request.accept("application/json")


def named_agent(request: Request) -> None:
    """A User-Agent of one's own. Problem `access`: a generic one is blocked."""
    agent = request.headers.get("User-Agent", "").strip().lower()
    if not agent or agent.startswith(GENERIC_AGENTS):
        raise Problem("access", "User-Agent", "a unique, descriptive User-Agent is required")


def answered(data: Any, status: int = 200) -> Answer:
    """`{"data": ...}`."""
    return Answer(status, {"data": data})


def absent(what: str) -> Problem:
    """What is raised for a path that leads to nothing."""
    return Problem("absent", "", f"no such {what}")


def account_of(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Problem `absent`, or `access` where nothing may be written in it."""
    account = request.account(request.slots["account"])
    if account is None:
        raise absent("ad account")
    if writing:
        open_for_writes(account)
    return account


def open_for_writes(account: Account) -> None:
    """Problem `access` for an account that is not approved ("restricted writes")."""
    if account.extra["native"]["admin_approval"] not in USABLE:
        raise Problem("access", "", "the ad account is restricted")


PAGING: Mapping[str, Check] = {"page.size": integer_text(1, MOST_PAGE), "page.token": text()}


def listed(request: Request, rows: Sequence[Any], wanted: Mapping[str, Any]) -> Answer:
    """One page of rows, and the full address of the next one, or null."""
    page, pagination = paged(request, rows, wanted)
    return Answer(200, {"data": list(page), "pagination": pagination})


def paged(
    request: Request, rows: Sequence[Any], wanted: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, str | None]]:
    """A page and its `pagination`. Problem where the token is not one of ours. Without a size: 100 (chosen)."""
    first, size = 0, wanted.get("page.size", DEFAULT_PAGE)
    if "page.token" in wanted:
        first = _read_token(wanted["page.token"])
    last = first + size
    if last >= len(rows):
        return rows[first:], {"next_url": None}
    query = [(name, value) for name, value in request.pairs if name != "page.token"]
    query.append(("page.token", base64.urlsafe_b64encode(f"from:{last}".encode()).decode()))
    return rows[first:last], {"next_url": f"https://{HOST}{request.path}?{urlencode(query)}"}


def _read_token(token: str) -> int:
    try:
        found = re.fullmatch(r"from:(\d{1,9})", base64.urlsafe_b64decode(token).decode())
    except (binascii.Error, ValueError):
        found = None
    if found is None:
        raise Problem("value", "/page.token", "is not one of this list")
    return int(found[1])


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")


def moment(value: Any, where: str) -> datetime:
    """An ISO 8601 instant with an offset or Z."""
    try:
        if isinstance(value, str) and _INSTANT.fullmatch(value):
            return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Problem("value", where, "must be a valid datetime", value) from error
    raise Problem("value", where, "must be a valid datetime", value)


def instant(value: Any, where: str) -> str:
    """A `moment` as it is kept and answered: UTC in seconds."""
    return written(moment(value, where))


def written(at: datetime) -> str:
    """UTC, in seconds, with Z."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
