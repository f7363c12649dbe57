"""Responses, the native error shape, the token, times in Eastern time, and shared query parameters."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from adsunify.sandbox.checks import any_value, array, rule_error
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain.tables import EASTERN_TIMEZONE, TOKEN_HEADER
from adsunify.sandbox.oauth import require_access_token
from adsunify.sandbox.paging import OffsetPaging
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

# HTTP status by the code of an InvalidRequest; all others are 400.
_STATUS_BY_CODE: Mapping[str, int] = {
    "token_missing": 401,
    "token_invalid": 401,
    "token_expired": 401,
    "invalid_client": 401,
    "denied": 403,
    "absent": 404,
    "media_type": 415,
}
_RETRY_AFTER_MS = 1500


def get_status(problem: InvalidRequest) -> int:
    """The HTTP status of a failed check."""
    return _STATUS_BY_CODE.get(problem.code, 400)


def format_error(request: Request, problem: InvalidRequest) -> Response:
    """A refused request: the API has no error codes."""
    return _build_error(request, get_status(problem), problem.format_sentence())


def format_status_error(request: Request, status: int) -> Response:
    """The response of a bare status: unknown path or method, or a requested fault.

    A 429 has its wait, in milliseconds, only in a header.
    """
    answer = _build_error(request, status, f"HTTP {status}")
    seconds = request.get_wait_seconds(0)
    wait = {"rate-limit-msec-left": str(1000 * seconds or _RETRY_AFTER_MS)}
    return Response(status, answer.body, {**answer.headers, **(wait if status == 429 else {})})


def _build_error(request: Request, status: int, message: str) -> Response:
    hint = f"{request.method} {request.path}"
    return Response(status, {"moreInfo": hint, "errorMessage": message}, _build_headers(request))


def build_response(request: Request, body: Any) -> Response:
    """A successful response; `None` is an empty body."""
    return Response(200, body, _build_headers(request))


def _build_headers(request: Request) -> dict[str, str]:
    return {"AMPLIFY-REQUEST-ID": str(request.stable_id)}


def authorize_request(request: Request) -> None:
    """Check the token in its own header. `Authorization` is for the log-in only."""
    text = request.headers.get(TOKEN_HEADER)
    if not text:
        raise InvalidRequest("token_missing", TOKEN_HEADER, "is required")
    require_access_token(request, text)


def require_account_by_id(request: Request, native_id: str) -> Account:
    """The marketer of this id. Raises InvalidRequest `denied` for any other id (our choice: 403, not 404)."""
    account = request.find_account(native_id)
    if account is None:
        raise InvalidRequest("denied", "", "access to this marketer is denied")
    return account


def apply_each(request: Request, most: int, apply: Callable[[Any], dict[str, Any]]) -> Response:
    """Apply each item of a bulk write alone; the response is always a 200."""
    body = request.parse_json(array(any_value, 1, most))
    rows: list[dict[str, Any]] = []
    for position, item in enumerate(body):
        try:
            with request.world.savepoint():
                if request.get_fault("error_in_200") or (request.get_fault("partial") and position == len(body) - 1):
                    raise rule_error("", "this write fails by request")
                row = apply(item)
        except InvalidRequest as problem:
            identity = {"id": item["id"]} if isinstance(item, dict) and isinstance(item.get("id"), str) else {}
            rows.append({**identity, "operationStatus": {"status": "Failure", "reason": [problem.format_sentence()]}})
        else:
            rows.append({**row, "operationStatus": {"status": "Success", "reason": []}})
    return build_response(request, rows)


def require_entity(request: Request, kind: str, native_id: str, where: str = "") -> StoredEntity:
    """The object of this id. Raises InvalidRequest `absent`."""
    entity = request.world.find(kind, native_id)
    if entity is None:
        raise InvalidRequest("absent", where, f"no such {kind}")
    return entity


def get_eastern_date(now: datetime) -> date:
    """The present day in Eastern time."""
    return now.astimezone(EASTERN_TIMEZONE).date()


def format_instant(at: datetime) -> str:
    """A `Time`: Eastern, without an offset."""
    return at.astimezone(EASTERN_TIMEZONE).strftime("%Y-%m-%d %H:%M:%S")


def check_date(value: Any, where: str) -> str:
    """A `Date`: yyyy-MM-dd."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        raise InvalidRequest("type", where, "must be a date, yyyy-MM-dd", value)
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise InvalidRequest("value", where, "is no day of the calendar") from error


PAGING = OffsetPaging("offset", "limit")


def split_ids(text: str, most: int) -> list[str]:
    """The comma-separated ids of a path, each once. Raises InvalidRequest."""
    ids = text.split(",")
    if len(ids) > most or len(set(ids)) < len(ids) or not all(ids):
        raise InvalidRequest("value", "", f"must be 1 to {most} different ids")
    return ids
