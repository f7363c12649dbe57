"""The desired state of accounts as a file: its entities, and its differences from the networks."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict

from .shape import OPEN, Shape, Text, Uuid


class WantedEntity(Shape):
    """An entity as a file names it: its fields, by the names of the network's settings, are in ``model_extra``."""

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=None)

    account_id: Uuid
    kind: str
    id: str
    status: Text = None


class WantedField(Shape):
    """A field that differs from the file. ``locked`` is the reason why an edit cannot change it now."""

    field: str
    before: Any
    after: Any
    locked: Text


class DriftedField(Shape):
    """A field that somebody has changed outside: what was written last, and what the network holds now."""

    field: str
    planned: Any
    found: Any


class WantedChange(Shape):
    """An entity whose fields differ from the file."""

    account_id: Uuid
    network: str
    kind: str
    entity_id: str
    name: Text
    launch: Text = None
    key: Text = None
    fields: list[WantedField]


class DriftedEntity(Shape):
    """An entity that somebody has changed outside. The field ``entity`` means that it is gone."""

    account_id: Uuid
    network: str
    kind: str
    entity_id: str
    name: Text
    launch: Text = None
    key: Text = None
    fields: list[DriftedField]


class WantedCell(Shape):
    """An account of a launch that is not created completely. ``blocked``: why nothing can be prepared for it now."""

    launch: str
    key: str
    account_id: Uuid
    network: str
    blocked: Text


class UnwantedEntity(Shape):
    """A campaign that the file does not name any more, and what is done with it."""

    account_id: Uuid
    network: str
    kind: str
    entity_id: str
    name: Text
    launch: Text = None
    key: Text = None
    action: Annotated[Literal["pause", "delete"] | str, OPEN]


class UncomparedMembers(Shape):
    """The members of a brief that cannot be compared, because no read of the network shows their values.

    ``changed``: the members that also differ from the brief that was launched. They are not applied.
    """

    launch: str
    key: str
    members: list[str]
    changed: list[str]


class Diff(Shape):
    """How a file differs from what was launched and from what the networks hold."""

    is_empty: bool
    create: list[WantedCell]
    change: list[WantedChange]
    pause: list[UnwantedEntity]
    drifted: list[DriftedEntity]
    not_compared: list[UncomparedMembers]
