"""Adds the links between an operation and the one that undoes it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.add_column("operations", sa.Column("undoes", sa.Text(), nullable=True))
    op.add_column("operations", sa.Column("undone_by", sa.Text(), nullable=True))
