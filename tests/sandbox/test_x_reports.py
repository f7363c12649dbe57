"""The simulated X Ads network: analytics, reports on a foreign host, and catalogs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.sandbox.x_calls import DOLLARS, FILES, POST, YEN, Clock, X, unpack_rows

PATH = f"stats/accounts/{DOLLARS}"
JOBS = f"stats/jobs/accounts/{DOLLARS}"
WEEK = {
    "start_time": "2026-11-09T05:00:00Z",
    "end_time": "2026-11-16T05:00:00Z",
    "granularity": "DAY",
    "placement": "ALL_ON_TWITTER",
    "metric_groups": "ENGAGEMENT,BILLING,VIDEO",
    "entity": "CAMPAIGN",
}


async def list_all_campaigns(x: X, account: str = DOLLARS) -> list[str]:
    """Evergreen, paused, deleted."""
    return [
        campaign["id"] for campaign in await x.fetch_data("GET", f"accounts/{account}/campaigns", with_deleted="true")
    ]


async def test_a_week_of_each_campaign(x: X) -> None:
    ids = await list_all_campaigns(x)
    answer = (await x.call("GET", PATH, **WEEK, entity_ids=",".join(ids))).json()
    assert (answer["data_type"], answer["time_series_length"]) == ("stats", 7)
    assert [entity_row["id"] for entity_row in answer["data"]] == ids
    metrics = answer["data"][0]["id_data"][0]["metrics"]
    assert len(metrics["impressions"]) == len(metrics["billed_charge_local_micro"]) == 7
    assert all(figure > 0 for figure in metrics["impressions"])
    assert all(figure % 10_000 == 0 for figure in metrics["billed_charge_local_micro"])
    assert metrics["video_total_views"] is None
    assert answer["data"][1]["id_data"][0]["metrics"]["impressions"] is None  # paused since September
    assert (await x.call("GET", PATH, **WEEK, entity_ids=",".join(ids))).json() == answer


async def test_yen_are_charged_whole_and_every_placement_is_asked_alone(x: X) -> None:
    [first, *_] = await list_all_campaigns(x, YEN)
    parameters = {**WEEK, "start_time": "2026-11-09T15:00:00Z", "end_time": "2026-11-10T15:00:00Z", "entity_ids": first}
    rows = await x.fetch_data("GET", f"stats/accounts/{YEN}", **parameters)
    [charged] = rows[0]["id_data"][0]["metrics"]["billed_charge_local_micro"]
    assert charged > 0
    assert charged % 1_000_000 == 0
    rows = await x.fetch_data("GET", f"stats/accounts/{YEN}", **{**parameters, "placement": "TREND"})
    assert rows[0]["id_data"][0]["metrics"]["impressions"] is None


async def test_conversions_are_objects(x: X) -> None:
    [first, *_] = await list_all_campaigns(x)
    rows = await x.fetch_data("GET", PATH, **{**WEEK, "metric_groups": "WEB_CONVERSION"}, entity_ids=first)
    metrics = rows[0]["id_data"][0]["metrics"]
    assert len(metrics["conversion_site_visits"]["metric"]) == 7
    assert metrics["conversion_downloads"]["metric"] is None
    assert metrics["conversion_purchases"]["sale_amount"] is None


COUNTS = ("impressions", "clicks", "billed_charge_local_micro")
REPOST = "1880000000000000002"


async def create_tree(x: X, account: str) -> dict[str, list[str]]:
    """A campaign that runs, with two line items, of which the first has two posts; the third of them has no post."""
    amounts = {"daily_budget_amount_local_micro": "5000000000", "total_budget_amount_local_micro": "9000000000"}
    campaign = await x.create_campaign(account, **amounts)
    items = [
        await x.create_line_item(
            account, campaign_id=campaign, bid_amount_local_micro="2000000", name=f"Skiers {number}"
        )
        for number in range(3)
    ]
    posts = []
    for item, tweets in ((items[0], f"{POST},{REPOST}"), (items[1], POST)):
        posts_of_item = await x.fetch_data(
            "POST", f"accounts/{account}/promoted_tweets", line_item_id=item, tweet_ids=tweets
        )
        posts += [promoted["id"] for promoted in posts_of_item]
    for path in (*(f"line_items/{item}" for item in items), f"campaigns/{campaign}"):
        await x.fetch_data("PUT", f"accounts/{account}/{path}", entity_status="ACTIVE")
    return {"CAMPAIGN": [campaign], "LINE_ITEM": items, "PROMOTED_TWEET": posts}


@pytest.mark.parametrize(("account", "start", "smallest"), [(DOLLARS, "22T05", 10_000), (YEN, "21T15", 1_000_000)])
async def test_each_level_adds_up_to_the_account(x: X, clock: Clock, account: str, start: str, smallest: int) -> None:
    """Also with a post and a line item that were deleted within the week."""
    tree = await create_tree(x, account)
    clock.instant += timedelta(days=5)
    await x.connect()
    await x.fetch_data("DELETE", f"accounts/{account}/promoted_tweets/{tree['PROMOTED_TWEET'][1]}")
    await x.fetch_data("DELETE", f"accounts/{account}/line_items/{tree['LINE_ITEM'][1]}")
    clock.instant += timedelta(days=10)
    await x.connect()
    first_day = datetime.fromisoformat(f"2026-11-{start}:00:00Z")
    bounds = (first_day, first_day + timedelta(days=7))
    week = {**WEEK, **dict(zip(("start_time", "end_time"), (f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in bounds), strict=True))}
    entities = {"CAMPAIGN": "campaigns", "LINE_ITEM": "line_items", "PROMOTED_TWEET": "promoted_tweets"}
    sums, series = {}, {}
    for entity, path in entities.items():
        ids = [
            entity_row["id"]
            for entity_row in await x.fetch_data("GET", f"accounts/{account}/{path}", with_deleted="true")
        ]
        days: dict[str, list[int]] = {}
        for groups, names in (("ENGAGEMENT,BILLING,VIDEO", COUNTS), ("WEB_CONVERSION", ("conversion_site_visits",))):
            parameters = {**week, "entity": entity, "entity_ids": ",".join(ids), "metric_groups": groups}
            for row in await x.fetch_data("GET", f"stats/accounts/{account}", **parameters):
                metrics = row["id_data"][0]["metrics"]
                for name in names:
                    values = metrics[name]["metric"] if name.startswith("conversion") else metrics[name]
                    series[row["id"], name] = values
                    days[name] = [
                        figure + other for figure, other in zip(days.get(name, [0] * 7), values or [0] * 7, strict=True)
                    ]
        sums[entity] = days
    assert all(min(values) > 0 for values in sums["CAMPAIGN"].values())
    assert sums["CAMPAIGN"] == sums["LINE_ITEM"] == sums["PROMOTED_TWEET"]
    charged = "billed_charge_local_micro"
    assert all(value % smallest == 0 for post in tree["PROMOTED_TWEET"] for value in series[post, charged])
    first, second, bare = (series[item, "impressions"] for item in tree["LINE_ITEM"])
    assert [value > 0 for value in second] == [True] * 4 + [False] * 3
    assert [value > 0 for value in series[tree["PROMOTED_TWEET"][1], "impressions"]] == [True] * 4 + [False] * 3
    assert bare is None
    assert all(first)
    whole = {**week, "entity": "ACCOUNT", "entity_ids": account}
    [row] = await x.fetch_data("GET", f"stats/accounts/{account}", **whole)
    metrics = row["id_data"][0]["metrics"]
    assert metrics["impressions"] == sums["CAMPAIGN"]["impressions"]
    assert (metrics["clicks"], metrics[charged], metrics["video_total_views"]) == (None, None, None)


async def test_active_entities_of_each_level(x: X, clock: Clock) -> None:
    tree = await create_tree(x, DOLLARS)
    clock.instant += timedelta(days=5)
    await x.connect()
    window = {"start_time": "2026-11-22T05:00:00Z", "end_time": "2026-11-25T05:00:00Z"}

    async def list_active(entity: str, **filters: str) -> list[str]:
        entities = await x.fetch_data("GET", f"{PATH}/active_entities", entity=entity, **window, **filters)
        return [entity_row["entity_id"] for entity_row in entities]

    [campaign], [first, second, _], posts = tree.values()
    assert await list_active("LINE_ITEM", campaign_ids=campaign) == [first, second]
    assert await list_active("PROMOTED_TWEET", campaign_ids=campaign) == posts
    assert await list_active("PROMOTED_TWEET", line_item_ids=first) == posts[:2]
    assert await list_active("CAMPAIGN", line_item_ids=second) == [campaign]
    assert await list_active("LINE_ITEM", funding_instrument_ids="zz9") == []
    both = {"campaign_ids": campaign, "line_item_ids": first}
    refused = await x.get_refusal("GET", f"{PATH}/active_entities", entity="LINE_ITEM", **window, **both)
    assert refused == (400, "INVALID_PARAMETER", "line_item_ids")


REFUSED: list[tuple[dict[str, str], str, str]] = [
    ({"end_time": "2026-11-17T05:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
    ({"end_time": "2026-11-09T05:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
    ({"start_time": "2026-11-10T05:30:00Z"}, "INVALID_PARAMETER", "start_time"),
    ({"start_time": "2026-11-10T04:00:00Z"}, "INVALID_PARAMETER", "start_time"),
    ({"granularity": "WEEK"}, "INVALID_PARAMETER", "granularity"),
    ({"placement": "ALL_ON_TWITTER,SPOTLIGHT"}, "INVALID_PARAMETER", "placement"),
    ({"metric_groups": "ENGAGEMENT,WEB_CONVERSION"}, "INVALID_PARAMETER", "metric_groups"),
    ({"metric_groups": "CLICKS"}, "INVALID_PARAMETER", "metric_groups"),
    ({"entity": "AD"}, "INVALID_PARAMETER", "entity"),
    ({"entity_ids": "zzz9"}, "CAMPAIGN_NOT_FOUND", "entity_ids"),
    ({"entity": "LINE_ITEM"}, "LINE_ITEM_NOT_FOUND", "entity_ids"),
    ({"entity": "PROMOTED_TWEET"}, "PROMOTED_TWEET_NOT_FOUND", "entity_ids"),
    ({"entity": "ACCOUNT"}, "INVALID_PARAMETER", "entity_ids"),
    ({"entity_ids": ",".join(["a"] * 21)}, "REQUEST_TOO_COMPLEX", "entity_ids"),
    ({"segmentation_type": "PLATFORMS"}, "INVALID_PARAMETER", "segmentation_type"),
]


@pytest.mark.parametrize(("change", "code", "parameter"), REFUSED)
async def test_questions_are_refused(x: X, change: dict[str, str], code: str, parameter: str) -> None:
    [first, *_] = await list_all_campaigns(x)
    refusal = await x.get_refusal("GET", PATH, **{**WEEK, "entity_ids": first, **change})
    assert refusal[1:] == (code, parameter)


@pytest.mark.parametrize("name", [*WEEK, "entity_ids"])
async def test_nothing_may_be_left_out(x: X, name: str) -> None:
    parameters = {**WEEK, "entity_ids": "a"}
    del parameters[name]
    assert await x.get_refusal("GET", PATH, **parameters) == (400, "MISSING_PARAMETER", name)


async def test_all_days_have_the_offset_of_today(x: X, clock: Clock) -> None:
    [first, *_] = await list_all_campaigns(x)
    october = {**WEEK, "start_time": "2026-10-20T05:00:00Z", "end_time": "2026-10-22T05:00:00Z", "entity_ids": first}
    summer = {**october, "start_time": "2026-10-20T04:00:00Z", "end_time": "2026-10-22T04:00:00Z"}
    assert len(await x.fetch_data("GET", PATH, **october)) == 1  # in New York it was still summer time then
    assert (await x.get_refusal("GET", PATH, **summer))[1] == "INVALID_PARAMETER"
    clock.instant = datetime(2027, 7, 1, tzinfo=UTC)
    await x.connect()
    assert len(await x.fetch_data("GET", PATH, **summer)) == 1


async def test_a_job_and_its_file(x: X, clock: Clock) -> None:
    ids = ",".join(await list_all_campaigns(x))
    quarter = {**WEEK, "start_time": "2026-08-20T05:00:00Z", "end_time": "2026-11-18T05:00:00Z", "entity_ids": ids}
    job = await x.fetch_data("POST", JOBS, **quarter)
    assert (job["status"], job["url"]) == ("PROCESSING", None)
    assert int(job["id_str"]) == job["id"] > 2**53
    [looked] = await x.fetch_data("GET", JOBS, job_ids=job["id_str"])
    assert looked["status"] == "PROCESSING"
    answer = (await x.call("GET", JOBS, job_ids=job["id_str"])).json()
    [done] = answer["data"]
    assert (done["status"], done["expires_at"]) == ("SUCCESS", "2026-11-22T12:00:00Z")
    assert answer["next_cursor"]
    assert done["url"].startswith(f"https://{FILES}/")
    file = await x.download(done["url"])
    content = unpack_rows(file.content)
    assert (content["data_type"], content["time_series_length"]) == ("stats", 90)
    deleted = content["data"][2]["id_data"][0]["metrics"]["impressions"]
    assert (deleted[0] > 0, deleted[-1]) == (True, 0)  # it was deleted in between
    assert (await x.download(done["url"], Authorization="OAuth x")).status_code == 400
    clock.instant += timedelta(days=2, seconds=1)
    assert (await x.download(done["url"])).status_code == 404
    assert await x.list_writes() == []


async def test_jobs_have_limits(x: X) -> None:
    [first, *_] = await list_all_campaigns(x)
    parameters = {**WEEK, "entity_ids": first}
    assert (await x.get_refusal("POST", JOBS, **{**parameters, "start_time": "2026-08-17T05:00:00Z"}))[
        1
    ] == "INVALID_TIME_WINDOW"
    segmented = {**parameters, "segmentation_type": "PLATFORMS", "start_time": "2026-10-01T05:00:00Z"}
    assert (await x.get_refusal("POST", JOBS, **segmented))[1] == "INVALID_TIME_WINDOW"
    for _ in range(100):
        await x.fetch_data("POST", JOBS, **parameters)
    assert (await x.get_refusal("POST", JOBS, **parameters))[:2] == (429, "TOO_MANY_REQUESTS")


async def test_active_entities_and_reach(x: X) -> None:
    evergreen, paused, deleted = await list_all_campaigns(x)
    window = {"start_time": "2026-10-15T05:00:00Z", "end_time": "2026-11-20T12:00:00Z"}
    entities = await x.fetch_data("GET", f"{PATH}/active_entities", entity="CAMPAIGN", **window)
    assert [entity["entity_id"] for entity in entities] == [evergreen, deleted]
    assert entities[0]["placements"] == ["ALL_ON_TWITTER"]
    assert entities[1]["activity_end_time"] < entities[0]["activity_end_time"]
    week = {name: WEEK[name] for name in ("start_time", "end_time")}
    reached = await x.fetch_data("GET", f"{PATH}/reach/campaigns", campaign_ids=f"{evergreen},{paused}", **week)
    assert [reach["total_audience_reach"] > 0 for reach in reached] == [True, False]


PLACES = "targeting_criteria/locations"
CATALOGS: list[tuple[str, dict[str, str], str, str]] = [
    (PLACES, {"location_type": "COUNTRIES", "country_code": "US"}, "96683cc9126741d1", "United States"),
    (PLACES, {"location_type": "COUNTRIES", "country_code": "FR"}, "0a1b2c3d4e5f6071", "France"),
    ("targeting_criteria/interests", {"q": "snow"}, "12012", "Sports/Snowboarding"),
    ("targeting_criteria/languages", {"q": "Jap"}, "ja", "Japanese"),
    ("targeting_criteria/platforms", {"q": "android"}, "1", "Android"),
    ("targeting_criteria/devices", {"q": "16"}, "1b", "iPhone 16"),
    ("targeting_criteria/platform_versions", {"q": "18.1"}, "1hv", "18.1"),
    ("targeting_criteria/conversations", {"conversation_type": "LIFESTYLES"}, "7k3", "Camping"),
    ("targeting_criteria/network_operators", {"country_code": "FR"}, "3t", "Mobile Gamma"),
    ("targeting_criteria/app_store_categories", {"os_type": "IOS"}, "q8v", "Games"),
    ("targeting_criteria/events", {"event_types": "HOLIDAY"}, "2h", "New Year"),
    ("targeting_criteria/tv_shows", {"locale": "ja-JP"}, "10027243422", "Ski Jumping Tonight"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "parameters", "value", "name"), CATALOGS)
async def test_targeting_options(x: X, path: str, parameters: dict[str, Any], value: str, name: str) -> None:
    assert [
        (option["targeting_value"], option["name"]) for option in await x.fetch_data("GET", path, **parameters)
    ] == [(value, name)]


async def test_other_catalogs(x: X) -> None:
    regions = await x.fetch_data("GET", "targeting_criteria/locations", location_type="REGIONS", country_code="US")
    assert {region["location_type"] for region in regions} == {"REGIONS"}
    assert (await x.get_refusal("GET", "targeting_criteria/events"))[1:] == ("MISSING_PARAMETER", "event_types")
    assert (await x.get_refusal("GET", "targeting_criteria/tv_shows"))[1:] == ("MISSING_PARAMETER", "locale")
    [rule] = await x.fetch_data("GET", "bidding_rules", currency="JPY")
    assert (rule["currency"], rule["minimum_denomination"]) == ("JPY", 1_000_000)
    [placements] = await x.fetch_data("GET", "line_items/placements", product_type="PROMOTED_TWEETS")
    assert "ALL_ON_TWITTER" in placements["placements"]
    audiences = await x.fetch_data("GET", f"accounts/{DOLLARS}/custom_audiences", q="news")
    assert [(audience["id"], audience["targetable"]) for audience in audiences] == [("2906h", True)]
    [tag] = await x.fetch_data("GET", f"accounts/{DOLLARS}/tracking_tags")
    assert tag["tracking_tag_url"].startswith("https://")
