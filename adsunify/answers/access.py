"""API keys and agents' grants."""

from __future__ import annotations

from typing import Annotated, Literal

from .shape import OPEN, Instant, Shape, Text, Uuid

Role = Annotated[Literal["viewer", "member", "admin"] | str, OPEN]


class ScopeView(Shape):
    """The networks and accounts to which a key or an agent is bound. With both, an account must be in both.

    A member that is left out does not restrict.
    """

    networks: list[str] | None = None
    account_ids: list[Uuid] | None = None


class Verified(Shape):
    """The credential of this request. For an agent's access token, its grant and its client are included."""

    credential: str
    kind: Annotated[Literal["key", "agent", "session", "local"] | str, OPEN]
    workspace_id: Uuid
    workspace: str
    user_id: Uuid
    role: Role | Annotated[Literal["ads_mcp"] | str, OPEN]
    can_write: bool
    scope: ScopeView | None
    expires_at: Instant | None
    grant_id: Uuid | None = None
    client_id: Uuid | None = None
    client_name: Text = None
    grant_expires_at: Instant | None = None


class Key(Shape):
    """An API key without its secret."""

    key_id: Uuid
    name: str
    prefix: str
    owner_id: Uuid
    can_write: bool
    scope: ScopeView | None
    expires_at: Instant | None
    revoked_at: Instant | None
    last_used_at: Instant | None


class CreatedKey(Key):
    """A new API key. ``secret`` is shown only in this response."""

    secret: str


class ConnectedAgent(Shape):
    """The permission that you gave an agent in this workspace."""

    grant_id: Uuid
    client_id: Uuid
    client_name: str
    can_write: bool
    scope: ScopeView | None
    created_at: Instant
    expires_at: Instant
    revoked_at: Instant | None
