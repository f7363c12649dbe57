"""Creates the table of all campaigns, ad groups and ads that receipts report as created, with step and operation.

The migration does not add the ids of older receipts. The table detects a late copy of a response, which arrives
within seconds of the response itself, so an operation after this migration cannot get the copy of an older response. To
read older receipts, the migration would need the adapters, which change over time.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None
kind = "contracting"


def upgrade() -> None:
    op.create_table(
        "created_entities",
        sa.Column("network", sa.Text(), nullable=False),
        sa.Column("native_account", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("native_id", sa.Text(), nullable=False),
        sa.Column("operation_id", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["operation_id"], ["operations.id"], name="fk_created_entities_operation_id"),
        sa.PrimaryKeyConstraint("network", "native_account", "kind", "native_id", name="pk_created_entities"),
    )
