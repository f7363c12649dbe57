"""Figures of reports, computed from a digest. The same request always gets the same figures; nothing is stored."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import TypeVar

from adsunify.sandbox.world import EntityKey, Lineage

Figures = Mapping[str, int]
_WEIGHTS = 8  # each entity without children gets 0 to 7 shares of the account's daily figures
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


def get_share(
    whole: Mapping[str, _Number], first: int, last: int, parts: int, smallest: Figures = MappingProxyType({})
) -> dict[str, _Number]:
    """Divide the whole into `parts` equal divisions, and return the part from the division `first` to `last`.

    The parts of adjacent ranges add up exactly. `smallest` has the smallest amount of each figure, if it is not 1. The
    whole figure is a multiple of this amount, and so is each part.
    """
    return {
        name: (value // unit * last // parts - value // unit * first // parts) * unit
        for name, value in whole.items()
        for unit in (smallest.get(name, 1),)
    }


def divide_figures(
    whole: Figures, lineages: Sequence[Lineage], day: date, smallest: Figures = MappingProxyType({})
) -> dict[EntityKey, dict[str, int]]:
    """Divide an account's figures of a day over its entities.

    `lineages` comes from `World.list_lineages`; `smallest` is as in `get_share`. The last entity of each lineage gets a
    part; the sizes differ, and on some days an entity gets no part. Every parent has the sum of its children, so each
    level adds up to the account's figures exactly.

    Returns:
        the figures by kind and id, only of entities that have a part.
    """
    weights = [draw_bytes(lineage[-1].id, day)[0] % _WEIGHTS for lineage in lineages]
    if not any(weights):
        weights = [1] * len(lineages)
    parts, first = sum(weights), 0
    figures: dict[EntityKey, dict[str, int]] = {}
    for lineage, weight in zip(lineages, weights, strict=True):
        if weight:
            part = get_share(whole, first, first + weight, parts, smallest)
            for entity in lineage:
                key = entity.kind, entity.id
                figures[key] = sum_figures([part], figures.get(key))
        first += weight
    return figures


def get_currency_unit(currency: str) -> int:
    """Return how many units of the currency are worth about one dollar."""
    return _CURRENCY_UNITS.get(currency, 1)
