"""Launches: one brief becomes the briefs of many accounts and networks. No I/O."""
