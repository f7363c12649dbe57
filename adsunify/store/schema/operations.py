"""The tables of operations, their steps, verdicts and events."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text, false, func

from adsunify.store.schema.columns import (
    WHERE,
    CompressedText,
    ExactJson,
    make_id_column,
    make_reference_column,
    make_time_column,
    metadata,
)

operations = Table(
    "operations",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    make_reference_column("account_id", "accounts"),
    Column("network", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("unified", Boolean, nullable=False, server_default=false()),
    Column("status", Text, nullable=False),
    Column("plan_version", Integer, nullable=False),
    Column("plan_digest", Text, nullable=False),
    Column("risk", Text, nullable=False),
    Column("warnings", ExactJson, nullable=False),
    make_reference_column("source_operation_id", "operations", nullable=True),
    make_time_column("created_at"),
    make_time_column("updated_at"),
    make_time_column("expires_at"),
    Column("next_action", Boolean, nullable=False),
    make_time_column("not_before", nullable=True),
    Column("error", ExactJson),
    Column("fence", Integer, nullable=False),
    Column("in_flight", Boolean, nullable=False),
    make_time_column("lease_until", nullable=True),
    Column("plan", CompressedText, nullable=False, server_default=""),
    Column("executed_by", ExactJson),
    Column("cancelled_by", ExactJson),
    Column("call_spend", ExactJson),
    Column("resumes", Text),
    Column("resumed_by", Text),
    Column("chain_id", Text),  # NULL if the operation is the first of its chain
    Column("chain_receipts", Integer),  # receipts of older operations at its preparation
    Column("undoes", Text),
    Column("undone_by", Text),
    Column("launch_id", Text),
    make_time_column("plan_removed_at", nullable=True),  # if set, ``plan`` has the remains
    make_time_column("responses_removed_at", nullable=True),
    make_time_column("restored_at", nullable=True),  # set if it was restored from a backup
    # lists read these indexes backwards, newest first: for an admin, a user, an agent, an account and a status
    Index(None, "workspace_id", "created_at", "id"),
    Index(None, "workspace_id", "user_id", "created_at", "id"),
    Index(None, "workspace_id", "credential", "created_at", "id"),
    Index(None, "workspace_id", "account_id", "created_at", "id"),
    Index("ix_operations_of_status_unknown", "workspace_id", "created_at", "id", info={WHERE: "status = 'unknown'"}),
    Index("ix_operations_of_status_running", "workspace_id", "created_at", "id", info={WHERE: "status = 'running'"}),
    Index("ix_operations_chain_id", "chain_id", info={WHERE: "chain_id IS NOT NULL"}),
    Index("ix_operations_running", "lease_until", info={WHERE: "status = 'running'"}),
)

CHAIN_ID = func.coalesce(operations.c.chain_id, operations.c.id).label("chain")
"""The id of the first operation of an operation's chain, as a column ``chain``."""

steps = Table(
    "steps",
    metadata,
    make_reference_column("operation_id", "operations"),
    Column("n", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("items", ExactJson),
    Column("request", ExactJson, nullable=False),
    make_time_column("intent_at"),
    Column("receipt", ExactJson),
    Column("response", ExactJson),
    make_time_column("receipt_at", nullable=True),
    Column("late", Boolean, nullable=False),
    Column("executed_by", ExactJson),
    PrimaryKeyConstraint("operation_id", "n", "attempt"),
)

verdicts = Table(
    "verdicts",
    metadata,
    make_id_column(),
    make_reference_column("operation_id", "operations"),
    Column("key", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("outputs", ExactJson, nullable=False),
    Column("items", ExactJson, nullable=False),
    Column("evidence", ExactJson, nullable=False),
    Column("reason", Text, nullable=False),
    Column("settled_by", ExactJson),
    make_time_column("at"),
    Index(None, "operation_id"),
)

events = Table(
    "events",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    Column("type", Text, nullable=False),
    make_reference_column("operation_id", "operations", nullable=True),
    make_reference_column("account_id", "accounts", nullable=True),
    Column("data", ExactJson, nullable=False),
    make_time_column("created_at"),
    Index(None, "workspace_id", "id"),
    Index(None, "operation_id"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("operation_ids", ExactJson, nullable=False),
    make_time_column("created_at"),
    PrimaryKeyConstraint("workspace_id", "user_id", "credential", "key"),
)
