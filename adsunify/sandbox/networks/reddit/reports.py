"""Reports: asked for and answered at once, in pages.

Of the breakdowns those by time, account and entity are simulated; the others are refused as not available.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, choice, listing, record, text
from adsunify.sandbox.networks.reddit import figures
from adsunify.sandbox.networks.reddit.answers import PAGING, account_of, moment, paged, written
from adsunify.sandbox.networks.reddit.entities import effective_status

_BREAKDOWNS = (
    "AD_ACCOUNT_ID", "AD_GROUP_ID", "AD_ID", "CAMPAIGN_ID", "COUNTRY", "DATE", "HOUR", "DMA", "METRO", "CAROUSEL_CARD",
    "GALLERY_ITEM_ID", "GENDER", "INTEREST", "KEYWORD", "PLACEMENT", "OS_TYPE", "REGION", "COMMUNITY", "ACCOUNT_ID",
    "SUBREDDIT", "ADGROUP_ID",
)  # fmt: skip
_ENTITIES = {"AD_ID": 0, "AD_GROUP_ID": 1, "ADGROUP_ID": 1, "CAMPAIGN_ID": 2}
_ACCOUNTS = ("AD_ACCOUNT_ID", "ACCOUNT_ID")
_TIMES = ("DATE", "HOUR")
# The many fields of conversions and installs are known by their form, the others by name.
_FIELD = re.compile(
    r"(KEY_)?CONVERSION_[A-Z0-9_]+|APP_INSTALL_[A-Z0-9_]+|VIDEO_[A-Z0-9_]+|COST_PER_(3_SECOND|6_SECOND|15_SECOND|"
    r"COMPLETED)_VIEW|IMPRESSIONS|CLICKS|SPEND|REACH|FREQUENCY|CPC|CPV|CTR|ECPM|CURRENCY|ENGAGED_CLICK|REDDIT_LEADS|"
    r"PRIORITY|POST_ID|BID_STRATEGY|AD_EFFECTIVE_STATUS|(AD|ADGROUP|CAMPAIGN)_(CREATE|UPDATE)_TIME|"
    r"(CLICK|VIEW)_ATTRIBUTION_WINDOW|GALLERY_ITEM_CAPTION"
)
_FILTER = re.compile(r"(campaign|ad_group|ad):(id|configured_status|effective_status)==(\w+)")
_LEVELS = {"ad": 0, "ad_group": 1, "campaign": 2}
_LONGEST_BY_HOUR = timedelta(days=7)
_HISTORY = timedelta(days=730)  # 24 months
_REACH_SINCE = "2024-06-01"


def _field(value: Any, where: str) -> str:
    if not isinstance(value, str) or not (_FIELD.fullmatch(value) or value in _BREAKDOWNS):
        raise Problem("value", where, "is not a report field", value)
    return value


def _zone(value: Any, where: str) -> ZoneInfo:
    if value not in available_timezones():
        raise Problem("value", where, "is not a time zone", value)
    return ZoneInfo(value)


_BODY = record(
    required={
        "data": record(
            {"starts_at": moment, "ends_at": moment, "fields": listing(_field, 1)},
            {"time_zone_id": _zone, "breakdowns": listing(choice(*_BREAKDOWNS)), "filter": text()},
        )
    }
)


def report(request: Request) -> Answer:
    """POST /ad_accounts/{account}/reports: rows of what was delivered; where nothing was, there is no row."""
    account = account_of(request)
    wanted = request.query({}, PAGING)
    asked = request.json(_BODY)["data"]
    _check(asked)
    rows = _rows(request, account, asked)
    page, pagination = paged(request, rows, wanted)
    updated = written(request.now.replace(minute=0, second=0))
    return Answer(200, {"data": {"metrics": list(page), "metrics_updated_at": updated}, "pagination": pagination})


def _check(asked: Mapping[str, Any]) -> None:
    breakdowns = asked.get("breakdowns", [])
    for name in ("starts_at", "ends_at"):
        if (asked[name].minute, asked[name].second, asked[name].microsecond) != (0, 0, 0):
            raise Problem("value", f"/data/{name}", "must be a whole hour")
    if asked["ends_at"] <= asked["starts_at"]:
        raise Problem("value", "/data/ends_at", "must be after starts_at")
    if len({*breakdowns}) != len(breakdowns):
        raise Problem("value", "/data/breakdowns", "names a breakdown twice")
    if len(breakdowns) > (4 if {"COUNTRY", "REGION"} <= {*breakdowns} else 3):
        raise Problem("value", "/data/breakdowns", "at most 3 breakdowns, 4 with COUNTRY and REGION")
    if "HOUR" in breakdowns and asked["ends_at"] - asked["starts_at"] > _LONGEST_BY_HOUR:
        raise Problem("value", "/data/ends_at", "at most 7 days with HOUR")
    for name in breakdowns:
        if name not in (*_ENTITIES, *_ACCOUNTS, *_TIMES):
            raise Problem("value", "/data/breakdowns", f"{name} is not available", name)
    if "filter" in asked and not _FILTER.fullmatch(asked["filter"]):
        raise Problem("value", "/data/filter", "must be like campaign:id==123")


def _rows(request: Request, account: Account, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    breakdowns: list[str] = asked.get("breakdowns", [])
    totals: dict[tuple[str, ...], dict[str, int]] = {}
    first = max(asked["starts_at"], request.now - _HISTORY)
    for every, since, until in figures.delivering(request.world, account):
        if not _passes(request, every, asked.get("filter")):
            continue
        start, end = max(first, since), min(asked["ends_at"], until)
        for day, minute, last in _parts(start, end, asked.get("time_zone_id", ZoneInfo("UTC")), "HOUR" in breakdowns):
            if not request.world.delivers(date.fromisoformat(day)):
                continue
            key = tuple(_key(name, every, account, day, minute) for name in breakdowns)
            part = figures.share(figures.drawn(every[0].id, day, figures.unit_of(account)), minute, last)
            if day < _REACH_SINCE:
                del part["reach"]
            total = totals.setdefault(key, {})
            for name, value in part.items():
                total[name] = total.get(name, 0) + value
    return [
        {
            **dict(zip(map(str.lower, breakdowns), key, strict=True)),
            **figures.row({"reach": 0, **total}, asked["fields"], account.currency),
        }
        for key, total in sorted(totals.items())
    ]


def _passes(request: Request, every: tuple[Entity, ...], condition: str | None) -> bool:
    if condition is None or (found := _FILTER.fullmatch(condition)) is None:
        return True
    entity, (_, name, value) = every[_LEVELS[found[1]]], found.groups()
    if name == "id":
        return entity.id == value
    status = effective_status(request.world, entity) if name == "effective_status" else entity.data[name]
    return bool(status == value)


def _parts(start: datetime, end: datetime, zone: ZoneInfo, hourly: bool) -> Iterator[tuple[str, int, int]]:
    """The local days (or hours) between two instants: date, first minute, last minute, by the clock on the wall."""
    if start >= end:
        return
    at, until = (one.astimezone(zone).replace(tzinfo=None) for one in (start, end))
    while at < until:
        midnight = datetime.combine(at.date(), time())
        step = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1) if hourly else midnight
        following = min(step if hourly else midnight + timedelta(days=1), until)
        first, last = (int((one - midnight).total_seconds() // 60) for one in (at, following))
        yield at.date().isoformat(), first, last
        at = following


def _key(name: str, every: tuple[Entity, ...], account: Account, day: str, minute: int) -> str:
    if name in _ENTITIES:
        return every[_ENTITIES[name]].id
    if name in _ACCOUNTS:
        return account.id
    return day if name == "DATE" else f"{day}T{minute // 60:02}:00:00"  # the form of an hour is chosen
