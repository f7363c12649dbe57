"""The tables of the ledger.

Rows are never deleted, and only the seal of a row changes. The rows have no foreign keys: they are also evidence of
deleted rows, and an insert locks no other row.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import WHERE, make_time_column, metadata

ledger = Table(
    "ledger",
    metadata,
    Column("workspace_id", Text, nullable=False),
    make_time_column("created_at"),
    Column("id", Text, nullable=False),
    Column("user_id", Text),
    Column("credential", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("account_id", Text),
    Column("network", Text),
    Column("subject_type", Text, nullable=False),
    Column("subject_id", Text, nullable=False),
    # Text and not ExactJson, because the hash covers the exact characters
    Column("before", Text),
    Column("after", Text),
    Column("content_hash", Text, nullable=False),
    Column("seq", BigInteger),
    Column("chain_hash", Text),
    PrimaryKeyConstraint("workspace_id", "created_at", "id"),
    Index("ix_ledger_sealed", "workspace_id", "seq", unique=True, info={WHERE: "seq IS NOT NULL"}),
    Index("ix_ledger_unsealed", "workspace_id", "created_at", "id", info={WHERE: "seq IS NULL"}),
)

ledger_heads = Table(
    "ledger_heads",
    metadata,
    Column("workspace_id", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("chain_hash", Text, nullable=False),
    PrimaryKeyConstraint("workspace_id"),
)
