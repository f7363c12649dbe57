"""Rules for campaigns, ad groups and ads.

Every broken rule is an InvalidRequest `rule`: one entry of `exceptions`. `old` is the object before an update, None on
creation.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adsunify.sandbox.networks.pinterest import tables
from adsunify.sandbox.networks.pinterest.targeting import check_targeting
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity, World

Data = Mapping[str, Any]
FINAL_STATUSES = ("ARCHIVED", "DELETED_DRAFT")
SPEND_CAP_MEMBERS = ("daily_spend_cap", "lifetime_spend_cap")
# Pinterest API v5: statuses that only drafts have
IMMUTABLE_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": split_words("""
        objective_type is_campaign_budget_optimization is_performance_plus is_automated_campaign intended_promotion_type
    """),
    "ad_group": ("billable_event", "budget_type", "campaign_id"),
    "ad": ("pin_id", "creative_type", "ad_group_id"),
}
# Members that null does not clear, and the value that clears each of them.
CLEARING_VALUES: Mapping[str, Mapping[str, Any]] = {
    "campaign": {"end_time": -1, "order_line_id": "0", "tracking_urls": {}},
    "ad_group": {"promotion_ids": [], "tracking_urls": {}, "targeting_template_ids": ["0"], "promotion_id": "0"},
    "ad": {"tracking_urls": {}},
}
UNCLEARABLE_MEMBERS = ("name", "status", "objective_type")


def get_bid_floor(currency: str) -> int:
    """The least bid in micros."""
    return tables.BID_FLOORS.get(currency, tables.DEFAULT_BID_FLOOR)


def rule_error(where: str, message: str) -> InvalidRequest:
    """The InvalidRequest for a rule that a member of an object breaks."""
    return InvalidRequest("rule", f"/{where}", message)


def normalize_members(kind: str, content: Data, old: Data | None) -> dict[str, Any]:
    """The members of a request as the network stores them.

    On creation null is absent; in an update the clearing values become null.
    """
    if old is None:
        return {name: value for name, value in content.items() if value is not None}
    members: dict[str, Any] = {}
    for name, value in content.items():
        clears = CLEARING_VALUES[kind].get(name)
        if name in CLEARING_VALUES[kind] and value == clears:
            members[name] = None
        elif value is not None or (name not in CLEARING_VALUES[kind] and name not in UNCLEARABLE_MEMBERS):
            members[name] = value
    return members


def check_status(kind: str, status: str, old: Data | None) -> None:
    """Check the change of a status: DRAFT and DELETED_DRAFT are only for drafts."""
    before = None if old is None else old["status"]
    if before is None:
        if status in FINAL_STATUSES:
            raise rule_error("status", f"nothing is created {status}")
    elif before == "DRAFT":
        if status == "ARCHIVED":
            raise rule_error("status", "a draft is not archived; use DELETED_DRAFT")
    elif status in ("DRAFT", "DELETED_DRAFT"):
        raise rule_error("status", f"only a draft can be {status}")


def check_changeable(kind: str, old: Data, changes: Data) -> None:
    """Refuse any change of an archived object, and changes of fixed members of an object that is not a draft."""
    if old["status"] in FINAL_STATUSES:
        raise rule_error("status", f"the object is {old['status']} and cannot be changed")
    for name in IMMUTABLE_MEMBERS[kind] if old["status"] != "DRAFT" else ():
        if name in changes and changes[name] != old.get(name):
            raise rule_error(name, f"{name} may only be updated while the object is a draft")


def check_campaign(data: Data, old: Data | None, now: datetime) -> None:
    """Check budget, schedule and objective of a campaign."""
    caps = [name for name in SPEND_CAP_MEMBERS if data.get(name) is not None]
    budgeted = data.get("is_campaign_budget_optimization")
    if old is None and data["objective_type"] in tables.ENDING_OBJECTIVES and now.date().isoformat() >= "2027-02-01":
        raise rule_error("objective_type", f"{data['objective_type']} is no longer available; use SALES")
    if (
        old is None and data["objective_type"] in tables.CAMPAIGN_BUDGET_OBJECTIVES and not budgeted
    ):  # the defaults are our choice
        raise rule_error("is_campaign_budget_optimization", f"must be true for {data['objective_type']}")
    if len(caps) > 1:
        raise rule_error(caps[1], "daily_spend_cap and lifetime_spend_cap cannot be set at the same time")
    if budgeted and not caps:
        raise rule_error("daily_spend_cap", "a spend cap is required for campaign budget optimization")
    if data.get("is_flexible_daily_budgets") and not (budgeted and caps == ["daily_spend_cap"]):
        raise rule_error("is_flexible_daily_budgets", "needs campaign budget optimization with a daily spend cap")
    if budgeted and "lifetime_spend_cap" in caps and data.get("end_time") is None:
        raise rule_error("end_time", "must be provided with a lifetime spend cap")
    if data.get("end_time") is not None and data["end_time"] <= data["start_time"]:
        raise rule_error("end_time", "must be after start_time")
    if old is None:
        return
    if data["start_time"] != old["start_time"] and old["start_time"] <= now.timestamp():
        raise rule_error("start_time", "cannot be changed once it has passed")
    before, after = old.get("daily_spend_cap"), data.get("daily_spend_cap")
    # a rule that users report; unverified
    if before is not None and after is not None and 0 < after - before < tables.MICROS:
        raise rule_error("daily_spend_cap", "a daily budget rises by 1.00 or more")


def check_ad_group(data: Data, old: Data | None, campaign: Data, account: Account) -> None:
    """Check budget, bid, schedule and targeting of an ad group against its campaign."""
    _check_budget(data, bool(campaign.get("is_campaign_budget_optimization")))
    _check_bid(data, old, campaign["objective_type"], account.currency)
    if data.get("lifetime_frequency_cap") is not None and (
        data["billable_event"] != "IMPRESSION" or data.get("end_time") is None
    ):
        raise rule_error("lifetime_frequency_cap", "needs billable_event IMPRESSION and end_time")
    start, end = data.get("start_time"), data.get("end_time")
    if start is not None and start < campaign["start_time"]:
        raise rule_error("start_time", "must not precede the start of the campaign")
    if end is not None and end <= (start or campaign["start_time"]):
        raise rule_error("end_time", "must be after start_time")
    if data.get("targeting_template_ids"):
        if data.get("targeting_spec") or data.get("tracking_urls"):
            raise rule_error("targeting_template_ids", "goes without any other targeting")
    else:
        check_targeting(data.get("targeting_spec") or {})


def _check_budget(data: Data, budgeted: bool) -> None:
    kind, budget = data["budget_type"], data.get("budget_in_micro_currency")
    if budgeted:
        if kind != "CBO_ADGROUP":
            raise rule_error("budget_type", "must be CBO_ADGROUP under campaign budget optimization")
        if budget is not None:
            raise rule_error("budget_in_micro_currency", "the budget is held by the campaign")
        if data["pacing_delivery_type"] != "STANDARD":
            raise rule_error("pacing_delivery_type", "must be STANDARD under campaign budget optimization")
        for name in ("start_time", "end_time"):
            if data.get(name) is not None:
                raise rule_error(name, "the schedule is held by the campaign (closed beta)")
        return
    if kind == "CBO_ADGROUP":
        raise rule_error("budget_type", "CBO_ADGROUP needs campaign budget optimization")
    if budget is None:
        raise rule_error("budget_in_micro_currency", "is required without campaign budget optimization")
    if kind == "LIFETIME" and data.get("end_time") is None:
        raise rule_error("end_time", "is required with a LIFETIME budget")


def _check_bid(data: Data, old: Data | None, objective: str, currency: str) -> None:
    billed = tables.BILLABLE_EVENTS.get(objective)
    if billed is not None and data["billable_event"] != billed:
        raise rule_error("billable_event", f"must be {billed} for {objective}")
    strategy, bid = data["bid_strategy_type"], data.get("bid_in_micro_currency")
    if objective == "VIDEO_COMPLETION" and strategy != "AUTOMATIC_BID":
        raise rule_error("bid_strategy_type", "must be AUTOMATIC_BID for VIDEO_COMPLETION")
    # Pinterest API v5: can be read, but no longer written
    if strategy == "TARGET_AVG" and (old is None or old["bid_strategy_type"] != "TARGET_AVG"):
        raise rule_error("bid_strategy_type", "TARGET_AVG is no longer available")
    if strategy == "AUTOMATIC_BID" and bid is not None:
        raise rule_error("bid_in_micro_currency", "goes without AUTOMATIC_BID")
    if strategy != "AUTOMATIC_BID" and bid is None:
        raise rule_error("bid_in_micro_currency", f"is required with {strategy}")
    if bid is not None and bid < get_bid_floor(currency):
        raise rule_error("bid_in_micro_currency", f"is below the bid floor of {get_bid_floor(currency)}")
    if data.get("bid_multiplier") and strategy != "AUTOMATIC_BID":
        raise rule_error("bid_multiplier", "needs AUTOMATIC_BID")


def get_summary_status(world: World, entity: StoredEntity) -> str:
    """The read-only `summary_status`."""
    data = entity.data
    if data["status"] != "ACTIVE":
        return str(data["status"])
    if entity.kind == "ad":
        return get_review_status(world, entity)
    if (data.get("start_time") or 0) > world.now.timestamp():
        return "NOT_STARTED"
    return "COMPLETED" if (data.get("end_time") or 1e12) <= world.now.timestamp() else "RUNNING"


REVIEW_SECONDS = 60  # our choice: undocumented


def get_review_status(world: World, ad: StoredEntity) -> str:
    """The `review_status` of an ad: PENDING at first, then APPROVED or REJECTED."""
    if world.is_refused(ad):
        return "REJECTED"
    return "APPROVED" if (world.now - ad.created_at).total_seconds() >= REVIEW_SECONDS else "PENDING"
