"""People: who belongs to a workspace, with which password and key."""

from __future__ import annotations

import os

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from sqlalchemy import Connection

from adsunify.actor import Role
from adsunify.errors import refused
from adsunify.store import Store, keys, people
from adsunify.store.clock import Clock
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


async def add(store: Store, workspace: str, email: str, role: Role, password: str) -> dict[str, Json]:
    """Add a person (and the workspace, where there is none) with a new API key; the secrets are in the answer only."""
    if "@" not in email or len(email) > 254:
        raise refused("email", "malformed", "is an e-mail address.")
    if not workspace.strip():
        raise refused("workspace", "required", "needs a name.")
    if len(password) < SHORTEST_PASSWORD:
        raise refused("password", "too_short", f"has at least {SHORTEST_PASSWORD} characters.")
    prefix, secret = new_key()
    workspace_id, user_id = await store.write(
        _add, workspace, email, role, hash_password(password), prefix, hashed(secret), store.clock
    )
    return {
        "workspaceId": workspace_id,
        "userId": user_id,
        "email": email.strip().lower(),
        "password": password,
        "apiKey": secret,
    }


def _add(
    connection: Connection,
    workspace: str,
    email: str,
    role: Role,
    password_hash: str,
    prefix: str,
    secret_hash: str,
    clock: Clock,
) -> tuple[str, str]:
    home = people.ensure_workspace(connection, workspace, clock)
    person = people.ensure_user(connection, email, clock)
    people.set_password(connection, person.id, password_hash)
    people.set_membership(connection, home.id, person.id, role, clock)
    keys.create(connection, home.id, person.id, "admin", prefix, secret_hash, role != "viewer", None, clock)
    return home.id, person.id
