"""The tables of connected accounts."""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from adsunify.store.schema.columns import ExactJson, make_id_column, make_reference_column, make_time_column, metadata

connections = Table(
    "connections",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("network", Text, nullable=False),
    Column("status", Text, nullable=False),
    make_time_column("expires_at", nullable=True),
    make_time_column("refreshing_until", nullable=True),
    make_time_column("created_at"),
    make_time_column("updated_at"),
    Index(None, "workspace_id"),
)

accounts = Table(
    "accounts",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("connection_id", "connections"),
    Column("network", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    Column("name", Text),
    Column("currency", Text),
    Column("timezone", Text),
    Column("status", Text, nullable=False),
    Column("native_status", Text),
    Column("extras", ExactJson, nullable=False),
    Column("chosen_extras", ExactJson, nullable=False),
    make_time_column("synced_at", nullable=True),
    make_time_column("created_at"),
    make_time_column("updated_at"),
    UniqueConstraint("workspace_id", "network", "native_id"),
    Index(None, "connection_id"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("table_name", Text, nullable=False),
    Column("row_id", Text, nullable=False),
    Column("field", Text, nullable=False),
    make_reference_column("workspace_id", "workspaces"),
    Column("sealed", Text, nullable=False),
    make_time_column("updated_at"),
    PrimaryKeyConstraint("table_name", "row_id", "field"),
)

consents = Table(
    "consents",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("network", Text, nullable=False),
    Column("data", ExactJson, nullable=False),
    make_time_column("created_at"),
    make_time_column("expires_at"),
    make_time_column("used_at", nullable=True),
)
