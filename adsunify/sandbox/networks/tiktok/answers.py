"""The envelope of every response, error codes, authorization, and the account of a request."""

import secrets
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.oauth import require_access_token
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, Token

HOSTS = ("business-api.tiktok.com",)
API_PATH = "/open_api/v1.3"
RATE_LIMITED = "rate_limited"
# All other codes are 40002, "parameter error (see message)".
CODE_BY_PROBLEM: Mapping[str, int] = {
    "forbidden": 40001,
    "missing": 40007,
    "duplicate_request": 40050,
    "video": 40053,
    "minors": 40065,
    RATE_LIMITED: 40100,
    "token_expired": 40102,
    "token_missing": 40104,
    "token_invalid": 40105,
    "invalid_grant": 40110,
    "invalid_client": 40113,
    "not_ready": 40201,
    "advertiser": 40300,
    "other_advertiser": 40301,
    "processing": 40901,
    "image_unreachable": 40902,
    "image_url": 40903,
    "duplicate_name": 40911,
}
PARAMETER_ERROR = 40002
PARTIAL_SUCCESS = 20001
INVALID_TOKEN_MESSAGE = "Access token is incorrect or has been revoked."


def build_response(data: Mapping[str, Any], code: int = 0, message: str = "OK") -> Response:
    """HTTP 200 whatever the code; `request_id` is the trace, not the idempotency number of a create."""
    return Response(200, {"code": code, "message": message, "request_id": secrets.token_hex(16).upper(), "data": data})


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """The response to a failed check: its code, and a message that names the parameter."""
    del request
    return build_response({}, CODE_BY_PROBLEM.get(problem.code, PARAMETER_ERROR), problem.format_sentence())


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path (also one without the final slash) or method, or a requested fault.

    The API refuses a token with a code in a 200, so the fault `status` 401 gives code 40105.
    """
    if status == 401:
        return format_error(request, InvalidRequest("token_invalid", "", INVALID_TOKEN_MESSAGE))
    text = {404: "404 page not found", 405: "405 method not allowed", 429: "429 too many requests"}
    return Response(status, text.get(status, f"{status} refused at the edge").encode(), media_type="text/plain")


def authorize_request(request: Request) -> Token:
    """The token of the header `Access-Token`; `Authorization` and the query are not accepted."""
    if not request.headers.get("Access-Token"):
        raise InvalidRequest("token_missing", "Access-Token", "Access token is empty. Please fill in a correct one")
    token = require_access_token(request, request.headers["Access-Token"])
    if request.get_fault("error_in_200"):
        raise InvalidRequest(RATE_LIMITED, "", "Too many requests. Please retry in some time")
    return token


def require_account_by_id(request: Request, advertiser_id: str) -> Account:
    """The account of this id. Raises InvalidRequest."""
    if (account := request.find_account(advertiser_id)) is None:
        raise InvalidRequest("advertiser", "/advertiser_id", f"advertiser {advertiser_id} does not exist or is deleted")
    return account
