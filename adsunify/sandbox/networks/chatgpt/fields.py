"""The bodies: members, types and enumerations."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from adsunify.sandbox.checks import (
    Check,
    array,
    choice,
    country_code,
    external_id,
    integer,
    nullable,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.networks.chatgpt.tables import BID_STRATEGIES, BIDDING_TYPES, MIN_BUDGET, PLATFORMS
from adsunify.sandbox.parsing import InvalidRequest


def check_url(value: Any, where: str) -> str:
    """An http or https address of at most 2048 characters."""
    url: str = text(1, 2048)(value, where)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", url):
        raise InvalidRequest("value", where, "must be an http or https address", value)
    return url


def check_image_url(value: Any, where: str) -> str:
    """The address of an image that can be fetched."""
    return check_url(external_id()(value, where), where)


NAME_CHECK = visible_text(3, 1000)
FILE_ID_CHECK = external_id(r"file_[A-Za-z0-9_-]+")
AUDIENCES_CHECK = record(required={"ids": array(external_id(), 1)})  # our choice: a list is never empty
_TIME_CHECK = integer(946684800, 4102444800)
_BUDGET_CHECK = record(
    optional={"lifetime_spend_limit_micros": integer(MIN_BUDGET), "daily_spend_limit_micros": integer(MIN_BUDGET)},
    exactly_one=(("lifetime_spend_limit_micros", "daily_spend_limit_micros"),),
)
_PLACE_CHECK = record(
    required={"id": external_id()},
    optional={"name": text(), "type": text(), "country_code": text(), "region_code": text()},
)
_PLACES_CHECK = record(optional={"countries": array(country_code), "include": array(_PLACE_CHECK, 0, 2500)})
# An empty array of platforms, or an empty object, is refused.
_TARGETING_CHECK = record(
    optional={
        "locations": _PLACES_CHECK,
        "platforms": nullable(record(required={"included": array(choice(*PLATFORMS), 1)})),
        "custom_audiences": AUDIENCES_CHECK,
        "excluded_custom_audiences": AUDIENCES_CHECK,
        "excluded_locations": _PLACES_CHECK,
    }
)
_LANDING_PAGE_CHECK = nullable(record(required={"query_string_template": text(1, 2048)}))
_EVENT_SETTINGS_CHECK = array(external_id(r"ces_[A-Za-z0-9_-]+"))
_MULTIPLIER_CHECK = record(
    required={"custom_audience_id": external_id(), "bid_multiplier_micros": integer(100_000, 10_000_000)}
)
_BIDDING_CHECK = record(
    required={"billing_event_type": choice("impression", "click")},
    optional={
        "strategy": choice(*BID_STRATEGIES),
        "max_bid_micros": integer(1),
        "custom_audience_bid_multipliers": array(_MULTIPLIER_CHECK),
    },
)
_HINTS_CHECK = array(visible_text(1, 1000), 0, 2000)
_CREATIVE_CHECK = record(
    required={"type": choice("chat_card", "product_ad_template"), "title": visible_text(3, 50), "body": text(0, 100)},
    optional={"target_url": check_url, "file_id": FILE_ID_CHECK, "price": text(0, 100)},
)
_CREATION_STATUS_CHECK = choice("active", "paused")
_STATUS_CHECK = choice("active", "paused", "archived")

CREATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        required={"name": NAME_CHECK, "status": _CREATION_STATUS_CHECK, "budget": _BUDGET_CHECK},
        optional={
            "description": text(0),
            "bidding_type": choice(*BIDDING_TYPES),
            "objective": choice("reach", "clicks", "conversions"),
            "billing_event_type": choice("impression", "click"),
            "start_time": _TIME_CHECK,
            "end_time": _TIME_CHECK,
            "targeting": nullable(_TARGETING_CHECK),
            "conversion_event_setting_ids": _EVENT_SETTINGS_CHECK,
            "mode": choice("business_agent", "product_feed"),
            "product_feed_id": text(),
            "landing_page_configuration": _LANDING_PAGE_CHECK,
        },
    ),
    "ad_group": record(
        required={
            "campaign_id": text(),
            "name": NAME_CHECK,
            "status": _CREATION_STATUS_CHECK,
            "bidding_config": _BIDDING_CHECK,
        },
        optional={
            "description": text(0),
            "context_hints": _HINTS_CHECK,
            "landing_page_configuration": _LANDING_PAGE_CHECK,
        },
    ),
    "ad": record(
        required={
            "ad_group_id": text(),
            "name": NAME_CHECK,
            "status": _CREATION_STATUS_CHECK,
            "creative": _CREATIVE_CHECK,
        },
        optional={"landing_page_configuration": _LANDING_PAGE_CHECK},
    ),
}
# Only members that are sent change; null clears the nullable ones.
UPDATE_CHECKS: Mapping[str, Check] = {
    "campaign": record(
        optional={
            "name": NAME_CHECK,
            "description": nullable(text(0)),
            "status": _STATUS_CHECK,
            "budget": _BUDGET_CHECK,
            "start_time": nullable(_TIME_CHECK),
            "end_time": nullable(_TIME_CHECK),
            "targeting": nullable(_TARGETING_CHECK),
            "conversion_event_setting_ids": _EVENT_SETTINGS_CHECK,
            "landing_page_configuration": _LANDING_PAGE_CHECK,
        }
    ),
    "ad_group": record(
        optional={
            "name": NAME_CHECK,
            "description": nullable(text(0)),
            "status": _STATUS_CHECK,
            "context_hints": _HINTS_CHECK,
            "bidding_config": _BIDDING_CHECK,
            "landing_page_configuration": _LANDING_PAGE_CHECK,
        }
    ),
    "ad": record(
        optional={
            "name": NAME_CHECK,
            "status": _STATUS_CHECK,
            "creative": _CREATIVE_CHECK,
            "landing_page_configuration": _LANDING_PAGE_CHECK,
        }
    ),
}
UPLOAD_CHECK = record(required={"image_url": check_image_url}, optional={"purpose": choice("account_favicon")})
IDEMPOTENCY_KEY_CHECK = visible_text(1, 255)
