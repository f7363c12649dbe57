"""Rules for well-formed resources.

Each rule gets a ResourceChange: the content after the operation, the content before (None on creation), and the place
of the operation in the request. It raises InvalidRequest, or fills in fields that Google derives.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from attrs import define

from adsunify.sandbox.checks import external_id
from adsunify.sandbox.network import Request
from adsunify.sandbox.networks.google import catalogs, tables
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

BIDDING_STRATEGIES = tuple(
    name for name, field in tables.CAMPAIGN_FIELDS.items() if field.oneof == tables.BIDDING_ONEOF
)
CRITERION_TYPES = tuple(name for name, field in tables.CAMPAIGN_CRITERION_FIELDS.items() if field.oneof == "criterion")
_DATE_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
_BAD_KEYWORD_CHARACTERS = set("!@%,*")  # the documented examples; the full list is unverified
_MAX_ENABLED_ADS = 3
# By native code: the member and the message.
_ERRORS: Mapping[str, tuple[str, str]] = {
    "adGroupCriterionError.BID_INCOMPATIBLE_WITH_ADGROUP": ("cpcBidMicros", "The campaign does not bid by MANUAL_CPC."),
    "adGroupError.AD_GROUP_TYPE_NOT_VALID_FOR_ADVERTISING_CHANNEL_TYPE": (
        "type",
        "A Search campaign takes SEARCH_STANDARD.",
    ),
    "adGroupError.BID_TYPE_AND_BIDDING_STRATEGY_MISMATCH": ("cpcBidMicros", "The campaign does not bid by MANUAL_CPC."),
    "campaignBudgetError.CAMPAIGN_BUDGET_REMOVED": ("campaignBudget", "The budget is removed."),
    "campaignBudgetError.CANNOT_USE_ACCELERATED_DELIVERY_MODE": (
        "deliveryMethod",
        "Accelerated delivery is not available.",
    ),
    "campaignBudgetError.CANNOT_USE_IMPLICITLY_SHARED_CAMPAIGN_BUDGET_WITH_MULTIPLE_CAMPAIGNS": (
        "campaignBudget",
        "The budget belongs to another campaign.",
    ),
    "campaignCriterionError.CANNOT_UPDATE_NEGATIVE_CRITERION": ("negative", "A negative criterion cannot be updated."),
    "campaignCriterionError.CONCRETE_TYPE_REQUIRED": ("criterion", "A criterion is required."),
    "campaignError.ADVERTISING_CHANNEL_TYPE_NOT_AVAILABLE_FOR_ACCOUNT_TYPE": (
        "advertisingChannelType",
        "Only SEARCH is available here.",
    ),
    "campaignError.CAMPAIGN_MUST_TARGET_AT_LEAST_ONE_NETWORK": (
        "networkSettings",
        "A campaign targets one network or more.",
    ),
    "campaignError.CANNOT_MODIFY_START_DATE_IF_ALREADY_STARTED": ("startDateTime", "The campaign has started."),
    "campaignError.CANNOT_TARGET_PARTNER_SEARCH_NETWORK": (
        "networkSettings/targetPartnerSearchNetwork",
        "For selected accounts only.",
    ),
    "campaignError.CANNOT_TARGET_SEARCH_NETWORK_WITHOUT_GOOGLE_SEARCH": (
        "networkSettings/targetSearchNetwork",
        "Google search must be targeted, too.",
    ),
    "campaignError.DUPLICATE_CAMPAIGN_NAME": ("name", "A campaign with this name already exists."),
    "campaignError.END_DATE_TIME_REQUIRED_FOR_TOTAL_BUDGET": ("endDateTime", "A total budget needs an end."),
    "criterionError.CANNOT_TARGET_CRITERION": ("location/geoTargetConstant", "The geo target does not exist."),
    "criterionError.CANNOT_TARGET_LANGUAGE": ("language/languageConstant", "The language cannot be targeted."),
    "criterionError.INVALID_PROXIMITY_RADIUS": ("proximity/radius", "The radius is not valid."),
    "dateRangeError.START_DATE_AFTER_END_DATE": ("endDateTime", "The end is before the start."),
    "resourceCountLimitExceededError.AD_GROUP_AD_LIMIT": (
        "status",
        "An ad group has at most 3 enabled responsive search ads.",
    ),
}


@define
class ResourceChange:
    """One create or update.

    `parent`: the entity that the content names as parent. `id`: the id of a new entity, if known.
    """

    request: Request
    account: Account
    where: str
    data: dict[str, Any]
    before: Mapping[str, Any] | None
    entity: StoredEntity | None
    parent: StoredEntity | None
    id: str | None = None

    def make_error(self, code: str, path: str, message: str, value: Any = None) -> InvalidRequest:
        """Make the error for a member of the content."""
        return InvalidRequest(code, f"{self.where}/{path}", message, value)

    def make_known_error(self, code: str, value: Any = None) -> InvalidRequest:
        """Make the error that the table has for a code."""
        return self.make_error(code, *_ERRORS[code], value)

    def is_changed(self, name: str) -> bool:
        """Whether a member is new or has changed."""
        return self.before is None or self.before.get(name) != self.data.get(name)

    def list_others(self, kind: str, parent: str | None = None) -> list[StoredEntity]:
        """The other entities of a kind that are not removed."""
        entities = self.request.world.list_entities(kind, self.account.id, parent)
        own = None if self.entity is None else self.entity.id
        return [entity for entity in entities if entity.id != own and entity.data.get("status") != "REMOVED"]

    @property
    def today(self) -> date:
        """The date in the account's time zone."""
        return self.request.get_local_date(self.account)


def get_bidding_strategy(campaign: Mapping[str, Any]) -> str | None:
    """The member of the bidding oneof that is set."""
    return next((name for name in BIDDING_STRATEGIES if name in campaign), None)


def check_budget(change: ResourceChange) -> None:
    """Check amount, period and name of a campaign budget."""
    data, custom = change.data, change.data["period"] == "CUSTOM_PERIOD"
    used, unused = ("totalAmountMicros", "amountMicros") if custom else ("amountMicros", "totalAmountMicros")
    if unused in data:
        code = (
            "BUDGET_AMOUNT_MUST_BE_UNSET_FOR_CUSTOM_BUDGET_PERIOD"
            if custom
            else ("TOTAL_BUDGET_AMOUNT_MUST_BE_UNSET_FOR_BUDGET_PERIOD_DAILY")
        )
        raise change.make_error(f"campaignBudgetError.{code}", unused, f"{data['period']} budgets have no {unused}.")
    amount = data.get(used)
    if amount is None:
        raise change.make_error("fieldError.REQUIRED", used, "The required field was not present.")
    if amount < 0:
        raise change.make_error("campaignBudgetError.NEGATIVE_MONEY_AMOUNT", used, "A budget is not negative.", amount)
    smallest = catalogs.get_billable_unit(change.account)
    if amount == 0:
        details = {
            "currencyCode": change.account.currency,
            "budgetPerDayMinimumMicros": str(smallest),
            "minimumBudgetAmountMicros": str(smallest),
            "failedBudgetAmountMicros": "0",
        }
        raise change.make_error(
            "campaignBudgetError.BUDGET_BELOW_PER_DAY_MINIMUM",
            used,
            "The budget is too small.",
            {"budgetPerDayMinimumErrorDetails": details},
        )
    if amount > tables.MAX_AMOUNT_MICROS:
        raise change.make_error("campaignBudgetError.MONEY_AMOUNT_TOO_LARGE", used, "The budget is too large.", amount)
    if amount % smallest:
        raise change.make_error(
            "campaignBudgetError.NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT",
            used,
            f"The amount must be a multiple of {smallest} micros.",
            amount,
        )
    if data.get("deliveryMethod") != "STANDARD":
        raise change.make_known_error("campaignBudgetError.CANNOT_USE_ACCELERATED_DELIVERY_MODE")
    if data["explicitlyShared"] and not data.get("name"):
        raise change.make_error("fieldError.REQUIRED", "name", "An explicitly shared budget needs a name.")
    if len(data.get("name", "").encode()) > 255:
        raise change.make_error("stringLengthError.TOO_LONG", "name", "A budget name has at most 255 bytes.")
    if data["explicitlyShared"] and any(
        other.data.get("name") == data["name"] for other in change.list_others("budget")
    ):
        raise change.make_error("campaignBudgetError.DUPLICATE_NAME", "name", "The name is in use.", data["name"])
    data["status"] = "ENABLED"


def check_campaign(change: ResourceChange) -> None:
    """Check name, channel, bidding, networks, budget and dates of a campaign."""
    data = change.data
    _check_name(change, 255, "campaignError.INVALID_CAMPAIGN_NAME")
    if any(other.data["name"] == data["name"] for other in change.list_others("campaign")):
        raise change.make_known_error("campaignError.DUPLICATE_CAMPAIGN_NAME", data["name"])
    if data["advertisingChannelType"] != "SEARCH":  # other channels are not simulated
        raise change.make_known_error("campaignError.ADVERTISING_CHANNEL_TYPE_NOT_AVAILABLE_FOR_ACCOUNT_TYPE")
    _check_bidding(change)
    networks = data["networkSettings"]
    if not any(networks.get(name) for name in networks):
        raise change.make_known_error("campaignError.CAMPAIGN_MUST_TARGET_AT_LEAST_ONE_NETWORK")
    if networks.get("targetSearchNetwork") and not networks.get("targetGoogleSearch"):
        raise change.make_known_error("campaignError.CANNOT_TARGET_SEARCH_NETWORK_WITHOUT_GOOGLE_SEARCH")
    if networks.get("targetPartnerSearchNetwork"):
        raise change.make_known_error("campaignError.CANNOT_TARGET_PARTNER_SEARCH_NETWORK")
    spends = change.request.world.find("budget", str(data["campaignBudget"]).rpartition("/")[2], change.account.id)
    if spends is not None:
        _check_campaign_budget(change, spends)
    _check_dates(change)


def check_criterion(change: ResourceChange) -> None:
    """Check one targeting criterion of a campaign, and set the criterion id."""
    data, parent = change.data, change.parent
    assert parent is not None
    if change.before is not None:  # only the bid modifier can have changed
        if data["negative"]:
            raise change.make_known_error("campaignCriterionError.CANNOT_UPDATE_NEGATIVE_CRITERION")
        return
    chosen = next((name for name in CRITERION_TYPES if name in data), None)
    if chosen is None:
        raise change.make_known_error("campaignCriterionError.CONCRETE_TYPE_REQUIRED")
    if chosen in ("location", "proximity") and "containsEuPoliticalAdvertising" not in parent.data:
        raise change.make_error(
            "criterionError.MISSING_EU_POLITICAL_ADVERTISING_SELF_DECLARATION",
            chosen,
            "The campaign must declare EU political advertising first.",
        )
    if data["negative"] and (chosen == "language" or "bidModifier" in data):
        raise change.make_error("campaignCriterionError.CANNOT_EXCLUDE_CRITERIA_TYPE", chosen, "It cannot be excluded.")
    own = {
        "location": _check_location,
        "language": _check_language,
        "proximity": _check_proximity,
        "adSchedule": _check_hours,
        "ipBlock": _check_ip_address,
    }
    number = own[chosen](change) if chosen in own else None
    data |= {"type": re.sub("[A-Z]", lambda match: f"_{match[0]}", chosen).upper(), "status": "ENABLED"}
    for other in change.list_others("criterion", parent.id):
        if other.data.get(chosen) == data[chosen]:
            if other.data["negative"] != data["negative"]:
                raise change.make_error(
                    "campaignCriterionError.CANNOT_TARGET_AND_EXCLUDE", chosen, "It is both targeted and excluded."
                )
            raise change.make_error("mutateError.RESOURCE_ALREADY_EXISTS", chosen, "The criterion exists already.")
    change.id = f"{parent.id}~{number or change.request.world.allocate_id()}"


def check_ad_group(change: ResourceChange) -> None:
    """Check name, type and bid of an ad group."""
    data, parent = change.data, change.parent
    assert parent is not None
    _check_name(change, 254, "adGroupError.INVALID_ADGROUP_NAME")
    if any(other.data["name"] == data["name"] for other in change.list_others("adGroup", parent.id)):
        raise change.make_error("adGroupError.DUPLICATE_ADGROUP_NAME", "name", "The name is in use.", data["name"])
    if data["type"] != "SEARCH_STANDARD":
        raise change.make_known_error("adGroupError.AD_GROUP_TYPE_NOT_VALID_FOR_ADVERTISING_CHANNEL_TYPE")
    if (
        "cpcBidMicros" in data
        and change.is_changed("cpcBidMicros")
        and get_bidding_strategy(parent.data) != "manualCpc"
    ):
        raise change.make_known_error("adGroupError.BID_TYPE_AND_BIDDING_STRATEGY_MISMATCH")


def check_keyword(change: ResourceChange) -> None:
    """Check text, bid and url of a keyword."""
    data, parent = change.data, change.parent
    assert parent is not None
    text, match = data["keyword"]["text"], data["keyword"]["matchType"]
    if change.before is None:
        for wrong, code in (
            (len(text) > 80, "KEYWORD_TEXT_TOO_LONG"),
            (len(text.split()) > 10, "KEYWORD_HAS_TOO_MANY_WORDS"),
            (not text.strip() or _BAD_KEYWORD_CHARACTERS & set(text), "KEYWORD_HAS_INVALID_CHARS"),
        ):
            if wrong:
                raise change.make_error(
                    f"criterionError.{code}", "keyword/text", "The keyword text is not valid.", text
                )
        for other in change.list_others("keyword", parent.id):
            keyword = other.data["keyword"]
            if (keyword["text"].lower(), keyword["matchType"]) == (text.lower(), match):
                raise change.make_error("mutateError.RESOURCE_ALREADY_EXISTS", "keyword", "The keyword exists.", text)
        data["type"] = "KEYWORD"
    elif data["negative"]:
        raise change.make_error("adGroupCriterionError.CANT_UPDATE_NEGATIVE", "negative", "It cannot be updated.")
    if "cpcBidMicros" in data and change.is_changed("cpcBidMicros"):
        group = change.request.world.find("campaign", str(parent.parent))
        if data["negative"] or group is None or get_bidding_strategy(group.data) != "manualCpc":
            raise change.make_known_error("adGroupCriterionError.BID_INCOMPATIBLE_WITH_ADGROUP")
    _check_urls(change, data.get("finalUrls", []), "finalUrls")


def check_group_ad(change: ResourceChange) -> None:
    """Check a responsive search ad in its ad group."""
    data = change.data
    if change.is_changed("ad"):
        _check_ad_content(change, data["ad"], "ad")
        data["ad"]["type"] = "RESPONSIVE_SEARCH_AD"
    _check_enabled_ads(change)


def check_ad(change: ResourceChange) -> None:
    """Check the content of an ad."""
    _check_ad_content(change, change.data, "")


def check_goal(change: ResourceChange) -> None:
    """Accept any conversion goal of a campaign."""


def _check_name(change: ResourceChange, most: int, control: str) -> None:
    name = change.data["name"]
    if not name.strip():
        raise change.make_error("fieldError.REQUIRED", "name", "The name is empty.")
    if any(character in name for character in "\x00\n\r"):
        raise change.make_error(control, "name", "A name has no NUL, LF or CR.")
    if len(name) > most:
        raise change.make_error("stringLengthError.TOO_LONG", "name", f"A name has at most {most} characters.")


def _check_bidding(change: ResourceChange) -> None:
    chosen = get_bidding_strategy(change.data)
    if chosen is None:
        raise change.make_error("fieldError.REQUIRED", tables.BIDDING_ONEOF, "A bidding strategy is required.")
    if chosen == "biddingStrategy":  # any well-formed portfolio strategy exists
        external_id(rf"customers/{change.account.id}/biddingStrategies/[0-9]+")(
            change.data[chosen], f"{change.where}/biddingStrategy"
        )
        return
    for retired in ("enhancedCpcEnabled", "targetSpendMicros"):
        if change.data[chosen].get(retired):
            raise change.make_error("fieldError.VALUE_MUST_BE_UNSET", f"{chosen}/{retired}", f"{retired} is retired.")
    member = {"targetCpa": "targetCpaMicros", "targetRoas": "targetRoas"}.get(chosen)
    if member is not None and not change.data[chosen].get(member):
        raise change.make_error("fieldError.REQUIRED", f"{chosen}/{member}", "The required field was not present.")
    if change.data[chosen].get("targetRoas", 1) <= 0:
        raise change.make_error("rangeError.TOO_LOW", f"{chosen}/targetRoas", "The target must be above 0.")


def _check_campaign_budget(change: ResourceChange, spends: StoredEntity) -> None:
    if spends.data["status"] == "REMOVED":
        raise change.make_known_error("campaignBudgetError.CAMPAIGN_BUDGET_REMOVED")
    name = change.data["campaignBudget"]
    if not spends.data["explicitlyShared"] and any(
        other.data["campaignBudget"] == name for other in change.list_others("campaign")
    ):
        raise change.make_known_error(
            "campaignBudgetError.CANNOT_USE_IMPLICITLY_SHARED_CAMPAIGN_BUDGET_WITH_MULTIPLE_CAMPAIGNS"
        )
    if spends.data["period"] == "CUSTOM_PERIOD" and "endDateTime" not in change.data:
        raise change.make_known_error("campaignError.END_DATE_TIME_REQUIRED_FOR_TOTAL_BUDGET")


def _check_dates(change: ResourceChange) -> None:
    """Check start and end: whole days in the account's time zone. The default start is now."""
    data = change.data
    data.setdefault("startDateTime", f"{change.today} 00:00:00")
    start = _check_date(change, "startDateTime", "00:00:00", "DATE_RANGE_ERROR_START_TIME_MUST_BE_THE_START_OF_A_DAY")
    if change.is_changed("startDateTime"):
        if change.before is not None and str(change.before["startDateTime"])[:10] <= str(change.today):
            raise change.make_known_error("campaignError.CANNOT_MODIFY_START_DATE_IF_ALREADY_STARTED")
        if start < change.today:
            raise change.make_error("campaignError.CANNOT_SET_DATE_TO_PAST", "startDateTime", "The start is past.")
    if "endDateTime" not in data:
        return
    end = _check_date(change, "endDateTime", "23:59:59", "DATE_RANGE_ERROR_END_TIME_MUST_BE_THE_END_OF_A_DAY")
    if change.is_changed("endDateTime") and end < change.today:
        raise change.make_error("campaignError.CANNOT_SET_DATE_TO_PAST", "endDateTime", "The end is past.")
    if end < start:
        raise change.make_known_error("dateRangeError.START_DATE_AFTER_END_DATE")


def _check_date(change: ResourceChange, name: str, time: str, code: str) -> date:
    value = change.data[name]
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}", value):
        raise change.make_error("dateError.INVALID_STRING_DATE_TIME_SECONDS", name, "yyyy-MM-dd HH:mm:ss", value)
    try:
        instant = datetime.strptime(value, _DATE_TIME_FORMAT)
    except ValueError as error:
        raise change.make_error("dateError.INVALID_FIELD_VALUES_IN_DATE_TIME", name, "No such time.", value) from error
    if not value.endswith(time):
        raise change.make_error(f"dateError.{code}", name, f"A Search campaign takes {time} only.", value)
    return instant.date()


def _check_location(change: ResourceChange) -> int:
    name = change.data["location"]["geoTargetConstant"]
    number = re.fullmatch("geoTargetConstants/([0-9]{1,12})", name)
    if number is None:
        raise change.make_error("requestError.RESOURCE_NAME_MALFORMED", "location/geoTargetConstant", "No geo target.")
    if catalogs.find_geo_target(int(number[1])) is None:
        raise change.make_known_error("criterionError.CANNOT_TARGET_CRITERION", name)
    return int(number[1])


def _check_language(change: ResourceChange) -> int:
    name = change.data["language"]["languageConstant"]
    number = re.fullmatch("languageConstants/([0-9]{1,12})", name)
    if number is None:
        raise change.make_error("requestError.RESOURCE_NAME_MALFORMED", "language/languageConstant", "No language.")
    if not catalogs.LANGUAGES.get(int(number[1]), ("", "", False))[2]:
        raise change.make_known_error("criterionError.CANNOT_TARGET_LANGUAGE", name)
    return int(number[1])


def _check_proximity(change: ResourceChange) -> None:
    circle = change.data["proximity"]
    if not 0 < circle["radius"] <= 800:
        raise change.make_known_error("criterionError.INVALID_PROXIMITY_RADIUS")
    if abs(circle["geoPoint"]["latitudeInMicroDegrees"]) > 90_000_000:
        raise change.make_error("criterionError.INVALID_LATITUDE", "proximity/geoPoint", "The latitude is not valid.")
    if abs(circle["geoPoint"]["longitudeInMicroDegrees"]) > 180_000_000:
        raise change.make_error("criterionError.INVALID_LONGITUDE", "proximity/geoPoint", "The longitude is not valid.")


def _check_hours(change: ResourceChange) -> None:
    hours = change.data["adSchedule"]
    if not 0 <= hours.get("startHour", 0) <= 23 or not 0 <= hours["endHour"] <= 24:
        raise change.make_error("fieldError.INVALID_VALUE", "adSchedule", "Hours run from 0 to 24.")


def _check_ip_address(change: ResourceChange) -> None:
    try:
        ipaddress.ip_network(change.data["ipBlock"]["ipAddress"])
    except ValueError as error:
        raise change.make_error("criterionError.INVALID_IP_ADDRESS", "ipBlock/ipAddress", "No IP address.") from error


def _check_ad_content(change: ResourceChange, content: Mapping[str, Any], inside: str) -> None:
    """Check counts, widths, duplicates and urls of a responsive search ad."""
    path = f"{inside}/" if inside else ""
    _check_urls(change, content["finalUrls"], f"{path}finalUrls")
    if not content["finalUrls"]:
        raise change.make_error("fieldError.REQUIRED_NONEMPTY_LIST", f"{path}finalUrls", "A final url is required.")
    ad, path = content["responsiveSearchAd"], f"{path}responsiveSearchAd"
    for name, least, most, width in (("headlines", 3, 15, 30), ("descriptions", 2, 4, 90)):
        texts = [asset["text"] for asset in ad[name]]
        if not least <= len(texts) <= most:
            code = "TOO_FEW" if len(texts) < least else "TOO_MANY"
            raise change.make_error(f"collectionSizeError.{code}", f"{path}/{name}", f"{least} to {most} {name}.")
        for position, asset in enumerate(texts):
            at = f"{path}/{name}/{position}/text"
            if not asset.strip():
                raise change.make_error("adError.EMPTY_FIELD", at, "The text is empty.")
            if _measure_width(asset) > width:
                raise change.make_error("adError.LINE_TOO_WIDE", at, f"At most {width} characters.", asset)
            if "ineligible" in asset.lower():  # the sandbox's review refuses a text with this word
                topics = [{"topic": "INELIGIBLE_TEXT", "type": "PROHIBITED"}]
                raise change.make_error(
                    "policyFindingError.POLICY_FINDING",
                    at,
                    "The text violates a policy.",
                    {"policyFindingDetails": {"policyTopicEntries": topics}},
                )
        if len(set(texts)) < len(texts):
            raise change.make_error("assetError.DUPLICATE_ASSET", f"{path}/{name}", f"Two {name} are the same.")
    for name in ("path1", "path2"):
        if _measure_width(ad.get(name, "")) > 15:
            raise change.make_error("adError.LINE_TOO_WIDE", f"{path}/{name}", "At most 15 characters.", ad[name])
    if ad.get("path2") and not ad.get("path1"):
        raise change.make_error("adError.CANNOT_SET_PATH2_WITHOUT_PATH1", f"{path}/path2", "path1 comes first.")


def _check_enabled_ads(change: ResourceChange) -> None:
    if change.data["status"] != "ENABLED" or change.parent is None:
        return
    enabled = [ad for ad in change.list_others("ad", change.parent.id) if ad.data["status"] == "ENABLED"]
    if len(enabled) >= _MAX_ENABLED_ADS:
        raise change.make_known_error("resourceCountLimitExceededError.AD_GROUP_AD_LIMIT")


def _check_urls(change: ResourceChange, urls: list[str], path: str) -> None:
    for position, url in enumerate(urls):
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise change.make_error(
                "urlFieldError.MALFORMED_FINAL_URL", f"{path}/{position}", "No url.", url
            ) from error
        for wrong, code in (
            (not parts.scheme, "MISSING_PROTOCOL_IN_FINAL_URL"),
            (parts.scheme not in ("http", "https"), "INVALID_PROTOCOL_IN_FINAL_URL"),
            (not parts.hostname, "MISSING_HOST_IN_FINAL_URL"),
            (re.search(r"\s", url) or len(url) > 2048, "MALFORMED_FINAL_URL"),
        ):
            if wrong:
                raise change.make_error(f"urlFieldError.{code}", f"{path}/{position}", "The url is not valid.", url)


def _measure_width(text: str) -> int:
    """Characters, double-width ones counted twice."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


RULES: Mapping[str, Callable[[ResourceChange], None]] = {
    "campaignBudget": check_budget,
    "campaign": check_campaign,
    "campaignCriterion": check_criterion,
    "adGroup": check_ad_group,
    "adGroupCriterion": check_keyword,
    "adGroupAd": check_group_ad,
    "ad": check_ad,
    "campaignConversionGoal": check_goal,
}
