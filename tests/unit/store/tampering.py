"""Changes of a ledger behind its back: in the database, with SQL, each with the row where a verification finds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, insert, select, text

from adsunify.ledger import LOCAL_AUTHOR, LedgerEntry, hash_content, hash_link
from adsunify.service.ledger.sealing import seal_workspace
from adsunify.store import Store
from adsunify.store.ledger import CONTENT_COLUMNS, record_entries
from adsunify.store.schema import ledger

WORKSPACE = "00000000-0000-7000-8000-000000000001"
OTHER_WORKSPACE = "00000000-0000-7000-8000-000000000002"


async def fill_ledger(store: Store, count: int, workspace_id: str = WORKSPACE) -> None:
    """Insert and seal so many rows."""
    at = store.clock.now()
    for first in range(0, count, 1_000):
        entries = [
            LedgerEntry(workspace_id, LOCAL_AUTHOR, "key", f"key{n}", before={"n": n}, after={"name": f"Äpfel {n}"})
            for n in range(first, min(first + 1_000, count))
        ]
        await store.write(record_entries, entries, at)
    assert await seal_workspace(store, workspace_id) == count


def _run_sql(*statements: str) -> Callable[[Connection, int, int], None]:
    """Run SQL with the row ``:k`` in a workspace of ``:n`` rows."""

    def change(connection: Connection, k: int, n: int) -> None:
        for statement in statements:
            values = {name: value for name, value in (("k", k), ("n", n)) if f":{name}" in statement}
            connection.execute(text(statement.replace("$W", f"workspace_id = '{WORKSPACE}'")), values)

    return change


def _flip_character(column: str) -> Callable[[Connection, int, int], None]:
    def change(connection: Connection, k: int, n: int) -> None:
        where = (ledger.c.workspace_id == WORKSPACE) & (ledger.c.seq == k)
        stored = str(connection.execute(select(ledger.c[column]).where(where)).scalar_one() or "null")
        flipped = stored[:-1] + chr(ord(stored[-1]) ^ 1)
        value: Any = int(flipped) if column == "created_at" else flipped
        connection.execute(ledger.update().where(where).values({column: value}))

    return change


def _rewrite(*, hides_link: bool) -> Callable[[Connection, int, int], None]:
    """Change the content of a row with its hash, and if asked with its chained hash."""

    def change(connection: Connection, k: int, n: int) -> None:
        of_workspace = select(ledger).where(ledger.c.workspace_id == WORKSPACE)
        row = dict(connection.execute(of_workspace.where(ledger.c.seq == k)).one()._mapping)
        before = connection.execute(of_workspace.where(ledger.c.seq == k - 1)).one()
        row["after"] = '{"name":"somebody else"}'
        row["content_hash"] = hash_content([None if row[name] is None else str(row[name]) for name in CONTENT_COLUMNS])
        if hides_link:
            row["chain_hash"] = hash_link(before.chain_hash, row["content_hash"])
        changed = ledger.update().where(ledger.c.workspace_id == WORKSPACE, ledger.c.seq == k)
        connection.execute(changed.values({name: row[name] for name in ("after", "content_hash", "chain_hash")}))

    return change


def _insert_row(*, number: Callable[[int, int], int]) -> Callable[[Connection, int, int], None]:
    """Insert a row with the right hash of its content. The rows from its number on move back by one."""

    def change(connection: Connection, k: int, n: int) -> None:
        seq, of_workspace = number(k, n), ledger.c.workspace_id == WORKSPACE
        row = dict(connection.execute(select(ledger).where(of_workspace, ledger.c.seq == k)).one()._mapping)
        row["id"] = "99999999-0000-7000-8000-000000000000"
        row["content_hash"] = hash_content([None if row[name] is None else str(row[name]) for name in CONTENT_COLUMNS])
        later = ledger.update().where(of_workspace, ledger.c.seq >= seq)
        connection.execute(later.values(seq=-ledger.c.seq - 1))  # an index refuses equal numbers, also for a moment
        connection.execute(ledger.update().where(of_workspace, ledger.c.seq < 0).values(seq=-ledger.c.seq))
        connection.execute(insert(ledger), row | {"seq": seq})

    return change


make_invalid_text = _run_sql("UPDATE ledger SET after = CAST(x'7b80' AS TEXT) WHERE $W AND seq = :k")
"""Store bytes that are not UTF-8, which PostgreSQL refuses."""


@frozen
class Tampering:
    """A change of row ``k`` of ``n``, and the row where it is found."""

    change: Callable[[Connection, int, int], None]
    found_at: Callable[[int, int], int] = lambda k, n: k


TAMPERINGS: Mapping[str, Tampering] = {
    **{
        f"a character of {name}": Tampering(_flip_character(name))
        for name in (*CONTENT_COLUMNS, "content_hash", "chain_hash")
        if name != "workspace_id"
    },
    "another workspace": Tampering(
        _run_sql(f"UPDATE ledger SET workspace_id = '{OTHER_WORKSPACE}', seq = 1000000 WHERE $W AND seq = :k")
    ),
    "content and its hash": Tampering(_rewrite(hides_link=False)),
    "content and both hashes": Tampering(_rewrite(hides_link=True), lambda k, n: k + 1),
    "content and both hashes of the last row": Tampering(
        lambda connection, k, n: _rewrite(hides_link=True)(connection, n, n), lambda k, n: n
    ),
    "a deleted row": Tampering(_run_sql("DELETE FROM ledger WHERE $W AND seq = :k")),
    "the deleted last row": Tampering(_run_sql("DELETE FROM ledger WHERE $W AND seq = :n"), lambda k, n: n),
    "two rows in another order": Tampering(
        _run_sql(
            "UPDATE ledger SET seq = -1 WHERE $W AND seq = :k",
            "UPDATE ledger SET seq = :k WHERE $W AND seq = :k + 1",
            "UPDATE ledger SET seq = :k + 1 WHERE $W AND seq = -1",
        )
    ),
    "a row with a later number": Tampering(_run_sql("UPDATE ledger SET seq = :n + 100 WHERE $W AND seq = :k")),
    "a row without a number": Tampering(_run_sql("UPDATE ledger SET seq = NULL WHERE $W AND seq = :k")),
    "an inserted row": Tampering(_insert_row(number=lambda k, n: k)),
    "an appended row": Tampering(_insert_row(number=lambda k, n: n + 1), lambda k, n: n + 1),
    "the hash of the head": Tampering(_run_sql("UPDATE ledger_heads SET chain_hash = 'f' WHERE $W"), lambda k, n: n),
    "the number of the head": Tampering(_run_sql("UPDATE ledger_heads SET seq = seq - 1 WHERE $W"), lambda k, n: n - 1),
    "a head that is too far": Tampering(_run_sql("UPDATE ledger_heads SET seq = seq + 1 WHERE $W"), lambda k, n: n + 1),
    "no head": Tampering(_run_sql("DELETE FROM ledger_heads WHERE $W"), lambda k, n: 1),
}
