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
    AbortRequest,
    Account,
    Check,
    InvalidRequest,
    Request,
    Response,
    choice,
    integer_text,
    require_bearer_token,
    text,
)
from adsunify.sandbox.networks.snapchat.tables import MAX_PAGE_SIZE, MIN_PAGE_SIZE, NEXT_LINK_HOST

# Code of a problem: HTTP status and Snap's own code. The documentation names E1008, E3002, E2023, E4001 and "E2xxx
# field rules"; the other codes are chosen.
_ERRORS_BY_CODE: Mapping[str, tuple[int, str]] = {
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
_CODES_BY_STATUS = {401: "E1101", 404: "E1103", 405: "E1104", 429: "E1105"}


def map_error(problem: InvalidRequest) -> tuple[int, str]:
    """HTTP status and own code of a failed check."""
    return _ERRORS_BY_CODE.get(problem.code, (400, "E1001"))


def format_sentence(problem: InvalidRequest) -> str:
    """What is wrong, in one line."""
    place = problem.where.strip("/").replace("/", ".")
    return f"{place}: {problem.message}" if place else problem.message


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A refused request as a whole."""
    if request.route.role == "login":  # the standard shape of OAuth (chosen: none is documented)
        code = problem.code if problem.code in ("invalid_client", "invalid_grant") else "invalid_request"
        status = 401 if code == "invalid_client" else 400
        return Response(status, {"error": code, "error_description": format_sentence(problem)})
    status, code = map_error(problem)
    return _build_error(request, status, code, format_sentence(problem))


def format_status_error(request: Request, status: int) -> Response:
    """A bare status: unknown path or method, or a told fault. 429 comes without Retry-After."""
    return _build_error(request, status, _CODES_BY_STATUS.get(status, "E1000"), f"HTTP {status}")


def _build_error(request: Request, status: int, code: str, message: str) -> Response:
    """An error of the API. Every 401 has the documented header."""
    body = {
        "request_status": "ERROR",
        "request_id": build_request_id(request),
        "debug_message": message,
        "display_message": "We're sorry, but the request could not be completed.",
        "error_code": code,
    }
    return Response(status, body, {"WWW-Authenticate": 'Bearer error="invalid_token"'} if status == 401 else {})


def rule_error(where: str, message: str) -> InvalidRequest:
    """A rule about fields that is broken (E2xxx)."""
    return InvalidRequest("rule", where, message)


def build_request_id(request: Request) -> str:
    """An id as the real network writes them; the same request in the same world has the same one."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{request.method} {request.path} {len(request.world.journal)}").hex


def build_response(request: Request, more: Mapping[str, Any], status: str = "success") -> Response:
    """The envelope around an answer. Reads say `success` and writes `SUCCESS`: both occur."""
    return Response(200, {"request_status": status, "request_id": build_request_id(request), **more})


def authorize_request(request: Request) -> None:
    """The bearer token."""
    require_bearer_token(request)


def require_account(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Problem `role` where the member may not see it, or may not write in it."""
    return require_permitted_account(request, request.path_parameters["account"], writing=writing)


def require_permitted_account(request: Request, native_id: str, *, writing: bool = False) -> Account:
    """The ad account of this id. Problem as `account_of`."""
    account = request.find_account(native_id)
    if account is None or (writing and not account.extra["writes"]):
        raise role_error()
    return account


def role_error() -> InvalidRequest:
    """What a member may not do or see."""
    return InvalidRequest("role", "", "the member has no role that permits this")


def check_boolean_text(value: Any, where: str) -> bool:
    """true or false in a query."""
    return bool(choice("true", "false")(value, where) == "true")


PAGING_CHECKS: Mapping[str, Check] = {"limit": integer_text(MIN_PAGE_SIZE, MAX_PAGE_SIZE), "cursor": text()}


def build_page_response(
    request: Request,
    key: str,
    word: str,
    rows: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, Any],
    view: Callable[[Any], Any] = dict,
) -> Response:
    """A list of rows with `id` in the order of creation: a page of it with `limit`, else all of it, unsorted."""
    page, paging = paginate(request, rows, wanted)
    items = [{"sub_request_status": "success", word: view(row)} for row in page]
    return build_response(request, {"paging": paging, key: items} if "limit" in wanted else {key: items})


def paginate(
    request: Request, rows: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], dict[str, str]]:
    """One page and its `paging`. The cursor names the last id of a page, so what is created meanwhile shifts nothing.

    Problem where a cursor comes without `limit` (chosen: the order would be another) or is not one of this list.
    """
    if "limit" not in wanted:
        if "cursor" in wanted:
            raise InvalidRequest("required", "/limit", "a cursor goes with limit")
        return sorted(rows, key=lambda row: str(row["id"])), {}
    found = rows
    if "cursor" in wanted:
        last = _decode_cursor(wanted["cursor"])
        at = next((position for position, row in enumerate(rows, 1) if row["id"] == last), None)
        if at is None:
            raise InvalidRequest("value", "/cursor", "is not one of this list")
        found = rows[at:]
    page = found[: wanted["limit"]]
    if len(found) <= len(page):
        return page, {}
    query = [(name, value) for name, value in request.query_pairs if name != "cursor"]
    query.append(("cursor", base64.b64encode(f"after|{page[-1]['id']}".encode()).decode()))
    return page, {"next_link": f"https://{NEXT_LINK_HOST}{request.path}?{urlencode(query)}"}


def _decode_cursor(cursor: str) -> str:
    try:
        word, _, last = base64.b64decode(cursor, validate=True).decode().partition("|")
    except (binascii.Error, UnicodeDecodeError):
        word, last = "", ""
    if word != "after":
        raise InvalidRequest("value", "/cursor", "is not one of this list")
    return last


_INSTANT_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)")


def check_datetime(value: Any, where: str) -> datetime:
    """An ISO 8601 instant with an offset or Z."""
    if not isinstance(value, str) or not _INSTANT_PATTERN.fullmatch(value):
        raise InvalidRequest("rule", where, "must be ISO 8601 with offset or Z")
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise InvalidRequest("rule", where, "is no instant") from error


def check_instant(value: Any, where: str) -> str:
    """A `moment`, as it is kept and answered: UTC with milliseconds."""
    return format_instant(check_datetime(value, where))


def format_instant(at: datetime) -> str:
    """UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def not_found_error(request: Request, what: str) -> AbortRequest:
    """What is raised for an object that is not there."""
    return AbortRequest(_build_error(request, 404, "E1103", f"{what} not found"))
