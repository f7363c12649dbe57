"""The tables of the database, in SQLAlchemy Core. A test checks that the migrations create exactly these tables.

Ids are UUIDv7 as text. Times are integer milliseconds since 1970 (UTC). JSON is text from
:mod:`adsunify.values.exact_json` (exact decimals) and does not use the dialects' JSON types. Operations, steps,
idempotency keys, verdicts and events are never deleted.
"""

from __future__ import annotations

from adsunify.store.schema.agents import grants, invitations, oauth_clients, oauth_tokens, sessions
from adsunify.store.schema.alerts import alert_breaches, alert_evaluations, alerts
from adsunify.store.schema.columns import (
    WHERE,
    CompressedText,
    CountText,
    ExactJson,
    MicroUnits,
    ScopeJson,
    decompress_text,
    metadata,
)
from adsunify.store.schema.connections import accounts, connections, consents, secrets
from adsunify.store.schema.figures import figure_reads, figures, staged_figures
from adsunify.store.schema.guardrails import budgets, frozen_credentials, guardrail_hours, guardrail_uses, guardrails
from adsunify.store.schema.launches import change_set_members, change_sets, launch_cells, launches
from adsunify.store.schema.ledger import ledger, ledger_heads
from adsunify.store.schema.operations import events, idempotency_keys, operations, steps, verdicts
from adsunify.store.schema.people import api_keys, memberships, users, workspaces
from adsunify.store.schema.results import created_entities, entities, reports
from adsunify.store.schema.webhooks import deliveries, delivery_attempts, webhooks

__all__ = [
    "WHERE",
    "CompressedText",
    "CountText",
    "ExactJson",
    "MicroUnits",
    "ScopeJson",
    "accounts",
    "alert_breaches",
    "alert_evaluations",
    "alerts",
    "api_keys",
    "budgets",
    "change_set_members",
    "change_sets",
    "connections",
    "consents",
    "created_entities",
    "decompress_text",
    "deliveries",
    "delivery_attempts",
    "entities",
    "events",
    "figure_reads",
    "figures",
    "frozen_credentials",
    "grants",
    "guardrail_hours",
    "guardrail_uses",
    "guardrails",
    "idempotency_keys",
    "invitations",
    "launch_cells",
    "launches",
    "ledger",
    "ledger_heads",
    "memberships",
    "metadata",
    "oauth_clients",
    "oauth_tokens",
    "operations",
    "reports",
    "secrets",
    "sessions",
    "staged_figures",
    "steps",
    "users",
    "verdicts",
    "webhooks",
    "workspaces",
]
