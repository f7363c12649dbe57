"""Errors, authorization, arrays in queries and lists with cursors."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adsunify.sandbox.checks import Check, choice, integer_text, record, text
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.chatgpt.tables import KEY_WITHOUT_ACCESS, KEYS
from adsunify.sandbox.paging import find_position
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

# Code of an InvalidRequest: HTTP status and `code` of the error (the documentation names only `invalid_type`).
_ERRORS_BY_CODE: Mapping[str, tuple[int, str]] = {
    "token_missing": (401, "invalid_api_key"),
    "token_invalid": (401, "invalid_api_key"),
    "access": (403, "insufficient_permissions"),
    "missing": (404, "not_found"),
    "conflict": (409, "idempotency_key_reused"),
    "too_large": (413, "report_too_large"),
    "rule": (422, "invalid_value"),
    "ineligible": (422, "invalid_value"),
    "processing": (422, "invalid_value"),
    "type": (400, "invalid_type"),
    "required": (400, "missing_required_parameter"),
    "unknown": (400, "unknown_parameter"),
}
_FIRST_SERVER_ERROR = 500
INVALID_KEY_MESSAGE = "Incorrect API key provided."
# Default user agents that the edge refuses. The list is our choice.
_BLOCKED_USER_AGENTS = re.compile(r"(python|aiohttp|Go-http-client|Java|okhttp)\b.*|", re.IGNORECASE)


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request.

    A feature that is not enabled has the type `server_error` (seen on live accounts).
    """
    if problem.code == "feature":
        return _build_error(request, 403, problem.message, None, None, "server_error")
    status, code = _ERRORS_BY_CODE.get(problem.code, (400, "invalid_value"))
    param = problem.where.strip("/").replace("/", ".") or None
    return _build_error(request, status, problem.message, param, code)


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault. 429 comes without Retry-After."""
    if status >= _FIRST_SERVER_ERROR:  # seen on live accounts: sometimes `error` is a plain string
        return Response(
            status, {"error": "The server had an error while processing your request."}, _build_headers(request)
        )
    if status == 401:
        return format_error(request, InvalidRequest("token_invalid", "", INVALID_KEY_MESSAGE))
    message = f"Invalid URL ({request.method} {request.path})" if status == 404 else f"HTTP {status}"
    return _build_error(request, status, message, None, None)


def _build_error(
    request: Request,
    status: int,
    message: str,
    param: str | None,
    code: str | None,
    kind: str = "invalid_request_error",
) -> Response:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Response(status, body, _build_headers(request))


def _build_headers(request: Request) -> Mapping[str, str]:
    """The headers of a response. The same request in the same world has the same id."""
    return {"x-request-id": f"req_{request.stable_id.hex}"}


def build_response(request: Request, body: Any) -> Response:
    """The 200 of a call for a single resource."""
    return Response(200, body, _build_headers(request))


def not_found_error(object_name: str) -> InvalidRequest:
    """The 404 for an object that does not exist or belongs to another account."""
    return InvalidRequest("missing", "", f"No such {object_name}.")


def not_enabled_error(request: Request) -> AbortRequest:
    """The 404 for an endpoint that is not enabled for the account."""
    return AbortRequest(format_status_error(request, 404))


def authorize_request(request: Request) -> None:
    """Check the user agent, the headers of every request, and the key."""
    if _BLOCKED_USER_AGENTS.fullmatch(request.headers.get("User-Agent", "").strip()):
        raise AbortRequest(Response(403, b"error code: 1010", media_type="text/plain; charset=UTF-8"))
    request.require_accept("application/json")
    if "OpenAI-Ad-Account" in request.headers:
        raise InvalidRequest("header", "OpenAI-Ad-Account", "goes with partner keys and OAuth tokens only")
    require_account(request)


def require_account(request: Request) -> Account:
    """The ad account of the key. Raises InvalidRequest `token_missing`, `token_invalid` or `access`."""
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not key:
        raise InvalidRequest("token_missing", "", "You didn't provide an API key.")
    if key == KEY_WITHOUT_ACCESS:
        raise InvalidRequest("access", "", "This key has no access to an ad account.")
    if key not in KEYS:
        raise InvalidRequest("token_invalid", "", INVALID_KEY_MESSAGE)
    return KEYS[key]


def parse_query(
    request: Request, required: Mapping[str, Check], optional: Mapping[str, Check], arrays: Mapping[str, Check]
) -> dict[str, Any]:
    """The checked query. An array is `name[]`, once for each item; `name` alone is `invalid_type`."""
    arrays_by_name: dict[str, Any] = {name: [] for name in arrays}
    single: dict[str, str] = {}
    for name, value in request.query_pairs:
        if name.removesuffix("[]") in arrays:
            if not name.endswith("[]"):
                raise InvalidRequest("type", f"/{name}", f"Invalid type for '{name}': expected an array of strings.")
            name = name.removesuffix("[]")
            arrays_by_name[name].append(arrays[name](value, f"/{name}"))
        elif name in single:
            raise InvalidRequest("duplicate", f"/{name}", f"{name!r} appears twice")
        else:
            single[name] = value
    return {**arrays_by_name, **record(required, optional, at_most_one=(("after", "before"),))(single, "")}


def paging_checks(most: int) -> Mapping[str, Check]:
    """The checks of a list's parameters other than `order`. `after` with `before` is refused (our choice)."""
    return {"limit": integer_text(1, most), "after": text(), "before": text()}


LIST_CHECKS: Mapping[str, Check] = {**paging_checks(500), "order": choice("asc", "desc")}
_DEFAULT_PAGE_SIZE = 20


def build_page_response(
    request: Request,
    rows: Sequence[Mapping[str, Any]],
    query: Mapping[str, Any],
    view: Callable[[Any], Any] = dict,
    default: int = _DEFAULT_PAGE_SIZE,
    **more: Any,
) -> Response:
    """A page of the rows, which have an `id` and come oldest first. `order` "desc" reverses them.

    Without `order` a list is oldest first (our choice). Cursors are ids, so entities created between two requests do
    not shift the pages.
    """
    remaining = list(rows)[::-1] if query.get("order") == "desc" else list(rows)
    limit = query.get("limit", default)
    has_more = False
    if "before" in query:
        remaining = remaining[: find_position(remaining, query["before"], _position_error("before"))]
        has_more, page = len(remaining) > limit, remaining[-limit:]
    else:
        remaining = (
            remaining[find_position(remaining, query["after"], _position_error("after")) + 1 :]
            if "after" in query
            else remaining
        )
        has_more, page = len(remaining) > limit, remaining[:limit]
    ends = {"first_id": page[0]["id"] if page else None, "last_id": page[-1]["id"] if page else None}
    body = {"object": "list", "data": [view(row) for row in page], **more, **ends, "has_more": has_more}
    return build_response(request, body)


def _position_error(name: str) -> InvalidRequest:
    return InvalidRequest("value", f"/{name}", "is not an id of this list")
