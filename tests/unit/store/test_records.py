"""People, keys, connections and accounts, consents, sealed secrets, entities and reports."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import Forbidden, NotFound
from adsunify.execution.state import ObservedStatus
from adsunify.store import (
    Store,
    connections,
    consents,
    encrypted_secrets,
    entities,
    events,
    keys,
    new_id,
    people,
    reports,
)
from adsunify.store.connections import DiscoveredAccountRow
from adsunify.store.keys import KeyRecord, KeyUsage
from adsunify.store.reports import ReportSubject

from .world import START, World, connect


async def list_events(world: World) -> list[tuple[str, str]]:
    """All events but those of operations, oldest first: type and status."""
    latest = await world.store.read(events.list_events, world.admin.workspace_id)
    return [(event.type, event.data["status"]) for event in reversed(latest)]


# -- people -------------------------------------------------------------------------------------------------------


async def test_people_are_made_once(store: Store) -> None:
    clock = store.clock
    first = await store.write(people.ensure_workspace, "shop", clock)
    assert await store.write(people.ensure_workspace, "shop", clock) == first
    user = await store.write(people.ensure_user, " Ann@Shop.example ", clock, "hash")
    assert user.email == "ann@shop.example"
    assert await store.write(people.ensure_user, "ann@shop.example", clock, "other") == user
    assert await store.read(people.find_user_by_email, "ANN@shop.example") == user
    assert await store.read(people.find_user_by_email, "bob@shop.example") is None
    await store.write(people.set_password, user.id, "new", clock)
    assert (await store.read(people.get_user, user.id)).password_hash == "new"


async def test_roles_change_and_end(world: World) -> None:
    store, member = world.store, world.member
    where = (member.workspace_id, member.user_id)
    await store.write(people.set_membership, *where, "admin", store.clock)
    membership = await store.read(people.find_membership, *where)
    assert membership is not None
    assert membership.role == "admin"
    assert len(await store.read(people.list_members, member.workspace_id)) == 3
    await store.write(people.remove_membership, *where, store.clock)
    assert await store.read(people.find_membership, *where) is None
    with pytest.raises(NotFound):
        await store.write(people.remove_membership, *where, store.clock)


async def test_approval_is_set_per_workspace(world: World) -> None:
    id_ = world.admin.workspace_id
    assert not (await world.store.read(people.get_workspace, id_)).require_approval
    await world.store.write(people.set_require_approval, id_, True, world.clock)
    assert (await world.store.read(people.get_workspace, id_)).require_approval
    with pytest.raises(NotFound):
        await world.store.write(people.set_require_approval, "missing", True, world.clock)


# -- keys ---------------------------------------------------------------------------------------------------------


async def key_of(world: World, actor: Actor, prefix: str = "abcdefgh", expires_at: int | None = None) -> KeyRecord:
    create = (actor.workspace_id, actor.user_id, "key", prefix, "ab" * 32, True, expires_at, world.clock)
    return await world.store.write(keys.create_key, *create)


async def test_a_key_is_found_by_its_prefix_with_its_owners_current_role(world: World) -> None:
    key = await key_of(world, world.member, expires_at=START + 1_000)
    stored_key = await world.store.run_query(keys.find_key("abcdefgh"))
    assert stored_key is not None
    assert (stored_key.id, stored_key.user_id, stored_key.secret_hash, stored_key.role) == (
        key.id,
        key.user_id,
        "ab" * 32,
        "member",
    )
    assert stored_key.is_valid(START + 999)
    assert not stored_key.is_valid(START + 1_000)
    assert await world.store.run_query(keys.find_key("zzzzzzzz")) is None
    await world.store.write(people.remove_membership, world.member.workspace_id, world.member.user_id, world.clock)
    gone = await world.store.run_query(keys.find_key("abcdefgh"))
    assert gone is not None
    assert (gone.role, gone.is_valid(START)) == (None, False)


async def test_only_its_owner_revokes_a_key(world: World) -> None:
    key = await key_of(world, world.member)
    other = await key_of(world, world.member, "ijklmnop")
    revoke = (world.member, key.id, world.clock)
    with pytest.raises(Forbidden):
        await world.store.write(keys.revoke_key, world.admin, key.id, world.clock)
    with pytest.raises(NotFound):
        await world.store.write(keys.revoke_key, evolve(world.member, workspace_id="elsewhere"), key.id, world.clock)
    revoked = await world.store.write(keys.revoke_key, *revoke)
    assert revoked.revoked_at == START
    world.hands.pass_(5)
    assert await world.store.write(keys.revoke_key, *revoke) == revoked
    stored_key = await world.store.run_query(keys.find_key("abcdefgh"))
    assert stored_key is not None
    assert not stored_key.is_valid(START)
    assert await world.store.read(keys.list_keys, world.member) == [revoked, other]


async def test_uses_of_keys_cost_a_commit_a_minute(world: World) -> None:
    created_keys = [await key_of(world, world.member, f"{n:08}") for n in range(3)]
    used, batches = KeyUsage(), []
    for second in range(130):
        for key in created_keys:
            batch = used.record_use(key.id, START + second * 1_000)
            if batch:
                batches.append(batch)
    assert [len(batch) for batch in batches] == [1, 3, 3]
    rest = used.take_uses(START + 130_000)
    assert rest == {key.id: START + 129_000 for key in created_keys}
    assert used.take_uses(START + 130_000) is None
    for batch in [*batches, rest, batches[0]]:  # an older use does not undo a newer one
        await world.store.write(keys.save_last_used, batch)
    stored_keys = await world.store.read(keys.list_keys, world.member)
    assert {key.last_used_at for key in stored_keys} == {START + 129_000}


# -- connections --------------------------------------------------------------------------------------------------


async def test_connecting_again_moves_the_account_and_keeps_its_id(world: World) -> None:
    before = world.account
    account_row = DiscoveredAccountRow("act_1", "Renamed", None, None, "1", {"rate": Decimal("0.10")})
    after = await connect(world.store, world.admin, account_row, DiscoveredAccountRow("act_2"))
    assert after.id == before.id
    assert after.connection_id != before.connection_id
    assert (after.name, after.currency, after.native_status) == ("Renamed", "USD", "1")
    assert after.extras == {"rate": Decimal("0.10")}
    accounts = await world.store.read(connections.list_accounts, world.admin)
    assert [account.native_id for account in accounts] == ["act_1", "act_2"]
    statuses = {
        connection.id: connection.status
        for connection, _ in await world.store.read(connections.list_connections, world.admin)
    }
    assert statuses == {before.connection_id: "disconnected", after.connection_id: "active"}
    assert await world.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, before.connection_id) == {}
    assert await world.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, after.connection_id) == {
        "accessToken": "sealed"
    }
    assert await list_events(world) == [("account.connected", "active")] * 3


async def test_a_connection_that_keeps_an_account_stays(world: World) -> None:
    both = await connect(world.store, world.admin, DiscoveredAccountRow("act_1"), DiscoveredAccountRow("act_2"))
    await connect(world.store, world.admin, DiscoveredAccountRow("act_1"))
    connection = await world.store.read(connections.get_connection, world.admin, both.connection_id)
    assert connection.status == "active"
    assert await world.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, both.connection_id) != {}


async def test_networks_and_workspaces_are_apart(world: World) -> None:
    google = await connect(world.store, world.admin, DiscoveredAccountRow("act_1"), network="google")
    assert google.id != world.account.id
    elsewhere = await world.store.write(people.ensure_workspace, "elsewhere", world.clock)
    other = Actor(elsewhere.id, world.admin.user_id, "session", "admin", True, "session")
    theirs = await connect(world.store, other)
    assert theirs.id != world.account.id
    accounts = await world.store.read(connections.list_accounts, world.admin, "google")
    assert accounts == [google]
    for read, id_ in ((connections.get_account, theirs.id), (connections.get_connection, theirs.connection_id)):
        with pytest.raises(NotFound):
            await world.store.read(read, world.admin, id_)


async def test_disconnecting_forgets_the_credentials_and_keeps_the_rows(world: World) -> None:
    for _ in range(2):
        gone = await world.store.write(connections.disconnect, world.admin, world.account.connection_id, world.clock)
        assert gone.status == "disconnected"
    account = await world.store.read(connections.get_account, world.admin, world.account.id)
    assert account.status == "disconnected"
    assert (
        await world.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, world.account.connection_id)
        == {}
    )
    again = await connect(world.store, world.admin)
    assert (again.id, again.status) == (world.account.id, "active")
    assert await list_events(world) == [
        ("account.connected", "active"),
        ("account.disconnected", "disconnected"),
        ("account.connected", "active"),
    ]
    with pytest.raises(NotFound):
        stranger = evolve(world.admin, workspace_id="elsewhere")
        await world.store.write(connections.disconnect, stranger, world.account.connection_id, world.clock)


async def test_a_refused_token_is_told_once_and_so_is_its_recovery(world: World) -> None:
    id_, clock = world.account.connection_id, world.clock
    told_first = [await world.store.write(connections.mark_needs_reauth, id_, clock) for _ in range(2)]
    assert told_first == [True, False]
    assert await world.store.write(connections.begin_refresh, id_, clock)
    assert await world.store.write(connections.finish_refresh, id_, {"accessToken": "new"}, START + 9, clock)
    account = await world.store.read(connections.get_account, world.admin, world.account.id)
    assert account.status == "active"
    assert not await world.store.write(connections.mark_active, id_, clock)
    assert await list_events(world) == [
        ("account.connected", "active"),
        ("account.needs_reauth", "needs_reauth"),
        ("account.needs_reauth", "active"),
    ]


async def test_one_refreshes_at_a_time(world: World) -> None:
    id_, clock = world.account.connection_id, world.clock
    assert await world.store.write(connections.begin_refresh, id_, clock)
    assert not await world.store.write(connections.begin_refresh, id_, clock)
    world.hands.pass_(connections.REFRESH_MILLISECONDS)
    assert await world.store.write(connections.begin_refresh, id_, clock), "the process that claimed it has ended"
    await world.store.write(connections.abandon_refresh, id_)
    assert await world.store.write(connections.begin_refresh, id_, clock)
    assert await world.store.write(
        connections.finish_refresh, id_, {"accessToken": "a2", "refreshToken": "r2"}, START + 99, clock
    )
    stored_secrets = await world.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, id_)
    assert stored_secrets == {"accessToken": "a2", "refreshToken": "r2"}
    connection = await world.store.read(connections.get_connection, world.admin, id_)
    assert (connection.expires_at, connection.refreshing_until) == (START + 99, None)


async def test_a_refresh_does_not_revive_what_was_disconnected(world: World) -> None:
    id_ = world.account.connection_id
    assert await world.store.write(connections.begin_refresh, id_, world.clock)
    await world.store.write(connections.disconnect, world.admin, id_, world.clock)
    assert not await world.store.write(connections.finish_refresh, id_, {"accessToken": "new"}, None, world.clock)
    assert await world.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, id_) == {}
    world.hands.pass_(connections.REFRESH_MILLISECONDS)
    assert not await world.store.write(connections.begin_refresh, id_, world.clock)


async def test_chosen_extras_lie_over_found_ones_and_survive_connecting_again(world: World) -> None:
    id_ = world.account.id
    await connect(world.store, world.admin, DiscoveredAccountRow("act_1", extras={"manager": "1", "region": "eu"}))
    chosen = await world.store.write(connections.set_extras, id_, {"manager": "2", "flow": "x"}, world.clock)
    assert chosen.extras == {"manager": "2", "region": "eu", "flow": "x"}
    again = await connect(world.store, world.admin, DiscoveredAccountRow("act_1", extras={"manager": "3"}))
    assert again.extras == {"manager": "2", "flow": "x"}
    freed = await world.store.write(connections.set_extras, id_, {"manager": None}, world.clock)
    assert freed.extras == {"manager": "3", "flow": "x"}


async def test_the_first_sync_is_told_once(world: World) -> None:
    done = [await world.store.write(connections.mark_first_synced, world.account.id, world.clock) for _ in range(2)]
    assert done == [True, False]
    assert (await list_events(world))[1:] == [("account.ads.initial_sync_completed", "active")]


# -- sealed secrets, consents -------------------------------------------------------------------------------------


async def test_sealed_secrets_are_replaced_only_where_they_are_unchanged(world: World) -> None:
    def save_many_secrets(connection: Connection) -> None:
        for n in range(7):
            fields = {"a": f"{n}a", "b": f"{n}b"}
            encrypted_secrets.save_secrets(
                connection, "table", f"row {n}", world.admin.workspace_id, fields, world.clock
            )
        encrypted_secrets.delete_secrets(connection, connections.SECRETS_TABLE, world.account.connection_id)

    await world.store.write(save_many_secrets)
    pages: list[Any] = []
    last = None
    while page := await world.store.read(encrypted_secrets.list_not_encrypted_with, "0", last, 4):
        pages += page
        last = page[-1]
    assert [secret.sealed for secret in pages] == [f"{n}{field}" for n in range(1, 7) for field in "ab"]
    counted = [
        await world.store.read(count, "0")
        for count in (encrypted_secrets.count_encrypted_with, encrypted_secrets.count_not_encrypted_with)
    ]
    assert counted == [2, 12]
    assert await world.store.write(encrypted_secrets.replace_secret, pages[0], "again", world.clock)
    assert not await world.store.write(encrypted_secrets.replace_secret, pages[0], "late", world.clock)
    assert await world.store.read(encrypted_secrets.get_secrets, "table", "row 1") == {"a": "again", "b": "1b"}


async def test_a_consent_serves_its_purpose_in_its_time(world: World) -> None:
    async def create(token: str) -> None:
        who = (world.admin.workspace_id, world.admin.user_id)
        data = {"verifier": "v", "at": 1}
        await world.store.write(consents.create_token, "link", token, *who, "meta", data, 600_000, world.clock)

    await create("one")
    await create("two")
    assert await world.store.write(consents.use_token, "state", "one", world.clock) is None
    world.hands.pass_(599_999)
    used = await world.store.write(consents.use_token, "link", "one", world.clock)
    assert used is not None
    assert (used.network, used.data, used.used_at) == ("meta", {"verifier": "v", "at": 1}, START + 599_999)
    assert await world.store.write(consents.use_token, "link", "one", world.clock) is None
    world.hands.pass_(1)
    assert await world.store.write(consents.use_token, "link", "two", world.clock) is None
    assert await world.store.write(consents.use_token, "link", "three", world.clock) is None


# -- entities, reports --------------------------------------------------------------------------------------------


async def test_changes_of_status_are_told_once(world: World) -> None:
    async def see(*statuses: ObservedStatus) -> int:
        return await world.store.write(entities.record_statuses, world.account.id, statuses, world.clock.now())

    assert (
        await see(
            ObservedStatus("campaign", "1", "paused"),
            ObservedStatus("adGroup", "1", "paused"),
            ObservedStatus("ad", "1", "paused"),
        )
        == 0
    )
    assert await see(ObservedStatus("campaign", "1", "paused")) == 0
    assert (
        await see(
            ObservedStatus("campaign", "1", "active"),
            ObservedStatus("adGroup", "1", "active"),
            ObservedStatus("ad", "2", "active"),
        )
        == 2
    )
    assert await see(ObservedStatus("ad", "1", "deleted"), ObservedStatus("campaign", "1", "active")) == 1
    assert await see() == 0
    assert (await list_events(world))[1:] == [
        ("ad_group.status_changed", "active"),
        ("campaign.status_changed", "active"),
        ("ad.status_changed", "deleted"),
    ]
    (event, *_) = await world.store.read(events.list_events, world.admin.workspace_id)
    assert event.data == {
        "operationId": None,
        "accountId": world.account.id,
        "network": "meta",
        "status": "deleted",
        "kind": "ad",
        "entityId": "1",
        "before": "paused",
    }


async def test_a_large_tree_is_seen_at_once(world: World) -> None:
    tree = [ObservedStatus("ad", str(n), "paused") for n in range(1_300)]
    assert await world.store.write(entities.record_statuses, world.account.id, tree, world.clock.now()) == 0
    changed = [ObservedStatus("ad", str(n), "active" if n % 100 == 0 else "paused") for n in range(1_300)]
    assert await world.store.write(entities.record_statuses, world.account.id, changed, world.clock.now()) == 13


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_other_entities_of_an_account_are_not_walked_through(world: World) -> None:
    def plan_of_query(connection: Connection) -> str:
        query = entities._FIND_STATUSES.text(connection)
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", ("[]",) * query.count("?"))
        return " ".join(row.detail for row in rows)

    assert "(account_id=? AND kind=? AND native_id=?)" in await world.store.read(plan_of_query)


async def test_a_report_is_resumed_and_started_anew(world: World) -> None:
    where = (world.admin.workspace_id, ReportSubject(world.account.id, "2027-01-01", "2027-01-07"))
    assert await world.store.read(reports.find_report, *where[1:]) is None
    first, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert (mine, first.state, first.job) == (True, "starting", None)
    again, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert (mine, again) == (False, first)
    world.hands.pass_(reports.START_MILLISECONDS)
    _, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert mine, "the process that should have claimed it has ended"
    await world.store.write(reports.mark_started, first.id, {"ids": ["1"]}, world.clock)
    world.hands.pass_(reports.START_MILLISECONDS * 9)
    resumed, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert (mine, resumed.state, resumed.job) == (False, "pending", {"ids": ["1"]})
    await world.store.write(reports.delete_report, first.id)
    anew, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert mine
    assert anew.id != first.id


async def test_a_report_that_was_read_is_read_again_for_an_hour(world: World) -> None:
    where = (world.admin.workspace_id, ReportSubject(world.account.id, "2027-01-01", "2027-01-07"))
    first, _ = await world.store.write(reports.begin_report, *where, world.clock)
    await world.store.write(reports.mark_started, first.id, "job", world.clock)
    await world.store.write(reports.mark_read, first.id, world.clock)
    world.hands.pass_(reports.REREAD_MILLISECONDS - 1)
    again, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert (mine, again.id, again.state, again.job) == (False, first.id, "read", "job")
    world.hands.pass_(1)
    anew, mine = await world.store.write(reports.begin_report, *where, world.clock)
    assert (mine, anew.state, anew.job) == (True, "starting", None)
    assert await world.store.read(reports.find_report_by_job, world.account.id, "job") is None


async def test_reports_of_two_levels_or_two_sets_of_entities_are_different(world: World) -> None:
    days = (world.account.id, "2027-01-01", "2027-01-07")
    subjects = [ReportSubject(*days), *(ReportSubject(*days, "ad", entities) for entities in ("", "aa", "bb"))]
    begun = [
        await world.store.write(reports.begin_report, world.admin.workspace_id, subject, world.clock)
        for subject in subjects
    ]
    assert [mine for _, mine in begun] == [True] * 4
    assert len({report.id for report, _ in begun}) == 4
    for number, (report, _) in enumerate(begun):
        await world.store.write(reports.mark_started, report.id, f"job {number}", world.clock)
    jobs = [await world.store.read(reports.find_report_by_job, world.account.id, f"job {n}") for n in range(4)]
    assert [job is not None for job in jobs] == [True, False, False, False], "only that of the account is a catalog"


async def test_ids_made_by_the_store_are_time_ordered(world: World) -> None:
    assert world.account.id < new_id(world.clock.now())
