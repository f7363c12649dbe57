"""Creates the tables of guardrails: rules, what their windows count, frozen credentials, and budgets as they were read.

Existing workspaces have no rule, so their version is 0.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
kind = "contracting"


def upgrade() -> None:
    op.add_column("workspaces", sa.Column("guardrails_version", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "guardrails",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("window_hours", sa.Integer(), nullable=True),
        sa.Column("limit_daily", sa.BigInteger(), nullable=True),
        sa.Column("limit_lifetime", sa.BigInteger(), nullable=True),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("used_daily", sa.BigInteger(), nullable=False),
        sa.Column("used_lifetime", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_guardrails_workspace_id"),
        sa.PrimaryKeyConstraint("id", name="pk_guardrails"),
    )
    op.create_index("ix_guardrails_workspace_id", "guardrails", ["workspace_id"])
    op.create_table(
        "guardrail_hours",
        sa.Column("rule_id", sa.Text(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("daily", sa.BigInteger(), nullable=False),
        sa.Column("lifetime", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["rule_id"], ["guardrails.id"], name="fk_guardrail_hours_rule_id"),
        sa.PrimaryKeyConstraint("rule_id", "hour", name="pk_guardrail_hours"),
    )
    op.create_table(
        "guardrail_uses",
        sa.Column("rule_id", sa.Text(), nullable=False),
        sa.Column("chain_id", sa.Text(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("daily", sa.BigInteger(), nullable=False),
        sa.Column("lifetime", sa.BigInteger(), nullable=False),
        sa.Column("unknown", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["rule_id"], ["guardrails.id"], name="fk_guardrail_uses_rule_id"),
        sa.ForeignKeyConstraint(["chain_id"], ["operations.id"], name="fk_guardrail_uses_chain_id"),
        sa.PrimaryKeyConstraint("rule_id", "chain_id", name="pk_guardrail_uses"),
    )
    op.create_index("ix_guardrail_uses_chain_id", "guardrail_uses", ["chain_id"])
    op.create_index("ix_guardrail_uses_rule_id_hour", "guardrail_uses", ["rule_id", "hour"])
    op.create_table(
        "frozen_credentials",
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("rule_id", sa.Text(), nullable=False),
        sa.Column("operation_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_frozen_credentials_workspace_id"),
        sa.ForeignKeyConstraint(["operation_id"], ["operations.id"], name="fk_frozen_credentials_operation_id"),
        sa.PrimaryKeyConstraint("workspace_id", "credential", name="pk_frozen_credentials"),
    )
    op.create_table(
        "budgets",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("native_id", sa.Text(), nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("lowest", sa.BigInteger(), nullable=False),
        sa.Column("highest", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_budgets_account_id"),
        sa.PrimaryKeyConstraint("account_id", "kind", "native_id", "field", "hour", name="pk_budgets"),
    )
    op.create_index("ix_budgets_account_id_highest", "budgets", ["account_id", "highest"])
