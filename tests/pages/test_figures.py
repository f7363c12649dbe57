"""Figures on the pages: money with the digits of its currency, and words that are true of the totals."""

from __future__ import annotations

import pytest

from adsunify_server.pages.figures import column, money
from tests.server.served import Served, connect

from .browsing import browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("25.6", "USD", "25.60"),
        ("58", "USD", "58.00"),
        ("0.123456", "USD", "0.123456"),
        ("1200", "JPY", "1200"),
        ("1.5", "KWD", "1.500"),
        ("-3.5", "USD", "-3.50"),
        ("58", None, "58"),
        ("58", "XXX", "58"),
    ],
)
async def test_money_has_the_digits_of_its_currency(amount: str, currency: str | None, shown: str) -> None:
    assert money(amount, currency) == shown


async def test_a_column_has_digits_alike() -> None:
    assert column(["25.6", None, "58", "0.125"], "USD") == ["25.600", "", "58.000", "0.125"]
    assert column([4, None, 12], None) == ["4", "", "12"]
    assert column(["4", "0.5"], None) == ["4.0", "0.5"]


async def test_insights_say_what_a_total_is(site: Served) -> None:
    account = site.accounts.get("meta") or await connect(site, "meta")
    found = await site.admin.get(f"/accounts/{account}/insights", startDate="2026-11-01", endDate="2026-11-16")
    assert len(found["rows"]) < 16 and found["totals"]["spend"] is not None  # a day without activity has no row
    assert any("." not in row["spend"] or len(row["spend"].partition(".")[2]) < 2 for row in found["rows"])
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        text = (await person.open(f"/accounts/{account}/insights?startDate=2026-11-01&endDate=2026-11-16")).text
    assert "where every day has a figure" not in text
    assert "A day without a row had no activity" in text
    assert "A total is left out where a day that is shown lacks the figure" in text
    for row in found["rows"]:
        whole, _, part = row["spend"].partition(".")
        assert f" {whole}.{part.ljust(2, '0')} " in text
