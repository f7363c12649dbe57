"""Upkeep of a store: people and what they hold, rules of workspaces, extras of accounts, keys."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, insert

from adsunify import encryption
from adsunify.actor import Actor
from adsunify.errors import InvalidInput
from adsunify.service import users as upkeep
from adsunify.service.users import is_password_correct
from adsunify.store import Clock, Store, agents, events, keys, migrate, open_store, people, sessions
from adsunify.store import clock as clock_module
from adsunify.store.schema import oauth_clients

from .conftest import Place
from .running import BRIEF, run
from .test_daily import KEY, NEVER

SHOP = ("--workspace", "shop")


@pytest.fixture
def shop(place: Callable[[str], Place], tmp_path: Path) -> Place:
    """A store with a workspace and its admin."""
    shop_store = place(tmp_path.name)
    assert shop_store.ads("admin", "init", *SHOP, "--email", "ada@shop.example", "--json").data
    return shop_store


def use_store(shop: Place, work: Callable[[Store], Any]) -> Any:
    async def run() -> Any:
        store = await open_store(shop.environment["ADSUNIFY_DATABASE_URL"])
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def change_user(shop: Place, action: str, email: str, *more: str, **environment: str) -> Any:
    return shop.ads("admin", "user", action, *SHOP, "--email", email, "--json", *more, **environment)


def test_times_ahead_of_the_clock_are_shown_and_repaired(shop: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    far = Clock().now() + 400 * 24 * 60 * 60 * 1000 + 60_000
    monkeypatch.setattr(clock_module, "_last_id", clock_module._last_id)  # ids made afterwards must not follow these

    def add_future_event(connection: Connection) -> None:
        home = people.list_workspaces(connection)[0].id
        events.record_events(connection, [events.make_event_row("account.connected", home, far, status="active")])

    assert shop.ads("admin", "clock", "--json").data["ahead"] == []
    use_store(shop, lambda store: store.write(add_future_event))
    refused = shop.ads("accounts")
    assert refused.code != 0 and "400 days ahead" in refused.err and "adsunify admin clock" in refused.err
    clock_report = shop.ads("admin", "clock")
    assert clock_report.code == 1 and "events.created_at: 1 ahead" in clock_report.out
    assert shop.ads("admin", "clock", "--repair").code == 0
    assert shop.ads("accounts").code == 0
    assert shop.ads("admin", "clock").code == 0


def test_a_member_changes_his_role(shop: Place) -> None:
    member = change_user(shop, "add", "bob@shop.example").data
    assert set(member) == {"workspaceId", "userId", "email", "password", "apiKey"}
    changed = change_user(shop, "role", "BOB@shop.example", "--role", "admin").data
    assert changed == {name: member[name] for name in ("workspaceId", "userId", "email")} | {"role": "admin"}
    membership = use_store(
        shop, lambda store: store.read(people.find_membership, member["workspaceId"], member["userId"])
    )
    assert membership.role == "admin"
    assert change_user(shop, "role", "ada@shop.example", "--role", "viewer").data["role"] == "viewer"


def test_the_last_admin_stays(shop: Place) -> None:
    change_user(shop, "add", "bob@shop.example")
    for action in (("remove",), ("role", "--role", "member"), ("add", "--role", "viewer"), ("add",)):
        ran = change_user(shop, action[0], "ada@shop.example", *action[1:])
        assert ran.code == 2 and "last admin" in ran.err, action
    assert change_user(shop, "role", "ada@shop.example", "--role", "admin").code == 0


def _actor(workspace_id: str, user_id: str) -> Actor:
    return Actor(workspace_id, user_id, "session", "admin", True, "session")


async def _add_sessions_and_grants(store: Store, workspace_id: str, user_id: str) -> None:
    """Sessions in both workspaces, and a grant in each."""

    def add_rows(connection: Connection) -> None:
        clock = store.clock
        other = people.ensure_workspace(connection, "other", clock)
        people.set_membership(connection, other.id, user_id, "member", clock)
        members = {"name": "Agent", "redirect_uris": [], "created_at": clock.now()}
        connection.execute(insert(oauth_clients), [{"id": client, **members} for client in ("client", "client2")])
        for home, client in ((workspace_id, "client"), (other.id, "client2")):
            sessions.create_session(connection, f"session {client}", user_id, home, 10**9, clock)
            agents.create_grant(connection, home, user_id, client, True, "resource", 10**9, clock)

    await store.write(add_rows)


def test_who_is_removed_holds_nothing_any_more(shop: Place) -> None:
    member = change_user(shop, "add", "bob@shop.example").data
    home, bob = member["workspaceId"], member["userId"]
    use_store(shop, lambda store: _add_sessions_and_grants(store, home, bob))
    assert change_user(shop, "remove", "bob@shop.example").data["removed"] is True

    async def check_rows(store: Store) -> None:
        (key,) = [row for row in await store.read(keys.list_keys, _actor(home, bob)) if row.user_id == bob]
        assert key.revoked_at is not None
        assert await store.read(agents.list_grants, _actor(home, bob), store.clock) == []
        other = (await store.read(people.get_workspace_by_name, "other")).id
        assert len(await store.read(agents.list_grants, _actor(other, bob), store.clock)) == 1
        session = await store.read(sessions.find_session, "session client", store.clock)
        assert (
            session is not None
            and session.workspace_id is None
            and [membership.name for membership in session.memberships] == ["other"]
        )

    use_store(shop, check_rows)
    assert change_user(shop, "remove", "bob@shop.example").code == 1
    change_user(shop, "add", "bob@shop.example")  # back again: the old key stays dead

    async def check_new_key(store: Store) -> None:
        assert await store.read(agents.list_grants, _actor(home, bob), store.clock) == []
        revoked = [row.revoked_at for row in await store.read(keys.list_keys, _actor(home, bob)) if row.user_id == bob]
        assert len(revoked) == 2 and revoked[0] is not None and revoked[1] is None

    use_store(shop, check_new_key)
    shop.ads("admin", "user", "remove", "--workspace", "other", "--email", "bob@shop.example")
    change_user(shop, "remove", "bob@shop.example")

    async def check_no_session(store: Store) -> None:
        for client in ("client", "client2"):
            assert await store.read(sessions.find_session, f"session {client}", store.clock) is None

    use_store(shop, check_no_session)


def test_a_new_password_ends_sessions(shop: Place) -> None:
    member = change_user(shop, "add", "bob@shop.example").data
    use_store(shop, lambda store: _add_sessions_and_grants(store, member["workspaceId"], member["userId"]))
    fresh = change_user(shop, "password", "bob@shop.example").data["password"]
    chosen = change_user(shop, "password", "bob@shop.example", ADSUNIFY_PASSWORD="correct horse").data["password"]
    assert (chosen, fresh == member["password"]) == ("correct horse", False)

    async def check_rows(store: Store) -> None:
        assert is_password_correct(
            "correct horse", (await store.read(people.get_user, member["userId"])).password_hash or ""
        )
        assert await store.read(sessions.find_session, "session client", store.clock) is None

    use_store(shop, check_rows)
    assert change_user(shop, "password", "bob@shop.example", ADSUNIFY_PASSWORD="short").code == 2
    assert change_user(shop, "password", "nobody@shop.example").code == 1
    assert change_user(shop, "role", "bob@shop.example").code == 2


def test_a_password_on_standard_input(shop: Place) -> None:
    ran = shop.ads(
        "admin", "user", "password", *SHOP, "--email", "ada@shop.example", "--password", "-", stdin=b"horse battery\n"
    )
    assert ran.code == 0 and "horse battery" in ran.out


def test_approval(shop: Place) -> None:
    assert shop.ads("admin", "workspace", "--json").data["requireApproval"] is False
    assert shop.ads("admin", "workspace", "--require-approval", "--json").data["requireApproval"] is True
    assert shop.ads("admin", "workspace", "--json").data["requireApproval"] is True
    assert shop.ads("admin", "workspace", *SHOP, "--no-require-approval", "--json").data["requireApproval"] is False
    shop.ads("admin", "init", "--workspace", "bakery", "--email", "bob@bakery.example")
    ran = shop.ads("admin", "workspace", "--require-approval")
    assert ran.code == 2 and "bakery, shop" in ran.err
    assert shop.ads("admin", "workspace", "--workspace", "butcher").code == 2


def test_extras_of_an_account(shop: Place) -> None:
    (account,) = shop.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    ran = shop.ads("admin", "account", account, "region=EU")
    assert ran.code == 2 and "no extra that can be set" in ran.err
    assert shop.ads("admin", "account", NEVER, "region=EU").code == 1
    for wrong in ((), ("region",), ("a=1", "a=2")):
        assert shop.ads("admin", "account", account, *wrong).code == 2


def test_extras_that_the_network_declares(networks: Any, api_server: Any, place: Callable[[str], Place]) -> None:
    """Over the store of a server that is running."""
    account = next(row["accountId"] for row in api_server["accounts"] if row["network"] == "tiktok")
    remote = Place("server", {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]})
    store = Place("store", {"ADSUNIFY_DATABASE_URL": f"sqlite:///{api_server['folder']}/served.db"})

    def read_extras() -> Any:
        return next(row for row in remote.ads("accounts", "--json").data if row["accountId"] == account)["extras"]

    before = read_extras()
    changed = store.ads("admin", "account", account, "createFlow=smart_plus", "--json")
    if changed.code:
        assert "must be one of" in changed.err
    for wrong, words in (
        ("createFlow=nonsense", "must be one of auto"),
        ("ownerBcId=1", "cannot be set"),
        ("flow=auto", "accepts createFlow"),
    ):
        ran = store.ads("admin", "account", account, wrong)
        assert ran.code == 2 and words in ran.err
    assert store.ads("admin", "account", account, "createFlow=auto", "--json").data["extras"]["createFlow"] == "auto"
    assert read_extras()["createFlow"] == "auto", "the server knows at once"
    assert store.ads("admin", "account", account, "--unset", "createFlow", "--json").data["extras"] == before


async def test_two_admins_cannot_remove_each_other(tmp_path: Path, postgresql_server: str) -> None:
    from tests.postgres import execute

    await execute(postgresql_server, "CREATE DATABASE two_admins")
    for url in (f"sqlite:///{tmp_path / 'two.db'}", postgresql_server.format(name="two_admins")):
        store = await open_store(url)
        for turn in range(8):
            shop = f"shop {turn}"
            workspaces = await asyncio.gather(
                *(upkeep.create_workspace(store, shop, f"{name}@shop.example", None) for name in ("ada", "eve")),
                return_exceptions=True,
            )
            (first,) = [
                workspace["email"] for workspace in workspaces if isinstance(workspace, dict)
            ]  # the other is refused
            await upkeep.add_member(store, shop, "bob@shop.example", "admin", None)
            done = await asyncio.gather(
                *(upkeep.remove_member(store, shop, str(email)) for email in (first, "bob@shop.example")),
                return_exceptions=True,
            )
            assert [type(outcome) for outcome in done].count(InvalidInput) == 1
        await store.close()


# -- keys ---------------------------------------------------------------------------------------------------------


def test_keys_of_a_file(shop: Place) -> None:
    (account,) = shop.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    file = Path(shop.environment["ADSUNIFY_DATABASE_URL"].removeprefix("sqlite:///") + ".keys")
    before, _ = encryption.load_or_create_key_file(file)
    nothing = shop.ads("admin", "keys", "rotate", "--json").data
    assert (nothing["resealed"], nothing["underNewest"], nothing["remaining"]) == (0, 1, {})
    key = shop.ads("admin", "keys", "new", "--json").data
    assert key == {"newest": encryption.load_or_create_key_file(file)[0].newest_id, "file": str(file)}
    assert shop.ads("insights", account).code == 0, "the older key opens what it sealed"
    done = shop.ads("admin", "keys", "rotate", "--json").data
    assert done == {
        "newest": key["newest"],
        "resealed": 1,
        "underNewest": 1,
        "remaining": {before.newest_id: 0},
        "unreadable": [],
    }
    assert shop.ads("admin", "keys", "rotate", "--json").data["resealed"] == 0
    ring, _ = encryption.load_or_create_key_file(file)
    file.write_text(encryption.KeyRing({ring.newest_id: ring.keys[ring.newest_id]}).to_text())
    assert shop.ads("insights", account).code == 0, "without the older key"


def test_keys_of_the_environment(shop: Place) -> None:
    ring = encryption.make_key_ring()
    ran = shop.ads("admin", "keys", "new", "--json", ADSUNIFY_SECRET_KEYS=ring.to_text())
    key = ran.data
    assert list(encryption.parse_key_ring(f"{key['key']},{ring.to_text()}").keys) == [key["newest"], ring.newest_id]
    assert encryption.format_key(ring.newest_id, ring.keys[ring.newest_id]) not in ran.out + ran.err, (
        "known keys are not shown again"
    )


def test_what_no_key_opens_is_told(shop: Place) -> None:
    shop.ads("connect", "chatgpt", ADSUNIFY_CHATGPT_API_KEY=KEY)
    ran = shop.ads("admin", "keys", "rotate", "--json", ADSUNIFY_SECRET_KEYS=encryption.make_key_ring().to_text())
    assert ran.code == 1
    assert "connections" in ran.err and "credentials" in ran.err


@pytest.mark.parametrize("database", ["sqlite:///never/none.db", "postgresql://nobody@127.0.0.1:1/none"])
def test_the_first_key_of_a_ring(database: str) -> None:
    """Nothing is there yet, and nothing is made: what is shown is the whole ring."""
    ran = run("admin", "keys", "new", "--database", database, "--json")
    key = ran.data
    ring = encryption.parse_key_ring(key["key"])
    assert ring.newest_id == key["newest"] and set(key) == {"newest", "key"}
    assert "ADSUNIFY_SECRET_KEYS" in ran.err and not Path("never").exists()
    rotate = ("admin", "keys", "rotate", "--database", database)
    assert "adsunify admin keys new" in run(*rotate).err, "whoever misses a ring is told how to make one"
    assert run(*rotate).code == 2


def test_a_ring_that_is_none() -> None:
    ran = run("admin", "keys", "new", "--json", ADSUNIFY_SECRET_KEYS="nonsense")
    assert (ran.code, ran.out) == (2, "")


# -- workspaces ---------------------------------------------------------------------------------------------------


async def _list_members(store: Store) -> dict[str, list[tuple[str, str]]]:
    """Who belongs to each workspace, and as what."""

    def read(connection: Connection) -> dict[str, list[tuple[str, str]]]:
        return {
            home.name: [
                (people.get_user(connection, member.user_id).email, member.role)
                for member in people.list_members(connection, home.id)
            ]
            for home in people.list_workspaces(connection)
        }

    return await store.read(read)


def test_reading_a_teams_store_adds_nobody_and_nothing(shop: Place) -> None:
    before = use_store(shop, _list_members)
    assert before == {"shop": [("ada@shop.example", "admin")]}
    assert shop.ads("accounts", "--json").data == [], "the only workspace"
    assert shop.ads("operations", *SHOP, "--json").data == []
    ran = shop.ads("accounts", "--workspace", "zzz")
    assert (ran.code, ran.out) == (2, "") and "workspace: does not exist; workspaces: shop." in ran.err
    assert use_store(shop, _list_members) == before
    shop.ads("admin", "init", "--workspace", "bakery", "--email", "bob@bakery.example")
    ran = shop.ads("accounts")
    assert ran.code == 2 and "workspace: is required; workspaces: bakery, shop." in ran.err
    assert shop.ads("accounts", "--workspace", "bakery").code == 0


def test_who_opens_a_teams_store_writes_as_its_first_admin(shop: Place) -> None:
    change_user(shop, "add", "bob@shop.example", "--role", "admin")
    before = use_store(shop, _list_members)
    (account,) = shop.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    operation = shop.ads("create", account, BRIEF, "--json").data
    done = shop.ads("execute", operation["id"], "--confirmed", "--json").data
    assert done["status"] == "succeeded"
    ada = use_store(shop, lambda store: store.read(people.find_user_by_email, "ada@shop.example"))
    assert done["createdBy"] == {"userId": ada.id, "credential": "local"}
    assert done["executedBy"] == {"userId": ada.id, "credential": "local", "at": done["executedBy"]["at"]}
    assert f"by user {ada.id}, credential local" in shop.ads("operations", operation["id"]).out
    assert use_store(shop, _list_members) == before


def test_a_workspace_of_ones_own_with_people_in_it(place: Callable[[str], Place]) -> None:
    """The user ``local`` stays who the library is, and is what the others made him."""
    mixed = place("mixed")
    assert mixed.ads("accounts", "--json").data == []
    assert use_store(mixed, _list_members) == {"local": [("local", "admin")]}
    added = ("admin", "user", "--workspace", "local", "--email", "ada@shop.example", "--role", "admin")
    assert mixed.ads(*added).code == 0
    (account,) = mixed.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    created = mixed.ads("create", account, BRIEF, "--json").data["createdBy"]
    assert created["userId"] == use_store(mixed, lambda store: store.read(people.find_user_by_email, "local")).id
    mixed.ads("admin", "user", "role", "--workspace", "local", "--email", "local", "--role", "viewer")
    assert mixed.ads("create", account, BRIEF).code == 1
    assert use_store(mixed, _list_members)["local"] == [("local", "viewer"), ("ada@shop.example", "admin")]


def test_people_are_added_only_to_a_workspace_that_is_there(shop: Place) -> None:
    before = use_store(shop, _list_members)
    for action in ("add", "remove", "password"):
        ran = shop.ads("admin", "user", action, "--workspace", "typoo", "--email", "ada@shop.example")
        assert (ran.code, ran.out) == (2, "") and "workspaces: shop." in ran.err, action
    ran = shop.ads("admin", "init", *SHOP, "--email", "eve@shop.example")
    assert (ran.code, ran.out) == (2, "") and "admin user" in ran.err
    assert use_store(shop, _list_members) == before


def test_people_of_a_store_without_workspaces(place: Callable[[str], Place]) -> None:
    ran = place("nobody").ads("admin", "user", *SHOP, "--email", "ada@shop.example")
    assert ran.code == 2 and "adsunify admin init" in ran.err


def test_an_upgrade_can_be_checked_before(tmp_path: Path) -> None:
    """An empty database, one from which the last migrations are missing, and one that is up to date."""
    where = ("--database", f"sqlite:///{tmp_path / 'a.db'}")
    checked = run("db", "upgrade", "--check", *where)
    assert checked.code == 3 and "The database is empty." in checked.out and not list(tmp_path.iterdir())
    assert run("db", "upgrade", "--json", *where).data["upgraded"]
    checked = run("db", "upgrade", "--check", *where)
    assert checked.code == 0 and "No migration is missing." in checked.out

    def go_back(version: str) -> None:
        (tmp_path / "a.db").unlink()
        engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
        until = [migration for migration in migrate.list_migrations() if migration.version <= version]
        with engine.begin() as connection:
            migrate.run_migrations(connection, migrate.SchemaState(None), until)
        engine.dispose()

    go_back("0020")
    assert run("db", "upgrade", "--expanding", *where).code == 0
    go_back("0020")
    for _ in range(2):
        checked = run("db", "upgrade", "--check", *where)
        assert checked.code == 3 and re.search(r"0021 +expanding ", checked.out) and "may keep running" in checked.out
        check = json.loads(run("db", "upgrade", "--check", "--json", *where).out)
        assert (check["migration"], check["serversMayKeepServing"], check["upgraded"]) == ("0020", True, False)
    assert run("accounts", *where).code == 0, "every command runs expanding migrations"
    assert run("db", "upgrade", "--check", *where).code == 0
    go_back("0017")
    checked = run("db", "upgrade", "--check", *where)
    assert checked.code == 3 and "Stop all servers and workers of versions before migration 0018" in checked.out
    for command in (("accounts",), ("db", "upgrade", "--expanding")):
        refused = run(*command, *where)
        assert refused.code == 1 and "then run `adsunify db upgrade`" in refused.err
