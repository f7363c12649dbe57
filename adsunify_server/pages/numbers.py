"""Amounts and figures for people, with the digits of their currency."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from adsunify.values.currencies import EXPONENTS


def format_money(amount: str, currency: str | None) -> str:
    """Format an amount in groups of thousands with at least the digits of its currency. No digit is dropped."""
    return f"{Decimal(pad_money(amount, currency)):,f}"


def pad_money(amount: str, currency: str | None) -> str:
    """Return an amount as a decimal text with at least the digits of its currency. No digit is dropped."""
    return f"{Decimal(amount):.{max(_count_decimals(amount), EXPONENTS.get(currency or '') or 0)}f}"


def format_column(values: Sequence[str | int | None], currency: str | None) -> list[str]:
    """Format the figures of a column with the same number of decimals, in groups of thousands; None is empty text.

    ``currency``: the currency of a column of amounts, which sets the minimum number of decimals.
    """
    texts = [None if value is None else str(value) for value in values]
    digits = max([_count_decimals(value) for value in texts if value is not None], default=0)
    minimum = max(digits, EXPONENTS.get(currency or "") or 0)
    return ["" if value is None else f"{Decimal(value):,.{minimum}f}" for value in texts]


def format_change(now: str | int | None, before: str | int | None) -> str:
    """Format the change from one total to another in percent; empty if there is no percentage."""
    if now is None or before is None or Decimal(before) == 0:
        return ""
    percent = (Decimal(now) / Decimal(before) - 1) * 100
    return f"{percent:+.0f} %" if abs(percent) >= 10 else f"{percent:+.1f} %"


def _count_decimals(value: str) -> int:
    return len(value.partition(".")[2])
