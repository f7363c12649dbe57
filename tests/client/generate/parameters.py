"""The parameters of the method of an endpoint, read from the models of its request."""

from __future__ import annotations

import types
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from attrs import frozen
from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake

from adsunify.client.inputs import can_remove
from adsunify.contract import Endpoint
from adsunify.contract.requests import Nothing, Status
from adsunify.events import EventName
from adsunify.models.alert import AlertKind
from adsunify.models.guardrail import GuardedAction
from adsunify.plans.records import Kind

NAMES: Mapping[str, tuple[str, str]] = {
    "accountId": ("account", "Account | str"),
    "alertId": ("alert", "Alert | str"),
    "campaign": ("brief", "CampaignBrief"),
    "changeSetId": ("change_set", "ChangeSet | str"),
    "connectionId": ("connection", "Connection | str"),
    "credential": ("credential", "FrozenCredential | str"),
    "deliveryId": ("delivery", "Delivery | str"),
    "document": ("document", "Mapping[str, Json]"),
    "entityId": ("entity", "Node | str"),
    "entityIds": ("entities", "Sequence[Node | str]"),
    "fields": ("fields", "Mapping[str, str | int | Decimal]"),
    "grantId": ("agent", "ConnectedAgent | str"),
    "guardrailId": ("guardrail", "Guardrail | str"),
    "keyId": ("key", "Key | str"),
    "launchId": ("launch", "Launch | str"),
    "network": ("network", "NetworkCode"),
    "operationId": ("operation", "Operation | str"),
    "operationIds": ("operations", "Sequence[Operation | str]"),
    "parentId": ("parent", "Node | str"),
    "payload": ("payload", "Mapping[str, Json]"),
    "resource": ("resource", "str"),
    "sourceOperationId": ("source", "Operation | str"),
    "webhookId": ("webhook", "Webhook | str"),
}
"""Name in a request -> name and type of the parameter, where they do not follow from the model."""
MEMBER_NAMES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("NewLaunch", "accounts"): ("accounts", "Sequence[LaunchAccount]"),
    ("NewLaunch", "campaign"): ("campaign", "CampaignBrief | Mapping[str, Json]"),
    ("NewLaunch", "networks"): ("networks", "Mapping[str, Mapping[str, Json]]"),
    ("NewLaunch", "urlParameters"): ("url_parameters", "Mapping[str, str]"),
}
"""Model and member -> name and type of the parameter, where they differ from those of other models."""
ALIASES: Mapping[Any, str] = {
    AlertKind: "AlertKind",
    EventName: "EventName",
    GuardedAction: "GuardedAction",
    Kind: "Kind",
    Status: "Status",
}
POSITIONAL = ("Account | str", "CampaignBrief", "NetworkCode", "Operation | str", "Sequence[Operation | str]", "date")
"""The types of required members that may be given by position, as path parameters may."""
CURSOR = "cursor"
"""The iterators pass it."""


@frozen
class Parameter:
    """A parameter of a method. ``wire``: its name in the request. ``default``: its source, empty where required."""

    wire: str
    name: str
    type: str
    default: str = ""
    is_positional: bool = False

    @property
    def source(self) -> str:
        """The parameter in the signature."""
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


OMITTED_MEMBERS = {"get_account_insights": (CURSOR, "level", "entity_ids")}
"""Members that a method does not take, by operation: the figures of a level have another method."""


def read_parameters(endpoint: Endpoint) -> list[Parameter]:
    """The parameters of a method: required ones first; those that are given by position before all."""
    parameters = [Parameter(wire, *NAMES[wire], is_positional=True) for wire in endpoint.parameters]
    for model in (endpoint.query, endpoint.body):
        if model is not None and model is not Nothing:
            parameters += [
                read_member(model, name, can_remove(endpoint, to_camel(name)))
                for name in model.model_fields
                if name not in OMITTED_MEMBERS.get(endpoint.operation_id, (CURSOR,))
            ]
    if endpoint.takes_idempotency_key:
        parameters.append(Parameter("", "idempotency_key", "str | None", "None"))
    return sorted(parameters, key=lambda parameter: (not parameter.is_positional, bool(parameter.default)))


def takes_any_member(endpoint: Endpoint) -> bool:
    """Whether the body takes members that its model does not name: the credentials of a network."""
    return endpoint.body is not None and endpoint.body.model_config.get("extra") == "allow"


def read_member(model: type[BaseModel], name: str, is_removable: bool) -> Parameter:
    """A member of a query or a body as a parameter. ``is_removable``: None removes it, so None is not the default."""
    field, wire = model.model_fields[name], to_camel(name)
    schema = model.model_json_schema()["properties"][wire] if "properties" in model.model_json_schema() else {}
    parameter, kind = MEMBER_NAMES.get((model.__name__, wire)) or NAMES.get(wire, (to_snake(name), ""))
    if not kind:
        kind = describe_schema(schema) or describe_type(field.annotation)
    if field.is_required():
        return Parameter(wire, parameter, kind, is_positional=kind in POSITIONAL)
    if is_removable:
        return Parameter(wire, parameter, f"{kind} | Omitted | None", "OMITTED")
    default = repr(field.default)
    if field.default is None or field.default == {} or isinstance(field.default, BaseModel):
        kind, default = f"{kind} | None", "None"
    return Parameter(wire, parameter, kind, default)


def describe_schema(schema: Mapping[str, Any]) -> str:
    """The type of a member whose schema says more than its annotation."""
    if schema.get("const") is True:
        return "Literal[True]"
    return "datetime" if schema.get("format") == "date-time" else ""


def describe_type(kind: Any) -> str:
    """The source of a type; ``None`` of an optional member is left out."""
    if kind in ALIASES:
        return ALIASES[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return describe_type(arguments[0])
    if origin in (Union, types.UnionType):
        (inner,) = [argument for argument in arguments if argument is not types.NoneType]
        return describe_type(inner)
    if origin is Literal:
        return f"Literal[{', '.join(f'{choice!r}' for choice in arguments)}]".replace("'", '"')
    if origin in (tuple, list):
        return f"Sequence[{describe_type(arguments[0])}]"
    if kind is Decimal:
        return "Decimal | int"
    if kind in (str, int, bool, date) or issubclass(kind, BaseModel):
        return str(kind.__name__)
    raise TypeError(f"a parameter cannot have the type {kind}")
