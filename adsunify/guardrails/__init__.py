"""Guardrails: rules of a workspace that limit spend."""
