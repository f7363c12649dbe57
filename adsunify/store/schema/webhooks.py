"""The tables of webhooks and their deliveries."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import (
    WHERE,
    ExactJson,
    make_id_column,
    make_reference_column,
    make_time_column,
    metadata,
)

webhooks = Table(
    "webhooks",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    make_reference_column("key_id", "api_keys", nullable=True),
    make_reference_column("account_id", "accounts", nullable=True),
    Column("url", Text, nullable=False),
    Column("events", ExactJson, nullable=False),
    Column("active", Boolean, nullable=False),
    make_time_column("created_at"),
    Index(None, "workspace_id"),
)

deliveries = Table(
    "deliveries",
    metadata,
    make_id_column(),
    make_reference_column("webhook_id", "webhooks"),
    Column("event_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    make_time_column("next_attempt_at", nullable=True),
    make_time_column("created_at"),
    Index(None, "webhook_id", "id"),
    Index("ix_deliveries_due", "webhook_id", "next_attempt_at", info={WHERE: "next_attempt_at IS NOT NULL"}),
)

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    make_reference_column("delivery_id", "deliveries"),
    Column("number", Integer, nullable=False),
    make_time_column("at"),
    Column("duration_ms", Integer),
    Column("status_code", Integer),
    Column("error", Text),
    PrimaryKeyConstraint("delivery_id", "number"),
)
