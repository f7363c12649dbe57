"""What waits for delivery, by subscription: a backlog of one that is paused or dead costs the others nothing."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_deliveries_due", "deliveries")
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["webhook_id", "next_attempt_at"],
        sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
