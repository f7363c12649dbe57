"""Connecting accounts: a hosted consent link, the network's answer to it, and disconnecting."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TypeVar

from attrs import frozen
from pydantic.alias_generators import to_camel
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.flows import run_flow_async
from adsunify.adapter.hierarchy import FoundAccount
from adsunify.adapter.oauth import Credentials
from adsunify.encryption import Place, open_, seal
from adsunify.errors import Forbidden, InvalidInput, Issue, NotFound, ProviderError, VaultError
from adsunify.http.messages import Flow, Request
from adsunify.networks import adapter
from adsunify.store import connections, consents, new_id, people, sealed
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord, ConnectionRecord
from adsunify.store.consents import ConsentRecord
from adsunify.values.exact_json import Json

from . import accounts
from .access import hashed
from .core import Service, moment, moment_or_none
from .session import FIELD, opened, sealed_credentials

T = TypeVar("T")
VERIFIER = "verifier"
"""The member of a consent's data that is sealed."""
LINK_MILLISECONDS = 10 * 60 * 1000
"""Links and states are single-use and live for ten minutes."""


@frozen
class Invitation:
    """What a link asks a person for: to connect accounts of a network to the workspace of this name."""

    workspace: str
    network: str


@frozen
class Going:
    """Where the browser goes next, and the cookie that ties the network's answer to it; ``state`` comes with both."""

    url: str
    state: str
    cookie: str


async def list_(service: Service, actor: Actor) -> list[Json]:
    """The workspace's connections, without their credentials."""
    found = await service.store.read(_all, actor.workspace_id)
    return [shown(one, through) for one, through in found]


def _all(connection: Connection, workspace_id: str) -> list[tuple[ConnectionRecord, list[AccountRecord]]]:
    every = connections.list_accounts(connection, workspace_id)
    return [
        (one, [account for account in every if account.connection_id == one.id])
        for one in connections.list_connections(connection, workspace_id)
    ]


async def authorize(service: Service, actor: Actor, *, network: str) -> Json:
    """Make a single-use, short-lived link at which a person connects the network's accounts."""
    service.app(network)
    token = secrets.token_urlsafe(32)
    kept = await service.store.write(
        consents.create,
        "link",
        hashed(token),
        actor.workspace_id,
        actor.user_id,
        network,
        {"credential": actor.credential, "role": actor.role},
        LINK_MILLISECONDS,
        service.store.clock,
    )
    return {"url": f"{service.settings.base_url}/connect/{token}", "expiresAt": moment(kept.expires_at)}


async def invitation(service: Service, token: str) -> Invitation:
    """What a link is for; looking at it does not use it up. Raises NotFound, Forbidden as :func:`begin`."""
    return await service.store.read(_invitation, token, service.store.clock)


def _invitation(connection: Connection, token: str, clock: Clock) -> Invitation:
    link = _valid(connection, consents.find(connection, "link", hashed(token), clock))
    return Invitation(people.workspace(connection, link.workspace_id).name, link.network)


async def begin(service: Service, token: str) -> Going:
    """Use a link up: the address of the network's consent page; raises NotFound for one that is used up or over.

    Raises ProviderError where the network does not begin a consent; the link is used up then, too.
    """
    state, cookie, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    clock = service.store.clock
    link = await service.store.write(_use_link, token, clock)
    reads, app, redirect = adapter(link.network).reads, service.app(link.network), redirect_uri(service, link.network)
    if adapter(link.network).network.login.kind == "oauth1":
        begun = await _run(service, link.network, reads.request_token(app, redirect, state, clock.wall()))
        url, state, verifier = begun.url, begun.token, begun.secret
    else:
        url = reads.authorize_url(app, redirect, state, verifier)
    sealed_verifier = seal(service.ring, verifier_place(hashed(state), link.workspace_id), verifier)
    await service.store.write(
        consents.create,
        "state",
        hashed(state),
        link.workspace_id,
        link.user_id,
        link.network,
        {**link.data, "cookie": hashed(cookie), VERIFIER: sealed_verifier},
        LINK_MILLISECONDS,
        clock,
    )
    return Going(service.settings.address(url), state, cookie)


def _use_link(connection: Connection, token: str, clock: Clock) -> ConsentRecord:
    return _valid(connection, consents.use(connection, "link", hashed(token), clock))


def _valid(connection: Connection, link: ConsentRecord | None) -> ConsentRecord:
    if link is None:
        raise NotFound("This link was used already, is over, or never was one. Ask for a new one.")
    _by_admin(connection, link)
    return link


def verifier_place(state_hash: str, workspace_id: str) -> Place:
    """Where the secret of a consent under way belongs."""
    return Place("consents", state_hash, workspace_id, VERIFIER)


def _by_admin(connection: Connection, consent: ConsentRecord) -> None:
    """Raise Forbidden where whoever made the link is no admin any more."""
    member = people.membership(connection, consent.workspace_id, consent.user_id)
    if member is None or member.role != "admin":
        raise Forbidden("Whoever made this link is no admin of its workspace any more.", code="admin_required")


def redirect_uri(service: Service, network: str) -> str:
    """Where the network sends the browser back to."""
    return f"{service.settings.base_url}/connect/callback/{network}"


def state_of(answer: Mapping[str, str]) -> str:
    """The state that a network's answer names; empty where it names none."""
    return answer.get("state") or answer.get("oauth_token") or answer.get("denied") or ""


async def finish(service: Service, network: str, answer: Mapping[str, str], cookie: str) -> Json:
    """Take the network's answer: exchange the code, find the accounts, keep them; returns the connection.

    Raises NotFound for a state that is unknown, used or over, Forbidden where its maker is no admin any more,
    InvalidInput for a refused consent.
    """
    state = await service.store.write(consents.use, "state", hashed(state_of(answer)), service.store.clock)
    if state is None or state.network != network or hashed(cookie) != state.data["cookie"]:
        raise NotFound("This answer belongs to no consent that was begun in this browser, or it came too late.")
    await service.store.read(_by_admin, state)
    if "error" in answer or "denied" in answer:  # OAuth 2.0 says error, OAuth 1.0a of X says denied
        raise InvalidInput([Issue("error", "consent_refused", "The consent was refused at the network.")])
    actor = Actor(state.workspace_id, state.user_id, state.data["credential"], state.data["role"], True, "session")
    verifier = open_(service.ring, verifier_place(state.token_hash, state.workspace_id), state.data[VERIFIER])
    return await _exchanged(service, actor, network, redirect_uri(service, network), answer, verifier)


async def connect(service: Service, actor: Actor, *, network: str, **credentials: str | None) -> Json:
    """Connect a network with credentials of its own; a password is exchanged once and not kept.

    Raises TokenRefused where the network does not take them.
    """
    given = {to_camel(name): value for name, value in credentials.items() if value is not None}
    return await _exchanged(service, actor, network, "", given, "")


async def _exchanged(
    service: Service, actor: Actor, network: str, redirect: str, answer: Mapping[str, str], verifier: str
) -> Json:
    """Exchange what the network or a person gave for credentials, find the accounts, and keep both."""
    reads = adapter(network).reads
    flow = reads.exchange(service.app(network), redirect, answer, verifier, service.store.clock.wall())
    credentials = await _run(service, network, flow)
    found = await _run(service, network, reads.accounts(), credentials)
    return await keep(service, actor, network, credentials, found)


async def keep(
    service: Service, actor: Actor, network: str, credentials: Credentials, found: list[FoundAccount]
) -> Json:
    """Keep a connection and every account found through it; then each account's tree is read once."""
    connection_id = new_id(service.store.clock.wall())
    text = sealed_credentials(service, actor.workspace_id, connection_id, credentials)
    rows = [
        connections.FoundAccount(
            one.native_id, one.name, one.currency, one.timezone, one.native_status, dict(one.extras)
        )
        for one in found
    ]
    kept = await service.store.write(
        connections.connect,
        actor,
        connection_id,
        network,
        rows,
        {FIELD: text},
        credentials.expires_at,
        service.store.clock,
    )
    for account in kept:
        task = asyncio.create_task(accounts.first_sync(service, account))
        service.background.add(task)
        task.add_done_callback(service.background.discard)
    record = await service.store.read(connections.get_connection, actor.workspace_id, connection_id)
    return shown(record, kept)


async def disconnect(service: Service, actor: Actor, *, connection_id: str) -> Json:
    """Revoke and forget the saved credentials; accounts stay as disconnected, running campaigns are unchanged."""
    record = await service.store.read(connections.get_connection, actor.workspace_id, connection_id)
    found = await service.store.read(sealed.get, connections.SECRETS, connection_id)
    if FIELD in found:
        # dead already, out of reach, or not to be opened any more: here they are forgotten in any case
        with suppress(ProviderError, VaultError, InvalidInput):
            credentials = opened(service, actor.workspace_id, connection_id, found[FIELD])
            flow = adapter(record.network).reads.revoke(service.app(record.network), credentials)
            await _run(service, record.network, flow, credentials)
    record = await service.store.write(connections.disconnect, actor.workspace_id, connection_id, service.store.clock)
    return shown(record, await service.store.read(connections.accounts_through, actor.workspace_id, connection_id))


async def _run(service: Service, network: str, flow: Flow[T], credentials: Credentials | None = None) -> T:
    """Run a flow with credentials that are not kept yet, or none."""
    one = adapter(network)

    def sign(request: Request) -> Request:
        if credentials is None or not request.signed:
            return request
        now, nonce = service.store.clock.wall(), secrets.token_hex(16)
        return one.reads.sign(request, credentials, service.app(network), now, nonce)

    async with service.transport.pool() as pool:
        return await run_flow_async(flow, partial(service.send, one.network, sign=sign, pool=pool))


def shown(record: ConnectionRecord, through: list[AccountRecord]) -> dict[str, Json]:
    """A connection as the answers show it."""
    return {
        "connectionId": record.id,
        "network": record.network,
        "status": record.status,
        "accounts": [account.id for account in through],
        "expiresAt": moment_or_none(record.expires_at),
        "createdAt": moment(record.created_at),
    }
