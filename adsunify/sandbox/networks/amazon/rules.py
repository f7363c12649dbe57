"""Rules for the values of members. A rule is `(item, where, value) -> None` and raises ItemError."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.sandbox.networks.amazon import tables
from adsunify.sandbox.networks.amazon.answers import ItemError
from adsunify.sandbox.world import Account, StoredEntity, World


@frozen
class WriteItem:
    """One item of a request: the world, the account, the local date and the JSON pointer.

    `before` is the entity that an update changes, None on create.
    """

    world: World
    account: Account
    today: date
    where: str
    before: StoredEntity | None = None

    @property
    def is_seller(self) -> bool:
        """Whether the profile is a seller's; the others are vendors."""
        return bool(self.account.extra["type"] == "seller")

    @property
    def marketplace(self) -> tables.Marketplace:
        """The limits of the profile's marketplace."""
        return tables.MARKETPLACES[self.account.extra["country"]]


Rule = Callable[[WriteItem, str, Any], None]


def accept_any(item: WriteItem, where: str, value: Any) -> None:
    """No rule beyond the shape."""
    del item, where, value


def one_of(*choices: str) -> Rule:
    """Make the rule of an enum.

    A value outside of the enum is an item error (our choice: the documentation does not say whether it is a 400).
    """

    def rule(item: WriteItem, where: str, value: str) -> None:
        del item
        if value not in choices:
            allowed = {"allowed": list(choices)}
            raise ItemError("rangeError", "INVALID_ENUM_VALUE", where, "not an allowed value", value, allowed)

    return rule


def check_campaign_name(item: WriteItem, where: str, value: str) -> None:
    """Check the length: 128 characters for sellers, 116 for vendors."""
    _check_name(where, value, tables.MAX_NAME_LENGTH[item.account.extra["type"]])


def check_ad_group_name(item: WriteItem, where: str, value: str) -> None:
    """Check the length: 255 characters."""
    del item
    _check_name(where, value, tables.MAX_AD_GROUP_NAME_LENGTH)


def check_keyword_text(item: WriteItem, where: str, value: str) -> None:
    """Check the characters. Those of entity names are allowed, because the documentation gives no other list."""
    del item
    _check_characters(where, value, tables.MAX_KEYWORD_LENGTH)
    words = value.split(" ")
    if len([word for word in words if word]) > tables.MAX_KEYWORD_WORDS:
        raise _malformed_value_error("TOO_LONG", where, f"at most {tables.MAX_KEYWORD_WORDS} words", value)
    # Amazon Ads API: hyphen, plus and point are allowed only between two letters or digits of a word
    for match in re.finditer(r"[-+.]", value):
        around = value[max(match.start() - 1, 0) : match.start()], value[match.end() : match.end() + 1]
        if not all(neighbour.isalnum() for neighbour in around):
            raise _malformed_value_error("PATTERN_NOT_MATCHED", where, f"{match[0]} only inside a word", value)
    if value.count('"') % 2:
        raise _malformed_value_error("PATTERN_NOT_MATCHED", where, "double quotes in pairs", value)


def check_calendar_date(item: WriteItem, where: str, value: str) -> None:
    """Check a date `YYYY-MM-DD` that exists."""
    del item
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII) and date.fromisoformat(value):
            return
    except ValueError:
        pass
    raise ItemError("dateError", "INVALID_DATE", where, "must be YYYY-MM-DD", value)


def check_budget(item: WriteItem, where: str, value: dict[str, Any]) -> None:
    """Check that both members are present, the marketplace limits, and the digits after the point."""
    for name in ("budgetType", "budget"):
        if name not in value:
            raise missing_value_error(f"{where}/{name}")
    one_of("DAILY")(item, f"{where}/budgetType", value["budgetType"])
    amount, (lower, upper) = value["budget"], item.marketplace.budget_limits
    if not lower <= amount <= upper:
        limits = {"lowerLimit": str(lower), "upperLimit": str(upper)}
        message = "outside of the marketplace's budget range"
        raise ItemError("budgetError", "BUDGET_OUT_OF_MARKET_PLACE_RANGE", f"{where}/budget", message, amount, limits)
    _check_decimals(item, f"{where}/budget", amount)


def check_default_bid(item: WriteItem, where: str, value: Decimal) -> None:
    """Check a bid. The documentation shows the marketplace limits of an ad group's bid as a rangeError."""
    lower, upper = item.marketplace.bid_limits
    if not lower <= value <= upper:
        raise _range_error(where, value, lower, upper)
    _check_decimals(item, where, value)


def check_keyword_bid(item: WriteItem, where: str, value: Decimal | None) -> None:
    """Check a bid: the schema's floor of 0.02 is a rangeError, the marketplace limits a biddingError."""
    if value is None:
        return
    lower, upper = item.marketplace.bid_limits
    if value < Decimal("0.02"):
        raise _range_error(where, value, Decimal("0.02"), upper)
    if not lower <= value <= upper:
        limits = {"lowerLimit": str(lower), "upperLimit": str(upper)}
        message = "outside of the marketplace's bid range"
        raise ItemError("biddingError", "BID_OUT_OF_MARKET_PLACE_RANGE", where, message, value, limits)
    _check_decimals(item, where, value)


def check_dynamic_bidding(item: WriteItem, where: str, value: dict[str, Any]) -> None:
    """Check that `strategy` is present, and 0 to 900 percent per placement."""
    if "strategy" not in value:
        raise missing_value_error(f"{where}/strategy")
    strategies = one_of("LEGACY_FOR_SALES", "AUTO_FOR_SALES", "MANUAL", "RULE_BASED")
    strategies(item, f"{where}/strategy", value["strategy"])
    used_placements = set()
    for position, adjustment in enumerate(value.get("placementBidding", [])):
        place = f"{where}/placementBidding/{position}"
        for name in ("placement", "percentage"):
            if name not in adjustment:
                raise missing_value_error(f"{place}/{name}")
        placements = one_of("PLACEMENT_TOP", "PLACEMENT_PRODUCT_PAGE", "PLACEMENT_REST_OF_SEARCH")
        placements(item, f"{place}/placement", adjustment["placement"])
        if not 0 <= adjustment["percentage"] <= 900:
            raise _range_error(f"{place}/percentage", adjustment["percentage"], Decimal(0), Decimal(900))
        if adjustment["placement"] in used_placements:
            raise ItemError("duplicateValueError", "DUPLICATE_VALUE", f"{place}/placement", "placement given twice")
        used_placements.add(adjustment["placement"])


def check_portfolio(item: WriteItem, where: str, value: str | None) -> None:
    """Check a portfolio id. Any id of digits exists; the error for any other id is our choice."""
    del item
    if value is not None and not re.fullmatch(r"[0-9]+", value):
        raise ItemError("parentEntityError", "PARENT_ENTITY_NOT_FOUND", where, "no such portfolio", value)


def check_sku(item: WriteItem, where: str, value: str) -> None:
    """Refuse the member for vendors."""
    if not item.is_seller or "missing" in value.lower() or not re.fullmatch(r"\S(.*\S)?", value):
        raise ItemError("productIdentifierError", "INVALID_SKU", where, "no such SKU of this account", value)
    _check_eligible(where, value)


def check_asin(item: WriteItem, where: str, value: str) -> None:
    """Refuse the member for sellers."""
    word = re.search("missing|ineligible|processing", value.lower())
    if item.is_seller or (word and word[0] == "missing") or not (word or re.fullmatch("[A-Z0-9]{10}", value)):
        raise ItemError("productIdentifierError", "INVALID_ASIN", where, "no such ASIN of this account", value)
    _check_eligible(where, value)


def refuse_custom_text(item: WriteItem, where: str, value: str) -> None:
    """Refuse custom text. It is for KDP authors and US book vendors only, and no demo profile is one of these."""
    del item, value
    raise ItemError("unsupportedOperationError", "UNSUPPORTED_OPERATION", where, "only for authors and book vendors")


def check_locale(item: WriteItem, where: str, value: str) -> None:
    """Check that the locale is the marketplace's one foreign language."""
    if value != item.marketplace.locale:
        raise ItemError("localeError", "INVALID_LOCALE", where, "not supported in this marketplace", value)


def missing_value_error(where: str) -> ItemError:
    """The error for a required member that is missing."""
    return ItemError("missingValueError", "MISSING_VALUE", where, "a value is required")


def _check_eligible(where: str, value: str) -> None:
    if re.search("ineligible|processing", value.lower()):
        raise ItemError("adEligibilityError", "AD_INELIGIBLE", where, "the listing is not eligible", value)


def _check_name(where: str, value: str, most: int) -> None:
    if not value.strip():
        raise _malformed_value_error("BLANK", where, "must not be blank", value)
    _check_characters(where, value, most)


def _check_characters(where: str, value: str, most: int) -> None:
    if len(value) > most:
        raise _malformed_value_error("TOO_LONG", where, f"at most {most} characters", value)
    if not value:
        raise _malformed_value_error("TOO_SHORT", where, "must not be empty", value)
    if value != value.strip():
        raise _malformed_value_error("LEADING_OR_TRAILING_WHITESPACE", where, "no blank at either end", value)
    if wrong := re.search(f"[^{tables.NAME_CHARACTER_CLASS}]", value):
        raise _malformed_value_error("FORBIDDEN_CHARS", where, "unsupported characters", value, wrong[0])


def _malformed_value_error(reason: str, where: str, message: str, value: str, fragment: str | None = None) -> ItemError:
    members = {} if fragment is None else {"fragment": fragment}
    return ItemError("malformedValueError", reason, where, message, value, members)


def _range_error(where: str, value: Decimal | int, lower: Decimal, upper: Decimal) -> ItemError:
    reason, limits = "TOO_LOW" if value < lower else "TOO_HIGH", {"lowerLimit": str(lower), "upperLimit": str(upper)}
    return ItemError("rangeError", reason, where, f"must be between {lower} and {upper}", value, limits)


def _check_decimals(item: WriteItem, where: str, value: Decimal) -> None:
    """Check the digits after the point; trailing zeros do not count (35.50 and 100.0 yen are allowed)."""
    exponent = value.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > item.marketplace.decimals:
        message = f"at most {item.marketplace.decimals} digits after the point in {item.account.currency}"
        raise _malformed_value_error("PATTERN_NOT_MATCHED", where, message, str(value))
