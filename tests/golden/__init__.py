"""Interfaces that a restructuring must not change, recorded from the commit before it.

``python -m tests.golden`` records them again: do that only in a commit that changes an interface on purpose.
"""
