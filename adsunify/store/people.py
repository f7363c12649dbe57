"""Workspaces, users, and memberships."""

from __future__ import annotations

from typing import Any

from attrs import frozen
from sqlalchemy import Connection, Row, bindparam, func, select, update

from adsunify.actor import Role
from adsunify.errors import NotFound
from adsunify.ledger import LOCAL_AUTHOR, Author, LedgerEntry

from . import upsert
from .clock import Clock, new_id
from .ledger import record_entries, record_entry
from .schema import memberships, users, workspaces


@frozen
class WorkspaceRecord:
    """A workspace.

    ``require_approval``: only a signed-in person may execute operations. ``guardrails_version`` counts the changes of
    its guardrails and of its frozen credentials, from 0.
    """

    id: str
    name: str
    require_approval: bool
    created_at: int
    guardrails_version: int


@frozen
class UserRecord:
    """A user. A user without ``password_hash`` cannot sign in."""

    id: str
    email: str
    password_hash: str | None
    created_at: int


@frozen
class MembershipRecord:
    """The membership of a user in a workspace, with the role."""

    workspace_id: str
    user_id: str
    role: Role
    created_at: int


_INSERT_WORKSPACE = upsert.insert_or_ignore(workspaces, ("name",))
_INSERT_USER = upsert.insert_or_ignore(users, ("email",))
_SET_MEMBERSHIP = upsert.insert_or_update(
    memberships, ("workspace_id", "user_id"), ("role",), memberships.c.workspace_id
)
_WORKSPACE = select(workspaces).where(workspaces.c.id == bindparam("the_id"))
_WORKSPACES = select(workspaces).order_by(workspaces.c.name)
_WORKSPACES_OF_USER = (
    select(memberships.c.workspace_id)
    .where(memberships.c.user_id == bindparam("of_user"))
    .order_by(memberships.c.workspace_id)
)
_WORKSPACE_FOR_UPDATE = _WORKSPACE.with_for_update()
_WORKSPACE_NAMED = select(workspaces).where(workspaces.c.name == bindparam("the_name"))
_USER = select(users).where(users.c.id == bindparam("the_id"))
_USER_FOR_UPDATE = _USER.with_for_update()
_USER_WITH_EMAIL = select(users).where(users.c.email == bindparam("the_email"))
_MEMBERSHIP = select(memberships).where(
    memberships.c.workspace_id == bindparam("of_workspace"), memberships.c.user_id == bindparam("of_user")
)
_MEMBERS = (
    select(memberships).where(memberships.c.workspace_id == bindparam("of_workspace")).order_by(memberships.c.user_id)
)
_OTHER_ADMINS = (
    select(func.count())
    .select_from(memberships)
    .where(
        memberships.c.workspace_id == bindparam("of_workspace"),
        memberships.c.user_id != bindparam("of_user"),
        memberships.c.role == "admin",
    )
)
_SET_PASSWORD = (
    update(users)
    .where(users.c.id == bindparam("the_id"))
    .values(password_hash=bindparam("new_hash"))
    .returning(users.c.id)
)
_REQUIRE_APPROVAL = (
    update(workspaces).where(workspaces.c.id == bindparam("the_id")).values(require_approval=bindparam("required"))
)
_REMOVE_MEMBERSHIP = (
    memberships.delete()
    .where(memberships.c.workspace_id == bindparam("of_workspace"), memberships.c.user_id == bindparam("of_user"))
    .returning(memberships.c.role)
)


def ensure_workspace(connection: Connection, name: str, clock: Clock) -> WorkspaceRecord:
    """Return the workspace with this name, and create it if it does not exist."""
    at = clock.now()
    row = {"id": new_id(at), "name": name, "require_approval": False, "created_at": at, "guardrails_version": 0}
    inserted = _INSERT_WORKSPACE.fetch_all(connection, row)
    workspace = WorkspaceRecord(**connection.execute(_WORKSPACE_NAMED, {"the_name": name}).one()._mapping)
    if inserted:
        after = {"name": name, "requireApproval": False}
        entry = LedgerEntry(workspace.id, LOCAL_AUTHOR, "workspace", workspace.id, after=after)
        record_entries(connection, [entry], at)
    return workspace


def get_workspace(connection: Connection, workspace_id: str) -> WorkspaceRecord:
    """Return a workspace. Raises NotFound."""
    return WorkspaceRecord(
        **_require_row(connection.execute(_WORKSPACE, {"the_id": workspace_id}).one_or_none())._mapping
    )


def list_workspaces(connection: Connection) -> list[WorkspaceRecord]:
    """Return all workspaces, sorted by name."""
    return [WorkspaceRecord(**row._mapping) for row in connection.execute(_WORKSPACES).all()]


def get_workspace_by_name(connection: Connection, name: str) -> WorkspaceRecord:
    """Return the workspace with this name. Raises NotFound."""
    return WorkspaceRecord(
        **_require_row(connection.execute(_WORKSPACE_NAMED, {"the_name": name}).one_or_none())._mapping
    )


def set_require_approval(connection: Connection, workspace_id: str, required: bool, clock: Clock) -> None:
    """Set whether only a signed-in person may execute operations in the workspace. Raises NotFound."""
    old = _require_row(connection.execute(_WORKSPACE_FOR_UPDATE, {"the_id": workspace_id}).one_or_none())
    connection.execute(_REQUIRE_APPROVAL, {"the_id": workspace_id, "required": required})
    before, after = ({"requireApproval": value} for value in (old.require_approval, required))
    entry = LedgerEntry(workspace_id, LOCAL_AUTHOR, "workspace", workspace_id, before=before, after=after)
    record_entry(connection, entry, clock)


def ensure_user(connection: Connection, email: str, clock: Clock, password_hash: str | None = None) -> UserRecord:
    """Return the user with this e-mail, and create it if it does not exist. An existing password is not changed."""
    at = clock.now()
    row = {"id": new_id(at), "email": email.strip().lower(), "password_hash": password_hash, "created_at": at}
    _INSERT_USER.fetch_all(connection, row)
    return UserRecord(**connection.execute(_USER_WITH_EMAIL, {"the_email": row["email"]}).one()._mapping)


def get_user(connection: Connection, user_id: str) -> UserRecord:
    """Return a user. Raises NotFound."""
    return UserRecord(**_require_row(connection.execute(_USER, {"the_id": user_id}).one_or_none())._mapping)


def find_user_by_email(connection: Connection, email: str) -> UserRecord | None:
    """Return the user with this e-mail; None if no user has it."""
    row = connection.execute(_USER_WITH_EMAIL, {"the_email": email.strip().lower()}).one_or_none()
    return None if row is None else UserRecord(**row._mapping)


def set_password(
    connection: Connection, user_id: str, password_hash: str, clock: Clock, by: Author = LOCAL_AUTHOR
) -> None:
    """Set the password hash of a user. The ledger of each workspace of the user records it. Raises NotFound."""
    _require_row(connection.execute(_SET_PASSWORD, {"the_id": user_id, "new_hash": password_hash}).one_or_none())
    homes = connection.execute(_WORKSPACES_OF_USER, {"of_user": user_id}).scalars().all()
    record_entries(connection, [LedgerEntry(home, by, "password", user_id) for home in homes], clock.now())


def has_password(connection: Connection, user_id: str, password_hash: str | None) -> bool:
    """Whether the user still has this password hash. The row is locked until the transaction ends."""
    user = UserRecord(**_require_row(connection.execute(_USER_FOR_UPDATE, {"the_id": user_id}).one_or_none())._mapping)
    return user.password_hash == password_hash


def set_membership(
    connection: Connection, workspace_id: str, user_id: str, role: Role, clock: Clock, by: Author = LOCAL_AUTHOR
) -> None:
    """Set the role of a user in a workspace. A user who is not a member becomes one."""
    member = find_membership(connection, workspace_id, user_id)
    _SET_MEMBERSHIP.fetch_all(
        connection,
        {"workspace_id": workspace_id, "user_id": user_id, "role": role, "created_at": clock.now()},
    )
    before = None if member is None else {"role": member.role}
    if before != {"role": role}:
        entry = LedgerEntry(workspace_id, by, "membership", user_id, before=before, after={"role": role})
        record_entry(connection, entry, clock)


def remove_membership(
    connection: Connection, workspace_id: str, user_id: str, clock: Clock, by: Author = LOCAL_AUTHOR
) -> None:
    """Remove a user from a workspace. Raises NotFound."""
    removed = _require_row(
        connection.execute(_REMOVE_MEMBERSHIP, {"of_workspace": workspace_id, "of_user": user_id}).one_or_none()
    )
    entry = LedgerEntry(workspace_id, by, "membership", user_id, before={"role": removed.role})
    record_entry(connection, entry, clock)


def find_membership(connection: Connection, workspace_id: str, user_id: str) -> MembershipRecord | None:
    """Return the user's membership in the workspace; None if the user is not a member."""
    row = connection.execute(_MEMBERSHIP, {"of_workspace": workspace_id, "of_user": user_id}).one_or_none()
    return None if row is None else MembershipRecord(**row._mapping)


def is_last_admin(connection: Connection, workspace_id: str, user_id: str) -> bool:
    """Whether the user is the only admin of the workspace. The workspace is locked until the transaction ends."""
    connection.execute(_WORKSPACE_FOR_UPDATE, {"the_id": workspace_id})  # two admins cannot leave at the same time
    membership = find_membership(connection, workspace_id, user_id)
    if membership is None or membership.role != "admin":
        return False
    other_admins = connection.execute(_OTHER_ADMINS, {"of_workspace": workspace_id, "of_user": user_id})
    return not other_admins.scalar_one()


def list_members(connection: Connection, workspace_id: str) -> list[MembershipRecord]:
    """Return all members of a workspace."""
    rows = connection.execute(_MEMBERS, {"of_workspace": workspace_id}).all()
    return [MembershipRecord(**row._mapping) for row in rows]


def _require_row(row: Row[Any] | None) -> Row[Any]:
    if row is None:
        raise NotFound("The workspace, the user or the membership does not exist.")
    return row
