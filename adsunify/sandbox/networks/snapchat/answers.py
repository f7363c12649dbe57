"""Envelopes, the native error shape, authorization, and lists with cursors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adsunify.sandbox.checks import Check, integer_text, text
from adsunify.sandbox.instants import InstantFormat
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.snapchat.tables import MAX_PAGE_SIZE, MIN_PAGE_SIZE, NEXT_LINK_HOST
from adsunify.sandbox.oauth import format_oauth_error, require_bearer_token
from adsunify.sandbox.paging import CursorFormat, build_next_url, paginate_after
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

# Code of an InvalidRequest: HTTP status and Snap's code. The documentation names E1008, E3002, E2023, E4001 and "E2xxx
# field rules"; the other codes are our choice.
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
    """HTTP status and Snap's code of a failed check."""
    return _ERRORS_BY_CODE.get(problem.code, (400, "E1001"))


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request."""
    if request.route.role == "login":  # the standard shape of OAuth (our choice: none is documented)
        return format_oauth_error(problem, ("invalid_client", "invalid_grant"), problem.format_sentence())
    status, code = map_error(problem)
    return _build_error(request, status, code, problem.format_sentence())


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault. 429 comes without Retry-After."""
    return _build_error(request, status, _CODES_BY_STATUS.get(status, "E1000"), f"HTTP {status}")


def _build_error(request: Request, status: int, code: str, message: str) -> Response:
    """An error of the API. Every 401 has the documented header `WWW-Authenticate`."""
    body = {
        "request_status": "ERROR",
        "request_id": request.stable_id.hex,
        "debug_message": message,
        "display_message": "We're sorry, but the request could not be completed.",
        "error_code": code,
    }
    return Response(status, body, {"WWW-Authenticate": 'Bearer error="invalid_token"'} if status == 401 else {})


def build_response(request: Request, members: Mapping[str, Any], status: str = "success") -> Response:
    """The envelope around an answer. Reads have `success` and writes `SUCCESS`, as in the documentation."""
    return Response(200, {"request_status": status, "request_id": request.stable_id.hex, **members})


def authorize_request(request: Request) -> None:
    """Check the bearer token."""
    require_bearer_token(request)


def require_account(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Raises InvalidRequest `role` if the member may not see it, or may not write in it."""
    return require_permitted_account(request, request.path_parameters["account"], writing=writing)


def require_permitted_account(request: Request, native_id: str, *, writing: bool = False) -> Account:
    """The ad account of this id. Raises InvalidRequest `role`."""
    account = request.find_account(native_id)
    if account is None or (writing and not account.extra["writes"]):
        raise role_error()
    return account


def role_error() -> InvalidRequest:
    """The InvalidRequest for a call that the member's role does not allow."""
    return InvalidRequest("role", "", "the member has no role that permits this")


PAGING_CHECKS: Mapping[str, Check] = {"limit": integer_text(MIN_PAGE_SIZE, MAX_PAGE_SIZE), "cursor": text()}
_CURSORS = CursorFormat("/cursor", "after|")


def build_page_response(
    request: Request,
    key: str,
    word: str,
    rows: Sequence[Mapping[str, Any]],
    query: Mapping[str, Any],
    view: Callable[[Any], Any] = dict,
) -> Response:
    """A list of rows with `id` in the order of creation: one page with `limit`, or all rows, unsorted."""
    page, paging = paginate(request, rows, query)
    items = [{"sub_request_status": "success", word: view(row)} for row in page]
    return build_response(request, {"paging": paging, key: items} if "limit" in query else {key: items})


def paginate(
    request: Request, rows: Sequence[Mapping[str, Any]], query: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], dict[str, str]]:
    """One page and its `paging`.

    The cursor names the last id of a page, so entities created between two requests do not shift the pages.

    Raises InvalidRequest for a cursor without `limit` (our choice: the order would differ) or of another list.
    """
    if "limit" not in query:
        if "cursor" in query:
            raise InvalidRequest("required", "/limit", "a cursor goes with limit")
        return sorted(rows, key=lambda row: str(row["id"])), {}
    page, cursor = paginate_after(rows, query.get("cursor"), query["limit"], _CURSORS)
    return page, {"next_link": build_next_url(request, NEXT_LINK_HOST, "cursor", cursor)} if cursor else {}


INSTANT = InstantFormat(
    pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)",
    decimals="milliseconds",
    suffix="Z",
    message="must be ISO 8601 with offset or Z",
    missing_message="is no instant",
    code="rule",
)


def not_found_error(request: Request, object_name: str) -> AbortRequest:
    """The error for an object that does not exist."""
    return AbortRequest(_build_error(request, 404, "E1103", f"{object_name} not found"))
