"""Checks what the client's methods are given, before a request is made of it; InvalidInput names the member."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from adsunify.contract import Endpoint
from adsunify.errors import Issue, invalid_input, raise_if_issues
from adsunify.models.brief import CampaignBrief
from adsunify.records import Operation
from adsunify.values.exact_json import Json, dumps_bytes

from .records import Account

T = TypeVar("T")
BRIEF_MESSAGE = (
    "must be a CampaignBrief, or a mapping with the members of a brief. Of a file, give what json.load reads from it; "
    "of JSON text, what adsunify.read_brief reads from it."
)
ACCOUNT_ID_MESSAGE = "must be an Account as accounts() returns it, or its id as text."
OPERATION_ID_MESSAGE = "must be an Operation as create() or operations() returns it, or its id as text."
NOT_JSON_MESSAGE = (
    "must be a value that JSON has: text, a number, True, False, None, a list, or a mapping with text as names. "
    "Amounts are text such as 12.50, instants text such as 2030-01-15T00:00:00Z."
)


def read_account_id(account: Any, member: str = "accountId") -> str:
    """The id of an account, given as a record or as text. Raises InvalidInput."""
    return _read_id(account, Account, member, ACCOUNT_ID_MESSAGE)


def read_operation_id(operation: Any, member: str = "operationId") -> str:
    """The id of an operation, given as a record or as text. Raises InvalidInput."""
    return _read_id(operation, Operation, member, OPERATION_ID_MESSAGE)


def _read_id(value: Any, kind: type[Account] | type[Operation], member: str, accepted: str) -> str:
    if isinstance(value, kind):
        return value.id
    if isinstance(value, str) and value:
        return value
    raise invalid_input(member, "type", accepted)


def read_campaign(account: Any, brief: Any) -> Json:
    """The body of a request about a brief. Raises InvalidInput."""
    account_id = read_account_id(account)
    if isinstance(brief, CampaignBrief):
        return {"accountId": account_id, "campaign": brief.to_json()}
    if not isinstance(brief, Mapping):
        raise invalid_input("campaign", "type", BRIEF_MESSAGE)
    return {"accountId": account_id, "campaign": dict(brief)}


def read_list(value: Any, member: str) -> list[Any]:
    """A list of texts; one text is none, since it would be taken for a list of its letters. Raises InvalidInput."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise invalid_input(member, "type", "must be a list of ids, also for a single one.")
    return list(value)


def read_text(value: Any, member: str) -> str:
    """A text. Raises InvalidInput."""
    if not isinstance(value, str):
        raise invalid_input(member, "type", "must be text.")
    return value


def check_parameters(endpoint: Endpoint, path: Any, query: Any, idempotency_key: Any) -> None:
    """Raise InvalidInput where a parameter of a call is missing or is no text."""
    for name, parameters in (("path", path), ("query", query)):
        if not isinstance(parameters, Mapping):
            raise invalid_input(name, "type", "must be a mapping of parameters by name, as text.")
    raise_if_issues(
        Issue(str(name), "type", "must be text.")
        for name, value in (*path.items(), *query.items())
        if not (isinstance(name, str) and isinstance(value, str))
    )
    raise_if_issues(
        Issue(name, "required", f"is needed in path: {endpoint.operation_id} is called at {endpoint.path}.")
        for name in endpoint.parameters
        if name not in path
    )
    if idempotency_key is not None and not isinstance(idempotency_key, str):
        raise invalid_input("Idempotency-Key", "type", "must be text of 1 to 200 characters.")


def encode_body(body: Json) -> bytes:
    """A body as JSON. Raises InvalidInput that names each member which JSON has no value for."""
    if body is None:
        return b""
    try:
        raise_if_issues(_find_issues(body, ""))
        return dumps_bytes(body)
    except RecursionError:
        raise invalid_input("body", "too_deep", "is nested too deeply, or holds itself.") from None


def _find_issues(value: Any, path: str) -> Iterator[Issue]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if isinstance(name, str):
                yield from _find_issues(member, f"{path}.{name}" if path else name)
            else:
                yield Issue(path, "type", "must have text as the names of its members.")
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            yield from _find_issues(member, f"{path}.{index}" if path else str(index))
    elif isinstance(value, float | Decimal):
        if not math.isfinite(value):
            yield Issue(path, "type", "must be a finite number.")
    elif not (value is None or isinstance(value, bool | int | str | UUID)):
        yield Issue(path, "type", NOT_JSON_MESSAGE)
