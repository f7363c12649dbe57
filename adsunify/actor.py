"""The caller of a use case.

REST, MCP, the pages and the library build an actor after they have authenticated the caller. ``Actor.credential``
identifies the credential: the id of an API key; client and user of an agent, which stay the same over tokens and
consents; ``session`` for a browser; ``local`` for the library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

Role = Literal["viewer", "member", "admin"]
ActorKind = Literal["key", "agent", "session", "local"]


def make_agent_credential(client_id: str, user_id: str) -> str:
    """Make the identity of an agent's credential, which a new token and a new consent do not change."""
    return f"{client_id}:{user_id}"


@frozen
class CredentialScope:
    """The networks and accounts to which a credential is bound.

    A member that is None does not restrict. An account is in the scope if every other member contains it. The scope of
    a stored credential never changes.
    """

    networks: tuple[str, ...] | None = None
    account_ids: tuple[str, ...] | None = None

    def has_account(self, account_id: str | None, network: str | None) -> bool:
        """Whether an account of a network is in the scope. None matches no account and no network."""
        return (self.networks is None or network in self.networks) and (
            self.account_ids is None or account_id in self.account_ids
        )

    def has_scope(self, other: CredentialScope | None) -> bool:
        """Whether each account of another scope is in this scope; None is the scope of all accounts."""
        return other is not None and all(
            bound is None or (names is not None and set(names) <= set(bound))
            for bound, names in ((self.networks, other.networks), (self.account_ids, other.account_ids))
        )

    def to_json(self) -> dict[str, list[str]]:
        """Return the form of responses and of the database, without the members that do not restrict."""
        members = {"networks": self.networks, "accountIds": self.account_ids}
        return {name: list(values) for name, values in members.items() if values is not None}

    @classmethod
    def from_json(cls, value: Mapping[str, Sequence[str]] | None) -> CredentialScope | None:
        """Read the form of :meth:`to_json`; None stays None."""
        if value is None:
            return None
        networks, account_ids = value.get("networks"), value.get("accountIds")
        return cls(None if networks is None else tuple(networks), None if account_ids is None else tuple(account_ids))


@frozen
class Actor:
    """One caller in one workspace.

    The caller's authority is the lesser of its credential (``can_write``) and its ``role``.

    Attributes:
        key_id: the API key, which must still be valid when something is written.
        grant_id: the agent's grant, which must still be valid when something is written.
        session_hash: the hash of the browser's session token, which must still be valid when something is written.
        expires_at: when the key or the agent's access token expires, in milliseconds since 1970; None means never.
        scope: the networks and accounts to which the credential is bound; None means all of the workspace.
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
    scope: CredentialScope | None = None

    @property
    def can_operate(self) -> bool:
        """Whether the caller may prepare, execute and cancel: a write credential and at least the role member."""
        return self.can_write and self.role != "viewer"

    @property
    def can_administer(self) -> bool:
        """Whether the caller may administer the workspace: it has a write credential and the role admin."""
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

    def can_reach(self, account_id: str | None, network: str | None) -> bool:
        """Whether the scope of the credential has an account of the workspace."""
        return self.scope is None or self.scope.has_account(account_id, network)

    def can_reach_scope(self, scope: CredentialScope | None) -> bool:
        """Whether the caller reaches each account of a scope, such as a key's scope; None is the whole workspace."""
        return self.scope is None or self.scope.has_scope(scope)

    def can_connect(self, network: str) -> bool:
        """Whether the credential's scope has all accounts of a network: a new connection may find any of them."""
        return self.scope is None or (self.scope.account_ids is None and self.scope.has_account(None, network))
