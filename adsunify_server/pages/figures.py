"""Amounts and figures for people: with the digits of their currency, and alike within a column."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from adsunify.values.currencies import EXPONENTS


def money(amount: str, currency: str | None) -> str:
    """An amount in major units with at least the digits of its currency; none is ever cut."""
    return _with(amount, max(_digits(amount), EXPONENTS.get(currency or "") or 0))


def column(values: Sequence[str | int | None], currency: str | None) -> list[str]:
    """The figures of a column, with digits alike; money where there is a currency. None is empty."""
    given = [None if value is None else str(value) for value in values]
    digits = max([_digits(value) for value in given if value is not None], default=0)
    least = max(digits, EXPONENTS.get(currency or "") or 0)
    return ["" if value is None else _with(value, least) for value in given]


def _digits(value: str) -> int:
    return len(value.partition(".")[2])


def _with(value: str, digits: int) -> str:
    return f"{Decimal(value):.{digits}f}"
