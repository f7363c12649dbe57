"""Divides the budget of a launch among its cells, exactly. Amounts are micro-units of the currency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm

from adsunify.adapter.native_money import MoneyUnit
from adsunify.errors import invalid_input
from adsunify.values.money import MICROS, from_units, to_units


def compute_common_unit(units: Iterable[MoneyUnit]) -> int:
    """Return the smallest amount that is a multiple of all money units, in micro-units.

    The units need not divide each other.
    """
    return lcm(*(unit.step * MICROS // unit.offset for unit in units))


def share_units(count: int, weights: Sequence[int]) -> list[int]:
    """Divide ``count`` units by weights above 0: each share is rounded down, and the first one gets the remainder."""
    whole = sum(weights)
    shares = [count * weight // whole for weight in weights]
    return [shares[0] + count - sum(shares), *shares[1:]]


def split_amount(amount: str, unit: int, weights: Sequence[int], path: str) -> list[str]:
    """Divide an amount in major units into shares, one for each weight. Their sum is exactly the amount.

    Args:
        amount: a decimal string in major units.
        unit: each share is a multiple of this number of micro-units.
        weights: the weight of each share, above 0.
        path: the member that an issue names.

    Raises:
        InvalidInput: ``over_precision`` (the amount is not a multiple of the unit), ``out_of_range`` (a share would be
            0), or as :func:`to_units`.
    """
    total = to_units(amount, MICROS, path)
    if total % unit:
        finest = from_units(unit, MICROS)
        message = f"must be a multiple of {finest}, the finest amount that all networks of its cells store."
        raise invalid_input(path, "over_precision", message)
    shares = share_units(total // unit, weights)
    if not all(shares):
        message = f"must give each of the {len(weights)} cells at least {from_units(unit, MICROS)}; raise the amount."
        raise invalid_input(path, "out_of_range", message)
    return [from_units(share * unit, MICROS) for share in shares]
