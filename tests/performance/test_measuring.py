"""How ratios are made of samples: best against best, round against round. No time is measured here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .measuring import Limit, at_least, at_most, judge_costs, take_turns


def test_both_ratios_have_to_hold() -> None:
    result = judge_costs("n", "s", "p", [3.0, 4.0, 8.0], [2.0, 1.0, 2.0], at_most(3.5))
    assert (result.best_ratio, result.paired_median, result.spread) == (3.0, 4.0, (1.5, 4.0))
    assert result.is_met is False
    assert judge_costs("n", "s", "p", [3.0, 4.0, 8.0], [2.0, 1.0, 2.0], at_most(4.0)).is_met is True


def test_a_rate_is_a_cost_turned_round() -> None:
    result = judge_costs("n", "s", "p", [4.0, 2.0], [1.0, 1.0], at_least(0.4))
    assert (result.best_ratio, result.paired_median) == (0.5, 0.375)
    assert result.is_met is False
    assert result.to_json()["goal"] == ">= 0.40"


@pytest.mark.parametrize(("limit", "profile"), [(at_most(1.0), "why"), (at_most(9.0), None), (None, None)])
def test_only_a_miss_is_explained(limit: Limit | None, profile: str | None) -> None:
    assert judge_costs("n", "s", "p", [2.0], [1.0], limit, lambda: "why").profile == profile


def test_turns_alternate_and_the_first_round_does_not_count() -> None:
    order: list[str] = []

    def make_measurement(name: str) -> Callable[[], float]:
        def measure() -> float:
            order.append(name)
            return float(len(order))

        return measure

    samples = take_turns(2, {"a": make_measurement("a"), "b": make_measurement("b")})
    assert order == ["b", "a", "a", "b", "b", "a"]
    assert samples == {"a": [3.0, 6.0], "b": [4.0, 5.0]}
