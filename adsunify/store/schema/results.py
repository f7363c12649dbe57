"""The tables of entities and reports, as responses of the networks show them."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from adsunify.store.schema.columns import ExactJson, make_id_column, make_reference_column, make_time_column, metadata

created_entities = Table(
    "created_entities",
    metadata,
    Column("network", Text, nullable=False),
    Column("native_account", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    make_reference_column("operation_id", "operations"),
    Column("n", Integer, nullable=False),
    make_time_column("created_at", nullable=True),  # NULL in rows of version 0.1
    Column("parent_id", Text),
    PrimaryKeyConstraint("network", "native_account", "kind", "native_id"),
    Index(None, "network", "native_account", "created_at"),
)

entities = Table(
    "entities",
    metadata,
    make_reference_column("account_id", "accounts"),
    Column("kind", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    make_time_column("seen_at"),
    make_time_column("activated_at", nullable=True),
    PrimaryKeyConstraint("account_id", "kind", "native_id"),
)

reports = Table(
    "reports",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("account_id", "accounts"),
    Column("start_date", Text, nullable=False),
    Column("end_date", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("entities", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("job", ExactJson),
    make_time_column("created_at"),
    make_time_column("updated_at"),
    UniqueConstraint("account_id", "start_date", "end_date", "level", "entities"),
)
