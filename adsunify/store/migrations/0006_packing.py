"""Compresses plans. Before, a SQLite page held one operation, and the file grew by twice the length of the plans."""

from __future__ import annotations

import zlib

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None
kind = "contracting"

AT_ONCE = 500
OPERATIONS = sa.table(
    "operations", sa.column("id", sa.Text), sa.column("plan", sa.Text), sa.column("packed", sa.LargeBinary)
)


def upgrade() -> None:
    packed = sa.Column("packed", sa.LargeBinary(), nullable=False, server_default="")
    op.add_column("operations", packed)
    _pack(op.get_bind())
    op.drop_column("operations", "plan")
    op.execute("ALTER TABLE operations RENAME COLUMN packed TO plan")


def _pack(connection: sa.Connection) -> None:
    page = sa.select(OPERATIONS.c.id, OPERATIONS.c.plan).order_by(OPERATIONS.c.id).limit(AT_ONCE)
    change = sa.update(OPERATIONS).where(OPERATIONS.c.id == sa.bindparam("the_id"))
    last = ""
    while rows := connection.execute(page.where(OPERATIONS.c.id > last)).all():
        last = rows[-1].id
        values = [{"the_id": row.id, "packed": zlib.compress(row.plan.encode("utf-8"), 1)} for row in rows]
        connection.execute(change, values)
