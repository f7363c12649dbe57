"""Pages of figures: all accounts, one account, its campaigns, ad groups and ads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from adsunify.service.reporting import overview
from adsunify_server.pages.insights import levels
from adsunify_server.pages.insights import overview as overview_page
from adsunify_server.pages.insights.periods import Period
from adsunify_server.pages.numbers import format_change, format_column
from tests.server.served import Served, brief, connect

from .browsing import browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def account(site: Served) -> str:
    """An account at Google with two campaigns that have been active for some days, beside one of Meta."""
    await connect(site, "meta")
    account = await connect(site, "google")
    for name in ("Autumn sale", "Winter sale"):
        body = {"accountId": account, "campaign": {**brief("google"), "name": name}}
        created = await site.admin.post("/create", body, 201)
        await site.admin.execute(created["id"])
        source = {"accountId": account, "sourceOperationId": created["id"]}
        activation = await site.admin.post("/activate", source, 201)
        assert (await site.admin.execute(activation["id"]))["status"] == "succeeded"
    site.hands.pass_(days=40)
    return account


async def read_rows(site: Served, account: str, level: str, start: str, end: str) -> Any:
    return (await site.admin.get(f"/accounts/{account}/insights", level=level, startDate=start, endDate=end))["rows"]


async def test_a_page_ends_yesterday_and_has_a_total(site: Served, account: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open(f"/accounts/{account}/insights")
        fields = next(form.fields for form in page.forms if form.action.endswith("/insights"))
        assert fields["endDate"] < str(site.hands.now().date())
        report = await site.admin.get(
            f"/accounts/{account}/insights", startDate=fields["startDate"], endDate=fields["endDate"]
        )
        assert report["totals"]["spend"] is not None
        assert f"{Decimal(report['totals']['spend']):,.2f}" in page.text
        assert "Change" in page.text and "%" in page.text
        assert "provisional" in page.text


async def test_days_that_are_missing_are_named_and_the_rest_is_added_up(site: Served, account: str) -> None:
    today = site.hands.now().date()
    end = today.replace(year=today.year + 1)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open(f"/accounts/{account}/insights?startDate={today.replace(day=1)}&endDate={end}")
        assert "The total adds up the days that are there" in page.text
        assert str(end) in page.text


async def test_campaigns_are_sorted_searched_and_lead_to_their_ad_groups(site: Served, account: str) -> None:
    today = site.hands.now().date()
    start, end = str(today.replace(day=1)), str(today)
    days = f"startDate={start}&endDate={end}"
    rows = await read_rows(site, account, "campaign", start, end)
    spend: dict[str, Decimal] = {}
    for row in rows:
        spend[row["entityName"]] = spend.get(row["entityName"], Decimal(0)) + Decimal(row["spend"])
    assert {"Autumn sale", "Winter sale"} <= {*spend}
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{account}/insights?level=campaign&{days}")).text
        amounts = [*spend.values(), sum(spend.values(), Decimal(0))]
        assert all(amount_text in text for amount_text in format_column([f"{amount:f}" for amount in amounts], "USD"))
        order = sorted(spend, key=lambda name: -spend[name])
        assert order == sorted(order, key=text.index)
        text = (await person.open(f"/accounts/{account}/insights?level=campaign&sort=name&{days}")).text
        assert text.index("Autumn sale") < text.index("Winter sale")
        text = (await person.open(f"/accounts/{account}/insights?level=campaign&search=WINTER&{days}")).text
        assert "Winter sale" in text and "Autumn sale" not in text
        await person.follow("Winter sale")
        assert "Only those below" in person.text and "Total of 1" in person.text


async def test_campaigns_are_compared_with_the_period_before(site: Served, account: str) -> None:
    today = site.hands.now().date()
    periods = [(str(today - timedelta(days=days)), str(today - timedelta(days=days - 9))) for days in (10, 20)]
    query = "level=campaign&startDate={}&endDate={}".format(*periods[0])
    now, before = [await read_rows(site, account, "campaign", *period) for period in periods]
    spend = {
        name: [sum(Decimal(row["spend"]) for row in rows if row["entityName"] in names) for rows in (now, before)]
        for name, names in (("Autumn sale", ["Autumn sale"]), ("all", {row["entityName"] for row in now + before}))
    }
    changes = {name: format_change(*map(str, amounts)) for name, amounts in spend.items()}
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{account}/insights?{query}")).text
        assert "Change against {} to {}".format(*periods[1]) in text
        assert all(change and change in text for change in changes.values()), changes
        text = (await person.open(f"/accounts/{account}/insights?{query}&search=autumn")).text
        assert text.count(changes["Autumn sale"]) >= 2  # the campaign, and the total of the search


async def test_all_accounts_and_the_sums_of_their_currencies(site: Served, account: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        page = await person.open("/insights")
        fields = next(form.fields for form in page.forms if form.action.endswith("/insights"))
        report = await site.admin.get("/insights", startDate=fields["startDate"], endDate=fields["endDate"])
        assert report["totals"]
        for total in report["totals"]:
            assert format_column([total["spend"]], total["currency"])[0] in page.text
        for row in report["accounts"]:
            assert row["name"] in page.text
        await person.open("/insights?startDate=2026-02-02&endDate=2026-02-01", 422)
        assert "cannot be before startDate" in person.text


async def test_a_level_that_a_network_does_not_report_is_refused_with_those_it_does(site: Served, account: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{account}/insights?level=keyword", 422)).text
        assert "campaign" in text


async def test_the_days_end_on_the_last_day_that_has_ended_in_each_time_zone() -> None:
    """At three in the morning of UTC it is still the day before in Los Angeles, and already noon in Tokyo."""
    now = datetime(2027, 3, 10, 3, tzinfo=UTC)
    for timezones, end in (
        (["America/Los_Angeles", "Asia/Tokyo"], "2027-03-08"),
        (["Asia/Tokyo"], "2027-03-09"),
        ([None], "2027-03-09"),
        ([], "2027-03-09"),
    ):
        assert Period.read({}, now, timezones).end == end


async def test_days_without_a_row_are_shown(site: Served, account: str) -> None:
    meta, today = site.accounts["meta"], site.hands.now().date()
    days = [str(today - timedelta(days=number)) for number in range(30, 0, -1)]
    report = await site.admin.get(f"/accounts/{meta}/insights", startDate=days[0], endDate=days[-1])
    reported = {row["date"] for row in report["rows"]}
    silent = [day for day in days if day not in reported]
    assert silent and reported
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{meta}/insights?startDate={days[0]}&endDate={days[-1]}")).text
    assert text.count(" no row") == len(silent)
    for day in silent:
        assert f"{day} no row" in text


async def test_an_account_is_read_once_for_each_period(site: Served, account: str) -> None:
    def count_searches() -> int:
        return sum(path.endswith("googleAds:search") for _, _, path in site.networks.requests)

    async with browser(site) as person:
        await person.sign_in(email("admin"))
        before = count_searches()
        await person.open(f"/accounts/{account}/insights")
        assert count_searches() == before + 2, "the period, and the one before it"


async def test_a_report_that_is_cut_has_no_totals(site: Served, account: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapchat reports the ad squads of one campaign at a time, so each campaign is a page."""
    snapchat = await connect(site, "snapchat")
    for name in ("First", "Second"):
        body = {"accountId": snapchat, "campaign": {**brief("snapchat"), "name": f"{name} campaign"}}
        await site.admin.execute((await site.admin.post("/create", body, 201))["id"])
    address = f"/accounts/{snapchat}/insights?level=adGroup"
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(address)).text
        assert "Total of" in text and "a part of its rows" not in text
        monkeypatch.setattr(levels, "MAX_PAGES", 1)
        text = (await person.open(address)).text
        assert "a part of its rows" in text
        assert "Total of" not in text and "%" not in text and "The totals of" not in text


async def test_totals_of_different_accounts_are_not_compared(site: Served, account: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open("/insights")).text
        assert "%" in text.partition("By currency")[2].partition("By account")[0].partition("USD")[2]
        await site.networks.fault("meta", "status", value=403, times=1)
        text = (await person.open("/insights")).text
        site.networks.state.faults.pending.clear()
    totals, _, accounts = text.partition("By currency")[2].partition("By account")
    assert "%" not in totals.partition("USD")[2] and "%" in accounts


async def test_accounts_whose_figures_may_change_are_marked(site: Served, account: str) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open("/insights")).text
    assert "provisional" in text.partition("By account")[2]


async def test_any_number_of_accounts_is_shown(site: Served, account: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of the endpoint takes a limited number of accounts."""
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        whole = (await person.open("/insights")).text
        for module in (overview, overview_page):
            monkeypatch.setattr(module, "MAX_OVERVIEW_ACCOUNTS", 2)
        assert (await person.open("/insights")).text == whole


async def test_accounts_that_were_not_read_in_time_are_read_again(
    site: Served, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise those that come last of a network with many accounts would be pending for ever."""
    monkeypatch.setattr(overview, "READ_SECONDS", 5.0)
    await site.networks.fault("meta", "latency", value=600_000, times=1)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open("/insights")).text
    assert "still preparing" not in text and "pending" not in text
