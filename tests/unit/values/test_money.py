"""Amounts: what a network can hold converts and comes back identical, all else is refused."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import iso4217
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.errors import InvalidInput
from adsunify.values import money
from adsunify.values.currencies import EXPONENTS, get_exponent
from adsunify.values.money import (
    MICROS,
    apply_change,
    format_decimal,
    from_units,
    require_multiple,
    to_decimal,
    to_units,
)

OFFSETS = (1, 5, 100, 1_000, 10_000, MICROS)
CURRENCIES = sorted(code for code, digits in EXPONENTS.items() if digits is not None)
AMOUNTS = st.from_regex(money.AMOUNT_REGEX.replace("$", r"\Z"))
unhurried = settings(deadline=None)


def refusal(function, *arguments, **named) -> str:
    with pytest.raises(InvalidInput) as refused:
        function(*arguments, **named)
    (issue,) = refused.value.issues
    assert issue.path == "budget.amount"
    return issue.code


def test_currencies_are_those_of_iso_4217():
    assert {currency.code: currency.exponent for currency in iso4217.Currency} == EXPONENTS
    assert len(EXPONENTS) == 178


@pytest.mark.parametrize(("currency", "digits"), [("USD", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), ("HUF", 2)])
def test_exponent_counts_the_digits_of_the_minor_unit(currency, digits):
    assert get_exponent(currency) == digits


@pytest.mark.parametrize("currency", ["XXX", "XAU", "BGN", "usd", "", "EURO", "\0"])
def test_exponent_refuses_what_no_amount_is_stated_in(currency):
    with pytest.raises(InvalidInput) as refused:
        get_exponent(currency, "campaign.budget.currency")
    assert [(issue.path, issue.code) for issue in refused.value.issues] == [
        ("campaign.budget.currency", "unknown_currency")
    ]
    assert not currency or currency not in refused.value.issues[0].message


@pytest.mark.parametrize(
    ("amount", "offset", "native"),
    [
        ("50.25", 100, 5025),
        ("50.250000", 100, 5025),
        ("0050.2", 100, 5020),
        ("50", 1, 50),
        ("50.000000", 1, 50),
        ("0", 100, 0),
        ("0.000001", MICROS, 1),
        ("9223372036854.775807", MICROS, 2**63 - 1),
    ],
)
def test_units_are_exact(amount, offset, native):
    assert to_units(amount, offset, "budget.amount") == native


@pytest.mark.parametrize(
    ("amount", "offset", "step", "code"),
    [
        ("50.255", 100, 1, "over_precision"),
        ("50.5", 1, 1, "over_precision"),
        ("50.005", MICROS, 10_000, "over_precision"),
        ("1.0000001", MICROS, 1, "over_precision"),
        ("1.0000000", 1, 1, "over_precision"),
        ("9223372036854.775808", MICROS, 1, "too_large"),
        ("1" * 19, 1, 1, "malformed"),
    ],
)
def test_units_refuse_what_the_network_cannot_hold(amount, offset, step, code):
    assert refusal(to_units, amount, offset, "budget.amount", step=step) == code


@pytest.mark.parametrize(
    "amount",
    ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "1 ", "1\n", "1_000", "0x1", "1.2.3", "١", "1.٢", "²", "NaN"],
)
def test_units_refuse_what_is_no_amount(amount):
    assert refusal(to_units, amount, 100, "budget.amount") == "malformed"


@unhurried
@given(st.text(alphabet="0123456789.+-eE_ ٣²\n", max_size=12))
def test_units_and_the_pattern_of_the_models_agree(text):
    matches = re.fullmatch(money.AMOUNT_REGEX.replace("$", ""), text) is not None
    try:
        to_units(text, MICROS, "budget.amount")
    except InvalidInput as refused:
        assert not matches or refused.issues[0].code == "too_large"
    else:
        assert matches


@unhurried
@given(st.sampled_from(CURRENCIES), st.sampled_from(OFFSETS), AMOUNTS)
def test_what_can_be_held_comes_back_identical_and_all_else_is_refused(currency, offset, amount):
    step = max(1, offset // 10 ** EXPONENTS[currency])
    in_units = Fraction(amount) * offset
    if in_units.denominator == 1 and in_units % step == 0 and in_units <= money.MAX_NATIVE_UNITS:
        native = to_units(amount, offset, "budget.amount", step=step)
        assert native == in_units
        assert Fraction(from_units(native, offset)) == Fraction(amount)
        assert to_units(from_units(native, offset), offset, "budget.amount") == native
        assert from_units(native, offset) == format_decimal(Decimal(amount))
    else:
        code = refusal(to_units, amount, offset, "budget.amount", step=step)
        assert code in {"over_precision", "too_large"}


@unhurried
@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(OFFSETS))
def test_major_has_one_form(native, offset):
    amount = from_units(native, offset)
    assert Fraction(amount) == Fraction(native, offset)
    assert re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]{0,5}[1-9])?", amount)


def test_major_needs_an_offset_that_six_digits_can_hold():
    with pytest.raises(ValueError, match="does not divide"):
        from_units(1, 3)


def test_multiple_of_checks_the_billable_unit():
    assert require_multiple(50_010_000, 10_000, MICROS, "budget.amount") == 50_010_000
    assert refusal(require_multiple, 50_005_000, 10_000, MICROS, "budget.amount") == "over_precision"


def test_over_precision_says_what_would_be_accepted():
    with pytest.raises(InvalidInput, match=r"must be a multiple of 0\.01"):
        to_units("50.005", MICROS, "bid", step=10_000)


@pytest.mark.parametrize(
    ("amount", "digits", "number"), [("35.50", 2, "35.5"), ("35.0", 0, "35"), ("100", 2, "100"), ("0.1", 3, "0.1")]
)
def test_exact_is_a_decimal_of_bounded_precision(amount, digits, number):
    assert str(to_decimal(amount, digits, "bid")) == number


def test_exact_refuses_more_digits():
    assert refusal(to_decimal, "35.005", 2, "budget.amount") == "over_precision"


@pytest.mark.parametrize(
    ("mode", "value", "native", "figure"),
    [
        ("set", "12.50", 1250, "12.5"),
        ("set", "1E+1", 1000, "10"),
        ("increase", "10", 1100, "11"),
        ("increase", "0.05", 1000, "10.005"),
        ("increase", "33.333333333333333333", 1333, "13.3333333333333333333"),
        ("decrease", "0.05", 999, "9.995"),
        ("decrease", "99.9", 1, "0.01"),
    ],
)
def test_changed_is_exact_and_cut_toward_the_lower_spend(mode, value, native, figure):
    assert apply_change(1000, mode, Decimal(value), 100, "value") == (native, Decimal(figure))


@pytest.mark.parametrize(
    ("mode", "value", "code"),
    [
        ("set", "12.505", "over_precision"),
        ("set", "1e17", "too_large"),
        ("decrease", "100", "out_of_range"),
        ("decrease", "99.99", "out_of_range"),
        ("decrease", "1000000000", "out_of_range"),
        ("increase", "1e17", "too_large"),
        ("increase", "0", "malformed"),
        ("increase", "-5", "malformed"),
        ("increase", "NaN", "malformed"),
        ("increase", "Infinity", "malformed"),
        ("increase", "1e999999", "malformed"),
        ("increase", "1e-999999", "malformed"),
    ],
)
def test_changed_refuses(mode, value, code):
    assert (
        refusal(apply_change, 2**60 if "7" in value else 1000, mode, Decimal(value), 100, "budget.amount", step=10)
        == code
    )


@unhurried
@given(
    st.integers(1, 10**12),
    st.sampled_from(["increase", "decrease"]),
    st.decimals("0.000001", "1000000000", places=6),
    st.sampled_from([(100, 1), (1, 1), (MICROS, 10_000), (MICROS, 1)]),
)
def test_changed_never_spends_more_than_asked(native, mode, percent, unit):
    offset, step = unit
    target = native * (1 + Fraction(percent) / 100 * (1 if mode == "increase" else -1))
    if target < step and mode == "decrease":
        assert refusal(apply_change, native, mode, percent, offset, "budget.amount", step=step) == "out_of_range"
    elif target > money.MAX_NATIVE_UNITS:
        assert refusal(apply_change, native, mode, percent, offset, "budget.amount", step=step) == "too_large"
    else:
        new, figure = apply_change(native, mode, percent, offset, "budget.amount", step=step)
        assert new % step == 0 or (mode == "increase" and new == native)  # an increase never lowers
        assert new <= target < new + step
        assert Fraction(figure) == target / offset


@pytest.mark.parametrize(
    ("number", "text"),
    [("0.10", "0.1"), ("1E+3", "1000"), ("1E-7", "0.0000001"), ("-0.00", "0"), ("-2.50", "-2.5"), ("100", "100")],
)
def test_written_has_one_form(number, text):
    assert format_decimal(Decimal(number)) == text
