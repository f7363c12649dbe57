"""The whole matrix of lost answers takes too long for each run: ``nox -s outcomes`` runs it."""

from __future__ import annotations

from . import IS_LONG

collect_ignore = [] if IS_LONG else ["test_matrix.py"]
