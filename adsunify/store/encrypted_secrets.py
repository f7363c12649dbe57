"""Stores ciphertexts by table, row and field. This module cannot decrypt them."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from sqlalchemy import Connection, and_, bindparam, delete, func, not_, select, tuple_, update

from adsunify.store import upsert
from adsunify.store.clock import Clock
from adsunify.store.schema import secrets
from adsunify.store.statement import Statement


@frozen
class SecretRecord:
    """A ciphertext with its table, row, workspace and field, which :mod:`adsunify.encryption` authenticates."""

    table_name: str
    row_id: str
    field: str
    workspace_id: str
    sealed: str


_PUT = upsert.insert_or_update(secrets, ("table_name", "row_id", "field"), ("sealed", "updated_at"), secrets.c.field)
_OF_ROW = and_(secrets.c.table_name == bindparam("of_table"), secrets.c.row_id == bindparam("of_row"))
_GET = Statement(select(secrets.c.field, secrets.c.sealed).where(_OF_ROW))
_DELETE = delete(secrets).where(_OF_ROW)
_COLUMNS = (secrets.c.table_name, secrets.c.row_id, secrets.c.field, secrets.c.workspace_id, secrets.c.sealed)
_IS_ENCRYPTED_WITH = func.substr(secrets.c.sealed, 1, func.length(bindparam("the_prefix"))) == bindparam("the_prefix")
_COUNT_ENCRYPTED_WITH = select(func.count()).select_from(secrets).where(_IS_ENCRYPTED_WITH)
_COUNT_NOT_ENCRYPTED_WITH = select(func.count()).select_from(secrets).where(not_(_IS_ENCRYPTED_WITH))
_PAGE = (
    select(*_COLUMNS)
    .where(not_(_IS_ENCRYPTED_WITH))
    .order_by(secrets.c.table_name, secrets.c.row_id, secrets.c.field)
    .limit(bindparam("at_most"))
)
_PAGE_AFTER = _PAGE.where(
    tuple_(secrets.c.table_name, secrets.c.row_id, secrets.c.field)
    > tuple_(bindparam("last_table"), bindparam("last_row"), bindparam("last_field"))
)
_REPLACE = (
    update(secrets)
    .where(_OF_ROW, secrets.c.field == bindparam("of_field"), secrets.c.sealed == bindparam("old_sealed"))
    .values(sealed=bindparam("new_sealed"), updated_at=bindparam("now"))
    .returning(secrets.c.field)
)


def save_secrets(
    connection: Connection, table_name: str, row_id: str, workspace_id: str, sealed: Mapping[str, str], clock: Clock
) -> None:
    """Store ciphertexts by field. Other fields of the row stay unchanged."""
    for field, value in sealed.items():
        row = {
            "table_name": table_name,
            "row_id": row_id,
            "field": field,
            "workspace_id": workspace_id,
            "sealed": value,
            "updated_at": clock.now(),
        }
        _PUT.fetch_all(connection, row)


def get_secrets(connection: Connection, table_name: str, row_id: str) -> dict[str, str]:
    """Return the ciphertexts of a row, by field."""
    rows = _GET.fetch_all(connection, {"of_table": table_name, "of_row": row_id})
    return {row.field: row.sealed for row in rows}


def delete_secrets(connection: Connection, table_name: str, row_id: str) -> None:
    """Delete all ciphertexts of a row."""
    connection.execute(_DELETE, {"of_table": table_name, "of_row": row_id})


def count_encrypted_with(connection: Connection, prefix: str) -> int:
    """Count the ciphertexts that begin with ``prefix``."""
    return int(connection.execute(_COUNT_ENCRYPTED_WITH, {"the_prefix": prefix}).scalar_one())


def count_not_encrypted_with(connection: Connection, prefix: str) -> int:
    """Count the ciphertexts that do not begin with ``prefix``."""
    return int(connection.execute(_COUNT_NOT_ENCRYPTED_WITH, {"the_prefix": prefix}).scalar_one())


def list_not_encrypted_with(
    connection: Connection, prefix: str, after: SecretRecord | None, limit: int
) -> list[SecretRecord]:
    """Return a page of the ciphertexts that do not begin with ``prefix``.

    ``after`` is the last one of the page before.
    """
    values = {"the_prefix": prefix, "at_most": limit}
    if after is None:
        rows = connection.execute(_PAGE, values).all()
    else:
        last = {"last_table": after.table_name, "last_row": after.row_id, "last_field": after.field}
        rows = connection.execute(_PAGE_AFTER, last | values).all()
    return [SecretRecord(**row._mapping) for row in rows]


def replace_secret(connection: Connection, old: SecretRecord, sealed: str, clock: Clock) -> bool:
    """Replace ``old`` by another ciphertext, unless it was changed in the meantime. Returns whether it was replaced."""
    values = {
        "of_table": old.table_name,
        "of_row": old.row_id,
        "of_field": old.field,
        "old_sealed": old.sealed,
        "new_sealed": sealed,
        "now": clock.now(),
    }
    return bool(connection.execute(_REPLACE, values).all())
