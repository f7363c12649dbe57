"""What must be true of an object beside its members' types."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Entity, Problem, World
from adsunify.sandbox.networks.chatgpt import figures
from adsunify.sandbox.networks.chatgpt.answers import rule
from adsunify.sandbox.networks.chatgpt.catalogs import event_settings
from adsunify.sandbox.networks.chatgpt.tables import BILLING, CURRENCIES, MAXIMIZING, MICROS

_DAILY, _LIFETIME = "daily_spend_limit_micros", "lifetime_spend_limit_micros"


def campaign(world: World, account: Account, new: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
    """Problem where a campaign as it would be kept breaks a rule."""
    if new.get("mode") is not None or new.get("product_feed_id") is not None:
        raise Problem("feature", "/mode", "Product feed campaigns are not enabled")
    _budget(account, new["budget"])
    start, end = new.get("start_time"), new.get("end_time")
    if end is not None and start is not None and end <= start:
        raise rule("/end_time", "must be after start_time")
    if end is not None and end != (old or {}).get("end_time") and end <= world.now.timestamp():  # chosen
        raise rule("/end_time", "must be in the future")
    events = new.get("conversion_event_setting_ids", [])
    if new["bidding_type"] == "conversions":
        _goal(world, account, events)
    if old is not None and old["bidding_type"] == "conversions" and events != old["conversion_event_setting_ids"]:
        raise rule("/conversion_event_setting_ids", "cannot be changed on a conversions campaign")


def budget_change(world: World, entity: Entity, new: Mapping[str, Any]) -> None:
    """Lifetime may become daily, once; daily never becomes lifetime; not below what is spent."""
    old = entity.data["budget"]
    if _LIFETIME in new:
        if _DAILY in old:
            raise rule("/budget/lifetime_spend_limit_micros", "a daily budget cannot become a lifetime budget")
        spent = figures.spent(world, entity)
        if new[_LIFETIME] < spent:
            raise rule("/budget/lifetime_spend_limit_micros", f"must be at least the {spent} micros spent so far")


def _budget(account: Account, given: Mapping[str, int]) -> None:
    currency = CURRENCIES[account.currency]
    (name, micros), *_ = given.items()
    if micros % currency.smallest_unit:
        raise Problem("value", f"/budget/{name}", f"must be a multiple of {currency.smallest_unit} micros")
    if name == _DAILY and micros < currency.least_daily:
        least = currency.least_daily // MICROS
        raise Problem("value", f"/budget/{name}", f"Daily budget must be at least {least} {account.currency}")


def _goal(world: World, account: Account, events: list[str]) -> None:
    """Exactly one active standard event that has a source."""
    where = "/conversion_event_setting_ids"
    if not account.extra["conversions"]:
        raise Problem("feature", where, "Conversion bidding is not enabled")
    if len(events) != 1:
        raise rule(where, "a conversions campaign needs exactly one conversion event setting")
    found = next((one for one in event_settings(world, account) if one["id"] == events[0]), None)
    if found is None:  # any other well-formed id exists
        return
    if found["archived"] or found["custom_event_name"] is not None or not found["sources"]:
        raise rule(where, "must be an active standard event setting with an active source")


def ad_group(account: Account, new: Mapping[str, Any], above: Entity, *, key: bool) -> None:
    """Problem where an ad group as it would be kept does not go with its campaign. `key`: it had an Idempotency-Key."""
    bidding, where = new["bidding_config"], "/bidding_config"
    bidding_type = above.data["bidding_type"]
    if bidding["billing_event_type"] != BILLING[bidding_type]:
        raise rule(f"{where}/billing_event_type", f"must be {BILLING[bidding_type]} in a {bidding_type} campaign")
    strategy = bidding["strategy"]
    bid = bidding.get("max_bid_micros")
    if strategy in MAXIMIZING:
        if bid is not None:
            raise rule(f"{where}/max_bid_micros", f"must not be given with {strategy}")
        if bidding.get("custom_audience_bid_multipliers"):
            raise rule(f"{where}/custom_audience_bid_multipliers", f"must not be given with {strategy}")
        if _DAILY not in above.data["budget"]:
            raise rule(f"{where}/strategy", f"{strategy} needs a daily budget")
        if MAXIMIZING[strategy] != bidding_type:
            raise rule(f"{where}/strategy", f"{strategy} does not go with a {bidding_type} campaign")
        if not key:
            raise Problem("header", "Idempotency-Key", f"is required with {strategy}")
    elif bid is None:
        raise rule(f"{where}/max_bid_micros", "is required with fixed_bid")
    elif bid > CURRENCIES[account.currency].most_bid:
        raise Problem("value", f"{where}/max_bid_micros", f"must be {CURRENCIES[account.currency].most_bid} or less")


def ad(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
    """Problem where a creative is not whole."""
    creative = new["creative"]
    if old is not None and creative["type"] != old["creative"]["type"]:
        raise rule("/creative/type", "cannot be changed")
    if creative["type"] == "product_ad_template":
        raise Problem("feature", "/creative/type", "Product feed campaigns are not enabled")
    for name in ("target_url", "file_id"):
        if name not in creative:
            raise Problem("required", f"/creative/{name}", "is required for a chat_card")
