"""The cross rules of campaigns and ad sets, each with the parameters that make it run."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from attrs import frozen

from adsunify.sandbox.framework import Account, Entity, Problem
from adsunify.sandbox.networks.meta.accounts import LEAST_BIDS
from adsunify.sandbox.networks.meta.targeting import check_targeting, touches_eu


@frozen
class Change:
    """What an entity would look like, before it is kept. `campaign`: the ad set's; `creating`: it is new."""

    data: Mapping[str, Any]
    account: Account
    now: datetime
    creating: bool
    campaign: Entity | None = None


Rule = tuple[str, Callable[[Change], None]]
BUDGETS = ("daily_budget", "lifetime_budget")
# (Optimization goals, destination types: None = must be left out) of the goals that the documentation describes.
GOALS: Mapping[str, tuple[frozenset[str], bool]] = {
    "OUTCOME_TRAFFIC": (frozenset({"LINK_CLICKS", "LANDING_PAGE_VIEWS", "IMPRESSIONS", "REACH"}), True),
    "OUTCOME_AWARENESS": (frozenset({"REACH", "IMPRESSIONS", "AD_RECALL_LIFT", "THRUPLAY"}), False),
    "OUTCOME_SALES": (frozenset({"OFFSITE_CONVERSIONS", "VALUE", "LINK_CLICKS", "IMPRESSIONS", "REACH"}), True),
}
CAPPED = ("LOWEST_COST_WITH_BID_CAP", "COST_CAP")


def wrong(field: str, message: str) -> Problem:
    """A parameter that does not go with the others."""
    return Problem("combination", f"/{field}", message)


def needed(field: str, message: str) -> Problem:
    """A parameter that the others make necessary."""
    return Problem("required", f"/{field}", message)


def has_budget(data: Mapping[str, Any]) -> bool:
    """Whether the budget sits here."""
    return any(name in data for name in BUDGETS)


def _special_categories(change: Change) -> None:
    categories = change.data["special_ad_categories"]
    if "NONE" in categories and categories != ["NONE"]:
        raise wrong("special_ad_categories", "NONE goes with no other category")
    if categories not in ([], ["NONE"]) and not change.data.get("special_ad_category_country"):
        raise needed("special_ad_category_country", "is required with special_ad_categories")


def _budget_sharing(change: Change) -> None:
    if not has_budget(change.data) and "is_adset_budget_sharing_enabled" not in change.data:  # since v24
        raise needed("is_adset_budget_sharing_enabled", "must be given for a campaign without a budget")


def _campaign_budget(change: Change) -> None:
    data = change.data
    if all(name in data for name in BUDGETS):
        raise wrong("lifetime_budget", "only one of daily_budget and lifetime_budget may be given")
    for name in BUDGETS:
        _at_least(name, data.get(name), change.account.extra["native"]["min_daily_budget"])
    if "bid_strategy" in data and not has_budget(data):
        raise wrong("bid_strategy", "belongs to the ad set when the campaign has no budget")


def _spend_cap(change: Change) -> None:
    _at_least(
        "spend_cap", change.data.get("spend_cap"), int(change.account.extra["native"]["min_campaign_group_spend_cap"])
    )


def _at_least(name: str, amount: int | None, least: int) -> None:
    if amount is not None and amount < least:
        raise Problem("value", f"/{name}", f"is too low: must be {least} or more", amount)


CAMPAIGN: tuple[Rule, ...] = (
    ("special_ad_categories special_ad_category_country", _special_categories),
    ("is_adset_budget_sharing_enabled", _budget_sharing),
    ("daily_budget lifetime_budget bid_strategy", _campaign_budget),
    ("spend_cap", _spend_cap),
)


def _budget_place(change: Change) -> None:
    data, campaign = change.data, change.campaign
    assert campaign is not None
    if has_budget(campaign.data):
        for name in (*BUDGETS, "bid_strategy"):  # bid_strategy "only with campaign budget" there
            if name in data:
                raise wrong(name, "belongs to the campaign, which has the budget")
    elif not has_budget(data):
        raise needed("daily_budget", "a daily or lifetime budget is required")
    elif all(name in data for name in BUDGETS):
        raise wrong("lifetime_budget", "only one of daily_budget and lifetime_budget may be given")


def _schedule(change: Change) -> None:
    data, now = change.data, change.now
    assert change.campaign is not None
    start, end = max(data.get("start_time", now), now), data.get("end_time")  # a start in the past starts at once
    lifetime = "lifetime_budget" in data or "lifetime_budget" in change.campaign.data
    if lifetime and end is None:
        raise needed("end_time", "is required with a lifetime budget")
    if end is not None and end <= start:
        raise wrong("end_time", "must lie in the future and after start_time")
    if end is not None and not lifetime and end - start <= timedelta(hours=24):
        raise wrong("end_time", "with a daily budget the ad set must run for more than 24 hours")
    least = change.account.extra["native"]["min_daily_budget"]
    _at_least("daily_budget", data.get("daily_budget"), least)
    if "lifetime_budget" in data and end is not None:
        days = -((start - end) // timedelta(days=1))  # whole days begun
        _at_least("lifetime_budget", data["lifetime_budget"], least * days)  # daily minimum x days


def _bidding(change: Change) -> None:
    data, campaign = change.data, change.campaign
    assert campaign is not None
    # neither given: the documentation does not say; lowest cost without a cap, whatever else is given (chosen)
    strategy = campaign.data.get("bid_strategy") or data.get("bid_strategy", "LOWEST_COST_WITHOUT_CAP")
    if strategy in CAPPED and "bid_amount" not in data:
        raise needed("bid_amount", f"is required with {strategy}")
    if strategy not in CAPPED and "bid_amount" in data:
        raise wrong("bid_amount", f"does not go with {strategy}")
    if (strategy == "LOWEST_COST_WITH_MIN_ROAS") != ("roas_average_floor" in data.get("bid_constraints", {})):
        raise wrong("bid_constraints", "roas_average_floor goes with LOWEST_COST_WITH_MIN_ROAS, and only with it")
    per_thousand, per_event = LEAST_BIDS[change.account.currency]
    least = per_thousand if data["billing_event"] == "IMPRESSIONS" else per_event
    _at_least("bid_amount", data.get("bid_amount"), least)


def _goal(change: Change) -> None:
    data, campaign = change.data, change.campaign
    assert campaign is not None
    goal, billing = data["optimization_goal"], data["billing_event"]
    objective, destination = campaign.data["objective"], data.get("destination_type", "WEBSITE")
    goals, has_destination = GOALS.get(objective, (frozenset[str](), True))
    if not has_destination and "destination_type" in data:
        raise wrong("destination_type", f"must be left out for {objective}")
    if goals and destination == "WEBSITE" and goal not in goals:
        raise wrong("optimization_goal", f"{goal} does not go with {objective}")
    if billing not in ("IMPRESSIONS", goal):  # no further pairs are documented
        raise wrong("billing_event", f"{billing} does not go with optimization_goal {goal}")
    if billing in ("LINK_CLICKS", "CLICKS") and not change.account.extra["click_billing"]:
        raise Problem("click_billing", "/billing_event", "this account cannot be billed by clicks yet")
    promoted = data.get("promoted_object")
    if objective == "OUTCOME_AWARENESS" and "page_id" not in (promoted or {}):
        raise needed("promoted_object", "page_id is required")
    if objective == "OUTCOME_TRAFFIC" and destination == "WEBSITE" and promoted is not None:
        raise wrong("promoted_object", "goes with no traffic to a website")
    if goal in ("OFFSITE_CONVERSIONS", "VALUE"):
        _conversion(promoted or {})


def _conversion(promoted: Mapping[str, Any]) -> None:
    if "custom_conversion_id" in promoted or "product_set_id" in promoted:
        return
    for name in ("pixel_id", "custom_event_type"):
        if name not in promoted:
            raise needed("promoted_object", f"{name} is required")
    if promoted["custom_event_type"] == "OTHER" and "custom_event_str" not in promoted:
        raise needed("promoted_object", "custom_event_str is required with OTHER")


def _targeting(change: Change) -> None:
    check_targeting(change.data["targeting"])


def _dsa(change: Change) -> None:
    if touches_eu(change.data["targeting"]):
        # Whether the account's defaults would be filled in is not in the documentation: strictly, they are not.
        for name in ("dsa_beneficiary", "dsa_payor"):
            if name not in change.data:
                raise needed(name, "is required for ads that can be shown in the EU or associated territories")


ADSET: tuple[Rule, ...] = (
    ("daily_budget lifetime_budget bid_strategy", _budget_place),
    ("optimization_goal billing_event destination_type promoted_object", _goal),
    ("bid_strategy bid_amount bid_constraints", _bidding),
    ("daily_budget lifetime_budget start_time end_time", _schedule),
    ("targeting", _targeting),
    ("targeting dsa_beneficiary dsa_payor", _dsa),
)


def check(rules: tuple[Rule, ...], change: Change, given: Mapping[str, Any]) -> None:
    """Run every rule on a new entity, else those of the changed parameters. Raises Problem."""
    for names, rule in rules:
        if change.creating or any(name in given for name in names.split()):
            rule(change)
