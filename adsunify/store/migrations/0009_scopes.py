"""Adds the scope of API keys and of grants. NULL means all accounts of the workspace."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
kind = "contracting"


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("scope", sa.Text(), nullable=True))
    op.add_column("grants", sa.Column("scope", sa.Text(), nullable=True))
