"""Adds the level and the entities of reports. Existing reports are about whole accounts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None
kind = "contracting"

BEFORE = ["account_id", "start_date", "end_date"]


def upgrade() -> None:
    with op.batch_alter_table("reports") as table:
        table.add_column(sa.Column("level", sa.Text(), nullable=False, server_default="account"))
        table.add_column(sa.Column("entities", sa.Text(), nullable=False, server_default=""))
        table.drop_constraint("uq_reports_account_id_start_date_end_date", type_="unique")
        table.create_unique_constraint(
            "uq_reports_account_id_start_date_end_date_level_entities", [*BEFORE, "level", "entities"]
        )
