"""Executes plans without I/O: states of operations, outcomes of steps, and redaction of responses."""
