"""Delivery by day: one row per entity and day, flat, money in major units."""

import hashlib
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, World, choice, json_text, record, text
from adsunify.sandbox.networks.chatgpt import figures
from adsunify.sandbox.networks.chatgpt.answers import account_of, asked, listed, paging
from adsunify.sandbox.networks.chatgpt.entities import found, line
from adsunify.sandbox.networks.chatgpt.tables import KINDS, LEVELS, MICROS

_MOST, _DEFAULT = 2000, 20
_RETENTION = timedelta(days=365)
_LONGEST = timedelta(days=5 * 365)
_DAY = text(10, 10, r"\d{4}-\d\d-\d\d")
_SECONDS = text(1, 12, "[0-9]+")
_RANGE = json_text(
    record(
        required={"type": choice("date_range", "unix_range")},
        optional={"since": _DAY, "until": _DAY, "timezone": text(), "start": _SECONDS, "end": _SECONDS},
    )
)
_MONEY = ("spend", "order_created_attributed_sales")
_CURRENCY = "order_created_attributed_sales_currency"
_METADATA = ("readable_time", "timezone")


def insights(request: Request) -> Answer:
    """GET /ad_account/insights. Only daily rows are simulated, and one time range."""
    return _answer(request, "ad_account", account_of(request).id)


def insights_below(request: Request) -> Answer:
    """GET /campaigns/{id}/insights and the like."""
    entity = found(request)
    return _answer(request, KINDS[request.slots["kind"]], entity.id)


def _answer(request: Request, scope: str, scope_id: str) -> Answer:
    levels = LEVELS[LEVELS.index(scope) :]
    wanted = asked(
        request,
        {"time_granularity": choice("daily")},
        {"aggregation_level": choice(*levels), **paging(_MOST)},
        {"time_ranges": _RANGE, "fields": text(), "includes": choice("zero_impression_items")},
    )
    level, account = wanted.get("aggregation_level", scope), account_of(request)
    if len(wanted["time_ranges"]) != 1:
        raise Problem("value", "/time_ranges", "one range is required")
    since, until = period(request.world, account, wanted["time_ranges"][0])
    keys = _keys(level, wanted["fields"] or ["impressions"])
    rows = []
    for day in figures.days(since, until):
        for native_id, ads in _groups(request.world, account, level, scope, scope_id).items():
            did = figures.total(figures.of_ad(request.world, ad, day) for ad in ads)
            if did["impressions"] or wanted["includes"]:
                rows.append(_row(request.world, account, level, native_id, day, did, keys))
    return listed(request, rows, wanted, default=_DEFAULT, count=len(rows))


def period(world: World, account: Account, given: Mapping[str, str]) -> tuple[date, date]:
    """The days of a time range, the last included. Nothing is kept for longer than 365 days. Problem."""
    where, zone = "/time_ranges", ZoneInfo(account.timezone)
    dates = given["type"] == "date_range"
    names = ("since", "until") if dates else ("start", "end")
    if {*given} - {"type", "timezone" if dates else "type"} != {*names}:
        raise Problem("value", where, f"a {given['type']} has {names[0]} and {names[1]}")
    if dates:
        if given.get("timezone", account.timezone) != account.timezone:
            raise Problem("value", where, f"only {account.timezone} is simulated")
        since, until = (_date(given[name]) for name in names)
    else:
        since, until = _days_of(given, zone)
    now = figures.today(world, account)
    if until < since:
        raise Problem("value", where, "ends before it starts")
    if until > now:
        raise Problem("value", where, "must not lie in the future")
    if since < now - _LONGEST:
        raise Problem("value", where, "must not lie further back than 5 years")
    return max(since, now - _RETENTION), until


def _date(given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError as error:
        raise Problem("value", "/time_ranges", "is no day") from error


def _days_of(given: Mapping[str, str], zone: ZoneInfo) -> tuple[date, date]:
    start, end = (datetime.fromtimestamp(int(given[name]), zone) for name in ("start", "end"))
    if start.time() != time() or end.time() != time():
        raise Problem("value", "/time_ranges", "must be full days in the time zone of the account")
    return start.date(), end.date() - timedelta(days=1)


def _keys(level: str, fields: list[str]) -> dict[str, tuple[str, str | None]]:
    """The key in the row of every field that is asked for, what it is, and of which level."""
    known: dict[str, tuple[str, tuple[str, str | None]]] = {}
    for name in _METADATA:
        known[f"metadata.{name}"] = known[name] = (name, (name, None))
    for name in (*figures.METRICS, _CURRENCY):
        known[f"{level}.{name}"] = known[name] = (name, (name, None))
    for above in LEVELS[: LEVELS.index(level) + 1]:
        for name in ("id", "name"):
            known[f"{above}.{name}"] = known[f"{above}_{name}"] = (f"{above}_{name}", (name, above))
    found = {}
    for field in fields:
        if field not in known:
            raise Problem("value", "/fields", f"Unknown field '{field}' at level {level}")
        found[known[field][0]] = known[field][1]
    return found


def _groups(world: World, account: Account, level: str, scope: str, scope_id: str) -> dict[str, list[Entity]]:
    """The ads of every object of the level, below the scope. Objects without ads have an empty list."""
    if level == "ad_account":
        found: dict[str, list[Entity]] = {account.id: []}
    else:
        found = {one.id: [] for one in world.entities(level, account.id) if scope_id in _above(world, one)}
    for ad in world.entities("ad", account.id):
        ids = dict(zip(reversed(LEVELS), (*(one.id for one in line(world, ad)), account.id), strict=True))
        if ids[scope] == scope_id:
            found[ids[level]].append(ad)
    return found


def _above(world: World, entity: Entity) -> set[str]:
    """The ids of an object, of all that is above it, and of the account."""
    found = {entity.id, entity.account}
    if entity.kind == "ad":
        return found | {one.id for one in line(world, entity)}
    return found | ({entity.parent} if entity.parent is not None else set())


def _row(
    world: World, account: Account, level: str, native_id: str, day: date, did: Mapping[str, int],
    keys: Mapping[str, tuple[str, str | None]],
) -> dict[str, Any]:  # fmt: skip
    zone = ZoneInfo(account.timezone)
    identity = hashlib.sha256(f"{native_id} {day} {sorted(keys)}".encode()).hexdigest()[:24]
    row: dict[str, Any] = {
        "id": f"ins_{identity}",  # not the same for another list of fields
        "start_time": int(datetime.combine(day, time(), zone).timestamp()),
        "end_time": int(datetime.combine(day + timedelta(days=1), time(), zone).timestamp()),
    }
    sold = did["conversions"] > 0
    for key, (name, of) in keys.items():
        if of is not None:
            row[key] = _fact(world, account, level, native_id, of, name)
        elif name == "readable_time":
            row[key] = day.isoformat()
        elif name == "timezone":
            row[key] = account.timezone
        elif name == _CURRENCY:
            row[key] = account.currency if sold else None
        elif name in _MONEY:
            row[key] = Decimal(did[name]) / MICROS
        else:
            row[key] = did[name]
    return row


def _fact(world: World, account: Account, level: str, native_id: str, of: str, name: str) -> str:
    """Id or name of the object of a row, or of one above it."""
    kind, at = level, native_id
    while kind != of and kind != "campaign" and of != "ad_account":
        entity = world.find(kind, at)
        assert entity is not None, "a row has an object"
        kind, at = LEVELS[LEVELS.index(kind) - 1], str(entity.parent)
    if of == "ad_account":
        return account.id if name == "id" else account.name
    entity = world.find(kind, at)
    assert entity is not None, "a row has an object"
    return entity.id if name == "id" else str(entity.data["name"])
