"""Answers and errors of X, times and ids, and the parameters of a request."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Check, Entity, Problem, Request, World, record
from adsunify.sandbox.networks.x.tables import HTTP, LOGIN_HOST

Data = dict[str, Any]
NOTHING: Mapping[str, Check] = {}
VERSION = {"x-current-api-version": "12"}
WAIT_SECONDS = 7
_REFUSED = {
    "required": "MISSING_PARAMETER",
    **dict.fromkeys(("token_missing", "token_invalid", "token_expired", "signature"), "UNAUTHORIZED_ACCESS"),
}
# a bare status: the first code of the table with it
_BY_STATUS = {
    400: "INVALID_PARAMETER", 403: "ACTION_NOT_ALLOWED", 404: "ROUTE_NOT_FOUND",
    **{status: code for code, status in HTTP.items() if status not in (400, 403, 404)},
}  # fmt: skip


def account_of(request: Request) -> Account:
    """The account of a guarded request."""
    account = request.account(request.slots["account"])
    assert account is not None  # the guard has seen it
    return account


def given(request: Request, required: Mapping[str, Check] = NOTHING, optional: Mapping[str, Check] = NOTHING) -> Data:
    """The checked parameters: of the query, and of a form body. The signature vouches that none stands there twice."""
    sent = dict(request.pairs) | (request.form() if request.body else {})
    checked: Data = record(required, optional)(sent, "")
    return checked


def answered(request: Request, data: Any, **beside: Any) -> Answer:
    """`{"request": {"params": ...}, "data": ...}` and what stands beside them."""
    return Answer(200, {"request": {"params": shown_parameters(request)}, **beside, "data": data}, VERSION)


def problem(request: Request, problem: Problem) -> Answer:
    """A refused request."""
    if request.host == LOGIN_HOST:  # numeric codes there; 32 and 214 are our choice
        status, code = (401, 89 if problem.code == "token_invalid" else 32) if problem.code in _REFUSED else (400, 214)
        return Answer(status, {"errors": [{"code": code, "message": problem.message}]})
    error = native(problem)
    body = {"errors": [error], "request": {"params": shown_parameters(request)}}
    return Answer(HTTP[error["code"]], body, VERSION | (waiting(request, 429) if HTTP[error["code"]] == 429 else {}))


def native(problem: Problem) -> Data:
    """One error object."""
    code = problem.code if problem.code in HTTP else _REFUSED.get(problem.code, "INVALID_PARAMETER")
    error: Data = {"code": code, "message": problem.message}
    if HTTP[code] in (400, 404):
        name = problem.where.strip("/").replace("/", ".")
        error |= {"parameter": name, "details": "", "value": "" if problem.value is None else str(problem.value)}
    return error


def failure(request: Request, status: int) -> Answer:
    """A bare status: unknown path or method, or a told fault."""
    headers = VERSION | waiting(request, status)
    if request.host == LOGIN_HOST:
        number = 131 if status >= 500 else 89 if status == 401 else 34  # 89: the token is invalid or expired
        return Answer(status, {"errors": [{"code": number, "message": f"HTTP {status}"}]})
    code = _BY_STATUS.get(status, "INTERNAL_ERROR" if status >= 500 else "INVALID_PARAMETER")
    error = {"code": code, "message": f"HTTP {status}"}
    return Answer(status, {"errors": [error], "request": {"params": shown_parameters(request)}}, headers)


def waiting(request: Request, status: int) -> dict[str, str]:
    """When to come again: 429 with the account's reset, which wins over the other, 503 with seconds."""
    if status == 503:
        return {"retry-after": str(WAIT_SECONDS)}
    if status != 429:
        return {}
    now = int(request.now.timestamp())
    return {
        "Date": format_datetime(request.now.astimezone(UTC).replace(microsecond=0), usegmt=True),
        "x-account-rate-limit-limit": "450",
        "x-account-rate-limit-remaining": "0",
        "x-account-rate-limit-reset": str(now + WAIT_SECONDS),
        "x-rate-limit-reset": str(now + 900),
    }


def shown_parameters(request: Request) -> dict[str, str]:
    """The parameters as an answer echoes them."""
    try:
        return dict(request.pairs)
    except Problem:
        return {}


# -- ids and times ------------------------------------------------------------------------------------------------


def new_id(world: World) -> str:
    """A new id, in base 36."""
    number, text = int(world.allocate()), ""
    while number:
        number, digit = divmod(number, 36)
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + text
    return text


def stamps(entity: Entity) -> Data:
    """When it was made and changed last."""
    return {"created_at": written(entity.created_at), "updated_at": written(entity.updated_at)}


def written(instant: datetime) -> str:
    """An instant as X writes it: UTC, whole seconds."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(value: Any, where: str) -> str:
    """An ISO 8601 instant with `Z`, `+HH:MM`, `+HHMM` or `+HH`; answers it in UTC."""
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(Z|[+-]\d\d(:?\d\d)?)", value if isinstance(value, str) else ""
    )
    if found is None:
        raise Problem("INVALID_PARAMETER", where, "Expected time in ISO 8601 with an offset", value)
    day, clock, seconds, offset = found[1], found[2], found[3] or ":00", found[4]
    try:
        instant = datetime.fromisoformat(f"{day}T{clock}{seconds}+00:00")
    except ValueError as error:
        raise Problem("INVALID_PARAMETER", where, "no such time", value) from error
    if offset != "Z":
        digits = offset[1:].replace(":", "").ljust(4, "0")
        away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        instant += away if offset[0] == "-" else -away
    return written(instant)


def read_moment(text: str) -> datetime:
    """An instant that `moment` has answered."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


# -- checks of parameter texts ------------------------------------------------------------------------------------


def flag(value: Any, where: str) -> bool:
    """`true` or `false`."""
    if value not in ("true", "false"):
        raise Problem("value", where, "must be true or false", value)
    return bool(value == "true")


def many(item: Check, most: int, separator: str = ",") -> Check:
    """A list joined by commas, each of the `most` items checked by `item`."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, str) or not value:
            raise Problem("value", where, "must be a comma-separated list", value)
        items = value.split(separator)
        if len(items) > most:
            raise Problem("REQUEST_TOO_COMPLEX", where, f"at most {most} values", len(items))
        return [item(one, where) for one in items]

    return check


def cleared(item: Check) -> Check:
    """The empty value, which unsets, or what `item` accepts."""
    return lambda value, where: None if value == "" else item(value, where)
