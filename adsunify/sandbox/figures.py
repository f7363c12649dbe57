"""Figures of reports, computed from a digest. The same question gets the same answer, and nothing is stored."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

Figures = Mapping[str, int]
_CURRENCY_UNITS = {"JPY": 100}
_Number = TypeVar("_Number", int, Decimal)


def draw_bytes(*seed: object) -> bytes:
    """Return 32 bytes (0 to 255) that depend only on the seed, which is usually an id and a day."""
    return hashlib.sha256(" ".join(map(str, seed)).encode()).digest()


def draw_numbers(*seed: object) -> Sequence[int]:
    """Return eight numbers from 0 to 2**32 - 1 that depend only on the seed."""
    digest = draw_bytes(*seed)
    return [int.from_bytes(digest[start : start + 4], "big") for start in range(0, len(digest), 4)]


def sum_figures(
    rows: Iterable[Mapping[str, _Number]], start: Mapping[str, _Number] | None = None
) -> dict[str, _Number]:
    """Return the sums by name, starting from `start`. They are empty if there are neither rows nor `start`."""
    total: dict[str, _Number] = dict(start or {})
    for row in rows:
        for name, value in row.items():
            total[name] = total[name] + value if name in total else value
    return total


def get_share(whole: Figures, first: int, last: int, parts: int) -> dict[str, int]:
    """Return the part of the whole between the divisions `first` and `last`, if it has `parts` equal divisions.

    The parts of adjacent divisions add up to the part of both.
    """
    return {name: value * last // parts - value * first // parts for name, value in whole.items()}


def get_currency_unit(currency: str) -> int:
    """Return how many units of the currency are worth about one dollar."""
    return _CURRENCY_UNITS.get(currency, 1)
