"""Reports of campaigns and promoted links of the simulated Amplify API v0.1."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import make_body
from tests.sandbox.outbrain_calls import (
    BASE,
    CAMPAIGN,
    NEW_YORK,
    TOKYO,
    Clock,
    create_budget,
    create_campaign,
    create_link,
    log_in,
    read_data,
    read_refusal,
    send,
)

METRICS = ("impressions", "clicks", "spend", "dstFeeCost", "totalConversions", "totalSumValue", "videoPlays")
# The last day is today, of which the figures are partial.
WEEK = {"from": "2026-11-22", "to": "2026-11-28", "breakdown": "daily", "limit": "500", "includeVideoStats": "true"}
EVERY = {"enabledCampaignsOnly": "false", "includeArchivedCampaigns": "true"}


async def read_report(web: httpx.AsyncClient, path: str, marketer: str = NEW_YORK, **query: str) -> Any:
    answer = await web.get(f"{BASE}/reports/marketers/{marketer}/{path}", params={**WEEK, **query})
    assert answer.status_code == 200, answer.text
    return answer.json(parse_float=Decimal)


def add_up(results: list[dict[str, Any]]) -> dict[str, list[Decimal]]:
    sums: dict[str, list[Decimal]] = {}
    for row in results:
        day = row["metadata"]["fromDate"]
        before = sums.get(day, [Decimal(0)] * len(METRICS))
        sums[day] = [figure + row["metrics"][name] for figure, name in zip(before, METRICS, strict=True)]
    return sums


async def create_tree(web: httpx.AsyncClient, clock: Clock, marketer: str, yen: bool) -> tuple[str, list[str]]:
    """A campaign that runs, with three links: two enabled ones, and a disabled one. A week passes."""
    amounts: dict[str, Any] = {"amount": 6000 if yen else 60, "startDate": "2026-11-21"}
    campaign_id = read_data(
        await send(
            web,
            "POST",
            "campaigns",
            make_body(
                CAMPAIGN, budgetId=await create_budget(web, marketer, **amounts), cpc=20 if yen else 1, enabled=True
            ),
        )
    )["id"]
    links = [await create_link(web, campaign_id, enabled=position < 2) for position in range(3)]
    clock.instant += timedelta(days=7)
    await log_in(web)
    return campaign_id, links


@pytest.mark.parametrize("marketer", [NEW_YORK, TOKYO])
async def test_each_level_adds_up_to_the_marketer(web: httpx.AsyncClient, clock: Clock, marketer: str) -> None:
    """Also with an archived campaign, a paused one, and the present day."""
    campaign_id, links = await create_tree(web, clock, marketer, marketer == TOKYO)
    whole = add_up((await read_report(web, "periodic", marketer, **EVERY))["results"])
    assert (len(whole), whole["2026-11-28"][0] > 0) == (7, True)
    campaigns = (await read_report(web, "campaigns/periodic", marketer, **EVERY))["campaignResults"]
    assert add_up([row for entry in campaigns for row in entry["results"]]) == whole
    assert campaign_id in [entry["campaignId"] for entry in campaigns]
    ids = [entry["campaignId"] for entry in campaigns]
    by_link: dict[str, list[dict[str, Any]]] = {}
    for native_id in ids:
        report = await read_report(web, f"campaigns/{native_id}/periodicContent", marketer)
        assert report["totalPromotedLinks"] == len(report["promotedLinkResults"])
        by_link |= {entry["promotedLinkId"]: entry["results"] for entry in report["promotedLinkResults"]}
    assert add_up([row for rows in by_link.values() for row in rows]) == whole
    assert [native_id in by_link for native_id in links] == [True, True, False]
    alone = await read_report(web, "periodic", marketer, promotedLinkId=links[0], campaignId="ignored")
    assert alone["results"] == by_link[links[0]][::-1]
    for row in by_link[links[0]]:
        assert row["metrics"]["spend"] == round(row["metrics"]["spend"], 0 if marketer == TOKYO else 2)


async def test_links_of_one_day(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign_id, links = await create_tree(web, clock, NEW_YORK, yen=False)
    day = {"from": "2026-11-26", "to": "2026-11-26"}
    parameters = {name: value for name, value in {**WEEK, **day, **EVERY}.items() if name != "breakdown"}
    answer = await web.get(f"{BASE}/reports/marketers/{NEW_YORK}/promotedContent", params=parameters)
    report = answer.json(parse_float=Decimal)
    (whole,) = (await read_report(web, "periodic", **day, **EVERY))["results"]
    assert [report["summary"][name] for name in METRICS] == [whole["metrics"][name] for name in METRICS]
    mine = {row["metadata"]["id"]: row for row in report["results"] if row["metadata"]["campaignId"] == campaign_id}
    assert [*mine] == links
    assert [row["metrics"]["impressions"] > 0 for row in mine.values()] == [True, True, False]
    assert mine[links[2]]["metadata"]["enabled"] is False
    page = await web.get(f"{BASE}/reports/marketers/{NEW_YORK}/promotedContent",
                         params={**parameters, "limit": "2", "offset": "1"})  # fmt: skip
    assert page.json(parse_float=Decimal)["results"] == report["results"][1:3]


async def test_named_campaigns_and_pages(web: httpx.AsyncClient, clock: Clock) -> None:
    """A page has rows of each campaign, also of paused ones that are named; ids may follow a comma and a blank."""
    campaign_id, _ = await create_tree(web, clock, NEW_YORK, yen=False)
    every = (await read_report(web, "campaigns/periodic", **EVERY))["campaignResults"]
    ids = [entry["campaignId"] for entry in every]
    paused = next(native_id for native_id in ids[::-1] if native_id != campaign_id)
    campaigns = await read_report(
        web, "campaigns/periodic", campaignId=f"{paused}, {campaign_id}", limit="4", offset="4"
    )
    assert [(entry["campaignId"], entry["totalResults"]) for entry in campaigns["campaignResults"]] == [
        (paused, 7), (campaign_id, 7),
    ]  # fmt: skip
    days = [row["metadata"]["fromDate"] for row in campaigns["campaignResults"][0]["results"]]
    assert days == ["2026-11-24", "2026-11-23", "2026-11-22"]
    assert await read_report(web, "campaigns/periodic", limit="4", offset="8") == {
        "campaignResults": [],
        "totalCampaigns": 0,
    }
    read_data(await send(web, "PUT", f"campaigns/{campaign_id}", {"archived": True}))
    without = await read_report(web, "campaigns/periodic", campaignId=campaign_id)
    assert without["campaignResults"] == []
    fresh = await create_campaign(web, await create_budget(web, name="Other"), name="Other")
    assert (await read_report(web, f"campaigns/{fresh}/periodicContent"))["promotedLinkResults"] == []


@pytest.mark.parametrize(
    ("path", "change", "status"),
    [
        ("campaigns/periodic", {"campaignId": "0" * 34}, 404),
        ("campaigns/periodic", {"sort": "+fromDate"}, 400),
        ("campaigns/periodic", {"from": "2022-01-01"}, 400),
        ("campaigns/periodic", {"limit": "501"}, 400),
        (f"campaigns/{'0' * 34}/periodicContent", {}, 404),
        (f"campaigns/0201{TOKYO[4:]}/periodicContent", {}, 404),
        (f"campaigns/0201{NEW_YORK[4:]}/periodicContent", {"promotedLinkId": "1"}, 400),
        (f"campaigns/0201{NEW_YORK[4:]}/periodicContent", {"breakdown": "hourly"}, 400),
        ("periodic", {"promotedLinkId": "0" * 34}, 404),
        ("promotedContent", {}, 400),
    ],
)
async def test_reports_that_are_refused(web: httpx.AsyncClient, path: str, change: dict[str, str], status: int) -> None:
    read_refusal(await web.get(f"{BASE}/reports/marketers/{NEW_YORK}/{path}", params={**WEEK, **change}), status)
