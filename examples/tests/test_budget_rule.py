"""How a user of adsunify tests a rule: simulated networks, faults, the log of native writes, the clock.

Run it with ``pytest``. The fixtures ``ads_sandbox`` and ``ads`` come from the plugin of adsunify.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

import pytest
from budget_rule import UnknownOutcome, lower_budgets

from adsunify import Account, Ads, Budget, CampaignBrief, Creative, Platform, Schedule, Targeting
from adsunify.testing import FaultName, SimulatedNetworks

LIMIT = Decimal(1)


@pytest.fixture
def account(ads_sandbox: SimulatedNetworks, ads: Ads) -> Account:
    """An account with an ad group that has been active since yesterday."""
    account = ads_sandbox.account("meta")
    brief = CampaignBrief(
        name="Garden chairs",
        goal="traffic",
        budget=Budget(amount="20.50", currency="USD", period="daily"),
        schedule=Schedule(start_at=ads_sandbox.clock.now().isoformat(timespec="seconds")),
        targeting=Targeting(countries=("US",)),
        creative=Creative(
            headline="Built for rain",
            body="Folding chairs that stay outside.",
            url="https://shop.example/chairs",
            image_url="https://shop.example/chairs.jpg",
        ),
        platform=Platform(page_id="9009"),
    )
    created = ads.operations.run(ads.campaigns.create(account, brief), confirmed=True)
    ads.operations.run(ads.campaigns.activate(account, created), confirmed=True)
    ads_sandbox.clock.advance(days=1)
    return account


def today(networks: SimulatedNetworks) -> date:
    return networks.clock.now().date()


def list_budgets(networks: SimulatedNetworks) -> list[str]:
    """Return the budgets in the writes since the campaign was created, in the network's unit (cents)."""
    bodies: list[Mapping[str, str]] = [write.body for write in networks.writes("meta")]
    return [body["daily_budget"] for body in bodies if "daily_budget" in body]


def test_the_budget_is_lowered_once_a_day(ads: Ads, ads_sandbox: SimulatedNetworks, account: Account) -> None:
    [ad_group] = lower_budgets(ads, account, today(ads_sandbox), LIMIT, percent=20)
    assert list_budgets(ads_sandbox) == ["2050", "1640"]
    assert lower_budgets(ads, account, today(ads_sandbox), LIMIT, percent=20) == [ad_group]
    assert list_budgets(ads_sandbox) == ["2050", "1640"]  # the second run of the day wrote nothing
    ads_sandbox.clock.advance(days=1)
    lower_budgets(ads, account, today(ads_sandbox), LIMIT, percent=20)
    assert list_budgets(ads_sandbox) == ["2050", "1640", "1312"]


def test_nothing_is_changed_below_the_limit(ads: Ads, ads_sandbox: SimulatedNetworks, account: Account) -> None:
    assert lower_budgets(ads, account, today(ads_sandbox), Decimal(1_000_000), percent=20) == []
    assert list_budgets(ads_sandbox) == ["2050"]


def test_a_limit_of_the_network_is_waited_for(ads: Ads, ads_sandbox: SimulatedNetworks, account: Account) -> None:
    ads_sandbox.fail("meta", "POST", status=429, retry_after=120)
    before = ads_sandbox.clock.now()
    assert lower_budgets(ads, account, today(ads_sandbox), LIMIT, percent=20)
    assert list_budgets(ads_sandbox) == ["2050", "1640"]
    assert (ads_sandbox.clock.now() - before).total_seconds() > 100  # only the clock of the kit advances


def test_a_refused_change_is_left_as_it_is(ads: Ads, ads_sandbox: SimulatedNetworks, account: Account) -> None:
    ads_sandbox.fail("meta", "POST", status=400)
    assert lower_budgets(ads, account, today(ads_sandbox), LIMIT, percent=20) == []
    assert list_budgets(ads_sandbox) == ["2050"]


@pytest.mark.parametrize(("fault", "budgets"), [("reset_before", ["2050"]), ("reset_after", ["2050", "1640"])])
def test_a_lost_response_is_reported_and_never_repeated(
    fault: FaultName, budgets: list[str], ads: Ads, ads_sandbox: SimulatedNetworks, account: Account
) -> None:
    ads_sandbox.fail("meta", "POST", fault=fault)
    for _ in range(2):
        with pytest.raises(UnknownOutcome, match="/review/"):
            lower_budgets(ads, account, today(ads_sandbox), LIMIT, percent=20)
        assert list_budgets(ads_sandbox) == budgets
