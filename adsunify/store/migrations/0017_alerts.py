"""Creates the tables of alerts, and adds the time of an activation to entities. Earlier activations have no time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("begun_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_alerts_workspace_id"),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
    )
    op.create_index("ix_alerts_workspace_id", "alerts", ["workspace_id"])
    op.create_table(
        "alert_evaluations",
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.Column("evaluated_at", sa.BigInteger(), nullable=False),
        sa.Column("retry_at", sa.BigInteger(), nullable=True),
        sa.Column("gaps", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name="fk_alert_evaluations_alert_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_alert_evaluations_account_id"),
        sa.PrimaryKeyConstraint("alert_id", "account_id", name="pk_alert_evaluations"),
    )
    op.create_table(
        "alert_breaches",
        sa.Column("alert_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("told_on", sa.Text(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name="fk_alert_breaches_alert_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_alert_breaches_account_id"),
        sa.PrimaryKeyConstraint("alert_id", "account_id", "entity_id", "period", name="pk_alert_breaches"),
    )
    op.add_column("entities", sa.Column("activated_at", sa.BigInteger(), nullable=True))
