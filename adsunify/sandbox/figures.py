"""Figures of reports: drawn from a digest, so that the same question gets the same answer without any storage."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

Figures = Mapping[str, int]
_CURRENCY_UNITS = {"JPY": 100}
_Number = TypeVar("_Number", int, Decimal)


def draw_bytes(*seed: object) -> bytes:
    """32 bytes (0 to 255) that depend on the seed alone, usually the id of a subject and a day."""
    return hashlib.sha256(" ".join(map(str, seed)).encode()).digest()


def draw_numbers(*seed: object) -> Sequence[int]:
    """Eight numbers from 0 to 2**32 - 1 that depend on the seed alone."""
    digest = draw_bytes(*seed)
    return [int.from_bytes(digest[start : start + 4], "big") for start in range(0, len(digest), 4)]


def sum_figures(
    rows: Iterable[Mapping[str, _Number]], start: Mapping[str, _Number] | None = None
) -> dict[str, _Number]:
    """The sums by name, counted from `start`; empty without rows and `start`."""
    total: dict[str, _Number] = dict(start or {})
    for row in rows:
        for name, value in row.items():
            total[name] = total[name] + value if name in total else value
    return total


def get_share(whole: Figures, first: int, last: int, parts: int) -> dict[str, int]:
    """What falls between two of `parts` equal divisions of the whole. The shares of adjacent spans add up."""
    return {name: value * last // parts - value * first // parts for name, value in whole.items()}


def get_currency_unit(currency: str) -> int:
    """How many units of the currency are worth about one dollar."""
    return _CURRENCY_UNITS.get(currency, 1)
