"""How the members of a campaign and an ad group fit together."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.sandbox.framework import Account, Problem
from adsunify.sandbox.networks.tiktok.accounts import CURRENCIES, Currency
from adsunify.sandbox.networks.tiktok.places import NO_MINORS, PLACES, check_places
from adsunify.sandbox.networks.tiktok.shapes import moment

Data = Mapping[str, Any]
INFINITE, TOTAL = "BUDGET_MODE_INFINITE", "BUDGET_MODE_TOTAL"
NO_BID, CUSTOM = "BID_TYPE_NO_BID", "BID_TYPE_CUSTOM"
START_END, FROM_NOW = "SCHEDULE_START_END", "SCHEDULE_FROM_NOW"
LATEST_START, LATEST_END = datetime(2028, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
MOST_PLACES = 3000
# what an optimization goal is billed by; a goal that is not here is not simulated further.
BILLING: Mapping[str, str] = {
    "CLICK": "CPC",
    "REACH": "CPM",
    "SHOW": "CPM",
    "CONVERT": "OCPM",
    "INSTALL": "OCPM",
    "TRAFFIC_LANDING_PAGE_VIEW": "OCPM",
    "DESTINATION_VISIT": "OCPM",
    "ENGAGED_VIEW": "CPV",
}


@frozen
class Change:
    """An ad group as it would be after a write: all its members, what it was (None: a create), and its campaign.

    `targeting` stands apart: flat in the manual flow, `targeting_spec` in the other; `place` is where it stands.
    """

    account: Account
    now: datetime
    data: Data
    targeting: Data
    place: str
    campaign: Data
    before: Data | None = None
    targeting_before: Data | None = None

    @property
    def currency(self) -> Currency:
        """The money of the account."""
        return CURRENCIES[self.account.currency]

    def moved(self, name: str) -> bool:
        """Whether this write sets or changes a member."""
        return self.before is None or self.before.get(name) != self.data.get(name)


def wrong(where: str, message: str) -> Problem:
    """A value that does not go with the others."""
    return Problem("value", f"/{where}", message)


def needed(where: str, message: str = "is required") -> Problem:
    """A member that the others call for."""
    return Problem("required", f"/{where}", message)


def check_campaign(account: Account, data: Data) -> None:
    """Budget of a campaign: with a mode other than INFINITE, and only then. Problem."""
    currency, mode = CURRENCIES[account.currency], data["budget_mode"]
    if mode == INFINITE:
        if data["budget_optimize_on"]:
            raise wrong("budget_mode", "campaign budget optimization needs a budget on the campaign")
        if data.get("budget"):
            raise wrong("budget", f"must be left out with {INFINITE}")
        return
    if "budget" not in data:
        raise needed("budget", f"is required with {mode}")
    check_money(currency, "budget", data["budget"])
    check_range("budget", data["budget"], currency.campaign_least, None if mode == TOTAL else currency.ceiling)


def check_ad_group(change: Change) -> None:
    """Everything about an ad group. Problem."""
    _check_placement(change)
    _check_schedule(change)
    _check_budget(change)
    _check_bid(change)
    _check_targeting(change)


def check_money(currency: Currency, where: str, value: Decimal) -> None:
    """No more digits than the currency has; noughts at the end aside. Problem."""
    exponent = value.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > currency.digits:
        raise wrong(where, f"must have at most {currency.digits} digits after the point")


def check_range(where: str, value: Decimal, least: Decimal, below: Decimal | None) -> None:
    """`least` inclusive, `below` exclusive. Problem."""
    if value < least:
        raise wrong(where, f"must be {least} or more")
    if below is not None and value >= below:
        raise wrong(where, f"must be less than {below}")


def _check_placement(change: Change) -> None:
    data = change.data
    if change.campaign["objective_type"] == "TRAFFIC" and "promotion_type" not in data:
        raise needed("promotion_type", "is required for the objective TRAFFIC")
    if (data["placement_type"] == "PLACEMENT_TYPE_NORMAL") != ("placements" in data):
        raise wrong("placements", "goes with PLACEMENT_TYPE_NORMAL, and only with it")
    goal, billing = data["optimization_goal"], data["billing_event"]
    if BILLING.get(goal, billing) != billing:
        raise wrong("billing_event", f"must be {BILLING[goal]} with the optimization goal {goal}")
    if change.campaign["objective_type"] == "TRAFFIC" and goal == "CLICK":
        for name in ("pixel_id", "optimization_event"):
            if name in data:
                raise wrong(name, "is not valid with TRAFFIC and CLICK")


def _check_schedule(change: Change) -> None:
    data = change.data
    start = moment(data["schedule_start_time"])
    if change.moved("schedule_start_time"):
        if change.before is not None and moment(change.before["schedule_start_time"]) <= change.now:
            raise wrong("schedule_start_time", "cannot be changed once the ad group has started")
        if start < change.now - timedelta(hours=12):
            raise wrong("schedule_start_time", "must not be more than 12 hours ago")
        if start > LATEST_START:
            raise wrong("schedule_start_time", "must not be after 2028-01-01")
    if data["schedule_type"] == FROM_NOW:
        if "schedule_end_time" in data:
            raise wrong("schedule_end_time", f"goes with {START_END} only")
        return
    if "schedule_end_time" not in data:
        raise needed("schedule_end_time", f"is required with {START_END}")
    end = moment(data["schedule_end_time"])
    if end <= start or end > LATEST_END:
        raise wrong("schedule_end_time", "must be after the start and not after 2038-01-01")
    if change.moved("schedule_end_time") and end <= change.now:
        raise wrong("schedule_end_time", "must not be in the past")


def _check_budget(change: Change) -> None:
    data, currency = change.data, change.currency
    mode = data.get("budget_mode")
    if change.campaign["budget_optimize_on"]:
        if mode not in (None, INFINITE) or data.get("budget"):
            raise wrong("budget", "the campaign holds the budget (budget_optimize_on)")
        return
    if mode is None or mode == INFINITE:
        raise needed("budget_mode", "the ad group needs a daily or a lifetime budget")
    if "budget" not in data:
        raise needed("budget")
    if mode == TOTAL and change.campaign["budget_mode"] == "BUDGET_MODE_DAY":
        raise wrong("budget_mode", "a campaign with BUDGET_MODE_DAY forbids BUDGET_MODE_TOTAL")
    if mode == TOTAL and data["schedule_type"] == FROM_NOW:
        raise wrong("budget_mode", f"{FROM_NOW} forbids {TOTAL}")
    check_money(currency, "budget", data["budget"])
    least = currency.ad_group_least
    if mode == TOTAL:  # per scheduled day, begun ones counted
        days = -((moment(data["schedule_start_time"]) - moment(data["schedule_end_time"])) // timedelta(days=1))
        check_range("budget", data["budget"], least * days, None)
    else:
        check_range("budget", data["budget"], least, currency.ceiling)


def _check_bid(change: Change) -> None:
    data, currency = change.data, change.currency
    name = "conversion_bid_price" if data["billing_event"] in ("OCPM", "OCPC") else "bid_price"
    other = {"conversion_bid_price": "bid_price", "bid_price": "conversion_bid_price"}[name]
    if other in data:
        raise wrong(other, f"the bid of {data['billing_event']} is {name}")
    if data["bid_type"] != CUSTOM:
        if name in data:
            raise wrong(name, f"needs {CUSTOM}")
        if data.get("pacing") == "PACING_MODE_FAST":
            raise wrong("pacing", f"PACING_MODE_FAST is only allowed with {CUSTOM}")
        return
    if not data.get(name):
        raise needed(name, f"is required with {CUSTOM}")
    check_money(currency, name, data[name])
    if "budget" in data and data[name] >= data["budget"]:
        raise wrong(name, "must be less than the budget")


def _check_targeting(change: Change) -> None:
    targeting, place = change.targeting, change.place
    locations, codes = targeting.get("location_ids", []), targeting.get("zipcode_ids", [])
    if not locations and not codes:
        raise needed(f"{place}location_ids", "location_ids or zipcode_ids is required")
    if len(locations) + len(codes) > MOST_PLACES:
        raise wrong(f"{place}location_ids", f"at most {MOST_PLACES} locations")
    check_places(locations, f"/{place}location_ids")
    countries = _countries(targeting)
    if "AGE_13_17" in targeting.get("age_groups", ()) and countries & NO_MINORS:
        listed = ", ".join(sorted(countries & NO_MINORS))
        raise Problem("minors", f"/{place}age_groups", f"ages 13 to 17 cannot be targeted in {listed}")
    if change.targeting_before is not None and "US" in _countries(change.targeting_before) - countries:
        raise wrong(f"{place}location_ids", "once the US was targeted, it cannot be removed entirely")


def _countries(targeting: Data) -> set[str]:
    return {PLACES[one].country for one in targeting.get("location_ids", ()) if one in PLACES}
