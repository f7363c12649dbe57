"""Workspaces and their members: passwords, roles, first keys, and the library's actor."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from functools import partial

from sqlalchemy import Connection

from adsunify.actor import Actor, Role
from adsunify.errors import NotFound, invalid_input
from adsunify.ledger import LOCAL_AUTHOR, Author
from adsunify.models.base import is_visible
from adsunify.service.api_keys import make_api_key
from adsunify.service.core import Service
from adsunify.service.tokens import hash_token
from adsunify.store import Store, agents, keys, people, sessions
from adsunify.store.clock import Clock
from adsunify.store.people import UserRecord, WorkspaceRecord
from adsunify.values.exact_json import Json

MEMORY_KIB, ITERATIONS, LANES = 19 * 1024, 2, 1
"""OWASP's recommended parameters for Argon2id (Password Storage Cheat Sheet)."""
MIN_PASSWORD_LENGTH = 8
LOCAL_NAME = "local"
"""The name of the credential, the user and the workspace of the library in a store that it opens itself."""


def hash_password(password: str) -> str:
    """Hash a password for the store: Argon2id in PHC form."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # imported late: it loads slowly

    derive = Argon2id(salt=os.urandom(16), length=32, iterations=ITERATIONS, lanes=LANES, memory_cost=MEMORY_KIB)
    return derive.derive_phc_encoded(password.encode("utf-8"))


def is_password_correct(password: str, password_hash: str) -> bool:
    """Whether a password matches a stored hash."""
    from cryptography.exceptions import InvalidKey
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    try:
        Argon2id.verify_phc_encoded(password.encode("utf-8"), password_hash)
    except InvalidKey:
        return False
    return True


async def create_workspace(store: Store, workspace: str, email: str, password: str | None) -> dict[str, Json]:
    """Create a workspace with its first admin and a new API key. Only the result contains the secrets.

    ``password``: as for :func:`add_member`. Raises InvalidInput, also for a workspace that has members.
    """
    return await _add_member_with_key(
        store, partial(_create_workspace, name=workspace.strip(), clock=store.clock), email, "admin", password
    )


async def add_member(store: Store, workspace: str, email: str, role: Role, password: str | None) -> dict[str, Json]:
    """Add a person to an existing workspace, with a new API key. Only the result contains the secrets.

    ``password`` None: a person without a password gets a new one; a person with a password keeps it, and the result's
    is None. Raises InvalidInput.
    """
    return await _add_member_with_key(store, partial(_find_workspace, name=workspace), email, role, password)


async def _add_member_with_key(
    store: Store, find_home: Callable[[Connection], WorkspaceRecord], email: str, role: Role, password: str | None
) -> dict[str, Json]:
    if "@" not in email or len(email) > 254:
        raise invalid_input("email", "malformed", "must be an e-mail address.")
    new_password = _choose_password(password)
    prefix, secret = make_api_key()
    home, person = await store.write(
        _add_member,
        find_home,
        email,
        role,
        hash_password(new_password),
        password is not None,
        prefix,
        hash_token(secret),
        store.clock,
    )
    return {
        "workspaceId": home.id,
        "userId": person.id,
        "email": person.email,
        "password": new_password if password is not None or person.password_hash is None else None,
        "apiKey": secret,
    }


def _add_member(
    connection: Connection,
    find_home: Callable[[Connection], WorkspaceRecord],
    email: str,
    role: Role,
    password_hash: str,
    replace: bool,
    prefix: str,
    secret_hash: str,
    clock: Clock,
) -> tuple[WorkspaceRecord, UserRecord]:
    """Return the workspace, and the user as it was before the change. A new user has no password."""
    home = find_home(connection)
    person = people.ensure_user(connection, email, clock)
    if role != "admin":
        _require_other_admin(connection, home, person)
    if replace or person.password_hash is None:
        people.set_password(connection, person.id, password_hash, clock)
    people.set_membership(connection, home.id, person.id, role, clock)
    keys.create_key(connection, home.id, person.id, role, prefix, secret_hash, role != "viewer", None, clock)
    return home, person


def _create_workspace(connection: Connection, name: str, clock: Clock) -> WorkspaceRecord:
    if not is_visible(name):
        raise invalid_input("workspace", "required", "needs a name with visible characters.")
    home = people.ensure_workspace(connection, name, clock)
    if people.list_members(connection, home.id):  # the second of two concurrent calls sees the first's members
        raise invalid_input("workspace", "taken", "already has members; `adsunify admin user` adds people to it.")
    return home


def _find_workspace(connection: Connection, name: str | None) -> WorkspaceRecord:
    """Return the workspace of this name; without a name, the only one. Raises InvalidInput that lists the names."""
    workspaces = people.list_workspaces(connection)
    if name is None and len(workspaces) == 1:
        return workspaces[0]
    for workspace in workspaces:
        if name is not None and workspace.name == name.strip():
            return workspace
    names = ", ".join(workspace.name for workspace in workspaces)
    choices = f"workspaces: {names}." if names else "`adsunify admin init` creates the first one."
    if name is None:
        raise invalid_input("workspace", "required", f"is required; {choices}")
    raise invalid_input("workspace", "choice", f"does not exist; {choices}")


async def find_workspace_id(store: Store, name: str | None) -> str:
    """Return the id of the workspace of this name; without a name, of the only one. Raises InvalidInput."""
    return (await store.read(_find_workspace, name)).id


async def read_emails(service: Service, user_ids: Iterable[str]) -> dict[str, str]:
    """Return the e-mail address of each user, by user id. Raises NotFound."""
    return await service.store.read(_read_emails, frozenset(user_ids))


def _read_emails(connection: Connection, user_ids: Iterable[str]) -> dict[str, str]:
    return {user_id: people.get_user(connection, user_id).email for user_id in user_ids}


# -- the library --------------------------------------------------------------------------------------------------


async def find_local_actor(service: Service, workspace: str | None) -> Actor:
    """Return the actor of the library and the command line in a store that they open. Its credential is ``local``.

    In a store without workspaces this creates one, named ``workspace`` or ``local``, with the user ``local`` as its
    admin. A store with workspaces is not changed: the actor works in the workspace of this name, or in the only one.
    The actor is the user ``local`` if that is a member. Otherwise it is the admin who has been a member for the longest
    time, because anyone with the database and its keys has the power of an admin. Raises InvalidInput for an unknown
    workspace.
    """
    actor = await service.store.read(_find_local_actor, workspace)
    if actor is not None:
        return actor
    return await service.store.write(_ensure_local_actor, workspace, service.store.clock)


def _find_local_actor(connection: Connection, workspace: str | None) -> Actor | None:
    """Return the actor in a store without changing the store; None if it has no workspace or no admin."""
    if not people.list_workspaces(connection):
        return None
    workspace_record = _find_workspace(connection, workspace)
    local = people.find_user_by_email(connection, LOCAL_NAME)
    acting = None if local is None else people.find_membership(connection, workspace_record.id, local.id)
    if acting is None:
        admins = [
            membership
            for membership in people.list_members(connection, workspace_record.id)
            if membership.role == "admin"
        ]
        acting = min(admins, key=lambda membership: (membership.created_at, membership.user_id), default=None)
    return (
        None if acting is None else Actor(workspace_record.id, acting.user_id, LOCAL_NAME, acting.role, True, "local")
    )


def _ensure_local_actor(connection: Connection, workspace: str | None, clock: Clock) -> Actor:
    """Create the missing workspace or admin, and return the actor."""
    actor = _find_local_actor(connection, workspace)  # another process may have created them already
    if actor is not None:
        return actor
    if people.list_workspaces(connection):
        home = _find_workspace(connection, workspace)
    else:
        home = _create_workspace(connection, LOCAL_NAME if workspace is None else workspace.strip(), clock)
    person = people.ensure_user(connection, LOCAL_NAME, clock)
    people.set_membership(connection, home.id, person.id, "admin", clock)
    return Actor(home.id, person.id, LOCAL_NAME, "admin", True, "local")


# -- passwords, roles ---------------------------------------------------------------------------------------------


def _choose_password(password: str | None) -> str:
    """Return the given password, or a new one."""
    if password is not None and len(password) < MIN_PASSWORD_LENGTH:
        raise invalid_input("password", "too_short", f"must have at least {MIN_PASSWORD_LENGTH} characters.")
    return secrets.token_urlsafe(15) if password is None else password


async def change_role(
    store: Store, workspace: str, email: str, role: Role, by: Author = LOCAL_AUTHOR
) -> dict[str, Json]:
    """Change a member's role. From then on, the member's keys have at most the authority of the new role.

    Raises NotFound, InvalidInput for the last admin.
    """
    return await store.write(_change_role, workspace, email, role, store.clock, by)


def _change_role(
    connection: Connection, workspace: str, email: str, role: Role, clock: Clock, by: Author
) -> dict[str, Json]:
    home, person = _find_member(connection, workspace, email)
    if role != "admin":
        _require_other_admin(connection, home, person)
    people.set_membership(connection, home.id, person.id, role, clock, by)
    return {"workspaceId": home.id, "userId": person.id, "email": person.email, "role": role}


async def reset_password(store: Store, workspace: str, email: str, password: str | None) -> dict[str, Json]:
    """Replace a member's password. None makes a new one. The member's sessions end. Only the result holds it.

    Raises NotFound, InvalidInput.
    """
    new_password = _choose_password(password)
    person = await store.write(_reset_password, workspace, email, hash_password(new_password), store.clock)
    return {"userId": person.id, "email": person.email, "password": new_password}


def _reset_password(connection: Connection, workspace: str, email: str, password_hash: str, clock: Clock) -> UserRecord:
    _, person = _find_member(connection, workspace, email)
    people.set_password(connection, person.id, password_hash, clock)
    sessions.end_all_sessions(connection, person.id)
    return person


async def remove_member(store: Store, workspace: str, email: str, by: Author = LOCAL_AUTHOR) -> dict[str, Json]:
    """Remove a member from a workspace: sessions, grants and keys there end at once, for good.

    Open invitations for the member's e-mail address are used up, so that the member cannot return through one.

    Raises NotFound, InvalidInput for the last admin.
    """
    return await store.write(_remove_member, workspace, email, store.clock, by)


def _remove_member(connection: Connection, workspace: str, email: str, clock: Clock, by: Author) -> dict[str, Json]:
    home, person = _find_member(connection, workspace, email)
    _require_other_admin(connection, home, person)
    people.remove_membership(connection, home.id, person.id, clock, by)
    keys.revoke_all_keys(connection, home.id, person.id, clock, by)
    agents.revoke_all_grants(connection, home.id, person.id, clock, by)
    sessions.leave_workspace(connection, person.id, home.id)
    sessions.revoke_invitations(connection, home.id, person.email, clock, by)
    return {"workspaceId": home.id, "userId": person.id, "email": person.email, "removed": True}


def _find_member(connection: Connection, workspace: str, email: str) -> tuple[WorkspaceRecord, UserRecord]:
    home = _find_workspace(connection, workspace)
    person = people.find_user_by_email(connection, email)
    if person is None or people.find_membership(connection, home.id, person.id) is None:
        raise NotFound("The workspace has no member with this e-mail address.")
    return home, person


def _require_other_admin(connection: Connection, home: WorkspaceRecord, person: UserRecord) -> None:
    if people.is_last_admin(connection, home.id, person.id):
        raise invalid_input("email", "last_admin", "is the workspace's last admin. Make another member an admin first.")


async def set_approval_rule(store: Store, workspace: str | None, required: bool | None) -> dict[str, Json]:
    """Return whether a person must approve operations, after setting it if ``required`` is not None.

    Without ``workspace`` it is the only workspace. Raises InvalidInput if there are several, or for an unknown name.
    """
    return await store.write(_set_approval_rule, workspace, required, store.clock)


def _set_approval_rule(
    connection: Connection, workspace: str | None, required: bool | None, clock: Clock
) -> dict[str, Json]:
    home = _find_workspace(connection, workspace)
    if required is not None:
        people.set_require_approval(connection, home.id, required, clock)
        home = people.get_workspace(connection, home.id)
    return {"workspaceId": home.id, "name": home.name, "requireApproval": home.require_approval}
