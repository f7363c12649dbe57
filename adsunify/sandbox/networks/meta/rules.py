"""The cross rules of campaigns and ad sets, each with the parameters that trigger it."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from attrs import frozen

from adsunify.sandbox.networks.meta.accounts import MIN_BIDS
from adsunify.sandbox.networks.meta.targeting import check_targeting, reaches_eu
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity


@frozen
class EntityChange:
    """An entity before it is stored. `campaign`: the campaign of an ad set; `creating`: whether the entity is new."""

    data: Mapping[str, Any]
    account: Account
    now: datetime
    creating: bool
    campaign: StoredEntity | None = None


Rule = tuple[str, Callable[[EntityChange], None]]
BUDGET_MEMBERS = ("daily_budget", "lifetime_budget")
# By objective that the documentation describes: the optimization goals, and whether destination_type may be sent.
GOALS_BY_OBJECTIVE: Mapping[str, tuple[frozenset[str], bool]] = {
    "OUTCOME_TRAFFIC": (frozenset({"LINK_CLICKS", "LANDING_PAGE_VIEWS", "IMPRESSIONS", "REACH"}), True),
    "OUTCOME_AWARENESS": (frozenset({"REACH", "IMPRESSIONS", "AD_RECALL_LIFT", "THRUPLAY"}), False),
    "OUTCOME_SALES": (frozenset({"OFFSITE_CONVERSIONS", "VALUE", "LINK_CLICKS", "IMPRESSIONS", "REACH"}), True),
}
CAPPED_BID_STRATEGIES = ("LOWEST_COST_WITH_BID_CAP", "COST_CAP")


def invalid_value_error(field: str, message: str) -> InvalidRequest:
    """The error for a parameter that conflicts with others."""
    return InvalidRequest("combination", f"/{field}", message)


def missing_value_error(field: str, message: str) -> InvalidRequest:
    """The error for a parameter that others require."""
    return InvalidRequest("required", f"/{field}", message)


def has_budget(data: Mapping[str, Any]) -> bool:
    """Whether the entity has the budget."""
    return any(name in data for name in BUDGET_MEMBERS)


def _check_special_categories(change: EntityChange) -> None:
    categories = change.data["special_ad_categories"]
    if "NONE" in categories and categories != ["NONE"]:
        raise invalid_value_error("special_ad_categories", "NONE goes with no other category")
    if categories not in ([], ["NONE"]) and not change.data.get("special_ad_category_country"):
        raise missing_value_error("special_ad_category_country", "is required with special_ad_categories")


def _check_budget_sharing(change: EntityChange) -> None:
    if not has_budget(change.data) and "is_adset_budget_sharing_enabled" not in change.data:  # required since v24
        raise missing_value_error("is_adset_budget_sharing_enabled", "must be given for a campaign without a budget")


def _check_campaign_budget(change: EntityChange) -> None:
    data = change.data
    if all(name in data for name in BUDGET_MEMBERS):
        raise invalid_value_error("lifetime_budget", "only one of daily_budget and lifetime_budget may be given")
    for name in BUDGET_MEMBERS:
        _check_minimum(name, data.get(name), change.account.extra["native"]["min_daily_budget"])
    if "bid_strategy" in data and not has_budget(data):
        raise invalid_value_error("bid_strategy", "belongs to the ad set when the campaign has no budget")


def _check_spend_cap(change: EntityChange) -> None:
    _check_minimum(
        "spend_cap", change.data.get("spend_cap"), int(change.account.extra["native"]["min_campaign_group_spend_cap"])
    )


def _check_minimum(name: str, amount: int | None, least: int) -> None:
    if amount is not None and amount < least:
        raise InvalidRequest("value", f"/{name}", f"is too low: must be {least} or more", amount)


CAMPAIGN_RULES: tuple[Rule, ...] = (
    ("special_ad_categories special_ad_category_country", _check_special_categories),
    ("is_adset_budget_sharing_enabled", _check_budget_sharing),
    ("daily_budget lifetime_budget bid_strategy", _check_campaign_budget),
    ("spend_cap", _check_spend_cap),
)


def _check_budget_place(change: EntityChange) -> None:
    data, campaign = change.data, change.campaign
    assert campaign is not None
    if has_budget(campaign.data):
        for name in (
            *BUDGET_MEMBERS,
            "bid_strategy",
        ):  # the documentation on bid_strategy of a campaign: "only with campaign budget"
            if name in data:
                raise invalid_value_error(name, "belongs to the campaign, which has the budget")
    elif not has_budget(data):
        raise missing_value_error("daily_budget", "a daily or lifetime budget is required")
    elif all(name in data for name in BUDGET_MEMBERS):
        raise invalid_value_error("lifetime_budget", "only one of daily_budget and lifetime_budget may be given")


def _check_schedule(change: EntityChange) -> None:
    data, now = change.data, change.now
    assert change.campaign is not None
    start, end = max(data.get("start_time", now), now), data.get("end_time")  # a start in the past means now
    lifetime = "lifetime_budget" in data or "lifetime_budget" in change.campaign.data
    if lifetime and end is None:
        raise missing_value_error("end_time", "is required with a lifetime budget")
    if end is not None and end <= start:
        raise invalid_value_error("end_time", "must lie in the future and after start_time")
    if end is not None and not lifetime and end - start <= timedelta(hours=24):
        raise invalid_value_error("end_time", "with a daily budget the ad set must run for more than 24 hours")
    least = change.account.extra["native"]["min_daily_budget"]
    _check_minimum("daily_budget", data.get("daily_budget"), least)
    if "lifetime_budget" in data and end is not None:
        days = -((start - end) // timedelta(days=1))  # a started day counts as a day
        _check_minimum("lifetime_budget", data["lifetime_budget"], least * days)  # daily minimum x days


def _check_bidding(change: EntityChange) -> None:
    data, campaign = change.data, change.campaign
    assert campaign is not None
    # undocumented if both are absent: lowest cost without a cap (our choice)
    strategy = campaign.data.get("bid_strategy") or data.get("bid_strategy", "LOWEST_COST_WITHOUT_CAP")
    if strategy in CAPPED_BID_STRATEGIES and "bid_amount" not in data:
        raise missing_value_error("bid_amount", f"is required with {strategy}")
    if strategy not in CAPPED_BID_STRATEGIES and "bid_amount" in data:
        raise invalid_value_error("bid_amount", f"does not go with {strategy}")
    if (strategy == "LOWEST_COST_WITH_MIN_ROAS") != ("roas_average_floor" in data.get("bid_constraints", {})):
        raise invalid_value_error(
            "bid_constraints", "roas_average_floor goes with LOWEST_COST_WITH_MIN_ROAS, and only with it"
        )
    per_thousand, per_event = MIN_BIDS[change.account.currency]
    least = per_thousand if data["billing_event"] == "IMPRESSIONS" else per_event
    _check_minimum("bid_amount", data.get("bid_amount"), least)


def _check_goal(change: EntityChange) -> None:
    data, campaign = change.data, change.campaign
    assert campaign is not None
    goal, billing = data["optimization_goal"], data["billing_event"]
    objective, destination = campaign.data["objective"], data.get("destination_type", "WEBSITE")
    goals, has_destination = GOALS_BY_OBJECTIVE.get(objective, (frozenset[str](), True))
    if not has_destination and "destination_type" in data:
        raise invalid_value_error("destination_type", f"must be left out for {objective}")
    if goals and destination == "WEBSITE" and goal not in goals:
        raise invalid_value_error("optimization_goal", f"{goal} does not go with {objective}")
    if billing not in ("IMPRESSIONS", goal):  # no further pairs are documented
        raise invalid_value_error("billing_event", f"{billing} does not go with optimization_goal {goal}")
    if billing in ("LINK_CLICKS", "CLICKS") and not change.account.extra["click_billing"]:
        raise InvalidRequest("click_billing", "/billing_event", "this account cannot be billed by clicks yet")
    promoted = data.get("promoted_object")
    if objective == "OUTCOME_AWARENESS" and "page_id" not in (promoted or {}):
        raise missing_value_error("promoted_object", "page_id is required")
    if objective == "OUTCOME_TRAFFIC" and destination == "WEBSITE" and promoted is not None:
        raise invalid_value_error("promoted_object", "goes with no traffic to a website")
    if goal in ("OFFSITE_CONVERSIONS", "VALUE"):
        _check_conversion(promoted or {})


def _check_conversion(promoted: Mapping[str, Any]) -> None:
    if "custom_conversion_id" in promoted or "product_set_id" in promoted:
        return
    for name in ("pixel_id", "custom_event_type"):
        if name not in promoted:
            raise missing_value_error("promoted_object", f"{name} is required")
    if promoted["custom_event_type"] == "OTHER" and "custom_event_str" not in promoted:
        raise missing_value_error("promoted_object", "custom_event_str is required with OTHER")


def _check_targeting(change: EntityChange) -> None:
    check_targeting(change.data["targeting"])


def _check_dsa(change: EntityChange) -> None:
    if reaches_eu(change.data["targeting"]):
        # The documentation does not say whether the account's defaults are filled in: this simulation does not.
        for name in ("dsa_beneficiary", "dsa_payor"):
            if name not in change.data:
                raise missing_value_error(
                    name, "is required for ads that can be shown in the EU or associated territories"
                )


ADSET_RULES: tuple[Rule, ...] = (
    ("daily_budget lifetime_budget bid_strategy", _check_budget_place),
    ("optimization_goal billing_event destination_type promoted_object", _check_goal),
    ("bid_strategy bid_amount bid_constraints", _check_bidding),
    ("daily_budget lifetime_budget start_time end_time", _check_schedule),
    ("targeting", _check_targeting),
    ("targeting dsa_beneficiary dsa_payor", _check_dsa),
)


def check_rules(rules: tuple[Rule, ...], change: EntityChange, members: Mapping[str, Any]) -> None:
    """Run every rule on a new entity, and on an update the rules of the changed parameters. Raises InvalidRequest."""
    for names, rule in rules:
        if change.creating or any(name in members for name in names.split()):
            rule(change)
