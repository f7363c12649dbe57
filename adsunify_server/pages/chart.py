"""Daily figures as SVG shapes, computed exactly.

Positions and sizes are whole numbers of :data:`FULL` parts of the plot's width or height, so a plot fits every window
and its texts keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from attrs import frozen

FULL = 10_000
SCALE_STEPS = tuple(map(Decimal, ("1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10")))


@frozen
class DataPoint:
    """The mark of one day: its position, its size, and its text, which fits into the plot on a phone.

    ``anchor``: which end of the text is at the middle of the day.
    """

    x: int
    y: int
    width: int
    height: int
    middle: int
    says: str
    anchor: Literal["start", "middle", "end"]
    is_provisional: bool


@frozen
class ScaleLine:
    """A line of the scale. ``at``: its distance from the top."""

    at: int
    label: str


@frozen
class Panel:
    """A plot of one figure. ``points``: the corners of each piece of the line; missing days separate the pieces."""

    title: str
    unit: str
    style: Literal["bars", "line"]
    marks: tuple[DataPoint, ...]
    points: tuple[str, ...]
    levels: tuple[ScaleLine, ...]
    days: tuple[str, ...]
    summary: str
    full: int = FULL


def make_panel(
    title: str,
    unit: str,
    values: Sequence[tuple[str, str | int | None]],
    style: Literal["bars", "line"],
    provisional_from: str | None = None,
) -> Panel:
    """Make the plot of one figure.

    Args:
        title: the figure's name.
        unit: the unit of the values; empty if it is not known.
        values: date and value of each day; None where the day has no figure. Amounts are exact decimals.
        style: ``bars``, whose scale shows the unit, or ``line``.
        provisional_from: the first day whose figures may still change.
    """
    series = [(day, None if value is None else Decimal(value)) for day, value in values]
    present = [value for _, value in series if value is not None]
    top = _round_up(max(present, default=Decimal(0)))
    slot = Decimal(FULL) / max(len(series), 1)
    marks: list[DataPoint] = []
    pieces: list[list[str]] = [[]]
    for index, (day, value) in enumerate(series):
        if value is None:
            pieces.append([])
            continue
        x, after = _round_to_integer(slot * index), _round_to_integer(slot * (index + 1))
        y = _find_height(value, top)
        is_provisional = provisional_from is not None and day >= provisional_from
        says = f"{day}: {_add_unit(f'{value:,}', unit)}"
        width = after - x - (after - x) // 5
        marks.append(DataPoint(x, y, width, FULL - y, x + width // 2, says, _choose_anchor(x, after), is_provisional))
        pieces[-1].append(f"{marks[-1].middle},{y}")
    scale_unit = unit if style == "bars" else ""
    scale = [(FULL - FULL * half // 2, _format_label(top * half / 2)) for half in (2, 1, 0)]
    return Panel(
        title,
        unit,
        style,
        tuple(marks),
        tuple(" ".join(piece) for piece in pieces if piece),
        tuple(ScaleLine(at, _add_unit(label, scale_unit)) for at, label in scale),
        tuple(series[index][0] for index in sorted({0, len(series) // 2, len(series) - 1}) if series),
        _make_summary(title, unit, present, series),
    )


def _choose_anchor(x: int, after: int) -> Literal["start", "middle", "end"]:
    """Choose which end of a text is at the middle of the day, so that the text stays inside the plot."""
    return "start" if 3 * x < FULL else "end" if 3 * after > 2 * FULL else "middle"


def _add_unit(text: str, unit: str) -> str:
    return f"{text} {unit}".rstrip()


def format_share(parts: int) -> str:
    """Format parts of a width or height as a percentage for SVG."""
    return f"{parts // 100}.{parts % 100:02}%"


def _make_summary(
    title: str, unit: str, present: Sequence[Decimal], series: Sequence[tuple[str, Decimal | None]]
) -> str:
    if not present:
        return f"{title}: no figures."
    days = f"{series[0][0]} to {series[-1][0]}"
    largest = _add_unit(f"{max(present):,}", unit)
    return f"{title} per day, {days}: from {min(present):,} to {largest}. The table below has every figure."


def _find_height(value: Decimal, top: Decimal) -> int:
    """Return the distance of a value from the top. Negative values count as 0."""
    return FULL - _round_to_integer(FULL * max(value, Decimal(0)) / top)


def _round_up(value: Decimal) -> Decimal:
    """Return the smallest value of a readable scale that is not below ``value``."""
    if value <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(value.adjusted())
    return next(step * power for step in SCALE_STEPS if step * power >= value)


def _format_label(value: Decimal) -> str:
    return f"{value.normalize():,f}"


def _round_to_integer(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))
