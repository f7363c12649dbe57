"""The members of the objects and of their updates."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    choice,
    external_id,
    integer,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.networks.apple import tables
from adsunify.sandbox.networks.apple.answers import INSTANT
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, split_words

_AMOUNT_PATTERN = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,2})?")
_INT64_CHECK = integer(1, 2**63 - 1)
APP_ID_CHECK = external_id("[1-9][0-9]{0,18}")


def _check_amount(value: Any, where: str) -> str:
    """A decimal string in major units without a leading zero, of at most two places."""
    if not isinstance(value, str) or not _AMOUNT_PATTERN.fullmatch(value) or Decimal(value) == 0:
        raise InvalidRequest("value", where, "must be a positive decimal string with at most two places")
    return value


MONEY_CHECK = record(required={"amount": _check_amount}, optional={"currency": text(3, 3, "[A-Z]{3}")})
BIDDING_CHECK = record(
    required={"bidStrategyType": choice(*tables.BID_STRATEGIES), "bidStrategyGoal": choice(*tables.BID_GOALS)},
    optional={"bid": MONEY_CHECK},
)
_WORDS_CHECK = array(text(), 1)


def targeting_dimension(item: Check, *, excludes: bool = True) -> Check:
    """A targeting dimension: strings to include and, for most dimensions, to exclude."""
    optional = {"include": array(item), **({"exclude": array(item)} if excludes else {})}
    return record(optional=optional)


_COUNTRY_CHECK = text(2, 2, "[A-Z]{2}")
_DIGITS_CHECK = text(1, 19, "[0-9]+")
_AGE_CHECK = text(2, 2, "1[89]|[2-5][0-9]|6[0-4]")
CAMPAIGN_TARGETING_CHECK = record(
    optional={
        "supplySource": targeting_dimension(text()),
        "supplyPlacement": targeting_dimension(text()),
        "countryOrRegion": targeting_dimension(_COUNTRY_CHECK),
    }
)
MAPS_ONLY_DIMENSIONS = ("postalCode", "radius", "locationGroup")
GROUP_TARGETING_CHECK = record(
    optional={
        "country": targeting_dimension(_COUNTRY_CHECK),
        **fill_keys(targeting_dimension(_DIGITS_CHECK), "adminArea locality appCategory appDownloader"),
        "deviceClass": targeting_dimension(choice("IPHONE", "IPAD")),
        "minAge": targeting_dimension(_AGE_CHECK),
        "maxAge": targeting_dimension(_AGE_CHECK),
        "gender": targeting_dimension(choice("M", "F")),
        "daypart": targeting_dimension(text(1, 3, r"\d|[1-9]\d|1[0-5]\d|16[0-7]"), excludes=False),
        **dict.fromkeys(MAPS_ONLY_DIMENSIONS, any_value),
    }
)
_NAME_CHECK = visible_text(1, tables.MAX_NAME_LENGTH)
_STATUS_CHECK = choice(*tables.STATUSES)
_TIME_MEMBERS: Mapping[str, Check] = {"startTime": INSTANT.check, "endTime": INSTANT.check}

# The members by kind: first the members that may change, then the required and optional members of creation.
_CHANGEABLE_MEMBERS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {
        "name": _NAME_CHECK,
        "status": _STATUS_CHECK,
        **_TIME_MEMBERS,
        "dailyBudget": record(required={"value": MONEY_CHECK}),
        "sharedBudgets": array(record(required={"budgetId": _INT64_CHECK}), 1),
        "targeting": CAMPAIGN_TARGETING_CHECK,
        "bidStrategy": BIDDING_CHECK,
        "invoiceDetail": any_value,
        "regulationResponses": array(record(required={"regulationType": text(), "responseValue": text()})),
    },
    "adGroup": {
        "name": _NAME_CHECK,
        "status": _STATUS_CHECK,
        **_TIME_MEMBERS,
        "automatedKeywordsOptIn": boolean,
        "bidStrategy": BIDDING_CHECK,
        "targeting": GROUP_TARGETING_CHECK,
    },
    "ad": {"name": _NAME_CHECK, "status": _STATUS_CHECK},
    "keyword": {"bid": MONEY_CHECK, "status": _STATUS_CHECK},
    "creative": {"name": _NAME_CHECK},
}
IMMUTABLE_MEMBERS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {
        "adAccountId": _INT64_CHECK,
        "promotedObjectType": choice(tables.APP_PROMOTION, tables.BRAND_PROMOTION),
        "promotedObjectId": APP_ID_CHECK,
        "billingEvent": choice(*tables.BILLING_EVENTS),
    },
    "adGroup": {
        "campaignId": _INT64_CHECK,
        "pricingModel": choice(*tables.PRICING_MODELS),
        "automatedKeywordsRequired": boolean,
    },
    "ad": {"adGroupId": _INT64_CHECK, "creativeId": _INT64_CHECK},
    "keyword": {
        "adGroupId": _INT64_CHECK,
        "text": text(1, tables.MAX_KEYWORD_LENGTH),
        "matchType": choice(*tables.MATCH_TYPES[tables.APP_PROMOTION], *tables.MATCH_TYPES[tables.BRAND_PROMOTION]),
    },
    "creative": {
        "creativeType": choice(*tables.CREATIVE_TYPES),
        "creativeSpec": any_value,
        "destination": record(
            required={
                "destinationType": choice(*tables.DESTINATIONS),
                "parameters": record(
                    required={"adamId": APP_ID_CHECK},
                    optional={"productPageId": external_id("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")},
                ),
            }
        ),
    },
}
_REQUIRED_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": split_words("""
        name dailyBudget targeting adAccountId billingEvent promotedObjectId promotedObjectType bidStrategy
    """),
    "adGroup": ("name", "campaignId", "pricingModel"),
    "ad": ("name", "adGroupId", "creativeId"),
    "keyword": ("adGroupId", "text"),
    "creative": ("name", "creativeType", "destination"),
}


def _create_check(kind: str) -> Check:
    every = {**_CHANGEABLE_MEMBERS[kind], **IMMUTABLE_MEMBERS[kind]}
    required = {name: every.pop(name) for name in _REQUIRED_MEMBERS[kind]}
    return record(required=required, optional=every)


CREATE_CHECKS: Mapping[str, Check] = {kind: _create_check(kind) for kind in _CHANGEABLE_MEMBERS}
UPDATE_CHECKS: Mapping[str, Check] = {kind: record(optional=members) for kind, members in _CHANGEABLE_MEMBERS.items()}
