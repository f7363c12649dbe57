"""What all answer shapes share."""

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
    """The base of every answer shape; members that are left out when they say nothing have a default.

    Its validator is built when it is first used, which a server never does.
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", populate_by_name=False, defer_build=True)
