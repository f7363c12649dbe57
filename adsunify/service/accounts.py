"""Ad accounts, and the reads of their hierarchy and catalogs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.hierarchy import EntityTree, ListQuery, ParsedEntity
from adsunify.adapter.network import Extra
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    Issue,
)
from adsunify.execution.status_updates import read_entity_statuses
from adsunify.networks.registry import get_adapter
from adsunify.store import Store, connections, entities
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.values.exact_json import Json

from . import cursors
from .core import Service, UseCaseResult, format_timestamp
from .network_session import NetworkSession
from .reporting.accounts import resume_report
from .reporting.jobs import record_account_event

FIRST_SYNC_TRIES = 3
MAX_EXTRA_LENGTH = 250


async def list_accounts(service: Service, actor: Actor, *, network: str | None) -> list[Json]:
    """List the workspace's ad accounts, or those on one network."""
    return [account_to_json(account) for account in await service.store.read(connections.list_accounts, actor, network)]


async def list_all_accounts(store: Store) -> list[Json]:
    """Return the accounts of all workspaces of a store."""
    return [account_to_json(account) for account in await store.read(connections.list_all_accounts)]


async def get_account(service: Service, actor: Actor, *, account_id: str) -> Json:
    """Return one ad account."""
    return account_to_json(await service.store.read(connections.get_account, actor, account_id))


def account_to_json(account: AccountRecord) -> dict[str, Json]:
    """Return an account as responses show it."""
    return {
        "accountId": account.id,
        "network": account.network,
        "nativeId": account.native_id,
        "name": account.name,
        "currency": account.currency,
        "timezone": account.timezone,
        "status": account.status,
        "nativeStatus": account.native_status,
        "connectionId": None if account.status == "disconnected" else account.connection_id,
        "extras": {name: str(value) for name, value in account.extras.items()},
    }


async def set_account_extras(store: Store, account_id: str, extras: Mapping[str, str | None]) -> Json:
    """Set extras of an account by hand. None restores the value that the network reported on connecting.

    Raises NotFound; InvalidInput for extras that the network does not declare or that cannot be set.
    """
    account = await store.read(connections.get_any_account, account_id)
    declared = get_adapter(account.network).network.extras
    issues = [
        issue for name, value in extras.items() for issue in _find_extra_issues(declared, account.network, name, value)
    ]
    if issues:
        raise InvalidInput(issues)
    return account_to_json(await store.write(connections.set_extras, account_id, extras, store.clock))


def _find_extra_issues(declared: Sequence[Extra], network: str, name: str, value: str | None) -> Iterator[Issue]:
    settable = {extra.name: extra for extra in declared if extra.is_settable}
    if name not in settable:
        refusal = (
            "is read from the network and cannot be set" if name in {known.name for known in declared} else "is unknown"
        )
        accepted = f"accepts {', '.join(settable)}" if settable else "has no extra that can be set"
        yield Issue(name, "unknown_extra", f"{refusal}; an account of {network} {accepted}.")
    elif value is not None and settable[name].choices and value not in settable[name].choices:
        yield Issue(name, "not_a_choice", f"must be one of {', '.join(settable[name].choices)}.")
    elif value is not None and len(value) > MAX_EXTRA_LENGTH:
        yield Issue(name, "length", f"has at most {MAX_EXTRA_LENGTH} characters.")


# -- tree ---------------------------------------------------------------------------------------------------------


async def read_account_tree(service: Service, actor: Actor, *, account_id: str) -> Json:
    """Read the native hierarchy as a flat list, parents first, with levels and parent keys."""
    session = await NetworkSession.load(service, actor, account_id)
    tree = await _read_tree(service, session)
    network = session.adapter.network
    return {
        "accountId": account_id,
        "network": network.code,
        "levels": [
            {"kind": level.kind, "native": level.native, "parentKey": level.parent.removeprefix("/") or None}
            for level in network.levels
        ],
        "nodes": [node.to_json() for node in tree.nodes],
        "truncated": tree.is_truncated,
        "readAt": format_timestamp(service.store.clock.now()),
    }


async def _read_tree(service: Service, session: NetworkSession) -> EntityTree:
    tree = await session.run_flow(session.adapter.reads.fetch_tree(session.native_account))
    await service.store.write(_record_tree, session.account.id, tree.nodes, service.store.clock)
    return tree


def _record_tree(connection: Connection, account_id: str, nodes: Sequence[ParsedEntity], clock: Clock) -> None:
    entities.record_statuses(connection, account_id, read_entity_statuses(nodes), clock.now())
    connections.mark_first_synced(connection, account_id, clock)


async def sync_first_tree(service: Service, account: AccountRecord) -> None:
    """Read the tree of a new account, in up to three attempts. If all fail, ``sync.failed`` is recorded.

    A disconnection or a new connection of the account during the reads is not a failure.
    """
    for attempt in range(FIRST_SYNC_TRIES):
        try:
            await _read_tree(service, NetworkSession(service, account))
            return
        except AdsunifyError:
            current = await service.store.read(connections.get_any_account, account.id)
            if current.status == "disconnected" or current.connection_id != account.connection_id:
                return
            if attempt < FIRST_SYNC_TRIES - 1:
                await asyncio.sleep(2**attempt)
    await service.store.write(record_account_event, "sync.failed", account, service.store.clock, {"what": "tree"})


# -- catalogs -----------------------------------------------------------------------------------------------------


async def read_account_catalog(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    resource: str,
    search: str | None,
    cursor: str | None,
    limit: int,
) -> UseCaseResult:
    """List a catalog of the network. ``report:<job>`` resumes a report and returns a response of insights."""
    session = await NetworkSession.load(service, actor, account_id)
    name, _, suffix = resource.partition(":")
    if name == "report" and suffix:
        return UseCaseResult(await resume_report(service, session, suffix))
    query_key = {"resource": resource, "search": search, "limit": limit}
    position = cursors.decode_cursor(service.ring, account_id, query_key, cursor)
    query = ListQuery(limit=limit, cursor=position.native_cursor, search=search)
    page = await session.run_flow(session.adapter.reads.fetch_catalog_page(session.native_account, resource, query))
    rows, following = cursors.page_slice(page.rows, page.cursor, position, limit)
    return UseCaseResult(
        [row.to_json() for row in rows], cursors.encode_cursor(service.ring, account_id, query_key, following)
    )
