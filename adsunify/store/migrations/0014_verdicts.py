"""Creates the table of verdicts: what inspections and people decided about steps in doubt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.create_table(
        "verdicts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("operation_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("outputs", sa.Text(), nullable=False),
        sa.Column("items", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("settled_by", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["operation_id"], ["operations.id"], name="fk_verdicts_operation_id"),
        sa.PrimaryKeyConstraint("id", name="pk_verdicts"),
    )
    op.create_index("ix_verdicts_operation_id", "verdicts", ["operation_id"])
