"""Adds the index by which the entities are found that were created lately in an account."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None
kind = "expanding"
in_transaction = False


def upgrade() -> None:
    name, table = "ix_created_entities_network_native_account_created_at", "created_entities"
    op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
    op.create_index(name, table, ["network", "native_account", "created_at"], postgresql_concurrently=True)
