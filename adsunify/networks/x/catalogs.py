"""The lists of X that may be looked at: what the account has, and what can be targeted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from adsunify.errors import refused
from adsunify.network import Account, Catalog
from adsunify.wire import Json, Request, Response, found_at

from .native import (
    COUNTRIES,
    LOCATION_TYPES,
    PROMOTED_POSTS,
    call,
    job_states,
    locations,
    next_cursor,
    of_account,
    posts,
)

Suffix = Literal["none", "optional", "required"]


def _page(cursor: str | None, limit: int, **query: str) -> dict[str, str]:
    return {"count": str(limit), **({"cursor": cursor} if cursor is not None else {}), **query}


def _owned(resource: str, id_: str, name: str, note: str = "") -> Catalog:
    """A list that the account has."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return of_account(account, path, **_page(cursor, limit))

    path = "promoted_tweets" if resource == "promoted_posts" else resource
    return Catalog(resource, request, "/data", id_, name, next_cursor, note=note)


def _options(
    resource: str, sought: str, *, paged: bool = True, required: bool = False, most: int = 1000, note: str = ""
) -> Catalog:
    """What can be targeted; the suffix is the parameter ``sought``. ``most``: the largest page."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        value = suffix if sought in ("q", "locale") else suffix.replace(" ", "_").upper()
        query = {sought: value} if suffix else {}
        return call(
            "GET", f"/targeting_criteria/{resource}", _page(cursor, min(limit, most), **query) if paged else query
        )

    form: Suffix = "required" if required else "optional"
    following = next_cursor if paged else None
    return Catalog(resource, request, "/data", "/targeting_value", "/name", following, form, note)


def _posts(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return posts(account, _page(cursor, limit, **({"user_id": suffix} if suffix else {})))


def _places(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    if not suffix:
        return locations(_page(cursor, limit, location_type=COUNTRIES))
    country, _, kind = suffix.replace(" ", "_").upper().partition("-")
    kind = kind or "REGIONS"
    if kind not in LOCATION_TYPES:
        raise refused("resource", "catalog_suffix", f"Places are asked for as US-<{'|'.join(LOCATION_TYPES)}>.")
    return locations(_page(cursor, limit, location_type=kind, country_code=country))


def _rules(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return call("GET", "/bidding_rules", {"currency": suffix.upper()})


def _placements(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return call("GET", "/line_items/placements", {"product_type": PROMOTED_POSTS})


def _combinations(response: Response) -> Sequence[Mapping[str, Json]]:
    """Placements that may stand together, one row each."""
    found = found_at(response.body, "/data/*/placements/*")
    joined = [",".join(map(str, one)) if isinstance(one, list) else one for one in found]
    return [{"placements": one} for one in joined if isinstance(one, str)]


def _job(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return job_states(account, suffix)


CATALOGS = (
    _owned("funding_instruments", "/id", "/description"),
    Catalog(
        "posts",
        _posts,
        "/data",
        "/tweet_id",
        "/full_text",
        next_cursor,
        "optional",
        "posts of the account's own user, or posts:<user id> of a promotable user",
    ),
    _owned("promotable_users", "/user_id", "/promotable_user_type"),
    Catalog(
        "geo_locations",
        _places,
        "/data",
        "/targeting_value",
        "/name",
        next_cursor,
        "optional",
        "countries; geo_locations:US its regions; geo_locations:US-CITIES (METROS, CITIES, POSTAL_CODES)",
    ),
    _options("interests", "q"),
    _options("languages", "q"),
    _options("platforms", "q", paged=False),
    _options("devices", "q", paged=False),
    _options("platform_versions", "q", paged=False),
    _options("conversations", "conversation_type", note="conversations:<conversation type>, such as SPORTS"),
    _options("network_operators", "q"),
    _options("app_store_categories", "q", paged=False),
    _options("events", "event_types", required=True, note="events:<event type>, such as SPORTS"),
    _options("tv_shows", "locale", required=True, most=50, note="tv_shows:<locale>, such as en-US"),
    _owned("custom_audiences", "/id", "/name", "only audiences that are targetable can be used"),
    _owned("promoted_posts", "/id", "/tweet_id"),
    Catalog(
        "bidding_rules", _rules, "/data", "/currency", "/currency", suffix="required", note="bidding_rules:<currency>"
    ),
    Catalog("placements", _placements, _combinations, "/placements", "/placements"),
    _owned("tracking_tags", "/id", "/tracking_tag_url"),
    Catalog("analytics_job", _job, "/data", "/id_str", "/status", suffix="required", note="analytics_job:<job id>"),
)
