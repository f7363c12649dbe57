"""Adds below which entity an entity was created."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.add_column("created_entities", sa.Column("parent_id", sa.Text(), nullable=True))
