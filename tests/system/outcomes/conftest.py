"""The whole matrix of lost answers takes too long for each run: ``nox -s outcomes`` runs it."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("ADSUNIFY_OUTCOMES") == "long" else ["test_matrix.py"]
