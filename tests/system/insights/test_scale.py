"""Pages of reports on each network: every row has the figures of its native row."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from tests.performance.loops import load_loop

from .pages import Part, Source, list_reporting_networks, read_pages
from .reading import MAX_PEAK, measure_in_process


def read_by_hand(network: str, part: Part) -> Mapping[str, Any]:
    """The figures of a native row, as the loop of the network reads them."""
    loop = load_loop(network)
    row = {loop.DAYS_MEMBER: [part.row]} if hasattr(loop, "DAYS_MEMBER") else part.row
    ((day, figures),) = loop.parse_days([row])
    assert day == part.day
    return dict(figures)


@pytest.mark.parametrize("network", list_reporting_networks())
def test_each_row_has_its_own_figures(network: str) -> None:
    source = Source(network)
    count = 0
    for page in read_pages(source, 1_000):
        count += len(page.rows)
        rows = page.rows.to_json()
        assert len(rows) == len(source.parts) == len({(row["entityId"], row["date"]) for row in rows})
        for part, row in zip(source.parts, rows, strict=True):  # both are in order of entities and days
            assert row["date"] == part.day.isoformat()
            for name, value in read_by_hand(network, part).items():
                assert (None if row[name] is None else Decimal(row[name])) == value, (name, row, part)
    assert count == source.count


def test_a_process_measures_itself() -> None:
    measured = measure_in_process("reddit", 1_000)
    assert measured.rows >= 1_000 and MAX_PEAK > measured.peak > measured.size > 0
    assert 0 < measured.convert_seconds < measured.whole_seconds and measured.loads_seconds > 0
