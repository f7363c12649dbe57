"""Errors in Amazon's three shapes, authorization, and the account and date of a request."""

import re
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.amazon.tables import CLIENT_HEADER, REGION_BY_HOST, SCOPE_HEADER
from adsunify.sandbox.oauth import format_oauth_error, require_bearer_token
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

STATUS_BY_CODE = {
    "media_type": 415,
    "accept": 406,
    "token_missing": 401,
    "token_invalid": 401,
    "token_expired": 401,
    # a required header is missing, so the gateway cannot identify client or profile (our choice of status)
    "header": 401,
    "client": 401,
    "scope": 401,
    "not_found": 404,
}
# Amazon Ads API names six codes; the codes of 404, 405, 406 and 422 are our choice
CODE_BY_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHORIZED",
    403: "ACCESS_DENIED",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "NOT_ACCEPTABLE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    422: "UNPROCESSABLE_ENTITY",
    429: "THROTTLED",
    500: "INTERNAL_ERROR",
}
_OAUTH_ERRORS = ("invalid_client", "invalid_grant", "unsupported_grant_type")
RETRY_AFTER_HEADERS = {"Retry-After": "2"}


class ItemError(Exception):
    """The error of one item of a batch: a documented error type, with a reason of this type.

    `where` is a JSON pointer into the request body; `more` holds members that only some types have.
    """

    def __init__(
        self,
        kind: str,
        reason: str,
        where: str,
        message: str,
        trigger: Any = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{kind} {reason} at {where}: {message}")
        self.type = kind
        self.reason = reason
        self.cause = {"location": format_location(where), **({} if trigger is None else {"trigger": str(trigger)})}
        self.message = message
        self.more = dict(more or {})

    def render_error(self) -> dict[str, Any]:
        """`{"errorType", "errorValue": {<errorType>: {...}}}`: exactly one key in errorValue."""
        value = {"reason": self.reason, "cause": self.cause, **self.more, "message": self.message}
        return {"errorType": self.type, "errorValue": {self.type: value}}


def format_location(pointer: str) -> str:
    """A JSON pointer as Amazon writes places: `/adGroups/0/defaultBid` is `$.adGroups[0].defaultBid`."""
    return "$" + re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", pointer.replace("/", "."))


def authorize_request(request: Request) -> None:
    """Check token and client id. Except on calls for profiles, check that the host serves the profile's region."""
    require_bearer_token(request)
    if request.require_header(CLIENT_HEADER) != request.world.client_id:
        raise InvalidRequest("client", CLIENT_HEADER, "the client id is not the one the token was issued to")
    if request.path.startswith("/v2/profiles"):
        if SCOPE_HEADER in request.headers:  # calls for profiles have no Scope header
            raise InvalidRequest("value", SCOPE_HEADER, f"{SCOPE_HEADER} is not sent to profiles")
        return
    account = request.find_account(request.require_header(SCOPE_HEADER))
    if account is None:
        raise InvalidRequest("scope", SCOPE_HEADER, "No matching advertiser found for scope")
    if account.extra["region"] != REGION_BY_HOST[request.host]:
        raise InvalidRequest("scope", SCOPE_HEADER, "Not authorized to access scope")


def require_account(request: Request) -> Account:
    """The profile of an authorized request."""
    account = request.find_account(request.headers[SCOPE_HEADER])
    assert account is not None  # authorize_request has checked it
    return account


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a refused request."""
    if request.route.role == "login":  # 400 for invalid_client too: the documentation gives no other status
        return format_oauth_error(problem, _OAUTH_ERRORS, problem.message, client_status=400)
    status = STATUS_BY_CODE.get(problem.code, 400)
    body = _build_error_body(request, status, problem.message)
    if status == 400 and "message" in body:
        type_, reason = (
            ("invalidInputError", "INVALID_TOKEN")
            if problem.code == "token"
            else ("malformedValueError", "PATTERN_NOT_MATCHED")
        )
        body["errors"] = [ItemError(type_, reason, problem.where, problem.message, problem.value).render_error()]
    return Response(status, body)


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault."""
    if request.route.role == "login":
        return Response(status, {"error": "server_error", "error_description": f"HTTP {status}"})
    return Response(
        status, _build_error_body(request, status, f"HTTP {status}"), RETRY_AFTER_HEADERS if status == 429 else {}
    )


def _build_error_body(request: Request, status: int, message: str) -> dict[str, Any]:
    """The code is in words on Sponsored Products resources and portfolios; elsewhere it is digits, with `details`.

    The digits are the status, as the eligibility description says and the 425 of a duplicate report shows. Reports have
    `detail`, as in the examples of refusals in Amazon's issue tracker (github.com/amzn/ads-advanced-tools-docs).
    """
    if re.fullmatch(r"/(sp|portfolios)(/.*)?", request.path) and not request.path.endswith("/budget/usage"):
        return {"code": CODE_BY_STATUS.get(status, CODE_BY_STATUS[500 if status >= 500 else 400]), "message": message}
    return {"code": str(status), "detail" if request.path.startswith("/reporting/") else "details": message}
