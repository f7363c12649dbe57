"""What the loops of the networks share: exact figures, into which no float gets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from tests.networks.modules import load_network_module

FIRST = date(2026, 1, 1)
DAYS = 365
ZONE = "Europe/Berlin"
MICRO, CENT = Decimal("0.000001"), Decimal("0.01")

Row = dict[str, Any]
Day = tuple[date, Mapping[str, Any]]


# -- rows ---------------------------------------------------------------------------------------------------------


def rows(network: str, count: int) -> Iterator[Row]:
    """So many days of a report of a year, in rows as JSON reads them."""
    loop = load_loop(network)
    for number in range(count // getattr(loop, "DAYS_IN_ROW", 1)):
        yield loop.make_row(number, (FIRST + timedelta(number % DAYS)).isoformat())


def load_loop(network: str) -> Any:
    """``tests/networks/<code>/reporting.py``: ``make_row``, and ``parse_days``, which is the loop for such rows.

    ``DAYS_IN_ROW`` and ``DAYS_MEMBER`` are given where a row holds several days in a member, and ``paginate`` where the
    adapter reads pages.
    """
    return load_network_module(network, "reporting", "make_row", "parse_days")


# -- loops --------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?").fullmatch


def whole(value: Any) -> int | None:
    """Return a count. Raises ValueError for a value that is not a count."""
    kind = type(value)
    if value is None or kind is int:
        return value  # type: ignore[no-any-return] # None or an integer
    if kind is str and value.isdecimal() and value.isascii():
        return int(value)
    if kind is Decimal and value == int(value):
        return int(value)
    raise ValueError("no count")


def exact(value: Any) -> Decimal | None:
    """Return an amount. Raises ValueError for a value that is not an amount."""
    if value is None:
        return None
    kind = type(value)
    if kind is int or kind is Decimal or (kind is str and _NUMBER(value)):
        return Decimal(value)
    raise ValueError("no number")


def scale(value: Any, part: Decimal) -> Decimal | None:
    """An amount that is counted in parts of a major unit."""
    number = exact(value)
    return None if number is None else number * part


def clean(value: Any) -> Decimal | None:
    """An amount without the noise of a float."""
    number = exact(value)
    return None if number is None else number.quantize(MICRO, ROUND_HALF_EVEN)
