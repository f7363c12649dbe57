"""Describes for people the meaning of plans and the capabilities of networks."""
