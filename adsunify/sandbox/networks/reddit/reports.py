"""Synchronous reports, in pages.

The breakdowns by time, account and entity are simulated; the others are refused as not available.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from adsunify.sandbox.checks import array, choice, record, text
from adsunify.sandbox.figures import get_currency_unit, get_share, sum_figures
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit import figures
from adsunify.sandbox.networks.reddit.answers import INSTANT, PAGING_CHECKS, paginate, require_account
from adsunify.sandbox.networks.reddit.entities import get_effective_status
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity

_BREAKDOWNS = split_words("""
    AD_ACCOUNT_ID AD_GROUP_ID AD_ID CAMPAIGN_ID COUNTRY DATE HOUR DMA METRO CAROUSEL_CARD GALLERY_ITEM_ID GENDER
    INTEREST KEYWORD PLACEMENT OS_TYPE REGION COMMUNITY ASSET_ID LANGUAGE
""")
_ENTITY_BREAKDOWNS = {"AD_ID": 0, "AD_GROUP_ID": 1, "CAMPAIGN_ID": 2}
_SIMULATED_BREAKDOWNS = (*_ENTITY_BREAKDOWNS, "AD_ACCOUNT_ID", "DATE", "HOUR")
# The fields of conversions and installs are recognized by a pattern, the others by name.
_FIELD_PATTERN = re.compile(
    r"(KEY_)?CONVERSION_[A-Z0-9_]+|APP_INSTALL_[A-Z0-9_]+|VIDEO_[A-Z0-9_]+|COST_PER_(3_SECOND|6_SECOND|15_SECOND|"
    r"COMPLETED)_VIEW|IMPRESSIONS|CLICKS|SPEND|REACH|FREQUENCY|CPC|CPV|CTR|ECPM|CURRENCY|ENGAGED_CLICK|REDDIT_LEADS|"
    r"PRIORITY|ACCOUNT_ID|POST_ID|BID_STRATEGY|AD_EFFECTIVE_STATUS|(AD|ADGROUP|CAMPAIGN)_(CREATE|UPDATE)_TIME|"
    r"(CLICK|VIEW)_ATTRIBUTION_WINDOW|GALLERY_ITEM_CAPTION"
)
_CONDITION_PATTERN = re.compile(r"(campaign|ad_group|ad):(id|name|effective_status)(==|=@)(.+)")
_LEVELS = {"ad": 0, "ad_group": 1, "campaign": 2}
_HOUR_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:00:00Z")
_MAX_HOURLY_RANGE = timedelta(days=7)
_REPORT_RETENTION = timedelta(days=730)  # 24 months
_REACH_SINCE = "2024-06-01"


def _check_field(value: Any, where: str) -> str:
    if not isinstance(value, str) or not (_FIELD_PATTERN.fullmatch(value) or value in _BREAKDOWNS):
        raise InvalidRequest("value", where, "is not a report field", value)
    return value


def _check_hour(value: Any, where: str) -> datetime:
    """Check a whole hour in UTC. Reddit refuses an offset, even +00:00."""
    if not _HOUR_PATTERN.fullmatch(str(value)):
        raise InvalidRequest("value", where, "Can only be of hourly granularity: YYYY-MM-DDTHH:00:00Z", value)
    return INSTANT.check_datetime(value, where)


def _check_filter(value: Any, where: str) -> list[re.Match[str]]:
    """Check the conditions of a filter, separated by commas: campaign:id==123,campaign:id==456."""
    conditions = [_CONDITION_PATTERN.fullmatch(part) for part in str(text()(value, where)).split(",")]
    matches = [condition for condition in conditions if condition is not None]
    if len(matches) < len(conditions):
        raise InvalidRequest("value", where, "must be like campaign:id==123,campaign:id==456")
    return matches


def _check_timezone(value: Any, where: str) -> ZoneInfo:
    if not isinstance(value, str) or value not in available_timezones():
        raise InvalidRequest("value", where, "is not a time zone", value)
    return ZoneInfo(value)


_BODY_CHECK = record(
    required={
        "data": record(
            {"starts_at": _check_hour, "ends_at": _check_hour, "fields": array(_check_field, 1)},
            {"time_zone_id": _check_timezone, "breakdowns": array(choice(*_BREAKDOWNS)), "filter": _check_filter},
        )
    }
)


def create_report(request: Request) -> Response:
    """POST /ad_accounts/{account}/reports: a row for everything that delivered."""
    account = require_account(request)
    query = request.parse_query({}, PAGING_CHECKS)
    body = request.parse_json(_BODY_CHECK)["data"]
    _check_request(body)
    rows = _build_rows(request, account, body)
    page, pagination = paginate(request, rows, query)
    updated = INSTANT.format(request.now.replace(minute=0, second=0))
    return Response(200, {"data": {"metrics": list(page), "metrics_updated_at": updated}, "pagination": pagination})


def _check_request(body: Mapping[str, Any]) -> None:
    breakdowns = body.get("breakdowns", [])
    if body["ends_at"] <= body["starts_at"]:
        raise InvalidRequest("value", "/data/ends_at", "must be after starts_at")
    if len({*breakdowns}) != len(breakdowns):
        raise InvalidRequest("value", "/data/breakdowns", "names a breakdown twice")
    if len(breakdowns) > (4 if {"COUNTRY", "REGION"} <= {*breakdowns} else 3):
        raise InvalidRequest("value", "/data/breakdowns", "at most 3 breakdowns, 4 with COUNTRY and REGION")
    if {"DATE", "HOUR"} <= {*breakdowns}:
        raise InvalidRequest("value", "/data/breakdowns", "HOUR and DATE cannot be combined")
    if "HOUR" in breakdowns and body["ends_at"] - body["starts_at"] > _MAX_HOURLY_RANGE:
        raise InvalidRequest("value", "/data/ends_at", "at most 7 days with HOUR")
    for name in breakdowns:
        if name not in _SIMULATED_BREAKDOWNS:
            raise InvalidRequest("value", "/data/breakdowns", f"{name} is not available", name)


def _build_rows(request: Request, account: Account, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    breakdowns: list[str] = body.get("breakdowns", [])
    totals: dict[tuple[str, ...], dict[str, int]] = {}
    ads: dict[tuple[str, ...], set[str]] = defaultdict(set)
    first = max(body["starts_at"], request.now - _REPORT_RETENTION)
    for every, since, until in figures.list_delivering_ads(request.world, account):
        if not _matches_filter(request, every, body.get("filter", [])):
            continue
        start, end = max(first, since), min(body["ends_at"], until)
        for day, minute, last in _split_range(
            start, end, body.get("time_zone_id", ZoneInfo("UTC")), "HOUR" in breakdowns
        ):
            if not request.world.delivers(date.fromisoformat(day)):
                continue
            key = tuple(_get_breakdown_value(name, every, account, day, minute) for name in breakdowns)
            whole = figures.generate_daily_figures(every[0].id, day, get_currency_unit(account.currency))
            part = get_share(whole, minute, last, figures.MINUTES_PER_DAY)
            if day < _REACH_SINCE:
                del part["reach"]
            totals[key] = sum_figures([part], totals.get(key))
            ads[key].add(every[0].id)
    rows = []
    for key, total in sorted(totals.items()):
        values = dict(zip(map(str.lower, breakdowns), key, strict=True))
        reach = _merge_reach(total.get("reach", 0), len(ads[key]))
        row = figures.build_row({**total, "reach": reach}, body["fields"], account.currency)
        rows.append({**values, **row, **values})  # a breakdown may be among the fields, too
    return rows


def _merge_reach(total: int, ads: int) -> int:
    """The reach of a row. It is below the sum of the ads, because people see several ads (the share is our choice)."""
    return total * (ads + 1) // (2 * ads)


def _matches_filter(request: Request, every: tuple[StoredEntity, ...], conditions: list[re.Match[str]]) -> bool:
    """Whether any condition matches (an integration reports that OR joins them), or there are no conditions."""
    return not conditions or any(_matches_condition(request, every, *condition.groups()) for condition in conditions)


def _matches_condition(
    request: Request, every: tuple[StoredEntity, ...], level: str, name: str, operator: str, value: str
) -> bool:
    entity = every[_LEVELS[level]]
    actual = {
        "id": entity.id,
        "name": str(entity.data["name"]),
        "effective_status": get_effective_status(request.world, entity),
    }[name]
    return actual == value if operator == "==" else value in actual


def _split_range(start: datetime, end: datetime, zone: ZoneInfo, hourly: bool) -> Iterator[tuple[str, int, int]]:
    """The local days (or hours) between two instants: date, first minute, last minute, by local time."""
    if start >= end:
        return
    at, until = (instant.astimezone(zone).replace(tzinfo=None) for instant in (start, end))
    while at < until:
        midnight = datetime.combine(at.date(), time())
        step = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1) if hourly else midnight
        following = min(step if hourly else midnight + timedelta(days=1), until)
        first, last = (int((instant - midnight).total_seconds() // 60) for instant in (at, following))
        yield at.date().isoformat(), first, last
        at = following


def _get_breakdown_value(name: str, every: tuple[StoredEntity, ...], account: Account, day: str, minute: int) -> str:
    if name in _ENTITY_BREAKDOWNS:
        return every[_ENTITY_BREAKDOWNS[name]].id
    if name == "AD_ACCOUNT_ID":
        return account.id
    return day if name == "DATE" else f"{day}T{minute // 60:02}:00:00"  # the form of an hour is our choice
