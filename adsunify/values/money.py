"""Converts money between decimal strings and the integer native units of a network, exactly.

An amount is a decimal string in major units of a currency ("12.5"): ASCII digits with an optional fraction of 1 to 6
digits, without sign or exponent. Leading and trailing zeros are accepted. A network counts in native units, of which
``offset`` make one major unit (100 for cents, 1_000_000 for micros). Some networks accept only multiples of a ``step``
of native units. An amount that the network cannot store exactly is refused and never rounded. No amount is a float.

Formatted amounts have one form: no exponent, no leading zeros, no trailing zeros in the fraction ("12.5", "3", "0").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from functools import cache
from typing import Literal

from adsunify.errors import InvalidInput, invalid_input

MICROS = 1_000_000
MAX_FRACTION_DIGITS = 6
MAX_WHOLE_DIGITS = 18
AMOUNT_REGEX = r"^[0-9]{1,18}(\.[0-9]{1,6})?$"
"""The pattern of an amount, for models and schemas."""
AMOUNT_FORM = 'digits with an optional fraction of 1 to 6 digits, such as "12.50"'
"""The form of an amount, in words."""

MAX_NATIVE_UNITS = 2**63 - 1
"""The largest amount, because integers of the networks have at most 64 bits."""

ChangeMode = Literal["set", "increase", "decrease"]

_POWERS_OF_TEN = tuple(10**digits for digits in range(MAX_FRACTION_DIGITS + 1))
_EXACT_CONTEXT = Context(prec=120, traps=[Inexact, InvalidOperation, Overflow])
_MAX_PERCENT_DIGITS = 20  # 100/3 as other languages print it has 15 digits


def to_units(amount: str, offset: int, path: str, *, step: int = 1) -> int:
    """Convert an amount to native units, exactly.

    Args:
        amount: a decimal string in major units.
        offset: the number of native units in one major unit.
        path: the member that an issue names.
        step: the result must be a multiple of this number of native units.

    Raises:
        InvalidInput: ``malformed`` (not an amount), ``over_precision`` (not a multiple of ``step`` native units),
            ``too_large`` (more than 64 bits).
    """
    whole, point, fraction = amount.partition(".")
    digits, places = whole + fraction, len(fraction)
    if not (
        digits.isdigit()
        and digits.isascii()
        and places <= MAX_FRACTION_DIGITS
        and 0 < len(whole) <= MAX_WHOLE_DIGITS
        and (places or not point)
    ):
        raise _malformed_error(amount, path)
    scaled = int(digits) * offset
    power = _POWERS_OF_TEN[places]
    if scaled % power:
        raise _over_precision_error(offset, step, path)
    native = scaled // power
    if native > MAX_NATIVE_UNITS:
        raise _too_large_error(path)
    return native if step == 1 else require_multiple(native, step, offset, path)


def require_multiple(native: int, step: int, offset: int, path: str) -> int:
    """Return ``native`` if it is a multiple of ``step`` native units (Google's billable unit).

    Raises:
        InvalidInput: ``over_precision``.
    """
    if native % step:
        raise _over_precision_error(offset, step, path)
    return native


def from_units(native: int, offset: int) -> str:
    """Format native units as an amount in major units. This is the exact inverse of :func:`to_units`.

    ``native`` may be negative, as balances are. ``offset`` must divide 1_000_000, so six fraction digits suffice.
    """
    if native < 0:
        return "-" + from_units(-native, offset)
    whole, remainder = divmod(native, offset)
    if not remainder:
        return str(whole)
    fraction = f"{remainder * _count_micros_per_unit(offset):06d}".rstrip("0")
    return f"{whole}.{fraction}"


def to_decimal(amount: str, digits: int, path: str) -> Decimal:
    """Convert an amount to a Decimal in major units with at most ``digits`` fraction digits, for JSON numbers (Amazon).

    The result has no trailing zeros, so equal amounts give equal JSON.

    Raises:
        InvalidInput: as :func:`to_units`.
    """
    offset = 10**digits
    return Decimal(from_units(to_units(amount, offset, path), offset))


def format_decimal(number: Decimal | int) -> str:
    """Format an exact number without exponent and trailing zeros ("0.1" for ``Decimal("0.10")``)."""
    text = format(number, "f") if isinstance(number, Decimal) else str(number)
    if "." in text:
        text = text.rstrip("0").removesuffix(".")
    return "0" if text == "-0" else text


def group_digits(amount: str) -> str:
    """Return an amount with separators between thousands, as people read it. Words such as ``unbounded`` stay."""
    return f"{Decimal(amount):,f}" if amount[:1].isdigit() else amount


def format_decimals(numbers: Sequence[Decimal | int | None]) -> list[str | None]:
    """Format exact numbers as :func:`format_decimal` does; None stays None."""
    texts = ["" if number is None else str(number) for number in numbers]
    marks = "".join(texts)
    if "E" in marks or "-" in marks:
        return [None if number is None else format_decimal(number) for number in numbers]
    return [text.rstrip("0").rstrip(".") if "." in text else text or None for text in texts]


def apply_change(
    native: int, mode: ChangeMode, value: Decimal, offset: int, path: str, *, step: int = 1
) -> tuple[int, Decimal]:
    """Calculate the new value of a setting that holds ``native`` units.

    With ``set``, ``value`` is an amount in major units, which the network must be able to store exactly. With
    ``increase`` and ``decrease``, ``value`` is a percentage; the result is computed exactly and then rounded down to a
    multiple of ``step``, so that the account never spends more than requested. An increase is at least ``native``.

    Returns:
        The new native units, and the exact figure in major units before rounding.

    Raises:
        InvalidInput: as :func:`to_units`; ``malformed`` (not a number above 0, or too long); ``out_of_range`` (the
            result would be 0).
    """
    if (
        not value.is_finite()
        or value <= 0
        or not -_MAX_PERCENT_DIGITS <= _find_last_place(value) <= value.adjusted() < 18
    ):
        raise invalid_input(
            path, "malformed", f"must be a number above 0 with at most {_MAX_PERCENT_DIGITS} fraction digits."
        )
    if mode == "set":
        amount = format_decimal(value)
        return to_units(amount, offset, path, step=step), Decimal(amount)
    percent = _EXACT_CONTEXT.add(100, value) if mode == "increase" else _EXACT_CONTEXT.subtract(100, value)
    figure = _EXACT_CONTEXT.multiply(native, percent)  # in hundredths of a native unit
    new = int(_EXACT_CONTEXT.divide_int(figure, 100 * step)) * step
    if mode == "increase":
        new = max(new, native)  # the present amount may not be a multiple of the step
    if new <= 0:
        raise invalid_input(
            path, "out_of_range", f"must leave at least {from_units(step, offset)}; this change leaves nothing."
        )
    if new > MAX_NATIVE_UNITS:
        raise _too_large_error(path)
    return new, Decimal(format_decimal(_EXACT_CONTEXT.divide(figure, 100 * offset)))


def _find_last_place(value: Decimal) -> int:
    """Return the exponent of the last nonzero digit: -2 for 1.250."""
    _, digits, place = value.as_tuple()
    zeros = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    return int(place) + zeros


@cache
def _count_micros_per_unit(offset: int) -> int:
    """Return the number of micros in one native unit."""
    each, remainder = divmod(MICROS, offset)
    if remainder:
        raise ValueError(f"an offset of {offset} does not divide {MICROS}")
    return each


def _malformed_error(amount: str, path: str) -> InvalidInput:
    if len(amount.partition(".")[2]) > MAX_FRACTION_DIGITS and re.fullmatch(r"[0-9]{1,18}\.[0-9]+", amount):
        return invalid_input(path, "over_precision", "must have at most 6 fraction digits; nothing is rounded.")
    return invalid_input(path, "malformed", f"must be a decimal string: {AMOUNT_FORM}.")


def _over_precision_error(offset: int, step: int, path: str) -> InvalidInput:
    return invalid_input(
        path,
        "over_precision",
        f"must be a multiple of {from_units(step, offset)}, the finest amount of the network; nothing is rounded.",
    )


def _too_large_error(path: str) -> InvalidInput:
    return invalid_input(path, "too_large", "is more than the network can store.")
