"""Rules for objects, beyond the types of their members."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import rule_error
from adsunify.sandbox.networks.chatgpt import figures, tables
from adsunify.sandbox.networks.chatgpt.catalogs import build_event_settings
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

_DAILY_LIMIT, _LIFETIME_LIMIT = "daily_spend_limit_micros", "lifetime_spend_limit_micros"


def check_campaign(world: World, account: Account, new: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
    """Check a campaign as it would be stored. Raises InvalidRequest."""
    if new.get("mode") is not None or new.get("product_feed_id") is not None:
        raise InvalidRequest("feature", "/mode", "Product feed campaigns are not enabled")
    _check_budget(account, new["budget"])
    start, end = new.get("start_time"), new.get("end_time")
    if end is not None and start is not None and end <= start:
        raise rule_error("/end_time", "must be after start_time")
    # our choice: undocumented
    if end is not None and end != (old or {}).get("end_time") and end <= world.now.timestamp():
        raise rule_error("/end_time", "must be in the future")
    events = new.get("conversion_event_setting_ids", [])
    if new["bidding_type"] == "conversions":
        _check_goal(world, account, events)
    if old is not None and old["bidding_type"] == "conversions" and events != old["conversion_event_setting_ids"]:
        raise rule_error("/conversion_event_setting_ids", "cannot be changed on a conversions campaign")


def check_budget_change(world: World, entity: StoredEntity, new: Mapping[str, Any]) -> None:
    """Check a change: lifetime may become daily once, daily never lifetime, and no budget is below the spend."""
    old = entity.data["budget"]
    if _LIFETIME_LIMIT in new:
        if _DAILY_LIMIT in old:
            raise rule_error("/budget/lifetime_spend_limit_micros", "a daily budget cannot become a lifetime budget")
        spent = figures.get_spend(world, entity)
        if new[_LIFETIME_LIMIT] < spent:
            raise rule_error("/budget/lifetime_spend_limit_micros", f"must be at least the {spent} micros spent so far")


def _check_budget(account: Account, budget: Mapping[str, int]) -> None:
    currency = tables.CURRENCIES[account.currency]
    (name, micros), *_ = budget.items()
    if micros % currency.smallest_unit:
        raise InvalidRequest("value", f"/budget/{name}", f"must be a multiple of {currency.smallest_unit} micros")
    if name == _DAILY_LIMIT and micros < currency.min_daily_budget:
        least = currency.min_daily_budget // tables.MICROS
        raise InvalidRequest("value", f"/budget/{name}", f"Daily budget must be at least {least} {account.currency}")


def _check_goal(world: World, account: Account, events: list[str]) -> None:
    """Check that there is exactly one active standard event with a source."""
    where = "/conversion_event_setting_ids"
    if not account.extra["conversions"]:
        raise InvalidRequest("feature", where, "Conversion bidding is not enabled")
    if len(events) != 1:
        raise rule_error(where, "a conversions campaign needs exactly one conversion event setting")
    setting = next(
        (candidate for candidate in build_event_settings(world, account) if candidate["id"] == events[0]), None
    )
    if setting is None:  # any other well-formed id exists
        return
    if setting["archived"] or setting["custom_event_name"] is not None or not setting["sources"]:
        raise rule_error(where, "must be an active standard event setting with an active source")


def check_ad_group(account: Account, new: Mapping[str, Any], above: StoredEntity, *, key: bool) -> None:
    """Check an ad group as it would be stored against its campaign. `key`: the request had an Idempotency-Key."""
    bidding, where = new["bidding_config"], "/bidding_config"
    bidding_type = above.data["bidding_type"]
    if bidding["billing_event_type"] != tables.BILLING_BY_BIDDING_TYPE[bidding_type]:
        raise rule_error(
            f"{where}/billing_event_type",
            f"must be {tables.BILLING_BY_BIDDING_TYPE[bidding_type]} in a {bidding_type} campaign",
        )
    strategy = bidding["strategy"]
    bid = bidding.get("max_bid_micros")
    if strategy in tables.BIDDING_TYPE_BY_STRATEGY:
        if bid is not None:
            raise rule_error(f"{where}/max_bid_micros", f"must not be given with {strategy}")
        if bidding.get("custom_audience_bid_multipliers"):
            raise rule_error(f"{where}/custom_audience_bid_multipliers", f"must not be given with {strategy}")
        if _DAILY_LIMIT not in above.data["budget"]:
            raise rule_error(f"{where}/strategy", f"{strategy} needs a daily budget")
        if tables.BIDDING_TYPE_BY_STRATEGY[strategy] != bidding_type:
            raise rule_error(f"{where}/strategy", f"{strategy} does not go with a {bidding_type} campaign")
        if not key:
            raise InvalidRequest("header", "Idempotency-Key", f"is required with {strategy}")
    elif bid is None:
        raise rule_error(f"{where}/max_bid_micros", "is required with fixed_bid")
    elif bid > tables.CURRENCIES[account.currency].max_bid:
        raise InvalidRequest(
            "value", f"{where}/max_bid_micros", f"must be {tables.CURRENCIES[account.currency].max_bid} or less"
        )


def check_ad(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
    """Check that a creative is complete. Raises InvalidRequest."""
    creative = new["creative"]
    if old is not None and creative["type"] != old["creative"]["type"]:
        raise rule_error("/creative/type", "cannot be changed")
    if creative["type"] == "product_ad_template":
        raise InvalidRequest("feature", "/creative/type", "Product feed campaigns are not enabled")
    for name in ("target_url", "file_id"):
        if name not in creative:
            raise InvalidRequest("required", f"/creative/{name}", "is required for a chat_card")
