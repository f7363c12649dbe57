"""What an edit may change at Reddit, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.formats import Period
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import first_lock, json_setting, locked_settings, start_lock
from adsunify.errors import Issue, invalid_input
from adsunify.models.error_messages import find_web_url_error, is_web_address
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json

from . import native as reddit
from .targeting import EDITABLE_TARGETING

# -- locks --------------------------------------------------------------------------------------------------------


def has_campaign_budget(entity: NativeEntity) -> bool:
    """Return whether the campaign holds budget, bid, schedule and pixel."""
    return entity.get(reddit.CAMPAIGN_BUDGET_FLAG) is True


def _lock_if_on_campaign(ad_group: NativeEntity, now: datetime | None) -> str | None:
    return "the campaign holds it (campaign budget optimization)" if has_campaign_budget(ad_group) else None


def get_budget_period(entity: NativeEntity) -> Period | None:
    """Return the period of the budget that the entity has."""
    periods: Mapping[Json, Period] = {reddit.DAILY_SPEND: "daily", reddit.LIFETIME_SPEND: "lifetime"}
    return periods.get(str(entity.get("goal_type")))


def _lock_campaign_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if has_campaign_budget(entity) else "its ad groups hold the budgets (no campaign budget optimization)"


def _lock_if_unknown_period(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_period(entity) else "it does not say whether its budget is daily or lifetime (goal_type)"


def _lock_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    takes = entity.get("bid_strategy") in reddit.BID_STRATEGIES
    return None if takes else f"only {', '.join(reddit.BID_STRATEGIES)} take a bid; change bidStrategy too"


_lock_after_start = start_lock(reddit.TIME, "start_time")  # unverified: a start that has passed is fixed


# -- values -------------------------------------------------------------------------------------------------------


def _write_name(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if not reddit.MIN_NAME_LENGTH <= len(value or "") <= reddit.MAX_NAME_LENGTH:
        message = f"A name of Reddit has {reddit.MIN_NAME_LENGTH} to {reddit.MAX_NAME_LENGTH} characters."
        raise invalid_input("fields.name", "length", message)
    return {"/name": value}


def _list_test(fits: Callable[[Json], bool]) -> Callable[[Json], bool]:
    """Build the test of a list of objects. ``fits``: whether an object is valid."""
    return lambda items: isinstance(items, list) and all(isinstance(item, dict) and fits(item) for item in items)


HOUR_RANGE, DAY_RANGE = (0, 24), (0, 6)
WINDOW_RANGES = {"start_day": DAY_RANGE, "start_hour": HOUR_RANGE, "end_day": DAY_RANGE, "end_hour": HOUR_RANGE}


def _is_window(window: Json) -> bool:
    return set(window) == set(WINDOW_RANGES) and all(
        type(window[name]) is int and least <= window[name] <= most for name, (least, most) in WINDOW_RANGES.items()
    )


def _is_parameter(pair: Json) -> bool:
    return set(pair) == {"name", "value"} and all(isinstance(value, str) for value in pair.values())


def _are_parameters(pairs: Json) -> bool:
    are_pairs = _list_test(_is_parameter)(pairs)
    if are_pairs and len(pairs) > reddit.MAX_PARAMETERS:
        message = f"Reddit takes at most {reddit.MAX_PARAMETERS} query parameters."
        raise invalid_input("fields.clickUrlQueryParameters", "too_long", message)
    return are_pairs


def _is_tracker(tracker: Json) -> bool:
    is_complete = set(tracker) == {"type", "url"} and tracker["type"] in reddit.TRACKER_TYPES
    return is_complete and isinstance(tracker["url"], str) and is_web_address(tracker["url"])


# -- the table ----------------------------------------------------------------------------------------------------

FIXED_REASON = "Reddit does not let it be changed once published"
READ_ONLY_REASON = "Reddit lets it be read only"
_name_setting = partial(Setting, field="name", native="/name", write=_write_name)
SETTINGS = (
    _name_setting("campaign"),
    Setting(
        *("campaign", "budget", "/goal_value", "money", get_budget_period),
        counted_period=lambda campaign: (
            (get_budget_period(campaign) or "daily") if has_campaign_budget(campaign) else None
        ),
        lock=first_lock(_lock_campaign_budget, _lock_if_unknown_period),
        note="A campaign has a budget only under campaign budget optimization; it keeps its period.",
    ),
    Setting("campaign", "spendCap", "/spend_cap", "money", can_clear=True),
    Setting("campaign", "fundingInstrumentId", "/funding_instrument_id"),
    *locked_settings(
        *("campaign", f"objective {reddit.CAMPAIGN_BUDGET_FLAG} goal_type view_through_conversion_type", FIXED_REASON)
    ),
    *locked_settings("campaign", "special_ad_categories", READ_ONLY_REASON),
    _name_setting("adGroup"),
    Setting(
        *("adGroup", "budget", "/goal_value", "money", get_budget_period),
        counted_period=lambda ad_group: (
            None if has_campaign_budget(ad_group) else get_budget_period(ad_group) or "daily"
        ),
        lock=first_lock(_lock_if_on_campaign, _lock_if_unknown_period),
        note="A daily budget stays daily, a lifetime budget lifetime.",
    ),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy", "choice"),
        choices=reddit.BID_STRATEGIES,
        lock=_lock_if_on_campaign,
        note=f"{' and '.join(reddit.STRATEGIES_WITH_BID)} need a bid.",
    ),
    Setting("adGroup", "bid", "/bid_value", "money", lock=first_lock(_lock_if_on_campaign, _lock_bid)),
    Setting("adGroup", "startAt", "/start_time", "instant", lock=first_lock(_lock_if_on_campaign, _lock_after_start)),
    Setting("adGroup", "endAt", "/end_time", "instant", can_clear=True, lock=_lock_if_on_campaign),
    json_setting(
        *("adGroup", "dayparting", "/schedule", _list_test(_is_window)),
        'weekly windows such as [{"start_day": 1, "start_hour": 8, "end_day": 1, "end_hour": 20}]; day 0 is Sunday',
        can_clear=True,
        lock=_lock_if_on_campaign,
        note="dayparting is the JSON text of weekly windows; day 0 is Sunday.",
    ),
    Setting("adGroup", "pixelId", "/conversion_pixel_id", lock=_lock_if_on_campaign),
    *locked_settings("adGroup", "optimization_goal goal_type view_through_conversion_type", FIXED_REASON),
    *locked_settings(
        *("adGroup", f"campaign_id campaign_objective_type {reddit.CAMPAIGN_BUDGET_FLAG}", READ_ONLY_REASON)
    ),
    _name_setting("ad"),
    Setting(
        *("ad", "url", "/click_url"),
        max_length=reddit.MAX_URL_LENGTH,
        find_error=find_web_url_error,
        note="An ad over a post of the type TEXT cannot have a url.",
    ),
    json_setting(
        *("ad", "clickUrlQueryParameters", "/click_url_query_parameters", _are_parameters),
        f'at most {reddit.MAX_PARAMETERS} pairs such as [{{"name": "utm_source", "value": "reddit"}}]',
        note="clickUrlQueryParameters is the JSON text of a list of names and values.",
    ),
    json_setting(
        *("ad", "eventTrackers", "/event_trackers", _list_test(_is_tracker)),
        'a list such as [{"type": "CLICK", "url": "https://..."}], of the types CLICK and VIEW',
        note="eventTrackers is the JSON text of a list; Reddit takes approved measurement providers only.",
    ),
    Setting("ad", "previewExpiry", "/preview_expiry", "instant"),
    Setting(
        *("ad", "existingId", "/post_id"),
        find_error=reddit.find_post_id_error,
        note="The ad goes to review again with another post.",
    ),
    *locked_settings("ad", "ad_group_id campaign_id", READ_ONLY_REASON),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}") for name in EDITABLE_TARGETING),
    *(EditMember("ad", f"creative.{name}", name) for name in ("existingId", "url")),
    EditMember("ad", "creative", reason="what the post says is fixed; name another post (existingId), or the url"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    yield from check_start_end(reddit.TIME, before, changed, ("start_time", "end_time"), now)
    after = {**before, **changed}
    if changed.get("bid_strategy") in reddit.STRATEGIES_WITH_BID and after.get("bid_value") is None:
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
