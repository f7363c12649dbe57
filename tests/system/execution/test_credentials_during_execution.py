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
class Connected:
    """A service whose networks take every request and never answer; one account is connected."""

    service: Service
    admin: Actor
    session: NetworkSession
    connection_id: str


async def _silent(connection: Connection) -> None:
    await connection.request()
    await asyncio.sleep(30)


@pytest.fixture
async def connected(tmp_path: Path) -> AsyncIterator[Connected]:
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
        found = [DiscoveredAccountRow("1", "Shop", "USD", "UTC")]
        kept = await store.write(
            connections.save_connection,
            admin,
            id_,
            "google",
            found,
            {sessions.CREDENTIALS_FIELD: text},
            None,
            store.clock,
        )
        yield Connected(service, admin, NetworkSession(service, kept[0]), id_)
        await service.close()


async def test_a_refresh_ends_before_another_process_may_take_it_for_lost(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two refreshes at once use the same refresh token: the network takes the second one for stolen."""
    assert sessions.REFRESH_SECONDS * 1000 < connections.REFRESH_MILLISECONDS
    monkeypatch.setattr(sessions, "REFRESH_SECONDS", 0.3)
    async with asyncio.timeout(5):
        with pytest.raises(ProviderError):
            await connected.session._refresh_uncancellable(Credentials("old", "again", None))
    store = connected.service.store
    assert await store.write(connections.begin_refresh, connected.connection_id, store.clock)


async def test_a_refresh_that_fails_after_a_write_does_not_hide_how_it_ended(connected: Connected) -> None:
    """The write was refused for its token and that is stored; the next execution meets the vault's trouble itself."""
    await connected.session._get_credentials()
    other = evolve(connected.service, ring=make_key_ring())
    text = encrypt_credentials(
        other, connected.admin.workspace_id, connected.connection_id, Credentials("x", "y", None)
    )
    await connected.service.store.write(
        encrypted_secrets.save_secrets,
        connections.SECRETS_TABLE,
        connected.connection_id,
        connected.admin.workspace_id,
        {sessions.CREDENTIALS_FIELD: text},
        connected.service.store.clock,
    )
    assert await connected.session.renew_token(again=False)


async def _demoted(connected: Connected, role: Role | None) -> None:
    store, admin = connected.service.store, connected.admin
    if role is None:
        await store.write(people.remove_membership, admin.workspace_id, admin.user_id, store.clock)
    else:
        await store.write(people.set_membership, admin.workspace_id, admin.user_id, role, store.clock)


@pytest.mark.parametrize("role", ["member", "viewer", None])
async def test_a_link_is_worth_no_more_than_the_authority_of_its_maker(connected: Connected, role: Role | None) -> None:
    """Credentials are connected by an admin: one who is none any more cannot use the link that he made."""
    link = await connecting.create_consent_link(connected.service, connected.admin, network="meta")
    await _demoted(connected, role)
    with pytest.raises(Forbidden):
        await connecting.start_consent(connected.service, link["url"].rpartition("/")[2])


async def test_an_answer_of_a_network_is_worth_no_more_either(connected: Connected) -> None:
    link = await connecting.create_consent_link(connected.service, connected.admin, network="meta")
    going = await connecting.start_consent(connected.service, link["url"].rpartition("/")[2])
    await _demoted(connected, "member")
    (state,) = parse_qs(urlsplit(going.url).query)["state"]
    with pytest.raises(Forbidden):
        await connecting.finish_consent(connected.service, "meta", {"state": state, "code": "c"}, going.browser_cookie)
