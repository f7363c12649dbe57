"""Records the oldest version of the schema whose servers may use the database."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.add_column("alembic_version", sa.Column("oldest_version", sa.Text(), nullable=True))
