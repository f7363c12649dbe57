"""The chain of a workspace's ledger: seals rows, and finds the first row that was changed or is missing.

Any number of processes may seal. Each one locks the workspace's head row, so they seal one after another.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen
from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Select,
    Text,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    update,
)

from adsunify.errors import StoreError
from adsunify.ledger import ChainLink, hash_content, hash_link

from . import upsert
from .ledger import CONTENT_COLUMNS
from .schema import ledger, ledger_heads
from .statement import Statement


@frozen
class ChainProblem:
    """The first fault of a chain.

    Attributes:
        seq: the number of the row.
        row_id: the id of the row; None if no row has this number.
        reason: one sentence that describes the fault.
    """

    seq: int
    row_id: str | None
    reason: str


# -- statements ---------------------------------------------------------------------------------------------------

_IS_UNSEALED: ColumnElement[bool] = literal_column("seq IS NULL")  # the text of the partial index
_OF_WORKSPACE = ledger.c.workspace_id == bindparam("of_workspace")
_LIST_UNSEALED_WORKSPACES = Statement(
    select(ledger.c.workspace_id).where(_IS_UNSEALED).group_by(ledger.c.workspace_id).order_by(ledger.c.workspace_id)
)
_COUNT_UNSEALED = Statement(select(func.count().label("rows")).where(_OF_WORKSPACE, _IS_UNSEALED))
_SELECT_UNSEALED = Statement(
    select(ledger.c.created_at, ledger.c.id, ledger.c.content_hash)
    .where(_OF_WORKSPACE, _IS_UNSEALED)
    .order_by(ledger.c.created_at, ledger.c.id)
    .limit(bindparam("at_most"))
)
_SEAL = Statement(
    update(ledger)
    .where(
        _OF_WORKSPACE,
        ledger.c.created_at == bindparam("of_time"),
        ledger.c.id == bindparam("the_id"),
        ledger.c.seq.is_(None),
    )
    .values(seq=bindparam("new_seq"), chain_hash=bindparam("new_chain_hash"))
)
_ADD_HEAD = upsert.insert_or_ignore(ledger_heads, ("workspace_id",))
_HEAD = select(ledger_heads.c.seq, ledger_heads.c.chain_hash).where(
    ledger_heads.c.workspace_id == bindparam("of_workspace")
)
_GET_HEAD, _LOCK_HEAD = Statement(_HEAD), Statement(_HEAD.with_for_update())
_MOVE_HEAD = Statement(
    update(ledger_heads)
    .where(ledger_heads.c.workspace_id == bindparam("of_workspace"))
    .values(seq=bindparam("new_seq"), chain_hash=bindparam("new_chain_hash"))
)
_FIND_BEYOND_HEAD = Statement(
    select(func.min(ledger.c.seq).label("seq")).where(
        _OF_WORKSPACE,
        ledger.c.seq
        > func.coalesce(
            select(ledger_heads.c.seq).where(ledger_heads.c.workspace_id == ledger.c.workspace_id).scalar_subquery(), 0
        ),
    )
)
"""One statement, so that it sees the rows and the head at the same moment."""


def _select_chain(dialect: str) -> Select[Any]:
    """Select sealed rows. SQLite returns the stored bytes, because a changed byte may not be UTF-8."""

    def read(name: str) -> ColumnElement[Any]:
        column = ledger.c[name]
        if dialect == "sqlite":
            return cast(column, LargeBinary).label(name)
        return column if isinstance(column.type, Text) else cast(column, Text).label(name)

    return (
        select(ledger.c.seq, *map(read, (*CONTENT_COLUMNS, "content_hash", "chain_hash")))
        .where(_OF_WORKSPACE, ledger.c.seq > bindparam("after"), ledger.c.seq <= bindparam("last"))
        .order_by(ledger.c.seq)
        .limit(bindparam("at_most"))
    )


_SELECT_CHAIN = Statement(_select_chain)


# -- sealing ------------------------------------------------------------------------------------------------------


def list_unsealed_workspaces(connection: Connection) -> list[str]:
    """Return the workspaces that have rows to be sealed."""
    return [row.workspace_id for row in _LIST_UNSEALED_WORKSPACES.fetch_all(connection, {})]


def seal_rows(connection: Connection, workspace_id: str, limit: int) -> int:
    """Give the oldest unsealed rows of a workspace their numbers and chained hashes.

    The content of the rows is not checked: a row that was changed before is sealed with its stored hash, and
        :func:`check_rows` finds the change.

    Args:
        connection: the connection.
        workspace_id: the workspace.
        limit: the maximum number of rows.

    Returns:
        The number of sealed rows. If it is ``limit``, more rows may be unsealed.

    Raises:
        StoreError: the head of the chain was changed, so that the next number is not known.
    """
    workspace = {"of_workspace": workspace_id}
    first = ChainLink()
    _ADD_HEAD.fetch_all(connection, {"workspace_id": workspace_id, "seq": first.seq, "chain_hash": first.chain_hash})
    head = _LOCK_HEAD.fetch_one(connection, workspace)
    if find_row_beyond_head(connection, workspace_id) is not None:
        raise StoreError("The head of the ledger's chain was changed. `adsunify ledger verify` shows where.")
    seq, chain_hash = head.seq, head.chain_hash
    sealed = []
    for row in _SELECT_UNSEALED.fetch_all(connection, {**workspace, "at_most": limit}):
        seq, chain_hash = seq + 1, hash_link(chain_hash, row.content_hash)
        seal = {"of_time": row.created_at, "the_id": row.id, "new_seq": seq, "new_chain_hash": chain_hash}
        sealed.append(workspace | seal)
    if sealed:
        _SEAL.execute_each(connection, sealed)
        _MOVE_HEAD.fetch_all(connection, {**workspace, "new_seq": seq, "new_chain_hash": chain_hash})
    return len(sealed)


# -- checking -----------------------------------------------------------------------------------------------------


def get_head(connection: Connection, workspace_id: str) -> ChainLink:
    """Return the end of a workspace's chain."""
    row = _GET_HEAD.fetch_one_or_none(connection, {"of_workspace": workspace_id})
    return ChainLink() if row is None else ChainLink(row.seq, row.chain_hash)


def count_unsealed(connection: Connection, workspace_id: str) -> int:
    """Return how many rows of a workspace are not sealed."""
    count: int = _COUNT_UNSEALED.fetch_one(connection, {"of_workspace": workspace_id}).rows
    return count


def check_rows(
    connection: Connection, workspace_id: str, place: ChainLink, head: ChainLink, limit: int
) -> tuple[ChainLink, ChainProblem | None]:
    """Check the next sealed rows of a chain, and at the end the chain's head.

    Args:
        connection: the connection.
        workspace_id: the workspace.
        place: the last row that was checked.
        head: the end of the chain. Later rows are not read.
        limit: the maximum number of rows.

    Returns:
        The last correct row, and the fault of the row after it, if there is one.
    """
    values = {"of_workspace": workspace_id, "after": place.seq, "last": head.seq, "at_most": limit}
    rows = _SELECT_CHAIN.fetch_all(connection, values)
    for row in rows:
        fault = _find_fault(row, place)
        if fault is not None:
            return place, fault
        place = ChainLink(row.seq, _decode_text(row.chain_hash) or "")
    if len(rows) < limit and place.seq < head.seq:
        return place, ChainProblem(place.seq + 1, None, f"The row is missing. The chain has {head.seq} rows.")
    if place.seq == head.seq and place != head:
        return place, ChainProblem(place.seq, None, "The head of the chain was changed: it has another hash.")
    return place, None


def find_row_beyond_head(connection: Connection, workspace_id: str) -> ChainProblem | None:
    """Return the first numbered row after the chain's end. No sealer writes such a row."""
    seq = _FIND_BEYOND_HEAD.fetch_one(connection, {"of_workspace": workspace_id}).seq
    return None if seq is None else ChainProblem(seq, None, "The row has a number after the end of the chain.")


def _find_fault(row: Any, place: ChainLink) -> ChainProblem | None:
    expected, row_id = place.seq + 1, _decode_text(row.id)
    if row.seq != expected:
        return ChainProblem(expected, None, f"The row is missing. The next one has the number {row.seq}.")
    content = [_decode_text(getattr(row, name)) for name in CONTENT_COLUMNS]
    content_hash = _decode_text(row.content_hash) or ""
    if hash_content(content) != content_hash:
        return ChainProblem(expected, row_id, "The content of the row was changed: it does not have the row's hash.")
    if hash_link(place.chain_hash, content_hash) != _decode_text(row.chain_hash):
        return ChainProblem(
            expected,
            row_id,
            "The chained hash of the row does not follow from the row before it: a row, the order of the rows, or a "
            "hash was changed.",
        )
    return None


def _decode_text(stored: bytes | str | None) -> str | None:
    """Return a stored text. Bytes that are not UTF-8 become characters that no valid text contains."""
    return stored.decode("utf-8", "surrogateescape") if isinstance(stored, bytes) else stored
