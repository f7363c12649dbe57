"""The caller of a use case. REST, MCP, the pages and the library build it after they have authenticated the caller.

``Actor.credential`` identifies the credential: the id of an API key; client and user of an agent, which stay the same
over tokens and consents; ``session`` for a browser; ``local`` for the library.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Role = Literal["viewer", "member", "admin"]
ActorKind = Literal["key", "agent", "session", "local"]


@frozen
class Actor:
    """One caller in one workspace.

    The caller's authority is the lesser of its credential (``can_write``) and its ``role``.

    Attributes:
        key_id: the API key, which must still be valid when something is written.
        grant_id: the agent's grant, which must still be valid when something is written.
        session_hash: the hash of the browser's session token, which must still be valid when something is written.
        expires_at: when the key or the agent's access token expires, in milliseconds since 1970; None means never.
    """

    workspace_id: str
    user_id: str
    credential: str
    role: Role
    can_write: bool
    kind: ActorKind
    key_id: str | None = None
    grant_id: str | None = None
    session_hash: str | None = None
    expires_at: int | None = None

    @property
    def can_operate(self) -> bool:
        """Whether the caller may prepare, execute and cancel: a write credential and at least the role member."""
        return self.can_write and self.role != "viewer"

    @property
    def can_administer(self) -> bool:
        """Whether the caller may connect accounts and the like: a write credential and the role admin."""
        return self.can_write and self.role == "admin"

    @property
    def can_approve(self) -> bool:
        """Whether the caller is a signed-in person. API keys, agents and programs cannot approve anything."""
        return self.kind == "session"

    def can_see(self, workspace_id: str, user_id: str, credential: str) -> bool:
        """Whether the caller may see an operation of this owner.

        An agent sees its own operations. An admin sees all operations of the workspace. Any other caller sees the
        operations of its user, whichever credential prepared them.
        """
        if workspace_id != self.workspace_id:
            return False
        if self.kind == "agent":
            return credential == self.credential
        return self.role == "admin" or user_id == self.user_id
