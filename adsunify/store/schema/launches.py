"""The tables of launches, their cells, change sets and the members of change sets."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import (
    WHERE,
    CompressedText,
    ExactJson,
    make_id_column,
    make_reference_column,
    make_time_column,
    metadata,
)

launches = Table(
    "launches",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("body", CompressedText, nullable=False),
    Column("change_set_id", Text),  # the latest change set
    make_time_column("created_at"),
    make_time_column("updated_at"),
    Index(None, "workspace_id", "created_at", "id"),
)

launch_cells = Table(
    "launch_cells",
    metadata,
    make_reference_column("launch_id", "launches"),
    Column("n", Integer, nullable=False),
    Column("key", Text, nullable=False),
    make_reference_column("account_id", "accounts"),
    Column("network", Text, nullable=False),
    Column("brief", CompressedText),  # NULL if the merged brief was refused
    Column("left_out", ExactJson, nullable=False),
    Column("issues", ExactJson, nullable=False),  # of the latest planning of the cell
    make_reference_column("operation_id", "operations", nullable=True),  # the latest one that creates the cell
    PrimaryKeyConstraint("launch_id", "n"),
)

change_sets = Table(
    "change_sets",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    make_reference_column("launch_id", "launches", nullable=True),
    Column("action", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("skip_invalid", Boolean, nullable=False),
    Column("actor", ExactJson, nullable=False),  # the actor that prepares it; later the actor that executes it
    Column("digest", Text),
    Column("executed_by", ExactJson),
    Column("error", ExactJson),
    make_time_column("created_at"),
    make_time_column("updated_at"),
    make_time_column("expires_at", nullable=True),
    make_time_column("lease_until", nullable=True),  # NULL if no process works on it
    Column("fence", Integer, nullable=False),
    Index(None, "launch_id"),
    Index("ix_change_sets_lease_until", "lease_until", info={WHERE: "lease_until IS NOT NULL"}),
)

change_set_members = Table(
    "change_set_members",
    metadata,
    make_reference_column("change_set_id", "change_sets"),
    Column("n", Integer, nullable=False),
    Column("key", Text, nullable=False),
    make_reference_column("account_id", "accounts"),
    Column("network", Text, nullable=False),
    Column("task", CompressedText, nullable=False),
    Column("plan", CompressedText),  # NULL after the operation is inserted
    Column("draft", ExactJson),
    Column("issues", ExactJson),
    Column("reason", Text),  # why the change set leaves the member out
    make_reference_column("operation_id", "operations", nullable=True),
    Column("plan_digest", Text),
    Column("exposure", ExactJson),
    Column("error", ExactJson),  # why its execution was refused
    PrimaryKeyConstraint("change_set_id", "n"),
    Index("ix_change_set_members_operation_id", "operation_id", info={WHERE: "operation_id IS NOT NULL"}),
)
