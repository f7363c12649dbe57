"""The native error shape, authorization, account look-up, and lists with bookmarks."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adsunify.sandbox.checks import Check, integer_text, record, text
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.pinterest.tables import MAX_IDS, WRITER_ROLES
from adsunify.sandbox.oauth import require_bearer_token
from adsunify.sandbox.paging import CursorFormat, paginate_after
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account

# Code of an InvalidRequest: HTTP status, Pinterest's own number, and its text if that is fixed.
_UNAUTHENTICATED_ERROR = (401, 2, "Authentication failed.")
ERROR_BY_PROBLEM: Mapping[str, tuple[int, int, str | None]] = {
    "token_missing": _UNAUTHENTICATED_ERROR,
    "token_invalid": _UNAUTHENTICATED_ERROR,
    "token_expired": _UNAUTHENTICATED_ERROR,
    "invalid_client": _UNAUTHENTICATED_ERROR,
    "role": (403, 29, "You are not permitted to access that resource."),
    "ineligible": (403, 29, "You are not permitted to access that resource."),
    "scope": (403, 7, None),  # the meanings of 29, 403 and 7 are our choice
    "user": (403, 403, "Not authorized to access the user account."),
    "board": (404, 40, "Board not found."),
    "pin": (404, 50, "Pin not found."),
    "section": (404, 2031, "Board section not found."),
    "missing": (404, 404, None),
    "processing": (404, 50, "Pin not found."),  # the Pin does not exist yet
    "accept": (406, 406, None),
    "media_type": (415, 415, None),
}
# Errors of one object of an array, in its `exceptions` of a 200. All others refuse the whole request. Our choice: shape
# and types of the body are 400; rules that need other objects are per item.
ITEM_PROBLEM_CODES = frozenset({"rule", "role", "ineligible", "board", "pin", "section", "missing", "processing"})
# The scopes of calls, by the first path word after /v5: for reads, and in addition for writes.
_SCOPES_BY_RESOURCE: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ad_accounts": (("ads:read",), ("ads:write",)),
    "resources": (("ads:read",), ()),
    "boards": (("boards:read",), ("boards:write",)),
    "pins": (("boards:read", "pins:read"), ("boards:write", "pins:write")),
    "user_account": (("user_accounts:read",), ()),
}
_RATE_HEADERS = {"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0"}
_RATE_RESET_SECONDS = 7
_MESSAGES_BY_STATUS = {401: _UNAUTHENTICATED_ERROR[1:], 429: (8, "You have exceeded your rate limit. Try again later.")}
DIGITS_CHECK = text(1, 18, r"\d+")
REPEATABLE_PARAMETERS = split_words("""
    campaign_ids ad_group_ids ad_ids pin_ids entity_statuses match_types creative_types
""")


def map_error(problem: InvalidRequest) -> tuple[int, int, str]:
    """HTTP status, Pinterest's number and text of a failed check."""
    status, code, message = ERROR_BY_PROBLEM.get(problem.code, (400, 1, None))
    place = f"{problem.where.lstrip('/')}: " if problem.where else ""
    return status, code, message or f"{place}{problem.message}"


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request. A GET with wrong parameters has the code 400, as in the description."""
    status, code, message = map_error(problem)
    if status == 400 and request.method == "GET":
        code = 400
    return Response(status, {"code": code, "message": message})


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault."""
    code, message = _MESSAGES_BY_STATUS.get(status, (status, f"HTTP {status}"))
    reset = {"x-ratelimit-reset": str(request.get_wait_seconds(_RATE_RESET_SECONDS))}
    return Response(status, {"code": code, "message": message}, _RATE_HEADERS | reset if status == 429 else {})


def authorize_request(request: Request) -> None:
    """Check the bearer token and its scopes, and that `Accept`, if present, allows JSON."""
    token = require_bearer_token(request)
    accepted = request.headers.get("Accept", "*/*")
    if not any(form in accepted for form in ("application/json", "application/*", "*/*")):
        raise InvalidRequest("accept", "Accept", "must admit application/json")
    reading, writing = _SCOPES_BY_RESOURCE[request.path.removeprefix("/v5/").partition("/")[0]]
    # a report job and the bid floors are reads, though sent by POST
    writes = request.method != "GET" and not request.path.endswith(("/reports", "/bid_floor"))
    if lacking := [scope for scope in (*reading, *(writing if writes else ())) if scope not in token.scopes]:
        raise InvalidRequest("scope", "Authorization", f"the token lacks {', '.join(lacking)}")


def get_bearer_scopes(request: Request) -> tuple[str, ...]:
    """The scopes of the token of an authorized request."""
    return require_bearer_token(request).scopes


def require_account(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Raises InvalidRequest `role` if the person may not see it, or may not write in it."""
    account = request.find_account(DIGITS_CHECK(request.path_parameters["account"], "/ad_account_id"))
    if account is None or (writing and not {*account.extra["native"]["permissions"]} & {*WRITER_ROLES}):
        raise InvalidRequest("role", "/ad_account_id", "no access")
    return account


def parse_query(request: Request, required: Mapping[str, Check] | None = None, /, **optional: Check) -> dict[str, Any]:
    """The checked query. The parameters of REPEATABLE_PARAMETERS may repeat: their check gets the list of values."""
    values: dict[str, Any] = {}
    for name, value in request.query_pairs:
        if name in REPEATABLE_PARAMETERS:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise InvalidRequest("duplicate", f"/{name}", f"{name!r} appears twice")
        else:
            values[name] = value
    checked: dict[str, Any] = record(required or {}, optional)(values, "")
    return checked


def repeated_values(item: Check, most: int = MAX_IDS) -> Check:
    """The values of a repeated parameter."""

    def check(values: Any, where: str) -> list[Any]:
        if len(values) > most:
            raise InvalidRequest("value", where, f"at most {most} values")
        return [item(value, where) for value in values]

    return check


PAGING_CHECKS: Mapping[str, Check] = {"page_size": integer_text(1, 250), "bookmark": text(0)}
_BOOKMARKS = CursorFormat("/bookmark", "after|")


def build_page_response(
    rows: Iterable[Mapping[str, Any]], query: Mapping[str, Any], view: Callable[[Any], Any] = dict
) -> Response:
    """One page of rows that have an `id`, and the bookmark of the next (null on the last).

    The bookmark names the last id of the page, so entities created between two requests do not shift the pages.
    """
    page, bookmark = paginate_after(list(rows), query.get("bookmark"), query.get("page_size", 25), _BOOKMARKS)
    return Response(200, {"items": [view(row) for row in page], "bookmark": bookmark})


def not_found_error(object_name: str) -> AbortRequest:
    """The error for an ad object that is not in this account (its number is our choice: the documentation has none)."""
    return AbortRequest(Response(404, {"code": 404, "message": f"{object_name} not found."}))
