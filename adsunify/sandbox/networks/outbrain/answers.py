"""Answers, the native error shape, the token, times in Eastern time, and what queries share."""

import re
import uuid
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    anything,
    choice,
    integer_text,
    listing,
    valid,
)
from adsunify.sandbox.networks.outbrain.tables import EASTERN, TOKEN_HEADER

# Status by the code of a problem; every other failed check is a 400.
_STATUSES: Mapping[str, int] = {
    "token_missing": 401, "token_invalid": 401, "token_expired": 401, "invalid_client": 401, "denied": 403,
    "absent": 404, "media_type": 415,
}  # fmt: skip
_WAIT = "1500"  # milliseconds


def status_of(problem: Problem) -> int:
    """The HTTP status of a failed check."""
    return _STATUSES.get(problem.code, 400)


def sentence(problem: Problem) -> str:
    """What is wrong, in one line."""
    place = problem.where.strip("/").replace("/", ".")
    return f"{place}: {problem.message}" if place else problem.message


def problem(request: Request, problem: Problem) -> Answer:
    """A refused request: there are no machine codes."""
    return _error(request, status_of(problem), sentence(problem))


def failure(request: Request, status: int) -> Answer:
    """A bare status: unknown path or method, or a told fault. 429 names its wait in milliseconds, nowhere else."""
    answer = _error(request, status, f"HTTP {status}")
    return Answer(status, answer.body, {**answer.headers, **({"rate-limit-msec-left": _WAIT} if status == 429 else {})})


def _error(request: Request, status: int, message: str) -> Answer:
    hint = f"{request.method} {request.path}"
    return Answer(status, {"moreInfo": hint, "errorMessage": message}, _identified(request))


def answered(request: Request, body: Any) -> Answer:
    """A successful answer; `None` is the empty body."""
    return Answer(200, body, _identified(request))


def _identified(request: Request) -> dict[str, str]:
    name = f"{request.method} {request.path} {len(request.world.journal)}"
    return {"AMPLIFY-REQUEST-ID": str(uuid.uuid5(uuid.NAMESPACE_URL, name))}


def guard(request: Request) -> None:
    """The token of the header of its own. `Authorization` is for the log-in alone."""
    text = request.headers.get(TOKEN_HEADER)
    if not text:
        raise Problem("token_missing", TOKEN_HEADER, "is required")
    valid(request, text)


def marketer(request: Request, native_id: str) -> Account:
    """The marketer of this id. Problem `denied`: another one is somebody else's (chosen: 403, not 404)."""
    account = request.account(native_id)
    if account is None:
        raise Problem("denied", "", "access to this marketer is denied")
    return account


def each(request: Request, most: int, apply: Callable[[Any], dict[str, Any]]) -> Answer:
    """The items of a bulk write, each alone, all inside one 200."""
    sent = request.json(listing(anything, 1, most))
    rows: list[dict[str, Any]] = []
    for position, item in enumerate(sent):
        try:
            with request.world.savepoint():
                if request.told("error_in_200") or (request.told("partial") and position == len(sent) - 1):
                    raise refused("", "told to fail")
                row = apply(item)
        except Problem as problem:
            named = {"id": item["id"]} if isinstance(item, dict) and isinstance(item.get("id"), str) else {}
            rows.append({**named, "operationStatus": {"status": "Failure", "reason": [sentence(problem)]}})
        else:
            rows.append({**row, "operationStatus": {"status": "Success", "reason": []}})
    return answered(request, rows)


def found(request: Request, kind: str, native_id: str, where: str = "") -> Entity:
    """The object of this id. Problem `absent`."""
    entity = request.world.find(kind, native_id)
    if entity is None:
        raise Problem("absent", where, f"no such {kind}")
    return entity


def refused(where: str, message: str) -> Problem:
    """A rule that is broken."""
    return Problem("rule", where, message)


def today(now: datetime) -> date:
    """The present day in Eastern time."""
    return now.astimezone(EASTERN).date()


def written(at: datetime) -> str:
    """A `Time`: Eastern, without an offset."""
    return at.astimezone(EASTERN).strftime("%Y-%m-%d %H:%M:%S")


def day(value: Any, where: str) -> str:
    """A `Date`: yyyy-MM-dd."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        raise Problem("type", where, "must be a date, yyyy-MM-dd", value)
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise Problem("value", where, "is no day of the calendar") from error


def truth(value: Any, where: str) -> bool:
    """true or false in a query."""
    return bool(choice("true", "false")(value, where) == "true")


def words(*known: str) -> Check:
    """Comma-separated words of a query."""

    def check(value: Any, where: str) -> list[str]:
        return [choice(*known)(word, where) for word in str(value).split(",")]

    return check


def paging(most: int) -> dict[str, Check]:
    """The parameters of a list: `limit` from 1, `offset` from 0."""
    return {"limit": integer_text(1, most), "offset": integer_text(0)}


def page(rows: list[Any], wanted: Mapping[str, Any], default: int) -> list[Any]:
    """The rows that were asked for."""
    start = wanted.get("offset", 0)
    return rows[start : start + wanted.get("limit", default)]


def split_ids(text: str, most: int) -> list[str]:
    """The comma-separated ids of a path, each once. Problem."""
    ids = text.split(",")
    if len(ids) > most or len(set(ids)) < len(ids) or not all(ids):
        raise Problem("value", "", f"must be 1 to {most} different ids")
    return ids
