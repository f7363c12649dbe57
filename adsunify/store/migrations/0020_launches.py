"""Creates the tables of launches and change sets, and adds the launch to operations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
kind = "expanding"


def upgrade() -> None:
    op.create_table(
        "launches",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("change_set_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_launches_workspace_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_launches_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_launches"),
    )
    op.create_index("ix_launches_workspace_id_created_at_id", "launches", ["workspace_id", "created_at", "id"])
    op.create_table(
        "launch_cells",
        sa.Column("launch_id", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("brief", sa.LargeBinary(), nullable=True),
        sa.Column("left_out", sa.Text(), nullable=False),
        sa.Column("issues", sa.Text(), nullable=False),
        sa.Column("operation_id", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["launch_id"], ["launches.id"], name="fk_launch_cells_launch_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_launch_cells_account_id"),
        sa.ForeignKeyConstraint(["operation_id"], ["operations.id"], name="fk_launch_cells_operation_id"),
        sa.PrimaryKeyConstraint("launch_id", "n", name="pk_launch_cells"),
    )
    op.create_table(
        "change_sets",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("workspace_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("launch_id", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("skip_invalid", sa.Boolean(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("executed_by", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name="fk_change_sets_workspace_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_change_sets_user_id"),
        sa.ForeignKeyConstraint(["launch_id"], ["launches.id"], name="fk_change_sets_launch_id"),
        sa.PrimaryKeyConstraint("id", name="pk_change_sets"),
    )
    op.create_index("ix_change_sets_launch_id", "change_sets", ["launch_id"])
    leased = sa.text("lease_until IS NOT NULL")
    op.create_index(
        "ix_change_sets_lease_until", "change_sets", ["lease_until"], sqlite_where=leased, postgresql_where=leased
    )
    op.create_table(
        "change_set_members",
        sa.Column("change_set_id", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("task", sa.LargeBinary(), nullable=False),
        sa.Column("plan", sa.LargeBinary(), nullable=True),
        sa.Column("draft", sa.Text(), nullable=True),
        sa.Column("issues", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("operation_id", sa.Text(), nullable=True),
        sa.Column("plan_digest", sa.Text(), nullable=True),
        sa.Column("exposure", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["change_set_id"], ["change_sets.id"], name="fk_change_set_members_change_set_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_change_set_members_account_id"),
        sa.ForeignKeyConstraint(["operation_id"], ["operations.id"], name="fk_change_set_members_operation_id"),
        sa.PrimaryKeyConstraint("change_set_id", "n", name="pk_change_set_members"),
    )
    op.add_column("operations", sa.Column("launch_id", sa.Text(), nullable=True))
