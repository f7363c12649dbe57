"""Figures on the pages: money with the digits of its currency, and words that are true of the totals."""

from __future__ import annotations

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify_server.pages.numbers import format_column, format_money
from adsunify_server.pages.wording import list_account_facts
from tests.server.served import Served, connect

from .browsing import browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("25.6", "USD", "25.60"),
        ("58", "USD", "58.00"),
        ("0.123456", "USD", "0.123456"),
        ("1200", "JPY", "1,200"),
        ("1.5", "KWD", "1.500"),
        ("-3.5", "USD", "-3.50"),
        ("58", None, "58"),
        ("58", "XXX", "58"),
    ],
)
async def test_money_has_the_digits_of_its_currency(amount: str, currency: str | None, text: str) -> None:
    assert format_money(amount, currency) == text


async def test_a_column_has_digits_alike() -> None:
    assert format_column(["25.6", None, "58", "0.125"], "USD") == ["25.600", "", "58.000", "0.125"]
    assert format_column([4, None, 12], None) == ["4", "", "12"]
    assert format_column(["4", "0.5"], None) == ["4.0", "0.5"]


async def test_insights_say_what_a_total_is(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    report = await site.admin.get(f"/accounts/{account}/insights", startDate="2026-11-01", endDate="2026-11-16")
    assert len(report["rows"]) < 16 and report["totals"]["spend"] is not None  # a day without activity has no row
    assert any("." not in row["spend"] or len(row["spend"].partition(".")[2]) < 2 for row in report["rows"])
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{account}/insights?startDate=2026-11-01&endDate=2026-11-16")).text
    assert "where every day has a figure" not in text
    assert "The network reports no activity for days without a row" in text
    assert "A total is empty where a day lacks the figure" in text
    for row in report["rows"]:
        whole, _, part = row["spend"].partition(".")
        assert f" {whole}.{part.ljust(2, '0')} " in text


async def test_every_fact_of_an_account_has_words() -> None:
    """But the number of Meta's status, which is shown as its word."""
    extras = [(network, extra) for network in ADAPTER_PACKAGES for extra in get_adapter(network).network.extras]
    assert [(network, extra.name) for network, extra in extras if not extra.label] == [("meta", "accountStatus")]


@pytest.mark.parametrize(
    ("network", "currency", "extras", "facts"),
    [
        ("meta", "USD", {"minDailyBudget": "100", "accountStatus": "1"}, [("Least daily budget", "1.00 USD")]),
        ("meta", "JPY", {"minDailyBudget": "80"}, [("Least daily budget", "80 JPY")]),
        ("meta", "USD", {"minDailyBudget": "many"}, [("Least daily budget", "many")]),
        ("meta", None, {"minDailyBudget": "100"}, [("Least daily budget", "100")]),
        ("google", "USD", {"billableUnitMicros": "10000"}, [("Amounts are multiples of", "0.01 USD")]),
        ("google", "USD", {"testAccount": "true"}, [("Test account, which never serves", "yes")]),
        ("pinterest", "USD", {"createdTime": "1600000005"}, [("Opened", "13 Sep 2020")]),
        ("apple", "USD", {"paymentModel": "PAYG"}, [("Payment", "as it is spent")]),
        ("reddit", "USD", {"suspensionReason": ""}, []),
    ],
)
async def test_facts_of_accounts_can_be_read(
    network: str, currency: str | None, extras: dict[str, str], facts: list[tuple[str, str]]
) -> None:
    account = {"network": network, "nativeId": "1", "currency": currency, "timezone": "UTC", "extras": extras}
    assert list_account_facts(account) == facts


async def test_an_account_is_told_in_words(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{account}")).text
    assert "Least daily budget 1.00 USD" in text and "account status" not in text.lower()


async def test_a_key_says_whose_it_is(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open("/keys")).text
    assert f"{email('member')} read and write" in text and "only the owner can revoke it" in text
