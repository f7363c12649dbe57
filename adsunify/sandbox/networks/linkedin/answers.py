"""Native responses and errors, authorization, and the account of a request."""

import re
import secrets
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin import tables
from adsunify.sandbox.networks.linkedin.restli import is_tunnelled
from adsunify.sandbox.oauth import format_oauth_error, require_bearer_token
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

# Code of an InvalidRequest: HTTP status, native code. A code in capitals that is not listed is a native one with status
# 400.
_ERROR_BY_PROBLEM: Mapping[str, tuple[int, str]] = {
    "unreadable": (400, "INVALID_VALUE_FOR_FIELD"),
    "duplicate": (400, "INVALID_VALUE_DUPLICATE_EXIST"),
    "unknown": (400, "FIELD_NOT_ALLOWED"),
    "required": (400, "MISSING_FIELD"),
    "type": (400, "INVALID_VALUE_FOR_FIELD"),
    "value": (400, "INVALID_VALUE_FOR_FIELD"),
    "header": (400, "INVALID_VALUE_FOR_FIELD"),
    "media_type": (415, "UNSUPPORTED_MEDIA_TYPE"),
    "missing": (400, "FIELD_VALUE_DOES_NOT_EXIST"),
    "ineligible": (400, "FIELD_VALUE_NOT_ACTIVE"),
    "processing": (400, "FIELD_VALUE_NOT_ACTIVE"),
    "token_missing": (401, "INVALID_ACCESS_TOKEN"),
    "token_invalid": (401, "INVALID_ACCESS_TOKEN"),
    "token_expired": (401, "EXPIRED_ACCESS_TOKEN"),
    "scope": (403, "ACCESS_DENIED"),
    "NO_PERMISSION_ON_ENTITY": (403, "NO_PERMISSION_ON_ENTITY"),
    "NOT_FOUND": (404, "NOT_FOUND"),
    "CONFLICT": (409, "CONFLICT"),
    "URI_TOO_LONG": (414, "URI_TOO_LONG"),
    "NONEXISTENT_VERSION": (426, "NONEXISTENT_VERSION"),
}
_CODES_BY_STATUS = {
    400: "INVALID_VALUE_FOR_FIELD",
    401: "EXPIRED_ACCESS_TOKEN",
    403: "ACCESS_DENIED",
    404: "NOT_FOUND",
    408: "TIMEOUT",
    409: "CONFLICT",
    412: "PRECONDITION_FAILED",
    426: "NONEXISTENT_VERSION",
    429: "TOO_MANY_REQUESTS",
    500: "INTERNAL_ERROR",
    501: "NOT_IMPLEMENTED",
    503: "UNDER_MAINTENANCE",
    504: "TIMEOUT",
}
_MESSAGES_BY_STATUS = {429: "Resource level throttle limit for calls to this resource is reached."}
_NUMBER_BY_CODE = {"EXPIRED_ACCESS_TOKEN": 65602, "INVALID_ACCESS_TOKEN": 65600}
# Errors of these collections have the newer body; all others have the legacy one.
_NEWER_ERROR_PATHS = re.compile(r"/rest/adAccounts(/[^/]+(/(adCampaignGroups|adCampaigns)(/.*)?)?)?")
_WRITER_ROLES = ("ACCOUNT_BILLING_ADMIN", "ACCOUNT_MANAGER", "CAMPAIGN_MANAGER", "CREATIVE_MANAGER")


def build_response(status: int = 200, body: Any = None, headers: Mapping[str, str] | None = None) -> Response:
    """A response of the API, with its three trace headers."""
    traced = {
        "x-li-uuid": secrets.token_urlsafe(16),
        "x-li-fabric": "prod-lva1",
        "x-li-request-id": secrets.token_hex(8),
    }
    return Response(status, body, {**traced, **(headers or {})})


def build_list_response(rows: list[dict[str, Any]], next_token: str | None = None, **members: Any) -> Response:
    """A list; `metadata.nextPageToken` where there is another page."""
    return build_response(
        200, {"elements": rows, **({"metadata": {"nextPageToken": next_token}} if next_token else {}), **members}
    )


def map_error(problem: InvalidRequest) -> tuple[int, str]:
    """HTTP status and native code of a failed check."""
    if problem.code == "header" and problem.where == "LinkedIn-Version":
        return 400, "VERSION_MISSING"
    return _ERROR_BY_PROBLEM.get(problem.code, (400, problem.code))


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A refused request, in the error shape of the log-in or of the collection."""
    if request.route.role == "login":
        answer = format_oauth_error(problem, ("invalid_client", "invalid_grant"), problem.format_sentence())
        return build_response(answer.status, answer.body)
    status, code = map_error(problem)
    if problem.code == "unknown" and (request.method == "GET" or is_tunnelled(request)):
        code = "QUERY_PARAM_NOT_ALLOWED"
    return build_response(status, build_error_body(request, status, code, problem.where, problem.message))


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault. A 429 has no Retry-After."""
    code = _CODES_BY_STATUS.get(status, f"HTTP_{status}")
    if request.route.role == "login":
        return build_response(status, {"error": "server_error", "error_description": f"HTTP {status}"})
    return build_response(
        status, build_error_body(request, status, code, "", _MESSAGES_BY_STATUS.get(status, f"HTTP {status}"))
    )


def build_error_body(request: Request, status: int, code: str, where: str, message: str) -> dict[str, Any]:
    """The legacy body, or the newer one of accounts, campaign groups and campaigns."""
    place = where.lstrip("/")
    text = f"{place}: {message}" if place else message
    if not _NEWER_ERROR_PATHS.fullmatch(request.path) or status in (401, 429):
        return {"status": status, "serviceErrorCode": _NUMBER_BY_CODE.get(code, 100), "code": code, "message": text}
    inputs = [{"code": code, "description": text, "input": {"inputPath": {"fieldPath": where}}}]
    return {
        "status": status,
        "code": code,
        "message": text,
        "errorDetailType": "com.linkedin.common.error.BadRequest",
        "errorDetails": {"inputErrors": inputs if status == 400 else [], "conditionalInputErrors": []},
    }


def authorize_request(request: Request) -> None:
    """Check the token, the two headers of every call, the scope and the length of the URL."""
    token = require_bearer_token(request)
    version = request.require_header("LinkedIn-Version")
    if version not in tables.VERSIONS:
        raise InvalidRequest("NONEXISTENT_VERSION", "LinkedIn-Version", f"Requested version {version} is not active")
    if request.require_header("X-Restli-Protocol-Version") != "2.0.0":
        raise InvalidRequest("header", "X-Restli-Protocol-Version", "must be 2.0.0")
    if len(request.path) + len(request.raw_query) > tables.MAX_URL_LENGTH:
        raise InvalidRequest("URI_TOO_LONG", "", "tunnel the query in a POST")
    writes = request.method != "GET" and not is_tunnelled(request)
    collection = request.path.removeprefix("/rest/").partition("/")[0]
    scopes = {
        "adAnalytics": (tables.REPORT_SCOPE,),
        "posts": (tables.POSTS_SCOPE,),
        "videos": (tables.POSTS_SCOPE,),
        "organizationAcls": tables.PAGES_SCOPES,
    }.get(collection, (tables.WRITE_SCOPE,) if writes else tables.READ_SCOPES)
    if not {*scopes} & {*token.scopes}:
        raise InvalidRequest("scope", "", f"Not enough permissions to access: needs {' or '.join(scopes)}")


def require_account(request: Request) -> Account:
    """The ad account of the path.

    Raises InvalidRequest if it is not visible, or for a write by a member who may only read.
    """
    account = request.find_account(request.path_parameters["account"])
    if account is None:
        raise InvalidRequest("NOT_FOUND", "", "the ad account does not exist or is not visible")
    if request.method != "GET" and not is_tunnelled(request) and account.extra["role"] not in _WRITER_ROLES:
        raise InvalidRequest("NO_PERMISSION_ON_ENTITY", "", "the member has no role that may write on this ad account")
    return account


def require_method(request: Request, *methods: str, optional: bool = True) -> None:
    """Check that `X-RestLi-Method` is one of these; with `optional` it may be left out."""
    method = request.headers.get("X-RestLi-Method")
    if method not in methods and not (optional and method is None):
        raise InvalidRequest("header", "X-RestLi-Method", f"must be {' or '.join(methods)}")
