"""Reads the entities of an account with the fields that a file may name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from adsunify.actor import Actor
from adsunify.adapter import flows
from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ParsedEntity, is_valid_id
from adsunify.adapter.network import REMOVED_STATUSES, Network, Setting, get_level
from adsunify.adapter.settings import get_display_value, list_settings
from adsunify.errors import InvalidInput, ProviderNotFound
from adsunify.guardrails.payloads import list_status_fields
from adsunify.http.messages import Flow
from adsunify.launches.drift import STATUS_FIELD
from adsunify.outcomes.search import fetch_complete_list
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import MISSING, get_value

CONCURRENT_READS = 8
"""How many reads of one account are under way at the same time."""
SETTABLE_STATUSES = ("active", "paused")
Place = tuple[Kind, str]
"""The kind and the id of an entity."""


async def list_account_entities(service: Service, actor: Actor, *, account_id: str) -> Json:
    """List all campaigns, ad groups and ads of an account with their fields and statuses, as a file names them.

    Deleted and archived entities are left out, and fields that are not set or that no edit changes.
    """
    session = await NetworkSession.load(service, actor, account_id)
    network, account = session.adapter.network, session.native_account
    kinds = [kind for kind in ENTITY_KINDS if any(level.kind == kind for level in network.levels)]
    lists = (
        session.run_flow(fetch_complete_list(session.adapter.reads, account, get_level(network, kind), None))
        for kind in kinds
    )
    places: list[Place] = [
        (kind, entity.id)
        for kind, whole in zip(kinds, await asyncio.gather(*lists), strict=True)
        for entity in whole.entities
        if entity.status not in REMOVED_STATUSES
    ]
    entities = await read_editable_entities(session, places)
    return [
        {"accountId": account_id, "kind": kind, "id": entity_id, **_list_wanted_fields(network, account, kind, entity)}
        for (kind, entity_id), entity in entities.items()
        if entity is not None
    ]


async def read_editable_entities(session: NetworkSession, places: Sequence[Place]) -> dict[Place, ParsedEntity | None]:
    """Read entities with all their settings; None for those that the account does not have any more.

    At most :data:`CONCURRENT_READS` requests are under way.
    """
    parts = [places[start::CONCURRENT_READS] for start in range(min(CONCURRENT_READS, len(places)))]
    read = await asyncio.gather(
        *(session.run_flow(flows.memoize_reads(_fetch_entities(session, part))) for part in parts)
    )
    entities = {place: entity for part in read for place, entity in part.items()}
    return {place: entities[place] for place in places}


def _fetch_entities(session: NetworkSession, places: Sequence[Place]) -> Flow[dict[Place, ParsedEntity | None]]:
    entities: dict[Place, ParsedEntity | None] = {}
    for kind, entity_id in places:
        entity = None
        if is_valid_id(session.adapter.network, kind, entity_id):
            try:
                entity = yield from session.adapter.reads.fetch_editable_entity(session.native_account, kind, entity_id)
            except ProviderNotFound:
                entity = None
        is_gone = entity is not None and entity.status in REMOVED_STATUSES
        entities[kind, entity_id] = None if is_gone else entity
    return entities


def list_document_settings(network: Network, kind: Kind) -> list[Setting]:
    """Return the SETTINGS rows that a file can name. A file names the status in unified terms."""
    statuses = list_status_fields(get_level(network, kind), network.settings)
    return [setting for setting in list_settings(network, kind) if setting.field not in statuses]


def is_shown(setting: Setting, entity: ParsedEntity) -> bool:
    """Whether a read shows a field. Networks leave out unset amounts and times, and hidden texts."""
    if setting.unit not in ("text", "choice", "list") or not isinstance(setting.native, str) or setting.read:
        return True
    return get_value(entity.native, setting.native, MISSING) is not MISSING


def read_fields(network: Network, account: Account, kind: Kind, entity: ParsedEntity) -> dict[str, Json]:
    """Return field -> the value of every field that a file can name. Fields that cannot be shown are left out."""
    fields: dict[str, Any] = {}
    for setting in list_document_settings(network, kind):
        try:
            fields[setting.field] = get_display_value(network, account, setting, entity.native)
        except InvalidInput:  # the account's currency or time zone is not known
            continue
    return {**fields, STATUS_FIELD: entity.status}


def _list_wanted_fields(network: Network, account: Account, kind: Kind, entity: ParsedEntity) -> Mapping[str, Json]:
    """Return the fields of an entity that a file can name: those that are set and can be edited."""
    editable = {setting.field for setting in list_document_settings(network, kind) if not isinstance(setting.lock, str)}
    values = read_fields(network, account, kind, entity)
    fields = {
        name: value
        for name, value in values.items()
        if name in editable and name != STATUS_FIELD and value not in (None, "", [])
    }
    status = {STATUS_FIELD: entity.status} if entity.status in SETTABLE_STATUSES else {}
    return fields | status
