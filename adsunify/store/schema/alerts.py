"""The tables of alerts."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import (
    ExactJson,
    make_id_column,
    make_reference_column,
    make_time_column,
    metadata,
)

alerts = Table(
    "alerts",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    Column("version", Integer, nullable=False),
    make_time_column("begun_at"),
    Column("body", ExactJson, nullable=False),
    Index(None, "workspace_id"),
)

alert_evaluations = Table(
    "alert_evaluations",
    metadata,
    make_reference_column("alert_id", "alerts"),
    make_reference_column("account_id", "accounts"),
    Column("version", Integer, nullable=False),
    make_time_column("read_at"),
    make_time_column("evaluated_at"),
    make_time_column("retry_at", nullable=True),
    Column("gaps", ExactJson, nullable=False),
    PrimaryKeyConstraint("alert_id", "account_id"),
)

alert_breaches = Table(
    "alert_breaches",
    metadata,
    make_reference_column("alert_id", "alerts"),
    make_reference_column("account_id", "accounts"),
    Column("entity_id", Text, nullable=False),
    Column("period", Text, nullable=False),
    Column("told_on", Text, nullable=False),
    Column("open", Boolean, nullable=False),
    PrimaryKeyConstraint("alert_id", "account_id", "entity_id", "period"),
)
