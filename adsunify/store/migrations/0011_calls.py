"""Adds the sum of a bulk call to each of its operations. NULL: the operation was prepared alone, or is older."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None
kind = "contracting"


def upgrade() -> None:
    op.add_column("operations", sa.Column("call_spend", sa.Text(), nullable=True))
