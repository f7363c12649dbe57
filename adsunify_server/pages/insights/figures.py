"""Figures of pages: columns as text, sums over rows, and the comparison with the period before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from adsunify.values.money import format_decimal
from adsunify_server.pages.numbers import format_change, format_column

METRICS = ("impressions", "clicks", "spend", "conversions", "conversionValue")
AMOUNT_METRICS = ("spend", "conversionValue")
"""The metrics of tables, and the metrics that are amounts."""
Figures = Mapping[str, Any]


def format_columns(rows: Sequence[Figures], currency: str | None) -> dict[str, list[str]]:
    """Format the figures of each metric as text; a missing figure is empty."""
    return {
        name: format_column([row[name] for row in rows], currency if name in AMOUNT_METRICS else None)
        for name in METRICS
    }


def list_changes(now: Figures | None, before: Figures | None) -> list[str]:
    """Return the change of each metric in percent; empty where a figure is missing."""
    return [format_change((now or {}).get(name), (before or {}).get(name)) for name in METRICS]


def sum_figures(rows: Sequence[Figures]) -> dict[str, str | int | None]:
    """Add up the figures of rows exactly. A sum is None without rows, or if a row lacks the figure."""
    return {name: _add_up([row[name] for row in rows]) for name in METRICS}


def _add_up(values: Sequence[str | int | None]) -> str | int | None:
    present = [value for value in values if value is not None]
    if not present or len(present) < len(values):
        return None
    if all(isinstance(value, int) for value in present):
        return sum(value for value in present if isinstance(value, int))
    return format_decimal(sum(map(Decimal, present), Decimal(0)))
