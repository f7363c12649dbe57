"""Rules between the members of campaigns and ad groups."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.sandbox.networks.tiktok.accounts import CURRENCIES, Currency
from adsunify.sandbox.networks.tiktok.places import COUNTRIES_WITHOUT_MINORS, LOCATIONS, check_locations
from adsunify.sandbox.networks.tiktok.shapes import parse_instant
from adsunify.sandbox.parsing import InvalidRequest, parse_names
from adsunify.sandbox.world import Account

Data = Mapping[str, Any]
INFINITE_BUDGET, TOTAL_BUDGET = "BUDGET_MODE_INFINITE", "BUDGET_MODE_TOTAL"
NO_BID, CUSTOM_BID = "BID_TYPE_NO_BID", "BID_TYPE_CUSTOM"
SCHEDULE_START_END, SCHEDULE_FROM_NOW = "SCHEDULE_START_END", "SCHEDULE_FROM_NOW"
LATEST_START, LATEST_END = datetime(2028, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
MAX_LOCATIONS = 3000
# The billing event of an optimization goal; other goals are not checked.
BILLING_BY_GOAL: Mapping[str, str] = parse_names("""
    CLICK CPC, REACH CPM, SHOW CPM, CONVERT OCPM, INSTALL OCPM, TRAFFIC_LANDING_PAGE_VIEW OCPM, DESTINATION_VISIT OCPM,
    ENGAGED_VIEW CPV
""")


@frozen
class AdGroupChange:
    """An ad group after a write: its members, its data before (None on creation), and its campaign.

    `targeting` is flat in the manual flow and nested as `targeting_spec` in Smart+; `place` is the ad group's position
    in the body.
    """

    account: Account
    now: datetime
    data: Data
    targeting: Data
    targeting_path: str
    campaign: Data
    before: Data | None = None
    targeting_before: Data | None = None

    @property
    def currency(self) -> Currency:
        """The currency of the account."""
        return CURRENCIES[self.account.currency]

    def is_changed(self, name: str) -> bool:
        """Whether this write sets or changes a member."""
        return self.before is None or self.before.get(name) != self.data.get(name)


def invalid_value_error(where: str, message: str) -> InvalidRequest:
    """The error for a value that conflicts with others."""
    return InvalidRequest("value", f"/{where}", message)


def missing_value_error(where: str, message: str = "is required") -> InvalidRequest:
    """The error for a member that others require."""
    return InvalidRequest("required", f"/{where}", message)


def check_campaign(account: Account, data: Data) -> None:
    """Check the budget of a campaign: required with every mode but INFINITE, refused with INFINITE."""
    currency, mode = CURRENCIES[account.currency], data["budget_mode"]
    if mode == INFINITE_BUDGET:
        if data["budget_optimize_on"]:
            raise invalid_value_error("budget_mode", "campaign budget optimization needs a budget on the campaign")
        if data.get("budget"):
            raise invalid_value_error("budget", f"must be left out with {INFINITE_BUDGET}")
        return
    if "budget" not in data:
        raise missing_value_error("budget", f"is required with {mode}")
    check_money(currency, "budget", data["budget"])
    check_range(
        "budget",
        data["budget"],
        currency.min_campaign_budget,
        None if mode == TOTAL_BUDGET else currency.max_daily_budget,
    )


def check_ad_group(change: AdGroupChange) -> None:
    """Check an ad group against all rules. Raises InvalidRequest."""
    _check_placement(change)
    _check_schedule(change)
    _check_budget(change)
    _check_bid(change)
    _check_targeting(change)


def check_money(currency: Currency, where: str, value: Decimal) -> None:
    """Check that an amount has no more digits than the currency; trailing zeros do not count. Raises InvalidRequest."""
    exponent = value.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > currency.decimals:
        raise invalid_value_error(where, f"must have at most {currency.decimals} digits after the point")


def check_range(where: str, value: Decimal, least: Decimal, below: Decimal | None) -> None:
    """Check an amount against `least` (inclusive) and `below` (exclusive). Raises InvalidRequest."""
    if value < least:
        raise invalid_value_error(where, f"must be {least} or more")
    if below is not None and value >= below:
        raise invalid_value_error(where, f"must be less than {below}")


def _check_placement(change: AdGroupChange) -> None:
    data = change.data
    if change.campaign["objective_type"] == "TRAFFIC" and "promotion_type" not in data:
        raise missing_value_error("promotion_type", "is required for the objective TRAFFIC")
    if (data["placement_type"] == "PLACEMENT_TYPE_NORMAL") != ("placements" in data):
        raise invalid_value_error("placements", "goes with PLACEMENT_TYPE_NORMAL, and only with it")
    goal, billing = data["optimization_goal"], data["billing_event"]
    if BILLING_BY_GOAL.get(goal, billing) != billing:
        raise invalid_value_error("billing_event", f"must be {BILLING_BY_GOAL[goal]} with the optimization goal {goal}")
    if change.campaign["objective_type"] == "TRAFFIC" and goal == "CLICK":
        for name in ("pixel_id", "optimization_event"):
            if name in data:
                raise invalid_value_error(name, "is not valid with TRAFFIC and CLICK")


def _check_schedule(change: AdGroupChange) -> None:
    data = change.data
    start = parse_instant(data["schedule_start_time"])
    if change.is_changed("schedule_start_time"):
        if change.before is not None and parse_instant(change.before["schedule_start_time"]) <= change.now:
            raise invalid_value_error("schedule_start_time", "cannot be changed once the ad group has started")
        if start < change.now - timedelta(hours=12):
            raise invalid_value_error("schedule_start_time", "must not be more than 12 hours ago")
        if start > LATEST_START:
            raise invalid_value_error("schedule_start_time", "must not be after 2028-01-01")
    if data["schedule_type"] == SCHEDULE_FROM_NOW:
        if "schedule_end_time" in data:
            raise invalid_value_error("schedule_end_time", f"goes with {SCHEDULE_START_END} only")
        return
    if "schedule_end_time" not in data:
        raise missing_value_error("schedule_end_time", f"is required with {SCHEDULE_START_END}")
    end = parse_instant(data["schedule_end_time"])
    if end <= start or end > LATEST_END:
        raise invalid_value_error("schedule_end_time", "must be after the start and not after 2038-01-01")
    if change.is_changed("schedule_end_time") and end <= change.now:
        raise invalid_value_error("schedule_end_time", "must not be in the past")


def _check_budget(change: AdGroupChange) -> None:
    data, currency = change.data, change.currency
    mode = data.get("budget_mode")
    if change.campaign["budget_optimize_on"]:
        if mode not in (None, INFINITE_BUDGET) or data.get("budget"):
            raise invalid_value_error("budget", "the campaign holds the budget (budget_optimize_on)")
        return
    if mode is None or mode == INFINITE_BUDGET:
        raise missing_value_error("budget_mode", "the ad group needs a daily or a lifetime budget")
    if "budget" not in data:
        raise missing_value_error("budget")
    if mode == TOTAL_BUDGET and change.campaign["budget_mode"] == "BUDGET_MODE_DAY":
        raise invalid_value_error("budget_mode", "a campaign with BUDGET_MODE_DAY forbids BUDGET_MODE_TOTAL")
    if mode == TOTAL_BUDGET and data["schedule_type"] == SCHEDULE_FROM_NOW:
        raise invalid_value_error("budget_mode", f"{SCHEDULE_FROM_NOW} forbids {TOTAL_BUDGET}")
    check_money(currency, "budget", data["budget"])
    least = currency.min_ad_group_budget
    if mode == TOTAL_BUDGET:  # the minimum is per scheduled day; a started day counts as a day
        days = -(
            (parse_instant(data["schedule_start_time"]) - parse_instant(data["schedule_end_time"])) // timedelta(days=1)
        )
        check_range("budget", data["budget"], least * days, None)
    else:
        check_range("budget", data["budget"], least, currency.max_daily_budget)


def _check_bid(change: AdGroupChange) -> None:
    data, currency = change.data, change.currency
    name = "conversion_bid_price" if data["billing_event"] in ("OCPM", "OCPC") else "bid_price"
    other = {"conversion_bid_price": "bid_price", "bid_price": "conversion_bid_price"}[name]
    if other in data:
        raise invalid_value_error(other, f"the bid of {data['billing_event']} is {name}")
    if data["bid_type"] != CUSTOM_BID:
        if name in data:
            raise invalid_value_error(name, f"needs {CUSTOM_BID}")
        if data.get("pacing") == "PACING_MODE_FAST":
            raise invalid_value_error("pacing", f"PACING_MODE_FAST is only allowed with {CUSTOM_BID}")
        return
    if not data.get(name):
        raise missing_value_error(name, f"is required with {CUSTOM_BID}")
    check_money(currency, name, data[name])
    if "budget" in data and data[name] >= data["budget"]:
        raise invalid_value_error(name, "must be less than the budget")


def _check_targeting(change: AdGroupChange) -> None:
    targeting, place = change.targeting, change.targeting_path
    locations, codes = targeting.get("location_ids", []), targeting.get("zipcode_ids", [])
    if not locations and not codes:
        raise missing_value_error(f"{place}location_ids", "location_ids or zipcode_ids is required")
    if len(locations) + len(codes) > MAX_LOCATIONS:
        raise invalid_value_error(f"{place}location_ids", f"at most {MAX_LOCATIONS} locations")
    check_locations(locations, f"/{place}location_ids")
    countries = _list_countries(targeting)
    if "AGE_13_17" in targeting.get("age_groups", ()) and countries & COUNTRIES_WITHOUT_MINORS:
        country_codes = ", ".join(sorted(countries & COUNTRIES_WITHOUT_MINORS))
        raise InvalidRequest("minors", f"/{place}age_groups", f"ages 13 to 17 cannot be targeted in {country_codes}")
    if change.targeting_before is not None and "US" in _list_countries(change.targeting_before) - countries:
        raise invalid_value_error(f"{place}location_ids", "once the US was targeted, it cannot be removed entirely")


def _list_countries(targeting: Data) -> set[str]:
    return {
        LOCATIONS[location_id].country for location_id in targeting.get("location_ids", ()) if location_id in LOCATIONS
    }
