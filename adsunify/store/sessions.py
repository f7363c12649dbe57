"""Browser sessions, and invitations to a workspace. Only hashes of tokens are stored."""

from __future__ import annotations

from attrs import frozen
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from adsunify.actor import Role
from adsunify.ledger import Author, LedgerEntry, NamedAuthor

from .clock import Clock
from .ledger import record_entries
from .schema import invitations, memberships, sessions, users, workspaces


@frozen
class WorkspaceMembership:
    """A workspace of a user, with the user's role in it."""

    workspace_id: str
    name: str
    role: Role


@frozen
class SessionRecord:
    """A valid session. ``workspace_id`` is the workspace chosen last, if any. ``memberships`` are sorted by name."""

    token_hash: str
    user_id: str
    email: str
    workspace_id: str | None
    memberships: tuple[WorkspaceMembership, ...]


@frozen
class InvitationRecord:
    """An invitation. Times are in milliseconds since 1970."""

    token_hash: str
    workspace_id: str
    user_id: str
    email: str
    role: Role
    created_at: int
    expires_at: int
    used_at: int | None


# -- sessions -----------------------------------------------------------------------------------------------------

_INSERT = insert(sessions)
_SESSION = (
    select(sessions.c.token_hash, sessions.c.user_id, users.c.email, sessions.c.workspace_id)
    .join(users, users.c.id == sessions.c.user_id)
    .where(sessions.c.token_hash == bindparam("the_hash"), sessions.c.expires_at > bindparam("now"))
)
_MEMBERSHIPS = (
    select(memberships.c.workspace_id, workspaces.c.name, memberships.c.role)
    .join(workspaces, workspaces.c.id == memberships.c.workspace_id)
    .where(memberships.c.user_id == bindparam("of_user"))
    .order_by(workspaces.c.name)
)
_SET_WORKSPACE = (
    update(sessions)
    .where(sessions.c.token_hash == bindparam("the_hash"))
    .values(workspace_id=bindparam("chosen_workspace"))
)
_END = delete(sessions).where(sessions.c.token_hash == bindparam("the_hash"))
_END_ALL = delete(sessions).where(sessions.c.user_id == bindparam("of_user"))
_LEAVE_WORKSPACE = (
    update(sessions)
    .where(sessions.c.user_id == bindparam("of_user"), sessions.c.workspace_id == bindparam("left_workspace"))
    .values(workspace_id=None)
)
_END_EXPIRED = delete(sessions).where(
    sessions.c.user_id == bindparam("of_user"), sessions.c.expires_at <= bindparam("now")
)


def create_session(
    connection: Connection, token_hash: str, user_id: str, workspace_id: str | None, lifetime: int, clock: Clock
) -> None:
    """Store a new session of ``lifetime`` milliseconds, and delete expired sessions of the user."""
    at = clock.wall()
    connection.execute(_END_EXPIRED, {"of_user": user_id, "now": at})
    row = {
        "token_hash": token_hash,
        "user_id": user_id,
        "workspace_id": workspace_id,
        "created_at": at,
        "expires_at": at + lifetime,
    }
    connection.execute(_INSERT, row)


def find_session(connection: Connection, token_hash: str, clock: Clock) -> SessionRecord | None:
    """Return the session of a token with the user's present memberships; None if it does not exist or has expired."""
    row = connection.execute(_SESSION, {"the_hash": token_hash, "now": clock.wall()}).one_or_none()
    return None if row is None else SessionRecord(**row._mapping, memberships=list_memberships(connection, row.user_id))


def list_memberships(connection: Connection, user_id: str) -> tuple[WorkspaceMembership, ...]:
    """Return the workspaces of a user, sorted by name."""
    return tuple(
        WorkspaceMembership(**row._mapping) for row in connection.execute(_MEMBERSHIPS, {"of_user": user_id}).all()
    )


def set_workspace(connection: Connection, token_hash: str, workspace_id: str) -> None:
    """Store the workspace that the session shows."""
    connection.execute(_SET_WORKSPACE, {"the_hash": token_hash, "chosen_workspace": workspace_id})


def end_session(connection: Connection, token_hash: str) -> None:
    """End a session. An unknown session is ignored."""
    connection.execute(_END, {"the_hash": token_hash})


def end_all_sessions(connection: Connection, user_id: str) -> None:
    """End all sessions of a user."""
    connection.execute(_END_ALL, {"of_user": user_id})


def leave_workspace(connection: Connection, user_id: str, workspace_id: str) -> None:
    """Remove the workspace from the user's sessions. If the user has no membership left, all sessions end."""
    connection.execute(_LEAVE_WORKSPACE, {"of_user": user_id, "left_workspace": workspace_id})
    if not list_memberships(connection, user_id):
        end_all_sessions(connection, user_id)


# -- invitations --------------------------------------------------------------------------------------------------

_INSERT_INVITATION = insert(invitations)
_IS_OPEN = (
    invitations.c.token_hash == bindparam("the_hash"),
    invitations.c.used_at.is_(None),
    invitations.c.expires_at > bindparam("now"),
)
_INVITATION = select(invitations).where(*_IS_OPEN)
_REVOKE_INVITATIONS = (
    update(invitations)
    .where(
        invitations.c.workspace_id == bindparam("of_workspace"),
        invitations.c.email == bindparam("of_email"),
        invitations.c.used_at.is_(None),
    )
    .values(used_at=bindparam("now"))
    .returning(invitations.c.role)
)
_USE_INVITATION = update(invitations).where(*_IS_OPEN).values(used_at=bindparam("now")).returning(invitations)


def create_invitation(
    connection: Connection,
    token_hash: str,
    workspace_id: str,
    user_id: str,
    email: str,
    role: Role,
    lifetime: int,
    clock: Clock,
) -> InvitationRecord:
    """Store an invitation that can be used once within ``lifetime`` milliseconds."""
    at = clock.wall()
    invitation = InvitationRecord(token_hash, workspace_id, user_id, email, role, at, at + lifetime, None)
    row = {
        "token_hash": token_hash,
        "workspace_id": workspace_id,
        "user_id": user_id,
        "email": email,
        "role": role,
        "created_at": at,
        "expires_at": invitation.expires_at,
    }
    connection.execute(_INSERT_INVITATION, row)
    after = {"role": role, "expiresAt": at + lifetime}
    entry = LedgerEntry(workspace_id, NamedAuthor(user_id, "session"), "invitation", email, after=after)
    record_entries(connection, [entry], clock.now())
    return invitation


def find_invitation(connection: Connection, token_hash: str, clock: Clock) -> InvitationRecord | None:
    """Return an invitation that can be used; None if it is unknown, used or expired."""
    row = connection.execute(_INVITATION, {"the_hash": token_hash, "now": clock.wall()}).one_or_none()
    return None if row is None else InvitationRecord(**row._mapping)


def use_invitation(connection: Connection, token_hash: str, clock: Clock) -> InvitationRecord | None:
    """Mark an invitation as used and return it. Of several concurrent callers only one gets it.

    Returns None if the invitation is unknown, used or expired.
    """
    row = connection.execute(_USE_INVITATION, {"the_hash": token_hash, "now": clock.wall()}).one_or_none()
    return None if row is None else InvitationRecord(**row._mapping)


def revoke_invitations(connection: Connection, workspace_id: str, email: str, clock: Clock, by: Author) -> None:
    """Mark all invitations of an e-mail address to a workspace as used, so that nobody can join with them."""
    values = {"of_workspace": workspace_id, "of_email": email, "now": clock.wall()}
    rows = connection.execute(_REVOKE_INVITATIONS, values).all()
    entries = [LedgerEntry(workspace_id, by, "invitation", email, before={"role": row.role}) for row in rows]
    record_entries(connection, entries, clock.now())
