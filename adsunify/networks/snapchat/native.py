"""Snap Marketing API: addresses, enums and limits, and how entities, errors, pages and delays are read.

Sources, for v1, as of 2026-10: developers.snap.com/api/marketing-api/Ads-API (authentication, ad-accounts, campaigns,
ad-squads, ads, creatives, targeting, measurement, api-patterns, errors, rate-limits, monetary-values, announcements,
breaking-changes-log). Public clients show the shapes of targeting lists and statistics: github.com/airbytehq/airbyte
source-snapchat-marketing 5.11.1, github.com/singer-io/tap-snapchat-ads, and reports of live errors (E1008, E2023,
E3002, E4001).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import parse_qs, urlsplit

from attrs import evolve

from adsunify.adapter.native_money import get_micros_unit
from adsunify.adapter.network import ItemResult, Level, ParsedError, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Step
from adsunify.values.dates import format_utc
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value, parse_id, require_value
from adsunify.values.time_formats import TimeFormat, parse_iso_time

CODE = "snapchat"
VERSION = "v1"
HOST, LOGIN_HOST = "adsapi.snapchat.com", "accounts.snapchat.com"
API_URL = f"https://{HOST}/{VERSION}"
LOGIN = OAuth2(
    consent_url=f"https://{LOGIN_HOST}/login/oauth2/authorize",
    token_url=f"https://{LOGIN_HOST}/login/oauth2/access_token",
    scopes=("snapchat-marketing-api",),
    exchange_members=split_words("grant_type client_id client_secret code redirect_uri"),
    refresh_before_seconds=60,
    note="There is no call to revoke it: the user removes the app in the Snapchat account.",
)

SUCCESS, ERROR = "SUCCESS", "ERROR"
ACTIVE, PAUSED = "ACTIVE", "PAUSED"
STATUSES = (ACTIVE, PAUSED)
DELETED = "DELETED"  # our status: reads with `read_deleted_entities` mark a deleted entity with the member `deleted`
AWARENESS = "AWARENESS_AND_ENGAGEMENT"
AUCTION, SNAP_ADS, AUTOMATIC = "AUCTION", "SNAP_ADS", "AUTOMATIC"
IMPRESSION, IMPRESSIONS = "IMPRESSION", "IMPRESSIONS"
AUTO_BID, MAX_BID, TARGET_COST = "AUTO_BID", "LOWEST_COST_WITH_MAX_BID", "TARGET_COST"
BID_STRATEGIES = (AUTO_BID, MAX_BID, TARGET_COST)
PACING_TYPES = ("STANDARD", "ACCELERATED")
SMART_BUDGETS = "CAMPAIGN"  # pacing_level of a campaign that holds the budget of its ad squads
COLLECTION = "COLLECTION"
SPECIAL_AD_CATEGORIES = ("HOUSING", "CREDIT", "EMPLOYMENT")

MIN_BUDGET = "5"  # the least daily budget, in every currency
# unverified: a lifetime budget has no minimum.
MIN_CAP = "20"
MAX_NAME_LENGTH = 375
MIN_PAGE_SIZE, MAX_PAGE_SIZE = 50, 1000
NOT_READY_RETRY_DELAY = 5.0  # seconds

# Ads API, "Creatives": type of a creative -> type of its ad.
AD_TYPES: Mapping[str, str] = {
    "SNAP_AD": "SNAP_AD",
    "WEB_VIEW": "REMOTE_WEBPAGE",
    "COMPOSITE": "STORY",
    "DEEP_LINK": "DEEP_LINK",
    **{name: name for name in split_words("AD_TO_LENS AD_TO_CALL AD_TO_MESSAGE COLLECTION LEAD_GENERATION REMINDER")},
}
PLAIN_CREATIVE_TYPES = split_words("SNAP_AD WEB_VIEW COMPOSITE")
UNSUPPORTED_CREATIVE_TYPES: Mapping[str, str] = {
    "APP_INSTALL": "an ad for an app needs a measurement_spec on the campaign",
    **dict.fromkeys(
        split_words("LENS LENS_WEB_VIEW LENS_APP_INSTALL LENS_DEEP_LINK"), "a lens needs an ad squad of type LENS"
    ),
}
REVIEW_REJECTED = "REJECTED"
PACKAGING_PENDING = "PENDING"  # unverified: this word of packaging_status

# Read-only members. Ads API: an update replaces the whole object, so it must leave them out.
READ_ONLY_MEMBERS = split_words(
    "created_at updated_at created_by_app_id created_by_user last_updated_by_app_id last_updated_by_user"
    " delivery_status review_status review_status_reasons review_status_details effective_status"
    " targeting_reach_status deleted render_type"
    " creation_state"  # unverified: creation_state defaults to PUBLISHED
)
TARGETING_MEMBERS = split_words(
    "geos demographics devices interests locations segments regulated_content app_install_states"
    " auto_expansion_options enable_targeting_expansion"
    " reserved_segments"  # unverified: targeting has the member reserved_segments
)

PARENTS: Mapping[str, tuple[str, str]] = {
    "campaign": ("adaccounts", "ad_account_id"),
    "adGroup": ("campaigns", "campaign_id"),
    "ad": ("adsquads", "ad_squad_id"),
}
"""Kind -> the path segment of its parent, and the member with the parent's ID. Writes use the parent's path."""

NOT_READY, ITEM_ERROR = "not ready", "item ERROR"
_find_not_ready = re.compile(
    r"(?i)uploaded yet|(still|pending).{0,40}packag|packag.{0,40}(still|pending|in progress)"
).search
_find_error_code = re.compile(r"\bE([0-9]{4,5})\b").search


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    ad_account_id app_install_properties billing_event buy_model cap_and_exclusion_config child_ad_type
    conversion_window creative_id measurement_spec name objective_v2_properties optimization_goal pacing_type
    paying_advertiser_name pixel_id placement_v2 product_properties regulations targeting
    third_party_impression_tracking_urls third_party_swipe_tracking_urls tracking_urls type
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------


get_money_unit = get_micros_unit  # Ads API, "Monetary values"
TIME = TimeFormat(parse_iso_time, partial(format_utc, style="milliseconds"), shows_milliseconds=True)


# -- requests -----------------------------------------------------------------------------------------------------


def build_level_entity_request(level: Level, entity_id: str) -> Request:
    """Build the read of one entity. Snap returns an ad squad's placement_v2 only if the query names it."""
    return Request("GET", f"{API_URL}/{level.path}/{{id}}", {"id": entity_id}, _build_placement_query(level))


def build_edge_list_request(
    level: Level, owner: str, owner_id: str, limit: int, cursor: str | None = None, with_deleted: bool = False
) -> Request:
    """Build the request of one page of a level. ``owner``: the path segment of the account or the parent."""
    query = _build_placement_query(level) | build_page_query(limit, cursor)
    query |= {"read_deleted_entities": "true"} if with_deleted else {}
    return Request("GET", f"{API_URL}/{owner}/{{owner}}/{level.path}", {"owner": owner_id}, query)


def build_page_query(limit: int, cursor: str | None) -> dict[str, str]:
    """Build the query of a list. Ads API, "API patterns": the smallest page has 50 rows."""
    return {"limit": str(max(MIN_PAGE_SIZE, limit))} | ({} if cursor is None else {"cursor": cursor})


def _build_placement_query(level: Level) -> dict[str, str]:
    return {"return_placement_v2": "true"} if level.kind == "adGroup" else {}


# -- answers ------------------------------------------------------------------------------------------------------


def is_status(status: Json, word: str) -> bool:
    """Return whether a status is this word. Snap writes statuses in upper or lower case."""
    return isinstance(status, str) and status.upper() == word


def is_success(status: Json) -> bool:
    """Return whether a status means success."""
    return is_status(status, SUCCESS)


def parse_wrapped_rows(response: Response, plural: str, name: str) -> list[Mapping[str, Json]]:
    """Return the entities without their envelopes: ``{"ads": [{"sub_request_status", "ad": {...}}]}``."""
    require_value(response.body, f"/{plural}")
    rows = [require_value(row, f"/{name}") for row in get_objects(response.body, f"/{plural}")]
    if not all(isinstance(entity, Mapping) for entity in rows):
        raise ProviderUnreadable(f"A {name} in the answer is no object.")
    return rows


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page. The link with the cursor is not followed: it may name another host."""
    for link in (address for at in _NEXT_LINK_POINTERS for address in find_values(response.body, at)):
        if link is None or link == "":
            continue
        try:
            cursors = parse_qs(urlsplit(link).query).get("cursor") if isinstance(link, str) else None
        except ValueError:
            cursors = None
        if not cursors:
            raise ProviderUnreadable("The link to the next page has no cursor.")
        return cursors[0]
    return None


# Public clients find the link of statistics inside the item.
_ITEM_POINTER = "/timeseries_stats/*"
_NEXT_LINK_POINTERS = (
    "/paging/next_link",
    f"{_ITEM_POINTER}/paging/next_link",
    f"{_ITEM_POINTER}/timeseries_stat/paging/next_link",
)


def _find_envelopes(body: Json) -> Iterator[Mapping[str, Json]]:
    for envelope in find_values(body, "/*/*"):
        if isinstance(envelope, Mapping) and "sub_request_status" in envelope:
            yield envelope


def parse_error(response: Response) -> ParsedError | None:
    """Return the error of a response or of its item. Both may have an HTTP status below 400.

    Its codes are ``not ready``, Snap's code, the number in that code (for ranges; only with a status below 300 or 400),
    and ``item ERROR``. If an item has another status than ERROR, its outcome is unknown and there are no codes.
    """
    body = response.body if response.state == "json" else None
    judged = list(_find_envelopes(body))
    failed = [part for part in judged if not is_success(part["sub_request_status"])]
    status = get_value(body, "/request_status")
    if (
        response.status < 400
        and not failed
        and (status is None or is_success(status))
        and get_value(body, "/error") is None
    ):
        return None
    texts = [get_text(part, "/sub_request_error_reason") for part in failed]
    texts += [get_text(body, f"/{name}") for name in _MESSAGE_MEMBERS]
    message = "; ".join(dict.fromkeys(part for part in texts if part))
    coded = _find_error_code(f"{get_text(body, '/error_code')} {message}")
    codes = [NOT_READY] if _find_not_ready(message) else []
    if coded is not None:
        codes.append(coded.group())
        codes += [coded.group(1)] if response.status < 300 or response.status == 400 else []
    oauth = get_value(body, "/error")
    codes += [oauth] if isinstance(oauth, str) else []
    codes += [ITEM_ERROR] if judged else []
    refused = all(is_status(part["sub_request_status"], ERROR) for part in judged)
    return ParsedError(
        tuple(codes) if refused else (),
        message or None,
        get_text(body, "/request_id") or response.headers.get("x-request-id"),
    )


_MESSAGE_MEMBERS = ("sub_request_error_reason", "debug_message", "display_message", "error_description")


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds to wait for an entity that is not ready. Responses to rate limits name no time."""
    error = parse_error(response)
    if error is not None and NOT_READY in error.codes:
        return NOT_READY_RETRY_DELAY
    return None


def parse_level_results(
    levels: Sequence[Level], step: Step, request: Request, response: Response
) -> Sequence[ItemResult] | None:
    """Return the result of the one sent entity: applied only if response and item say success and it has an ID."""
    native_level = next(level for level in levels if level.kind == step.kind)
    results = get_value(response.body, f"/{native_level.path}")
    if not isinstance(results, list) or len(results) != 1:
        return None
    native_id = parse_id(get_value(results[0], f"/{native_level.native}/id"))
    done = is_success(get_value(response.body, "/request_status")) and is_success(
        get_value(results[0], "/sub_request_status")
    )
    if done:
        return [ItemResult(0, native_id)]
    failed = parse_error(response)
    if failed is None:
        return None
    if native_id is not None and step.action == "create":  # a rejected create with a new ID: the outcome is unknown
        return [ItemResult(0, native_id, evolve(failed, codes=()))]
    return [ItemResult(0, error=failed)]
