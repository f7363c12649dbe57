"""Connections to networks: the hosted consent link, the network's callback, credentials, disconnecting."""

from __future__ import annotations

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
from adsunify.adapter.hierarchy import DiscoveredAccount
from adsunify.adapter.oauth import Credentials
from adsunify.encryption import SecretContext, decrypt, encrypt
from adsunify.errors import Forbidden, InvalidInput, Issue, NotFound, ProviderError, VaultError
from adsunify.http.messages import Flow, Request
from adsunify.ledger import LedgerEntry
from adsunify.networks.registry import get_adapter
from adsunify.store import connections, consents, encrypted_secrets, ledger, new_id, people
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord, ConnectionRecord
from adsunify.store.consents import ConsentRecord
from adsunify.values.exact_json import Json

from . import accounts
from .core import Service, format_optional_timestamp, format_timestamp
from .network_session import CREDENTIALS_FIELD, decrypt_credentials, encrypt_credentials
from .tokens import hash_token, make_token

T = TypeVar("T")
VERIFIER_FIELD = "verifier"
"""The encrypted member of a consent's data."""
LINK_MILLISECONDS = 10 * 60 * 1000
"""Links and states work once and expire after ten minutes."""


@frozen
class ConsentInvitation:
    """The purpose of a consent link: it connects accounts of a network to the workspace of this name."""

    workspace: str
    network: str


@frozen
class RedirectToConsent:
    """The address of the network's consent page, and the cookie that ties the callback to this browser."""

    url: str
    state: str
    browser_cookie: str


async def list_connections(service: Service, actor: Actor) -> list[Json]:
    """List the workspace's connections, without their credentials."""
    records = await service.store.read(connections.list_connections, actor)
    return [connection_to_json(record, accounts) for record, accounts in records]


async def create_consent_link(service: Service, actor: Actor, *, network: str) -> Json:
    """Create a link at which a person connects the network's accounts. It works once, for ten minutes.

    Raises Forbidden where the credential's scope does not have all accounts of the network.
    """
    _require_whole_network(actor, network)
    service.get_oauth_client(network)
    token = make_token()
    record = await service.store.write(_create_link, actor, network, hash_token(token), service.store.clock)
    return {"url": f"{service.settings.base_url}/connect/{token}", "expiresAt": format_timestamp(record.expires_at)}


def _create_link(connection: Connection, actor: Actor, network: str, token_hash: str, clock: Clock) -> ConsentRecord:
    data = {"credential": actor.credential, "role": actor.role}
    record = consents.create_token(
        connection, "link", token_hash, actor.workspace_id, actor.user_id, network, data, LINK_MILLISECONDS, clock
    )
    after = {"expiresAt": record.expires_at}
    entry = LedgerEntry(actor.workspace_id, actor, "consent", network, network=network, after=after)
    ledger.record_entry(connection, entry, clock)
    return record


async def read_consent_invitation(service: Service, token: str) -> ConsentInvitation:
    """Return the purpose of a link, without using it up. Raises NotFound and Forbidden as :func:`start_consent`."""
    return await service.store.read(_read_consent_invitation, token, service.store.clock)


def _read_consent_invitation(connection: Connection, token: str, clock: Clock) -> ConsentInvitation:
    link = _require_valid_link(connection, consents.find_token(connection, "link", hash_token(token), clock))
    return ConsentInvitation(people.get_workspace(connection, link.workspace_id).name, link.network)


async def start_consent(service: Service, token: str) -> RedirectToConsent:
    """Use up a link, and return the address of the network's consent page.

    Raises NotFound for a link that is used or expired, Forbidden where its maker is no longer an admin, and
    ProviderError where the network does not begin a consent; then the link is used up too.
    """
    state, cookie, verifier = (make_token() for _ in range(3))
    clock = service.store.clock
    link = await service.store.write(_use_link, token, clock)
    adapter, app, redirect = (
        get_adapter(link.network),
        service.get_oauth_client(link.network),
        consent_redirect_uri(service, link.network),
    )
    if adapter.request_tokens is not None:
        flow = adapter.request_tokens.fetch_request_token(app, redirect, state, clock.wall())
        begun = await _run_network_flow(service, link.network, flow)
        url, state, verifier = begun.url, begun.token, begun.secret
    elif adapter.authorization is not None:
        url = adapter.authorization.build_authorization_url(app, redirect, state, verifier)
    else:
        raise NotFound(f"{adapter.network.title} is connected with credentials, so it has no consent page.")
    sealed_verifier = encrypt(service.ring, verifier_context(hash_token(state), link.workspace_id), verifier)
    await service.store.write(
        consents.create_token,
        "state",
        hash_token(state),
        link.workspace_id,
        link.user_id,
        link.network,
        {**link.data, "cookie": hash_token(cookie), VERIFIER_FIELD: sealed_verifier},
        LINK_MILLISECONDS,
        clock,
    )
    return RedirectToConsent(service.settings.browser_url(url), state, cookie)


def _use_link(connection: Connection, token: str, clock: Clock) -> ConsentRecord:
    return _require_valid_link(connection, consents.use_token(connection, "link", hash_token(token), clock))


def _require_valid_link(connection: Connection, link: ConsentRecord | None) -> ConsentRecord:
    if link is None:
        raise NotFound("This link was already used, has expired, or is not valid. Ask for a new one.")
    _require_admin_maker(connection, link)
    return link


def verifier_context(state_hash: str, workspace_id: str) -> SecretContext:
    """Return the encryption context of the secret of a consent in progress."""
    return SecretContext("consents", state_hash, workspace_id, VERIFIER_FIELD)


def _require_admin_maker(connection: Connection, consent: ConsentRecord) -> None:
    """Raise Forbidden where the maker of the link is no longer an admin."""
    member = people.find_membership(connection, consent.workspace_id, consent.user_id)
    if member is None or member.role != "admin":
        raise Forbidden(
            "The person who created this link is no longer an admin of the workspace.", code="admin_required"
        )


def consent_redirect_uri(service: Service, network: str) -> str:
    """Return the address to which the network sends the browser back."""
    return f"{service.settings.base_url}/connect/callback/{network}"


def read_state(answer: Mapping[str, str]) -> str:
    """Return the state in a network's answer; empty if the answer has no state."""
    return answer.get("state") or answer.get("oauth_token") or answer.get("denied") or ""


async def finish_consent(service: Service, network: str, answer: Mapping[str, str], cookie: str) -> Json:
    """Handle the network's callback: exchange the code, discover the accounts, save them; returns the connection.

    Raises NotFound for a state that is unknown, used, expired or of another browser, Forbidden where its maker is no
    longer an admin, and InvalidInput for a refused consent.
    """
    state_hash = hash_token(read_state(answer))
    state = await service.store.write(_use_state, network, state_hash, hash_token(cookie), service.store.clock)
    await service.store.read(_require_admin_maker, state)
    if "error" in answer or "denied" in answer:  # OAuth 2.0 sends error, OAuth 1.0a of X sends denied
        raise InvalidInput([Issue("error", "consent_refused", "The consent was refused on the network's page.")])
    actor = Actor(state.workspace_id, state.user_id, state.data["credential"], state.data["role"], True, "session")
    verifier = decrypt(service.ring, verifier_context(state.token_hash, state.workspace_id), state.data[VERIFIER_FIELD])
    return await _exchange_credentials(
        service, actor, network, consent_redirect_uri(service, network), answer, verifier
    )


def _use_state(connection: Connection, network: str, state_hash: str, cookie_hash: str, clock: Clock) -> ConsentRecord:
    """Use up the state of a callback. A callback from another browser does not use it up."""
    state = consents.find_token(connection, "state", state_hash, clock)
    is_own = state is not None and state.network == network and state.data["cookie"] == cookie_hash
    used = consents.use_token(connection, "state", state_hash, clock) if is_own else None
    if used is None:
        raise NotFound(
            "This callback belongs to no consent of this browser, or it came too late. Open it in the browser in which"
            " you opened the link, or start with a new link."
        )
    return used


async def connect_with_credentials(service: Service, actor: Actor, *, network: str, **credentials: str | None) -> Json:
    """Connect a network with the credentials that it issues. A password is exchanged once and not stored.

    Raises Forbidden where the credential's scope does not have all accounts of the network, TokenRefused where the
    network refuses the credentials.
    """
    _require_whole_network(actor, network)
    members = {to_camel(name): value for name, value in credentials.items() if value is not None}
    return await _exchange_credentials(service, actor, network, "", members, "")


def _require_whole_network(actor: Actor, network: str) -> None:
    if not actor.can_connect(network):
        raise Forbidden(
            "This credential is bound to other networks or to single accounts, and a connection adds every account "
            "that its login reaches. Use a credential without a scope, or with the whole network.",
            code="outside_scope",
        )


async def _exchange_credentials(
    service: Service, actor: Actor, network: str, redirect: str, answer: Mapping[str, str], verifier: str
) -> Json:
    """Exchange a callback or a person's credentials for tokens, discover the accounts, and save both."""
    adapter = get_adapter(network)
    flow = adapter.credential_flows.fetch_credentials(
        service.get_oauth_client(network), redirect, answer, verifier, service.store.clock.wall()
    )
    credentials = await _run_network_flow(service, network, flow)
    discovered = await _run_network_flow(service, network, adapter.reads.discover_accounts(), credentials)
    return await save_connection(service, actor, network, credentials, discovered)


async def save_connection(
    service: Service, actor: Actor, network: str, credentials: Credentials, discovered: list[DiscoveredAccount]
) -> Json:
    """Save a connection and its accounts. A background task then reads each account's tree once."""
    connection_id = new_id(service.store.clock.wall())
    text = encrypt_credentials(service, actor.workspace_id, connection_id, credentials)
    rows = [
        connections.DiscoveredAccountRow(
            entry.native_id, entry.name, entry.currency, entry.timezone, entry.native_status, dict(entry.extras)
        )
        for entry in discovered
    ]
    saved = await service.store.write(
        connections.save_connection,
        actor,
        connection_id,
        network,
        rows,
        {CREDENTIALS_FIELD: text},
        credentials.expires_at,
        service.store.clock,
    )
    for account in saved:
        service.run_in_background(accounts.sync_first_tree(service, account))
    record = await service.store.read(connections.get_connection, actor, connection_id)
    return connection_to_json(record, saved)


async def disconnect_network(service: Service, actor: Actor, *, connection_id: str) -> Json:
    """Revoke and delete the saved credentials. Accounts stay as ``disconnected``; running campaigns are unchanged.

    Raises Forbidden where the connection also has accounts outside the credential's scope.
    """
    record = await service.store.read(connections.get_whole_connection, actor, connection_id)
    secrets_by_field = await service.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, connection_id)
    if CREDENTIALS_FIELD in secrets_by_field:
        # the token may be invalid, the network unreachable, or the key missing: the credentials are deleted anyway
        with suppress(ProviderError, VaultError, InvalidInput):
            credentials = decrypt_credentials(
                service, actor.workspace_id, connection_id, secrets_by_field[CREDENTIALS_FIELD]
            )
            flow = get_adapter(record.network).credential_flows.revoke_credentials(
                service.get_oauth_client(record.network), credentials
            )
            await _run_network_flow(service, record.network, flow, credentials)
    record = await service.store.write(connections.disconnect, actor, connection_id, service.store.clock)
    return connection_to_json(
        record, await service.store.read(connections.list_accounts_of_connection, actor, connection_id)
    )


async def _run_network_flow(service: Service, network: str, flow: Flow[T], credentials: Credentials | None = None) -> T:
    """Run a flow with credentials that are not saved yet, or without any."""
    adapter = get_adapter(network)

    def sign(request: Request) -> Request:
        if credentials is None or not request.is_signed:
            return request
        now, nonce = service.store.clock.wall(), secrets.token_hex(16)
        return adapter.credential_flows.sign_request(
            request, credentials, service.get_oauth_client(network), now, nonce
        )

    async with service.transport.open_pool() as pool:
        return await run_flow_async(flow, partial(service.send, adapter.network, sign=sign, pool=pool))


def connection_to_json(record: ConnectionRecord, accounts: list[AccountRecord]) -> dict[str, Json]:
    """Return a connection as responses show it."""
    return {
        "connectionId": record.id,
        "network": record.network,
        "status": record.status,
        "accounts": [account.id for account in accounts],
        "expiresAt": format_optional_timestamp(record.expires_at),
        "createdAt": format_timestamp(record.created_at),
    }
