"""The simulated Pinterest API over real HTTP: analytics and report jobs."""

import csv
import io
import json
import os
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from adsunify.sandbox.networks.pinterest.columns import SYNC_COLUMNS, is_job_column
from tests.sandbox.calls import list_writes
from tests.sandbox.pinterest_calls import (
    BERLIN,
    LONDON,
    NEW_YORK,
    REPORT,
    TOKYO,
    V5,
    Clock,
    create_example,
    inject_fault,
    patch,
    read,
    read_data,
    read_refusal,
)

OCTOBER = {"start_date": "2026-10-01", "end_date": "2026-10-31", "granularity": "DAY"}
COLUMNS = "SPEND_IN_MICRO_DOLLAR,TOTAL_IMPRESSION"


async def read_report(
    web: httpx.AsyncClient, account: str = NEW_YORK, of: str = "", **query: Any
) -> list[dict[str, Any]]:
    parameters = {**OCTOBER, "columns": COLUMNS, **query}
    rows: list[dict[str, Any]] = await read(web, f"ad_accounts/{account}/{of}analytics", **parameters)
    return rows


async def fetch_report_file(web: httpx.AsyncClient, account: str = NEW_YORK, **change: Any) -> httpx.Response:
    """The file of a report job."""
    answer = await web.post(f"{V5}/ad_accounts/{account}/reports", json={**REPORT, **change})
    assert answer.status_code == 200, answer.text
    job = answer.json()
    assert (job["report_status"], job["message"]) == ("IN_PROGRESS", None)
    path = f"ad_accounts/{account}/reports"
    assert await read(web, path, token=job["token"]) == {"report_status": "IN_PROGRESS", "url": None, "size": None}
    finished_job = await read(web, path, token=job["token"])
    assert finished_job["report_status"] == "FINISHED"
    file = await download(web, finished_job["url"])
    assert len(file.content) == finished_job["size"]
    return file


async def download(web: httpx.AsyncClient, url: str, **headers: str) -> httpx.Response:
    request = web.build_request("GET", f"/{url.removeprefix('https://')}", headers=headers)
    if not headers:
        del request.headers["Authorization"]
    return await web.send(request)


EVERY_DAY_OF_EVERY_ACCOUNT_HAS_A_ROW: list[Any] = [NEW_YORK, TOKYO, BERLIN, LONDON]


async def test_every_day_of_every_account_has_a_row(web: httpx.AsyncClient) -> None:
    for account in EVERY_DAY_OF_EVERY_ACCOUNT_HAS_A_ROW:
        rows = await read_report(web, account)
        assert [row["DATE"] for row in rows] == [str(date(2026, 10, 1) + timedelta(days=n)) for n in range(31)]
        assert all(set(row) == {"DATE", "AD_ACCOUNT_ID", *COLUMNS.split(",")} for row in rows)
        assert all(isinstance(row["SPEND_IN_MICRO_DOLLAR"], int) and row["TOTAL_IMPRESSION"] > 1000 for row in rows)
        assert rows == await read_report(web, account)


async def test_limits_of_the_range(web: httpx.AsyncClient) -> None:
    assert len(await read_report(web, start_date="2026-08-02")) == 91
    assert len(await read_report(web, end_date="2026-12-30")) == 31  # nothing after today
    for change in (
        {"start_date": "2026-08-01"},
        {"end_date": "2026-12-31"},
        {"end_date": "2026-09-30"},
        {"start_date": "2026-13-01"},
        {"start_date": "01.10.2026"},
        {"granularity": "DAILY"},
        {"columns": "IMPRESSIONS"},
        {"columns": "TOTAL_CONVERSIONS_VALUE_IN_MICRO_DOLLAR"},  # of jobs alone
        {"columns": ""},
        {"view_window_days": "2"},
        {"campaign_ids": "1"},
        {"level": "ADVERTISER"},
    ):
        query = {**OCTOBER, "columns": COLUMNS, **change}
        read_refusal(await web.get(f"{V5}/ad_accounts/{NEW_YORK}/analytics", params=query), 400, 400)
    repeated: list[tuple[str, str | int | float | bool | None]] = [
        *OCTOBER.items(),
        ("columns", "TOTAL_IMPRESSION"),
        ("columns", "SPEND_IN_MICRO_DOLLAR"),
    ]
    read_refusal(await web.get(f"{V5}/ad_accounts/{NEW_YORK}/analytics", params=repeated), 400, 400)
    read_refusal(await web.get(f"{V5}/ad_accounts/{NEW_YORK}/analytics", params=OCTOBER), 400, 400)


async def test_days_of_the_zone_of_the_account(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = clock.instant.replace(hour=20)  # already November in Tokyo
    local = await read_report(web, TOKYO, reporting_timezone="AD_ACCOUNT_TIME_ZONE", end_date="2026-11-01")
    plain = await read_report(web, TOKYO, end_date="2026-11-01")
    assert (local[-1]["DATE"], plain[-1]["DATE"]) == ("2026-11-01", "2026-10-31")
    assert local[0] != plain[0]
    assert await read_report(web, LONDON, reporting_timezone="AD_ACCOUNT_TIME_ZONE") == await read_report(web, LONDON)
    query = {**OCTOBER, "columns": COLUMNS, "reporting_timezone": "AD_ACCOUNT_TIME_ZONE"}
    read_refusal(await web.get(f"{V5}/ad_accounts/{BERLIN}/analytics", params=query), 400, 400)


async def test_what_was_not_reported_is_missing(web: httpx.AsyncClient) -> None:
    columns = "TOTAL_CONVERSIONS,TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR,TOTAL_IMPRESSION_USER"
    assert {date.fromisoformat(row["DATE"]).weekday() for row in await read_report(web, columns=columns)} == set(
        range(6)
    )
    both = {row["DATE"]: row for row in await read_report(web, columns=f"{columns},TOTAL_IMPRESSION")}
    assert (len(both), set(both["2026-10-04"])) == (31, {"DATE", "AD_ACCOUNT_ID", "TOTAL_IMPRESSION"})
    assert await read_report(web, columns="TOTAL_LEAD") == []


async def test_other_granularities_add_up(web: httpx.AsyncClient) -> None:
    whole = sum(row["SPEND_IN_MICRO_DOLLAR"] for row in await read_report(web))
    (total,) = await read_report(web, granularity="TOTAL")
    assert (total["SPEND_IN_MICRO_DOLLAR"], "DATE" in total) == (whole, False)
    weeks = await read_report(web, granularity="WEEK")
    assert [row["DATE"] for row in weeks] == ["2026-09-28", "2026-10-05", "2026-10-12", "2026-10-19", "2026-10-26"]
    assert sum(row["SPEND_IN_MICRO_DOLLAR"] for row in weeks) == whole


ADDITIVE = (
    "TOTAL_IMPRESSION,TOTAL_CLICKTHROUGH,SPEND_IN_MICRO_DOLLAR,TOTAL_CONVERSIONS,"
    "TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR,TOTAL_VIDEO_MRC_VIEWS"
)
LEVELS = {  # kind: path, level of a job, columns of id, name and parent, kind of the parent
    "campaign": ("campaigns/", "CAMPAIGN", "CAMPAIGN_ID", "CAMPAIGN_NAME", "AD_ACCOUNT_ID", None),
    "ad_group": ("ad_groups/", "AD_GROUP", "AD_GROUP_ID", "AD_GROUP_NAME", "CAMPAIGN_ID", "campaign"),
    "ad": ("ads/", "PIN_PROMOTION", "AD_ID", "AD_NAME", "AD_GROUP_ID", "ad_group"),
}
WEEK = {"start_date": "2026-10-30", "end_date": "2026-11-05"}


def add_up(rows: list[dict[str, Any]]) -> Counter[str]:
    return sum(
        (Counter({f"{row['DATE']} {name}": row.get(name, 0) for name in ADDITIVE.split(",")}) for row in rows),
        Counter(),
    )


@pytest.mark.parametrize("kind", LEVELS)
async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, clock: Clock, kind: str) -> None:
    of, level, id_column, name_column, parent_column, parent = LEVELS[kind]
    example = await create_example(web)
    for what in ("ads", "ad_groups", "campaigns"):
        more = {"ad_account_id": NEW_YORK} if what == "campaigns" else {}
        read_data(await patch(web, what, [{"id": example[what.removesuffix("s")], "status": "ACTIVE", **more}]))
    clock.instant += timedelta(days=5)
    account = await read_report(web, columns=ADDITIVE, **WEEK)
    assert len(account) == 7
    every = {"entity_statuses": ["ACTIVE", "PAUSED", "ARCHIVED"]}
    ids = [entity["id"] for entity in (await read(web, f"ad_accounts/{NEW_YORK}/{of.strip('/')}", **every))["items"]]
    assert len(ids) == 4
    columns = f"{ADDITIVE},TOTAL_IMPRESSION_USER,{id_column},{name_column},{parent_column}"
    rows = await read_report(web, of=of, columns=columns, **{f"{kind}_ids": [*ids, "1"]}, **WEEK)
    assert add_up(rows) == add_up(account)
    assert {row[id_column] for row in rows} == {*ids}
    own = [row for row in rows if row[id_column] == example[kind]]
    assert {row[name_column] for row in own} == {"Autumn kit"}
    assert {row[parent_column] for row in own} == {example[parent] if parent else NEW_YORK}
    assert [row["DATE"] for row in own if row["TOTAL_IMPRESSION"] > 1800][:1] == ["2026-11-01"]  # delivers by itself
    assert await read_report(web, of=of, columns=columns, **{f"{kind}_ids": example[kind]}, **WEEK) == own
    assert all(row.get("TOTAL_IMPRESSION_USER", 0) <= row["TOTAL_IMPRESSION"] for row in rows)
    job = {"level": level, "columns": columns.split(","), **WEEK}
    grouped = (await fetch_report_file(web, **job)).json()
    assert {native_id: many for native_id, many in grouped.items() if native_id == example[kind]} == {
        example[kind]: own
    }
    assert add_up([row for many in grouped.values() for row in many]) == add_up(account)
    assert (await fetch_report_file(web, **job, **{f"{kind}_ids": [example[kind], "1"]})).json() == {example[kind]: own}
    too_many = [("columns", ADDITIVE), *WEEK.items(), ("granularity", "DAY"), *[(f"{kind}_ids", "1")] * 251]
    read_refusal(await web.get(f"{V5}/ad_accounts/{NEW_YORK}/{of}analytics", params=too_many), 400, 400)


async def test_ads_are_named_by_id_or_by_campaign_and_pin(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    campaign = {"campaign_ids": example["campaign"]}
    by_id = await read_report(web, of="ads/", ad_ids=example["ad"])
    assert by_id == await read_report(web, of="ads/", pin_ids=example["pin"], **campaign)
    assert len(by_id) < 31  # a day without delivery has no row
    for of, query in (("campaigns/", {}), ("ads/", campaign), ("ads/", {"pin_ids": "1"})):
        parameters = {**OCTOBER, "columns": COLUMNS, **query}
        read_refusal(await web.get(f"{V5}/ad_accounts/{NEW_YORK}/{of}analytics", params=parameters), 400, 400)


# Report jobs


async def test_the_report_of_the_documentation(web: httpx.AsyncClient) -> None:
    file = await fetch_report_file(web)
    grouped = file.json()
    assert list(grouped) == [NEW_YORK]
    rows = grouped[NEW_YORK]
    assert [row["DATE"] for row in rows] == [str(date(2026, 3, 1) + timedelta(days=n)) for n in range(92)]
    assert set(rows[0]) == {"DATE", "AD_ACCOUNT_ID", *REPORT["columns"]}
    by_date = (await fetch_report_file(web, primary_sort="BY_DATE")).json()
    assert [row for some in by_date.values() for row in some] == rows
    assert next(iter(by_date)) == "2026-03-01"
    assert await list_writes(web) == []


async def test_a_job_tells_what_a_call_tells(web: httpx.AsyncClient) -> None:
    span = {"start_date": "2026-10-01", "end_date": "2026-10-31"}
    zone = {"reporting_timezone": "AD_ACCOUNT_TIME_ZONE"}
    file = await fetch_report_file(web, TOKYO, columns=COLUMNS.split(","), **span, **zone)
    assert file.json()[TOKYO] == await read_report(web, TOKYO, **zone)
    campaigns = (await fetch_report_file(web, TOKYO, level="CAMPAIGN", **span)).json()
    assert len(campaigns) == 3
    assert all(row["CAMPAIGN_ID"] == native_id for native_id, many in campaigns.items() for row in many)


async def test_csv_fills_in_zeros(web: httpx.AsyncClient) -> None:
    columns = ["TOTAL_IMPRESSION", "TOTAL_CONVERSIONS"]
    file = await fetch_report_file(web, report_format="CSV", columns=columns, start_date="2026-05-23")
    rows = list(csv.DictReader(io.StringIO(file.text)))
    assert [row["DATE"] for row in rows][:2] == ["2026-05-23", "2026-05-24"]
    assert [row["TOTAL_CONVERSIONS"] == "0" for row in rows[:3]] == [False, True, False]


async def test_links_and_jobs_end(web: httpx.AsyncClient, clock: Clock) -> None:
    job = (await web.post(f"{V5}/ad_accounts/{NEW_YORK}/reports", json=REPORT)).json()
    path = f"ad_accounts/{NEW_YORK}/reports"
    await read(web, path, token=job["token"])
    url = (await read(web, path, token=job["token"]))["url"]
    assert url.startswith("https://")
    assert (await download(web, url)).status_code == 200
    assert (await download(web, url, Authorization=web.headers["Authorization"])).status_code == 400
    assert (await download(web, url + "0")).status_code == 403
    clock.instant += timedelta(minutes=5)
    assert (await download(web, url)).status_code == 403
    assert (await download(web, (await read(web, path, token=job["token"]))["url"])).status_code == 200
    clock.instant += timedelta(hours=1)
    assert (await read(web, path, token=job["token"]))["report_status"] == "EXPIRED"
    assert (await read(web, path, token="unknown"))["report_status"] == "DOES_NOT_EXIST"
    assert (await read(web, f"ad_accounts/{TOKYO}/reports", token=job["token"]))["report_status"] == "DOES_NOT_EXIST"
    assert any(character in job["token"] for character in "+/=")  # has to be encoded
    raw = await web.get(f"{V5}/{path}?token={job['token']}")
    assert raw.json()["report_status"] == "DOES_NOT_EXIST"


async def test_a_told_failure_of_a_job(web: httpx.AsyncClient) -> None:
    job = (await web.post(f"{V5}/ad_accounts/{NEW_YORK}/reports", json=REPORT)).json()
    await inject_fault(web, "error_in_200")
    failed = await read(web, f"ad_accounts/{NEW_YORK}/reports", token=job["token"])
    assert failed == {"report_status": "FAILED", "url": None, "size": None}


JOBS_THAT_ARE_ACCEPTED: list[dict[str, Any]] = [
    {"start_date": "2024-04-30", "end_date": "2024-05-31"},  # 914 days reach back to 2024-04-30
    {"start_date": "2026-04-29"},
    {"columns": ["TOTAL_CONVERSIONS_VALUE_IN_MICRO_DOLLAR", "TOTAL_WEB_CLICK_LEAD"]},
]


async def test_jobs_that_are_accepted(web: httpx.AsyncClient) -> None:
    for change in JOBS_THAT_ARE_ACCEPTED:
        body = {**REPORT, "end_date": "2026-10-31", "start_date": "2026-09-01", **change}
        assert (await web.post(f"{V5}/ad_accounts/{NEW_YORK}/reports", json=body)).status_code == 200


JOBS_THAT_ARE_REFUSED: list[dict[str, Any]] = [
    {"start_date": "2024-04-29", "end_date": "2024-05-31"},
    {"start_date": "2026-04-28"},
    {"start_date": "2026-11-01"},
    {"columns": "SPEND_IN_MICRO_DOLLAR"},
    {"columns": ["SPEND"]},
    {"columns": ["QUIZ_PIN_RESULT_OPEN"]},  # of calls alone
    {"columns": []},
    {"level": "ACCOUNT"},
    {"granularity": "DAILY"},
    {"report_format": "XML"},
    {"format": "JSON"},
]


async def test_jobs_that_are_refused(web: httpx.AsyncClient) -> None:
    for change in JOBS_THAT_ARE_REFUSED:
        body = {**REPORT, "end_date": "2026-10-31", "start_date": "2026-09-01", **change}
        read_refusal(await web.post(f"{V5}/ad_accounts/{NEW_YORK}/reports", json=body), 400, 1)


@pytest.mark.specs
async def test_columns_are_those_of_the_description() -> None:
    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    native = json.loads(Path(folder, "pinterest", "openapi-5.23.0-ads-subset.json").read_text())["components"]
    assert native["parameters"]["query_columns"]["schema"]["items"]["enum"].__len__() == len(SYNC_COLUMNS)
    assert set(native["parameters"]["query_columns"]["schema"]["items"]["enum"]) == SYNC_COLUMNS
    assert [column for column in native["schemas"]["ReportingColumnAsync"]["enum"] if not is_job_column(column)] == []
