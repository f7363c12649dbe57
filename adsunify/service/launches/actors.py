"""The actor that prepares or executes a change set, as the row of the change set stores it. No secret is stored.

A process that works on a change set builds the actor from the present state of the credential before each write, so
that a revoked key, an ended session or a changed role counts at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.store import agents, keys, people, sessions
from adsunify.store.clock import Clock
from adsunify.values.exact_json import Json


def dump_actor(actor: Actor) -> dict[str, Json]:
    """Return the stored form of an actor: the identity of the credential, without its authority."""
    return {
        "kind": actor.kind,
        "userId": actor.user_id,
        "credential": actor.credential,
        "keyId": actor.key_id,
        "grantId": actor.grant_id,
        "sessionHash": actor.session_hash,
    }


def load_actor(connection: Connection, workspace_id: str, stored: Mapping[str, Json], clock: Clock) -> Actor | None:
    """Return the actor with the authority that the credential has now; None if it may not write any more."""
    member = people.find_membership(connection, workspace_id, stored["userId"])
    if member is None:
        return None
    now = clock.wall()
    actor = Actor(workspace_id, member.user_id, stored["credential"], member.role, True, stored["kind"])
    if actor.kind == "key":
        key = keys.get_key(connection, workspace_id, stored["keyId"])
        is_valid = key.revoked_at is None and (key.expires_at is None or key.expires_at > now)
        actor = evolve(
            actor, can_write=is_valid and key.can_write, key_id=key.id, expires_at=key.expires_at, scope=key.scope
        )
    elif actor.kind == "agent":
        grant = agents.find_grant(connection, stored["grantId"])
        if grant is None:
            return None
        is_valid = grant.revoked_at is None and grant.expires_at > now
        actor = evolve(
            actor,
            can_write=is_valid and grant.can_write,
            grant_id=grant.id,
            expires_at=grant.expires_at,
            scope=grant.scope,
        )
    elif actor.kind == "session":
        session = sessions.find_session(connection, stored["sessionHash"], clock)
        actor = evolve(actor, can_write=session is not None, session_hash=stored["sessionHash"])
    return actor if actor.can_operate else None
