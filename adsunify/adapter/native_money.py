"""Amounts of money as a network's JSON holds them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Literal

from attrs import frozen

from adsunify.adapter.account import Account, require_currency
from adsunify.errors import InvalidInput
from adsunify.values.exact_json import Json
from adsunify.values.money import MAX_NATIVE_UNITS, MICROS, from_units, to_units


@frozen
class MoneyUnit:
    """How a network counts the account's money: ``offset`` native units make one major unit, in steps of ``step``.

    ``form``: how native JSON holds an amount. ``integer`` and ``text`` are a count of units. ``major`` is a decimal
    number of major units, and ``major_text`` is that number as text. Networks may return ``major_text`` with digits
    below the unit, which are cut. ``assumption``: a sentence for the warnings of a plan if the unit is a documented
    fallback that no request has confirmed.
    """

    offset: int
    step: int = 1
    form: Literal["integer", "text", "major", "major_text"] = "integer"
    assumption: str = ""


_MICROS_UNIT = MoneyUnit(MICROS)


def get_micros_unit(account: Account) -> MoneyUnit:
    """Return the unit of a network that counts millionths of every currency. Raises InvalidInput if none is known."""
    require_currency(account)
    return _MICROS_UNIT


def to_native_amount(unit: MoneyUnit, amount: str, path: str = "amount") -> Json:
    """Convert a decimal string of major units to the network's JSON. Raises InvalidInput if that is not exact."""
    return format_native_amount(unit, to_native_units(unit, amount, path))


def to_native_units(unit: MoneyUnit, amount: str, path: str = "amount") -> int:
    """Convert a decimal string of major units to native units. Raises InvalidInput if that is not exact."""
    return to_units(amount, unit.offset, path, step=unit.step)


def format_native_amount(unit: MoneyUnit, count: int) -> Json:
    """Return a count of native units in the form of the network's JSON."""
    if unit.form == "integer":
        return count
    if unit.form == "major_text":
        return from_units(count, unit.offset)
    return str(count) if unit.form == "text" else Decimal(from_units(count, unit.offset))


def parse_native_amount(unit: MoneyUnit, native: Json) -> int | None:
    """Parse an amount of the network's JSON to native units; None if it is not an amount of 64 bits."""
    try:
        if unit.form == "major":
            return to_units(format(Decimal(native), "f"), unit.offset, "amount") if is_number(native) else None
        if unit.form == "major_text":
            return _parse_truncated_units(unit, native) if isinstance(native, str) else None
        count = int(native) if is_number(native) or isinstance(native, str) else None
        return count if count is not None and abs(count) <= MAX_NATIVE_UNITS else None
    except (ValueError, InvalidOperation, InvalidInput):
        return None


def _parse_truncated_units(unit: MoneyUnit, native: str) -> int | None:
    whole, _, fraction = native.partition(".")
    digits = fraction[: len(str(unit.offset)) - 1]
    if fraction and not (fraction.isascii() and fraction.isdigit()):
        return None
    return to_units(f"{whole}.{digits}" if digits else whole, unit.offset, "amount")


def is_number(value: Json) -> bool:
    """Whether a value is an integer or a decimal. Booleans are not numbers."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
