"""Which members the bodies have, and of what type. Rules between members: `rules`.

Members that the network alone writes (`id`, `test`, `version`, `changeAuditStamps`, `servingStatuses`), the old
`targeting` and everything unknown are refused.
"""

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
)
from adsunify.sandbox.networks.linkedin.tables import (
    CAMPAIGN_TYPES,
    FACET,
    FACETS,
    FORMATS,
    INCLUDE_ONLY,
    INTENTS,
    LOCALES,
    NOT_ANDABLE,
    OBJECTIVES,
    PLACES,
    STATUSES,
    TARGETS,
)

ACCOUNT, GROUP, CAMPAIGN, CREATIVE = (
    f"urn:li:sponsored{word}:" for word in ("Account", "CampaignGroup", "Campaign", "Creative")
)
PREFIXES: Mapping[str, str] = {"campaignGroup": GROUP, "campaign": CAMPAIGN, "creative": CREATIVE}


def urn(prefix: str) -> Check:
    """A URN of this prefix and digits."""
    return text(pattern=re.escape(prefix) + r"\d{1,19}")


def digits_of(value: str) -> str:
    """The number at the end of a URN (or the number itself)."""
    return value.rpartition(":")[2]


ORGANIZATION = foreign(r"urn:li:organization:\d+")
POST = foreign(r"urn:li:(share|ugcPost):\d+")
# a decimal in major units: no exponent, no thousands separator, no leading zeros
_MONEY = record({"amount": text(1, 20, r"(0|[1-9]\d*)(\.\d+)?"), "currencyCode": text(3, 3, "[A-Z]{3}")})
_MILLISECONDS = integer(1_000_000_000_000, 9_999_999_999_999)  # chosen: seconds are refused as much too early


def _name(characters: int, size: int) -> Check:
    """A name of this many characters and UTF-8 bytes."""

    def check(value: Any, where: str) -> str:
        name = text()(value, where)
        if not name.strip():
            raise Problem("INVALID_VALUE_BLANK_FIELD", where, "must not be blank", value)
        if len(name) > characters or len(name.encode()) > size:
            raise Problem("FIELD_LENGTH_TOO_LONG", where, f"has at most {characters} characters, {size} bytes", value)
        return str(name)

    return check


def _locale(value: Any, where: str) -> Any:
    found = record({"country": text(2, 2, "[A-Z]{2}"), "language": text(2, 2, "[a-z]{2}")})(value, where)
    if f"{found['language']}_{found['country']}" not in LOCALES:
        raise Problem("value", where, "is not a supported locale", value)
    return found


def targeting(value: Any, where: str) -> Any:
    """`targetingCriteria`: alternatives that all have to hold, and what is left out."""
    given = record({"include": anything}, {"exclude": anything})(value, where)
    included = record({"and": listing(record({"or": _facets}), 1)})(given["include"], f"{where}/include")
    excluded = record({"or": _facets})(given["exclude"], f"{where}/exclude") if "exclude" in given else {"or": {}}
    clauses = [clause["or"] for clause in included["and"]]
    named = {facet.removeprefix(FACET) for clause in clauses for facet in clause}
    if not named & {*PLACES}:
        raise Problem("MISSING_FIELD", f"{where}/include", "a locations or profileLocations facet is required")
    for facet, members in excluded["or"].items():
        if facet.removeprefix(FACET) in INCLUDE_ONLY:
            raise Problem("FIELD_NOT_ALLOWED", f"{where}/exclude", f"{facet} can only be included", facet)
        if any({*members} & {*clause.get(facet, ())} for clause in clauses):
            both = "FIELD_CANNOT_BE_BOTH_IN_INCLUDED_AND_EXCLUDED_TARGETING"
            raise Problem(both, f"{where}/exclude", f"{facet} includes the same", facet)
    for pair in NOT_ANDABLE:
        first, second = ({number for number, clause in enumerate(clauses) if FACET + facet in clause} for facet in pair)
        if first and second and first != second:
            raise Problem("INCOMPATIBLE_TARGETING_COMBINATION", where, f"{' and '.join(pair)} cannot be ANDed")
    return value


def _deprecated(value: Any, where: str) -> Any:
    raise Problem("TARGETING_FIELD_DEPRECATED", where, "targetingCriteria has taken its place")


def _facets(value: Any, where: str) -> Any:
    if not isinstance(value, dict) or not value:
        raise Problem("type", where, "must be an object with a facet")
    for facet, members in value.items():
        if facet.removeprefix(FACET) not in FACETS or not facet.startswith(FACET):
            raise Problem("FIELD_VALUE_DOES_NOT_EXIST", where, "is not a targeting facet", facet)
        kind = FACETS[facet.removeprefix(FACET)][0]
        pattern = rf"urn:li:{kind}:\S+" if kind else r"urn:li:\w+:\S+"
        found = listing(foreign(pattern), 1)(members, f"{where}/{facet}")
        if len({*found}) != len(found):
            raise Problem("INVALID_VALUE_DUPLICATE_EXIST", f"{where}/{facet}", "names a value twice")
    return value


_SCHEDULE = record({"start": _MILLISECONDS}, {"end": _MILLISECONDS})
_PREFERENCE = record(optional={"frequencyOptimizationPreference": anything})  # its shape is not known
_GROUP: dict[str, Check] = {
    "account": urn(ACCOUNT),
    "name": _name(100, 400),
    "status": choice(*STATUSES["campaignGroup"]),
    "runSchedule": _SCHEDULE,
}
_GROUP_MORE: dict[str, Check] = {
    "totalBudget": _MONEY,
    "dailyBudget": _MONEY,
    "objectiveType": choice(*OBJECTIVES),
    "budgetOptimization": anything,
}
_CAMPAIGN: dict[str, Check] = {
    "campaignGroup": urn(GROUP),
    "name": _name(200, 200),
    "type": choice(*CAMPAIGN_TYPES),
    "status": choice(*STATUSES["campaign"]),
    "objectiveType": choice(*OBJECTIVES),
    "optimizationTargetType": choice(*TARGETS),
    "costType": choice("CPC", "CPM", "CPV"),
    "unitCost": _MONEY,
    "locale": _locale,
    "runSchedule": _SCHEDULE,
    "offsiteDeliveryEnabled": boolean,
    "politicalIntent": choice(*INTENTS),
    "targetingCriteria": targeting,  # in the example, though not in the table: taken as required
}
_CAMPAIGN_MORE: dict[str, Check] = {
    "account": urn(ACCOUNT),
    "dailyBudget": _MONEY,
    "totalBudget": _MONEY,
    "associatedEntity": ORGANIZATION,
    "audienceExpansionEnabled": boolean,
    "creativeSelection": choice("OPTIMIZED", "ROUND_ROBIN"),
    "format": choice(*FORMATS),
    "pacingStrategy": choice("ACCELERATED", "LIFETIME"),
    "optimizationPreference": _PREFERENCE,
    "targeting": _deprecated,
}
_CREATIVE: dict[str, Check] = {"campaign": urn(CAMPAIGN), "intendedStatus": choice(*STATUSES["creative"])}
_CREATIVE_MORE: dict[str, Check] = {
    "content": record({"reference": POST}),
    "inlineContent": record({"post": anything}),
    "name": _name(255, 1020),
    "leadgenCallToAction": record({"destination": text(), "label": text()}),
}
# creation: what must and what may be there
CREATE: Mapping[str, Check] = {
    "campaignGroup": record(_GROUP, _GROUP_MORE),
    "campaign": record(_CAMPAIGN, _CAMPAIGN_MORE),
    "creative": record(_CREATIVE, _CREATIVE_MORE, exactly_one=[("content", "inlineContent")]),
}
_MEMBERS = {
    "campaignGroup": {**_GROUP, **_GROUP_MORE},
    "campaign": {**_CAMPAIGN, **_CAMPAIGN_MORE},
    "creative": {**_CREATIVE, **_CREATIVE_MORE},
}
# PARTIAL_UPDATE: whole members only; a patch inside a member is "unverified" and refused
PATCH: Mapping[str, Check] = {
    kind: record(
        {"patch": record(optional={"$set": record(optional=members), "$delete": listing(choice(*members), 1)})}
    )
    for kind, members in _MEMBERS.items()
}
NEEDED: Mapping[str, tuple[str, ...]] = {
    "campaignGroup": tuple(_GROUP),
    "campaign": tuple(_CAMPAIGN),
    "creative": tuple(_CREATIVE),
}


def amount(money: Mapping[str, Any]) -> Decimal:
    """How much a checked MoneyAmount is."""
    return Decimal(money["amount"])
