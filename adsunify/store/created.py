"""The native ids that receipts report as created, each by one step of one operation.

A network assigns an id once. If a receipt has an id that another step created, its response belongs to another request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve
from sqlalchemy import Connection, and_, bindparam, select

from adsunify.errors import NativeErrorDetails
from adsunify.execution.state import CreatedId, Receipt
from adsunify.guardrails.children import Creation
from adsunify.values.exact_json import Json

from . import upsert
from .schema import created_entities, entities, operations
from .schema.operations import CHAIN_ID
from .statement import Statement

_GET_CHAIN = Statement(select(CHAIN_ID).where(operations.c.id == bindparam("the_id")))
_INSERT = upsert.insert_or_ignore(created_entities, ("network", "native_account", "kind", "native_id"))
_FIND_CREATOR = Statement(
    select(CHAIN_ID, created_entities.c.n)
    .join(operations, operations.c.id == created_entities.c.operation_id)
    .where(
        created_entities.c.network == bindparam("network"),
        created_entities.c.native_account == bindparam("native_account"),
        created_entities.c.kind == bindparam("kind"),
        created_entities.c.native_id == bindparam("native_id"),
    )
)

_LIST_CREATED = Statement(
    select(created_entities.c.native_id, created_entities.c.operation_id, created_entities.c.n).where(
        created_entities.c.network == bindparam("network"),
        created_entities.c.native_account == bindparam("native_account"),
        created_entities.c.kind == bindparam("kind"),
    )
)
_LIST_LATELY_CREATED = Statement(
    select(
        CHAIN_ID,
        created_entities.c.kind,
        created_entities.c.native_id,
        created_entities.c.parent_id,
        entities.c.status,
    )
    .join(operations, operations.c.id == created_entities.c.operation_id)
    .outerjoin(
        entities,
        and_(
            entities.c.account_id == bindparam("of_account"),
            entities.c.kind == created_entities.c.kind,
            entities.c.native_id == created_entities.c.native_id,
        ),
    )
    .where(
        created_entities.c.network == bindparam("network"),
        created_entities.c.native_account == bindparam("native_account"),
        created_entities.c.created_at >= bindparam("since"),
    )
)


def record_created(
    connection: Connection,
    network: str,
    native_account: str,
    operation_id: str,
    n: int,
    created: Sequence[CreatedId],
    at: int,
) -> CreatedId | None:
    """Record the entities that step ``n`` created in the account with this native id. ``at``: milliseconds since 1970.

    The same step may report the same entity again, after a repeated commit or a repeated response for an idempotency
    key. The operations of a chain have the same steps and the same idempotency keys.

    Returns:
        The first entity that another step has created already; None if all entities are new.
    """
    for created_id in sorted(
        created, key=lambda entity: (entity.kind, entity.id)
    ):  # all writers use one order, which prevents deadlocks
        key = {
            "network": network,
            "native_account": native_account,
            "kind": created_id.kind,
            "native_id": created_id.id,
        }
        values = {**key, "parent_id": created_id.parent_id, "operation_id": operation_id, "n": n, "created_at": at}
        if _INSERT.fetch_all(connection, values):
            continue
        if _has_other_creator(connection, key, operation_id, n):
            return created_id
    return None


def find_created_by_other(
    connection: Connection, network: str, native_account: str, operation_id: str, n: int, created: Sequence[CreatedId]
) -> CreatedId | None:
    """Return the first entity that a step other than step ``n`` has created; None if there is no such entity."""
    account = {"network": network, "native_account": native_account}
    for created_id in created:
        key = {**account, "kind": created_id.kind, "native_id": created_id.id}
        if _has_other_creator(connection, key, operation_id, n):
            return created_id
    return None


def _has_other_creator(connection: Connection, key: Mapping[str, str], operation_id: str, n: int) -> bool:
    maker = _FIND_CREATOR.fetch_one_or_none(connection, key)
    chain = _GET_CHAIN.fetch_one(connection, {"the_id": operation_id}).chain
    return maker is not None and (maker.chain, maker.n) != (chain, n)


def list_created(
    connection: Connection, network: str, native_account: str, kind: str
) -> list[tuple[str, tuple[str, int]]]:
    """Return the ids of a kind that receipts of all workspaces report as created in the account.

    Each has the operation and the position of the step that created it.
    """
    rows = _LIST_CREATED.fetch_all(connection, {"network": network, "native_account": native_account, "kind": kind})
    return [(row.native_id, (row.operation_id, row.n)) for row in rows]


def list_lately_created(
    connection: Connection, account_id: str, network: str, native_account: str, since: int
) -> list[list[Creation]]:
    """Return the entities that receipts of all workspaces report as created in the account since a time.

    Each inner list has the entities that one chain of operations created. ``since``: milliseconds since 1970.
    ``account_id``: the account whose last known statuses show which entities are deleted.
    """
    values = {"of_account": account_id, "network": network, "native_account": native_account, "since": since}
    chains: dict[str, list[Creation]] = {}
    for row in _LIST_LATELY_CREATED.fetch_all(connection, values):
        creation = Creation(row.kind, row.native_id, row.parent_id, is_deleted=row.status == "deleted")
        chains.setdefault(row.chain, []).append(creation)
    return list(chains.values())


def make_ambiguous_receipt(receipt: Receipt, conflicting: CreatedId) -> Receipt:
    """Make the ambiguous receipt of a response that has another step's id."""
    message = (
        f"The answer contains the id of an entity ({conflicting.kind}) that another operation or step has created."
    )
    error = NativeErrorDetails(message=message, request_id=receipt.request_id, status=receipt.http_status)
    return evolve(receipt, state="ambiguous", outputs={}, items=(), error=error)


def build_unknown_outcome_error(receipt: Receipt) -> Mapping[str, Json]:
    """Build the ``error`` of an operation that ends with an ambiguous receipt."""
    assert receipt.error is not None
    message = f"It is not known whether step {receipt.key} was done."
    return {
        "code": "outcome_unknown",
        "message": f"{message} {receipt.error.message}",
        "step": receipt.key,
        "network": receipt.error.to_json(),
    }
