"""Suites over the whole system: crashes, floods, simulation, conformance, agents, webhooks."""
