"""Spend of each level is that of the sandbox's own ledger, and null never becomes 0 on any way to a reader."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from pydantic.alias_generators import to_camel

from adsunify import AsyncAds
from adsunify.adapter.insights import METRIC_NAMES
from adsunify.answers.tables import FIGURE_COLUMNS
from adsunify.cli.exporting import WRITERS, open_export
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.reporting import keeping
from tests.server import test_levels as levels
from tests.server.served import Served
from tests.server.test_kept_figures import days_of, now, read, sync

from .ledger import sum_spend

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_the_spend_of_each_level_is_that_of_the_ledger(
    server: Served, live: dict[str, str], network: str
) -> None:
    world, days = server.networks.state.worlds[network], levels.days_of(server, 5)
    native_id = (await server.admin.get(f"/accounts/{live[network]}"))["nativeId"]
    account = world.accounts.get(native_id) or world.accounts[native_id.removeprefix("act_")]
    first = date.fromisoformat(days["startDate"])
    expected = sum_spend(network, world, account, [first + timedelta(number) for number in range(5)])
    assert expected > 0 and account.currency == "USD"
    own = (await levels.read_days(server, live[network], **days)).values()
    assert sum((Decimal(row["spend"]) for row in own), Decimal(0)) == expected
    for level in get_adapter(network).network.report_levels:
        rows = await levels.read_rows(server, live[network], **days, level=level.kind)
        assert sum((Decimal(row["spend"]) for row in rows), Decimal(0)) == expected, level.kind


# -- null ---------------------------------------------------------------------------------------------------------

Nulls = Mapping[tuple[str, str], set[str]]
"""The names of the figures that are null, by day and entity."""


def _find_nulls(rows: list[dict[str, Any]]) -> Nulls:
    """Return the nulls of rows of the API, or of rows with the names of columns."""
    return {
        (str(row.get("date")), str(row.get("entityId", row.get("entity_id")))): {
            to_camel(name) for name in FIGURE_COLUMNS if row.get(to_camel(name), row.get(name)) is None
        }
        for row in rows
    }


def _find_unreported(network: str) -> set[str]:
    """The figures that the network's tables do not have at the level of campaigns."""
    tables = get_adapter(network).network
    level = next(level for level in tables.report_levels if level.kind == "campaign")
    return {*METRIC_NAMES} - {metric.name for metric in level.metrics or tables.metrics}


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_null_stays_null(
    server: Served, live: dict[str, str], network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MAX_PAUSE_SECONDS", 0.05)
    account = live[network]
    await sync(server, [account], ["campaign"])  # first: it may move the clock to the next day
    days = days_of(server)
    answer = await read(server, account, level="campaign")
    nulls = _find_nulls(answer["rows"])
    assert nulls and all(_find_unreported(network) <= names for names in nulls.values())
    assert _find_nulls((await read(server, account, level="campaign", asOf=now(server)))["rows"]) == nulls
    first, last = date.fromisoformat(days["startDate"]), date.fromisoformat(days["endDate"])
    async with AsyncAds(server.base_url, token=server.people["admin"].tokens["write"]) as client:
        monkeypatch.setattr(client, "_wait", _wait_briefly)
        report = client.insights.report(account, first, last, level="campaign")
        assert _find_nulls(await report.to_dicts()) == nulls
        assert _find_nulls((await report.to_arrow()).to_pylist()) == nulls
        pandas_frame = await report.to_pandas()
        polars_frame = await report.to_polars()
        pages = [page async for page in report.pages]
    null_count = {name: sum(name in names for names in nulls.values()) for name in METRIC_NAMES}
    for frame in (pandas_frame.isna().sum(), polars_frame.null_count().row(0, named=True)):
        assert {to_camel(name): int(frame[name]) for name in FIGURE_COLUMNS} == null_count
    for format_ in WRITERS:
        path = tmp_path / format_
        with open_export(path, format_) as writer:
            for page in pages:
                writer.write_page(page)
        assert _find_nulls(_read_file(path, format_)) == nulls


async def _wait_briefly(seconds: float) -> None:
    """Wait for a report that a simulated network prepares."""


def _read_file(path: Path, format_: str) -> list[dict[str, Any]]:
    if format_ == "parquet":
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    if format_ == "jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]


async def test_only_a_member_that_is_absent_is_null(server: Served, live: dict[str, str]) -> None:
    """Meta leaves out the actions of some days, LinkedIn the videos; LinkedIn has explicit zeros, too."""
    end = server.hands.now().date() - timedelta(days=2)
    days = {"startDate": str(end - timedelta(days=6)), "endDate": str(end)}
    absent = 0
    insights = await server.admin.get(f"/accounts/{live['meta']}/insights", **days, level="ad")
    meta_rows = {(row["ad_id"], row["date_start"]): row for row in insights["nativeRows"]}
    for row in insights["rows"]:
        reported = meta_rows[row["entityId"], row["date"]]
        has_views = any(action["action_type"] == "video_view" for action in reported.get("actions", ()))
        assert (row["videoViews"] is not None) is has_views
        absent += not has_views
    insights = await server.admin.get(f"/accounts/{live['linkedin']}/insights", **days, level="campaign")
    linkedin_rows = {
        (row["pivotValues"][0].rpartition(":")[2], date(**row["dateRange"]["start"]).isoformat()): row
        for row in insights["nativeRows"]
    }
    for row in insights["rows"]:
        reported = linkedin_rows[row["entityId"], row["date"]]
        assert row["videoViews"] == reported.get("videoViews")
        conversions = reported.get("externalWebsiteConversions")
        assert (None if row["conversions"] is None else int(row["conversions"])) == conversions
        absent += row["videoViews"] is None
    assert absent > 1
