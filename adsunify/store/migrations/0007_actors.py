"""Adds who executed and who cancelled an operation, and who executed each attempt at a step."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.add_column("operations", sa.Column("executed_by", sa.Text(), nullable=True))
    op.add_column("operations", sa.Column("cancelled_by", sa.Text(), nullable=True))
    op.add_column("steps", sa.Column("executed_by", sa.Text(), nullable=True))
