"""The tables of the database, in SQLAlchemy Core. A test checks that the migrations create exactly these tables.

Ids are UUIDv7 as text. Times are integer milliseconds since 1970 (UTC). JSON is text from
:mod:`adsunify.values.exact_json` (exact decimals) and does not use the dialects' JSON types. Operations, steps,
idempotency keys and events are never deleted.
"""

from __future__ import annotations

import zlib
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)

from adsunify.actor import CredentialScope
from adsunify.values.exact_json import Json, dumps, loads

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
WHERE = "where"
"""Key of an index's condition in ``info``. As an argument it would be named after the dialect, and import both."""

COMPRESSION_LEVEL = 1
"""The fastest level. Slower levels save another 5 % at most."""


class ExactJson(TypeDecorator[Json]):
    """JSON as text with exact decimals. None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> str | None:
        """Serialize a value."""
        return None if value is None else dumps(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Json:
        """Parse a stored value."""
        return None if value is None else loads(value)


class ScopeJson(ExactJson):
    """The scope of a credential as :class:`ExactJson`. NULL is everything; :func:`.scopes.is_in_scope` reads it."""

    cache_ok = True

    def process_bind_param(self, value: CredentialScope | None, dialect: Dialect) -> str | None:
        """Serialize a scope."""
        return super().process_bind_param(None if value is None else value.to_json(), dialect)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> CredentialScope | None:
        """Parse a stored scope."""
        return CredentialScope.from_json(super().process_result_value(value, dialect))


class CompressedText(TypeDecorator[str]):
    """Long text, compressed with zlib (RFC 1950). A plan shrinks to a third in 15 microseconds."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Compress a text."""
        return None if value is None else zlib.compress(value.encode("utf-8"), COMPRESSION_LEVEL)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        """Decompress a stored text."""
        return None if value is None else decompress_text(value)


class MicroUnits(TypeDecorator[int]):
    """An amount of money in micro-units. The type tells amounts from times, which are plain BIGINT."""

    impl = BigInteger
    cache_ok = True


class CountText(TypeDecorator[int]):
    """A count as text. A network may report one that exceeds 64 bits, and the type tells counts from times."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str | None:
        """Write a count."""
        return None if value is None else str(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> int | None:
        """Parse a stored count."""
        return None if value is None else int(value)


def decompress_text(value: bytes) -> str:
    """Decompress a text.

    Raises:
        ValueError: the bytes are not a compressed text.
    """
    try:
        return zlib.decompress(value).decode("utf-8")
    except (zlib.error, TypeError) as damaged:
        raise ValueError("the stored bytes are not a packed text") from damaged


def _id_column() -> Column[str]:
    return Column("id", Text, primary_key=True)


def _reference_column(name: str, target: str, nullable: bool = False) -> Column[str]:
    return Column(name, Text, ForeignKey(f"{target}.id"), nullable=nullable)


def _time_column(name: str, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def _amount_column(name: str, nullable: bool = False) -> Column[int]:
    return Column(name, MicroUnits, nullable=nullable)


def _hour_column() -> Column[int]:
    """Make a column of whole hours since 1970 (UTC)."""
    return Column("hour", Integer, nullable=False)


# -- people -------------------------------------------------------------------------------------------------------

workspaces = Table(
    "workspaces",
    metadata,
    _id_column(),
    Column("name", Text, nullable=False, unique=True),
    Column("require_approval", Boolean, nullable=False),
    _time_column("created_at"),
    Column("guardrails_version", Integer, nullable=False, server_default="0"),
)

users = Table(
    "users",
    metadata,
    _id_column(),
    Column("email", Text, nullable=False, unique=True),
    Column("password_hash", Text),
    _time_column("created_at"),
)

memberships = Table(
    "memberships",
    metadata,
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("role", Text, nullable=False),
    _time_column("created_at"),
    PrimaryKeyConstraint("workspace_id", "user_id"),
    Index(None, "user_id"),
)

api_keys = Table(
    "api_keys",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False, unique=True),
    Column("secret_hash", Text, nullable=False),
    Column("can_write", Boolean, nullable=False),
    _time_column("created_at"),
    _time_column("expires_at", nullable=True),
    _time_column("revoked_at", nullable=True),
    _time_column("last_used_at", nullable=True),
    Column("scope", ScopeJson),
    Index(None, "workspace_id"),
)

# -- connections --------------------------------------------------------------------------------------------------

connections = Table(
    "connections",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("network", Text, nullable=False),
    Column("status", Text, nullable=False),
    _time_column("expires_at", nullable=True),
    _time_column("refreshing_until", nullable=True),
    _time_column("created_at"),
    _time_column("updated_at"),
    Index(None, "workspace_id"),
)

accounts = Table(
    "accounts",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("connection_id", "connections"),
    Column("network", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    Column("name", Text),
    Column("currency", Text),
    Column("timezone", Text),
    Column("status", Text, nullable=False),
    Column("native_status", Text),
    Column("extras", ExactJson, nullable=False),
    Column("chosen_extras", ExactJson, nullable=False),
    _time_column("synced_at", nullable=True),
    _time_column("created_at"),
    _time_column("updated_at"),
    UniqueConstraint("workspace_id", "network", "native_id"),
    Index(None, "connection_id"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("table_name", Text, nullable=False),
    Column("row_id", Text, nullable=False),
    Column("field", Text, nullable=False),
    _reference_column("workspace_id", "workspaces"),
    Column("sealed", Text, nullable=False),
    _time_column("updated_at"),
    PrimaryKeyConstraint("table_name", "row_id", "field"),
)

consents = Table(
    "consents",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("network", Text, nullable=False),
    Column("data", ExactJson, nullable=False),
    _time_column("created_at"),
    _time_column("expires_at"),
    _time_column("used_at", nullable=True),
)

# -- operations ---------------------------------------------------------------------------------------------------

operations = Table(
    "operations",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    _reference_column("account_id", "accounts"),
    Column("network", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("unified", Boolean, nullable=False, server_default=false()),
    Column("status", Text, nullable=False),
    Column("plan_version", Integer, nullable=False),
    Column("plan_digest", Text, nullable=False),
    Column("risk", Text, nullable=False),
    Column("warnings", ExactJson, nullable=False),
    _reference_column("source_operation_id", "operations", nullable=True),
    _time_column("created_at"),
    _time_column("updated_at"),
    _time_column("expires_at"),
    Column("next_action", Boolean, nullable=False),
    _time_column("not_before", nullable=True),
    Column("error", ExactJson),
    Column("fence", Integer, nullable=False),
    Column("in_flight", Boolean, nullable=False),
    _time_column("lease_until", nullable=True),
    Column("plan", CompressedText, nullable=False, server_default=""),
    Column("executed_by", ExactJson),
    Column("cancelled_by", ExactJson),
    Column("call_spend", ExactJson),
    # these indexes are read backwards, newest first: for an admin, for a user, for an agent
    Index(None, "workspace_id", "created_at", "id"),
    Index(None, "workspace_id", "user_id", "created_at", "id"),
    Index(None, "workspace_id", "credential", "created_at", "id"),
    Index("ix_operations_running", "lease_until", info={WHERE: "status = 'running'"}),
)

steps = Table(
    "steps",
    metadata,
    _reference_column("operation_id", "operations"),
    Column("n", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("items", ExactJson),
    Column("request", ExactJson, nullable=False),
    _time_column("intent_at"),
    Column("receipt", ExactJson),
    Column("response", ExactJson),
    _time_column("receipt_at", nullable=True),
    Column("late", Boolean, nullable=False),
    Column("executed_by", ExactJson),
    PrimaryKeyConstraint("operation_id", "n", "attempt"),
)

events = Table(
    "events",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    Column("type", Text, nullable=False),
    _reference_column("operation_id", "operations", nullable=True),
    _reference_column("account_id", "accounts", nullable=True),
    Column("data", ExactJson, nullable=False),
    _time_column("created_at"),
    Index(None, "workspace_id", "id"),
    Index(None, "operation_id"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("operation_ids", ExactJson, nullable=False),
    _time_column("created_at"),
    PrimaryKeyConstraint("workspace_id", "user_id", "credential", "key"),
)

# -- guardrails ---------------------------------------------------------------------------------------------------

guardrails = Table(
    "guardrails",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    Column("version", Integer, nullable=False),
    Column("body", ExactJson, nullable=False),
    Column("window_hours", Integer),
    _amount_column("limit_daily", nullable=True),
    _amount_column("limit_lifetime", nullable=True),
    _hour_column(),
    _amount_column("used_daily"),
    _amount_column("used_lifetime"),
    Index(None, "workspace_id"),
)

guardrail_hours = Table(
    "guardrail_hours",
    metadata,
    _reference_column("rule_id", "guardrails"),
    _hour_column(),
    _amount_column("daily"),
    _amount_column("lifetime"),
    PrimaryKeyConstraint("rule_id", "hour"),
)

guardrail_uses = Table(
    "guardrail_uses",
    metadata,
    _reference_column("rule_id", "guardrails"),
    _reference_column("chain_id", "operations"),
    _hour_column(),
    _amount_column("daily"),
    _amount_column("lifetime"),
    Column("unknown", Boolean, nullable=False),
    PrimaryKeyConstraint("rule_id", "chain_id"),
    Index(None, "chain_id"),
    Index(None, "rule_id", "hour"),
)

frozen_credentials = Table(
    "frozen_credentials",
    metadata,
    _reference_column("workspace_id", "workspaces"),
    Column("credential", Text, nullable=False),
    Column("rule_id", Text, nullable=False),  # the rule may be deleted while the credential stays frozen
    _reference_column("operation_id", "operations", nullable=True),
    _time_column("created_at"),
    PrimaryKeyConstraint("workspace_id", "credential"),
)

budgets = Table(
    "budgets",
    metadata,
    _reference_column("account_id", "accounts"),
    Column("kind", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    Column("field", Text, nullable=False),
    _hour_column(),
    _amount_column("lowest"),
    _amount_column("highest"),
    PrimaryKeyConstraint("account_id", "kind", "native_id", "field", "hour"),
    Index(None, "account_id", "highest"),
)

# -- results of reads ---------------------------------------------------------------------------------------------

created_entities = Table(
    "created_entities",
    metadata,
    Column("network", Text, nullable=False),
    Column("native_account", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    _reference_column("operation_id", "operations"),
    Column("n", Integer, nullable=False),
    PrimaryKeyConstraint("network", "native_account", "kind", "native_id"),
)

entities = Table(
    "entities",
    metadata,
    _reference_column("account_id", "accounts"),
    Column("kind", Text, nullable=False),
    Column("native_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    _time_column("seen_at"),
    PrimaryKeyConstraint("account_id", "kind", "native_id"),
)

reports = Table(
    "reports",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("account_id", "accounts"),
    Column("start_date", Text, nullable=False),
    Column("end_date", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("entities", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("job", ExactJson),
    _time_column("created_at"),
    _time_column("updated_at"),
    UniqueConstraint("account_id", "start_date", "end_date", "level", "entities"),
)

# -- daily figures ------------------------------------------------------------------------------------------------


def _figure_columns() -> tuple[Column[Any], ...]:
    """Make the columns of the entity and the figures of a row. NULL: the network does not report it.

    Names are JSON, because they may have characters that a database does not store as text.
    """
    return (
        Column("entity_name", ExactJson),
        Column("parent_id", ExactJson),
        Column("impressions", CountText),
        Column("clicks", CountText),
        Column("spend", Text),
        Column("conversions", Text),
        Column("conversion_value", Text),
        Column("video_views", CountText),
        Column("reach", CountText),
    )


figure_reads = Table(
    "figure_reads",
    metadata,
    _reference_column("account_id", "accounts"),
    Column("level", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("start_date", Text, nullable=False),
    Column("end_date", Text, nullable=False),
    Column("provisional_from", Text),
    Column("missing", ExactJson, nullable=False),
    Column("notes", ExactJson, nullable=False),
    _time_column("started_at"),
    _time_column("read_at"),
    _time_column("known_from"),
    PrimaryKeyConstraint("account_id", "level", "number"),
)

figures = Table(
    "figures",
    metadata,
    _reference_column("account_id", "accounts"),
    Column("level", Text, nullable=False),
    Column("date", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("present", Boolean, nullable=False),
    *_figure_columns(),
    PrimaryKeyConstraint("account_id", "level", "date", "entity_id", "number"),
)

staged_figures = Table(
    "staged_figures",
    metadata,
    Column("read_id", Text, nullable=False),
    Column("date", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    _time_column("started_at"),
    *_figure_columns(),
    PrimaryKeyConstraint("read_id", "date", "entity_id"),
    Index(None, "started_at"),
)

# -- webhooks -----------------------------------------------------------------------------------------------------

webhooks = Table(
    "webhooks",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("credential", Text, nullable=False),
    _reference_column("key_id", "api_keys", nullable=True),
    _reference_column("account_id", "accounts", nullable=True),
    Column("url", Text, nullable=False),
    Column("events", ExactJson, nullable=False),
    Column("active", Boolean, nullable=False),
    _time_column("created_at"),
    Index(None, "workspace_id"),
)

deliveries = Table(
    "deliveries",
    metadata,
    _id_column(),
    _reference_column("webhook_id", "webhooks"),
    Column("event_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    _time_column("next_attempt_at", nullable=True),
    _time_column("created_at"),
    Index(None, "webhook_id", "id"),
    Index("ix_deliveries_due", "webhook_id", "next_attempt_at", info={WHERE: "next_attempt_at IS NOT NULL"}),
)

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    _reference_column("delivery_id", "deliveries"),
    Column("number", Integer, nullable=False),
    _time_column("at"),
    Column("duration_ms", Integer),
    Column("status_code", Integer),
    Column("error", Text),
    PrimaryKeyConstraint("delivery_id", "number"),
)

# -- people in browsers, and agents -------------------------------------------------------------------------------

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),
    _reference_column("user_id", "users"),
    _reference_column("workspace_id", "workspaces", nullable=True),
    _time_column("created_at"),
    _time_column("expires_at"),
    Index(None, "user_id"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("token_hash", Text, primary_key=True),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    Column("email", Text, nullable=False),
    Column("role", Text, nullable=False),
    _time_column("created_at"),
    _time_column("expires_at"),
    _time_column("used_at", nullable=True),
)

oauth_clients = Table(
    "oauth_clients",
    metadata,
    _id_column(),
    Column("name", Text, nullable=False),
    Column("redirect_uris", ExactJson, nullable=False),
    _time_column("created_at"),
)

grants = Table(
    "grants",
    metadata,
    _id_column(),
    _reference_column("workspace_id", "workspaces"),
    _reference_column("user_id", "users"),
    _reference_column("client_id", "oauth_clients"),
    Column("can_write", Boolean, nullable=False),
    Column("resource", Text, nullable=False),
    _time_column("created_at"),
    _time_column("expires_at"),
    _time_column("revoked_at", nullable=True),
    Column("scope", ScopeJson),
    Index(None, "user_id", "client_id"),
)

oauth_tokens = Table(
    "oauth_tokens",
    metadata,
    Column("token_hash", Text, primary_key=True),
    _reference_column("grant_id", "grants"),
    Column("kind", Text, nullable=False),
    Column("redirect_uri", Text),
    Column("challenge", Text),
    _time_column("created_at"),
    _time_column("expires_at"),
    _time_column("used_at", nullable=True),
    Index(None, "grant_id"),
)
