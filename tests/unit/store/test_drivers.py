"""The two drivers: durability, isolation of failures, recovery from faults of the database."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from adsunify.errors import InvalidInput, StoreError
from adsunify.service.factory import open_service
from adsunify.store import Clock, Store, open_store, people, postgresql, sqlite
from adsunify.store.driver import notify
from adsunify.store.people import WorkspaceRecord
from tests.postgres import Partition
from tests.server.served import RING

from .world import START, Hands, make_world


def add(connection: Connection, name: str) -> WorkspaceRecord:
    return people.ensure_workspace(connection, name, Clock())


def names(connection: Connection) -> set[str]:
    return set(connection.execute(text("SELECT name FROM workspaces")).scalars())


def add_and_fail(connection: Connection, name: str) -> None:
    add(connection, name)
    raise LookupError(name)


class Blocked:
    """Keeps the writer busy until let go, so that the writes queued until then become one batch."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.entered.set()
        self.let_go.wait(10)


async def one_batch(store: Store, *jobs: tuple[Callable[..., Any], Any]) -> list[Any]:
    """Run the functions in one batch of the SQLite writer; their results or errors."""
    blocked = Blocked()
    first = asyncio.ensure_future(store.write(blocked))
    await asyncio.to_thread(blocked.entered.wait)
    rest = [asyncio.ensure_future(store.write(function, argument)) for function, argument in jobs]
    await asyncio.sleep(0)
    blocked.let_go.set()
    await first
    return await asyncio.gather(*rest, return_exceptions=True)


# -- both ---------------------------------------------------------------------------------------------------------


async def test_what_a_function_raises_reaches_its_caller_and_leaves_nothing(store: Store) -> None:
    with pytest.raises(LookupError, match="gone"):
        await store.write(add_and_fail, "gone")
    assert await store.read(names) == set()


async def test_many_callers_are_all_served(store: Store) -> None:
    jobs = [store.write(add, f"w{n}") if n % 3 else store.write(add_and_fail, f"w{n}") for n in range(60)]
    done = await asyncio.gather(*jobs, return_exceptions=True)
    assert [n for n, outcome in enumerate(done) if isinstance(outcome, LookupError)] == list(range(0, 60, 3))
    assert await store.read(names) == {f"w{n}" for n in range(60) if n % 3}


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises((StoreError, DBAPIError)):
        await store.read(add, "sneaked")
    assert await store.read(names) == set()
    await store.write(add, "proper")


async def test_a_cancelled_caller_does_not_stop_the_write(store: Store, engine: str) -> None:
    def sleep_in_write(connection: Connection) -> None:
        if engine == "postgresql":
            connection.execute(text("SELECT pg_sleep(0.2)"))
        else:
            threading.Event().wait(0.2)
        add(connection, "kept")

    caller = asyncio.create_task(store.write(sleep_in_write))
    await asyncio.sleep(0.05)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await store.write(add, "after")
    for _ in range(100):
        if "kept" in await store.read(names):
            return
        await asyncio.sleep(0.02)
    pytest.fail("the write was lost")


async def test_a_read_that_nobody_waits_for_harms_nobody(store: Store, engine: str) -> None:
    def sleep_in_read(connection: Connection) -> None:
        if engine == "postgresql":
            connection.execute(text("SELECT pg_sleep(5)"))

    callers = [asyncio.create_task(store.read(sleep_in_read)) for _ in range(20)]
    await asyncio.sleep(0.05)
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await store.write(add, "after")
    assert all(await asyncio.gather(*(store.read(names) for _ in range(20))))


async def test_closing_waits_for_what_was_begun_and_refuses_what_comes_after(url: str) -> None:
    store = await open_store(url)
    begun = [asyncio.ensure_future(store.write(add, f"w{n}")) for n in range(20)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*begun)
    with pytest.raises(StoreError, match="closed"):
        await store.write(add, "late")
    await store.close()
    again = await open_store(url)
    assert await again.read(names) == {f"w{n}" for n in range(20)}
    await again.close()


async def test_watchers_are_told_of_what_was_announced_and_of_nothing_else(store: Store) -> None:
    def add_and_notify(connection: Connection, name: str) -> None:
        notify(connection)
        add(connection, name)

    snapshots: list[set[str]] = []
    committed = asyncio.Event()

    async def read_names() -> None:
        snapshots.append(await store.read(names))
        committed.set()

    tasks: list[asyncio.Task[None]] = []
    store.watchers.append(lambda: tasks.append(asyncio.create_task(read_names())))
    await store.write(add, "quiet")
    assert not tasks
    caller = asyncio.create_task(store.write(add_and_notify, "loud"))
    await asyncio.sleep(0)
    caller.cancel()  # nobody waits for the write any more; the watchers are still called
    await asyncio.wait_for(committed.wait(), 10)
    assert snapshots == [{"quiet", "loud"}]
    await store.write(add, "quiet again")
    assert len(tasks) == 1


async def test_a_broken_statement_does_not_harm_the_next(store: Store) -> None:
    def run_broken_statement(connection: Connection) -> None:
        connection.execute(text("SELECT nonsense FROM nowhere"))

    for run in (store.read, store.write):
        with pytest.raises((StoreError, DBAPIError)):
            await run(run_broken_statement)
    await store.write(add, "fine")
    assert await store.read(names) == {"fine"}


async def test_the_clock_knows_what_was_stored_before_it_was_set_back(url: str, hands: Hands) -> None:
    store = await open_store(url, clock=Clock(lambda: hands.wall, lambda: hands.monotonic))
    await (await make_world(store, hands)).prepare()
    await store.close()
    again = await open_store(url, clock=Clock(lambda: START - 60_000, lambda: 0))
    assert again.clock.now() >= START
    await again.close()


@pytest.mark.parametrize(
    "wrong", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/x.db", "mysql://h/x", "x.db", ""]
)
async def test_other_urls_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match=r"sqlite:///path\.db"):
        await open_store(wrong)


@pytest.mark.parametrize("password", ["hu/sh", "hu#sh", "hu?sh", "hu[sh"])
async def test_a_url_that_cannot_be_read_is_refused_without_its_password(password: str) -> None:
    url = f"postgresql://user:{password}@127.0.0.1:9/name"
    with pytest.raises(InvalidInput, match="percent-encoded") as refusal:
        await open_store(url)
    report = "".join(traceback.format_exception(refusal.value))
    assert "hu" + password[2] not in report and f"{password[2]}sh" not in report
    with pytest.raises(InvalidInput, match="percent-encoded"):
        await open_service(url, RING)


async def test_a_url_that_leads_nowhere_is_a_store_error(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/missing/x.db", "postgresql://127.0.0.1:1/x", f"postgresql:///x?host={tmp_path}"):
        with pytest.raises(StoreError):
            await open_store(url)


# -- SQLite -------------------------------------------------------------------------------------------------------


on_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@on_sqlite
async def test_a_batch_is_one_commit(store: Store) -> None:
    before = store.commit_count
    await one_batch(store, *((add, f"w{n}") for n in range(50)))
    assert store.commit_count - before == 2  # the blocking one, and the batch


@on_sqlite
async def test_a_failure_in_a_batch_is_its_own(store: Store) -> None:
    done = await one_batch(store, (add, "a"), (add_and_fail, "b"), (add, "c"))
    assert [type(outcome) for outcome in done] == [WorkspaceRecord, LookupError, WorkspaceRecord]
    assert await store.read(names) == {"a", "c"}


@on_sqlite
async def test_the_connection_is_durable_and_strict(store: Store) -> None:
    def pragmas(connection: Connection) -> dict[str, Any]:
        pragma_names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in pragma_names}

    assert await store.write(pragmas) == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


@pytest.fixture
def small_disk(store: Store) -> Iterator[Callable[[], None]]:
    """Makes writing beyond 1 MB of a file fail, as a full disk does; undone at the end, or when called."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@on_sqlite
async def test_a_full_disk_costs_only_the_one_who_fills_it(store: Store, small_disk: Callable[[], None]) -> None:
    runs: list[str] = []

    def count_and_add(connection: Connection, name: str) -> None:
        runs.append(name[:1])
        add(connection, name)

    done = await one_batch(store, (count_and_add, "a"), (count_and_add, "b" * 2_000_000), (count_and_add, "c"))
    assert [type(outcome) for outcome in done] == [type(None), StoreError, type(None)]
    assert await store.read(names) == {"a", "c"}
    assert len(runs) > 3  # the batch was lost as a whole, then each ran alone
    small_disk()
    await store.write(count_and_add, "d" * 2_000_000)
    assert len(await store.read(names)) == 3


@on_sqlite
async def test_a_transaction_that_sqlite_gave_up_is_run_again_one_by_one(store: Store) -> None:
    """SQLite may roll everything back while a statement fails; no savepoint helps then."""
    runs: list[str] = []

    def count_and_add(connection: Connection, name: str) -> None:
        runs.append(name)
        add(connection, name)

    def add_and_roll_back(connection: Connection, name: str) -> None:
        count_and_add(connection, name)
        connection.exec_driver_sql("INSERT OR ROLLBACK INTO workspaces SELECT * FROM workspaces")

    done = await one_batch(store, (count_and_add, "a"), (add_and_roll_back, "b"), (count_and_add, "c"))
    assert [isinstance(outcome, Exception) for outcome in done] == [False, True, False]
    assert await store.read(names) == {"a", "c"}
    assert runs == ["a", "b", "a", "b", "c"]


@on_sqlite
async def test_a_lost_connection_is_replaced(store: Store) -> None:
    def close_connection(connection: Connection, _name: str) -> None:
        raw = connection.connection.dbapi_connection
        assert raw is not None
        raw.close()

    done = await one_batch(store, (add, "a"), (close_connection, ""), (add, "c"))
    assert isinstance(done[0], WorkspaceRecord)
    assert isinstance(done[1], StoreError)
    assert isinstance(done[2], WorkspaceRecord)
    await store.write(add, "after")
    assert await store.read(names) == {"a", "c", "after"}


@on_sqlite
async def test_a_file_locked_by_another_is_a_store_error_until_it_is_let_go(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    store = await open_store(url)
    holder = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        await store.write(add, "refused")
    assert await store.read(names) == set()
    holder.execute("ROLLBACK")
    holder.close()
    await store.write(add, "kept")
    assert await store.read(names) == {"kept"}
    await store.close()


async def test_eight_stores_start_on_a_new_file_at_once(tmp_path: Path) -> None:
    """All of them change the file to WAL, which SQLite's busy timeout does not wait for."""

    async def start(path: Path) -> None:
        store = sqlite.SqliteStore(path, Clock())
        try:
            await store.write(lambda _connection: None)
        finally:
            await store.close()

    for number in range(20):
        await asyncio.gather(*(start(tmp_path / f"{number}.db") for _ in range(8)))


async def test_a_start_waits_while_another_changes_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    opening = asyncio.create_task(open_store(f"sqlite:///{path}"))
    await asyncio.sleep(0.1)
    holder.execute("ROLLBACK")
    holder.close()
    await (await opening).close()


@on_sqlite
async def test_a_failed_commit_keeps_nothing_and_tells_so(store: Store) -> None:
    def dangle(connection: Connection, name: str) -> None:
        """A deferred foreign key is checked by COMMIT, which then fails."""
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        connection.exec_driver_sql(
            f"INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ('{name}', 'x', 'admin', 1)"
        )

    done = await one_batch(store, (add, "a"), (dangle, "b"), (add, "c"))
    assert [isinstance(outcome, Exception) for outcome in done] == [False, True, False]
    assert await store.read(names) == {"a", "c"}


# -- PostgreSQL ---------------------------------------------------------------------------------------------------


on_postgresql = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)


def cut_the_others(connection: Connection) -> None:
    connection.execute(
        text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    )


@on_postgresql
async def test_a_connection_whose_protocol_is_out_of_step_is_not_used_again(store: Store) -> None:
    """asyncpg may raise this while PostgreSQL shuts down. The transaction runs again on another connection."""
    used = []

    def lose_step(connection: Connection, times: int) -> None:
        used.append(connection.connection.driver_connection)
        add(connection, "once")
        if len(used) <= times:
            raise asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")

    await store.write(lose_step, 1)
    assert len(used) == 2 and used[0] is not used[1] and used[0].is_closed()
    assert await store.read(names) == {"once"}
    used.clear()
    with pytest.raises(StoreError, match="cannot switch to state 12"):
        await store.write(lose_step, 2)
    await store.write(add, "after")
    assert await store.read(names) == {"once", "after"}


@on_postgresql
async def test_a_connection_that_cannot_roll_back_is_not_used_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction may still be open. The function runs again on another one, and its own error is raised."""
    used, execute = [], asyncpg.Connection.execute

    async def lose_rollback(connection: Any, query: str) -> Any:
        if query == "ROLLBACK" and len(used) == 1:
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return await execute(connection, query)

    def fail(connection: Connection) -> None:
        used.append(connection.connection.driver_connection)
        add_and_fail(connection, "gone")

    monkeypatch.setattr(asyncpg.Connection, "execute", lose_rollback)
    with pytest.raises(LookupError, match="gone"):
        await store.write(fail)
    assert len(used) == 2 and used[0] is not used[1]
    await store.write(add, "after")
    assert used[0].is_closed() and await store.read(names) == {"after"}


@on_postgresql
async def test_connections_cut_between_functions_are_not_noticed(store: Store, url: str) -> None:
    await asyncio.gather(*(store.write(add, f"w{n}") for n in range(20)))
    await asyncio.gather(*(store.read(names) for n in range(20)))
    other = await open_store(url)
    await other.write(cut_the_others)
    await other.close()
    assert len(await store.read(names)) == 20
    await store.write(add, "after")
    assert len(await store.read(names)) == 21


@on_postgresql
async def test_a_serialization_failure_is_tried_once_more(store: Store) -> None:
    runs: list[int] = []

    def add_and_fail_at_first(connection: Connection, times: int) -> None:
        runs.append(len(runs))
        add(connection, f"w{len(runs)}")
        if len(runs) <= times:
            connection.execute(text("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$"))

    await store.write(add_and_fail_at_first, 1)
    assert runs == [0, 1]
    assert await store.read(names) == {"w2"}
    runs.clear()
    with pytest.raises(StoreError):
        await store.write(add_and_fail_at_first, 9)
    assert runs == [0, 1]


@on_postgresql
async def test_a_commit_whose_answer_is_lost_is_not_made_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncpg = pytest.importorskip("asyncpg")
    runs: list[int] = []
    execute = asyncpg.Connection.execute

    async def lose_commit_answer(connection: Any, query: str) -> Any:
        status = await execute(connection, query)
        if query == "COMMIT":
            connection.terminate()
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return status

    def count_and_add(connection: Connection) -> None:
        runs.append(len(runs))
        add(connection, f"w{len(runs)}")

    monkeypatch.setattr(asyncpg.Connection, "execute", lose_commit_answer)
    with pytest.raises(StoreError):
        await store.write(count_and_add)
    assert (runs, await store.read(names)) == ([0], {"w1"})


@on_postgresql
async def test_a_transaction_that_the_database_gave_up_is_not_called_done(store: Store) -> None:
    """PostgreSQL answers the COMMIT of a transaction in which a statement failed with a ROLLBACK, and no error."""

    def add_and_ignore_failure(connection: Connection) -> None:
        add(connection, "lost")
        with suppress(DBAPIError):
            connection.execute(text("SELECT nonsense FROM nowhere"))

    with pytest.raises(StoreError, match="gave the transaction up"):
        await store.write(add_and_ignore_failure)
    assert await store.read(names) == set()
    await store.write(add, "fine")
    assert await store.read(names) == {"fine"}


@on_postgresql
async def test_a_partition_does_not_hang_callers(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    socket_folder = parse_qs(urlsplit(url).query)["host"][0]
    partition = Partition(socket_folder)
    proxy = await asyncio.start_unix_server(partition, tmp_path / ".s.PGSQL.5432")
    store = await open_store(url.replace(socket_folder, str(tmp_path)))
    await asyncio.gather(*(store.write(add, f"w{n}") for n in range(20)), *(store.read(names) for _ in range(20)))
    async with asyncio.timeout(20):
        partition.cut()
        with monkeypatch.context() as impatient:
            impatient.setattr(postgresql, "TIMEOUT_SECONDS", 0.3)
            for call in (store.write(add, "lost"), store.read(names)):
                with pytest.raises(StoreError, match=r"did not answer within 0\.3 seconds"):
                    await call
        await store.write(add, "after")  # at once: none of the old connections is tried again
        assert await store.read(names) == {"after", *(f"w{n}" for n in range(20))}
        partition.cut_all()
        with monkeypatch.context() as impatient:
            impatient.setattr(postgresql, "TIMEOUT_SECONDS", 0.3)
            with pytest.raises(StoreError, match=r"did not answer"):
                await store.write(add, "lost")
            await store.close()
    proxy.close()
    await partition.end()


@on_postgresql
async def test_a_lock_of_another_does_not_hang_callers(store: Store, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncpg = pytest.importorskip("asyncpg")
    holder = await asyncpg.connect(url)
    await holder.execute("BEGIN; LOCK TABLE workspaces")
    with monkeypatch.context() as impatient:
        impatient.setattr(postgresql, "TIMEOUT_SECONDS", 0.3)
        async with asyncio.timeout(20):
            refused = await asyncio.gather(
                *(store.write(add, f"w{n}") for n in range(2 * postgresql.MAX_CONNECTIONS)), return_exceptions=True
            )
    assert all(isinstance(error, StoreError) for error in refused)
    await holder.execute("ROLLBACK")
    await holder.close()
    await store.write(add, "after")
    assert await store.read(names) == {"after"}


@on_postgresql
async def test_an_answer_that_came_while_the_loop_was_blocked_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_slowly(connection: Connection) -> None:
        add(connection, "kept")
        connection.execute(text("SELECT pg_sleep(0.4)"))

    await store.write(add, "connected")
    with monkeypatch.context() as impatient:
        impatient.setattr(postgresql, "TIMEOUT_SECONDS", 3.0)
        writing = asyncio.create_task(store.write(add_slowly))
        await asyncio.sleep(0.2)
        time.sleep(3.5)  # the answer comes, and the limit passes
        await writing
    assert await store.read(names) == {"connected", "kept"}


@on_postgresql
async def test_a_migration_may_take_its_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "TIMEOUT_SECONDS", 0.05)
    await store.upgrade(lambda connection: connection.execute(text("SELECT pg_sleep(0.2)")) and None)


@on_postgresql
async def test_a_changed_table_is_not_noticed(empty_url: str) -> None:
    """PostgreSQL refuses cached plans whose result has changed."""

    def count_columns(connection: Connection) -> int:
        return len(connection.execute(text("SELECT * FROM workspaces")).keys())

    def change(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE workspaces ADD COLUMN x int"))

    store, other = await open_store(empty_url), await open_store(empty_url)
    before = await store.write(count_columns)
    await other.write(change)
    await other.close()
    assert await store.write(count_columns) == before + 1
    await store.close()


@on_postgresql
async def test_a_database_that_may_forget_commits_is_refused(empty_url: str) -> None:
    def turn_off_durability(connection: Connection) -> None:
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))

    store = await open_store(empty_url)
    await store.write(turn_off_durability)
    await store.close()
    with pytest.raises(StoreError, match="synchronous_commit"):
        await open_store(empty_url)
    allowed = await open_store(empty_url, allow_unsafe_durability=True)
    await allowed.close()
