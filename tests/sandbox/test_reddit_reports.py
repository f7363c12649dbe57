"""Reports of the simulated Reddit Ads API."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.reddit_calls import (
    AD,
    AD_GROUP,
    ADELAIDE,
    CAMPAIGN,
    HOST,
    LONDON,
    NEW_YORK,
    TOKYO,
    V3,
    Clock,
    check_refusal,
    create_entity,
    create_example,
    log_in,
    open_client,
    patch_entity,
    read_data,
    read_refusal,
    send,
)

# The documented example, word for word.
ASKED: dict[str, Any] = {
    "starts_at": "2026-11-01T00:00:00Z",
    "ends_at": "2026-11-08T00:00:00Z",
    "time_zone_id": "Etc/UTC",
    "breakdowns": ["DATE"],
    "fields": [
        "IMPRESSIONS", "CLICKS", "SPEND", "REACH", "VIDEO_VIEWABLE_IMPRESSIONS", "KEY_CONVERSION_TOTAL_COUNT",
        "CONVERSION_PURCHASE_TOTAL_VALUE",
    ],
}  # fmt: skip


async def read_report(web: httpx.AsyncClient, account: str = NEW_YORK, **change: Any) -> list[dict[str, Any]]:
    data = read_data(
        await send(web, "POST", f"ad_accounts/{account}/reports", {**ASKED, **change}, **{"page.size": 1000})
    )
    rows: list[dict[str, Any]] = data["metrics"]
    return rows


async def test_the_example_of_the_documentation(web: httpx.AsyncClient) -> None:
    answer = await send(web, "POST", f"ad_accounts/{NEW_YORK}/reports", ASKED, **{"page.size": 1000})
    assert (answer.status_code, answer.json()["pagination"]) == (200, {"next_url": None})
    data = answer.json()["data"]
    assert data["metrics_updated_at"] == "2026-11-21T12:00:00Z"
    assert [row["date"] for row in data["metrics"]] == [f"2026-11-0{day}" for day in range(1, 8)]
    assert set(data["metrics"][0]) == {"date", *map(str.lower, ASKED["fields"])}
    assert all(isinstance(value, int) and value > 0 for value in [*data["metrics"][0].values()][1:4])
    assert data["metrics"] == await read_report(web)


async def test_pages_are_asked_for_with_the_same_body(web: httpx.AsyncClient) -> None:
    whole, rows = await read_report(web), []
    answer = await send(web, "POST", f"ad_accounts/{NEW_YORK}/reports", ASKED, **{"page.size": 3})
    while True:
        rows += answer.json()["data"]["metrics"]
        following = answer.json()["pagination"]["next_url"]
        if following is None:
            break
        assert following.startswith(f"{HOST}/api/v3/ad_accounts/{NEW_YORK}/reports?page.size=3&page.token=")
        answer = await web.post(following.replace("https:/", "", 1), json={"data": ASKED})
    assert rows == whole


@pytest.mark.parametrize("account", [NEW_YORK, TOKYO, ADELAIDE, LONDON])
async def test_every_day_of_every_account_has_a_row(web: httpx.AsyncClient, account: str) -> None:
    rows = await read_report(web, account, starts_at="2026-08-01T00:00:00Z", ends_at="2026-11-22T00:00:00Z")
    assert len(rows) == 113
    assert all(row["spend"] > 0 for row in rows)


async def test_the_history_and_the_days_to_come(web: httpx.AsyncClient) -> None:
    rows = await read_report(web, starts_at="2024-11-01T00:00:00Z", ends_at="2024-12-01T00:00:00Z")
    assert rows[0]["date"] == "2024-11-21"  # 24 months before
    assert await read_report(web, starts_at="2026-12-01T00:00:00Z", ends_at="2026-12-08T00:00:00Z") == []


async def test_days_of_a_zone_of_half_hours(web: httpx.AsyncClient) -> None:
    """Midnight in Adelaide is half past the hour in UTC: the first whole hour reaches into the day before."""
    window = {"starts_at": "2026-11-01T13:00:00Z", "ends_at": "2026-11-03T14:00:00Z"}
    rows = await read_report(web, ADELAIDE, **window, time_zone_id="Australia/Adelaide")
    assert [row["date"] for row in rows] == ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"]
    assert rows[0]["impressions"] < rows[1]["impressions"] > rows[3]["impressions"]


async def test_parts_add_up(web: httpx.AsyncClient) -> None:
    days = await read_report(web)
    (total,) = await read_report(web, breakdowns=[])
    hours = await read_report(web, breakdowns=["HOUR"])
    campaigns = await read_report(web, breakdowns=["DATE", "CAMPAIGN_ID", "AD_ID"])
    for name in ("impressions", "spend", "conversion_purchase_total_value"):
        assert {sum(row[name] for row in rows) for rows in (days, [total], hours, campaigns)} == {total[name]}
    assert len(hours) == 7 * 24
    assert hours[1]["hour"] == "2026-11-01T01:00:00"
    assert set(campaigns[0]) >= {"date", "campaign_id", "ad_id"}


async def test_fields(web: httpx.AsyncClient) -> None:
    fields = ["IMPRESSIONS", "CTR", "CPC", "CURRENCY", "CONVERSION_LEAD_CLICKS", "CLICK_ATTRIBUTION_WINDOW"]
    (row, *_) = await read_report(web, TOKYO, fields=fields)
    assert set(row) == {"date", "impressions", "ctr", "cpc", "currency", "conversion_lead_clicks"}
    assert (row["currency"], row["conversion_lead_clicks"]) == ("JPY", None)


async def test_filters(web: httpx.AsyncClient) -> None:
    (row, *_) = await read_report(web, breakdowns=["DATE", "CAMPAIGN_ID"])
    assert len(await read_report(web, filter=f"campaign:id=={row['campaign_id']}")) == 7
    assert await read_report(web, filter="campaign:id==123") == []
    assert len(await read_report(web, filter="ad:effective_status==ACTIVE")) == 7


LEVELS = {
    "campaign": ["DATE", "CAMPAIGN_ID"],
    "ad_group": ["DATE", "AD_GROUP_ID", "CAMPAIGN_ID"],
    "ad": ["DATE", "AD_ID", "AD_GROUP_ID"],
}
WEEK = {"starts_at": "2026-12-02T00:00:00Z", "ends_at": "2026-12-09T00:00:00Z"}


async def create_trees(web: httpx.AsyncClient) -> list[dict[str, str]]:
    """Two campaigns with two ad groups and three ads each, which run; ids by level for each ad."""
    rows = []
    for number in range(2):
        campaign_id = await create_entity(web, "campaigns", {**CAMPAIGN, "name": f"Winter {number}"})
        groups = [await create_entity(web, "ad_groups", {**AD_GROUP, "campaign_id": campaign_id}) for _ in range(2)]
        for group in (*groups, groups[0]):
            ad = await create_entity(web, "ads", {**AD, "ad_group_id": group})
            rows.append({"campaign": campaign_id, "ad_group": group, "ad": ad})
    for kind, level in (("ads", "ad"), ("ad_groups", "ad_group"), ("campaigns", "campaign")):
        for native_id in sorted({row[level] for row in rows}):
            await patch_entity(web, kind, native_id, configured_status="ACTIVE")
    return rows


async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, clock: Clock) -> None:
    rows = await create_trees(web)
    clock.instant += timedelta(days=19)
    await log_in(web)
    await patch_entity(web, "ads", rows[0]["ad"], configured_status="ARCHIVED")
    names = [name.lower() for name in ASKED["fields"] if name != "REACH"]

    def add_up(report_rows: list[dict[str, Any]]) -> dict[str, list[int]]:
        sums: dict[str, list[int]] = {}
        for row in report_rows:
            before = sums.get(row["date"], [0] * len(names))
            sums[row["date"]] = [figure + row[name] for figure, name in zip(before, names, strict=True)]
        return sums

    whole = await read_report(web, **WEEK)
    assert len(add_up(whole)) == 7
    for breakdowns in LEVELS.values():
        report_rows = await read_report(web, **WEEK, breakdowns=breakdowns, fields=[*ASKED["fields"], *breakdowns[1:]])
        assert add_up(report_rows) == add_up(whole)
        below = sum(row["reach"] for row in report_rows if row["date"] == whole[0]["date"])
        assert below > whole[0]["reach"] > max(row["reach"] for row in report_rows if row["date"] == whole[0]["date"])
    parents = {row["ad_id"]: row["ad_group_id"] for row in report_rows}
    assert {row["ad"]: row["ad_group"] for row in rows[1:]}.items() <= parents.items()
    assert rows[0]["ad"] not in parents


@pytest.mark.parametrize("level", LEVELS)
async def test_filters_of_several_ids(web: httpx.AsyncClient, clock: Clock, level: str) -> None:
    rows = await create_trees(web)
    clock.instant += timedelta(days=19)
    await log_in(web)

    async def list_ids(*conditions: str) -> set[str]:
        rows = await read_report(web, **WEEK, breakdowns=LEVELS[level], filter=",".join(conditions))
        return {row[f"{level}_id"] for row in rows}

    chosen = {rows[0][level], rows[3][level]}
    assert await list_ids(*(f"{level}:id=={native_id}" for native_id in sorted(chosen)), f"{level}:id==1") == chosen
    assert await list_ids("campaign:name=@inter 1") == {row[level] for row in rows[3:]}
    assert await list_ids("campaign:name==Winter") == set()


async def test_what_was_made_delivers_once_it_is_active(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    window = {"starts_at": "2026-12-01T00:00:00Z", "ends_at": "2026-12-05T00:00:00Z"}
    only = f"campaign:id=={example['campaigns']}"
    clock.instant += timedelta(days=13)
    await log_in(web)
    assert await read_report(web, **window, filter=only) == []
    for kind in ("ads", "ad_groups", "campaigns"):
        await patch_entity(web, kind, example[kind], configured_status="ACTIVE")
    rows = await read_report(web, **window, filter=only)
    assert [row["date"] for row in rows] == ["2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"starts_at": "2026-11-01"}, "starts_at"),
        ({"starts_at": "2026-11-01T00:30:00Z"}, "starts_at"),
        ({"starts_at": "2026-11-01T00:00:00+00:00"}, "starts_at"),
        ({"ends_at": "2026-11-01T00:00:00Z"}, "ends_at"),
        ({"time_zone_id": "Mars/Base"}, "time_zone_id"),
        ({"time_zone_id": ["Etc/UTC"]}, "time_zone_id"),
        ({"breakdowns": ["date"]}, "breakdowns/0"),
        ({"breakdowns": ["DATE", "AD_ID", "CAMPAIGN_ID", "AD_GROUP_ID"]}, "breakdowns"),
        ({"breakdowns": ["DATE", "DATE"]}, "breakdowns"),
        ({"breakdowns": ["DATE", "HOUR"]}, "breakdowns"),
        ({"breakdowns": ["DATE", "ADGROUP_ID"]}, "breakdowns/1"),
        ({"breakdowns": ["DATE", "AD_NAME"]}, "breakdowns/1"),
        ({"breakdowns": ["HOUR"], "ends_at": "2026-11-08T01:00:00Z"}, "ends_at"),
        ({"fields": []}, "fields"),
        ({"fields": ["impressions"]}, "fields/0"),
        ({"fields": ["VIEWS"]}, "fields/0"),
        ({"filter": "campaign.id=123"}, "filter"),
        ({"filter": "campaign:id==123,"}, "filter"),
        ({"filter": "campaign:id==1,campaign:goal==CLICKS"}, "filter"),
        ({"level": "ad"}, "level"),
    ],
)
async def test_reports_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    answer = await send(web, "POST", f"ad_accounts/{NEW_YORK}/reports", {**ASKED, **change})
    read_refusal(answer, f"data/{field}")


async def test_reports_of_others(web: httpx.AsyncClient) -> None:
    check_refusal(await send(web, "POST", "ad_accounts/t2_nobody/reports", ASKED), 404)
    check_refusal(await web.get(f"{V3}/ad_accounts/{NEW_YORK}/reports"), 404)


async def test_a_token_that_only_reads_may_ask(clock: Clock) -> None:
    async with open_client(clock, scope="adsread") as web:
        assert len(await read_report(web)) == 7
