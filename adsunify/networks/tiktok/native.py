"""TikTok API for Business: addresses, enums and currencies, and how amounts, errors, pages and delays are read.

Sources, for v1.3, as of 2026-11-23: business-api.tiktok.com/portal/docs, by the ``id`` of the page: 1737172488964097
(return codes), 1737585839634433 (currencies), 1738373164380162 (authentication), 1738855331457026 (sandbox),
1739381246298114 (budget), 1739586761631745 (update of ad groups), 1739953377508354 (create of ads), 1740029171730433
(rate limits), 1740302848100353 (synchronous report), 1843312852800706 (create of Upgraded Smart+ campaigns),
1853452461203458 (Upgraded Smart+ and the end of manual creation). Names and types: the PyPI package
tiktok-business-api-sdk-official 1.1.3 and github.com/bububa/tiktok-business v1.5.7. Custom identities:
ads.tiktok.com/help/article/about-changes-coming-to-custom-identity (2026-03).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache, partial
from typing import Literal
from unicodedata import east_asian_width

from attrs import frozen

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.flows import next_page_builder
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import ItemResult, ParsedError, project_sunset, split_words
from adsunify.http.messages import BodyEncoding, Request, Response
from adsunify.http.retry_after import parse_http_date, parse_retry_after
from adsunify.plans.records import Kind, Step
from adsunify.values.dates import format_utc
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import (
    find_values,
    get_objects,
    get_text,
    get_value,
    parse_id,
    require_value,
    split_pointer,
)
from adsunify.values.time_formats import TimeFormat

CODE = "tiktok"
TITLE = "TikTok"
VERSION = "v1.3"
SUNSET = project_sunset(date(2026, 11, 23))
HOST = "business-api.tiktok.com"
API_URL = f"https://{HOST}/open_api/{VERSION}"  # API for Business: every path ends with a slash
CONSENT_URL = f"https://{HOST}/portal/auth"
TOKEN_HEADER = "Access-Token"  # API for Business, "Authentication"
PAGE_SIZE, IDENTITY_PAGE_SIZE, BUSINESS_CENTER_PAGE_SIZE = 1000, 100, 50
MAX_ACCOUNTS_PER_REQUEST = 100  # unverified: the most accounts in one request

CreateFlow = Literal["manual", "smart_plus"]
CREATE_FLOWS: tuple[CreateFlow, ...] = ("manual", "smart_plus")
MANUAL_FLOW, SMART_PLUS_FLOW = CREATE_FLOWS
AUTO_FLOW = "auto"
PATH_PREFIXES: Mapping[CreateFlow, str] = {MANUAL_FLOW: "", SMART_PLUS_FLOW: "/smart_plus"}
# unverified: the end of manual creation that the guide "Upgraded Smart+ Campaign" announces concerns TRAFFIC, too.
MANUAL_CREATION_END = datetime(2027, 1, 1, tzinfo=UTC)
NEW_SMART_PLUS, OLD_SMART_PLUS = "UPGRADED_SMART_PLUS", "SMART_PLUS"
FLOW_BY_AUTOMATION: Mapping[str, CreateFlow] = {"MANUAL": MANUAL_FLOW, NEW_SMART_PLUS: SMART_PLUS_FLOW}

ENABLE, DISABLE, DELETE = "ENABLE", "DISABLE", "DELETE"
CREATE_STATUSES = (ENABLE, DISABLE)
TRAFFIC, WEBSITE, CLICK, COST_PER_CLICK = "TRAFFIC", "WEBSITE", "CLICK", "CPC"
NO_BUDGET, DAILY, DAY, TOTAL = (
    "BUDGET_MODE_INFINITE",
    "BUDGET_MODE_DYNAMIC_DAILY_BUDGET",
    "BUDGET_MODE_DAY",
    "BUDGET_MODE_TOTAL",
)
BUDGET_MODES = {"daily": DAILY, "lifetime": TOTAL}
BUDGET_PERIODS: Mapping[str, Period] = {DAILY: "daily", DAY: "daily", TOTAL: "lifetime"}
NO_BID, CUSTOM_BID = "BID_TYPE_NO_BID", "BID_TYPE_CUSTOM"
CONVERSION_BILLING = "OCPM"  # its bid is in conversion_bid_price
SMOOTH, FAST = "PACING_MODE_SMOOTH", "PACING_MODE_FAST"
START_END_SCHEDULE = "SCHEDULE_START_END"
CHOSEN_PLACEMENTS, TIKTOK_PLACEMENT = "PLACEMENT_TYPE_NORMAL", "PLACEMENT_TIKTOK"
NO_AUDIENCE_EXPANSION = "MANUAL"  # targeting_optimization_mode; AUTOMATIC widens the targeting
SINGLE_VIDEO, LEARN_MORE, BY_URL, ON = "SINGLE_VIDEO", "LEARN_MORE", "UPLOAD_BY_URL", "ON"
USER, BUSINESS_CENTER_USER, CUSTOM_USER = "TT_USER", "BC_AUTH_TT", "CUSTOMIZED_USER"
TIKTOK_ACCOUNTS = (USER, BUSINESS_CENTER_USER)
AVAILABLE = "AVAILABLE"
SPECIAL_INDUSTRIES = ("HOUSING", "EMPLOYMENT", "CREDIT")
CALLS_TO_ACTION = split_words(
    "APPLY_NOW BOOK_NOW CALL_NOW CONTACT_US DOWNLOAD_NOW EXPERIENCE_NOW GET_QUOTE GET_SHOWTIMES GET_TICKETS_NOW"
    " INSTALL_NOW INTERESTED LEARN_MORE LISTEN_NOW ORDER_NOW PLAY_GAME PREORDER_NOW READ_MORE SEND_MESSAGE SHOP_NOW"
    " SIGN_UP SUBSCRIBE VIEW_NOW VIEW_PROFILE VISIT_STORE WATCH_LIVE WATCH_NOW"
)
PRIMARY_STATUSES = split_words(
    "STATUS_ALL STATUS_NOT_DELETE STATUS_DELIVERY_OK STATUS_DISABLE STATUS_NOT_DELIVERY STATUS_TIME_DONE STATUS_DELETE"
)
STATUS_FILTERS = (ENABLE, DISABLE, *PRIMARY_STATUSES)
HIDDEN_STATUSES = ("STATUS_DELETE",)
"""The statuses of entities that a list shows only if its filter names them."""
MAX_NAME_UNITS, MAX_TEXT_UNITS = 512, 100
MAX_LOCATIONS = 3000

ID_MEMBERS: Mapping[Kind, str] = {"campaign": "campaign_id", "adGroup": "adgroup_id", "ad": "ad_id"}
RESOURCES: Mapping[Kind, str] = {"campaign": "campaign", "adGroup": "adgroup", "ad": "ad"}
KIND_NAMES: Mapping[Kind, str] = {"campaign": "campaign", "adGroup": "ad group", "ad": "ad"}
SMART_AD_ID_MEMBER = "smart_plus_ad_id"

# The members that /ad/update/ takes with patch_update, and those that it takes without it. Without patch_update TikTok
# clears each member that is left out (API for Business).
PATCHABLE_AD_MEMBERS = frozenset(
    split_words(
        "ad_name identity_id identity_type identity_authorized_bc_id video_id image_ids music_id tiktok_item_id ad_text"
    )
)
CREATIVE_MEMBERS = frozenset(
    split_words(
        "ad_format ad_id ad_name ad_text ad_texts aigc_disclosure_type app_name avatar_icon_web_uri"
        " brand_safety_postbid_partner brand_safety_vast_url call_to_action call_to_action_id card_id"
        " carousel_image_index click_tracking_url cpp_url creative_authorized creative_type dark_post_status deeplink"
        " deeplink_type deeplink_utm_params disclaimer_clickable_texts disclaimer_text disclaimer_type display_name"
        " dynamic_destination dynamic_format end_card_cta fallback_type identity_authorized_bc_id identity_id"
        " identity_type image_ids impression_tracking_url instant_product_page_used item_duet_status item_group_ids"
        " item_stitch_status landing_page_url music_id page_id page_image_index playable_url"
        " product_display_field_list product_set_id product_specific_type promotional_music_disabled"
        " shopping_ads_deeplink_type shopping_ads_fallback_type shopping_ads_video_package_id sku_ids tiktok_item_id"
        " tracking_app_id tracking_offline_event_set_ids tracking_pixel_id utm_params vast_moat_enabled"
        " vertical_video_strategy video_id video_view_tracking_url viewability_postbid_partner viewability_vast_url"
    )
)
CREATIVE_POINTERS = split_words(
    "/video_id /image_ids /ad_text /landing_page_url /call_to_action /identity_type /identity_id /creative_list"
)
# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = (
    frozenset(
        split_words("""
    actions ad_text_list adgroup_name advertiser_id age_groups app_id app_promotion_type audience_ids audience_rule
    billing_event budget_mode budget_optimize_on call_to_action_list campaign_name campaign_type
    category_exclusion_ids click_attribution_window comment_disabled contextual_tag_ids creative_list creatives
    dayparting device_model_ids device_price_ranges excluded_audience_ids gender household_income
    interest_category_ids interest_keyword_ids inventory_filter_enabled landing_page_url_list languages location_ids
    min_android_version min_ios_version network_types objective_type operating_systems optimization_event
    optimization_goal pacing pixel_id placement_type placements promotion_type purchase_intention_keyword_ids
    request_id schedule_type=SCHEDULE_START_END search_result_enabled special_industries spending_power
    targeting_optimization_mode targeting_spec tracking_info video_download_disabled view_attribution_window
    zipcode_ids
    """)
    )
    | CREATIVE_MEMBERS
)


# -- money and time -----------------------------------------------------------------------------------------------


@frozen
class Currency:
    """A currency. Its limits are the US dollar's limits times ``ratio``; amounts have ``digits`` fraction digits."""

    ratio: int
    digits: int


# API for Business, "Currency": (ratio, fraction digits) -> currencies.
_CURRENCIES = {
    (1, 2): "USD EUR GBP MYR AED SAR AUD CAD NZD SGD CHF ARS BRL ILS PEN QAR RON",
    (1, 0): "HUF",
    (4, 2): "PLN",
    (10, 2): "HKD ZAR DKK SEK NOK TRY MXN THB CNY BOB CZK EGP GTQ HNL MOP NIO UAH UYU",
    (10, 0): "TWD",
    (50, 2): "PHP",
    (100, 2): "RUB DZD BDT INR KES NGN PKR",
    (100, 0): "JPY ISK",
    (1000, 2): "COP CRC",
    (1000, 0): "KRW CLP",
    (10000, 0): "IDR PYG VND",
    (100000, 2): "VEF",
}
CURRENCIES: Mapping[str, Currency] = {
    code: Currency(*cell) for cell, codes in _CURRENCIES.items() for code in codes.split()
}
MIN_BUDGETS = {"campaign": 50, "adGroup": 20}  # per day; multiplied by the currency's ratio
MAX_BUDGET = 10_000_000  # exclusive, per day; multiplied by the currency's ratio


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: decimal numbers in major units, with the fraction digits of TikTok's table (HUF, ISK: 0)."""
    return _get_currency_unit(require_currency(account))


@lru_cache(1024)
def _get_currency_unit(currency: str) -> MoneyUnit:
    if currency in CURRENCIES:
        return MoneyUnit(10 ** CURRENCIES[currency].digits, form="major")
    return MoneyUnit(
        100, form="major", assumption=f"TikTok's table of currencies has no {currency}: two digits, no least budget."
    )


def get_budget_limits(account: Account, kind: str, days: int) -> tuple[Decimal, Decimal] | None:
    """Return the minimum of a budget for ``days`` days, and the exclusive maximum of a daily one, in major units.

    The limits are None for a currency that is not in TikTok's table.
    """
    limits = CURRENCIES.get(require_currency(account))
    return (
        None
        if limits is None
        else (Decimal(MIN_BUDGETS[kind] * limits.ratio * days), Decimal(MAX_BUDGET * limits.ratio))
    )


def _parse_time(value: Json) -> datetime | None:
    try:
        return datetime.strptime(value, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) if isinstance(value, str) else None
    except ValueError:
        return None


TIME = TimeFormat(_parse_time, partial(format_utc, style="space"))
"""UTC without a designator, in every account's time zone (API for Business)."""


# unverified: the characters that TikTok refuses as emoji.
_EMOJI_PATTERN = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2b55\u2b1b\u2b1c\u25fd\u25fe\u231a\u231b\u23e9-\u23f3\u20e3\ufe0f]"
)


def find_text_error(text: str, longest: int) -> str | None:
    """Return why TikTok refuses a name or text; None if it is valid. A wide (CJK) character counts two."""
    if _EMOJI_PATTERN.search(text):
        return "it takes no emoji"
    wide = 0 if text.isascii() else sum(east_asian_width(character) in "WF" for character in text)
    count = len(text) + wide
    return f"it takes {longest} units (a wide character is two), these are {count}" if count > longest else None


# -- requests -----------------------------------------------------------------------------------------------------


def build_account_get_request(account: Account, path: str, **query: Json) -> Request:
    """Build a GET in the account. Query values that are not text are sent as JSON."""
    texts = {name: value if isinstance(value, str) else dumps(value) for name, value in query.items()}
    return Request("GET", API_URL + path, query={"advertiser_id": account.native_id} | texts)


def build_post_write_request(
    account: Account, path: str, body: Mapping[str, Json], encoding: BodyEncoding = "json"
) -> Request:
    """Build a write in the account."""
    whole = {"advertiser_id": account.native_id, **body}
    return Request("POST", API_URL + path, body=whole, encoding=encoding, kind="write")


def build_regions_request(account: Account, extent: str) -> Request:
    """Build the request for the places that TikTok delivers to. ``extent``: ``TO_COUNTRY`` or ``ALL``."""
    return build_account_get_request(
        account,
        "/tool/region/",
        placements=f'["{TIKTOK_PLACEMENT}"]',
        objective_type=TRAFFIC,
        level_range=extent,
    )


def build_covers_request(account: Account, video_id: str, number: int) -> Request:
    """Build the request for the covers that TikTok suggests for a video."""
    return build_account_get_request(account, "/file/video/suggestcover/", video_id=video_id, poster_number=str(number))


# -- answers ------------------------------------------------------------------------------------------------------


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``data``, which even an empty list has."""
    return parse_named_rows(response, "list")


def parse_named_rows(response: Response, name: str) -> list[Mapping[str, Json]]:
    """Return the rows of a list that is the member ``name`` of ``data``."""
    require_value(response.body, "/data")
    return get_objects(response.body, f"/data/{name}")


def parse_next_page(response: Response) -> int | None:
    """Return the number of the next page; None at the end."""
    page, last = (get_value(response.body, f"/data/page_info/{name}") for name in ("page", "total_page"))
    if isinstance(page, int) and isinstance(last, int) and 0 < page < last:
        return page + 1
    return None


build_next_request = next_page_builder("page", parse_next_page)


SUCCESS_CODE = 0
PARTIAL_SUCCESS_CODE = 20001
ITEM_ERROR = "error_list"
QUOTA_CODES = ("40100", "40016", "40133", "40132")
PROCESSING_CODES = ("40901", "40201")
CONFLICT_CODE, MAINTENANCE_CODE = "40202", "60001"
PROCESSING_RETRY_DELAY = 15.0
RETRY_DELAYS = {CONFLICT_CODE: 1.0, MAINTENANCE_CODE: 60.0} | dict.fromkeys(PROCESSING_CODES, PROCESSING_RETRY_DELAY)


def parse_error(response: Response) -> ParsedError | None:
    """Return the error in ``code`` of the body, which may have HTTP status 200. Partial success is no error."""
    body = response.body if response.state == "json" else None
    code = get_value(body, "/code")
    if type(code) is int and code in (SUCCESS_CODE, PARTIAL_SUCCESS_CODE) and response.status < 400:
        return None
    request_id = get_text(body, "/request_id")
    if type(code) is int:
        return ParsedError((str(code),), get_text(body, "/message"), request_id)
    if response.status < 400:
        return None
    # API for Business: an HTTP error comes from the edge servers, as plain text. The request did not reach the API.
    return ParsedError((), get_text(body, "/message") or f"Refused before the API, with {response.status}.", request_id)


def parse_item_results(step: Step, request: Request, response: Response) -> Sequence[ItemResult] | None:
    """Return the result of each ID in a change of status. The response lists the changed IDs in the same member."""
    if step.items is None or not isinstance(get_value(response.body, "/data"), Mapping):
        return None
    name = split_pointer(step.items.at)[-1]
    done = find_values(response.body, f"/data/{name}/*")
    failed = {
        parse_id(get_value(row, f"/{name.removesuffix('s')}")): get_text(row, "/error_message")
        for row in find_values(response.body, "/data/error_list/*")
    }
    answers: list[ItemResult] = []
    for position, item_id in enumerate(find_values(request.body, f"/{name}/*")):
        if item_id in done and item_id not in failed:
            answers.append(ItemResult(position, item_id))
        elif item_id in failed and item_id not in done:
            error = ParsedError((ITEM_ERROR,), failed[item_id], get_text(response.body, "/request_id"))
            answers.append(ItemResult(position, error=error))
    return answers


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds to wait. TikTok sends no header for this; the message names the quota that is used up."""
    error = parse_error(response)
    code = error.codes[0] if error is not None and error.codes else ""
    if code in RETRY_DELAYS:
        return RETRY_DELAYS[code]
    if code not in QUOTA_CODES and response.status != 429:
        return None
    text = (error.message or "").upper() if error is not None else ""
    if "QPD" in text:
        return _get_seconds_to_midnight(response)
    if "QPM" in text:
        return 300.0
    return 1.0 if parse_retry_after(response.headers) is None else None


def _get_seconds_to_midnight(response: Response) -> float:
    """Return the seconds to 00:00 UTC, when daily quotas reset; an hour if the response has no date."""
    moment = parse_http_date(response.headers.get("date", ""))
    return 3600.0 if moment is None else 86400.0 - moment % 86400.0
