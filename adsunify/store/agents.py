"""Agents: registered OAuth clients, the grants of people, and the hashes of codes and tokens.

A code or a refresh token can be used once. :mod:`adsunify.service.oauth_server` decides what happens at a second use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from attrs import asdict, evolve, frozen
from sqlalchemy import Connection, Update, and_, bindparam, delete, insert, select, update

from adsunify.actor import Actor, CredentialScope, Role, make_agent_credential
from adsunify.errors import Forbidden, NotFound
from adsunify.ledger import Author, LedgerEntry, NamedAuthor
from adsunify.values.exact_json import Json

from .clock import Clock, new_id
from .ledger import record_entries
from .schema import grants, memberships, oauth_clients, oauth_tokens
from .statement import Query, Statement
from .upsert import insert_or_update

TokenKind = Literal["code", "access", "refresh"]


@frozen
class ClientRecord:
    """A registered client. All clients are public, so they have no secret. ``created_at`` is in milliseconds."""

    id: str
    name: str
    redirect_uris: Sequence[str]
    created_at: int


@frozen
class GrantRecord:
    """The permission that a person gives a client in a workspace. Times are in milliseconds since 1970."""

    id: str
    workspace_id: str
    user_id: str
    client_id: str
    can_write: bool
    resource: str
    created_at: int
    expires_at: int
    revoked_at: int | None
    scope: CredentialScope | None


@frozen
class TokenRecord:
    """A code or token with its grant.

    ``role`` is the present role of the person in the workspace; None if the person is no longer a member. Times are in
    milliseconds since 1970.
    """

    grant: GrantRecord
    kind: TokenKind
    redirect_uri: str | None
    challenge: str | None
    expires_at: int
    used_at: int | None
    role: Role | None

    def is_valid(self, now: int) -> bool:
        """Whether the token is unused and unexpired, its grant has not ended, and the person is still a member."""
        return self.is_unexpired(now) and self.used_at is None

    def is_unexpired(self, now: int) -> bool:
        """Whether the token is valid except that it may have been used."""
        ended = self.grant.revoked_at is not None or self.grant.expires_at <= now or self.role is None
        return not ended and self.expires_at > now


# -- clients and grants -------------------------------------------------------------------------------------------

_CLIENT = select(oauth_clients).where(oauth_clients.c.id == bindparam("the_id"))
_SAVE_CLIENT = insert_or_update(oauth_clients, ("id",), ("name", "redirect_uris"), oauth_clients.c.id)
_GRANT = select(grants).where(grants.c.id == bindparam("the_id"))
_GRANTS = (
    select(grants, oauth_clients.c.name)
    .join(oauth_clients, oauth_clients.c.id == grants.c.client_id)
    .where(
        grants.c.workspace_id == bindparam("of_workspace"),
        grants.c.user_id == bindparam("of_user"),
        grants.c.revoked_at.is_(None),
        grants.c.expires_at > bindparam("now"),
    )
    .order_by(grants.c.id)
)
_REVOKE = (
    update(grants)
    .where(grants.c.id == bindparam("the_id"), grants.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"))
)
_REVOKE_ALL = (
    update(grants)
    .where(
        grants.c.workspace_id == bindparam("of_workspace"),
        grants.c.user_id == bindparam("of_user"),
        grants.c.revoked_at.is_(None),
    )
    .values(revoked_at=bindparam("now"))
)
_REVOKE_REPLACED = (
    update(grants)
    .where(
        grants.c.user_id == bindparam("of_user"),
        grants.c.client_id == bindparam("of_client"),
        grants.c.revoked_at.is_(None),
    )
    .values(revoked_at=bindparam("now"))
)


_DELETE_UNUSED = delete(oauth_clients).where(
    oauth_clients.c.created_at <= bindparam("before"), oauth_clients.c.id.not_in(select(grants.c.client_id))
)


def register_client(
    connection: Connection, id_: str, name: str, redirect_uris: Sequence[str], unused: int, clock: Clock
) -> ClientRecord:
    """Store a client, and delete older clients that have no grant ``unused`` milliseconds after their registration."""
    connection.execute(_DELETE_UNUSED, {"before": clock.wall() - unused})
    client = ClientRecord(id_, name, list(redirect_uris), clock.wall())
    connection.execute(insert(oauth_clients), asdict(client, recurse=False))
    return client


def save_document_client(connection: Connection, client: ClientRecord) -> None:
    """Store a client whose id is the address of its document, or update it from the present document."""
    _SAVE_CLIENT.fetch_one(connection, asdict(client, recurse=False))


def find_client(connection: Connection, id_: str) -> ClientRecord | None:
    """Return a registered client; None if it does not exist."""
    row = connection.execute(_CLIENT, {"the_id": id_}).one_or_none()
    return None if row is None else ClientRecord(**row._mapping)


def create_grant(
    connection: Connection,
    workspace_id: str,
    user_id: str,
    client_id: str,
    can_write: bool,
    resource: str,
    lifetime: int,
    clock: Clock,
    scope: CredentialScope | None = None,
) -> GrantRecord:
    """Store a grant, and end the earlier grant of this person to this client. ``lifetime`` is in milliseconds."""
    at, person = clock.wall(), NamedAuthor(user_id, "session")
    _revoke(connection, _REVOKE_REPLACED, {"of_user": user_id, "of_client": client_id}, person, clock)
    row = {
        "id": new_id(at),
        "workspace_id": workspace_id,
        "user_id": user_id,
        "client_id": client_id,
        "can_write": can_write,
        "resource": resource,
        "created_at": at,
        "expires_at": at + lifetime,
        "revoked_at": None,
        "scope": scope,
    }
    connection.execute(insert(grants), row)
    grant = get_grant(connection, row["id"])
    entry = LedgerEntry(workspace_id, person, "grant", grant.id, after=_state_to_json(grant))
    record_entries(connection, [entry], clock.now())
    return grant


def _revoke(connection: Connection, statement: Update, values: dict[str, str], by: Author, clock: Clock) -> None:
    """Revoke grants, and record it in the ledger."""
    rows = connection.execute(statement.returning(grants), {**values, "now": clock.wall()}).all()
    entries = []
    for revoked in (GrantRecord(**row._mapping) for row in rows):
        before, after = _state_to_json(evolve(revoked, revoked_at=None)), _state_to_json(revoked)
        entries.append(LedgerEntry(revoked.workspace_id, by, "grant", revoked.id, before=before, after=after))
    record_entries(connection, entries, clock.now())


def _state_to_json(grant: GrantRecord) -> Json:
    return {
        "userId": grant.user_id,
        "clientId": grant.client_id,
        "canWrite": grant.can_write,
        "scope": None if grant.scope is None else grant.scope.to_json(),
        "expiresAt": grant.expires_at,
        "revokedAt": grant.revoked_at,
    }


def find_grant(connection: Connection, id_: str) -> GrantRecord | None:
    """Return a grant in any state; None if it ended so long ago that it was deleted."""
    row = connection.execute(_GRANT, {"the_id": id_}).one_or_none()
    return None if row is None else GrantRecord(**row._mapping)


def get_grant(connection: Connection, id_: Any) -> GrantRecord:
    """Return a grant that exists, in any state."""
    return GrantRecord(**connection.execute(_GRANT, {"the_id": id_}).one()._mapping)


def list_grants(connection: Connection, actor: Actor, clock: Clock) -> list[tuple[GrantRecord, str]]:
    """Return the valid grants of the actor's user that the actor may see, each with the name of its client."""
    values = {"of_workspace": actor.workspace_id, "of_user": actor.user_id, "now": clock.wall()}
    return [
        (GrantRecord(**{column.name: getattr(row, column.name) for column in grants.c}), row.name)
        for row in connection.execute(_GRANTS, values).all()
        if actor.can_reach_scope(row.scope)
    ]


def get_grant_with_client(connection: Connection, id_: str) -> tuple[GrantRecord, str]:
    """Return a grant in any state, and the name of its client."""
    grant = get_grant(connection, id_)
    return grant, connection.execute(_CLIENT, {"the_id": grant.client_id}).one().name


def revoke_grant(connection: Connection, actor: Actor, grant_id: str, clock: Clock) -> GrantRecord:
    """End a grant of the actor's user. A read-only credential can end its own grant only.

    Raises:
        NotFound: the actor may not see such a grant.
        Forbidden: a read-only credential does not end its own grant.
    """
    row = connection.execute(_GRANT, {"the_id": grant_id}).one_or_none()
    owner = None if row is None else (row.workspace_id, row.user_id)
    if row is None or owner != (actor.workspace_id, actor.user_id) or not actor.can_reach_scope(row.scope):
        raise NotFound("You have no such grant in this workspace.")
    if not actor.can_write and actor.grant_id != grant_id:
        raise Forbidden("A read-only credential cannot end the grant of another agent.", code="write_required")
    _revoke(connection, _REVOKE, {"the_id": grant_id}, actor, clock)
    return get_grant(connection, grant_id)


def revoke_all_grants(connection: Connection, workspace_id: str, user_id: str, clock: Clock, by: Author) -> None:
    """End all grants of a person in a workspace."""
    _revoke(connection, _REVOKE_ALL, {"of_workspace": workspace_id, "of_user": user_id}, by, clock)


# -- codes and tokens ---------------------------------------------------------------------------------------------

_TOKEN = Statement(
    select(
        grants,
        oauth_tokens.c.kind,
        oauth_tokens.c.redirect_uri,
        oauth_tokens.c.challenge,
        oauth_tokens.c.expires_at.label("token_expires_at"),
        oauth_tokens.c.used_at,
        memberships.c.role,
    )
    .join(grants, grants.c.id == oauth_tokens.c.grant_id)
    .join(
        memberships,
        and_(memberships.c.workspace_id == grants.c.workspace_id, memberships.c.user_id == grants.c.user_id),
        isouter=True,
    )
    .where(oauth_tokens.c.token_hash == bindparam("the_hash"))
)
_ISSUE = insert(oauth_tokens)
_USE = (
    update(oauth_tokens)
    .where(oauth_tokens.c.token_hash == bindparam("the_hash"), oauth_tokens.c.used_at.is_(None))
    .values(used_at=bindparam("now"))
    .returning(oauth_tokens.c.grant_id)
)


def save_token(
    connection: Connection,
    grant_id: str,
    kind: TokenKind,
    token_hash: str,
    lifetime: int,
    clock: Clock,
    redirect_uri: str | None = None,
    challenge: str | None = None,
) -> None:
    """Store the hash of a new code or token. ``lifetime`` is in milliseconds."""
    at = clock.wall()
    row = {
        "token_hash": token_hash,
        "grant_id": grant_id,
        "kind": kind,
        "redirect_uri": redirect_uri,
        "challenge": challenge,
        "created_at": at,
        "expires_at": at + lifetime,
    }
    connection.execute(_ISSUE, row)


def find_token(token_hash: str) -> Query[TokenRecord | None]:
    """Query a code or token in any state; None if it does not exist."""
    return Query(_TOKEN, {"the_hash": token_hash}, lambda rows: _token_from_rows(rows[0]) if rows else None)


def _token_from_rows(row: Any) -> TokenRecord:
    grant = GrantRecord(**{column.name: getattr(row, column.name) for column in grants.c})
    return TokenRecord(grant, row.kind, row.redirect_uri, row.challenge, row.token_expires_at, row.used_at, row.role)


def use_token(connection: Connection, token_hash: str, now: int) -> bool:
    """Mark a code or refresh token as used at ``now`` (milliseconds). Returns False if it was used before."""
    return connection.execute(_USE, {"the_hash": token_hash, "now": now}).one_or_none() is not None


def end_grant_of_token(connection: Connection, token_hash: str, clock: Clock) -> None:
    """End the grant of a token (RFC 7009). An unknown token is ignored."""
    token = find_token(token_hash).run(connection)
    if token is not None:
        bearer = NamedAuthor(token.grant.user_id, make_agent_credential(token.grant.client_id, token.grant.user_id))
        _revoke(connection, _REVOKE, {"the_id": token.grant.id}, bearer, clock)
