"""The plot: shapes that say exactly what the figures say."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from adsunify_server.pages.chart import FULL, format_share, make_panel

amounts = st.none() | st.decimals(0, 10**12, places=2).map(str)


def days(count: int) -> list[str]:
    return [(date(2026, 1, 1) + timedelta(days=number)).isoformat() for number in range(count)]


@given(st.lists(amounts, max_size=400))
def test_every_day_stands_in_its_place(values: list[str | None]) -> None:
    panel = make_panel("Spend", "USD", list(zip(days(len(values)), values, strict=True)), "bars")
    known = [value for value in values if value is not None]
    assert len(panel.marks) == len(known)
    assert [mark.says.split(": ")[1] for mark in panel.marks] == [f"{Decimal(value):,} USD" for value in known]
    assert [mark.x for mark in panel.marks] == sorted(mark.x for mark in panel.marks)
    for mark in panel.marks:
        assert 0 <= mark.x < mark.x + mark.width <= FULL
        assert 0 <= mark.y <= FULL and mark.y + mark.height == FULL
    by_value = sorted(zip(map(Decimal, known), panel.marks, strict=True), key=lambda pair: pair[0])
    heights = [mark.height for _, mark in by_value]
    assert heights == sorted(heights)
    assert [level.at for level in panel.levels] == [0, FULL // 2, FULL]
    if known and max(map(Decimal, known)):
        assert max(heights) * 2 >= FULL - 2  # the scale is no larger than twice what there is


def test_a_missing_day_breaks_the_line() -> None:
    values = list(zip(days(5), ["1", "2", None, "4", "5"], strict=True))
    assert [piece.count(",") for piece in make_panel("Clicks", "clicks", values, "line").points] == [2, 2]


def test_nothing_at_all() -> None:
    panel = make_panel("Clicks", "clicks", [], "line")
    assert (panel.marks, panel.points, panel.days, panel.summary) == ((), (), (), "Clicks: no figures.")


def test_its_scale() -> None:
    panel = make_panel("Spend", "USD", [("2026-01-01", "63.10"), ("2026-01-02", "12")], "bars", "2026-01-02")
    assert [level.label for level in panel.levels] == ["80 USD", "40 USD", "0 USD"]
    assert panel.days == ("2026-01-01", "2026-01-02")
    assert panel.summary.startswith("Spend per day, 2026-01-01 to 2026-01-02: from 12 to 63.10 USD.")
    assert [mark.says for mark in panel.marks] == ["2026-01-01: 63.10 USD", "2026-01-02: 12 USD"]
    assert [mark.is_provisional for mark in panel.marks] == [False, True]


def test_a_share_of_the_plot() -> None:
    assert [format_share(parts) for parts in (0, 5, 333, FULL)] == ["0.00%", "0.05%", "3.33%", "100.00%"]
