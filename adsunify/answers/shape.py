"""The base class of answers, and the types of their members."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self, TypeVar

from attrs import frozen
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

from adsunify.errors import ServerUnreachable, WriteOutcome

MAX_NAMED_MEMBERS = 3

Text = str | None
Instant = Annotated[AwareDatetime, WithJsonSchema({"type": "string", "format": "date-time"})]
Date = Annotated[date, WithJsonSchema({"type": "string"})]
Amount = Annotated[Decimal, WithJsonSchema({"type": "string"})]
"""A decimal number, which is text in JSON. Money is in major units."""
Url = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]
Uuid = str
Milliseconds = int


@frozen
class _OpenChoices:
    """Marks ``Literal[...] | str``: the schema lists the choices; the model also accepts choices of a newer server."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return handler(source)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        choices: Any = schema
        (known,) = [choice for choice in choices["choices"] if choice["type"] == "literal"]
        return handler(known)


OPEN = _OpenChoices()


def _close_schema(schema: dict[str, Any]) -> None:
    schema["additionalProperties"] = False


class Shape(BaseModel):
    """The base of every answer. Members with a default may be left out of the response.

    Members that this version does not know are in ``model_extra``. :meth:`to_dict` returns the JSON of the response.
    Answers with equal JSON are equal. Pydantic builds the validator at its first use; a server never uses it.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel,
        extra="allow",
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,
        json_schema_extra=_close_schema,
    )

    _wire: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_wire(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        shape = handler(value)
        if isinstance(value, Mapping):
            shape._wire = value
        return shape

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the JSON object that the server sent, with its names; fractions are Decimal."""
        return deepcopy(dict(self._wire))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Shape) and self._wire == other._wire

    def __hash__(self) -> int:
        return hash(json.dumps(self._wire, sort_keys=True, default=str))


ShapeT = TypeVar("ShapeT", bound=Shape)


def parse_answer(model: type[ShapeT], wire: Any, outcome: WriteOutcome = "not_applied") -> ShapeT:
    """Parse a part of a response. ``outcome``: the outcome of the call, for the error.

    Raises:
        ServerUnreachable: the JSON is not of this form.
    """
    try:
        return model.model_validate(wire)
    except ValidationError as problem:
        names = [".".join(map(str, error["loc"])) or "data" for error in problem.errors()[:MAX_NAMED_MEMBERS]]
        text = (
            f"Unexpected response from the adsunify server: {model.__name__} has other values at {', '.join(names)}. "
            "Check that the versions of the server and of this package fit together."
        )
        raise ServerUnreachable(text, outcome=outcome) from None
