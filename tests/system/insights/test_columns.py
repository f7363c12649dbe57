"""Each column of the four reports of a public data model is in our rows, or at a documented place.

Read by hand from fivetran/dbt_ad_reporting, models/ad_reporting_models.yml, version 2.3.0 (commit 1fb3d7f2 of
2025-12-22), on 2026-11-24. Only the names of the columns are used.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adsunify.adapter.entity_reports import EntityMetrics
from adsunify.answers.tables import ENTITY_COLUMNS

_FIRST = ("source_relation", "date_day", "platform", "account_id", "account_name")
_FIGURES = ("clicks", "impressions", "spend", "conversions", "conversions_value")
_CAMPAIGN = ("campaign_id", "campaign_name")
_AD_GROUP = ("ad_group_id", "ad_group_name")
REPORTS = {
    "account": (*_FIRST, *_FIGURES),
    "campaign": (*_FIRST, *_CAMPAIGN, *_FIGURES),
    "adGroup": (*_FIRST, *_CAMPAIGN, *_AD_GROUP, *_FIGURES),
    "ad": (*_FIRST, *_CAMPAIGN, *_AD_GROUP, "ad_id", "ad_name", *_FIGURES),
}
"""The columns of the reports, by our level."""
GUIDE = Path(__file__).parents[3] / "docs" / "insights.md"
TABLE_HEAD = "| their column | levels | ours |"


def read_table() -> dict[tuple[str, str], str]:
    """Return the cell `ours` of the guide by level and column."""
    _, _, rest = GUIDE.read_text().partition(TABLE_HEAD)
    places: dict[tuple[str, str], str] = {}
    for line in rest.splitlines()[2:]:
        if not line.startswith("|"):
            break
        columns, levels, ours = (cell.strip() for cell in line.strip("|").split("|"))
        for column in re.findall(r"`(\w+)`", columns):
            places |= {(level, column): ours for level in re.findall(r"`(\w+)`", levels)}
    return places


@pytest.mark.parametrize("level", list(REPORTS))
def test_each_column_has_a_place(level: str) -> None:
    places = read_table()
    assert {column for row_level, column in places if row_level == level} == set(REPORTS[level])
    for column in REPORTS[level]:
        ours = re.match(r"`(\w+)`", places[level, column])
        assert ours is None or ours[1] in ENTITY_COLUMNS, column


def test_the_columns_of_a_row_are_those_of_the_tables() -> None:
    row = {*EntityMetrics.__annotations__} | {"date"}
    assert {"entity_id", "entity_name", "parent_id"} <= row & set(ENTITY_COLUMNS)
