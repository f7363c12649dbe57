"""What becomes of an account's credentials while an execution goes on, and who may connect them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve, frozen

from adsunify.actor import Actor, Role
from adsunify.adapter.oauth import Credentials
from adsunify.encryption import make_key_ring
from adsunify.errors import Forbidden, ProviderError
from adsunify.service import connections as connecting
from adsunify.service import network_session as sessions
from adsunify.service.core import Service
from adsunify.service.factory import open_service
from adsunify.service.network_session import NetworkSession, encrypt_credentials
from adsunify.store import connections, encrypted_secrets, people
from adsunify.store.connections import DiscoveredAccountRow
from tests.unit.http.server import Connection, serve_script


@frozen
class SilentService:
    """A service whose networks take every request and never answer; one account is connected."""

    service: Service
    admin: Actor
    session: NetworkSession
    connection_id: str


async def _silent(connection: Connection) -> None:
    await connection.request()
    await asyncio.sleep(30)


@pytest.fixture
async def silent_service(tmp_path: Path) -> AsyncIterator[SilentService]:
    async with serve_script(_silent) as server:
        opened = await open_service(f"sqlite:///{tmp_path / 'store.db'}", {}, sandbox_url=server.url)
        service = opened.service
        store = service.store
        shop = await store.write(people.ensure_workspace, "shop", store.clock)
        person = await store.write(people.ensure_user, "admin@shop.example", store.clock)
        await store.write(people.set_membership, shop.id, person.id, "admin", store.clock)
        admin = Actor(shop.id, person.id, "session", "admin", True, "session")
        id_ = "connection"
        text = encrypt_credentials(service, shop.id, id_, Credentials("old", "again", None))
        accounts = [DiscoveredAccountRow("1", "Shop", "USD", "UTC")]
        stored_accounts = await store.write(
            connections.save_connection,
            admin,
            id_,
            "google",
            accounts,
            {sessions.CREDENTIALS_FIELD: text},
            None,
            store.clock,
        )
        yield SilentService(service, admin, NetworkSession(service, stored_accounts[0]), id_)
        await service.close()


async def test_a_refresh_ends_before_another_process_may_take_it_for_lost(
    silent_service: SilentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two refreshes at once use the same refresh token: the network takes the second one for stolen."""
    assert sessions.REFRESH_SECONDS * 1000 < connections.REFRESH_MILLISECONDS
    monkeypatch.setattr(sessions, "REFRESH_SECONDS", 0.3)
    async with asyncio.timeout(5):
        with pytest.raises(ProviderError):
            await silent_service.session._refresh_uncancellable(Credentials("old", "again", None))
    store = silent_service.service.store
    assert await store.write(connections.begin_refresh, silent_service.connection_id, store.clock)


async def test_a_refresh_that_fails_after_a_write_does_not_hide_how_it_ended(silent_service: SilentService) -> None:
    """The write was refused for its token and that is stored; the next execution meets the vault's trouble itself."""
    await silent_service.session._get_credentials()
    other = evolve(silent_service.service, ring=make_key_ring())
    text = encrypt_credentials(
        other, silent_service.admin.workspace_id, silent_service.connection_id, Credentials("x", "y", None)
    )
    await silent_service.service.store.write(
        encrypted_secrets.save_secrets,
        connections.SECRETS_TABLE,
        silent_service.connection_id,
        silent_service.admin.workspace_id,
        {sessions.CREDENTIALS_FIELD: text},
        silent_service.service.store.clock,
    )
    assert await silent_service.session.renew_token(again=False)


async def _demote(silent_service: SilentService, role: Role | None) -> None:
    store, admin = silent_service.service.store, silent_service.admin
    if role is None:
        await store.write(people.remove_membership, admin.workspace_id, admin.user_id, store.clock)
    else:
        await store.write(people.set_membership, admin.workspace_id, admin.user_id, role, store.clock)


@pytest.mark.parametrize("role", ["member", "viewer", None])
async def test_a_link_is_worth_no_more_than_the_authority_of_its_maker(
    silent_service: SilentService, role: Role | None
) -> None:
    """Only an admin connects credentials. A person who is no longer an admin cannot use the link that they made."""
    link = await connecting.create_consent_link(silent_service.service, silent_service.admin, network="meta")
    await _demote(silent_service, role)
    with pytest.raises(Forbidden):
        await connecting.start_consent(silent_service.service, link["url"].rpartition("/")[2])


async def test_an_answer_of_a_network_is_worth_no_more_either(silent_service: SilentService) -> None:
    link = await connecting.create_consent_link(silent_service.service, silent_service.admin, network="meta")
    going = await connecting.start_consent(silent_service.service, link["url"].rpartition("/")[2])
    await _demote(silent_service, "member")
    (state,) = parse_qs(urlsplit(going.url).query)["state"]
    with pytest.raises(Forbidden):
        await connecting.finish_consent(
            silent_service.service, "meta", {"state": state, "code": "c"}, going.browser_cookie
        )
