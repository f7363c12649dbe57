"""The plot: shapes that say exactly what the figures say."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from adsunify_server.pages.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, make_panel

amounts = st.none() | st.decimals(0, 10**12, places=2).map(str)
FLOOR = HEIGHT - BOTTOM


def days(count: int) -> list[str]:
    return [(date(2026, 1, 1) + timedelta(days=number)).isoformat() for number in range(count)]


@given(st.lists(amounts, max_size=400))
def test_every_day_stands_in_its_place(values: list[str | None]) -> None:
    made = make_panel("Spend", "USD", list(zip(days(len(values)), values, strict=True)), "bars")
    known = [value for value in values if value is not None]
    assert len(made.marks) == len(known)
    assert [mark.says.split(": ")[1] for mark in made.marks] == [f"{Decimal(value)} USD" for value in known]
    assert [mark.x for mark in made.marks] == sorted(mark.x for mark in made.marks)
    for mark in made.marks:
        assert LEFT <= mark.x <= mark.x + mark.width <= WIDTH - RIGHT + 1
        assert TOP <= mark.y <= FLOOR and mark.y + mark.height == FLOOR
    by_value = sorted(zip(map(Decimal, known), made.marks, strict=True), key=lambda pair: pair[0])
    heights = [mark.height for _, mark in by_value]
    assert heights == sorted(heights)
    assert made.levels[0].at == FLOOR and made.levels[-1].at == TOP
    if known and max(map(Decimal, known)):
        assert max(heights) * 2 >= FLOOR - TOP - 2  # the scale is no larger than twice what there is


def test_a_missing_day_breaks_the_line() -> None:
    values = list(zip(days(5), ["1", "2", None, "4", "5"], strict=True))
    assert [piece.count(",") for piece in make_panel("Clicks", "clicks", values, "line").points] == [2, 2]


def test_nothing_at_all() -> None:
    made = make_panel("Clicks", "clicks", [], "line")
    assert (made.marks, made.points, made.days, made.summary) == ((), (), (), "Clicks: no figures.")


def test_its_scale() -> None:
    made = make_panel("Spend", "USD", [("2026-01-01", "63.10"), ("2026-01-02", "12")], "bars")
    assert [tick.label for tick in made.levels] == ["0", "40", "80"]
    assert [tick.label for tick in made.days] == ["2026-01-01", "2026-01-02"]
    assert made.summary.startswith("Spend per day, 2026-01-01 to 2026-01-02: from 12 to 63.10 USD.")
