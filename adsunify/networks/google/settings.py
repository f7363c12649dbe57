"""What may be changed on a campaign, an ad group and an ad: the SETTINGS table, with the functions of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit
from adsunify.adapter.network import EditMember, NativeEntity, Setting, split_words
from adsunify.adapter.settings import Lock, add_common_lock, first_lock, to_account_time
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value

from . import native as google
from .targeting import EDITABLE_TARGETING, count_columns, find_descriptions_error, find_headlines_error, find_url_error

# -- locks --------------------------------------------------------------------------------------------------------


def _lock_if_deleted(entity: NativeEntity, now: datetime | None) -> str | None:
    statuses = (get_text(entity, f"/{part}/status") for part in ("campaign", "adGroup", "adGroupAd"))
    return "it is removed, which is final" if google.REMOVED in statuses else None


def _name_setting(kind: Kind, longest: int) -> Setting:
    return Setting(kind, "name", f"/{kind}/name", max_length=longest, find_error=_find_name_error)


def _find_name_error(name: Json) -> str | None:
    return "a name cannot have control characters" if google.has_control_characters(name) else None


def get_bid_strategy(entity: NativeEntity) -> str | None:
    """Return the campaign's ``biddingStrategyType``."""
    return get_text(entity, "/campaign/biddingStrategyType")


def _lock_shared_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    if get_text(entity, "/campaignBudget/period") == google.CUSTOM_PERIOD:
        return "the budget is for the whole time of the campaign, not for a day"
    users = get_text(entity, "/campaignBudget/referenceCount") or ""
    several = users.isascii() and users.isdigit() and users not in ("0", "1")
    return "shared budget" if several and get_value(entity, "/campaignBudget/explicitlyShared") is True else None


def get_day(entity: NativeEntity, member: str) -> str | None:
    """Return the day of a campaign's ``startDateTime`` or ``endDateTime``."""
    moment = get_text(entity, f"/campaign/{member}")
    return moment[:10] if moment else None


def _lock_after_start(entity: NativeEntity, now: datetime | None) -> str | None:
    # Google's DateError.CANNOT_MODIFY_START_DATE_IF_ALREADY_STARTED. ISO dates can be compared as text.
    start = get_day(entity, "startDateTime")
    return "it has started" if now is not None and start is not None and start <= now.date().isoformat() else None


def _lock_portfolio(entity: NativeEntity, now: datetime | None) -> str | None:
    return "a portfolio strategy is attached" if get_text(entity, "/campaign/biddingStrategy") else None


def _strategy_lock(*strategies: str) -> Lock:
    def lock(entity: NativeEntity, now: datetime | None) -> str | None:
        own = f"only under {' or '.join(strategies)}; change bidStrategy too"
        return None if get_bid_strategy(entity) in strategies else own

    return lock


def _lock_other_ad(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_text(entity, "/adGroupAd/ad/type") == google.SEARCH_AD else "it is no responsive search ad"


# -- values -------------------------------------------------------------------------------------------------------

CPA_POINTERS = {
    "MAXIMIZE_CONVERSIONS": "/campaign/maximizeConversions/targetCpaMicros",
    "TARGET_CPA": "/campaign/targetCpa/targetCpaMicros",
}
ROAS_POINTERS = {
    "MAXIMIZE_CONVERSION_VALUE": "/campaign/maximizeConversionValue/targetRoas",
    "TARGET_ROAS": "/campaign/targetRoas/targetRoas",
}
BID_CEILING_POINTERS = {"TARGET_SPEND": "/campaign/targetSpend/cpcBidCeilingMicros"}


def _get_member_names(places: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.rpartition("/")[2] for place in places.values()))


def _strategy_pointer(places: Mapping[str, str]) -> Callable[[NativeEntity], str]:
    return lambda entity: places.get(get_bid_strategy(entity) or "", next(iter(places.values())))


def _read_strategy(entity: NativeEntity, account: Account) -> Json:
    """Return the strategy by the name of its member, such as targetRoas for the older type TARGET_ROAS."""
    first, *rest = (get_bid_strategy(entity) or "").lower().split("_")
    return first + "".join(map(str.capitalize, rest)) or None


def _write_strategy(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    # Writing an empty member for the present strategy would delete its target.
    if get_bid_strategy(entity) == google.BID_STRATEGIES[value]:
        return {}
    return {f"/campaign/{value}": {}, "/campaign/biddingStrategyType": google.BID_STRATEGIES[value]}


def _read_start(entity: NativeEntity, account: Account) -> Json:
    return get_day(entity, "startDateTime")


def _read_end(entity: NativeEntity, account: Account) -> Json:
    return get_day(entity, "endDateTime")


def _write_start(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/campaign/startDateTime": google.format_day_start(date.fromisoformat(value))}


def _write_end(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/campaign/endDateTime": google.format_day_end(date.fromisoformat(value)) if value else None}


def get_goal_name(goal: Mapping[str, Json]) -> str:
    """Return the name of a conversion goal in edits: ``<category>~<origin>``."""
    return f"{get_text(goal, '/category')}~{get_text(goal, '/origin')}"


def _read_goals(entity: NativeEntity, account: Account) -> Json:
    goals = get_objects(entity, "/campaignConversionGoals", "campaign")
    return [get_goal_name(goal) for goal in goals if get_value(goal, "/biddable") is True]


def _write_goals(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    goals = get_objects(entity, "/campaignConversionGoals", "campaign")
    known, names = [get_goal_name(goal) for goal in goals], set(value or ())
    if not names <= set(known):
        raise invalid_input(
            "fields.conversionGoals",
            "choice",
            f"There is no such goal; this campaign has {', '.join(known) or 'none'}.",
        )
    return {"/campaignConversionGoals": [{**goal, "biddable": get_goal_name(goal) in names} for goal in goals]}


def _texts_reader(member: str) -> Callable[[NativeEntity, Account], Json]:
    def show(entity: NativeEntity, account: Account) -> Json:
        return [get_text(text, "/text") for text in find_values(entity, f"/adGroupAd/ad/responsiveSearchAd/{member}/*")]

    return show


def _texts_writer(member: str) -> Callable[[Json, NativeEntity, Account], Mapping[str, Json]]:
    """Build the function that writes a list of texts. It replaces the whole list; a text that remains keeps its pin."""

    def write(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
        current = get_objects(entity, f"/adGroupAd/ad/responsiveSearchAd/{member}", "ad")
        pins = {get_text(text, "/text"): text["pinnedField"] for text in current if "pinnedField" in text}
        assets = [{"text": text} | ({"pinnedField": pins[text]} if text in pins else {}) for text in value]
        return {f"/adGroupAd/ad/responsiveSearchAd/{member}": assets}

    return write


def _read_url(entity: NativeEntity, account: Account) -> Json:
    return get_text(entity, "/adGroupAd/ad/finalUrls/0")


def _write_url(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/adGroupAd/ad/finalUrls": [value]}


def _path_setting(member: str) -> Setting:
    place = f"/adGroupAd/ad/responsiveSearchAd/{member}"

    def write(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
        if value is not None and count_columns(value) > google.MAX_PATH_LENGTH:
            raise invalid_input(
                f"fields.{member}", "too_long", f"{member} has at most {google.MAX_PATH_LENGTH} characters."
            )
        return {place: value}

    return Setting("ad", member, place, can_clear=True, lock=_lock_other_ad, write=write)


# -- the table ----------------------------------------------------------------------------------------------------

FIXED_REASON = "it is fixed after creation"
NOT_SEARCH_REASON = "not offered for Search campaigns at this level"
DAYS_NOTE = "startAt: a date, or a midnight in the account's time zone. endAt: a date, or an instant (through its day)."
SETTINGS = add_common_lock(
    _lock_if_deleted,
    _name_setting("campaign", google.MAX_CAMPAIGN_NAME_LENGTH),
    Setting(
        "campaign",
        "budget",
        "/campaignBudget/amountMicros",
        "money",
        period="daily",
        lock=_lock_shared_budget,
    ),
    Setting(
        *("campaign", "startAt", "/campaign/startDateTime", "day"),
        lock=_lock_after_start,
        read=_read_start,
        write=_write_start,
        note=DAYS_NOTE,
    ),
    Setting(
        *("campaign", "endAt", "/campaign/endDateTime", "day"),
        can_clear=True,
        read=_read_end,
        write=_write_end,
    ),
    Setting(
        *("campaign", "bidStrategy", "/campaign/biddingStrategyType", "choice"),
        choices=tuple(google.BID_STRATEGIES),
        lock=_lock_portfolio,
        read=_read_strategy,
        write=_write_strategy,
    ),
    Setting(
        "campaign",
        "targetCpa",
        _strategy_pointer(CPA_POINTERS),
        "money",
        native_names=_get_member_names(CPA_POINTERS),
        lock=first_lock(_lock_portfolio, _strategy_lock(*CPA_POINTERS)),
    ),
    Setting(
        "campaign",
        "targetRoas",
        _strategy_pointer(ROAS_POINTERS),
        "number",
        lock=first_lock(_lock_portfolio, _strategy_lock(*ROAS_POINTERS)),
    ),
    Setting(
        "campaign",
        "bidCeiling",
        _strategy_pointer(BID_CEILING_POINTERS),
        "money",
        native_names=_get_member_names(BID_CEILING_POINTERS),
        lock=first_lock(_lock_portfolio, _strategy_lock(*BID_CEILING_POINTERS)),
    ),
    Setting(
        *("campaign", "bid", _strategy_pointer(BID_CEILING_POINTERS | CPA_POINTERS), "money"),
        lock=first_lock(_lock_portfolio, _strategy_lock(*BID_CEILING_POINTERS, *CPA_POINTERS)),
        note="bid: the amount of the campaign's bid strategy, targetCpa or bidCeiling.",
    ),
    Setting(
        *("campaign", "euPoliticalAdvertising", "/campaign/containsEuPoliticalAdvertising", "choice"),
        choices=tuple(google.POLITICAL_ADVERTISING.values()),
        note="euPoliticalAdvertising has to be declared before locations are changed.",
    ),
    Setting(
        *("campaign", "conversionGoals", "/campaignConversionGoals", "list"),
        can_clear=True,
        read=_read_goals,
        write=_write_goals,
        note="conversionGoals: the goals to bid for, as CATEGORY~ORIGIN; all others are not bid for.",
    ),
    Setting("campaign", "spendCap", "/spendCap", "money", lock=NOT_SEARCH_REASON),
    Setting("campaign", "frequencyCap", "/frequencyCaps", "list", lock=NOT_SEARCH_REASON),
    Setting("campaign", "advertisingChannelType", "/campaign/advertisingChannelType", lock=FIXED_REASON),
    _name_setting("adGroup", google.MAX_AD_GROUP_NAME_LENGTH),
    Setting(
        *("adGroup", "bid", "/adGroup/cpcBidMicros", "money"),
        lock=_strategy_lock(google.BID_STRATEGIES["manualCpc"]),
        note="Keywords that have a bid of their own keep it.",
    ),
    Setting("adGroup", "type", "/adGroup/type", lock=FIXED_REASON),
    Setting("adGroup", "campaign", "/adGroup/campaign", lock=FIXED_REASON),
    *(
        Setting(
            *("ad", member, f"/adGroupAd/ad/responsiveSearchAd/{member}", "list"),
            lock=_lock_other_ad,
            read=_texts_reader(member),
            write=_texts_writer(member),
            find_error=find_error,
            note=f"{member}: the whole list; texts with commas go into an edit's creative, or as a JSON list.",
        )
        for member, find_error in (("headlines", find_headlines_error), ("descriptions", find_descriptions_error))
    ),
    Setting(
        *("ad", "url", "/adGroupAd/ad/finalUrls"),
        lock=_lock_other_ad,
        read=_read_url,
        write=_write_url,
        find_error=find_url_error,
    ),
    *map(_path_setting, ("path1", "path2")),
)
EDITS = (
    *(EditMember("campaign", f"targeting.{name}") for name in EDITABLE_TARGETING),
    *(
        EditMember("campaign", f"targeting.{name}", reason=f"{name} is not offered for Search campaigns")
        for name in split_words("interests excludedInterests devices placements ageMin ageMax genders")
    ),
    *(EditMember("ad", f"creative.{name}", name) for name in ("headlines", "descriptions", "url")),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check that the days are in order and not past. ISO dates can be compared as text."""
    local = to_account_time(account, now)
    today = local.date().isoformat() if local is not None else ""
    start = get_day(changed, "startDateTime") or get_day(before, "startDateTime")
    moved = get_value(changed, "/campaign", {})
    end = get_day(changed if "endDateTime" in moved else before, "endDateTime")
    if "startDateTime" in moved and start is not None and start < today:
        yield Issue("fields.startAt", "past", "The campaign cannot start before today in the account's time zone.")
    if "endDateTime" in moved and end is not None and end < today:
        yield Issue("fields.endAt", "past", "The campaign cannot end before today in the account's time zone.")
    if {"startDateTime", "endDateTime"} & set(moved) and start and end and end < start:
        path = "fields.endAt" if "endDateTime" in moved else "fields.startAt"
        yield Issue(path, "order", "The campaign cannot end before it starts.")
