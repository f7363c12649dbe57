"""Adds when an entity was recorded as created."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.add_column("created_entities", sa.Column("created_at", sa.BigInteger(), nullable=True))
