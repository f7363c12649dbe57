"""Adds the indexes of lists of operations with an account or a rare status."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.create_index(
        "ix_operations_workspace_id_account_id_created_at_id",
        "operations",
        ["workspace_id", "account_id", "created_at", "id"],
    )
    for status in ("unknown", "running"):
        condition = sa.text(f"status = '{status}'")
        op.create_index(
            f"ix_operations_of_status_{status}",
            "operations",
            ["workspace_id", "created_at", "id"],
            sqlite_where=condition,
            postgresql_where=condition,
        )
