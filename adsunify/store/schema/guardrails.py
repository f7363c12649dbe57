"""The tables of guardrails."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import (
    ExactJson,
    make_amount_column,
    make_hour_column,
    make_id_column,
    make_reference_column,
    make_time_column,
    metadata,
)

guardrails = Table(
    "guardrails",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    Column("version", Integer, nullable=False),
    Column("body", ExactJson, nullable=False),
    Column("window_hours", Integer),
    make_amount_column("limit_daily", nullable=True),
    make_amount_column("limit_lifetime", nullable=True),
    make_hour_column(),
    make_amount_column("used_daily"),
    make_amount_column("used_lifetime"),
    Index(None, "workspace_id"),
)

guardrail_hours = Table(
    "guardrail_hours",
    metadata,
    make_reference_column("rule_id", "guardrails"),
    make_hour_column(),
    make_amount_column("daily"),
    make_amount_column("lifetime"),
    PrimaryKeyConstraint("rule_id", "hour"),
)

guardrail_uses = Table(
    "guardrail_uses",
    metadata,
    make_reference_column("rule_id", "guardrails"),
    make_reference_column("chain_id", "operations"),
    make_hour_column(),
    make_amount_column("daily"),
    make_amount_column("lifetime"),
    Column("unknown", Boolean, nullable=False),
    PrimaryKeyConstraint("rule_id", "chain_id"),
    Index(None, "chain_id"),
    Index(None, "rule_id", "hour"),
)

frozen_credentials = Table(
    "frozen_credentials",
    metadata,
    make_reference_column("workspace_id", "workspaces"),
    Column("credential", Text, nullable=False),
    Column("rule_id", Text, nullable=False),  # the rule may be deleted while the credential stays frozen
    make_reference_column("operation_id", "operations", nullable=True),
    make_time_column("created_at"),
    PrimaryKeyConstraint("workspace_id", "credential"),
)

budgets = Table(
    "budgets",
    metadata,
    make_reference_column("account_id", "accounts"),
    Column("kind", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    Column("field", Text, nullable=False),
    make_hour_column(),
    make_amount_column("lowest"),
    make_amount_column("highest"),
    PrimaryKeyConstraint("account_id", "kind", "native_id", "field", "hour"),
    Index(None, "account_id", "highest"),
)
