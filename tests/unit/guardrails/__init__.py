"""Tests of ``adsunify/guardrails``."""
