"""Insights: exact sums, and silence stays null."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.errors import ProviderUnreadable
from adsunify.insights import METRICS, Coverage, DateRange, Figures, Insights, Pending, Row, daily, totals

ONE, TWO, THREE = date(2027, 3, 1), date(2027, 3, 2), date(2027, 3, 3)
COVERAGE = Coverage(ONE, THREE, "Europe/Berlin")
NOTHING = dict.fromkeys(METRICS)


def test_rows_of_one_day_are_summed_and_days_are_in_order():
    rows = daily(
        [
            (TWO, {"impressions": 5, "spend": Decimal("0.10"), "conversions": Decimal("0.5")}),
            (ONE, {"impressions": 1, "spend": 3}),
            (TWO, {"impressions": 7, "spend": Decimal("0.2"), "conversions": 1}),
        ]
    )
    assert rows == (
        Row(date=ONE, impressions=1, spend="3"),
        Row(date=TWO, impressions=12, spend="0.3", conversions="1.5"),
    )


def test_silence_in_a_part_silences_the_day_and_the_totals():
    rows = daily(
        [(ONE, {"clicks": 1, "videoViews": 4}), (ONE, {"clicks": None}), (TWO, {"clicks": 5, "videoViews": 2})]
    )
    assert [(row.clicks, row.video_views) for row in rows] == [(None, None), (5, 2)]
    assert (totals(rows).clicks, totals(rows).video_views) == (None, None)


def test_reach_has_no_sum():
    assert daily([(ONE, {"reach": 5})])[0].reach == totals(daily([(ONE, {"reach": 5})])).reach == 5
    assert daily([(ONE, {"reach": 5}), (ONE, {"reach": 6})])[0].reach is None
    assert totals(daily([(ONE, {"reach": 5}), (TWO, {"reach": 6})])).reach is None


def test_nothing_is_not_zero():
    assert totals(()) == Figures()
    assert Figures().to_json() == NOTHING


def test_the_answer_has_the_documented_shape():
    coverage = Coverage(ONE, THREE, "Europe/Berlin", True, TWO, notes=["restated for 3 days"])
    day = {"impressions": 120, "clicks": 4, "spend": Decimal("4.50"), "conversions": Decimal("1.25"), "reach": 100}
    answer = Insights.of([(ONE, day), (THREE, {**day, "conversions": None})], coverage, [{"native": 1}]).to_json()
    figures = {"impressions": 120, "clicks": 4, "spend": "4.5", "conversions": "1.25", "reach": 100}
    silent = {"conversionValue": None, "videoViews": None}
    assert answer == {
        "rows": [
            {"date": "2027-03-01", **figures, **silent},
            {"date": "2027-03-03", **figures, **silent, "conversions": None},
        ],
        "totals": {**NOTHING, "impressions": 240, "clicks": 8, "spend": "9"},
        "nativeRows": [{"native": 1}],
        "coverage": {
            "startDate": "2027-03-01",
            "endDate": "2027-03-03",
            "timezone": "Europe/Berlin",
            "complete": True,
            "provisionalFrom": "2027-03-02",
            "missing": [],
            "notes": ["restated for 3 days"],
        },
        "pending": None,
    }
    assert list(answer["rows"][0]) == ["date", *METRICS]


def test_totals_of_an_incomplete_range_are_null():
    coverage = Coverage(ONE, THREE, "UTC", complete=False, missing=(DateRange(TWO, THREE),))
    answer = Insights.of([(ONE, {"clicks": 1})], coverage)
    assert answer.rows[0].clicks == 1
    assert answer.totals == Figures()
    assert answer.to_json()["coverage"]["missing"] == [{"startDate": "2027-03-02", "endDate": "2027-03-03"}]


def test_waiting_covers_nothing_and_says_what_resumes_it():
    answer = Insights.waiting(ONE, THREE, None, Pending("job-1", "PROCESSING", 30_000)).to_json()
    assert answer["pending"] == {"job": "job-1", "status": "PROCESSING", "retryAfterMs": 30_000}
    assert answer["coverage"]["complete"] is False
    assert answer["coverage"]["missing"] == [{"startDate": "2027-03-01", "endDate": "2027-03-03"}]
    assert (answer["rows"], answer["totals"]) == ([], NOTHING)


@pytest.mark.parametrize(
    "figures",
    [
        {"spend": 0.5},
        {"spend": "5"},
        {"spend": True},
        {"spend": Decimal("NaN")},
        {"conversions": Decimal("Infinity")},
        {"impressions": Decimal("1.5")},
        {"impressions": Decimal("Infinity")},
        {"impressions": 1.0},
        {"clicks": "7"},
        {"clicks": True},
    ],
)
def test_figures_that_are_no_numbers_are_refused(figures):
    for rows in ([(ONE, figures)], [(ONE, figures), (ONE, figures)]):
        with pytest.raises(ProviderUnreadable):
            daily(rows)


def test_whole_counts_may_come_as_decimals():
    assert daily([(ONE, {"impressions": Decimal("12.0")})])[0].impressions == 12


def exactly(amount):
    return None if amount is None else Fraction(amount)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([ONE, TWO, THREE]),
            st.one_of(st.none(), st.integers(0, 10**30), st.decimals(0, 10**30, places=12)),
        )
    )
)
def test_sums_are_exact(parts):
    answer = Insights.of([(day, {"spend": spend}) for day, spend in parts], COVERAGE)
    assert [row.date for row in answer.rows] == sorted({day for day, _ in parts})
    for row in answer.rows:
        spends = [spend for day, spend in parts if day == row.date]
        assert exactly(row.spend) == (None if None in spends else sum(map(Fraction, spends)))
    spends = [spend for _, spend in parts]
    silent = not spends or None in spends
    assert exactly(answer.totals.spend) == (None if silent else sum(map(Fraction, spends)))
