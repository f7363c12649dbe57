"""Decides from evidence whether a write with an unknown outcome was applied. No I/O except flows."""
