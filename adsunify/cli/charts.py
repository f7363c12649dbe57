"""Charts that consist of characters: a sparkline of days, and a bar for a share."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from attrs import frozen
from rich.console import Console

from .output import can_encode

Number = int | Decimal
BAR_WIDTHS = (8, 16)
"""The narrowest and the widest bar, in characters."""
SPARKLINE_SHARE, BAR_SHARE = 4, 10
"""A sparkline takes at most a fourth of the terminal, and a bar a tenth."""


@frozen
class Symbols:
    """The characters of charts.

    Attributes:
        heights: the characters of a day, from the value 0 to the highest value.
        no_figure: the character of a day without a figure.
        full: a whole character of a bar.
        parts: the possible last characters of a bar, from the shortest to the longest, in equal steps.
    """

    heights: str
    no_figure: str
    full: str
    parts: str


BLOCKS = Symbols("▁▂▃▄▅▆▇█", "·", "█", "▏▎▍▌▋▊▉")
ASCII = Symbols("_.:-=+*#", "?", "#", "")


@frozen
class Charts:
    """Draws charts for a terminal of a width and an encoding."""

    width: int
    symbols: Symbols

    @classmethod
    def choose(cls, screen: Console) -> Charts:
        """Return charts with the characters that the terminal can show."""
        characters = BLOCKS.heights + BLOCKS.no_figure + BLOCKS.parts
        return cls(screen.width, BLOCKS if can_encode(screen, characters) else ASCII)

    def draw_sparkline(self, values: Sequence[Number | None]) -> str:
        """Draw a character for each value; its height is relative to the highest value.

        If the values are too many for the terminal, a character shows the mean of several. Only 0 has the lowest
        character. None has the character ``no_figure``.
        """
        step = -(-len(values) // (self.width // SPARKLINE_SHARE))
        means = [_calculate_mean(values[first : first + step]) for first in range(0, len(values), step)]
        highest = max((mean for mean in means if mean is not None), default=Decimal(0))
        steps = len(self.symbols.heights) - 1
        return "".join(
            self.symbols.no_figure
            if mean is None
            else self.symbols.heights[0 if mean <= 0 else min(_round_up(mean * steps / highest), steps)]
            for mean in means
        )

    def draw_bar(self, share: Decimal) -> str:
        """Draw a share from 0 to 1. Only 0 has no bar."""
        shortest, longest = BAR_WIDTHS
        width = min(max(self.width // BAR_SHARE, shortest), longest)
        parts = len(self.symbols.parts) + 1
        length = min(max(share, Decimal(0)), Decimal(1)) * width * parts
        count = int(length.to_integral_value(ROUND_HALF_UP)) or (1 if share > 0 else 0)
        full, rest = divmod(count, parts)
        return self.symbols.full * full + (self.symbols.parts[rest - 1] if rest else "")


def _calculate_mean(values: Sequence[Number | None]) -> Decimal | None:
    numbers = [Decimal(value) for value in values if value is not None]
    return sum(numbers, Decimal(0)) / len(numbers) if numbers else None


def _round_up(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_CEILING))
