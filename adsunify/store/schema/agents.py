"""The tables of people in browsers, and of agents."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Table, Text

from adsunify.store.schema.columns import (
    ExactJson,
    ScopeJson,
    make_id_column,
    make_reference_column,
    make_time_column,
    metadata,
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),
    make_reference_column("user_id", "users"),
    make_reference_column("workspace_id", "workspaces", nullable=True),
    make_time_column("created_at"),
    make_time_column("expires_at"),
    Index(None, "user_id"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("token_hash", Text, primary_key=True),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    Column("email", Text, nullable=False),
    Column("role", Text, nullable=False),
    make_time_column("created_at"),
    make_time_column("expires_at"),
    make_time_column("used_at", nullable=True),
)

oauth_clients = Table(
    "oauth_clients",
    metadata,
    make_id_column(),
    Column("name", Text, nullable=False),
    Column("redirect_uris", ExactJson, nullable=False),
    make_time_column("created_at"),
)

grants = Table(
    "grants",
    metadata,
    make_id_column(),
    make_reference_column("workspace_id", "workspaces"),
    make_reference_column("user_id", "users"),
    make_reference_column("client_id", "oauth_clients"),
    Column("can_write", Boolean, nullable=False),
    Column("resource", Text, nullable=False),
    make_time_column("created_at"),
    make_time_column("expires_at"),
    make_time_column("revoked_at", nullable=True),
    Column("scope", ScopeJson),
    Index(None, "user_id", "client_id"),
)

oauth_tokens = Table(
    "oauth_tokens",
    metadata,
    Column("token_hash", Text, primary_key=True),
    make_reference_column("grant_id", "grants"),
    Column("kind", Text, nullable=False),
    Column("redirect_uri", Text),
    Column("challenge", Text),
    make_time_column("created_at"),
    make_time_column("expires_at"),
    make_time_column("used_at", nullable=True),
    Index(None, "grant_id"),
)
