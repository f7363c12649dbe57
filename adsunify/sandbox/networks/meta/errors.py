"""The native error shape, authorization, and the headers of every response."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from adsunify.sandbox.checks import text
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.oauth import require_access_token, require_bearer_token
from adsunify.sandbox.parsing import InvalidRequest, serialize_json
from adsunify.sandbox.world import CLIENT_SECRET, Account, Token

API_VERSION = "v26.0"
CREDENTIAL_CHECKS = {"access_token": text(), "appsecret_proof": text()}


@frozen
class ErrorShape:
    """One kind of refusal: HTTP status, code, subcode; `as_text`: error_data comes as a JSON string."""

    status: int
    code: int
    subcode: int | None = None
    title: str = "Invalid parameter"
    transient: bool = False
    as_text: bool = False


INVALID_PARAMETER = ErrorShape(400, 100)
ERROR_BY_PROBLEM: Mapping[str, ErrorShape] = {
    "token_missing": ErrorShape(401, 190, None, "Access token required"),
    "token_invalid": ErrorShape(400, 190, 467, "Invalid access token"),
    "token_expired": ErrorShape(401, 190, 463, "Session expired"),
    "invalid_client": ErrorShape(400, 101, None, "Error validating application"),
    "invalid_grant": ErrorShape(400, 100, None, "This authorization code is unknown, expired or has been used"),
    "missing": ErrorShape(400, 100, 33, "Object does not exist"),
    "ineligible": ErrorShape(403, 200, None, "Permissions error"),
    "processing": ErrorShape(400, 100, None, "Object is still being processed"),
    # error_data may be a JSON STRING. Here it is a string for parameters that conflict.
    "combination": ErrorShape(400, 100, None, "Parameters do not go together", as_text=True),
    "click_billing": ErrorShape(400, 100, 2446404, "Billing Option Not Available"),
    "too_much_data": ErrorShape(400, 100, 1487534, "Too much data"),
    "status_value": ErrorShape(400, 100, 1487561, "Invalid effective status"),
    "too_many": ErrorShape(400, 1487809, None, "Object count limit"),
    "budget_changes": ErrorShape(400, 613, 1487632, "Too many budget changes"),
}
ERROR_BY_STATUS: Mapping[int, ErrorShape] = {
    401: ErrorShape(401, 190, 463, "Session expired"),
    403: ErrorShape(403, 200, 294, "Requires the ads_management permission"),
    404: ErrorShape(404, 100, 33, "Object does not exist"),
    429: ErrorShape(429, 80004, None, "There have been too many calls to this ad account", transient=True),
    500: ErrorShape(500, 1, None, "An unknown error occurred", transient=True),
    504: ErrorShape(504, 1, 1504018, "The request timed out", transient=True),
}
SERVICE_UNAVAILABLE = ErrorShape(503, 2, None, "Service temporarily unavailable", transient=True)
INSIGHTS_ERROR_BY_STATUS: Mapping[int, ErrorShape] = {
    400: ErrorShape(400, 100, 1487534, "Too much data"),
    429: ErrorShape(429, 80000, None, "There have been too many insights calls to this ad account", transient=True),
}


def build_response(request: Request, body: Any, status: int = 200, wait_seconds: int = 0) -> Response:
    """An answer with the trace and usage headers; `wait_seconds` is the wait in the usage header."""
    headers = {"x-fb-request-id": secrets.token_hex(8), "x-fb-trace-id": f"A{secrets.token_urlsafe(8)}"}
    headers["facebook-api-version"] = API_VERSION
    headers |= _build_usage_headers(request, wait_seconds)
    return Response(status, body, headers)


def build_error(
    request: Request, native: ErrorShape, message: str, blamed: str | None = None, status: int = 0
) -> Response:
    """The documented error body."""
    trace = f"A{secrets.token_urlsafe(12)}"
    error: dict[str, Any] = {
        "message": f"(#{native.code}) {message}",
        "type": "OAuthException",
        "code": native.code,
        "is_transient": native.transient,
        "fbtrace_id": trace,
    }
    if native.subcode is not None:
        error["error_subcode"] = native.subcode
    if native.code not in (1, 2, 190):
        error |= {"error_user_title": native.title, "error_user_msg": message}
    if blamed:
        data = {"blame_field_specs": [[blamed]]}
        error["error_data"] = serialize_json(data) if native.as_text else data
    limited = native.code in (4, 17, 32, 341, 613) or 80000 <= native.code <= 80014
    wait_seconds = request.get_wait_seconds(60) if limited else 0
    return build_response(request, {"error": error}, status or native.status, wait_seconds)


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A failed check in the native shape; the first member of the pointer is the blamed field."""
    blamed = problem.where.lstrip("/").partition("/")[0] if problem.where.startswith("/") else None
    message = f"{problem.where.lstrip('/')}: {problem.message}" if problem.where else problem.message
    return build_error(request, ERROR_BY_PROBLEM.get(problem.code, INVALID_PARAMETER), message, blamed)


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault."""
    if not request.path.startswith(f"/{API_VERSION}/"):
        version_error = ErrorShape(400, 2635, None, "Version gone")
        return build_error(
            request, version_error, f"You are calling an unknown or deprecated version; use {API_VERSION}"
        )
    shape = (INSIGHTS_ERROR_BY_STATUS if request.path.endswith("/insights") else ERROR_BY_STATUS).get(
        status
    ) or ERROR_BY_STATUS.get(status)
    native = shape or (SERVICE_UNAVAILABLE if status >= 500 else INVALID_PARAMETER)
    return build_error(request, native, native.title, status=status)


def not_found_error(request: Request, node: str) -> AbortRequest:
    """The error for an object that does not exist (100 with subcode 33)."""
    message = f"Unsupported request. Object with ID '{node}' does not exist or cannot be loaded"
    return AbortRequest(build_error(request, ERROR_BY_PROBLEM["missing"], message))


def authorize_request(request: Request) -> Token:
    """The token of the header (or of `access_token`), and a check of its `appsecret_proof`, if present."""
    parameters = dict(request.query_pairs)
    if request.method == "POST" and request.body:
        parameters |= request.parse_form()
    if "Authorization" in request.headers:
        token = require_bearer_token(request)
    elif "access_token" in parameters:
        token = require_access_token(request, parameters["access_token"])
    else:
        raise InvalidRequest("token_missing", "Authorization", "an access token is required to request this resource")
    proof = hmac.new(CLIENT_SECRET.encode(), token.text.encode(), hashlib.sha256).hexdigest()
    if "appsecret_proof" in parameters and not hmac.compare_digest(
        parameters["appsecret_proof"].encode(), proof.encode()
    ):
        raise InvalidRequest("value", "/appsecret_proof", "Invalid appsecret_proof provided in the API argument")
    return token


def require_account_by_id(request: Request, node: str) -> Account:
    """The account of an `act_<digits>` node."""
    if (account := request.find_account(node)) is None:
        raise not_found_error(request, node)
    return account


def _build_usage_headers(request: Request, wait_seconds: int) -> dict[str, str]:
    """The documented rate headers: percent figures; a wait in MINUTES (rounded up), and again in SECONDS."""
    percent = 100 if wait_seconds else 1
    account = request.path_parameters.get("node", "").removeprefix("act_")
    usage = {"call_count": percent, "total_cputime": 1, "total_time": percent}
    headers = {"X-App-Usage": serialize_json(usage)}
    if account.isdigit():
        kind = "ads_insights" if request.path.endswith("/insights") else "ads_management"
        access = {"estimated_time_to_regain_access": -(-wait_seconds // 60), "ads_api_access_tier": "standard_access"}
        headers["X-Business-Use-Case-Usage"] = serialize_json({account: [{"type": kind, **usage, **access}]})
        utilized = {"acc_id_util_pct": percent, "reset_time_duration": wait_seconds}
        headers["X-Ad-Account-Usage"] = serialize_json(utilized)
    return headers
