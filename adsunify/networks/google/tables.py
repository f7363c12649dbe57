"""Google Ads API v26 (2026-10-14), over REST: what the API has and what the adapter uses, as tables.

At most four major versions are supported at a time, each for about a year (v22 ended on 2026-10-07). Minor versions
share the path of their major version. There is no sandbox: test accounts use the same host.

Three surprises. By default a budget is shared and a campaign is enabled, so every create sends both members. Integers
of 64 bits are JSON strings, and a response leaves out values that are zero or empty. A day without any activity has no
row in a report.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import partial

from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.brief_checks import check_start_is_midnight
from adsunify.adapter.formats import Format, Input, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    Network,
    PayloadRules,
    Sunset,
    Template,
    split_words,
)
from adsunify.errors import InvalidInput, Issue
from adsunify.http.messages import Request
from adsunify.models.brief import CampaignBrief
from adsunify.values.countries import KOSOVO
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text

from . import native as google
from .settings import EDITS, SETTINGS
from .targeting import (
    EDITABLE_TARGETING,
    find_countries_error,
    find_descriptions_error,
    find_headlines_error,
    find_keywords_error,
    find_locations_error,
    find_native_targeting_error,
    find_url_error,
)

# -- levels -------------------------------------------------------------------------------------------------------

UNIFIED_STATUSES = {google.ENABLED: "active", google.PAUSED: "paused", google.REMOVED: "deleted"}
WRITABLE_STATUSES = {"active": google.ENABLED, "paused": google.PAUSED}


def _resource_level(kind: str, native: str, key: str, name: str, fields: str, **attributes: Json) -> Level:
    """Build a level. All levels have the same statuses and are created paused."""
    attributes |= {
        "unified_statuses": UNIFIED_STATUSES,
        "writable_statuses": WRITABLE_STATUSES,
        "status_filters": tuple(UNIFIED_STATUSES),
        "initial_status": google.PAUSED,
        "hidden_statuses": (google.REMOVED,),
        "payload": PayloadRules(
            neutral=google.NEUTRAL_MEMBERS, bidding=google.BIDDING_MEMBERS, budget_names=("campaignBudget",)
        ),
    }
    path = google.COLLECTIONS[native]
    return Level(
        kind, native, path, f"/{native}/{key}", name, f"/{native}/status", fields=split_words(fields), **attributes
    )


CAMPAIGN = _resource_level(
    *("campaign", "campaign", "id", "/campaign/name"),
    "campaign.resource_name campaign.id campaign.name campaign.status campaign.primary_status"
    " campaign.advertising_channel_type campaign.bidding_strategy_type campaign.campaign_budget"
    " campaign_budget.amount_micros campaign_budget.explicitly_shared campaign.start_date_time"
    " campaign.end_date_time campaign.contains_eu_political_advertising",
    settings_context={
        "targeting": ("/campaignCriteria",),
        "bidding": split_words(
            "/campaign/biddingStrategyType /campaign/biddingStrategy /campaign/targetSpend"
            " /campaign/maximizeConversions /campaign/maximizeConversionValue"
        ),
    },
    has_unique_name=True,
    compared=("/campaign/resourceName", "/campaign/campaignBudget"),
    note=f"Holds budget, days, bidding and places. Targeting edits take {', '.join(EDITABLE_TARGETING)}.",
)
AD_GROUP = _resource_level(
    *("adGroup", "adGroup", "id", "/adGroup/name"),
    "ad_group.id ad_group.name ad_group.status ad_group.campaign ad_group.type ad_group.cpc_bid_micros",
    label="ad group",
    parent="/adGroup/campaign",
    parent_kind="campaign",
    settings_context={"bidding": ("/adGroup/cpcBidMicros", "/campaign/biddingStrategyType")},
    has_unique_name=True,
    compared=("/adGroup/resourceName", "/adGroup/campaign"),
)
AD = _resource_level(
    *("ad", "adGroupAd", "resourceName", ""),
    "ad_group_ad.resource_name ad_group_ad.ad.id ad_group_ad.status ad_group_ad.ad.type ad_group_ad.ad.final_urls"
    " ad_group_ad.ad.responsive_search_ad.headlines ad_group_ad.ad.responsive_search_ad.descriptions"
    " ad_group_ad.policy_summary.approval_status ad_group_ad.policy_summary.review_status",
    id_pattern=r"[0-9]+~[0-9]+",
    label="ad",
    parent="/adGroupAd/adGroup",
    parent_kind="adGroup",
    review_status="/adGroupAd/policySummary/approvalStatus",
    disapproved_statuses=("DISAPPROVED",),
    settings_context={"creative": ("/adGroupAd/ad", "/adGroupAd/policySummary")},
    compared=("/adGroupAd/adGroup",),
    note="It has no name; a search goes through its texts. Its id is <ad group>~<ad>.",
)
KEYWORD = _resource_level(
    *("keyword", "adGroupCriterion", "resourceName", "/adGroupCriterion/keyword/text"),
    "ad_group_criterion.resource_name ad_group_criterion.criterion_id ad_group_criterion.status"
    " ad_group_criterion.keyword.text ad_group_criterion.keyword.match_type ad_group_criterion.cpc_bid_micros",
    parent="/adGroupCriterion/adGroup",
    parent_kind="adGroup",
    compared=("/adGroupCriterion/adGroup",),
    note="Shown in the tree and switched on by an activation.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD, KEYWORD)
BIDDING_FIELDS = split_words(
    "campaign.bidding_strategy campaign_budget.resource_name campaign_budget.reference_count campaign_budget.period"
    " campaign.target_spend.cpc_bid_ceiling_micros campaign.maximize_conversions.target_cpa_micros"
    " campaign.maximize_conversion_value.target_roas campaign.target_cpa.target_cpa_micros"
    " campaign.target_roas.target_roas"
)
"""The fields that the settings of a campaign need in addition to the fields of its level."""
CRITERION_FIELDS = split_words(
    "campaign_criterion.resource_name campaign_criterion.criterion_id campaign_criterion.type"
    " campaign_criterion.negative campaign_criterion.location.geo_target_constant"
    " campaign_criterion.language.language_constant"
)
CONVERSION_GOAL_FIELDS = split_words(
    "campaign_conversion_goal.resource_name campaign_conversion_goal.category campaign_conversion_goal.origin"
    " campaign_conversion_goal.biddable"
)
AD_PATH_FIELDS = split_words("ad_group_ad.ad.responsive_search_ad.path1 ad_group_ad.ad.responsive_search_ad.path2")
"""The fields that the settings of an ad need in addition to the fields of its level."""


# -- formats ------------------------------------------------------------------------------------------------------


def _check_name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if google.has_control_characters(brief.name):
        yield Issue("name", "invalid", "Google Ads takes no name with control characters.")


def _check_days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    try:
        yield from check_start_is_midnight(NETWORK.title, brief, require_timezone(account))
    except InvalidInput as problem:
        yield from problem.issues


def _check_manager(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    try:
        google.build_login_headers(account)
    except InvalidInput as problem:
        yield from problem.issues


GEOGRAPHY_REASON = "without a geography it would serve worldwide: give countries, locationIds or native targeting"
FORMATS = (
    Format(
        "responsive_search_ad",
        "Responsive search ad with keywords",
        goals=("traffic",),
        periods=("daily",),
        bid_meanings={"traffic": "maximum cost per click: the ad group's bid, which its keywords inherit"},
        inputs=(
            Input("bid", "optional", "without one Google sets bids to get the most clicks"),
            Input("schedule.endAt", "optional"),
            *(
                Input(f"targeting.{member}", "any", GEOGRAPHY_REASON, group="geography", find_error=test)
                for member, test in (
                    ("countries", find_countries_error),
                    ("locationIds", find_locations_error),
                    ("native", find_native_targeting_error),
                )
            ),
            Input("targeting.keywords", "required", "1 to 50 different keywords", find_error=find_keywords_error),
            Input("creative.url", "required", "http or https", find_error=find_url_error),
            Input("creative.headlines", "required", "3 to 15 of up to 30 characters", find_error=find_headlines_error),
            Input("creative.descriptions", "required", "2 to 4 of up to 90", find_error=find_descriptions_error),
            Input(
                "platform.euPoliticalAdvertising",
                "required",
                "true or false: whether EU law calls it political advertising; true does not serve there",
            ),
            Input("creative.existingId", "refused", reason="an ad belongs to its ad group and is made anew"),
            *refused_inputs("creative", "headline body", "a responsive search ad has headlines and descriptions"),
            *refused_inputs("creative", "imageUrl imageHash", "it is text only"),
        ),
        rules=(_check_name, _check_days, _check_manager),
        notes=(
            "The daily budget is an average: a day may spend up to twice as much, a month 30.4 times.",
            "Days are whole days in the account's time zone.",
            "It serves on Google Search only, to people who are in the places, in all languages.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _build_suggest_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    body = {"locale": "en", "locationNames": {"names": [suffix]}}
    url = f"{google.API_URL}/geoTargetConstants:suggest"
    return Request("POST", url, headers=google.build_login_headers(account), body=body, encoding="json")


def _query_catalog(resource: str, row: str, source: str, fields: str, *conditions: str, key: str = "id") -> Catalog:
    """Build a catalog that is a query for ``fields`` of the resource ``source``."""
    query = google.build_gaql([f"{source}.{name}" for name in split_words(fields)], source, *conditions)

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return google.build_search_request(account, query, cursor)

    return Catalog(resource, request, "/results", f"/{row}/{key}", f"/{row}/name", google.parse_next_cursor)


def _build_ads_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return google.build_search_request(
        account, google.build_gaql(AD.fields, "ad_group_ad", *google.SOURCES["ad"].live_conditions), cursor
    )


def _get_ad_id(row: Mapping[str, Json]) -> str:
    return google.parse_resource_id(get_text(row, "/adGroupAd/resourceName") or "")


CATALOGS = (
    Catalog(
        "geo_targets",
        _build_suggest_request,
        "/geoTargetConstantSuggestions",
        "/geoTargetConstant/id",
        "/geoTargetConstant/canonicalName",
        suffix="required",
        note="geo_targets:<words>; targeting.locationIds takes the ids",
    ),
    _query_catalog(
        "languages", "languageConstant", "language_constant", "id code name", "language_constant.targetable = TRUE"
    ),
    _query_catalog(
        *("conversion_actions", "conversionAction", "conversion_action", "id name category type"),
        f"conversion_action.status = '{google.ENABLED}'",
    ),
    _query_catalog("user_lists", "userList", "user_list", "id name size_for_search membership_status"),
    _query_catalog("currencies", "currencyConstant", "currency_constant", "code name billable_unit_micros", key="code"),
    _query_catalog(
        *("shared_budgets", "campaignBudget", "campaign_budget", "id name amount_micros"),
        "campaign_budget.explicitly_shared = TRUE",
    ),
    Catalog(
        "ads",
        _build_ads_request,
        "/results",
        _get_ad_id,
        "/adGroupAd/ad/responsiveSearchAd/headlines/0/text",
        google.parse_next_cursor,
        note="Their name is their first headline.",
    ),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATE_ASSETS: Mapping[str, Json] = {
    "headlines": [{"text": "Folding garden chairs"}, {"text": "Built for rain"}, {"text": "Free delivery"}],
    "descriptions": [{"text": "Light, strong and easy to store."}, {"text": "Order today, sit down on Friday."}],
}
TEMPLATES = (
    Template(
        "campaign",
        "Search campaign with a budget of its own",
        {
            "name": "Garden chairs autumn",
            "status": google.PAUSED,
            "advertisingChannelType": google.SEARCH,
            "campaignBudget": {"amountMicros": "12340000", "deliveryMethod": "STANDARD", "explicitlyShared": False},
            "manualCpc": {},
            "networkSettings": {"targetGoogleSearch": True, "targetSearchNetwork": False},
            "geoTargetTypeSetting": {"positiveGeoTargetType": google.PRESENCE},
            "containsEuPoliticalAdvertising": google.POLITICAL_ADVERTISING[False],
        },
        "campaignBudget may be the name of a budget instead. Without a location it serves worldwide: edit it.",
    ),
    Template(
        "adGroup",
        "Ad group of a Search campaign",
        {
            "name": "Garden chairs autumn",
            "status": google.PAUSED,
            "type": google.SEARCH_GROUP,
            "cpcBidMicros": "850000",
        },
        "parentId is the campaign's id.",
    ),
    Template(
        "ad",
        "Responsive search ad",
        {
            "status": google.PAUSED,
            "ad": {"finalUrls": ["https://shop.example/chairs"], "responsiveSearchAd": TEMPLATE_ASSETS},
        },
        "parentId is the ad group's id.",
    ),
)

METRICS = (
    Metric("impressions", "/metrics/impressions", "count"),
    Metric("clicks", "/metrics/clicks", "count"),
    Metric("spend", "/metrics/costMicros", "micros"),
    Metric("conversions", "/metrics/conversions", "decimal"),
    Metric("conversionValue", "/metrics/conversionsValue", "major"),
    Metric("videoViews", "/metrics/videoTrueviewViews", "count"),
)

REPORT_SOURCE = "Google Ads API v26, fields of campaign, ad_group and ad_group_ad (read 2026-11-23)"
_level_below = partial(
    ReportLevel,
    adds_up=False,
    note="Performance Max campaigns have figures as campaigns only, so that sums may be less than the account's.",
    source=REPORT_SOURCE,
)
REPORT_LEVELS = (
    ReportLevel("campaign", "campaign", "/campaign/id", "/campaign/name", source=REPORT_SOURCE),
    _level_below("adGroup", "ad_group", "/adGroup/id", "/adGroup/name", "/campaign/id"),
    _level_below("ad", "ad_group_ad", google.parse_report_ad_id, None, "/adGroup/id"),
)
"""The reports below the account. Removed entities have rows, too."""

ERRORS = (
    ErrorRule("ambiguous", "network", "an error inside Google, after which it may have been done", ("internalError",)),
    ErrorRule(
        *("rejected", "token", "the token is expired, revoked or invalid"),
        tuple(
            f"authenticationError.OAUTH_TOKEN_{code}" for code in ("EXPIRED", "INVALID", "REVOKED", "HEADER_INVALID")
        ),
    ),
    ErrorRule(
        *("rejected", "permission", "not permitted"),
        ("authenticationError", "authorizationError", "operationAccessDeniedError", "quotaError.ACCESS_PROHIBITED"),
    ),
    ErrorRule("throttled", "limit", "too many operations for now, or for today", ("quotaError",)),
    ErrorRule(
        *("rejected", "not_found", "there is no such resource in this account"),
        split_words(
            "requestError.RESOURCE_NOT_FOUND requestError.BAD_RESOURCE_ID requestError.INVALID_CUSTOMER_ID"
            " mutateError.RESOURCE_NOT_FOUND mutateError.RESOURCE_NOT_IN_GOOGLE_ADS"
        ),
    ),
    ErrorRule("rejected", "limit", "the account holds as many as it may", ("resourceCountLimitExceededError",)),
    ErrorRule("rejected", "network", "changed by somebody else at the same time", ("databaseError",)),
    ErrorRule("rejected", "input", "against a policy of Google Ads", ("policyFindingError", "policyViolationError")),
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",), 400),
    ErrorRule(
        "rejected", "permission", "the app's credentials are not right", ("invalid_client", "unauthorized_client")
    ),
)


def _parse_sent_status(kind: str, sent: Json) -> tuple[str, str | None]:
    """Return the kind and the status in an operation. One request may write several resources."""
    member, content = next(iter(sent.items()))
    status = get_text(content, "/create/status") or get_text(content, "/update/status")
    status = google.REMOVED if "remove" in content else status
    return next((level.kind for level in LEVELS if f"{level.native}Operation" == member), ""), status


NETWORK = Network(
    code=google.CODE,
    title="Google Ads",
    version=google.VERSION,
    sunset=Sunset(
        date(2027, 10, 7),
        "A major version is supported for about a year; v22 ended on 2026-10-07, and v26 was released on 2026-10-14.",
        is_projected=True,
    ),
    hosts=(google.HOST, google.CONSENT_HOST, google.TOKEN_HOST),
    login=google.LOGIN,
    get_money_unit=google.get_money_unit,
    parse_error=google.parse_error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Google Ads API, "Zero metrics": with segments.date selected, a day whose metrics are all 0 has no row. So a
    # missing day of a complete response is a day of zeros.
    missing_day="zero",
    geographies=("/campaignCriteria/*/location", "/campaignCriteria/*/proximity"),
    # Google Ads API, segments.date: rows older than 37 months are not available.
    history=History(months=37),
    money_note="Native amounts are micros, a million to one, as JSON strings.",
    other_countries=(KOSOVO,),
    has_whole_days=True,
    templates=TEMPLATES,
    extras=(
        Extra(
            "loginCustomerId",
            "The manager that the account is reached through: digits.",
            is_settable=True,
            label="Reached through the manager",
        ),
        Extra(
            "billableUnitMicros",
            "The least amount of the account's currency; all amounts are multiples of it.",
            is_settable=True,
            label="Amounts are multiples of",
            form="micros",
        ),
        Extra(
            "testAccount",
            "Whether it is a test account, which never serves.",
            ("true", "false"),
            label="Test account, which never serves",
            form="flag",
        ),
    ),
    parse_retry_delay=google.parse_retry_delay,
    parse_item_results=google.parse_item_results,
    parse_sent_status=_parse_sent_status,
    notes=(
        "Removing is final.",
        "Each write is one request, done whole or not at all; each operation in it counts against the daily quota.",
        "Figures are revised for some days, conversions for longer.",
    ),
    build_validation=google.build_validation_request,
)
