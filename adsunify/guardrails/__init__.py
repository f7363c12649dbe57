"""Guardrails: rules of a workspace that bound what may be spent."""
