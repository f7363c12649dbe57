"""Creates the tables of daily figures that are kept: reads of ranges, versions of rows, and staged rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None
kind = "expanding"

TEXTS = (
    *("entity_name", "parent_id", "impressions", "clicks", "spend", "conversions", "conversion_value"),
    *("video_views", "reach"),
)


def upgrade() -> None:
    op.create_table(
        "figure_reads",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("start_date", sa.Text(), nullable=False),
        sa.Column("end_date", sa.Text(), nullable=False),
        sa.Column("provisional_from", sa.Text(), nullable=True),
        sa.Column("missing", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.Column("known_from", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_figure_reads_account_id"),
        sa.PrimaryKeyConstraint("account_id", "level", "number", name="pk_figure_reads"),
    )
    op.create_table(
        "figures",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("date", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=True) for name in TEXTS),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_figures_account_id"),
        sa.PrimaryKeyConstraint("account_id", "level", "date", "entity_id", "number", name="pk_figures"),
    )
    op.create_table(
        "staged_figures",
        sa.Column("read_id", sa.Text(), nullable=False),
        sa.Column("date", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=True) for name in TEXTS),
        sa.PrimaryKeyConstraint("read_id", "date", "entity_id", name="pk_staged_figures"),
    )
    op.create_index("ix_staged_figures_started_at", "staged_figures", ["started_at"])
