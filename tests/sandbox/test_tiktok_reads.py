"""The simulated TikTok API over real HTTP: reports, media, identities and catalogs."""

import csv
import io
import json
import re
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.tiktok_calls import (
    AD,
    AD_GROUP,
    API,
    BERLIN,
    CAMPAIGN,
    CREATIVE,
    NEW_YORK,
    TOKYO,
    Clock,
    create_example,
    create_smart_example,
    get,
    inject_fault,
    list_writes,
    post,
    read,
    read_data,
    read_refusal,
    set_status,
)

REPORT: dict[str, Any] = {  # the documentation, word for word
    "service_type": "AUCTION",
    "report_type": "BASIC",
    "data_level": "AUCTION_ADVERTISER",
    "dimensions": ["advertiser_id", "stat_time_day"],
    "metrics": ["spend", "impressions", "clicks", "conversion", "video_play_actions", "reach"],
    "start_date": "2026-11-01",
    "end_date": "2026-11-20",
    "page": 1,
    "page_size": 1000,
}


# Reports


async def read_report(web: httpx.AsyncClient, advertiser_id: str = NEW_YORK, **change: Any) -> list[dict[str, Any]]:
    body = {name: value for name, value in {**REPORT, **change}.items() if value is not None}
    rows: list[dict[str, Any]] = (await read(web, "/report/integrated/get/", advertiser_id, **body))["list"]
    return rows


async def test_every_day_has_a_row(web: httpx.AsyncClient) -> None:
    rows = await read_report(web)
    assert [row["dimensions"]["stat_time_day"] for row in rows] == [
        f"2026-11-{day:02} 00:00:00" for day in range(20, 0, -1)
    ]
    assert all(list(row["metrics"]) == REPORT["metrics"] for row in rows)
    assert all(isinstance(value, str) for row in rows for value in row["metrics"].values())
    assert {row["metrics"]["conversion"] for row in rows} == {"0", "-"}
    assert all(re.fullmatch(r"[0-9]+\.[0-9]{2}", row["metrics"]["spend"]) for row in rows)
    assert all(0 < int(row["metrics"]["clicks"]) < int(row["metrics"]["impressions"]) for row in rows)
    assert await read_report(web) == rows
    yen = await read_report(web, TOKYO)
    assert all(row["metrics"]["spend"].isdigit() for row in yen)


async def test_days_are_of_the_account_and_end_today(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant += timedelta(hours=6)  # 18:00 UTC: tomorrow in Tokyo
    range_: dict[str, Any] = {"start_date": "2026-11-19", "end_date": "2026-11-30"}
    assert len(await read_report(web, NEW_YORK, **range_)) == 2
    assert len(await read_report(web, TOKYO, **range_)) == 3
    assert await read_report(web, start_date="2026-12-01", end_date="2026-12-02") == []


async def test_days_without_delivery_are_absent(web: httpx.AsyncClient) -> None:
    days = [row["dimensions"]["stat_time_day"] for row in await read_report(web, BERLIN)]
    assert len(days) == 19
    assert "2026-11-13 00:00:00" not in days


async def test_reports_come_in_pages(web: httpx.AsyncClient) -> None:
    first = await read(web, "/report/integrated/get/", **{**REPORT, "page_size": 15})
    assert first["page_info"] == {"page": 1, "page_size": 15, "total_number": 20, "total_page": 2}
    second = await read_report(web, page_size=15, page=2)
    assert [*first["list"], *second] == await read_report(web)


async def test_other_dimensions(web: httpx.AsyncClient, clock: Clock) -> None:
    [whole] = await read_report(web, dimensions=["advertiser_id"])
    days = await read_report(web)
    assert whole["dimensions"] == {"advertiser_id": NEW_YORK}
    assert Decimal(whole["metrics"]["spend"]) == sum(Decimal(row["metrics"]["spend"]) for row in days)
    assert int(whole["metrics"]["reach"]) < sum(int(row["metrics"]["reach"]) for row in days)
    hours = await read_report(web, dimensions=["stat_time_hour"], start_date="2026-11-19", end_date="2026-11-19")
    assert len(hours) == 24
    ordered = await read_report(web, order_field="clicks", order_type="ASC")
    clicks = [int(row["metrics"]["clicks"]) for row in ordered]
    assert clicks == sorted(clicks)


COUNTED = ("spend", "impressions", "clicks", "video_play_actions")
LEVELS: dict[str, dict[str, Any]] = {
    "campaign": {"data_level": "AUCTION_CAMPAIGN", "metrics": ["campaign_name", *REPORT["metrics"]]},
    "adgroup": {"data_level": "AUCTION_ADGROUP", "metrics": ["adgroup_name", "campaign_id", *REPORT["metrics"]]},
    "ad": {"data_level": "AUCTION_AD", "metrics": ["ad_name", "adgroup_id", *REPORT["metrics"]]},
}
IDS = {"campaign": "campaign_id", "adgroup": "adgroup_id", "ad": "ad_id_v2"}
WEEK = {"start_date": "2026-11-09", "end_date": "2026-11-15"}


def make_filters(**values: list[str]) -> list[dict[str, str]]:
    return [
        {"field_name": name, "filter_type": "IN", "filter_value": json.dumps(value)} for name, value in values.items()
    ]


async def read_level_report(web: httpx.AsyncClient, kind: str, **filters: list[str]) -> list[dict[str, Any]]:
    chosen = make_filters(**filters) if filters else None
    return await read_report(web, **LEVELS[kind], dimensions=[IDS[kind], "stat_time_day"], **WEEK, filtering=chosen)


def add_up(rows: list[dict[str, Any]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for row in rows:
        day = row["dimensions"]["stat_time_day"]
        sums.update({f"{day} {name}": Decimal(row["metrics"][name]) for name in COUNTED})
    return sums


@pytest.mark.parametrize("kind", LEVELS)
async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, clock: Clock, kind: str) -> None:
    account = await read_report(web, **WEEK)
    assert await read_level_report(web, kind) == []
    first = dict(zip(LEVELS, await create_example(web), strict=True))
    clock.instant += timedelta(minutes=1)
    second = {}
    for name, path, body in (
        ("campaign", "/campaign/create/", {**CAMPAIGN, "request_id": "9", "campaign_name": "Deleted"}),
        ("adgroup", "/adgroup/create/", {**AD_GROUP, "request_id": "10", "adgroup_name": "Deleted"}),
        ("ad", "/ad/create/", {**AD, "creatives": [{**CREATIVE, "ad_name": "Deleted"}]}),
    ):
        parents = {f"{parent}_id": native_id for parent, native_id in second.items() if f"{parent}_id" in body}
        data = read_data(await post(web, path, {**body, **parents}))
        second[name] = data["ad_ids"][0] if name == "ad" else data[f"{name}_id"]
    read_data(await set_status(web, "campaign", "DELETE", second["campaign"]))
    assert await read_report(web, **WEEK) == account
    rows = await read_level_report(web, kind, **{f"{kind}_status": ["STATUS_ALL"]})
    assert add_up(rows) == add_up(account)
    by_id = {row["dimensions"][IDS[kind]]: row["metrics"] for row in rows}
    names = {first[kind]: first, second[kind]: second}
    assert by_id.keys() == names.keys()
    for native_id, metrics in by_id.items():
        assert metrics[f"{kind}_name"] == ("Deleted" if native_id == second[kind] else "Autumn shoes")
        parent = {"adgroup": "campaign", "ad": "adgroup"}.get(kind)
        assert parent is None or metrics[f"{parent}_id"] == names[native_id][parent]
        assert int(metrics["reach"]) <= int(metrics["impressions"])
    alive = [row for row in rows if row["dimensions"][IDS[kind]] == first[kind]]
    assert await read_level_report(web, kind) == alive  # deleted entities only with their status
    ids = IDS[kind].replace("_id", "_ids")
    assert await read_level_report(web, kind, **{ids: [first[kind], "1"]}) == alive
    deleted = await read_level_report(web, kind, **{ids: [second[kind]], f"{kind}_status": ["STATUS_DELETE"]})
    assert add_up(alive + deleted) == add_up(account)
    assert await read_level_report(web, kind, campaign_ids=[first["campaign"]]) == alive


async def test_an_upgraded_smart_plus_ad_has_two_ids(web: httpx.AsyncClient) -> None:
    _, _, smart_id = await create_smart_example(web)
    level = {**LEVELS["ad"], **WEEK}
    for dimension, same in (("ad_id_v2", True), ("ad_id", False)):
        rows = await read_report(web, **level, dimensions=[dimension, "stat_time_day"])
        assert {row["dimensions"][dimension] == smart_id for row in rows} == {same}
        assert add_up(rows) == add_up(await read_report(web, **WEEK))


@pytest.mark.parametrize(("change", "field"), [
    ({"start_date": "2026-10-21"}, "end_date"),  # 31 days
    ({"dimensions": ["stat_time_hour"]}, "end_date"),
    ({"dimensions": ["advertiser_id"], "start_date": "2025-11-20"}, "end_date"),
    ({"start_date": "2026-11-21"}, "end_date"),
    ({"start_date": "20261101"}, "start_date"),
    ({"end_date": None}, "end_date"),
    ({"dimensions": "advertiser_id"}, "dimensions"),
    ({"dimensions": ["advertiser_id", "country_code"]}, "dimensions.1"),
    ({"dimensions": ["campaign_id"]}, "dimensions.0"),
    ({"dimensions": ["stat_time_day", "stat_time_hour"]}, "dimensions"),
    ({"metrics": ["cost"]}, "metrics.0"),
    ({"metrics": ["clicks", "campaign_name"]}, "metrics.1"),
    ({**LEVELS["campaign"], "dimensions": ["campaign_id"], "metrics": ["ad_name"]}, "metrics.0"),
    ({**LEVELS["campaign"], "dimensions": ["stat_time_day"]}, "metrics"),
    ({**LEVELS["ad"], "dimensions": ["ad_id", "ad_id_v2"]}, "dimensions.1"),
    ({"filtering": make_filters(campaign_ids=["1"])}, "filtering.0.field_name"),
    ({**LEVELS["campaign"], "dimensions": ["campaign_id"], "filtering": make_filters(ad_status=["STATUS_ALL"])},
     "filtering.0.field_name"),
    ({**LEVELS["campaign"], "dimensions": ["campaign_id"], "filtering": make_filters(campaign_ids=["1"] * 101)},
     "filtering.0.filter_value"),
    ({**LEVELS["campaign"], "dimensions": ["campaign_id"], "filtering": make_filters(campaign_status=["ENABLE"])},
     "filtering.0.filter_value"),
    ({"data_level": None}, "data_level"),
    ({"report_type": None}, "report_type"),
    ({"page_size": 1001}, "page_size"),
    ({"level": "account"}, "level"),
])  # fmt: skip
async def test_reports_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    body = {name: value for name, value in {**REPORT, **change}.items() if value is not None}
    read_refusal(await get(web, "/report/integrated/get/", advertiser_id=NEW_YORK, **body), 40002, field)


async def test_report_tasks(web: httpx.AsyncClient, clock: Clock) -> None:
    parameters = {name: value for name, value in REPORT.items() if not name.startswith("page")}
    body = {**parameters, "advertiser_id": NEW_YORK, "output_format": "CSV_DOWNLOAD"}
    task = read_data(await post(web, "/report/task/create/", body))["task_id"]
    own = {"advertiser_id": NEW_YORK, "task_id": task}
    states: list[str] = []
    for _ in range(4):
        if len(states) < 3:
            read_refusal(await get(web, "/report/task/download/", **own), 40201)
        states.append(read_data(await get(web, "/report/task/check/", **own))["status"])
    assert states == ["QUEUING", "PROCESSING", "SUCCESS", "SUCCESS"]
    link = read_data(await get(web, "/report/task/download/", **own))["download_url"].replace("https:/", "")
    assert (await web.get(link)).status_code == 400  # credentials are for the API only
    async with httpx.AsyncClient(base_url=web.base_url) as stranger:
        content = await stranger.get(link)
        table = list(csv.DictReader(io.StringIO(content.text)))
        assert table == [{**row["dimensions"], **row["metrics"]} for row in await read_report(web)]
        assert (await stranger.get(f"{link}0")).status_code == 403
        clock.instant += timedelta(hours=1)
        assert (await stranger.get(link)).status_code == 403
    assert await list_writes(web) == []


async def test_tasks_end(web: httpx.AsyncClient) -> None:
    parameters = {name: value for name, value in REPORT.items() if not name.startswith("page")}
    task = read_data(await post(web, "/report/task/create/", {**parameters, "advertiser_id": NEW_YORK}))["task_id"]
    own = {"advertiser_id": NEW_YORK, "task_id": task}
    read_data(await post(web, "/report/task/cancel/", own))
    assert read_data(await get(web, "/report/task/check/", **own))["status"] == "CANCELED"
    read_refusal(await post(web, "/report/task/cancel/", own), 40002)
    read_refusal(await get(web, "/report/task/check/", **{**own, "advertiser_id": TOKYO}), 40007)
    await inject_fault(web, "error_in_200", path="/open_api/v1.3/report")
    read_refusal(await get(web, "/report/task/check/", **own), 40100)


# Media


async def test_videos(web: httpx.AsyncClient) -> None:
    ids = ["v10033g50000abc", "v-missing", "v-processing", "v-ineligible", "made-elsewhere"]
    rows = {row["video_id"]: row for row in (await read(web, "/file/video/ad/info/", video_ids=ids))["list"]}
    assert [*rows] == [ids[0], *ids[2:]]  # silently absent
    assert [row["displayable"] for row in rows.values()] == [True, False, True, True]
    assert "PLACEMENT_TIKTOK" in rows["made-elsewhere"]["allowed_placements"]
    assert "PLACEMENT_TIKTOK" not in rows["v-ineligible"]["allowed_placements"]
    assert (rows[ids[0]]["width"], rows[ids[0]]["height"]) == (720, 1280)
    read_refusal(
        await get(web, "/file/video/ad/info/", advertiser_id=NEW_YORK, video_ids=["v"] * 61), 40002, "video_ids"
    )
    page = await read(web, "/file/video/ad/search/", page=1, page_size=1, filtering={"displayable": True})
    assert page["page_info"]["total_page"] == 2


async def test_covers_fit_their_videos(web: httpx.AsyncClient) -> None:
    covers = await read(web, "/file/video/suggestcover/", video_id="v10033g50000wide", poster_number=1)
    [cover] = covers["list"]
    assert (cover["width"], cover["height"]) == (1280, 720)
    await create_example(web, video_id="v10033g50000wide", image_ids=[cover["id"]])
    query = {"advertiser_id": NEW_YORK, "poster_number": 1}
    read_refusal(await get(web, "/file/video/suggestcover/", **query, video_id="v-missing"), 40053, "video_id")
    read_refusal(await get(web, "/file/video/suggestcover/", **query, video_id="v-processing"), 40901, "video_id")


UPLOAD = {
    "advertiser_id": NEW_YORK, "upload_type": "UPLOAD_BY_URL", "image_url": "https://shop.example/cover.jpg",
    "file_name": "cover-4611686018427387000",
}  # fmt: skip


async def upload(web: httpx.AsyncClient, **change: str) -> httpx.Response:
    """As multipart/form-data without any file."""
    parts = {name: (None, value) for name, value in {**UPLOAD, **change}.items()}
    return await web.post(f"{API}/file/image/ad/upload/", files=parts)


async def test_uploads_by_address(web: httpx.AsyncClient) -> None:
    image = read_data(await upload(web))
    assert (image["file_name"], image["width"]) == (UPLOAD["file_name"], 720)
    assert await list_writes(web) == [("image", image["image_id"])]
    read_refusal(await upload(web), 40911, "file_name")
    page = await read(web, "/file/image/ad/search/", filtering={"image_ids": [image["image_id"]]})
    assert page["list"] == [image]
    await create_example(web, image_ids=[image["image_id"]])
    square = read_data(await upload(web, image_url="https://shop.example/square.jpg", file_name="x"))["image_id"]
    body = {**AD, "creatives": [{**CREATIVE, "image_ids": [square]}]}
    read_refusal(await post(web, "/ad/create/", body), 40002, "creatives.0.image_ids.0")


@pytest.mark.parametrize(("change", "code"), [
    ({"image_url": "https://shop.example/missing.jpg"}, 40902), ({"image_url": "cover.jpg"}, 40903),
    ({"upload_type": "UPLOAD_BY_FILE"}, 40002), ({"advertiser_id": "999"}, 40300), ({"image": "x"}, 40002),
])  # fmt: skip
async def test_uploads_that_are_refused(web: httpx.AsyncClient, change: dict[str, str], code: int) -> None:
    read_refusal(await upload(web, **change), code)
    assert await list_writes(web) == []


async def test_uploads_are_multipart(web: httpx.AsyncClient) -> None:
    read_refusal(await post(web, "/file/image/ad/upload/", UPLOAD), 40002, "Content-Type")
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    for body in ("", '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1', "--b\r\n\r\nx\r\n--b--\r\n"):
        read_refusal(await web.post(f"{API}/file/image/ad/upload/", content=body, headers=headers), 40002)


# Identities


async def test_identities(web: httpx.AsyncClient) -> None:
    whole = await read(web, "/identity/get/", page=1, page_size=100)
    rows = {row["identity_id"]: row for row in whole["identity_list"]}
    assert {row["identity_type"] for row in rows.values()} == {"TT_USER", "BC_AUTH_TT", "AUTH_CODE", "CUSTOMIZED_USER"}
    usable = rows["6bd1-aa"]
    assert (usable["available_status"], usable["can_push_video"], usable["is_gpppa"]) == ("AVAILABLE", True, False)
    assert rows["6bd1-bc"]["identity_authorized_bc_id"] == "7077770001"
    own = await read(web, "/identity/get/", identity_type="CUSTOMIZED_USER", page=1, page_size=100)
    assert [row["identity_id"] for row in own["identity_list"]] == ["7088880001"]
    wrong: dict[str, Any]
    for wrong in (
        {"identity_type": "BC_AUTH_TT"},
        {"identity_type": "TT_USER", "identity_authorized_bc_id": "7077770001"},
        {"identity_type": "USER"},
        {"page_size": 101},
    ):
        read_refusal(await get(web, "/identity/get/", advertiser_id=NEW_YORK, **wrong), 40002)


async def test_identities_of_business_centers_in_tokyo(web: httpx.AsyncClient) -> None:
    rows = {
        row["identity_id"]: row for row in (await read(web, "/identity/get/", TOKYO, page_size=100))["identity_list"]
    }
    assert "identity_authorized_bc_id" not in rows["6bd1-bc"]
    assert "6bd1-hidden" not in rows
    centers = read_data(await get(web, "/bc/get/", page=1, page_size=50))["list"]
    identities = []
    for center in (row["bc_info"]["bc_id"] for row in centers):
        query = {"identity_type": "BC_AUTH_TT", "identity_authorized_bc_id": center}
        identities += (await read(web, "/identity/get/", TOKYO, **query))["identity_list"]
    assert [row["identity_id"] for row in identities] == ["6bd1-bc", "6bd1-hidden"]


# Places and catalogs


async def test_regions(web: httpx.AsyncClient) -> None:
    query: dict[str, Any] = {"placements": ["PLACEMENT_TIKTOK"], "objective_type": "TRAFFIC"}
    countries = (await read(web, "/tool/region/", **query, level_range="TO_COUNTRY"))["region_info"]
    assert {row["level"] for row in countries} == {"COUNTRY"}
    [britain] = [row for row in countries if row["region_code"] == "GB"]
    assert (britain["location_id"], britain["parent_id"], britain["next_level_ids"]) == ("2635167", "0", [])
    assert "IN" not in {row["region_code"] for row in countries}
    everything = {
        row["location_id"]: row for row in (await read(web, "/tool/region/", **query, level_range="ALL"))["region_info"]
    }
    assert (everything["2643743"]["level"], everything["2643743"]["parent_id"]) == ("CITY", "6269131")
    assert "2643743" in everything["6269131"]["next_level_ids"]
    wrong: dict[str, Any]
    for wrong in ({"level_range": "COUNTRY"}, {"placements": "PLACEMENT_TIKTOK"}, {"region_code": "GB"}):
        read_refusal(
            await get(web, "/tool/region/", advertiser_id=NEW_YORK, **{**query, **wrong}), 40002, next(iter(wrong))
        )


async def test_locations_by_name_and_id(web: httpx.AsyncClient) -> None:
    body = {
        "advertiser_id": NEW_YORK, "objective_type": "TRAFFIC", "promotion_type": "WEBSITE",
        "placements": ["PLACEMENT_TIKTOK"], "search_type": "FUZZY_SEARCH", "keywords": ["lond"],
    }  # fmt: skip
    [row] = read_data(await post(web, "/tool/targeting/search/", body))["targeting_tag_list"]
    assert (row["name"], row["geo"]["geo_id"], row["geo"]["geo_type"]) == ("London", "2643743", "CITY")
    read_refusal(await post(web, "/tool/targeting/search/", {**body, "keywords": ["a", "b"]}), 40002, "keywords")
    parameters = {"advertiser_id": NEW_YORK, "targeting_ids": ["2643743", "1"], "scene": "GEO"}
    rows = read_data(await post(web, "/tool/targeting/info/", parameters))["targeting_tag_list"]
    assert [row["geo"]["geo_id"] for row in rows] == ["2643743"]
    assert await list_writes(web) == []


@pytest.mark.parametrize(("path", "query", "key", "names"), [
    ("/tool/language/", {}, "languages", ("code", "name")),
    ("/tool/interest_category/", {"version": 2}, "interest_categories",
     ("interest_category_id", "interest_category_name")),
    ("/dmp/custom_audience/list/", {"page": 1, "page_size": 100}, "list", ("audience_id", "name")),
    ("/pixel/list/", {"page": 1, "page_size": 20}, "pixels", ("pixel_id", "pixel_name")),
    ("/app/list/", {}, "apps", ("app_id", "app_name")),
    ("/file/image/ad/search/", {"page": 1, "page_size": 100}, "list", ("image_id", "file_name")),
])  # fmt: skip
async def test_catalogs(
    web: httpx.AsyncClient, path: str, query: dict[str, Any], key: str, names: tuple[str, str]
) -> None:
    rows = (await read(web, path, **query))[key]
    assert rows
    assert all(isinstance(row[name], str) for row in rows for name in names)
    read_refusal(await get(web, path, advertiser_id=NEW_YORK, **query, nonsense="1"), 40002, "nonsense")
    read_refusal(await get(web, path, advertiser_id="999", **query), 40300, "advertiser_id")
