"""What each body is made of: members, types and enumerations."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from adsunify.sandbox.framework import (
    Check,
    Problem,
    choice,
    country_code,
    foreign,
    integer,
    listing,
    nullable,
    record,
    text,
    visible,
)
from adsunify.sandbox.networks.chatgpt.tables import BIDDING_TYPES, LEAST_BUDGET, PLATFORMS, STRATEGIES


def address(value: Any, where: str) -> str:
    """An http or https address of at most 2048 characters."""
    found: str = text(1, 2048)(value, where)
    parts = urlsplit(found)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", found):
        raise Problem("value", where, "must be an http or https address", value)
    return found


def image(value: Any, where: str) -> str:
    """The address of an image that can be fetched."""
    return address(foreign()(value, where), where)


NAME = visible(3, 1000)
FILE_ID = foreign(r"file_[A-Za-z0-9_-]+")
AUDIENCES = record(required={"ids": listing(foreign(), 1)})  # that a list is never empty is chosen
_TIME = integer(946684800, 4102444800)
_BUDGET = record(
    optional={"lifetime_spend_limit_micros": integer(LEAST_BUDGET), "daily_spend_limit_micros": integer(LEAST_BUDGET)},
    exactly_one=(("lifetime_spend_limit_micros", "daily_spend_limit_micros"),),
)
_PLACE = record(
    required={"id": foreign()},
    optional={"name": text(), "type": text(), "country_code": text(), "region_code": text()},
)
_PLACES = record(
    optional={"countries": listing(country_code), "include": listing(_PLACE, 0, 2500)},
)
# An empty array of platforms, or an empty object, is refused.
_TARGETING = record(
    optional={
        "locations": _PLACES,
        "platforms": nullable(record(required={"included": listing(choice(*PLATFORMS), 1)})),
        "custom_audiences": AUDIENCES,
        "excluded_custom_audiences": AUDIENCES,
        "excluded_locations": _PLACES,
    }
)
_LANDING_PAGE = nullable(record(required={"query_string_template": text(1, 2048)}))
_EVENT_SETTINGS = listing(foreign(r"ces_[A-Za-z0-9_-]+"))
_MULTIPLIER = record(
    required={"custom_audience_id": foreign(), "bid_multiplier_micros": integer(100_000, 10_000_000)},
)
_BIDDING = record(
    required={"billing_event_type": choice("impression", "click")},
    optional={
        "strategy": choice(*STRATEGIES),
        "max_bid_micros": integer(1),
        "custom_audience_bid_multipliers": listing(_MULTIPLIER),
    },
)
_HINTS = listing(visible(1, 1000), 0, 2000)
_CREATIVE = record(
    required={"type": choice("chat_card", "product_ad_template"), "title": visible(3, 50), "body": text(0, 100)},
    optional={"target_url": address, "file_id": FILE_ID, "price": text(0, 100)},
)
_BORN = choice("active", "paused")
_STATUS = choice("active", "paused", "archived")

CREATE: Mapping[str, Check] = {
    "campaign": record(
        required={"name": NAME, "status": _BORN, "budget": _BUDGET},
        optional={
            "description": text(0),
            "bidding_type": choice(*BIDDING_TYPES),
            "objective": choice("reach", "clicks", "conversions"),
            "billing_event_type": choice("impression", "click"),
            "start_time": _TIME,
            "end_time": _TIME,
            "targeting": nullable(_TARGETING),
            "conversion_event_setting_ids": _EVENT_SETTINGS,
            "mode": choice("business_agent", "product_feed"),
            "product_feed_id": text(),
            "landing_page_configuration": _LANDING_PAGE,
        },
    ),
    "ad_group": record(
        required={"campaign_id": text(), "name": NAME, "status": _BORN, "bidding_config": _BIDDING},
        optional={"description": text(0), "context_hints": _HINTS, "landing_page_configuration": _LANDING_PAGE},
    ),
    "ad": record(
        required={"ad_group_id": text(), "name": NAME, "status": _BORN, "creative": _CREATIVE},
        optional={"landing_page_configuration": _LANDING_PAGE},
    ),
}
# Only what is sent changes; null clears what stands as nullable here.
UPDATE: Mapping[str, Check] = {
    "campaign": record(
        optional={
            "name": NAME,
            "description": nullable(text(0)),
            "status": _STATUS,
            "budget": _BUDGET,
            "start_time": nullable(_TIME),
            "end_time": nullable(_TIME),
            "targeting": nullable(_TARGETING),
            "conversion_event_setting_ids": _EVENT_SETTINGS,
            "landing_page_configuration": _LANDING_PAGE,
        },
    ),
    "ad_group": record(
        optional={
            "name": NAME,
            "description": nullable(text(0)),
            "status": _STATUS,
            "context_hints": _HINTS,
            "bidding_config": _BIDDING,
            "landing_page_configuration": _LANDING_PAGE,
        },
    ),
    "ad": record(
        optional={"name": NAME, "status": _STATUS, "creative": _CREATIVE, "landing_page_configuration": _LANDING_PAGE},
    ),
}
UPLOAD = record(required={"image_url": image}, optional={"purpose": choice("account_favicon")})
IDEMPOTENCY_KEY = visible(1, 255)
