"""The base class of response shapes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

Text = str | None
Instant = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Url = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]
Uuid = str
Milliseconds = int


class Shape(BaseModel):
    """The base of every response shape. Members with a default may be left out of the response.

    Pydantic builds the validator at its first use; a server never uses it.
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", populate_by_name=False, defer_build=True)
