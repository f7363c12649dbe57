"""Envelopes, the native error shape, the guard, and lists with cursors."""

import base64
import binascii
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Problem,
    Refusal,
    Request,
    bearer,
    choice,
    integer_text,
    text,
)
from adsunify.sandbox.networks.snapchat.tables import LEAST_PAGE, MOST_PAGE, NEXT_HOST

# Code of a problem: HTTP status and Snap's own code. The documentation names E1008, E3002, E2023, E4001 and "E2xxx
# field rules"; the other codes are chosen.
_CODES: Mapping[str, tuple[int, str]] = {
    "token_missing": (401, "E1101"),
    "token_invalid": (401, "E1101"),
    "token_expired": (401, "E1101"),
    "role": (403, "E1102"),
    "missing": (404, "E1103"),
    "stats": (400, "E1008"),
    "window": (400, "E3002"),
    "immutable": (400, "E2023"),
    "rule": (400, "E2002"),
    "collection": (400, "E4001"),
    "media_type": (415, "E1001"),
}
_STATUS_CODES = {401: "E1101", 404: "E1103", 405: "E1104", 429: "E1105"}


def native_code(problem: Problem) -> tuple[int, str]:
    """HTTP status and own code of a failed check."""
    return _CODES.get(problem.code, (400, "E1001"))


def sentence(problem: Problem) -> str:
    """What is wrong, in one line."""
    place = problem.where.strip("/").replace("/", ".")
    return f"{place}: {problem.message}" if place else problem.message


def problem(request: Request, problem: Problem) -> Answer:
    """A refused request as a whole."""
    if request.route.role == "login":  # the standard shape of OAuth (chosen: none is documented)
        code = problem.code if problem.code in ("invalid_client", "invalid_grant") else "invalid_request"
        status = 401 if code == "invalid_client" else 400
        return Answer(status, {"error": code, "error_description": sentence(problem)})
    status, code = native_code(problem)
    return _refusal(request, status, code, sentence(problem))


def failure(request: Request, status: int) -> Answer:
    """A bare status: unknown path or method, or a told fault. 429 comes without Retry-After."""
    return _refusal(request, status, _STATUS_CODES.get(status, "E1000"), f"HTTP {status}")


def _refusal(request: Request, status: int, code: str, message: str) -> Answer:
    """An error of the API. Every 401 has the documented header."""
    body = {
        "request_status": "ERROR",
        "request_id": request_id(request),
        "debug_message": message,
        "display_message": "We're sorry, but the request could not be completed.",
        "error_code": code,
    }
    return Answer(status, body, {"WWW-Authenticate": 'Bearer error="invalid_token"'} if status == 401 else {})


def refused(where: str, message: str) -> Problem:
    """A rule about fields that is broken (E2xxx)."""
    return Problem("rule", where, message)


def request_id(request: Request) -> str:
    """An id as the real network writes them; the same request in the same world has the same one."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{request.method} {request.path} {len(request.world.journal)}").hex


def answered(request: Request, more: Mapping[str, Any], status: str = "success") -> Answer:
    """The envelope around an answer. Reads say `success` and writes `SUCCESS`: both occur."""
    return Answer(200, {"request_status": status, "request_id": request_id(request), **more})


def guard(request: Request) -> None:
    """The bearer token."""
    bearer(request)


def account_of(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Problem `role` where the member may not see it, or may not write in it."""
    return permitted(request, request.slots["account"], writing=writing)


def permitted(request: Request, native_id: str, *, writing: bool = False) -> Account:
    """The ad account of this id. Problem as `account_of`."""
    account = request.account(native_id)
    if account is None or (writing and not account.extra["writes"]):
        raise refused_role()
    return account


def refused_role() -> Problem:
    """What a member may not do or see."""
    return Problem("role", "", "the member has no role that permits this")


def truth(value: Any, where: str) -> bool:
    """true or false in a query."""
    return bool(choice("true", "false")(value, where) == "true")


PAGING: Mapping[str, Check] = {"limit": integer_text(LEAST_PAGE, MOST_PAGE), "cursor": text()}


def listed(
    request: Request,
    key: str,
    word: str,
    rows: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, Any],
    view: Callable[[Any], Any] = dict,
) -> Answer:
    """A list of rows with `id` in the order of creation: a page of it with `limit`, else all of it, unsorted."""
    page, paging = paged(request, rows, wanted)
    items = [{"sub_request_status": "success", word: view(row)} for row in page]
    return answered(request, {"paging": paging, key: items} if "limit" in wanted else {key: items})


def paged(
    request: Request, rows: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], dict[str, str]]:
    """One page and its `paging`. The cursor names the last id of a page, so what is created meanwhile shifts nothing.

    Problem where a cursor comes without `limit` (chosen: the order would be another) or is not one of this list.
    """
    if "limit" not in wanted:
        if "cursor" in wanted:
            raise Problem("required", "/limit", "a cursor goes with limit")
        return sorted(rows, key=lambda row: str(row["id"])), {}
    found = rows
    if "cursor" in wanted:
        last = _read_cursor(wanted["cursor"])
        at = next((position for position, row in enumerate(rows, 1) if row["id"] == last), None)
        if at is None:
            raise Problem("value", "/cursor", "is not one of this list")
        found = rows[at:]
    page = found[: wanted["limit"]]
    if len(found) <= len(page):
        return page, {}
    query = [(name, value) for name, value in request.pairs if name != "cursor"]
    query.append(("cursor", base64.b64encode(f"after|{page[-1]['id']}".encode()).decode()))
    return page, {"next_link": f"https://{NEXT_HOST}{request.path}?{urlencode(query)}"}


def _read_cursor(cursor: str) -> str:
    try:
        word, _, last = base64.b64decode(cursor, validate=True).decode().partition("|")
    except (binascii.Error, UnicodeDecodeError):
        word, last = "", ""
    if word != "after":
        raise Problem("value", "/cursor", "is not one of this list")
    return last


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)")


def moment(value: Any, where: str) -> datetime:
    """An ISO 8601 instant with an offset or Z."""
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise Problem("rule", where, "must be ISO 8601 with offset or Z")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise Problem("rule", where, "is no instant") from error


def instant(value: Any, where: str) -> str:
    """A `moment`, as it is kept and answered: UTC with milliseconds."""
    return written(moment(value, where))


def written(at: datetime) -> str:
    """UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def absent(request: Request, what: str) -> Refusal:
    """What is raised for an object that is not there."""
    return Refusal(_refusal(request, 404, "E1103", f"{what} not found"))
