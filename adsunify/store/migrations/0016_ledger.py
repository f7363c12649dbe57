"""Creates the ledger, and the head of each workspace's chain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
kind = "contracting"


def upgrade() -> None:
    op.create_table(
        "ledger",
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=name == "user_id") for name in ("id", "user_id", "credential", "kind")),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("account_id", "network")),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("subject_type", "subject_id")),
        *(sa.Column(name, sa.Text(), nullable=True) for name in ("before", "after")),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=True),
        sa.Column("chain_hash", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("workspace_id", "created_at", "id", name="pk_ledger"),
    )
    sealed, unsealed = sa.text("seq IS NOT NULL"), sa.text("seq IS NULL")
    op.create_index(
        "ix_ledger_sealed",
        "ledger",
        ["workspace_id", "seq"],
        unique=True,
        sqlite_where=sealed,
        postgresql_where=sealed,
    )
    op.create_index(
        "ix_ledger_unsealed",
        "ledger",
        ["workspace_id", "created_at", "id"],
        sqlite_where=unsealed,
        postgresql_where=unsealed,
    )
    op.create_table(
        "ledger_heads",
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("chain_hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name="pk_ledger_heads"),
    )
