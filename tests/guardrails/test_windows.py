"""Windows against a model in plain Python: at no commit is one exceeded, and each release gives back exactly once."""

from __future__ import annotations

import pytest

from .scale import IS_LONG
from .simulation import RUN_STEPS, simulate

RUNS = range(200) if IS_LONG else range(2)
STEPS = RUN_STEPS if IS_LONG else 1_500


@pytest.mark.parametrize("seed", RUNS)
def test_windows_agree_with_the_model(seed: int) -> None:
    counts = simulate(seed, STEPS)
    met = {"claim None", "claim guardrail", "claim claimed", "claim rules_changed", "end hand_back", "end lose"}
    assert met <= counts.keys(), "the run met every outcome"
