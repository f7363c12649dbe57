"""What may be changed on a campaign, an ad group and an ad: the SETTINGS table, with the functions of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime

from adsunify.adapter.network import Account, EditMember, Entity, Setting, words
from adsunify.errors import Issue, refused
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, read, rows, text

from . import native as google
from .targeting import PARTS, columns, wrong_descriptions, wrong_headlines, wrong_url

Lock = Callable[[Entity, datetime | None], str | None]


# -- locks --------------------------------------------------------------------------------------------------------


def _lock(*more: Lock) -> Lock:
    """The first reason of several; what is removed is always locked."""

    def lock(entity: Entity, now: datetime | None) -> str | None:
        return next((reason for one in (_gone, *more) if (reason := one(entity, now))), None)

    return lock


def _gone(entity: Entity, now: datetime | None) -> str | None:
    statuses = (text(entity, f"/{one}/status") for one in ("campaign", "adGroup", "adGroupAd"))
    return "it is removed, which is final" if google.REMOVED in statuses else None


def _name_of(kind: Kind, longest: int) -> Setting:
    place = f"/{kind}/name"

    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        if google.has_controls(value):
            raise refused("fields.name", "invalid", "Google Ads takes no name with control characters.")
        return {place: value}

    return Setting(kind, "name", place, longest=longest, lock=_lock(), write=write)


def strategy_of(entity: Entity) -> str | None:
    """The campaign's ``biddingStrategyType``."""
    return text(entity, "/campaign/biddingStrategyType")


def _shared(entity: Entity, now: datetime | None) -> str | None:
    if text(entity, "/campaignBudget/period") == google.CUSTOM_PERIOD:
        return "the budget is for the whole time of the campaign, not for a day"
    users = text(entity, "/campaignBudget/referenceCount") or ""
    several = users.isascii() and users.isdigit() and users not in ("0", "1")
    return "shared budget" if several and read(entity, "/campaignBudget/explicitlyShared") is True else None


def day_of(entity: Entity, member: str) -> str | None:
    """The day of a campaign's ``startDateTime`` or ``endDateTime``."""
    moment = text(entity, f"/campaign/{member}")
    return moment[:10] if moment else None


def _started(entity: Entity, now: datetime | None) -> str | None:
    # CANNOT_MODIFY_START_DATE_IF_ALREADY_STARTED. Dates in ISO form sort as text.
    start = day_of(entity, "startDateTime")
    return "it has started" if now is not None and start is not None and start <= now.date().isoformat() else None


def _portfolio(entity: Entity, now: datetime | None) -> str | None:
    return "a portfolio strategy is attached" if text(entity, "/campaign/biddingStrategy") else None


def _only(*strategies: str) -> Lock:
    def lock(entity: Entity, now: datetime | None) -> str | None:
        own = f"only under {' or '.join(strategies)}; change bidStrategy too"
        return None if strategy_of(entity) in strategies else own

    return lock


def _other_ad(entity: Entity, now: datetime | None) -> str | None:
    return None if text(entity, "/adGroupAd/ad/type") == google.SEARCH_AD else "it is no responsive search ad"


# -- values -------------------------------------------------------------------------------------------------------

CPA = {
    "MAXIMIZE_CONVERSIONS": "/campaign/maximizeConversions/targetCpaMicros",
    "TARGET_CPA": "/campaign/targetCpa/targetCpaMicros",
}
ROAS = {
    "MAXIMIZE_CONVERSION_VALUE": "/campaign/maximizeConversionValue/targetRoas",
    "TARGET_ROAS": "/campaign/targetRoas/targetRoas",
}
CEILING = {"TARGET_SPEND": "/campaign/targetSpend/cpcBidCeilingMicros"}


def _names(places: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.rpartition("/")[2] for place in places.values()))


def _by_strategy(places: Mapping[str, str]) -> Callable[[Entity], str]:
    return lambda entity: places.get(strategy_of(entity) or "", next(iter(places.values())))


def _strategy(entity: Entity, account: Account) -> Json:
    """The type as its member is called, older types included: TARGET_ROAS is targetRoas."""
    first, *rest = (strategy_of(entity) or "").lower().split("_")
    return first + "".join(map(str.capitalize, rest)) or None


def _write_strategy(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    # An empty member would take away what the same strategy already holds.
    if strategy_of(entity) == google.STRATEGIES[value]:
        return {}
    return {f"/campaign/{value}": {}, "/campaign/biddingStrategyType": google.STRATEGIES[value]}


def _start(entity: Entity, account: Account) -> Json:
    return day_of(entity, "startDateTime")


def _end(entity: Entity, account: Account) -> Json:
    return day_of(entity, "endDateTime")


def _write_start(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/campaign/startDateTime": google.first_moment(date.fromisoformat(value))}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/campaign/endDateTime": google.last_moment(date.fromisoformat(value)) if value else None}


def goal_name(goal: Mapping[str, Json]) -> str:
    """A conversion goal as an edit names it."""
    return f"{text(goal, '/category')}~{text(goal, '/origin')}"


def _goals(entity: Entity, account: Account) -> Json:
    goals = rows(entity, "/campaignConversionGoals", "campaign")
    return [goal_name(goal) for goal in goals if read(goal, "/biddable") is True]


def _write_goals(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    goals = rows(entity, "/campaignConversionGoals", "campaign")
    known, wanted = [goal_name(goal) for goal in goals], set(value or ())
    if not wanted <= set(known):
        raise refused(
            "fields.conversionGoals",
            "choice",
            f"There is no such goal; this campaign has {', '.join(known) or 'none'}.",
        )
    return {"/campaignConversionGoals": [{**goal, "biddable": goal_name(goal) in wanted} for goal in goals]}


def _texts(member: str) -> Callable[[Entity, Account], Json]:
    def show(entity: Entity, account: Account) -> Json:
        return [text(one, "/text") for one in found_at(entity, f"/adGroupAd/ad/responsiveSearchAd/{member}/*")]

    return show


def _write_texts(
    member: str, wrong: Callable[[Sequence[str]], str | None]
) -> Callable[[Json, Entity, Account], Mapping[str, Json]]:
    """The whole list is replaced; a text that stays keeps the place that it is pinned to."""

    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        said = wrong(value)
        if said is not None:
            raise refused(f"fields.{member}", "invalid", f"Google Ads: {said}.")
        current = rows(entity, f"/adGroupAd/ad/responsiveSearchAd/{member}", "ad")
        pins = {text(one, "/text"): one["pinnedField"] for one in current if "pinnedField" in one}
        assets = [{"text": one} | ({"pinnedField": pins[one]} if one in pins else {}) for one in value]
        return {f"/adGroupAd/ad/responsiveSearchAd/{member}": assets}

    return write


def _url(entity: Entity, account: Account) -> Json:
    return text(entity, "/adGroupAd/ad/finalUrls/0")


def _write_url(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    said = wrong_url(value)
    if said is not None:
        raise refused("fields.url", "invalid", f"Google Ads: {said}.")
    return {"/adGroupAd/ad/finalUrls": [value]}


def _path(member: str) -> Setting:
    place = f"/adGroupAd/ad/responsiveSearchAd/{member}"

    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        if value is not None and columns(value) > google.PATH:
            raise refused(f"fields.{member}", "too_long", f"{member} has at most {google.PATH} characters.")
        return {place: value}

    return Setting("ad", member, place, clears=True, lock=_lock(_other_ad), write=write)


# -- the table ----------------------------------------------------------------------------------------------------

FIXED = "it is fixed after creation"
NOT_SEARCH = "not offered for Search campaigns at this level"
DAYS_NOTE = "startAt: a date, or a midnight in the account's time zone. endAt: a date, or an instant (through its day)."
SETTINGS = (
    _name_of("campaign", google.CAMPAIGN_NAME),
    Setting("campaign", "budget", "/campaignBudget/amountMicros", "money", period="daily", lock=_lock(_shared)),
    Setting(
        *("campaign", "startAt", "/campaign/startDateTime", "day"),
        lock=_lock(_started),
        read=_start,
        write=_write_start,
        note=DAYS_NOTE,
    ),
    Setting(
        *("campaign", "endAt", "/campaign/endDateTime", "day"), clears=True, lock=_lock(), read=_end, write=_write_end
    ),
    Setting(
        *("campaign", "bidStrategy", "/campaign/biddingStrategyType", "choice"),
        choices=tuple(google.STRATEGIES),
        lock=_lock(_portfolio),
        read=_strategy,
        write=_write_strategy,
    ),
    Setting(
        "campaign", "targetCpa", _by_strategy(CPA), "money", spellings=_names(CPA), lock=_lock(_portfolio, _only(*CPA))
    ),
    Setting("campaign", "targetRoas", _by_strategy(ROAS), "number", lock=_lock(_portfolio, _only(*ROAS))),
    Setting(
        "campaign",
        "bidCeiling",
        _by_strategy(CEILING),
        "money",
        spellings=_names(CEILING),
        lock=_lock(_portfolio, _only(*CEILING)),
    ),
    Setting(
        *("campaign", "bid", _by_strategy(CEILING | CPA), "money"),
        lock=_lock(_portfolio, _only(*CEILING, *CPA)),
        note="bid: the amount of the campaign's bid strategy, targetCpa or bidCeiling.",
    ),
    Setting(
        *("campaign", "euPoliticalAdvertising", "/campaign/containsEuPoliticalAdvertising", "choice"),
        choices=tuple(google.POLITICAL.values()),
        lock=_lock(),
        note="euPoliticalAdvertising has to be declared before locations are changed.",
    ),
    Setting(
        *("campaign", "conversionGoals", "/campaignConversionGoals", "list"),
        clears=True,
        lock=_lock(),
        read=_goals,
        write=_write_goals,
        note="conversionGoals: the goals to bid for, as CATEGORY~ORIGIN; all others are not bid for.",
    ),
    Setting("campaign", "spendCap", "/spendCap", "money", lock=NOT_SEARCH),
    Setting("campaign", "frequencyCap", "/frequencyCaps", "list", lock=NOT_SEARCH),
    Setting("campaign", "advertisingChannelType", "/campaign/advertisingChannelType", lock=FIXED),
    _name_of("adGroup", google.AD_GROUP_NAME),
    Setting(
        *("adGroup", "bid", "/adGroup/cpcBidMicros", "money"),
        lock=_lock(_only(google.STRATEGIES["manualCpc"])),
        note="Keywords that have a bid of their own keep it.",
    ),
    Setting("adGroup", "type", "/adGroup/type", lock=FIXED),
    Setting("adGroup", "campaign", "/adGroup/campaign", lock=FIXED),
    *(
        Setting(
            *("ad", member, f"/adGroupAd/ad/responsiveSearchAd/{member}", "list"),
            lock=_lock(_other_ad),
            read=_texts(member),
            write=_write_texts(member, wrong),
            note=f"{member}: the whole list; texts with commas go into an edit's creative, or as a JSON list.",
        )
        for member, wrong in (("headlines", wrong_headlines), ("descriptions", wrong_descriptions))
    ),
    Setting("ad", "url", "/adGroupAd/ad/finalUrls", lock=_lock(_other_ad), read=_url, write=_write_url),
    *map(_path, ("path1", "path2")),
)
EDITS = (
    *(EditMember("campaign", f"targeting.{name}") for name in PARTS),
    *(
        EditMember("campaign", f"targeting.{name}", reason=f"{name} is not offered for Search campaigns")
        for name in words("interests excludedInterests devices placements ageMin ageMax genders")
    ),
    *(EditMember("ad", f"creative.{name}", name) for name in ("headlines", "descriptions", "url")),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(native: Mapping[str, Json], changed: Mapping[str, Json], now: datetime | None) -> Iterator[Issue]:
    """Days in order and not past. Dates in ISO form sort as text."""
    today = now.date().isoformat() if now is not None else ""
    start = day_of(changed, "startDateTime") or day_of(native, "startDateTime")
    moved = read(changed, "/campaign", {})
    end = day_of(changed if "endDateTime" in moved else native, "endDateTime")
    if "startDateTime" in moved and start is not None and start < today:
        yield Issue("fields.startAt", "past", "The campaign cannot start before today in the account's time zone.")
    if "endDateTime" in moved and end is not None and end < today:
        yield Issue("fields.endAt", "past", "The campaign cannot end before today in the account's time zone.")
    if {"startDateTime", "endDateTime"} & set(moved) and start and end and end < start:
        path = "fields.endAt" if "endDateTime" in moved else "fields.startAt"
        yield Issue(path, "order", "The campaign cannot end before it starts.")
