"""Every campaign, ad group and ad that a receipt says was created, and by which step of which operation.

The ids of older receipts are not entered. The table recognises a late copy of an answer, which comes within seconds of
the answer itself; an operation that starts after this migration gets no copy of an answer to an older one. To read
older receipts, the migration would need the adapters, and these change after it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


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
