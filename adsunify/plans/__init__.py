"""Immutable plans: the steps of a change, their bindings and their marks. No I/O."""
