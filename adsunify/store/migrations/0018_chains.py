"""Adds the chains of operations: which operation another one resumes, and how many receipts it was based on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
kind = "contracting"


def upgrade() -> None:
    for name in ("resumes", "resumed_by", "chain_id"):
        op.add_column("operations", sa.Column(name, sa.Text(), nullable=True))
    op.add_column("operations", sa.Column("chain_receipts", sa.Integer(), nullable=True))
    is_resuming = sa.text("chain_id IS NOT NULL")
    op.create_index(
        "ix_operations_chain_id",
        "operations",
        ["chain_id"],
        sqlite_where=is_resuming,
        postgresql_where=is_resuming,
    )
