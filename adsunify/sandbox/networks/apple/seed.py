"""The entities of a fresh world: creatives of the relevant types, a campaign that runs, and a deleted one."""

from datetime import timedelta
from typing import Any

from adsunify.sandbox.networks.apple.answers import INSTANT
from adsunify.sandbox.networks.apple.creatives import make_destination
from adsunify.sandbox.networks.apple.tables import CUSTOM_PRODUCT_PAGE, DEMO_APP
from adsunify.sandbox.world import Account, World

# The last digits of a seeded creative's id, its type, its state, and the app it promotes.
SEED_CREATIVES: tuple[tuple[int, str, str, str], ...] = (
    (1, CUSTOM_PRODUCT_PAGE, "VALID", DEMO_APP),
    (2, CUSTOM_PRODUCT_PAGE, "PENDING", DEMO_APP),
    (3, CUSTOM_PRODUCT_PAGE, "INVALID", DEMO_APP),
    (4, "DEFAULT_PRODUCT_PAGE", "VALID", DEMO_APP),
    (5, CUSTOM_PRODUCT_PAGE, "VALID", "1440000002"),
)
# 880001 is the creative of the documented example, and belongs to its ad account.
_FIRST_CREATIVE_IDS = {"7001": 880000, "7002": 880100, "7003": 880200}
_COUNTRIES = {"USD": "US", "JPY": "JP", "EUR": "DE"}
_SEED_START = "2024-02-01T08:00:00.000"
_DELETED_AGE = timedelta(days=10)


def seed_world(world: World) -> None:
    """Fill a fresh world with the entities of the accounts that can run the unified format."""
    for account in world.accounts.values():
        if account.id in _FIRST_CREATIVE_IDS:
            first = _FIRST_CREATIVE_IDS[account.id]
            for last, kind, state, app in SEED_CREATIVES:
                creative = {
                    "name": f"{kind} {last}",
                    "creativeType": kind,
                    "creativeSpec": {},
                    "systemStatus": state,
                    "destination": make_destination(app, str(last)),
                    "eligibility": {"status": "ELIGIBLE"},
                    "_seeded": True,
                }
                world.create("creative", account.id, creative, id=str(first + last))
            _seed_campaign(world, account, 1, "Evergreen", first + 1, {})
            deletion = {"_deleted": INSTANT.format(world.now - _DELETED_AGE)}
            _seed_campaign(world, account, 2, "Last season", first + 1, deletion)


def _seed_campaign(world: World, account: Account, number: int, name: str, creative: int, more: dict[str, Any]) -> None:
    """A campaign with an ad group, two keywords and an ad that has run on every day since 2024."""
    scale = 100 if account.currency == "JPY" else 1
    bidding: dict[str, Any] = {"bidStrategyType": "MANUAL_CPT", "bidStrategyGoal": "TAP"}
    bid = {"amount": str(2 * scale), "currency": account.currency}
    campaign_id, group_id = f"{account.id}{number}1", f"{account.id}{number}2"
    campaign = {
        "name": name,
        "adAccountId": int(account.id),
        "promotedObjectType": "APPSTORE_APP",
        "promotedObjectId": DEMO_APP,
        "billingEvent": "TAPS",
        "status": "ENABLED",
        "startTime": _SEED_START,
        "dailyBudget": {"value": {"amount": str(250 * scale), "currency": account.currency}},
        "targeting": {
            "supplySource": {"include": ["APPSTORE"]},
            "supplyPlacement": {"include": ["APPSTORE_SEARCH_RESULTS"]},
            "countryOrRegion": {"include": [_COUNTRIES[account.currency]]},
        },
        "bidStrategy": bidding,
        **more,
    }
    world.create("campaign", account.id, campaign, id=campaign_id)
    group = {
        "name": name,
        "campaignId": int(campaign_id),
        "pricingModel": "CPT",
        "status": "ENABLED",
        "startTime": _SEED_START,
        "automatedKeywordsOptIn": False,
        "automatedKeywordsRequired": False,
        "bidStrategy": {**bidding, "bid": bid},
        **more,
    }
    world.create("adGroup", account.id, group, parent=campaign_id, id=group_id)
    above = {"campaignId": int(campaign_id), "adGroupId": int(group_id), "status": "ENABLED"}
    for last, text in ((3, "timer"), (4, "yoga")):
        keyword = {**above, "text": text, "matchType": "BROAD", "bid": bid, **more}
        world.create("keyword", account.id, keyword, parent=group_id, id=f"{account.id}{number}{last}")
    ad = {**above, "name": name, "creativeId": creative, "_approved": True, **more}
    world.create("ad", account.id, ad, parent=group_id, id=f"{account.id}{number}5")
