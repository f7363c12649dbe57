"""The native error shape, the guard, account look-up, and lists with bookmarks."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adsunify.sandbox.checks import Check, integer_text, record, text
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.pinterest.tables import MAX_IDS, WRITER_ROLES
from adsunify.sandbox.oauth import require_bearer_token
from adsunify.sandbox.paging import CursorFormat, paginate_after
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account

# Code of a problem: HTTP status, Pinterest's own number, its text where it does not depend on the case.
_UNAUTHENTICATED_ERROR = (401, 2, "Authentication failed.")
ERROR_BY_PROBLEM: Mapping[str, tuple[int, int, str | None]] = {
    "token_missing": _UNAUTHENTICATED_ERROR,
    "token_invalid": _UNAUTHENTICATED_ERROR,
    "token_expired": _UNAUTHENTICATED_ERROR,
    "invalid_client": _UNAUTHENTICATED_ERROR,
    "role": (403, 29, "You are not permitted to access that resource."),
    "ineligible": (403, 29, "You are not permitted to access that resource."),
    "scope": (403, 7, None),  # which of 29, 403, 7 stands for what is chosen
    "user": (403, 403, "Not authorized to access the user account."),
    "board": (404, 40, "Board not found."),
    "pin": (404, 50, "Pin not found."),
    "section": (404, 2031, "Board section not found."),
    "missing": (404, 404, None),
    "processing": (404, 50, "Pin not found."),  # not there yet
    "accept": (406, 406, None),
    "media_type": (415, 415, None),
}
# What is wrong with one object of an array: its `exceptions` in a 200. Anything else refuses the whole request
# (where the line lies is chosen: shape and types of the body, 400; everything that needs other objects, per item).
ITEM_PROBLEM_CODES = frozenset({"rule", "role", "ineligible", "board", "pin", "section", "missing", "processing"})
# The scopes of the calls, by the first word of the path behind /v5: reading, and what writing needs besides.
_SCOPES_BY_RESOURCE: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ad_accounts": (("ads:read",), ("ads:write",)),
    "resources": (("ads:read",), ()),
    "boards": (("boards:read",), ("boards:write",)),
    "pins": (("boards:read", "pins:read"), ("boards:write", "pins:write")),
    "user_account": (("user_accounts:read",), ()),
}
RATE_HEADERS = {"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}
_MESSAGES_BY_STATUS = {401: _UNAUTHENTICATED_ERROR[1:], 429: (8, "You have exceeded your rate limit. Try again later.")}
DIGITS_CHECK = text(1, 18, r"\d+")
REPEATABLE_PARAMETERS = split_words("""
    campaign_ids ad_group_ids ad_ids pin_ids entity_statuses match_types creative_types
""")


def map_error(problem: InvalidRequest) -> tuple[int, int, str]:
    """HTTP status, own number and text of a failed check."""
    status, code, message = ERROR_BY_PROBLEM.get(problem.code, (400, 1, None))
    place = f"{problem.where.lstrip('/')}: " if problem.where else ""
    return status, code, message or f"{place}{problem.message}"


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A refused request as a whole. A GET with wrong parameters answers 400 as its code, as in the description."""
    status, code, message = map_error(problem)
    if status == 400 and request.method == "GET":
        code = 400
    return Response(status, {"code": code, "message": message})


def format_status_error(request: Request, status: int) -> Response:
    """A bare status: unknown path or method, or a told fault."""
    code, message = _MESSAGES_BY_STATUS.get(status, (status, f"HTTP {status}"))
    return Response(status, {"code": code, "message": message}, RATE_HEADERS if status == 429 else {})


def authorize_request(request: Request) -> None:
    """The bearer token and its scopes, and an `Accept` that admits JSON where there is one."""
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
    """The scopes of the token of a guarded request."""
    return require_bearer_token(request).scopes


def require_account(request: Request, *, writing: bool = False) -> Account:
    """The ad account of the path. Problem `role` where the person may not see it, or may not write in it."""
    account = request.find_account(DIGITS_CHECK(request.path_parameters["account"], "/ad_account_id"))
    if account is None or (writing and not {*account.extra["native"]["permissions"]} & {*WRITER_ROLES}):
        raise InvalidRequest("role", "/ad_account_id", "no access")
    return account


def parse_query(request: Request, required: Mapping[str, Check] | None = None, /, **optional: Check) -> dict[str, Any]:
    """The checked query. The names of LIST_ITEMS may repeat: their check meets the list of all their values."""
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

    The bookmark names the last id of the page, so that what is created meanwhile shifts nothing.
    """
    page, bookmark = paginate_after(list(rows), query.get("bookmark"), query.get("page_size", 25), _BOOKMARKS)
    return Response(200, {"items": [view(row) for row in page], "bookmark": bookmark})


def not_found_error(object_name: str) -> AbortRequest:
    """What is raised for an ad object that is not in this account (own number chosen: the documentation has none)."""
    return AbortRequest(Response(404, {"code": 404, "message": f"{object_name} not found."}))
