"""The words for what a plan can spend."""

from __future__ import annotations

import pytest

from adsunify.review.exposure import describe_exposure


@pytest.mark.parametrize(
    ("exposure", "planned", "words"),
    [
        (("25.00", "250.00"), ("0", "0"), "This can spend 25.00 USD more a day, 250.00 USD more in all."),
        (("25.00", "unbounded"), ("0", "0"), "This can spend 25.00 USD more a day, without an end."),
        (("0", "100.00"), ("0", "0"), "This can spend 100.00 USD more in all."),
        (("0", "unbounded"), ("0", "0"), "This can spend more, without an end."),
        (("600.00", "600.00"), ("600.00", "600.00"), "This can spend 600.00 USD more in all."),
        (("unknown", "unknown"), ("0", "0"), "It is not known how much this can spend."),
        (("5.00", "unknown"), ("0", "0"), "This can spend 5.00 USD more a day; how much in all is not known."),
        (
            *(("0", "0"), ("20.00", "640.00")),
            "This spends nothing yet. Once it is active, it can spend 20.00 USD a day, 640.00 USD in all.",
        ),
        (
            *(("0", "0"), ("unknown", "unknown")),
            "This spends nothing yet. It is not known how much it can spend once it is active.",
        ),
        (("0", "0"), ("0", "0"), "This cannot spend more than before."),
    ],
)
def test_exposures_in_words(exposure: tuple[str, str], planned: tuple[str, str], words: str) -> None:
    plan = {
        name: {"currency": "USD", "daily": daily, "lifetime": lifetime}
        for name, (daily, lifetime) in (("exposure", exposure), ("planned", planned))
    }
    assert describe_exposure(plan) == words


def test_a_plan_of_an_earlier_version_has_no_words() -> None:
    assert describe_exposure({"exposure": None, "planned": None}) is describe_exposure({"steps": []}) is None
