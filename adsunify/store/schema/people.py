"""The tables of workspaces, their people and their API keys."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import ScopeJson, make_id_column, make_reference_column, make_time_column, metadata

workspaces = Table(
    "workspaces",
    metadata,
    make_id_column(),
    Column("name", Text, nullable=False, unique=True),
    Column("require_approval", Boolean, nullable=False),
    make_time_column("created_at"),
    Column("guardrails_version", Integer, nullable=False, server_default="0"),
)

users = Table(
    "users",
    metadata,
    make_id_column(),
    Column("email", Text, nullable=False, unique=True),
    Column("password_hash", Text),
    make_time_column("created_at"),
)

memberships = Table(
    "memberships",
    metadata,
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("role", Text, nullable=False),
    make_time_column("created_at"),
    PrimaryKeyConstraint("workspace_id", "user_id"),
    Index(None, "user_id"),
)

api_keys = Table(
    "api_keys",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False, unique=True),
    Column("secret_hash", Text, nullable=False),
    Column("can_write", Boolean, nullable=False),
    make_time_column("created_at"),
    make_time_column("expires_at", nullable=True),
    make_time_column("revoked_at", nullable=True),
    make_time_column("last_used_at", nullable=True),
    Column("scope", ScopeJson),
    Index(None, "workspace_id"),
)
