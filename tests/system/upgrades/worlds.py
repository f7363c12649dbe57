"""The state of simulated networks as a document, so that a later sandbox goes on from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from adsunify.sandbox.server import Sandbox
from adsunify.sandbox.world import StoredEntity, Token, World


def dump_worlds(state: Sandbox, networks: Iterable[str]) -> dict[str, Any]:
    """The entities and tokens of networks, and the last id of each."""
    return {code: _dump_world(state.worlds[code]) for code in networks}


def _dump_world(world: World) -> dict[str, Any]:
    entities = [
        [
            entity.kind,
            entity.id,
            entity.account,
            entity.parent,
            _encode(entity.data),
            *map(_dump_instant, (entity.created_at, entity.updated_at)),
        ]
        for entity in world._stored_entities.values()
    ]
    tokens = [
        [token.text, token.use, token.grant, list(token.scopes), _dump_instant(token.expires_at)]
        for token in world.tokens.values()
    ]
    return {"lastId": world._last_id, "entities": entities, "tokens": tokens}


def load_worlds(state: Sandbox, worlds: dict[str, Any]) -> None:
    """Bring the networks of a sandbox to the state of a document."""
    for code, content in worlds.items():
        world = state.worlds[code]
        world._last_id = content["lastId"]
        for kind, id_, account, parent, data, created, updated in content["entities"]:
            instants = (datetime.fromisoformat(created), datetime.fromisoformat(updated))
            entity = StoredEntity(kind, id_, account, parent, MappingProxyType(_decode(data)), *instants)
            world._stored_entities[kind, id_] = entity
        for text, use, grant, scopes, expires in content["tokens"]:
            ends = None if expires is None else datetime.fromisoformat(expires)
            world.tokens[text] = Token(text, use, grant, tuple(scopes), ends)


INSTANT = "$instant"
"""The member of an object that stands for an instant in the content of an entity."""


def _encode(value: Any) -> Any:
    if isinstance(value, datetime):
        return {INSTANT: value.isoformat()}
    if isinstance(value, Mapping):
        return {name: _encode(member) for name, member in value.items()}
    return [_encode(member) for member in value] if isinstance(value, list | tuple) else value


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {INSTANT}:
            return datetime.fromisoformat(value[INSTANT])
        return {name: _decode(member) for name, member in value.items()}
    return [_decode(member) for member in value] if isinstance(value, list) else value


def _dump_instant(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
