"""Checks the arguments of the client's methods before a request is made. InvalidInput names the argument."""

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
    "must be a CampaignBrief or a mapping with the members of a brief. Read a file with json.load, and JSON text with "
    "adsunify.read_brief."
)
ACCOUNT_ID_MESSAGE = "must be an Account as accounts() returns it, or its id as text."
OPERATION_ID_MESSAGE = "must be an Operation as create() or operations() returns it, or its id as text."
NOT_JSON_MESSAGE = (
    "must be a JSON value: text, a number, True, False, None, a list, or a mapping with text as keys. "
    "Write amounts as text such as 12.50, and instants as text such as 2030-01-15T00:00:00Z."
)


def read_account_id(account: Any, member: str = "accountId") -> str:
    """Return the id of an account that is given as a record or as text. Raises InvalidInput."""
    return _read_id(account, Account, member, ACCOUNT_ID_MESSAGE)


def read_operation_id(operation: Any, member: str = "operationId") -> str:
    """Return the id of an operation that is given as a record or as text. Raises InvalidInput."""
    return _read_id(operation, Operation, member, OPERATION_ID_MESSAGE)


def _read_id(value: Any, kind: type[Account] | type[Operation], member: str, accepted: str) -> str:
    if isinstance(value, kind):
        return value.id
    if isinstance(value, str) and value:
        return value
    raise invalid_input(member, "type", accepted)


def read_campaign(account: Any, brief: Any) -> Json:
    """Return the body of a request with a brief. Raises InvalidInput."""
    account_id = read_account_id(account)
    if isinstance(brief, CampaignBrief):
        return {"accountId": account_id, "campaign": brief.to_json()}
    if not isinstance(brief, Mapping):
        raise invalid_input("campaign", "type", BRIEF_MESSAGE)
    return {"accountId": account_id, "campaign": dict(brief)}


def read_list(value: Any, member: str) -> list[Any]:
    """Return a list of texts. Raises InvalidInput, also for a single text, which Python would read as its letters."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise invalid_input(member, "type", "must be a list of ids, also for a single id.")
    return list(value)


def read_text(value: Any, member: str) -> str:
    """Return a text. Raises InvalidInput."""
    if not isinstance(value, str):
        raise invalid_input(member, "type", "must be text.")
    return value


def check_parameters(endpoint: Endpoint, path: Any, query: Any, idempotency_key: Any) -> None:
    """Raise InvalidInput where a parameter of a call is missing or is not text."""
    for name, parameters in (("path", path), ("query", query)):
        if not isinstance(parameters, Mapping):
            raise invalid_input(name, "type", "must be a mapping of parameters by name, as text.")
    raise_if_issues(
        Issue(str(name), "type", "must be text.")
        for name, value in (*path.items(), *query.items())
        if not (isinstance(name, str) and isinstance(value, str))
    )
    raise_if_issues(
        Issue(name, "required", f"is required in path: {endpoint.operation_id} is called at {endpoint.path}.")
        for name in endpoint.parameters
        if name not in path
    )
    if idempotency_key is not None and not isinstance(idempotency_key, str):
        raise invalid_input("Idempotency-Key", "type", "must be text of 1 to 200 characters.")


def encode_body(body: Json) -> bytes:
    """Encode a body as JSON. Raises InvalidInput that names each member without a JSON value."""
    if body is None:
        return b""
    try:
        raise_if_issues(_find_issues(body, ""))
        return dumps_bytes(body)
    except RecursionError:
        raise invalid_input("body", "too_deep", "is nested too deeply or contains itself.") from None


def _find_issues(value: Any, path: str) -> Iterator[Issue]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if isinstance(name, str):
                yield from _find_issues(member, f"{path}.{name}" if path else name)
            else:
                yield Issue(path, "type", "must have text as its keys.")
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            yield from _find_issues(member, f"{path}.{index}" if path else str(index))
    elif isinstance(value, float | Decimal):
        if not math.isfinite(value):
            yield Issue(path, "type", "must be a finite number.")
    elif not (value is None or isinstance(value, bool | int | str | UUID)):
        yield Issue(path, "type", NOT_JSON_MESSAGE)
