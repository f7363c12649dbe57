"""The members of the objects and of their updates."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import (
    Check,
    Problem,
    anything,
    boolean,
    choice,
    foreign,
    integer,
    listing,
    record,
    text,
    visible,
)
from adsunify.sandbox.networks.apple.answers import instant
from adsunify.sandbox.networks.apple.tables import (
    APP,
    BILLING_EVENTS,
    BRAND,
    CREATIVE_TYPES,
    DESTINATIONS,
    GOALS,
    LONGEST_KEYWORD,
    LONGEST_NAME,
    MATCHES,
    PRICING_MODELS,
    STATUSES,
    STRATEGIES,
)

_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,2})?")
_INT64 = integer(1, 2**63 - 1)
APP_ID = foreign("[1-9][0-9]{0,18}")


def _amount(value: Any, where: str) -> str:
    """A decimal string in major units without a leading zero, of at most two places."""
    if not isinstance(value, str) or not _AMOUNT.fullmatch(value) or Decimal(value) == 0:
        raise Problem("value", where, "must be a positive decimal string with at most two places")
    return value


MONEY = record(required={"amount": _amount}, optional={"currency": text(3, 3, "[A-Z]{3}")})
BIDDING = record(
    required={"bidStrategyType": choice(*STRATEGIES), "bidStrategyGoal": choice(*GOALS)}, optional={"bid": MONEY}
)
_WORDS = listing(text(), 1)


def dimension(item: Check, *, excludes: bool = True) -> Check:
    """A targeting dimension: strings to include and, mostly, to exclude."""
    optional = {"include": listing(item), **({"exclude": listing(item)} if excludes else {})}
    return record(optional=optional)


_COUNTRY = text(2, 2, "[A-Z]{2}")
_DIGITS = text(1, 19, "[0-9]+")
_AGE = text(2, 2, "1[89]|[2-5][0-9]|6[0-4]")
CAMPAIGN_TARGETING = record(
    optional={
        "supplySource": dimension(text()),
        "supplyPlacement": dimension(text()),
        "countryOrRegion": dimension(_COUNTRY),
    }
)
MAPS_ONLY = ("postalCode", "radius", "locationGroup")
GROUP_TARGETING = record(
    optional={
        "country": dimension(_COUNTRY),
        "adminArea": dimension(_DIGITS),
        "locality": dimension(_DIGITS),
        "deviceClass": dimension(choice("IPHONE", "IPAD")),
        "minAge": dimension(_AGE),
        "maxAge": dimension(_AGE),
        "gender": dimension(choice("M", "F")),
        "appCategory": dimension(_DIGITS),
        "appDownloader": dimension(_DIGITS),
        "daypart": dimension(text(1, 3, r"\d|[1-9]\d|1[0-5]\d|16[0-7]"), excludes=False),
        **dict.fromkeys(MAPS_ONLY, anything),
    }
)
_NAME = visible(1, LONGEST_NAME)
_STATUS = choice(*STATUSES)
_TIMES: Mapping[str, Check] = {"startTime": instant, "endTime": instant}

# What may change, then what is set at creation: kind -> required and optional members.
_CHANGING: Mapping[str, Mapping[str, Check]] = {
    "campaign": {
        "name": _NAME,
        "status": _STATUS,
        **_TIMES,
        "dailyBudget": record(required={"value": MONEY}),
        "sharedBudgets": listing(record(required={"budgetId": _INT64}), 1),
        "targeting": CAMPAIGN_TARGETING,
        "bidStrategy": BIDDING,
        "invoiceDetail": anything,
        "regulationResponses": listing(record(required={"regulationType": text(), "responseValue": text()})),
    },
    "adGroup": {
        "name": _NAME,
        "status": _STATUS,
        **_TIMES,
        "automatedKeywordsOptIn": boolean,
        "bidStrategy": BIDDING,
        "targeting": GROUP_TARGETING,
    },
    "ad": {"name": _NAME, "status": _STATUS},
    "keyword": {"bid": MONEY, "status": _STATUS},
    "creative": {"name": _NAME},
}
LOCKED: Mapping[str, Mapping[str, Check]] = {
    "campaign": {
        "adAccountId": _INT64,
        "promotedObjectType": choice(APP, BRAND),
        "promotedObjectId": APP_ID,
        "billingEvent": choice(*BILLING_EVENTS),
    },
    "adGroup": {"campaignId": _INT64, "pricingModel": choice(*PRICING_MODELS), "automatedKeywordsRequired": boolean},
    "ad": {"adGroupId": _INT64, "creativeId": _INT64},
    "keyword": {
        "adGroupId": _INT64,
        "text": text(1, LONGEST_KEYWORD),
        "matchType": choice(*MATCHES[APP], *MATCHES[BRAND]),
    },
    "creative": {
        "creativeType": choice(*CREATIVE_TYPES),
        "creativeSpec": anything,
        "destination": record(
            required={
                "destinationType": choice(*DESTINATIONS),
                "parameters": record(
                    required={"adamId": APP_ID},
                    optional={"productPageId": foreign("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")},
                ),
            }
        ),
    },
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "campaign": ("name", "dailyBudget", "targeting", "adAccountId", "billingEvent", "promotedObjectId",
                 "promotedObjectType", "bidStrategy"),
    "adGroup": ("name", "campaignId", "pricingModel"),
    "ad": ("name", "adGroupId", "creativeId"),
    "keyword": ("adGroupId", "text"),
    "creative": ("name", "creativeType", "destination"),
}  # fmt: skip


def _create(kind: str) -> Check:
    every = {**_CHANGING[kind], **LOCKED[kind]}
    required = {name: every.pop(name) for name in _REQUIRED[kind]}
    return record(required=required, optional=every)


CREATE: Mapping[str, Check] = {kind: _create(kind) for kind in _CHANGING}
UPDATE: Mapping[str, Check] = {kind: record(optional=members) for kind, members in _CHANGING.items()}
