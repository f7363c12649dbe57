"""How much an entity may spend: days, ends, budgets of both periods, and amounts in every form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.spend import (
    EntityBudget,
    Moment,
    SpendSettings,
    apply_changes,
    compute_spend,
    count_days,
    find_common_run,
    find_widest_run,
    is_cap_lifted,
    parse_amount,
    parse_major_amount,
    read_spend_settings,
)
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.exposure import NO_SPEND, UNKNOWN_SPEND, Spend
from adsunify.plans.records import Change
from adsunify.values.dates import get_midnight
from adsunify.values.exact_json import Json, loads
from adsunify.values.money import MAX_NATIVE_UNITS, MICROS
from tests.networks.samples import find_case_folder

ZONES = ("America/New_York", "Asia/Tokyo", "Pacific/Apia", "America/Santiago", "Europe/Berlin", "UTC")
NOW = datetime(2027, 3, 1, 17, 0, tzinfo=UTC)
DAYS = st.dates(date(2026, 1, 1), date(2029, 12, 31))


def parse_moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def make_daily_settings(amount: Any, start: Moment = None, end: Moment = None) -> SpendSettings:
    return SpendSettings({"budget": EntityBudget("daily", amount)}, start=start, end=end)


@given(DAYS, st.integers(0, 400), st.integers(1, 10**9), st.sampled_from(ZONES))
def test_a_daily_budget_counts_each_day_of_the_account(first: date, more: int, amount: int, zone: str) -> None:
    last = first + timedelta(days=more)
    expected = Spend(amount, amount * (more + 1))
    assert compute_spend(make_daily_settings(amount, first, last), zone, None) == expected
    midnight = get_midnight(last + timedelta(days=1), zone)  # an end excludes its instant, whatever the clocks do
    assert compute_spend(make_daily_settings(amount, get_midnight(first, zone), midnight), zone, None) == expected
    assert compute_spend(make_daily_settings(amount, first, midnight - timedelta(seconds=1)), zone, None) == expected
    assert compute_spend(
        make_daily_settings(amount, first, midnight + timedelta(seconds=1)), zone, None
    ).lifetime == amount * (more + 2)


@pytest.mark.parametrize(
    ("zone", "start", "end", "days"),
    [
        ("America/New_York", None, "2027-03-01T17:00:01+00:00", 1),
        ("America/New_York", None, "2027-03-01T17:00:00+00:00", 0),  # ended
        ("America/New_York", "2027-03-13T00:00:00-05:00", "2027-03-15T00:00:00-04:00", 2),  # 47 hours
        ("America/New_York", "2027-11-07T00:00:00-04:00", "2027-11-08T00:00:00-05:00", 1),  # 25 hours
        ("America/New_York", "2027-03-10T23:59:00-05:00", "2027-03-11T00:01:00-05:00", 2),
        ("Asia/Tokyo", None, "2027-03-01T18:00:00+00:00", 1),  # it is 2 March there
        ("UTC", "2027-01-01T00:00:00+00:00", "2027-03-04T00:00:00+00:00", 3),  # the start has passed
    ],
)
def test_days(zone: str, start: str | None, end: str, days: int) -> None:
    assert count_days(None if start is None else parse_moment(start), parse_moment(end), zone, NOW) == days


def test_what_the_days_need() -> None:
    end = date(2027, 3, 10)
    assert count_days(None, None, None, NOW) == "unbounded"
    assert count_days(None, end, None, NOW) == count_days(None, end, "Mars/Olympus", NOW) == "unknown"
    assert count_days(None, end, "UTC", None) == "unknown"
    assert count_days("unknown", end, "UTC", NOW) == count_days(None, "unknown", "UTC", NOW) == "unknown"
    assert count_days(None, date(2027, 2, 28), "UTC", NOW) == 0
    assert count_days(date(2027, 3, 9), end, "UTC", NOW) == 2
    assert compute_spend(make_daily_settings(10, end=date(2027, 2, 28)), "UTC", NOW) == Spend(10, 0)


def test_budgets_of_both_periods() -> None:
    both = {"budget": EntityBudget("daily", 10), "lifetimeBudget": EntityBudget("lifetime", 45)}
    assert compute_spend(SpendSettings(both, end=date(2027, 3, 3)), "UTC", NOW) == Spend(10, 30)
    assert compute_spend(SpendSettings(both, end=date(2027, 3, 20)), "UTC", NOW) == Spend(10, 45)
    assert compute_spend(SpendSettings(both), "UTC", NOW) == Spend(10, 45)
    small = {"budget": EntityBudget("daily", 10), "lifetimeBudget": EntityBudget("lifetime", 4)}
    assert compute_spend(SpendSettings(small), "UTC", NOW) == Spend(4, 4)
    assert compute_spend(SpendSettings({"budget": EntityBudget("lifetime", 45)}), None, NOW) == Spend(45, 45)
    assert compute_spend(SpendSettings({"budget": EntityBudget("daily", None)}), "UTC", NOW) == NO_SPEND
    assert compute_spend(make_daily_settings("unknown", end=date(2027, 3, 3)), "UTC", NOW) == UNKNOWN_SPEND
    assert (
        compute_spend(make_daily_settings(MAX_NATIVE_UNITS, end=date(2027, 3, 3)), "UTC", NOW).lifetime == "unbounded"
    )


MOMENTS: st.SearchStrategy[Moment] = st.one_of(
    st.none(), DAYS, st.datetimes(datetime(2026, 1, 1), datetime(2029, 1, 1), timezones=st.just(UTC))
)


@given(st.lists(MOMENTS, min_size=1), st.sampled_from(ZONES))
def test_the_nearest_end_of_a_line_and_the_widest_of_others(ends: list[Moment], zone: str) -> None:
    line = [make_daily_settings(1, end=end) for end in ends]

    def count(end: Moment) -> float:
        days = count_days(date(2025, 1, 1), end, zone, None)
        return days if isinstance(days, int) else float("inf")

    assert count(find_common_run(line, zone).end) == min(map(count, ends))
    assert count(find_widest_run(make_daily_settings(1), line, zone).end) == max(map(count, ends))
    if None in ends:
        assert find_widest_run(make_daily_settings(1), line, zone).end is None
    unreadable = [*line, make_daily_settings(1, end="unknown")]
    assert find_common_run(unreadable, zone).end == "unknown"


@pytest.mark.parametrize("form", ["integer", "text"])
@given(st.integers(1, 10**12), st.sampled_from([1, 100, 1000, MICROS]))
def test_counts_of_native_units(form: Any, count: int, offset: int) -> None:
    assert parse_amount(MoneyUnit(offset, form=form), count) == count * MICROS // offset
    assert parse_amount(MoneyUnit(offset, form=form), str(count)) == count * MICROS // offset


@pytest.mark.parametrize(
    "native",
    [
        *(
            "NaN",
            "Infinity",
            "-5",
            "+5",
            "1e400",
            "1_000",
            " 5",
            "5 ",
            "0x10",
            "５",
            "five",
            "12.5.1",
            "",
            "1" * 31,
            "5\n",
        ),
        *(True, -1, [5], {"amount": 5}, Decimal("NaN"), Decimal("Infinity"), Decimal("-0.5"), Decimal("12.7"), "0"),
    ],
    ids=repr,
)
def test_every_other_form_of_an_amount_is_unknown(native: Json) -> None:
    assert parse_amount(MoneyUnit(100), native) == "unknown"


def test_amounts_are_rounded_up_and_bounded() -> None:
    assert parse_major_amount("0.0000001") == 1
    assert parse_major_amount("12.3456789") == 12_345_679
    assert parse_amount(MoneyUnit(100), Decimal("1E+3")) == 10 * MICROS
    assert parse_amount(MoneyUnit(1), 10**20) == parse_major_amount("9" * 25) == "unbounded"


def test_caps() -> None:
    def make_capped_settings(amount: Any) -> SpendSettings:
        return SpendSettings(caps={"spendCap": amount})

    lifted = [(5, 6), (5, None), (5, "unknown"), ("unknown", 5), ("unknown", None)]
    assert all(is_cap_lifted(make_capped_settings(before), make_capped_settings(after)) for before, after in lifted)
    assert not any(
        is_cap_lifted(make_capped_settings(before), make_capped_settings(after))
        for before, after in [(5, 4), (5, 5), (None, 5)]
    )


LINE = SpendSettings(
    {"budget": EntityBudget("daily", 10), "lifetimeBudget": EntityBudget("lifetime", None)},
    {"spendCap": 50, "dailyCap": None},
    date(2027, 3, 2),
    date(2027, 3, 9),
)


@pytest.mark.parametrize(
    "after",
    [
        LINE,
        evolve(LINE, budgets={"budget": EntityBudget("daily", 9), "lifetimeBudget": EntityBudget("daily", None)}),
        evolve(LINE, caps={"spendCap": 50, "dailyCap": 7}),
        evolve(LINE, caps={"spendCap": 49, "dailyCap": None}),
        evolve(LINE, start=date(2027, 3, 3)),
        evolve(LINE, end=date(2027, 3, 8)),
    ],
)
def test_what_only_reduces(after: SpendSettings) -> None:
    assert after.only_reduces(LINE)
    assert LINE.only_reduces(after) == (after == LINE)
    assert after.only_reduces(evolve(LINE, start=None, end=None))


@pytest.mark.parametrize(
    "after",
    [
        evolve(LINE, budgets={"budget": EntityBudget("lifetime", 9)}),  # another period
        evolve(LINE, budgets={"lifetimeBudget": EntityBudget("daily", 9)}),  # another field
        evolve(LINE, budgets={**LINE.budgets, "lifetimeBudget": EntityBudget("lifetime", 1)}),
        evolve(LINE, budgets={"budget": EntityBudget("daily", None)}),
        evolve(LINE, budgets={}),
        evolve(LINE, budgets={"budget": EntityBudget("daily", "unknown")}),
        evolve(LINE, caps={"spendCap": None}),
        evolve(LINE, caps={}),
        evolve(LINE, start=date(2027, 3, 1)),
        evolve(LINE, start=None),
        evolve(LINE, start="unknown"),
        evolve(LINE, start=parse_moment("2027-03-02T00:00:00+00:00")),  # a day and an instant are not compared
        evolve(LINE, end=date(2027, 3, 10)),
        evolve(LINE, end=None),
        evolve(LINE, end="unknown"),
    ],
)
def test_what_may_spend_more(after: SpendSettings) -> None:
    assert not after.only_reduces(LINE)
    assert not LINE.only_reduces(evolve(LINE, budgets={"budget": EntityBudget("daily", "unknown")}))


@given(
    *(st.builds(make_daily_settings, st.integers(1, 99), st.none() | DAYS, st.none() | DAYS) for _ in range(2)),
    st.sampled_from(ZONES),
)
def test_what_only_reduces_spends_no_more(before: SpendSettings, after: SpendSettings, zone: str) -> None:
    if after.only_reduces(before):
        assert compute_spend(after, zone, NOW) - compute_spend(before, zone, NOW) == NO_SPEND


def test_changes_of_an_edit() -> None:
    before = make_daily_settings(10 * MICROS, end=date(2027, 3, 10))
    after = apply_changes(before, [Change("budget", "10", "12.5"), Change("endAt", "2027-03-10", None)])
    assert after == make_daily_settings(12_500_000)
    assert apply_changes(before, [Change("endAt", None, "2027-04-01T00:00:00Z")]).end == parse_moment(
        "2027-04-01T00:00:00+00:00"
    )
    assert apply_changes(before, [Change("budget", "10", "many")]) == make_daily_settings("unknown", end=before.end)


BUDGETS = [
    pytest.param(code, row, id=f"{code}-{number}")
    for code in ADAPTER_PACKAGES
    for number, row in enumerate(loads((find_case_folder(code) / "exposure" / "budgets.json").read_bytes()))
]
"""Entities of each network, and what they can spend a day and in all."""


@pytest.mark.parametrize(("network", "row"), BUDGETS)
def test_where_networks_hold_budgets(network: str, row: Mapping[str, Json]) -> None:
    account = Account(network, "1", "USD", "America/New_York", {})
    settings = read_spend_settings(get_adapter(network).network, account, row["kind"], row["native"])
    assert compute_spend(settings, account.timezone, NOW) == Spend.from_json(row["spend"])
