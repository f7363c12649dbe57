"""Adds what retention has removed of an operation, and which operations came back from a backup."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
kind = "expanding"  # the first write that older servers cannot read raises the oldest version


def upgrade() -> None:
    for name in ("plan_removed_at", "responses_removed_at", "restored_at"):
        op.add_column("operations", sa.Column(name, sa.BigInteger(), nullable=True))
