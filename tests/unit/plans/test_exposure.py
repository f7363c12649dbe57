"""What a plan allows to be spent: arithmetic and JSON."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adsunify.plans.exposure import Amount, BudgetChange, Exposure, Guard, Spend, format_amount, parse_amount

MICROS = 1_000_000
KNOWN = st.integers(0, 10**18)
AMOUNTS: st.SearchStrategy[Amount] = st.one_of(KNOWN, st.sampled_from(("unbounded", "unknown")))
SPENDS = st.builds(Spend, AMOUNTS, AMOUNTS)
CURRENCIES = st.sampled_from((None, "USD", "JPY", "KWD"))


@given(AMOUNTS, CURRENCIES)
def test_an_amount_is_read_as_it_was_written(amount: Amount, currency: str | None) -> None:
    assert parse_amount(format_amount(amount, currency)) == amount


def test_amounts_have_the_digits_of_their_currency() -> None:
    amounts = [format_amount(25 * MICROS, code) for code in ("USD", "JPY", "KWD", None)]
    assert amounts == ["25.00", "25", "25.000", "25"]
    assert format_amount(1, "USD") == "0.000001"
    assert format_amount(0, "USD") == "0"


@given(SPENDS, SPENDS)
def test_what_is_unknown_stays_unknown(spend: Spend, other: Spend) -> None:
    for result in (spend + other, spend - other):
        assert result.is_unknown == (spend.is_unknown or other.is_unknown)


@given(KNOWN, KNOWN, KNOWN, KNOWN)
def test_a_raise_is_never_negative(daily: int, lifetime: int, new_daily: int, new_lifetime: int) -> None:
    raised = Spend(new_daily, new_lifetime) - Spend(daily, lifetime)
    assert raised == Spend(max(0, new_daily - daily), max(0, new_lifetime - lifetime))


def test_a_removed_end_is_an_unbounded_raise() -> None:
    with_end, without = Spend(5, 50), Spend(5, "unbounded")
    assert without - with_end == Spend(0, "unbounded")
    assert with_end - without == without - without == Spend()


@given(SPENDS, SPENDS, st.one_of(st.none(), AMOUNTS), CURRENCIES)
def test_stored_and_read_again(exposure: Spend, planned: Spend, bid: Amount | None, currency: str | None) -> None:
    changes = (BudgetChange("campaign", "7", "budget", None, 5), BudgetChange("adGroup", "8", "dailyBudget", 5, None))
    guards = (Guard("campaign", "7", "budget", 5, 3), Guard("adGroup", "8", "endAt", None))
    for activates, reduces in ((True, False), (False, True), (False, False)):
        whole = Exposure(currency, exposure, planned, bid, changes, guards, activates, reduces)
        assert Exposure.from_json(whole.to_json()) == whole


@given(st.one_of(st.none(), KNOWN, st.just("unknown")), st.one_of(st.none(), KNOWN), st.one_of(st.none(), KNOWN))
def test_a_guard_holds_unless_the_plan_would_raise_the_present_value(
    value: str | int | None, planned: int | None, present: int | None
) -> None:
    guard = Guard("campaign", "7", "budget", value, planned)
    assert guard.is_kept(value)
    lowers = planned is not None and present is not None and planned <= present
    assert guard.is_kept(present) == (present == value or lowers)
