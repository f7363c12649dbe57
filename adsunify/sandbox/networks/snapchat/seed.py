"""The entities of a fresh world: on every account creatives of the relevant types, media, a campaign that runs."""

import uuid
from typing import Any

from adsunify.sandbox.networks.snapchat.tables import AD_TYPE_BY_CREATIVE_TYPE, MICROS
from adsunify.sandbox.networks.snapchat.targeting import add_defaults
from adsunify.sandbox.world import Account, World

# The first group of a seeded creative's id; the rest of it is the account's. Then type, review and packaging status.
SEED_CREATIVES: tuple[tuple[str, str, str, str], ...] = (
    ("44440001", "SNAP_AD", "APPROVED", "SUCCESS"),
    ("44440002", "WEB_VIEW", "APPROVED", "SUCCESS"),
    ("44440003", "COMPOSITE", "APPROVED", "SUCCESS"),
    ("44440004", "APP_INSTALL", "APPROVED", "SUCCESS"),
    ("44440005", "LENS", "APPROVED", "SUCCESS"),
    ("44440006", "PREVIEW", "APPROVED", "SUCCESS"),
    ("44440007", "SNAP_AD", "REJECTED", "SUCCESS"),
    ("44440008", "SNAP_AD", "PENDING", "PENDING"),
)
_COUNTRIES = {"USD": "us", "JPY": "jp", "EUR": "de", "GBP": "gb"}
SEED_START = "2024-02-01T08:00:00.000Z"


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        for first, kind, review, packaging in SEED_CREATIVES:
            creative = {
                "ad_account_id": account.id,
                "name": f"{kind} creative",
                "type": kind,
                "headline": "Tea and more",
                "brand_name": "Demo Tea",
                "shareable": True,
                "_review": review,
                "_packaging": packaging,
            }
            world.create("creative", account.id, creative, id=f"{first}{account.id[8:]}")
        for first, kind, status in (("55550001", "VIDEO", "READY"), ("55550002", "IMAGE", "PENDING_UPLOAD")):
            media = {"ad_account_id": account.id, "name": f"{kind} file", "type": kind, "media_status": status}
            world.create("media", account.id, media, id=f"{first}{account.id[8:]}")
        _seed_evergreen_campaign(world, account)


def _seed_evergreen_campaign(world: World, account: Account) -> None:
    """A campaign that has run on every day since 2024, and a paused one of Smart Budgets without children."""
    unit = MICROS * (100 if account.currency == "JPY" else 1)
    campaign = {
        "ad_account_id": account.id,
        "name": "Evergreen",
        "status": "ACTIVE",
        "start_time": SEED_START,
        "buy_model": "AUCTION",
        "objective_v2_properties": {"objective_v2_type": "AWARENESS_AND_ENGAGEMENT"},
        "_evergreen": True,
    }
    above = world.create("campaign", account.id, campaign, id=_make_id(account, "campaign"))
    squad: dict[str, Any] = {
        "campaign_id": above.id,
        "name": "Evergreen",
        "type": "SNAP_ADS",
        "status": "ACTIVE",
        "placement_v2": {"config": "AUTOMATIC"},
        "billing_event": "IMPRESSION",
        "optimization_goal": "IMPRESSIONS",
        "bid_strategy": "AUTO_BID",
        "daily_budget_micro": 20 * unit,
        "delivery_constraint": "DAILY_BUDGET",
        "pacing_type": "STANDARD",
        "start_time": SEED_START,
        "targeting": add_defaults({"geos": [{"country_code": _COUNTRIES[account.currency]}]}),
        "child_ad_type": AD_TYPE_BY_CREATIVE_TYPE["WEB_VIEW"],
    }
    group = world.create("adsquad", account.id, squad, parent=above.id, id=_make_id(account, "adsquad"))
    ad = {
        "ad_squad_id": group.id,
        "creative_id": f"{SEED_CREATIVES[1][0]}{account.id[8:]}",
        "name": "Evergreen",
        "type": AD_TYPE_BY_CREATIVE_TYPE["WEB_VIEW"],
        "status": "ACTIVE",
    }
    world.create("ad", account.id, ad, parent=group.id, id=_make_id(account, "ad"))
    smart = {
        **campaign,
        "name": "Smart budget",
        "status": "PAUSED",
        "daily_budget_micro": 50 * unit,
        "pacing_level": "CAMPAIGN",
        "shared_properties": {"bid_strategy": "AUTO_BID"},
    }
    del smart["_evergreen"]
    world.create("campaign", account.id, smart, id=_make_id(account, "smart"))


def _make_id(account: Account, kind: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"evergreen/{kind}/{account.id}"))
