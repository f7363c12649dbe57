"""A server with every network, whose accounts have active campaigns, and one on each engine."""

from __future__ import annotations

from tests.server.conftest import both, connected_template, database, live, server, settings

__all__ = ["both", "connected_template", "database", "live", "server", "settings"]
