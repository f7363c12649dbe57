"""Daily figures as SVG shapes: whole pixels, computed exactly."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from attrs import frozen

WIDTH, HEIGHT = 720, 200
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 26
SCALE_STEPS = tuple(map(Decimal, ("1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10")))


@frozen
class DataPoint:
    """One day: its position and size in pixels, and its text."""

    x: int
    y: int
    width: int
    height: int
    middle: int
    says: str


@frozen
class Tick:
    """A label of an axis. ``at``: pixels from the top or from the left."""

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
    levels: tuple[Tick, ...]
    days: tuple[Tick, ...]
    summary: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    floor: int = HEIGHT - BOTTOM


def make_panel(
    title: str, unit: str, values: Sequence[tuple[str, str | int | None]], style: Literal["bars", "line"]
) -> Panel:
    """Make the plot of one figure.

    Args:
        title: the figure's name.
        unit: the unit of the values.
        values: date and value of each day; None where the day has no figure. Amounts are exact decimals.
        style: bars or a line.
    """
    series = [(day, None if value is None else Decimal(value)) for day, value in values]
    present = [value for _, value in series if value is not None]
    top = _round_up(max(present, default=Decimal(0)))
    slot = Decimal(WIDTH - LEFT - RIGHT) / max(len(series), 1)
    marks: list[DataPoint] = []
    pieces: list[list[str]] = [[]]
    for index, (day, value) in enumerate(series):
        if value is None:
            pieces.append([])
            continue
        x, after = LEFT + _round_to_integer(slot * index), LEFT + _round_to_integer(slot * (index + 1))
        y = _pixel_height(value, top)
        width = max(1, after - x - max(1, (after - x) // 5))
        marks.append(DataPoint(x, y, width, HEIGHT - BOTTOM - y, (x + after) // 2, f"{day}: {value} {unit}"))
        pieces[-1].append(f"{(x + after) // 2},{y}")
    return Panel(
        title,
        unit,
        style,
        tuple(marks),
        tuple(" ".join(piece) for piece in pieces if piece),
        tuple(Tick(_pixel_height(top * part / 4, top), _format_label(top * part / 4)) for part in (0, 2, 4)),
        tuple(_make_day_ticks([day for day, _ in series], slot)),
        _make_summary(title, unit, present, series),
    )


def _make_day_ticks(days: Sequence[str], slot: Decimal) -> list[Tick]:
    indexes = sorted({0, len(days) // 2, len(days) - 1}) if days else []
    return [Tick(LEFT + _round_to_integer(slot * index + slot / 2), days[index]) for index in indexes]


def _make_summary(
    title: str, unit: str, present: Sequence[Decimal], series: Sequence[tuple[str, Decimal | None]]
) -> str:
    if not present:
        return f"{title}: no figures."
    days = f"{series[0][0]} to {series[-1][0]}"
    return f"{title} per day, {days}: from {min(present)} to {max(present)} {unit}. The table below has every figure."


def _pixel_height(value: Decimal, top: Decimal) -> int:
    """The distance of a value from the top edge in pixels; negative values count as 0."""
    return HEIGHT - BOTTOM - _round_to_integer((HEIGHT - BOTTOM - TOP) * max(value, Decimal(0)) / top)


def _round_up(value: Decimal) -> Decimal:
    """The smallest value of a readable scale that is not below ``value``."""
    if value <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(value.adjusted())
    return next(step * power for step in SCALE_STEPS if step * power >= value)


def _format_label(value: Decimal) -> str:
    return f"{value.normalize():,f}"


def _round_to_integer(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))
