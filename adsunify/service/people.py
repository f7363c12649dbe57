"""People: who belongs to a workspace, with which password and key."""

from __future__ import annotations

import os
import secrets

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from sqlalchemy import Connection

from adsunify.actor import Role
from adsunify.errors import refused
from adsunify.store import Store, keys, people
from adsunify.store.clock import Clock
from adsunify.store.people import UserRecord, WorkspaceRecord
from adsunify.wire import Json

from .access import hashed, new_key

MEMORY_KIB, PASSES, LANES = 19 * 1024, 2, 1
"""OWASP's first choice for Argon2id."""
SHORTEST_PASSWORD = 8


def hash_password(password: str) -> str:
    """A password as it is kept: Argon2id in PHC form."""
    derive = Argon2id(salt=os.urandom(16), length=32, iterations=PASSES, lanes=LANES, memory_cost=MEMORY_KIB)
    return derive.derive_phc_encoded(password.encode("utf-8"))


def password_matches(password: str, kept: str) -> bool:
    """Whether a password is the one that was kept."""
    try:
        Argon2id.verify_phc_encoded(password.encode("utf-8"), kept)
    except InvalidKey:
        return False
    return True


async def add(store: Store, workspace: str, email: str, role: Role, password: str | None) -> dict[str, Json]:
    """Add a person (and the workspace, where there is none) with a new API key; the secrets are in the answer only.

    ``password`` None makes one for a person who has none, and keeps that of a person who has (then the answer's is
    None). Raises InvalidInput.
    """
    if "@" not in email or len(email) > 254:
        raise refused("email", "malformed", "is an e-mail address.")
    if not workspace.strip():
        raise refused("workspace", "required", "needs a name.")
    if password is not None and len(password) < SHORTEST_PASSWORD:
        raise refused("password", "too_short", f"has at least {SHORTEST_PASSWORD} characters.")
    chosen = secrets.token_urlsafe(15) if password is None else password
    prefix, secret = new_key()
    home, person = await store.write(
        _add,
        workspace.strip(),
        email,
        role,
        hash_password(chosen),
        password is not None,
        prefix,
        hashed(secret),
        store.clock,
    )
    return {
        "workspaceId": home.id,
        "userId": person.id,
        "email": person.email,
        "password": chosen if password is not None or person.password_hash is None else None,
        "apiKey": secret,
    }


def _add(
    connection: Connection,
    workspace: str,
    email: str,
    role: Role,
    password_hash: str,
    replace: bool,
    prefix: str,
    secret_hash: str,
    clock: Clock,
) -> tuple[WorkspaceRecord, UserRecord]:
    """The workspace, and the person as he was before: without a password, if he is new."""
    home = people.ensure_workspace(connection, workspace, clock)
    person = people.ensure_user(connection, email, clock)
    if replace or person.password_hash is None:
        people.set_password(connection, person.id, password_hash)
    people.set_membership(connection, home.id, person.id, role, clock)
    keys.create(connection, home.id, person.id, role, prefix, secret_hash, role != "viewer", None, clock)
    return home, person
