"""Adds to operations whether their plan comes from a brief. Only those operations can be activated."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.add_column("operations", sa.Column("unified", sa.Boolean(), nullable=False, server_default=sa.false()))
