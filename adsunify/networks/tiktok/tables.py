"""TikTok API for Business v1.3 (Marketing API): what the API has and what the adapter uses, as tables.

There is no newer version, and breaking changes come only with a new version. TikTok has announced the end of manual
creation for 2026-12-31 (guide "Upgraded Smart+ Campaign"), but the Upgraded Smart+ endpoints do not list ``TRAFFIC``,
the only objective here. So manual creation stays the default, and plans carry a warning from 2027-01-01 on.

Three surprises. Errors have the HTTP status 200: only ``code`` 0 in the body means success. A created entity serves at
once unless ``operation_status`` is DISABLE. Instants are in UTC without a zone, but days of reports are the account's.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import Format, Input
from adsunify.adapter.metrics import Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    Login,
    NativeEntity,
    Network,
    PayloadRules,
    Template,
    first_text,
    split_words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import find_web_url_error
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id

from . import native as tiktok
from .settings import EDITS, SETTINGS, check_budget, count_budget_periods
from .targeting import EDITABLE_TARGETING, MANUAL_ONLY_MEMBERS, find_native_targeting_error

# -- levels -------------------------------------------------------------------------------------------------------

UNIFIED_STATUSES = {tiktok.ENABLE: "active", tiktok.DISABLE: "paused", tiktok.DELETE: "deleted"}


def _is_deleted(entity: NativeEntity) -> bool:
    # API for Business: operation_status of a deleted entity may still be ENABLE.
    return (get_text(entity, "/secondary_status") or "").endswith("_STATUS_DELETE")


def _level(kind: str, resource: str, title: str, **attributes: Json) -> Level:
    """Build a level. An entity of any level is created enabled unless the create says otherwise."""
    attributes |= {
        "unified_statuses": UNIFIED_STATUSES,
        "writable_statuses": {"active": tiktok.ENABLE, "paused": tiktok.DISABLE},
        "initial_status": tiktok.DISABLE,
        "status_filters": tiktok.STATUS_FILTERS,
        "payload": PayloadRules(neutral=tiktok.NEUTRAL_MEMBERS, bidding={"bid_type": (tiktok.CUSTOM_BID,)}),
    }
    attributes |= {"created": "/create_time", "hidden_statuses": tiktok.HIDDEN_STATUSES, "is_deleted": _is_deleted}
    return Level(kind, title, resource, f"/{resource}_id", f"/{resource}_name", "/operation_status", **attributes)


CAMPAIGN = _level(
    "campaign", "campaign", "campaign", note="Lists also filter by CAMPAIGN_STATUS_..., secondary_status."
)
AD_GROUP = _level(
    *("adGroup", "adgroup", "ad group"),
    parent="/campaign_id",
    parent_kind="campaign",
    review_status="/secondary_status",
    disapproved_statuses=("ADGROUP_STATUS_AUDIT_DENY",),
    settings_context={
        "targeting": split_words(
            "/location_ids /gender /age_groups /languages /interest_category_ids /operating_systems /targeting_spec"
        ),
        "bidding": ("/bid_type", "/bid_price", "/billing_event", "/optimization_goal"),
    },
    note=f"Holds budget, schedule, bid and targeting. Targeting edits take {', '.join(EDITABLE_TARGETING)}, age.",
)
AD = _level(
    *("ad", "ad", "ad"),
    parent="/adgroup_id",
    parent_kind="adGroup",
    review_status="/secondary_status",
    disapproved_statuses=("AD_STATUS_AUDIT_DENY",),
    settings_context={"creative": tiktok.CREATIVE_POINTERS},
    note="The creative is inside the ad.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD)


# -- formats ------------------------------------------------------------------------------------------------------

LATEST_START, LATEST_END = datetime(2028, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
MAX_START_DELAY = timedelta(hours=12)


def get_account_flow(account: Account) -> tiktok.CreateFlow:
    """Return the account's create flow: Smart+ if the extra ``createFlow`` names it, else manual."""
    return tiktok.SMART_PLUS_FLOW if account.extras.get("createFlow") == tiktok.SMART_PLUS_FLOW else tiktok.MANUAL_FLOW


def _find_text_error(body: str) -> str | None:
    return tiktok.find_text_error(body, tiktok.MAX_TEXT_UNITS)


def _can_use_custom_identity(account: Account) -> bool:
    return account.extras.get("canUseCustomIdentity") != "false"


def _check_name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    wrong = tiktok.find_text_error(brief.name, tiktok.MAX_NAME_UNITS)
    if wrong is not None:
        yield Issue("name", "invalid", f"TikTok: {wrong}.")


def _check_cover(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if brief.creative.image_hash is not None and brief.creative.image_url is not None:
        yield Issue("creative.imageUrl", "conflict", "TikTok takes one cover: imageHash or imageUrl.")


def _check_schedule(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    start, end = brief.schedule.start, brief.schedule.end
    if now is not None and start < now - MAX_START_DELAY:
        yield Issue("schedule.startAt", "past", "TikTok takes a start at most 12 hours in the past.")
    if start > LATEST_START:
        yield Issue("schedule.startAt", "out_of_range", "TikTok takes no start after 2028-01-01.")
    if end is not None and end > LATEST_END:
        yield Issue("schedule.endAt", "out_of_range", "TikTok takes no end after 2038-01-01.")


def _check_amounts(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    amount, end = Decimal(brief.budget.amount), brief.schedule.end
    days = 1 if end is None else count_budget_periods(brief.schedule.start, end)
    yield from check_budget(account, "adGroup", "budget.amount", amount, brief.budget.period, days)
    if brief.bid is not None and Decimal(brief.bid) >= amount:
        yield Issue("bid", "too_large", "TikTok takes a bid below the budget only.")


def _check_targeting(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if get_account_flow(account) == tiktok.SMART_PLUS_FLOW:
        for name in MANUAL_ONLY_MEMBERS:
            if name in (brief.targeting.native or {}):
                yield Issue(f"targeting.native.{name}", "not_supported", "The Smart+ flow does not take it.")


_GEOGRAPHY_FORM = "countries, locationIds or native targeting with location_ids or zipcode_ids"
_IDENTITY_FORM = "an identity of the catalog identities"
_UNSUPPORTED_REASONS = {
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
        bid_meanings={"traffic": "the average cost of a click to aim at (cost cap)"},
        inputs=(
            Input("bid", "optional", "below the budget"),
            Input("schedule.endAt", "required", "the budget is at least 20 US dollars' worth for each day"),
            Input("targeting.countries", "any", _GEOGRAPHY_FORM, group="geography"),
            Input("targeting.locationIds", "any", "ids of the catalog locations", group="geography"),
            Input(
                "targeting.native", "any", _GEOGRAPHY_FORM, group="geography", find_error=find_native_targeting_error
            ),
            Input("creative.existingId", "required", "an id of the catalog videos, processed"),
            Input("creative.body", "required", "the ad's text, 1 to 100 units", find_error=_find_text_error),
            Input("creative.url", "required", "the landing page, http or https", find_error=find_web_url_error),
            Input("creative.imageHash", "optional", "the cover: an id of the catalog images"),
            Input(
                "creative.imageUrl",
                "optional",
                "the cover: an address that TikTok fetches",
                find_error=find_web_url_error,
            ),
            Input("platform.identityId", "required", _IDENTITY_FORM),
            Input(
                "platform.identityType",
                "required",
                choices=tiktok.TIKTOK_ACCOUNTS,
                is_exempt=_can_use_custom_identity,
                reason="where the account's extra canUseCustomIdentity is false",
            ),
            Input("platform.identityType", "required", choices=(*tiktok.TIKTOK_ACCOUNTS, tiktok.CUSTOM_USER)),
            Input("platform.specialAdCategories", "optional", choices=tiktok.SPECIAL_INDUSTRIES),
            deny_political_ads("TikTok takes no political ads"),
            *(Input(path, "refused", reason=reason) for path, reason in _UNSUPPORTED_REASONS.items()),
        ),
        rules=(
            _check_name,
            _check_cover,
            _check_schedule,
            _check_amounts,
            _check_targeting,
        ),
        notes=(
            "A daily budget is an average over a calendar week: a day may spend up to 125 % of it.",
            "A TikTok account's video becomes a post that is shown as an ad only (dark post).",
            "Without imageHash or imageUrl the first cover that TikTok suggests for the video is used.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


CatalogRequestBuilder = Callable[[Account, str, str | None, int], Request]


def _build_regions_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return tiktok.build_regions_request(account, "ALL")


def _build_search_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    body = {
        "advertiser_id": account.native_id,
        "objective_type": tiktok.TRAFFIC,
        "promotion_type": tiktok.WEBSITE,
        "placements": [tiktok.TIKTOK_PLACEMENT],
        "search_type": "FUZZY_SEARCH",
        "keywords": [suffix],
    }
    return Request("POST", f"{tiktok.API_URL}/tool/targeting/search/", body=body, encoding="json")


def _get_geo_id(row: Mapping[str, Json]) -> str:
    # unverified: the members of the locations that a search finds, and their list targeting_tag_list.
    return parse_id(get_value(row, "/geo/geo_id")) or parse_id(get_value(row, "/geo_id")) or ""


def _build_covers_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return tiktok.build_covers_request(account, suffix, min(limit, 10))


def _paged_request_builder(path: str, most: int) -> CatalogRequestBuilder:
    """Build the request of a list with pages. ``most``: the largest page."""

    def page(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return tiktok.build_account_get_request(account, path, page=cursor or "1", page_size=str(min(limit, most)))

    return page


def _whole_request_builder(path: str, **query: str) -> CatalogRequestBuilder:
    """Build the request of a list without pages."""

    def whole(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return tiktok.build_account_get_request(account, path, **query)

    return whole


def _parse_next_page(response: Response) -> str | None:
    page = tiktok.parse_next_page(response)
    return None if page is None else str(page)


CATALOGS = (
    Catalog(
        "locations",
        _build_regions_request,
        "/data/region_info",
        "/location_id",
        "/name",
        suffix="optional",
        note="locations:US",
    ),
    Catalog(
        "location_search",
        _build_search_request,
        "/data/targeting_tag_list",
        _get_geo_id,
        first_text("/geo/name", "/name"),
        suffix="required",
    ),
    Catalog("languages", _whole_request_builder("/tool/language/"), "/data/languages", "/code", "/name"),
    Catalog(
        "interests",
        _whole_request_builder("/tool/interest_category/", version="2"),
        "/data/interest_categories",
        "/interest_category_id",
        "/interest_category_name",
    ),
    Catalog(
        "identities",
        _paged_request_builder("/identity/get/", tiktok.IDENTITY_PAGE_SIZE),
        "/data/identity_list",
        "/identity_id",
        "/display_name",
        _parse_next_page,
    ),
    Catalog(
        "videos",
        _paged_request_builder("/file/video/ad/search/", 100),
        "/data/list",
        "/video_id",
        "/file_name",
        _parse_next_page,
    ),
    Catalog(
        "images",
        _paged_request_builder("/file/image/ad/search/", 100),
        "/data/list",
        "/image_id",
        "/file_name",
        _parse_next_page,
    ),
    Catalog(
        "video_covers",
        _build_covers_request,
        "/data/list",
        "/id",
        "/url",
        suffix="required",
        note="video_covers:<video id>",
    ),
    Catalog(
        "audiences",
        _paged_request_builder("/dmp/custom_audience/list/", 100),
        "/data/list",
        "/audience_id",
        "/name",
        _parse_next_page,
    ),
    # unverified: the members of the lists of pixels and apps.
    Catalog(
        "pixels",
        _paged_request_builder("/pixel/list/", 20),
        "/data/pixels",
        "/pixel_id",
        "/pixel_name",
        _parse_next_page,
    ),
    Catalog("apps", _whole_request_builder("/app/list/"), "/data/apps", "/app_id", "/app_name"),
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
            "placements": [tiktok.TIKTOK_PLACEMENT],
            "location_ids": ["6252001"],
            "budget_mode": tiktok.DAILY,
            "budget": Decimal("35.5"),
            "schedule_type": tiktok.START_END_SCHEDULE,
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


UNAVAILABLE_VALUES = ("-", "")  # the values of an unavailable metric
REPORT_METRICS = split_words("spend impressions clicks conversion video_play_actions reach")
METRICS = (
    Metric("impressions", "/metrics/impressions", "count", absent_texts=UNAVAILABLE_VALUES),
    Metric("clicks", "/metrics/clicks", "count", absent_texts=UNAVAILABLE_VALUES),
    Metric("spend", "/metrics/spend", "major", absent_texts=UNAVAILABLE_VALUES),
    Metric(
        "conversions",
        "/metrics/conversion",
        "decimal",
        absent_texts=UNAVAILABLE_VALUES,
        note="Says nothing where clicks are bought.",
    ),
    Metric("videoViews", "/metrics/video_play_actions", "count", absent_texts=UNAVAILABLE_VALUES),
    Metric("reach", "/metrics/reach", "count", absent_texts=UNAVAILABLE_VALUES, note="Of one day; days do not add up."),
)

REPORT_SOURCE = "API for Business v1.3, report/integrated/get (read 2026-11-23)"
REPORT_LEVELS = (
    ReportLevel(
        *("campaign", "AUCTION_CAMPAIGN", "/dimensions/campaign_id", "/metrics/campaign_name"), source=REPORT_SOURCE
    ),
    ReportLevel(
        *("adGroup", "AUCTION_ADGROUP", "/dimensions/adgroup_id", "/metrics/adgroup_name", "/metrics/campaign_id"),
        source=REPORT_SOURCE,
    ),
    # unverified: ad_id_v2 is the ad_id of an ad, or the smart_plus_ad_id in an Upgraded Smart+ campaign.
    ReportLevel(
        *("ad", "AUCTION_AD", "/dimensions/ad_id_v2", "/metrics/ad_name", "/metrics/adgroup_id"),
        note="An ad of an Upgraded Smart+ campaign has one row for all its creatives.",
        source=REPORT_SOURCE,
    ),
)

ERRORS = (
    ErrorRule(
        "rejected", "token", "the token is expired, revoked or invalid", split_words("40102 40103 40104 40105 40106")
    ),
    ErrorRule("rejected", "token", "the code, the token or the app is refused", split_words("40107 40110 40113")),
    ErrorRule(
        "rejected",
        "permission",
        "not permitted",
        split_words("40001 40118 40119 40124 40125 40300 40301 41000"),
    ),
    ErrorRule("throttled", "limit", "too many requests", tiktok.QUOTA_CODES),
    ErrorRule("throttled", "network", "a video or task is still being processed", tiktok.PROCESSING_CODES),
    ErrorRule(
        "throttled",
        "network",
        "another write is under way, or the API is down for maintenance",
        (tiktok.CONFLICT_CODE, tiktok.MAINTENANCE_CODE),
    ),
    # unverified: the code of a repeated request_id.
    ErrorRule("ambiguous", "input", "a request with the same request_id may have been applied", ("40050",)),
    ErrorRule("rejected", "not_found", "no such object", ("40007",)),
    ErrorRule("rejected", "limit", "the ad group holds as many ads as it may", ("40502",)),
    ErrorRule("rejected", "input", "a parameter is refused", ("40000-41999",)),
    ErrorRule("rejected", "input", "the status of this one was not changed", (tiktok.ITEM_ERROR,)),
    ErrorRule(
        "ambiguous", "network", "TikTok had a fault of its own; it may have been done", split_words("50000 50002 51305")
    ),
)


NETWORK = Network(
    code=tiktok.CODE,
    title=tiktok.TITLE,
    version=tiktok.VERSION,
    sunset=tiktok.SUNSET,
    hosts=(tiktok.HOST,),
    login=Login("oauth2", note="What the token may do is chosen on the developer app; tokens do not expire."),
    get_money_unit=tiktok.get_money_unit,
    parse_error=tiktok.parse_error,
    time=tiktok.TIME,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # API for Business, integrated report: days without delivery are absent and do not mean zero. The coverage shows
    # them as missing.
    missing_day="gap",
    geographies=("/location_ids", "/zipcode_ids"),
    money_note="Native amounts are decimal numbers in major units (some currencies take no fraction).",
    templates=TEMPLATES,
    extras=(
        Extra(
            "createFlow",
            "which endpoints create (auto: manual)",
            (tiktok.AUTO_FLOW, *tiktok.CREATE_FLOWS),
            is_settable=True,
            label="Flow of new campaigns",
            form="words",
        ),
        Extra(
            "canUseCustomIdentity",
            "false: a CUSTOMIZED_USER may not send new ads",
            label="New ads under a custom identity",
            form="flag",
            native="/can_use_custom_identity",
        ),
        Extra(
            "adsOnlyMode",
            "true: ads are dark posts only",
            label="Ads are dark posts only",
            form="flag",
            native="/ads_only_mode",
        ),
        Extra(
            "ownerBcId",
            "the business centre that owns the account",
            label="Owned by the business centre",
            native="/owner_bc_id",
        ),
    ),
    parse_retry_delay=tiktok.parse_retry_delay,
    parse_item_results=tiktok.parse_item_results,
    notes=(
        "TikTok has announced the end of manual creation for 2026-12-31, and may refuse it from 2027-01-01 on.",
        "Creates are manual at every date, unless the account's createFlow is smart_plus (Upgraded Smart+).",
        "TikTok's reference of Upgraded Smart+ does not list traffic (unverified); an account may have to be opened.",
        "Changes follow the flow that the entity was made in.",
        "Entities of the old Smart+ are only read.",
    ),
    brief_catalogs={"platform.identityId": "identities", "creative.existingId": "videos"},
)
