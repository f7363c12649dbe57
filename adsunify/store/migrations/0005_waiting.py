"""Indexes waiting deliveries by subscription, so that the backlog of one subscription does not slow down the others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.drop_index("ix_deliveries_due", "deliveries")
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["webhook_id", "next_attempt_at"],
        sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
