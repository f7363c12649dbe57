"""Writes whose outcome is not known: inspection, settlement, resumption, undo."""
