"""Who calls: built by the door that authenticated the caller, taken by every use case.

Credential identity: an API key is its id; an agent is its client and user, stable over tokens and consents; a browser
is ``session``; the library is ``local``.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

Role = Literal["viewer", "member", "admin"]
ActorKind = Literal["key", "agent", "session", "local"]


@frozen
class Actor:
    """One caller in one workspace. ``can_write`` is the credential's; authority is the lesser of it and the role.

    ``key_id``, ``grant_id``, ``session_hash``: the API key, the agent's grant or the browser's session (the hash of its
    token) that must still be valid when something is written.
    ``expires_at``: when the key, or the agent's access token, expires (milliseconds); None: never.
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
        """Whether it is a person who signed in; keys, agents and programs act for one, and approve nothing."""
        return self.kind == "session"

    def can_see(self, workspace_id: str, user_id: str, credential: str) -> bool:
        """Whether an operation of this owner is in scope.

        An agent sees its own, an admin the workspace, everybody else the operations of his user whatever the
        credential.
        """
        if workspace_id != self.workspace_id:
            return False
        if self.kind == "agent":
            return credential == self.credential
        return self.role == "admin" or user_id == self.user_id
