"""The simulated Amplify API over real HTTP: logging in, marketers, the documented example, lists, catalogs, reports."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import list_writes, make_body
from tests.sandbox.outbrain_calls import (
    BASE,
    BERLIN,
    DAILY,
    LIFETIME,
    NEW_YORK,
    NEWCOMER,
    TOKYO,
    USER,
    Clock,
    create_budget,
    create_campaign,
    create_example,
    create_link,
    inject_fault,
    log_in,
    read,
    read_data,
    read_refusal,
    send,
)

# The whole way


async def test_the_example_of_the_documentation(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    assert await list_writes(web) == [("POST", kind, native_id) for kind, native_id in example.items()]
    assert {len(native_id) for native_id in example.values()} == {34}
    campaign = await read(web, f"campaigns/{example['campaign']}")
    assert (campaign["marketerId"], campaign["budget"]["id"], campaign["enabled"]) == (
        NEW_YORK,
        example["budget"],
        False,
    )
    assert campaign["liveStatus"]["onAirReason"] == "CAMPAIGN_DISABLED"
    assert (campaign["budget"]["currency"], campaign["budget"]["shared"]) == ("USD", False)
    enabled = await send(web, "PUT", f"promotedLinks/{example['promotedLink']}", {"enabled": True})
    assert (enabled.status_code, enabled.content) == (200, b"")
    campaign = read_data(await send(web, "PUT", f"campaigns/{example['campaign']}", {"enabled": True}))
    assert campaign["liveStatus"]["onAirReason"] == "CAMPAIGN_FLY_DATES_FUTURE"
    clock.instant += timedelta(days=163)  # 3 May 2027, 8 in the morning
    await log_in(web)
    assert (await read(web, f"campaigns/{example['campaign']}"))["liveStatus"]["campaignOnAir"] is True
    promoted_link = await read(web, f"promotedLinks/{example['promotedLink']}")
    assert (promoted_link["approvalStatus"]["status"], promoted_link["onAirStatus"]["onAir"]) == ("Approved", True)
    assert promoted_link["text"] == "Ten ways to sleep better"


async def test_a_lifetime_budget(web: httpx.AsyncClient) -> None:
    budget = read_data(await send(web, "POST", f"marketers/{NEW_YORK}/budgets", LIFETIME))
    assert {name: budget[name] for name in LIFETIME} == LIFETIME
    assert (await read(web, f"budgets/{budget['id']}"))["amountRemaining"] == 1800


async def test_what_is_left_out_is_what_the_network_makes_of_it(web: httpx.AsyncClient) -> None:
    budget_id = await create_budget(web)
    body = {"name": "Bare", "budgetId": budget_id, "cpc": 0.42, "targeting": {"platform": ["MOBILE"]}}
    campaign = read_data(await send(web, "POST", "campaigns", body))
    assert (campaign["enabled"], campaign["objective"], campaign["creativeFormat"]) == (True, "Traffic", "Standard")
    ad = read_data(await send(web, "POST", f"campaigns/{campaign['id']}/promotedLinks",
                         {"url": "https://shop.example/guide", "enabled": True}))  # fmt: skip
    assert ad["text"] == "Crawled headline"
    assert (await read(web, f"campaigns/{campaign['id']}"))["liveStatus"]["onAirReason"] == "CAMPAIGN_FLY_DATES_FUTURE"


# Logging in


async def test_a_token_of_thirty_days(web: httpx.AsyncClient, clock: Clock) -> None:
    answer = await web.get(f"{BASE}/login", auth=USER)
    assert list(answer.json()) == ["OB-TOKEN-V1"]
    clock.instant += timedelta(days=30, seconds=-1)
    await read(web, "marketers")  # the earlier token is as good as the new one
    clock.instant += timedelta(seconds=1)
    read_refusal(await web.get(f"{BASE}/marketers"), 401)


@pytest.mark.parametrize("headers", [{}, {"OB-TOKEN-V1": "nonsense"}, {"Authorization": "Bearer nonsense"}])
async def test_without_a_token(web: httpx.AsyncClient, headers: dict[str, str]) -> None:
    del web.headers["OB-TOKEN-V1"]
    read_refusal(await web.get(f"{BASE}/marketers", headers=headers), 401)


@pytest.mark.parametrize("auth", [("sandbox-outbrain", "wrong"), ("another", "sandbox-secret")])
async def test_a_wrong_password(web: httpx.AsyncClient, auth: tuple[str, str]) -> None:
    read_refusal(await web.get(f"{BASE}/login", auth=auth), 401)


async def test_a_log_in_without_credentials(web: httpx.AsyncClient) -> None:
    read_refusal(await web.get(f"{BASE}/login"), 401)


# Marketers


async def test_marketers(web: httpx.AsyncClient) -> None:
    page = await read(web, "marketers")
    assert page["count"] == 4
    assert [row["id"] for row in page["marketers"]] == [NEW_YORK, TOKYO, BERLIN, NEWCOMER]
    assert not {"currency", "timezone", "account"} & page["marketers"][0].keys()
    assert page["marketers"][3]["enabled"] is False
    marketer = await read(web, f"marketers/{TOKYO}", extraFields="Account")
    assert (marketer["name"], marketer["account"]["type"]) == ("Demo Tokyo", "DIRECT")
    read_refusal(await web.get(f"{BASE}/marketers/{'0' * 34}"), 403)


async def test_the_currency_stands_on_budgets(web: httpx.AsyncClient) -> None:
    for marketer, currency in ((NEW_YORK, "USD"), (TOKYO, "JPY"), (BERLIN, "EUR")):
        assert {budget["currency"] for budget in (await read(web, f"marketers/{marketer}/budgets"))["budgets"]} == {
            currency
        }
    assert await read(web, f"marketers/{NEWCOMER}/budgets") == {"count": 0, "budgets": []}
    alone = await create_budget(web)
    page = await read(web, f"marketers/{NEW_YORK}/budgets", detachedOnly="true")
    assert [budget["id"] for budget in page["budgets"]] == [alone]


# Lists


async def test_campaigns_by_pages(web: httpx.AsyncClient) -> None:
    budget_id = await create_budget(web)
    for position in range(26):
        await create_campaign(web, budget_id, name=f"Campaign {position}")
    path = f"marketers/{NEW_YORK}/campaigns"
    first = await read(web, path)
    assert (first["count"], first["totalCount"]) == (25, 28)
    rest = await read(web, path, limit=50, offset=25)
    assert (rest["count"], rest["totalCount"]) == (3, 28)
    assert not {campaign["id"] for campaign in first["campaigns"]} & {campaign["id"] for campaign in rest["campaigns"]}
    every = await read(web, path, fetch="basic", limit=1)  # knows no pages
    assert every["count"] == 28
    assert list(every["campaigns"][0]) == ["id", "name"]
    read_refusal(await web.get(f"{BASE}/{path}", params={"limit": 51}))
    read_refusal(await web.get(f"{BASE}/{path}", params={"fromBudgetStartDate": "2027-01-01"}))
    assert (await read(web, f"budgets/{budget_id}/campaigns"))["totalCount"] == 26
    assert (await read(web, f"budgets/{budget_id}"))["shared"] is True


async def test_archived_campaigns(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    assert read_data(await send(web, "PUT", f"campaigns/{native_id}", {"archived": True}))["autoArchived"] is True
    path = f"marketers/{NEW_YORK}/campaigns"
    assert native_id not in [campaign["id"] for campaign in (await read(web, path))["campaigns"]]
    campaigns = (await read(web, path, includeArchived="true"))["campaigns"]
    assert native_id in [campaign["id"] for campaign in campaigns]
    taken = await send(
        web,
        "POST",
        "campaigns",
        {
            "name": "brief NAME",
            "budgetId": await create_budget(web, name="Other"),
            "cpc": 1,
            "targeting": {"platform": ["MOBILE"]},
        },
    )
    assert read_refusal(taken) == "name: a campaign of this name exists"


async def test_several_campaigns_at_once(web: httpx.AsyncClient) -> None:
    first, other = (
        await create_campaign(web),
        await create_campaign(web, await create_budget(web, name="Other"), name="Other"),
    )
    page = await read(web, f"campaigns/{first},{other}/multiple")
    assert [row["id"] for row in page["campaigns"]] == [first, other]
    read_refusal(await web.get(f"{BASE}/campaigns/{first},{'0' * 34}/multiple"), 404)


async def test_promoted_links_by_pages(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign_id = await create_campaign(web)
    ids = [await create_link(web, campaign_id, enabled=position == 0) for position in range(3)]
    path = f"campaigns/{campaign_id}/promotedLinks"
    page = await read(web, path, limit=2, offset=1)
    assert (page["count"], page["totalCount"]) == (2, 3)
    assert [promoted_link["id"] for promoted_link in page["promotedLinks"]] == ids[1:]
    assert (await read(web, path, enabled="true"))["totalCount"] == 1
    assert (await read(web, path, statuses="PENDING,REJECTED"))["totalCount"] == 3
    rejected = await create_link(web, campaign_id, url="https://shop.example/ineligible")
    clock.instant += timedelta(hours=1)
    page = await read(web, path, statuses="REJECTED", extraFields="ImageURL,ImageMetaData")
    assert [promoted_link["id"] for promoted_link in page["promotedLinks"]] == [rejected]
    assert page["promotedLinks"][0]["imageUrl"] == "https://shop.example/sleep.jpg"
    assert page["promotedLinks"][0]["approvalStatus"]["reasons"]
    assert "imageMetadata" not in (await read(web, f"promotedLinks/{rejected}"))


async def test_the_parts_of_targeting_are_asked_for(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    assert (await read(web, f"campaigns/{native_id}"))["targeting"] == {
        "platform": ["DESKTOP", "MOBILE", "TABLET"], "locationsVersion": "V2",
    }  # fmt: skip
    campaign = await read(web, f"campaigns/{native_id}", extraFields="Locations,CampaignOptimization")
    assert [place["id"] for place in campaign["targeting"]["locations"]] == ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"]
    assert campaign["campaignOptimization"] == {"optimizationType": "TRAFFIC"}
    places = await read(web, f"campaigns/{native_id}/locations")
    assert (len(places["geoLocations"]), places["excludedGeoLocations"]) == (1, [])


# Catalogs


async def test_countries_are_searched_by_name(web: httpx.AsyncClient) -> None:
    query = {"term": "Germany", "include": "Country", "exactMatch": "true", "locationsVersion": "V2"}
    (hit,) = (await read(web, "locations/search", **query))["geoLocations"]
    assert (hit["geoType"], hit["code"].strip(), len(hit["id"])) == ("Country", "DE", 32)
    assert (await read(web, "locations/search", **{**query, "term": "DE"}))["geoLocations"] == []
    (old,) = (await read(web, "locations/search", **{**query, "locationsVersion": "V1"}))["geoLocations"]
    assert old["id"] != hit["id"]
    wrong = {"platform": ["MOBILE"], "locations": [old["id"]], "locationsVersion": "V2"}
    body = {"name": "Place", "budgetId": await create_budget(web), "cpc": 1, "targeting": wrong}
    assert read_refusal(await send(web, "POST", "campaigns", body)) == "targeting.locations.0: is no location of V2"
    read_refusal(await web.get(f"{BASE}/locations/search"))


async def test_parts_of_countries(web: httpx.AsyncClient) -> None:
    rows = (await read(web, "locations/search", term="new york", locationsVersion="V2", country="US"))["geoLocations"]
    assert [(row["geoType"], row["code"]) for row in rows] == [("Region", "US-NY"), ("DMA", "501")]
    assert rows[0]["canonicalName"] == "New York, United States"
    fewer = await read(web, "locations/search", term="new york", exclude="DMA", limit=1)
    assert [row["code"] for row in fewer["geoLocations"]] == ["NY"]


@pytest.mark.parametrize(
    ("path", "query", "word", "name"),
    [
        ("interests/all", {}, "interests", "name"),
        ("interests/search", {"term": "sleep"}, "interests", "name"),
        ("iabcategories/all", {}, "categories", "categoryName"),
        ("currencies", {}, "currencies", "code"),
        (f"marketers/{NEW_YORK}/conversionEvents", {}, "conversionEvents", "name"),
        (f"marketers/{NEW_YORK}/segments", {}, "segments", "name"),
        ("metadata/supportedLanguages", {}, None, "name"),
    ],
)
async def test_catalogs(web: httpx.AsyncClient, path: str, query: dict[str, str], word: str | None, name: str) -> None:
    page = await read(web, path, **query)
    rows = page if word is None else page[word]
    assert rows
    assert all(isinstance(row[name], str) for row in rows)


@pytest.mark.parametrize(("path", "value"), [("browsers", "UCBrowser"), ("operatingSystems", "Ios")])
async def test_bare_arrays_of_words(web: httpx.AsyncClient, path: str, value: str) -> None:
    assert value in await read(web, f"metadata/{path}")


# Reports


REPORT = {"from": "2026-11-01", "to": "2026-11-21", "breakdown": "daily", "limit": "500", "offset": "0",
          "sort": "+fromDate", "includeArchivedCampaigns": "true", "enabledCampaignsOnly": "false"}  # fmt: skip


async def read_report(web: httpx.AsyncClient, marketer: str = NEW_YORK, **change: str) -> Any:
    return await read(web, f"reports/marketers/{marketer}/periodic", **{**REPORT, **change})


async def test_a_report_of_every_day(web: httpx.AsyncClient) -> None:
    report = await read_report(web)
    assert [row["metadata"]["fromDate"] for row in report["results"]] == [f"2026-11-{on:02}" for on in range(1, 22)]
    assert report["totalResults"] == 21
    assert report == await read_report(web)
    for row in report["results"]:
        numbers = row["metrics"]
        assert numbers["impressions"] > numbers["clicks"] > 0
        assert numbers["totalConversions"] == numbers["conversions"] + numbers["viewConversions"]
        assert "videoPlays" not in numbers
    assert report["summary"]["clicks"] == sum(row["metrics"]["clicks"] for row in report["results"])
    days = {marketer: (await read_report(web, marketer))["totalResults"] for marketer in (TOKYO, BERLIN, NEWCOMER)}
    assert days == {TOKYO: 21, BERLIN: 21, NEWCOMER: 0}


async def test_counts_with_decimals_and_whole_yen(web: httpx.AsyncClient) -> None:
    answer = await web.get(f"{BASE}/reports/marketers/{TOKYO}/periodic", params=REPORT)
    numbers = answer.json(parse_float=Decimal)["results"][0]["metrics"]
    assert str(numbers["impressions"]).endswith(".00")
    assert isinstance(numbers["spend"], int)


async def test_what_a_report_leaves_out_by_itself(web: httpx.AsyncClient) -> None:
    every, running = await read_report(web), await read_report(web, enabledCampaignsOnly="true")
    assert every["summary"]["clicks"] > running["summary"]["clicks"]
    short = {name: value for name, value in REPORT.items() if name in ("from", "to")}
    bare = await read(web, f"reports/marketers/{NEW_YORK}/periodic", **short)
    assert (len(bare["results"]), bare["totalResults"]) == (10, 21)
    assert bare["summary"] == running["summary"]


async def test_pages_and_orders_of_a_report(web: httpx.AsyncClient) -> None:
    last = await read_report(web, limit="2", offset="20")
    assert [row["metadata"]["fromDate"] for row in last["results"]] == ["2026-11-21"]
    descending = await read_report(web, sort="-fromDate", limit="1")
    assert descending["results"] == last["results"]
    months = await read_report(web, breakdown="monthly", **{"from": "2026-09-15"})
    assert [row["metadata"]["fromDate"] for row in months["results"]] == ["2026-09-15", "2026-10-01", "2026-11-01"]
    assert (await read_report(web, includeVideoStats="true"))["results"][0]["metrics"]["videoPlays"] > 0
    raw = f"{BASE}/reports/marketers/{NEW_YORK}/periodic?from=2026-11-01&to=2026-11-02&sort=+fromDate"
    read_refusal(await web.get(raw))  # a bare plus is a space


async def test_days_to_come_have_no_rows(web: httpx.AsyncClient, clock: Clock) -> None:
    assert (await read_report(web, **{"from": "2026-11-20", "to": "2026-12-20"}))["totalResults"] == 2
    assert await read(web, "reports/fullDay") == {
        "fullDayDate": "2026-11-20", "modificationTime": "2026-11-21 07:00:00",
    }  # fmt: skip
    clock.instant += timedelta(hours=16)  # another day in UTC, the same one in New York
    assert (await read(web, "reports/fullDay"))["fullDayDate"] == "2026-11-20"
    assert list(await read(web, "reports/dataFreshness")) == ["lastUpdateTime"]


@pytest.mark.parametrize(
    "change",
    [{"from": "2022-01-01"}, {"to": "2026-10-01"}, {"limit": "501"}, {"breakdown": "hourly"}, {"from": "20261101"},
     {"sort": "fromDate"}],
)  # fmt: skip
async def test_reports_that_are_refused(web: httpx.AsyncClient, change: dict[str, str]) -> None:
    read_refusal(await web.get(f"{BASE}/reports/marketers/{NEW_YORK}/periodic", params={**REPORT, **change}))


async def test_reports_of_parts(web: httpx.AsyncClient) -> None:
    unsorted = {name: value for name, value in REPORT.items() if name != "sort"}
    rows = (await read(web, f"reports/marketers/{NEW_YORK}/campaigns/periodic", **unsorted))["campaignResults"]
    assert len(rows) == 2
    alone = await read_report(web, campaignId=rows[0]["campaignId"])
    assert alone["results"] == rows[0]["results"][::-1]
    example = await create_example(web)
    assert (await read_report(web, budgetId=example["budget"]))["totalResults"] == 0


# Faults


async def test_a_throttled_call_names_milliseconds(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429)
    answer = await web.get(f"{BASE}/marketers")
    read_refusal(answer, 429)
    assert answer.headers["rate-limit-msec-left"] == "1500"
    assert "Retry-After" not in answer.headers
    await inject_fault(web, "status", value=429, path="/amplify/v0.1/login")
    assert (await web.get(f"{BASE}/login", auth=USER)).headers["rate-limit-msec-left"] == "1500"


@pytest.mark.parametrize("path", ["nothing", "marketers/", f"reports/marketers/{NEW_YORK}/content"])
async def test_unknown_paths(web: httpx.AsyncClient, path: str) -> None:
    read_refusal(await web.get(f"{BASE}/{path}"), 404)


async def test_budget_of_the_daily_example(web: httpx.AsyncClient) -> None:
    answer = await web.post(f"{BASE}/marketers/{NEW_YORK}/budgets", json=make_body(DAILY))
    assert read_data(answer)["amount"] == 60.5
    assert await list_writes(web) == [("POST", "budget", answer.json()["id"])]
