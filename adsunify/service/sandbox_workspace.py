"""The workspace ``sandbox`` of a server with simulated networks: its admin, and the admin's password."""

from __future__ import annotations

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.store import keys, people
from adsunify.store.clock import Clock

from .api_keys import make_api_key
from .core import Service
from .tokens import hash_token
from .users import reset_password

SANDBOX_WORKSPACE = "sandbox"
SANDBOX_EMAIL = "admin@sandbox.example"
"""The e-mail address of the person who signs in to the sandbox in a browser."""


async def create_sandbox_admin(service: Service) -> tuple[Actor, str]:
    """Make the workspace and its admin where they are missing, and a new key for the admin.

    Returns:
        The admin as an actor with this key, and the key's secret.
    """
    prefix, secret = make_api_key()
    actor = await service.store.write(_create_sandbox_admin, prefix, hash_token(secret), service.store.clock)
    return actor, secret


def _create_sandbox_admin(connection: Connection, prefix: str, secret_hash: str, clock: Clock) -> Actor:
    workspace = people.ensure_workspace(connection, SANDBOX_WORKSPACE, clock)
    user = people.ensure_user(connection, SANDBOX_WORKSPACE, clock)
    people.set_membership(connection, workspace.id, user.id, "admin", clock)
    key = keys.create_key(connection, workspace.id, user.id, SANDBOX_WORKSPACE, prefix, secret_hash, True, None, clock)
    return Actor(workspace.id, user.id, key.id, "admin", True, "key", key.id)


async def reset_sandbox_password(service: Service) -> str:
    """Return a new password of the person who signs in to the workspace, an admin of it."""
    await service.store.write(_ensure_sandbox_person, service.store.clock)
    return str((await reset_password(service.store, SANDBOX_WORKSPACE, SANDBOX_EMAIL, None))["password"])


def _ensure_sandbox_person(connection: Connection, clock: Clock) -> None:
    workspace = people.ensure_workspace(connection, SANDBOX_WORKSPACE, clock)
    user = people.ensure_user(connection, SANDBOX_EMAIL, clock)
    people.set_membership(connection, workspace.id, user.id, "admin", clock)
