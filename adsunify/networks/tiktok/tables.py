"""TikTok: API for Business v1.3 (Marketing API), what it has and what of it is used, as tables.

There is no newer version; breaking changes come only with one. TikTok has announced the end of manual creation for
2026-12-31 (guide "Upgraded Smart+ Campaign"), but the reference of the Upgraded Smart+ endpoints does not list
``TRAFFIC``, the only objective used here. So manual creation is the default at every date, and plans carry a warning
from 2027-01-01 on. Manual updates, status changes, reads and reports go on.

Three surprises. Errors come under the status 200: success is ``code`` 0 in the body, and nothing else is. What is
created serves at once unless ``operation_status`` says DISABLE. Instants are UTC without saying so, whatever the
account's time zone, but the days of a report are the account's.

Sources: business-api.tiktok.com (API reference v1.3: campaign, ad group, ad, Upgraded Smart+, identity, tool, report,
return codes, rate limits, currency); the SDK tiktok-business-api-sdk-official 1.1.3 for names and types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from adsunify.adapter.brief_checks import deny_political_ads, times_held
from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Extra,
    Format,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Template,
    words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import not_web
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import identifier, read, text

from . import native as tiktok
from .settings import EDITS, SETTINGS, budget_issues, days_of
from .targeting import MANUAL_ONLY, PARTS, wrong_native

# -- levels -------------------------------------------------------------------------------------------------------

STATES = {tiktok.ENABLE: "active", tiktok.DISABLE: "paused", tiktok.DELETE: "deleted"}
SETTABLE = {"active": tiktok.ENABLE, "paused": tiktok.DISABLE}


def _level(kind: str, resource: str, title: str, **more: Json) -> Level:
    """A level; all three are born enabled unless told otherwise."""
    more |= {"states": STATES, "settable": SETTABLE, "born": tiktok.DISABLE, "filters": tiktok.FILTERS}
    return Level(kind, title, resource, f"/{resource}_id", f"/{resource}_name", "/operation_status", **more)


LEVELS = (
    _level("campaign", "campaign", "campaign", note="Lists also filter by CAMPAIGN_STATUS_..., secondary_status."),
    _level(
        *("adGroup", "adgroup", "ad group"),
        parent="/campaign_id",
        parent_kind="campaign",
        shows={
            "targeting": words(
                "/location_ids /gender /age_groups /languages /interest_category_ids /operating_systems /targeting_spec"
            ),
            "bidding": ("/bid_type", "/bid_price", "/billing_event", "/optimization_goal"),
        },
        note=f"Budget, schedule, bid and targeting stand here. An edit's targeting takes {', '.join(PARTS)}, age.",
    ),
    _level(
        *("ad", "ad", "ad"),
        parent="/adgroup_id",
        parent_kind="adGroup",
        shows={
            "creative": words(
                "/video_id /image_ids /ad_text /landing_page_url /call_to_action /identity_type /identity_id"
                " /creative_list"
            ),
        },
        note="The creative is inside the ad.",
    ),
)


# -- formats ------------------------------------------------------------------------------------------------------

LATEST_START, LATEST_END = datetime(2028, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
LATE = timedelta(hours=12)


def flow_of(account: Account) -> tiktok.Create:
    """The account's create flow: Smart+ where ``createFlow`` names it, else manual."""
    return tiktok.SMART_PLUS if account.extras.get("createFlow") == tiktok.SMART_PLUS else tiktok.MANUAL


def _text(body: str) -> str | None:
    return tiktok.wrong_words(body, tiktok.TEXT_UNITS)


def _custom_allowed(account: Account) -> bool:
    return account.extras.get("canUseCustomIdentity") != "false"


def _name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    wrong = tiktok.wrong_words(brief.name, tiktok.NAME_UNITS)
    if wrong is not None:
        yield Issue("name", "invalid", f"TikTok: {wrong}.")


def _cover(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if brief.creative.image_hash is not None and brief.creative.image_url is not None:
        yield Issue("creative.imageUrl", "conflict", "TikTok takes one cover: imageHash or imageUrl.")


def _schedule(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    start, end = brief.schedule.start, brief.schedule.end
    if now is not None and start < now - LATE:
        yield Issue("schedule.startAt", "past", "TikTok takes a start at most 12 hours in the past.")
    if start > LATEST_START:
        yield Issue("schedule.startAt", "out_of_range", "TikTok takes no start after 2028-01-01.")
    if end is not None and end > LATEST_END:
        yield Issue("schedule.endAt", "out_of_range", "TikTok takes no end after 2038-01-01.")


def _amounts(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    amount, end = Decimal(brief.budget.amount), brief.schedule.end
    days = 1 if end is None else days_of(brief.schedule.start, end)
    yield from budget_issues(account, "adGroup", "budget.amount", amount, brief.budget.period, days)
    if brief.bid is not None and Decimal(brief.bid) >= amount:
        yield Issue("bid", "too_large", "TikTok takes a bid below the budget only.")


def _targeting(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if flow_of(account) == tiktok.SMART_PLUS:
        for name in MANUAL_ONLY:
            if name in (brief.targeting.native or {}):
                yield Issue(f"targeting.native.{name}", "not_supported", "The Smart+ flow does not take it.")


_GEOGRAPHY = "countries, locationIds or native targeting with location_ids or zipcode_ids"
_IDENTITIES = "an identity of the catalog identities"
_ABSENT = {
    "creative.headline": "a video ad has one text, creative.body",
    "creative.headlines": "a video ad has one text, creative.body",
    "creative.descriptions": "a video ad has one text, creative.body",
    "targeting.keywords": "its ads are shown to people, not on searches",
    "platform.pageId": "the sender of the ad is platform.identityId",
    "platform.pixelId": "link clicks are counted without a pixel",
    "platform.conversionEvent": "link clicks are counted without an event",
    "platform.brandName": "the identity brings its own name",
}

FORMATS = (
    Format(
        "video_ad",
        "Video ad",
        goals=("traffic",),
        periods=("daily", "lifetime"),
        bid={"traffic": "the average cost of a click to aim at (cost cap)"},
        inputs=(
            Input("bid", "optional", accepts="below the budget"),
            Input("schedule.endAt", "required", accepts="the budget is at least 20 US dollars' worth for each day"),
            Input("targeting.countries", "any", group="geography", accepts=_GEOGRAPHY),
            Input("targeting.locationIds", "any", group="geography", accepts="ids of the catalog locations"),
            Input("targeting.native", "any", group="geography", test=wrong_native, accepts=_GEOGRAPHY),
            Input("creative.existingId", "required", accepts="an id of the catalog videos, processed"),
            Input("creative.body", "required", test=_text, accepts="the ad's text, 1 to 100 units"),
            Input("creative.url", "required", test=not_web, accepts="the landing page, http or https"),
            Input("creative.imageHash", "optional", accepts="the cover: an id of the catalog images"),
            Input("creative.imageUrl", "optional", test=not_web, accepts="the cover: an address that TikTok fetches"),
            Input("platform.identityId", "required", accepts=_IDENTITIES),
            Input(
                *("platform.identityType", "required"),
                choices=tiktok.TIKTOK_ACCOUNTS,
                unless=_custom_allowed,
                reason="where the account's extra canUseCustomIdentity is false",
            ),
            Input("platform.identityType", "required", choices=(*tiktok.TIKTOK_ACCOUNTS, tiktok.CUSTOM_USER)),
            Input("platform.specialAdCategories", "optional", choices=tiktok.SPECIAL_INDUSTRIES),
            deny_political_ads("TikTok takes no political ads"),
            *(Input(path, "refused", reason=reason) for path, reason in _ABSENT.items()),
        ),
        rules=(_name, _cover, times_held(tiktok.TITLE), _schedule, _amounts, _targeting),
        notes=(
            "A daily budget is an average over a calendar week: a day may spend up to 125 % of it.",
            "A TikTok account's video becomes a post that is shown as an ad only (dark post).",
            "Without imageHash or imageUrl the first cover that TikTok suggests for the video is used.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


Ask = Callable[[Account, str, str | None, int], Request]


def _regions(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return tiktok.regions(account, "ALL")


def _search(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    body = {
        "advertiser_id": account.native_id,
        "objective_type": tiktok.TRAFFIC,
        "promotion_type": tiktok.WEBSITE,
        "placements": [tiktok.ON_TIKTOK],
        "search_type": "FUZZY_SEARCH",
        "keywords": [suffix],
    }
    return Request("POST", f"{tiktok.BASE}/tool/targeting/search/", body=body, encoding="json")


def _geo(row: Mapping[str, Json]) -> str:
    return identifier(read(row, "/geo/geo_id")) or identifier(read(row, "/geo_id")) or ""  # (unverified)


def _geo_name(row: Mapping[str, Json]) -> str:
    return text(row, "/geo/name") or text(row, "/name") or ""


def _covers(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return tiktok.covers(account, suffix, min(limit, 10))


def _paged(path: str, most: int) -> Ask:
    """The request of one page of a list that has pages; ``most`` rows to a page."""

    def page(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return tiktok.asked(account, path, page=cursor or "1", page_size=str(min(limit, most)))

    return page


def _whole(path: str, **query: str) -> Ask:
    """The request of a list that comes whole."""

    def whole(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return tiktok.asked(account, path, **query)

    return whole


def _next(response: Response) -> str | None:
    page = tiktok.next_page(response)
    return None if page is None else str(page)


CATALOGS = (
    Catalog(
        "locations", _regions, "/data/region_info", "/location_id", "/name", suffix="optional", note="locations:US"
    ),
    Catalog("location_search", _search, "/data/targeting_tag_list", _geo, _geo_name, suffix="required"),
    Catalog("languages", _whole("/tool/language/"), "/data/languages", "/code", "/name"),
    Catalog(
        "interests",
        _whole("/tool/interest_category/", version="2"),
        "/data/interest_categories",
        "/interest_category_id",
        "/interest_category_name",
    ),
    Catalog(
        "identities",
        _paged("/identity/get/", tiktok.IDENTITY_PAGE),
        "/data/identity_list",
        "/identity_id",
        "/display_name",
        _next,
    ),
    Catalog("videos", _paged("/file/video/ad/search/", 100), "/data/list", "/video_id", "/file_name", _next),
    Catalog("images", _paged("/file/image/ad/search/", 100), "/data/list", "/image_id", "/file_name", _next),
    Catalog("video_covers", _covers, "/data/list", "/id", "/url", suffix="required", note="video_covers:<video id>"),
    Catalog("audiences", _paged("/dmp/custom_audience/list/", 100), "/data/list", "/audience_id", "/name", _next),
    Catalog("pixels", _paged("/pixel/list/", 20), "/data/pixels", "/pixel_id", "/pixel_name", _next),  # (unverified)
    Catalog("apps", _whole("/app/list/"), "/data/apps", "/app_id", "/app_name"),  # (unverified)
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Traffic campaign, budgets on ad groups",
        {
            "campaign_name": "Autumn shoes",
            "objective_type": tiktok.TRAFFIC,
            "budget_mode": tiktok.NO_BUDGET,
            "budget_optimize_on": False,
            "operation_status": tiktok.DISABLE,
        },
    ),
    Template(
        "adGroup",
        "Ad group that buys clicks",
        {
            "campaign_id": "1",
            "adgroup_name": "Autumn shoes",
            "promotion_type": tiktok.WEBSITE,
            "placement_type": tiktok.CHOSEN_PLACEMENTS,
            "placements": [tiktok.ON_TIKTOK],
            "location_ids": ["6252001"],
            "budget_mode": tiktok.DAILY,
            "budget": Decimal("35.5"),
            "schedule_type": tiktok.START_END,
            "schedule_start_time": "2027-01-15 09:00:00",
            "schedule_end_time": "2027-02-15 09:00:00",
            "optimization_goal": tiktok.CLICK,
            "billing_event": tiktok.COST_PER_CLICK,
            "bid_type": tiktok.NO_BID,
            "pacing": tiktok.SMOOTH,
            "operation_status": tiktok.DISABLE,
        },
        note="Instants are UTC.",
    ),
    Template(
        "ad",
        "Video ad: one item of creatives",
        {
            "ad_name": "Autumn shoes",
            "ad_format": tiktok.SINGLE_VIDEO,
            "identity_type": tiktok.USER,
            "identity_id": "1",
            "video_id": "v1",
            "image_ids": ["ad-site-1"],
            "ad_text": "New season, same street",
            "call_to_action": tiktok.LEARN_MORE,
            "landing_page_url": "https://shop.example/autumn",
            "dark_post_status": tiktok.ON,
            "operation_status": tiktok.DISABLE,
        },
        note="The ad group is named by parentId.",
    ),
)


UNTOLD = ("-", "")  # not available
REPORTED = words("spend impressions clicks conversion video_play_actions reach")
METRICS = (
    Metric("impressions", "/metrics/impressions", "count", silent=UNTOLD),
    Metric("clicks", "/metrics/clicks", "count", silent=UNTOLD),
    Metric("spend", "/metrics/spend", "major", silent=UNTOLD),
    Metric(
        "conversions",
        "/metrics/conversion",
        "decimal",
        silent=UNTOLD,
        note="Says nothing where clicks are bought.",
    ),
    Metric("videoViews", "/metrics/video_play_actions", "count", silent=UNTOLD),
    Metric("reach", "/metrics/reach", "count", silent=UNTOLD, note="Of one day; days do not add up."),
)

ERRORS = (
    ErrorRule("rejected", "token", "the token is expired, revoked or invalid", words("40102 40103 40104 40105 40106")),
    ErrorRule("rejected", "token", "the code, the token or the app is refused", words("40107 40110 40113")),
    ErrorRule(
        "rejected",
        "permission",
        "not permitted",
        words("40001 40118 40119 40124 40125 40300 40301 41000"),
    ),
    ErrorRule("throttled", "limit", "too many requests", tiktok.QUOTAS),
    ErrorRule("throttled", "network", "a video or task is still being processed", tiktok.PROCESSING),
    ErrorRule(
        "throttled",
        "network",
        "another write is under way, or the API is down for maintenance",
        (tiktok.CONFLICT, tiktok.MAINTENANCE),
    ),
    ErrorRule("ambiguous", "input", "a request with the same request_id may have been applied", ("40050",)),
    ErrorRule("rejected", "not_found", "no such object", ("40007",)),
    ErrorRule("rejected", "limit", "the ad group holds as many ads as it may", ("40502",)),
    ErrorRule("rejected", "input", "a parameter is refused", ("40000-41999",)),
    ErrorRule("rejected", "input", "the status of this one was not changed", (tiktok.NOT_THIS_ONE,)),
    ErrorRule(
        "ambiguous", "network", "TikTok had a fault of its own; it may have been done", words("50000 50002 51305")
    ),
)


NETWORK = Network(
    code=tiktok.CODE,
    title=tiktok.TITLE,
    version=tiktok.VERSION,
    hosts=(tiktok.HOST,),
    login=Login("oauth2", note="What the token may do is chosen on the developer app; tokens do not expire."),
    unit=tiktok.unit,
    error=tiktok.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # API for Business, integrated report ("tiktok: 12 Insights"): days without delivery are absent, "not zero"; they
    # are reported as absent coverage, never as zeros.
    missing_day="gap",
    geographies=("/location_ids", "/zipcode_ids"),
    money="Native amounts are decimal numbers in major units (some currencies take no fraction).",
    templates=TEMPLATES,
    extras=(
        Extra("createFlow", "which endpoints create (auto: manual)", (tiktok.AUTO, *tiktok.FLOWS)),
        Extra("canUseCustomIdentity", "false: a CUSTOMIZED_USER may not send new ads", settable=False),
        Extra("adsOnlyMode", "true: ads are dark posts only", settable=False),
        Extra("ownerBcId", "the business centre that owns the account", settable=False),
    ),
    wait=tiktok.wait,
    items=tiktok.items,
    notes=(
        "TikTok has announced the end of manual creation for 2026-12-31, and may refuse it from 2027-01-01 on.",
        "Creates are manual at every date, unless the account's createFlow is smart_plus (Upgraded Smart+).",
        "TikTok's reference of Upgraded Smart+ does not list traffic (unverified); an account may have to be opened.",
        "Changes follow the flow that the entity was made in.",
        "Entities of the old Smart+ are only read.",
    ),
)
