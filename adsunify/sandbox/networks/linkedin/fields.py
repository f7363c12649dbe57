"""The members of the bodies and their types. Rules between members: `rules`.

Bodies with members that only the network writes (`id`, `test`, `version`, `changeAuditStamps`, `servingStatuses`), with
the old `targeting` or with unknown members are refused.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, any_value, array, boolean, choice, external_id, integer, record, text
from adsunify.sandbox.networks.linkedin import tables
from adsunify.sandbox.parsing import InvalidRequest

ACCOUNT_PREFIX, GROUP_PREFIX, CAMPAIGN_PREFIX, CREATIVE_PREFIX = (
    f"urn:li:sponsored{word}:" for word in ("Account", "CampaignGroup", "Campaign", "Creative")
)
URN_PREFIXES: Mapping[str, str] = {
    "campaignGroup": GROUP_PREFIX,
    "campaign": CAMPAIGN_PREFIX,
    "creative": CREATIVE_PREFIX,
}


def urn(prefix: str) -> Check:
    """A URN of this prefix and digits."""
    return text(pattern=re.escape(prefix) + r"\d{1,19}")


def get_urn_number(value: str) -> str:
    """The number at the end of a URN (or the number itself)."""
    return value.rpartition(":")[2]


ORGANIZATION_CHECK = external_id(r"urn:li:organization:\d+")
POST_ID_CHECK = external_id(r"urn:li:(share|ugcPost):\d+")
# a decimal in major units: no exponent, no thousands separator, no leading zeros
_MONEY_CHECK = record({"amount": text(1, 20, r"(0|[1-9]\d*)(\.\d+)?"), "currencyCode": text(3, 3, "[A-Z]{3}")})
_MILLISECONDS_CHECK = integer(
    1_000_000_000_000, 9_999_999_999_999
)  # our choice: a value in seconds is refused as too early


def _name_check(characters: int, size: int) -> Check:
    """A name with limits on its characters and UTF-8 bytes."""

    def check(value: Any, where: str) -> str:
        name = text()(value, where)
        if not name.strip():
            raise InvalidRequest("INVALID_VALUE_BLANK_FIELD", where, "must not be blank", value)
        if len(name) > characters or len(name.encode()) > size:
            raise InvalidRequest(
                "FIELD_LENGTH_TOO_LONG", where, f"has at most {characters} characters, {size} bytes", value
            )
        return str(name)

    return check


def _check_locale(value: Any, where: str) -> Any:
    locale = record({"country": text(2, 2, "[A-Z]{2}"), "language": text(2, 2, "[a-z]{2}")})(value, where)
    if f"{locale['language']}_{locale['country']}" not in tables.LOCALES:
        raise InvalidRequest("value", where, "is not a supported locale", value)
    return locale


def check_targeting(value: Any, where: str) -> Any:
    """`targetingCriteria`: clauses that must all match, and exclusions."""
    criteria = record({"include": any_value}, {"exclude": any_value})(value, where)
    included = record({"and": array(record({"or": _check_facets}), 1)})(criteria["include"], f"{where}/include")
    excluded = (
        record({"or": _check_facets})(criteria["exclude"], f"{where}/exclude") if "exclude" in criteria else {"or": {}}
    )
    clauses = [clause["or"] for clause in included["and"]]
    facets = {facet.removeprefix(tables.FACET_PREFIX) for clause in clauses for facet in clause}
    if not facets & {*tables.LOCATION_FACETS}:
        raise InvalidRequest("MISSING_FIELD", f"{where}/include", "a locations or profileLocations facet is required")
    for facet, members in excluded["or"].items():
        if facet.removeprefix(tables.FACET_PREFIX) in tables.INCLUDE_ONLY_FACETS:
            raise InvalidRequest("FIELD_NOT_ALLOWED", f"{where}/exclude", f"{facet} can only be included", facet)
        if any({*members} & {*clause.get(facet, ())} for clause in clauses):
            both = "FIELD_CANNOT_BE_BOTH_IN_INCLUDED_AND_EXCLUDED_TARGETING"
            raise InvalidRequest(both, f"{where}/exclude", f"{facet} includes the same", facet)
    for pair in tables.EXCLUSIVE_FACETS:
        first, second = (
            {number for number, clause in enumerate(clauses) if tables.FACET_PREFIX + facet in clause} for facet in pair
        )
        if first and second and first != second:
            raise InvalidRequest("INCOMPATIBLE_TARGETING_COMBINATION", where, f"{' and '.join(pair)} cannot be ANDed")
    return value


def _refuse_deprecated(value: Any, where: str) -> Any:
    raise InvalidRequest("TARGETING_FIELD_DEPRECATED", where, "targetingCriteria has taken its place")


def _check_facets(value: Any, where: str) -> Any:
    if not isinstance(value, dict) or not value:
        raise InvalidRequest("type", where, "must be an object with a facet")
    for facet, members in value.items():
        if facet.removeprefix(tables.FACET_PREFIX) not in tables.FACETS or not facet.startswith(tables.FACET_PREFIX):
            raise InvalidRequest("FIELD_VALUE_DOES_NOT_EXIST", where, "is not a targeting facet", facet)
        kind = tables.FACETS[facet.removeprefix(tables.FACET_PREFIX)][0]
        pattern = rf"urn:li:{kind}:\S+" if kind else r"urn:li:\w+:\S+"
        urns = array(external_id(pattern), 1)(members, f"{where}/{facet}")
        if len({*urns}) != len(urns):
            raise InvalidRequest("INVALID_VALUE_DUPLICATE_EXIST", f"{where}/{facet}", "names a value twice")
    return value


_SCHEDULE_CHECK = record({"start": _MILLISECONDS_CHECK}, {"end": _MILLISECONDS_CHECK})
_PREFERENCE_CHECK = record(optional={"frequencyOptimizationPreference": any_value})  # its shape is not documented
_GROUP_MEMBERS: dict[str, Check] = {
    "account": urn(ACCOUNT_PREFIX),
    "name": _name_check(100, 400),
    "status": choice(*tables.STATUSES["campaignGroup"]),
    "runSchedule": _SCHEDULE_CHECK,
}
_OPTIONAL_GROUP_MEMBERS: dict[str, Check] = {
    "totalBudget": _MONEY_CHECK,
    "dailyBudget": _MONEY_CHECK,
    "objectiveType": choice(*tables.OBJECTIVES),
    "budgetOptimization": any_value,
}
_CAMPAIGN_MEMBERS: dict[str, Check] = {
    "campaignGroup": urn(GROUP_PREFIX),
    "name": _name_check(200, 200),
    "type": choice(*tables.CAMPAIGN_TYPES),
    "status": choice(*tables.STATUSES["campaign"]),
    "objectiveType": choice(*tables.OBJECTIVES),
    "optimizationTargetType": choice(*tables.OPTIMIZATION_TARGETS),
    "costType": choice("CPC", "CPM", "CPV"),
    "unitCost": _MONEY_CHECK,
    "locale": _check_locale,
    "runSchedule": _SCHEDULE_CHECK,
    "offsiteDeliveryEnabled": boolean,
    "politicalIntent": choice(*tables.POLITICAL_INTENTS),
    # required here: the documented example has the member, the documented table does not
    "targetingCriteria": check_targeting,
}
_OPTIONAL_CAMPAIGN_MEMBERS: dict[str, Check] = {
    "account": urn(ACCOUNT_PREFIX),
    "dailyBudget": _MONEY_CHECK,
    "totalBudget": _MONEY_CHECK,
    "associatedEntity": ORGANIZATION_CHECK,
    "audienceExpansionEnabled": boolean,
    "creativeSelection": choice("OPTIMIZED", "ROUND_ROBIN"),
    "format": choice(*tables.FORMATS),
    "pacingStrategy": choice("ACCELERATED", "LIFETIME"),
    "optimizationPreference": _PREFERENCE_CHECK,
    "targeting": _refuse_deprecated,
}
_CREATIVE_MEMBERS: dict[str, Check] = {
    "campaign": urn(CAMPAIGN_PREFIX),
    "intendedStatus": choice(*tables.STATUSES["creative"]),
}
_OPTIONAL_CREATIVE_MEMBERS: dict[str, Check] = {
    "content": record({"reference": POST_ID_CHECK}),
    "inlineContent": record({"post": any_value}),
    "name": _name_check(255, 1020),
    "leadgenCallToAction": record({"destination": text(), "label": text()}),
}
# the required and optional members of a create
CREATE_CHECKS: Mapping[str, Check] = {
    "campaignGroup": record(_GROUP_MEMBERS, _OPTIONAL_GROUP_MEMBERS),
    "campaign": record(_CAMPAIGN_MEMBERS, _OPTIONAL_CAMPAIGN_MEMBERS),
    "creative": record(_CREATIVE_MEMBERS, _OPTIONAL_CREATIVE_MEMBERS, exactly_one=[("content", "inlineContent")]),
}
_MEMBERS_BY_KIND = {
    "campaignGroup": {**_GROUP_MEMBERS, **_OPTIONAL_GROUP_MEMBERS},
    "campaign": {**_CAMPAIGN_MEMBERS, **_OPTIONAL_CAMPAIGN_MEMBERS},
    "creative": {**_CREATIVE_MEMBERS, **_OPTIONAL_CREATIVE_MEMBERS},
}
# PARTIAL_UPDATE: whole members only; a patch inside a member is "unverified" and refused
PATCH_CHECKS: Mapping[str, Check] = {
    kind: record({"patch": record(optional={"$set": record(optional=members), "$delete": array(choice(*members), 1)})})
    for kind, members in _MEMBERS_BY_KIND.items()
}
REQUIRED_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaignGroup": tuple(_GROUP_MEMBERS),
    "campaign": tuple(_CAMPAIGN_MEMBERS),
    "creative": tuple(_CREATIVE_MEMBERS),
}


def get_amount(money: Mapping[str, Any]) -> Decimal:
    """The amount of a checked MoneyAmount."""
    return Decimal(money["amount"])
