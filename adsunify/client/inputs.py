"""Builds requests from the arguments of the clients' methods. InvalidInput names arguments as the request does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from pydantic.alias_generators import to_camel

from adsunify import answers
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest, Endpoint
from adsunify.contract.requests import KeyScope
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.models.alert import AlertScope
from adsunify.models.base import ApiModel, is_nullable
from adsunify.models.brief import CampaignBrief, Creative
from adsunify.models.edit import EditBody, EditTargeting
from adsunify.models.guardrail import RuleScope, SpendLimits, SpendWindow
from adsunify.models.launch import LaunchAccount, NewLaunch
from adsunify.values.exact_json import Json, dumps_bytes

IDS: Mapping[str, tuple[type[answers.Shape], str]] = {
    "accountId": (answers.Account, "account_id"),
    "connectionId": (answers.Connection, "connection_id"),
    "credential": (answers.FrozenCredential, "credential"),
    "deliveryId": (answers.Delivery, "delivery_id"),
    "entityId": (answers.Node, "id"),
    "grantId": (answers.ConnectedAgent, "grant_id"),
    "changeSetId": (answers.ChangeSet, "id"),
    "launchId": (answers.Launch, "launch_id"),
    "alertId": (answers.Alert, "id"),
    "guardrailId": (answers.Guardrail, "id"),
    "keyId": (answers.Key, "key_id"),
    "operationId": (answers.Operation, "id"),
    "parentId": (answers.Node, "id"),
    "sourceOperationId": (answers.Operation, "id"),
    "webhookId": (answers.Webhook, "webhook_id"),
}
"""Member -> the model that is accepted in place of the id, and the attribute of the model that has the id."""
LISTS_OF_IDS: Mapping[str, str] = {"entityIds": "entityId", "operationIds": "operationId"}
MODELS: Mapping[str, tuple[tuple[type[ApiModel], ...], str]] = {
    "approvalAbove": ((SpendLimits,), ""),
    "campaign": ((CampaignBrief,), " Make one of a JSON text or object with adsunify.read_brief."),
    "creative": ((Creative,), ""),
    "edit": ((EditBody,), ""),
    "perOperation": ((SpendLimits,), ""),
    "perWindow": ((SpendWindow,), ""),
    "scope": ((KeyScope, RuleScope, AlertScope), ""),
    "targeting": ((EditTargeting,), ""),
}
"""Member -> the accepted models, and a hint on how to make one."""
NATIVE_MEMBERS = ("payload",)
"""Members in which a network may need a float, such as a latitude."""
FLOAT_MESSAGE = "must not be a float, which is not exact. Write text such as '12.50', or a Decimal."
NOT_JSON_MESSAGE = (
    "must be a JSON value: text, a number, True, False, None, a list, or a mapping with text as keys. "
    "Write amounts as text such as 12.50, and instants as text such as 2030-01-15T00:00:00Z."
)


class Omitted(Enum):
    """The default of parameters for which None has a meaning, such as to remove a limit."""

    OMITTED = "omitted"


OMITTED: Final = Omitted.OMITTED


def make_request(
    operation_id: str, arguments: Mapping[str, object], cursor: str | None = None, idempotency_key: str | None = None
) -> ApiRequest:
    """Make the request of a method. ``arguments`` are named as in the request.

    Arguments that are :data:`OMITTED` are left out, and so are arguments that are None, unless :func:`can_remove` them.

    Raises:
        InvalidInput: an argument has a wrong type; the error names each.
    """
    endpoint = ENDPOINTS_BY_ID[operation_id]
    issues: list[Issue] = []
    members: dict[str, Any] = {}
    for name, value in (*arguments.items(), ("cursor", cursor)):
        if value is None and can_remove(endpoint, name):
            members[to_camel(name)] = None
            continue
        if value is OMITTED or (value is None and not _is_required(endpoint, name)):
            continue
        try:
            members[to_camel(name)] = _read_member(to_camel(name), value, endpoint.body is NewLaunch)
        except InvalidInput as refusal:
            issues.extend(refusal.issues)
    raise_if_issues(issues)
    path = {name: members.pop(name) for name in endpoint.parameters}
    query = {} if endpoint.query is None else {name: _to_text(value) for name, value in members.items()}
    check_parameters(endpoint, path, query, idempotency_key)
    return ApiRequest(path, query, b"" if endpoint.body is None else encode_body(members), idempotency_key)


def can_remove(endpoint: Endpoint, name: str) -> bool:
    """Whether null removes this member in the body of a change."""
    fields = {} if endpoint.method != "PATCH" or endpoint.body is None else endpoint.body.model_fields
    return any(to_camel(attribute) == name and is_nullable(field) for attribute, field in fields.items())


def _is_required(endpoint: Endpoint, name: str) -> bool:
    models = (model for model in (endpoint.query, endpoint.body) if model is not None)
    return name in endpoint.parameters or any(
        field.is_required() and to_camel(attribute) == name
        for model in models
        for attribute, field in model.model_fields.items()
    )


def _read_member(name: str, value: Any, takes_parts: bool) -> Json:
    """Return the JSON value of an argument. Raises InvalidInput.

    ``takes_parts``: a mapping is accepted in place of a model.
    """
    if name in IDS:
        return _read_id(name, value)
    if name in LISTS_OF_IDS:
        return read_ids(name, value)
    if isinstance(value, list | tuple) and any(isinstance(account, LaunchAccount) for account in value):
        return [account.to_json() if isinstance(account, LaunchAccount) else account for account in value]
    if name in MODELS and not (takes_parts and isinstance(value, Mapping)):
        models, help_text = MODELS[name]
        if not isinstance(value, models):
            names = " or ".join(model.__name__ for model in models)
            raise invalid_input(name, "type", f"must be of the class {names}.{help_text}")
        return value.to_json()
    if name in ("startDate", "endDate"):
        if not isinstance(value, date) or isinstance(value, datetime):
            raise invalid_input(name, "type", "must be a date, such as datetime.date(2027, 3, 1).")
        return value.isoformat()
    if name in ("asOf", "expiresAt", "since", "until"):
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise invalid_input(name, "type", "must be a datetime with a time zone.")
        return value.isoformat()
    if name not in NATIVE_MEMBERS:
        raise_if_issues(Issue(path, "type", FLOAT_MESSAGE) for path in _find_floats(value, name))
    return value


def read_ids(name: str, value: Any) -> list[str]:
    """Return the ids of a list of ids or models. Raises InvalidInput."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise invalid_input(name, "type", "must be a list of ids, also for a single id.")
    return [_read_id(LISTS_OF_IDS[name], item, f"{name}.{index}") for index, item in enumerate(value)]


def _read_id(name: str, value: Any, path: str = "") -> str:
    model, attribute = IDS[name]
    if isinstance(value, model):
        value = getattr(value, attribute)
    if isinstance(value, str) and value:
        return value
    words = f"of the class {model.__name__}, as the methods of the client return it, or its id as text."
    raise invalid_input(path or name, "type", f"must be {words}")


def _to_text(value: Any) -> Any:
    """Return the text of a parameter of a query; lists are separated by commas."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _find_floats(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, float):
        yield path
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from _find_floats(member, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            yield from _find_floats(member, f"{path}.{index}")


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
        Issue(name.encode(errors="replace").decode(), "malformed", "must be text in UTF-8.")
        for name, value in (*path.items(), *query.items())
        if not (is_utf8(name) and is_utf8(value))
    )
    raise_if_issues(
        Issue(name, "required", f"is required in path: {endpoint.operation_id} is called at {endpoint.path}.")
        for name in endpoint.parameters
        if name not in path
    )
    if idempotency_key is not None and not isinstance(idempotency_key, str):
        raise invalid_input("Idempotency-Key", "type", "must be text of 1 to 200 characters.")


def is_utf8(text: str) -> bool:
    """Whether UTF-8 can write the text: half of a surrogate pair is not a character."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


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
