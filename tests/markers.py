"""How a list of cases is divided: a representative of each kind runs each time, the rest in ``nox -s exhaustive``."""

from __future__ import annotations

from typing import Any

import pytest


def exhaustive(*values: Any) -> Any:
    """A case of a parametrised list that the session ``exhaustive`` runs."""
    return pytest.param(*values, marks=pytest.mark.exhaustive)
