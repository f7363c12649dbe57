"""Adds the index by which an operation's change set is found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None
kind = "expanding"
in_transaction = False


def upgrade() -> None:
    name, table = "ix_change_set_members_operation_id", "change_set_members"
    has_operation = sa.text("operation_id IS NOT NULL")
    op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
    op.create_index(
        name,
        table,
        ["operation_id"],
        sqlite_where=has_operation,
        postgresql_where=has_operation,
        postgresql_concurrently=True,
    )
