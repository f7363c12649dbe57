"""Connections, ad accounts, and the entities and catalogs of an account."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .shape import OPEN, Instant, Shape, Text, Url, Uuid


class Connection(Shape):
    """A connection to a network, without its credentials."""

    connection_id: Uuid
    network: str
    status: Annotated[Literal["active", "needs_reauth", "disconnected"] | str, OPEN]
    accounts: list[Uuid]
    expires_at: Instant | None
    created_at: Instant


class Consent(Shape):
    """A single-use hosted consent link."""

    url: Url
    expires_at: Instant


class Account(Shape):
    """An ad account of the workspace."""

    account_id: Uuid
    network: str
    native_id: str
    name: Text
    currency: Text
    timezone: Text
    status: Annotated[Literal["active", "needs_reauth", "disconnected"] | str, OPEN]
    native_status: Text
    connection_id: Text
    extras: dict[str, str]


class Node(Shape):
    """One entity of the native hierarchy."""

    kind: str
    id: str
    parent_id: Text
    name: Text
    status: Text
    native_status: Text
    native: dict[str, Any]


class Entity(Node):
    """One native entity. ``status`` is the unified status; null if the native status has no unified meaning."""


class EditableField(Shape):
    """One field of an entity. ``locked`` is the reason why an edit cannot change it now; null if an edit can."""

    field: str
    value: Any
    unit: Text
    period: Annotated[Literal["daily", "lifetime"] | str, OPEN] | None = None
    choices: list[str] = Field([])
    min: Text = None
    max: Text = None
    locked: Text


class Settings(Shape):
    """The editable fields of an entity, and its related native members."""

    entity_id: str
    kind: str
    fields: list[EditableField]
    targeting: dict[str, Any]
    bidding: dict[str, Any]
    creative: dict[str, Any]
    notes: list[str]


class TreeLevel(Shape):
    """One level of the native hierarchy and its parent key."""

    kind: str
    native: str
    parent_key: Text


class Tree(Shape):
    """The native hierarchy, flat, parents first."""

    account_id: Uuid
    network: str
    levels: list[TreeLevel]
    nodes: list[Node]
    truncated: bool
    read_at: Instant


class CatalogRow(Shape):
    """One row of a catalog."""

    id: str
    name: str
    native: Any
