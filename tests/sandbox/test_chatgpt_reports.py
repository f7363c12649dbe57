"""The simulated OpenAI Advertiser API over real HTTP: delivery and conversions."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.chatgpt_calls import (
    PARIS,
    TOKYO,
    V1,
    Clock,
    create_ad,
    create_ad_group,
    create_campaign,
    list_writes,
    make_date_range,
    make_unix_range,
    post,
    read,
    read_data,
    read_refusal,
    use_key,
)

FIELDS = [
    "metadata.readable_time", "metadata.timezone", "campaign.id", "campaign.name", "campaign.impressions",
    "campaign.clicks", "campaign.spend",
]  # fmt: skip
# The documented example: the first seven days of November in Paris.
WEEK = {"start": 1793487600, "end": 1794092400}


def make_query(since: Any = "2026-11-01", until: Any = "2026-11-07", **change: Any) -> dict[str, Any]:
    parameters = {
        "time_granularity": "daily",
        "aggregation_level": "campaign",
        "limit": 2000,
        "time_ranges[]": make_date_range(since, until),
        "fields[]": FIELDS,
    }
    return {name: value for name, value in {**parameters, **change}.items() if value is not None}


async def test_delivery_of_a_week(web: httpx.AsyncClient) -> None:
    use_key(web, PARIS)
    ranged = make_date_range("2026-11-01", "2026-11-07", timezone="Europe/Paris")
    answer = await web.get(f"{V1}/ad_account/insights", params=make_query(**{"time_ranges[]": ranged}))
    page = read_data(answer)
    assert (page["object"], page["count"], page["has_more"]) == ("list", 7, False)
    row = page["data"][0]
    assert {*row} == {
        "id", "start_time", "end_time", "readable_time", "timezone", "campaign_id", "campaign_name", "impressions",
        "clicks", "spend",
    }  # fmt: skip
    assert (row["readable_time"], row["campaign_id"], row["start_time"]) == (
        "2026-11-01", "cmpn_evergreen_3", WEEK["start"],
    )  # fmt: skip
    assert row["impressions"] > row["clicks"] > 0
    assert Decimal(str(row["spend"])) == round(Decimal(str(row["spend"])), 2)
    assert page == await read(web, "ad_account/insights", make_query(**{"time_ranges[]": ranged}))
    assert await list_writes(web) == []


async def test_only_impressions_come_unasked(web: httpx.AsyncClient) -> None:
    row = (await read(web, "ad_account/insights", make_query(**{"fields[]": None})))["data"][0]
    assert {*row} == {"id", "start_time", "end_time", "impressions"}
    parameters = make_query(**{"fields[]": ["campaign_id", "spend", "readable_time"]})
    other = (await read(web, "ad_account/insights", parameters))["data"][0]
    assert {*other} == {"id", "start_time", "end_time", "campaign_id", "spend", "readable_time"}
    assert other["id"] != row["id"]


async def test_pages_of_a_report(web: httpx.AsyncClient) -> None:
    whole = (await read(web, "ad_account/insights", make_query()))["data"]
    first = await read(web, "ad_account/insights", make_query(limit=5))
    second = await read(web, "ad_account/insights", make_query(limit=5, after=first["last_id"]))
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert first["data"] + second["data"] == whole


async def test_levels_agree(web: httpx.AsyncClient) -> None:
    spends = []
    for level in ("ad_account", "campaign", "ad_group", "ad"):
        parameters = make_query(
            aggregation_level=level, **{"fields[]": [f"{level}.spend", "ad_account.id", f"{level}.name"]}
        )
        rows = (await read(web, "ad_account/insights", parameters))["data"]
        assert {row["ad_account_id"] for row in rows} == {"adacct_1"}
        spends.append([row["spend"] for row in rows])
    assert spends == [spends[0]] * 4
    parameters = make_query(aggregation_level="ad", **{"fields[]": ["spend", "campaign.id"]})
    below = (await read(web, "campaigns/cmpn_evergreen_1/insights", parameters))["data"]
    assert [(row["spend"], row["campaign_id"]) for row in below] == [(spend, "cmpn_evergreen_1") for spend in spends[0]]
    assert (await read(web, "campaigns/cmpn_spring_1/insights", parameters))["data"] == []


FIGURES = ("impressions", "clicks", "spend", "conversions", "order_created_attributed_sales")


async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, clock: Clock) -> None:
    use_key(web, PARIS)
    ids = []
    for _ in range(2):
        campaign_id = await create_campaign(web, start_time=1795000000)
        for _ in range(2):
            group = await create_ad_group(web, campaign_id)
            ads = [await create_ad(web, group) for _ in range(2)]
            for path in (*(f"ads/{native_id}" for native_id in ads), f"ad_groups/{group}"):
                read_data(await post(web, f"{path}/activate"))
            ids.append((campaign_id, group, *ads))
        read_data(await post(web, f"campaigns/{campaign_id}/activate"))
    clock.instant += timedelta(days=9)

    async def sum_days(level: str, **change: Any) -> dict[str, list[Decimal]]:
        fields = ["readable_time", "campaign.id", *FIGURES]
        names = [f"{level}.id", *fields] if level != "ad_account" else ["readable_time", *FIGURES]
        parameters = make_query("2026-11-22", "2026-11-28", aggregation_level=level, **{"fields[]": names}, **change)
        rows = (await read(web, "ad_account/insights", parameters))["data"]
        sums: dict[str, list[Decimal]] = {}
        for row in rows:
            numbers = [Decimal(str(row[name])) for name in FIGURES]
            sums[row["readable_time"]] = [
                figure + other
                for figure, other in zip(sums.get(row["readable_time"], [Decimal(0)] * 5), numbers, strict=True)
            ]
        return sums

    whole = await sum_days("ad_account")
    assert len(whole) == 7
    for level in ("campaign", "ad_group", "ad"):
        assert await sum_days(level) == whole
    (campaign_id, group, first, _), *others = ids

    async def list_filtered_ids(level: str, *conditions: tuple[str, list[str]]) -> set[str]:
        filters = [json.dumps({"field": name, "operator": "IN", "value": values}) for name, values in conditions]
        parameters = make_query("2026-11-22", "2026-11-28", aggregation_level=level, **{"fields[]": f"{level}.id"})
        rows = (await read(web, "ad_account/insights", {**parameters, "filters[]": filters}))["data"]
        return {row[f"{level}_id"] for row in rows}

    assert await list_filtered_ids("ad", ("ad.id", [first, others[0][2], "ad_nothing"])) == {first, others[0][2]}
    assert await list_filtered_ids("ad", ("ad_group.id", [group])) == {*ids[0][2:]}
    assert await list_filtered_ids("ad", ("campaign.id", [campaign_id]), ("ad.id", [others[-1][2], first])) == {first}
    assert await list_filtered_ids("campaign", ("campaign.status", ["paused"])) == set()
    body = make_conversions_query(
        1795302000, 1795906800, aggregation_level="ad", group_by_entity=True, entity_ids=[first]
    )
    every = read_data(await post(web, "conversions/insights", body))
    sold = read_data(await post(web, "conversions/insights", {**body, "include_zero_rows": False}))
    assert (every["account_currency"], every["count"]) == ("EUR", 7)
    assert sold["data"] == [row for row in every["data"] if row["conversions"]]
    use_key(web, TOKYO)
    read_refusal(
        await post(web, "conversions/insights", {**body, "time_ranges": [make_unix_range(1795100400, 1795186800)]}), 404
    )


async def test_nothing_delivered_is_no_row(web: httpx.AsyncClient) -> None:
    rows = (await read(web, "ad_account/insights", make_query(**{"includes[]": "zero_impression_items"})))["data"]
    assert sum(row["impressions"] == 0 for row in rows) == 7
    assert {row["campaign_id"] for row in rows} == {"cmpn_evergreen_1", "cmpn_spring_1"}


async def test_what_was_created_delivers(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign_id = await create_campaign(web, start_time=1795000000)
    group = await create_ad_group(web, campaign_id)
    for path in (f"ads/{await create_ad(web, group)}", f"ad_groups/{group}", f"campaigns/{campaign_id}"):
        read_data(await post(web, f"{path}/activate"))
    parameters = make_query("2026-11-20", "2026-11-22")
    read_refusal(await web.get(f"{V1}/ad_account/insights", params=parameters), 400, "time_ranges")
    clock.instant += timedelta(days=1)
    rows = (await read(web, "ad_account/insights", parameters))["data"]
    days = [row["readable_time"] for row in rows if row["campaign_id"] == campaign_id]
    assert days == ["2026-11-21", "2026-11-22"]


async def test_retention(web: httpx.AsyncClient) -> None:
    rows = (await read(web, "ad_account/insights", make_query("2025-11-01", "2025-11-23")))["data"]
    assert [row["readable_time"] for row in rows] == ["2025-11-21", "2025-11-22", "2025-11-23"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"time_ranges[]": None}, "time_ranges"),
        ({"time_ranges[]": None, "time_ranges": make_date_range("2026-11-01", "2026-11-02")}, "time_ranges"),
        ({"time_ranges[]": make_date_range("2026-11-02", "2026-11-01")}, "time_ranges"),
        ({"time_ranges[]": make_date_range("2021-11-01", "2026-11-01")}, "time_ranges"),
        ({"time_ranges[]": make_date_range("2026-11-31", "2026-12-01")}, "time_ranges"),
        ({"time_ranges[]": make_unix_range(1793487600, 1794092401)}, "time_ranges"),
        ({"time_ranges[]": "last_7_days"}, "time_ranges"),
        ({"fields[]": "spent"}, "fields"),
        ({"fields[]": "ad.spend"}, "fields"),
        ({"fields[]": None, "fields": "spend"}, "fields"),
        ({"limit": 2001}, "limit"),
        ({"filters[]": '{"field":"ad.id","operator":"IN","value":["ad_1"]}'}, "filters"),
        ({"filters[]": '{"field":"campaign.id","operator":"EQUALS","value":["cmpn_1"]}'}, "filters.operator"),
        ({"filters[]": '{"field":"campaign.id","operator":"IN","value":"cmpn_1"}'}, "filters.value"),
        ({"aggregation_level": "account"}, "aggregation_level"),
        ({"after": "ins_1"}, "after"),
    ],
)
async def test_reports_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], param: str) -> None:
    read_refusal(await web.get(f"{V1}/ad_account/insights", params=make_query(**change)), 400, param)


def make_conversions_query(start: int = WEEK["start"], end: int = WEEK["end"], **change: Any) -> dict[str, Any]:
    return {
        "aggregation_level": "campaign",
        "time_granularity": "daily",
        "group_by_entity": False,
        "time_ranges": [make_unix_range(start, end)],
        **change,
    }


async def test_conversions_of_a_week(web: httpx.AsyncClient) -> None:
    use_key(web, PARIS)
    page = read_data(await post(web, "conversions/insights", make_conversions_query()))
    assert (page["object"], page["count"]) == ("list", 7)
    assert [row["date"] for row in page["data"]] == [f"2026-11-0{day}" for day in range(1, 8)]
    for row in page["data"]:
        assert row["entity_id"] == "adacct_3"
        assert row["conversions"] == row["click_through_conversions"] + row["view_through_conversions"]
        sales, currency = (row[f"order_created_attributed_sales{end}"] for end in ("", "_currency"))
        assert (sales is None, currency) == (not row["conversions"], "EUR" if row["conversions"] else None)
    parameters = make_query(**{"fields[]": ["conversions", "order_created_attributed_sales"]})
    delivery = (await read(web, "ad_account/insights", parameters))["data"]
    assert [row["conversions"] for row in delivery] == [row["conversions"] for row in page["data"]]
    assert await list_writes(web) == []


async def test_conversions_come_late(web: httpx.AsyncClient) -> None:
    use_key(web, TOKYO)
    # from the 20th to the 21st of November, which is today
    rows = read_data(await post(web, "conversions/insights", make_conversions_query(1795100400, 1795273200)))["data"]
    assert [row["date"] for row in rows] == ["2026-11-20", "2026-11-21"]
    assert rows[1]["conversions"] == 0


async def test_conversions_by_entity(web: httpx.AsyncClient) -> None:
    use_key(web, PARIS)
    ids = ["cmpn_evergreen_3", "cmpn_spring_3"]
    body = make_conversions_query(group_by_entity=True, entity_ids=ids)
    rows = read_data(await post(web, "conversions/insights", body))["data"]
    assert [row["entity_id"] for row in rows] == ids * 7
    whole = read_data(await post(web, "conversions/insights", make_conversions_query()))["data"]
    assert [row["conversions"] for row in rows[::2]] == [row["conversions"] for row in whole]
    del body["entity_ids"], body["group_by_entity"]
    read_refusal(await post(web, "conversions/insights", body), 400, "entity_ids")


@pytest.mark.parametrize(
    ("change", "status", "param"),
    [
        ({"time_ranges": []}, 400, "time_ranges"),
        ({"time_ranges": [make_unix_range(**WEEK)] * 2}, 400, "time_ranges"),
        ({"time_ranges": [{"type": "unix_range", "start": "1793487600", "end": "1794092400"}]}, 400, "time_ranges.0"),
        ({"time_ranges": [make_date_range("2026-11-01", "2026-11-07")]}, 400, "time_ranges.0.since"),
        ({"time_ranges": [make_unix_range(1793491200, 1794092400)]}, 400, "time_ranges"),
        ({"time_ranges": [make_unix_range(1793487600 - 365 * 86400, 1794092400)]}, 422, "time_ranges"),
        ({"group_by_entity": True, "entity_ids": ["cmpn_evergreen_3"] * 2, "aggregation_level": "x"}, 400,
         "aggregation_level"),
    ],
)  # fmt: skip
async def test_conversions_that_are_refused(
    web: httpx.AsyncClient, change: dict[str, Any], status: int, param: str
) -> None:
    use_key(web, PARIS)
    read_refusal(await post(web, "conversions/insights", make_conversions_query(**change)), status, param)


async def test_a_report_that_is_too_large(web: httpx.AsyncClient) -> None:
    use_key(web, PARIS)
    ids = [await create_campaign(web, name=f"Campaign {number}") for number in range(6)]
    start = WEEK["end"] - 358 * 86400
    body = make_conversions_query(start, group_by_entity=True, entity_ids=ids)
    read_refusal(await post(web, "conversions/insights", body), 413, "time_ranges")
