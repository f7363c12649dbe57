"""Insights: exact sums, and silence stays null."""

from __future__ import annotations

import tracemalloc
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.adapter.insights import (
    METRIC_NAMES,
    QUIET_DAYS_NOTE,
    UNKNOWN_DAYS_NOTE,
    Coverage,
    DailyMetrics,
    DateRange,
    Insights,
    MetricValues,
    PendingReport,
    find_report_range,
    sum_by_day,
    sum_metrics,
)
from adsunify.adapter.metrics import Metric
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.reports import parse_report_rows
from adsunify.errors import ProviderUnreadable

ONE, TWO, THREE, FOUR = (date(2027, 3, day) for day in (1, 2, 3, 4))
COVERAGE = Coverage(ONE, THREE, "Europe/Berlin")
DINAR = MoneyUnit(1000)
NOTHING = dict.fromkeys(METRIC_NAMES)


def test_rows_of_one_day_are_summed_and_days_are_in_order():
    rows = sum_by_day(
        [
            (TWO, {"impressions": 5, "spend": Decimal("0.10"), "conversions": Decimal("0.5")}),
            (ONE, {"impressions": 1, "spend": 3}),
            (TWO, {"impressions": 7, "spend": Decimal("0.2"), "conversions": 1}),
        ]
    )
    assert rows == (
        DailyMetrics(date=ONE, impressions=1, spend="3"),
        DailyMetrics(date=TWO, impressions=12, spend="0.3", conversions="1.5"),
    )


def test_silence_in_a_part_silences_the_day_and_the_totals():
    rows = sum_by_day(
        [(ONE, {"clicks": 1, "videoViews": 4}), (ONE, {"clicks": None}), (TWO, {"clicks": 5, "videoViews": 2})]
    )
    assert [(row.clicks, row.video_views) for row in rows] == [(None, None), (5, 2)]
    assert (sum_metrics(rows).clicks, sum_metrics(rows).video_views) == (None, None)


def test_reach_has_no_sum():
    assert sum_by_day([(ONE, {"reach": 5})])[0].reach == sum_metrics(sum_by_day([(ONE, {"reach": 5})])).reach == 5
    assert sum_by_day([(ONE, {"reach": 5}), (ONE, {"reach": 6})])[0].reach is None
    assert sum_metrics(sum_by_day([(ONE, {"reach": 5}), (TWO, {"reach": 6})])).reach is None


def test_nothing_is_not_zero():
    assert sum_metrics(()) == MetricValues()
    assert MetricValues().to_json() == NOTHING


def test_the_answer_has_the_documented_shape():
    coverage = Coverage(ONE, THREE, "Europe/Berlin", True, TWO, notes=["restated for 3 days"])
    day = {"impressions": 120, "clicks": 4, "spend": Decimal("4.50"), "conversions": Decimal("1.25"), "reach": 100}
    answer = Insights.from_days(
        [(ONE, day), (THREE, {**day, "conversions": None})], coverage, "zero", [{"native": 1}]
    ).to_json()
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
            "notes": ["restated for 3 days", QUIET_DAYS_NOTE],
        },
        "pending": None,
    }
    assert list(answer["rows"][0]) == ["date", *METRIC_NAMES]


def test_totals_of_an_incomplete_range_are_null():
    coverage = Coverage(ONE, THREE, "UTC", is_complete=False, missing_ranges=(DateRange(TWO, THREE),))
    answer = Insights.from_days([(ONE, {"clicks": 1})], coverage, "zero")
    assert answer.rows[0].clicks == 1
    assert answer.totals == MetricValues()
    assert answer.to_json()["coverage"]["missing"] == [{"startDate": "2027-03-02", "endDate": "2027-03-03"}]


@pytest.mark.parametrize(
    ("day", "provisional"), [(ONE - timedelta(days=1), ONE), (ONE, ONE), (TWO, TWO), (THREE, THREE), (FOUR, None)]
)
def test_figures_are_provisional_from_a_day_of_the_range(day, provisional):
    assert COVERAGE.mark_provisional(day).provisional_from == provisional


@pytest.mark.parametrize(
    ("days", "expected"),
    [([], (TWO, THREE)), ([TWO, THREE], (TWO, THREE)), ([THREE, ONE], (ONE, THREE)), ([FOUR], (FOUR, FOUR))],
)
def test_a_report_that_is_resumed_without_dates_has_the_range_of_its_rows(days, expected):
    assert find_report_range([(day, {}) for day in days], TWO, THREE) == expected


@pytest.mark.parametrize(
    ("missing_day", "provisional", "missing", "notes"),
    [
        ("zero", TWO, [], [QUIET_DAYS_NOTE]),
        ("gap", None, [TWO, FOUR], [UNKNOWN_DAYS_NOTE]),
        ("zero_once_final", None, [], [QUIET_DAYS_NOTE]),
        ("zero_once_final", THREE, [FOUR], [QUIET_DAYS_NOTE, UNKNOWN_DAYS_NOTE]),
        ("zero_once_final", ONE, [TWO, FOUR], [UNKNOWN_DAYS_NOTE]),
    ],
)
def test_a_day_without_a_row_is_what_the_network_says(missing_day, provisional, missing, notes):
    coverage = Coverage(ONE, FOUR, "UTC", True, provisional)
    answer = Insights.from_days([(ONE, {"clicks": 1}), (THREE, {"clicks": 2})], coverage, missing_day)
    assert answer.coverage.missing_ranges == tuple(DateRange(day, day) for day in missing)
    assert answer.coverage.is_complete is not bool(missing)
    assert answer.totals.clicks == (None if missing else 3)
    assert answer.coverage.notes == notes


def test_days_without_a_row_join_the_days_that_are_missing_already():
    coverage = Coverage(ONE, FOUR, "UTC", is_complete=False, missing_ranges=(DateRange(ONE, TWO),))
    answer = Insights.from_days([(TWO, {"clicks": 1}), (FOUR, {"clicks": 1})], coverage, "gap")
    assert answer.coverage.missing_ranges == (DateRange(ONE, THREE),)


def test_a_range_with_a_row_for_each_day_has_no_note_of_missing_days():
    answer = Insights.from_days([(ONE, {}), (TWO, {}), (THREE, {})], Coverage(ONE, THREE, "UTC"), "gap")
    assert (answer.coverage.is_complete, answer.coverage.missing_ranges, answer.coverage.notes) == (True, (), [])


def test_waiting_covers_nothing_and_says_what_resumes_it():
    answer = Insights.from_pending_report(ONE, THREE, None, PendingReport("job-1", "PROCESSING", 30_000)).to_json()
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
            sum_by_day(rows)


def test_whole_counts_may_come_as_decimals():
    assert sum_by_day([(ONE, {"impressions": Decimal("12.0")})])[0].impressions == 12


def parse_fraction(amount):
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
    answer = Insights.from_days([(day, {"spend": spend}) for day, spend in parts], COVERAGE, "zero")
    assert [row.date for row in answer.rows] == sorted({day for day, _ in parts})
    for row in answer.rows:
        spends = [spend for day, spend in parts if day == row.date]
        assert parse_fraction(row.spend) == (None if None in spends else sum(map(Fraction, spends)))
    spends = [spend for _, spend in parts]
    silent = not spends or None in spends
    assert parse_fraction(answer.totals.spend) == (None if silent else sum(map(Fraction, spends)))


def test_rows_of_a_report_stream_into_days():
    """What is held grows with the days, not with the rows."""
    metrics = (Metric("impressions", "/told/impressions", "count"), Metric("spend", "/told/spend", "micros"))
    native_rows = [{"date": day.isoformat(), "told": {"impressions": 1, "spend": "20000"}} for day in (ONE, TWO, THREE)]

    def peak(count):
        tracemalloc.start()
        try:
            rows = sum_by_day(
                parse_report_rows(metrics, ({**native_rows[number % 3]} for number in range(count)), "/date")
            )
            return rows, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (_, few), (rows, many) = peak(3_000), peak(30_000)
    assert [(row.impressions, row.spend) for row in rows] == [(10_000, "200")] * 3
    assert many < few * 1.5 < 2 * 2**20


@pytest.mark.parametrize(
    "value", ["1\n2", "", ".5", "5.", "1e3", "1_0", " 1", "NaN", "٣", "1" * 401, True, 0.5, [], {}]
)
@pytest.mark.parametrize("unit", ["count", "whole", "decimal", "micros", "cents", "minor", "major"])
def test_one_figure_that_is_no_number_among_many_is_refused(unit, value):
    rows = [{"date": "2027-03-01", "figure": "5"}, {"date": "2027-03-01", "figure": value}]
    with pytest.raises(ProviderUnreadable):
        list(parse_report_rows((Metric("spend", "/figure", unit),), rows, "/date", money_unit=DINAR))


def test_figures_of_every_kind_are_read_alike():
    native_values = ["-12", 7, Decimal("3.0"), None, "250"]
    rows = [{"date": "2027-03-01", "figure": value} for value in native_values]
    for kinds in (rows, *([row] for row in rows)):
        expected = [None if row["figure"] is None else Decimal(row["figure"]) for row in kinds]
        for unit, part in (
            ("count", 1),
            ("whole", 1),
            ("major", 1),
            ("micros", 10**6),
            ("cents", 100),
            ("minor", 1000),
        ):
            amounts = [
                figures["spend"]
                for _, figures in parse_report_rows([Metric("spend", "/figure", unit)], kinds, "/date", None, DINAR)
            ]
            assert amounts == [None if amount is None else amount / part for amount in expected]
