"""LinkedIn Marketing API, versioned Rest.li, 202609: what the API has and what the adapter uses, as tables.

A version is supported for at least 12 months. After its end LinkedIn answers 426.

Three surprises. The id of a new entity is in a response header, and the response has no body. Rest.li queries contain
unencoded parentheses and commas; only the values inside them are percent-encoded. A campaign group cannot be created
paused: it is created ACTIVE, and its paused campaign prevents delivery.

The unified campaign is LinkedIn's campaign group, the ad group is LinkedIn's campaign, and the ad is its creative.

Sources: see ``native``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from functools import partial
from typing import Literal

from adsunify.adapter.account import Account
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Input, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    Network,
    PayloadRules,
    Template,
    first_text,
    split_words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS, Json
from adsunify.values.json_pointer import Columns, get_text, get_value

from . import native as linkedin
from .settings import EDITS, SETTINGS, check_window
from .targeting import PLACE_FACETS, find_native_targeting_error

# -- levels -------------------------------------------------------------------------------------------------------

_UNIFIED_STATUSES: Mapping[str, str] = {
    linkedin.ACTIVE: "active",
    linkedin.PAUSED: "paused",
    linkedin.DRAFT: "paused",
    linkedin.ARCHIVED: "archived",
    linkedin.CANCELED: "archived",
    linkedin.PENDING_DELETION: "deleted",
    linkedin.REMOVED: "deleted",
}

_payload_rules = partial(
    PayloadRules,
    read_only=linkedin.READ_ONLY_MEMBERS,
    neutral=linkedin.NEUTRAL_MEMBERS,
    bidding={"optimizationTargetType": linkedin.LIMITING_TARGETS, "costType": ()},
    create_statuses=linkedin.LIVE_STATUSES,
    update_statuses=(*_UNIFIED_STATUSES, linkedin.COMPLETED),
)
_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    writable_statuses={"active": linkedin.ACTIVE, "paused": linkedin.PAUSED},
    payload=_payload_rules(),
    created="/changeAuditStamps/created/time",
    hidden_statuses=tuple(status for status in _UNIFIED_STATUSES if status not in linkedin.LIVE_STATUSES),
    accepted_actions={linkedin.CANCELED: ()},  # LinkedIn's error ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS
)


def _id_pattern(kind: str) -> str:
    return f"({re.escape(linkedin.URN_PREFIXES[kind])})?[0-9]+"


CAMPAIGN_GROUP = _level(
    *("campaign", "campaign group", "adCampaignGroups"),
    id_pattern=_id_pattern("campaign"),
    unified_statuses=_UNIFIED_STATUSES,
    status_filters=tuple(_UNIFIED_STATUSES),
    payload=_payload_rules(create_statuses=(linkedin.ACTIVE, linkedin.DRAFT)),
    note="LinkedIn takes no paused group at creation: it is created ACTIVE, without a budget, and nothing in it serves "
    "while its campaigns are paused. Later it is paused like everything else.",
)
CAMPAIGN = _level(
    *("adGroup", "campaign", "adCampaigns"),
    id_pattern=_id_pattern("adGroup"),
    parent="/campaignGroup",
    parent_kind="campaign",
    unified_statuses={**_UNIFIED_STATUSES, linkedin.COMPLETED: "archived"},
    status_filters=(*_UNIFIED_STATUSES, linkedin.COMPLETED),
    initial_status=linkedin.INITIAL_CAMPAIGN_STATUS,
    settings_context={
        "targeting": ("/targetingCriteria",),
        "bidding": ("/optimizationTargetType", "/costType", "/unitCost", "/pacingStrategy"),
    },
)
CREATIVE = _level(
    *("ad", "creative", "creatives"),
    id_pattern=_id_pattern("ad"),
    listed_output=linkedin.URN_OUTPUT,
    created="/createdAt",
    status="/intendedStatus",
    parent="/campaign",
    parent_kind="adGroup",
    unified_statuses=_UNIFIED_STATUSES,
    status_filters=tuple(_UNIFIED_STATUSES),
    initial_status=linkedin.INITIAL_CREATIVE_STATUS,
    review_status="/review/status",
    disapproved_statuses=("REJECTED",),
    settings_context={"creative": ("/content", "/review", "/isServing", "/servingHoldReasons")},
    note="A draft is not reviewed; the review begins when it is set active, and may take a day.",
)
LEVELS = (CAMPAIGN_GROUP, CAMPAIGN, CREATIVE)


# -- formats ------------------------------------------------------------------------------------------------------

_match_post_urn = re.compile(r"urn:li:(share|ugcPost):[0-9]+", re.ASCII).fullmatch
_match_page_id = re.compile(r"(urn:li:organization:)?[0-9]+", re.ASCII).fullmatch


def _find_post_urn_error(value: Json) -> str | None:
    return None if _match_post_urn(value) else "it is no post's URN"


def _find_page_id_error(value: Json) -> str | None:
    return None if _match_page_id(value) else "it is no organization's id"


def get_page_urn(account: Account, brief: CampaignBrief | None = None) -> str | None:
    """Return the URN of the organization that the brief names or, without one, of the account's organization."""
    page = brief.platform.page_id if brief is not None else None
    if page is not None:
        return linkedin.build_urn(linkedin.ORGANIZATION_URN, page)
    reference = account.extras.get("reference", "")
    return reference if reference.startswith(linkedin.ORGANIZATION_URN) else None


def _has_page(account: Account) -> bool:
    return get_page_urn(account) is not None


def is_enterprise(account: Account) -> bool:
    """Return whether this is an ENTERPRISE account, in which the API creates no groups."""
    return account.extras.get("type") == linkedin.ENTERPRISE


def _check_group_creation(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if is_enterprise(account):  # LinkedIn's error CAMPAIGN_GROUP_CREATION_NOT_ALLOWED
        message = "LinkedIn lets no campaign group be created in an ENTERPRISE account through the API."
        yield Issue("account.extras.type", "not_supported", message)


def _check_name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if linkedin.count_utf8_bytes(brief.name) > linkedin.MAX_CAMPAIGN_NAME_BYTES:
        message = f"LinkedIn takes a campaign name of at most {linkedin.MAX_CAMPAIGN_NAME_BYTES} bytes of UTF-8."
        yield Issue("name", "too_long", message)


def _check_times(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    schedule = brief.schedule
    yield from check_window(schedule.start, schedule.end, ("schedule.startAt", "schedule.endAt"), now)


_PAGE_FORM = "an organization's id in digits, or urn:li:organization:<digits>: the page that owns the post"

FORMATS = (
    Format(
        "sponsored_post",
        "Existing sponsored post",
        goals=("traffic", "awareness"),
        periods=("daily", "lifetime"),
        bid_meanings={
            "traffic": "maximum cost per click; without one LinkedIn bids for the most clicks",
            "awareness": "price per 1000 impressions; without one LinkedIn bids for the most impressions",
        },
        inputs=(
            Input(
                "creative.existingId",
                "required",
                "urn:li:share:<id> or urn:li:ugcPost:<id>",
                find_error=_find_post_urn_error,
            ),
            Input("targeting.native", "required", "a targetingCriteria object", find_error=find_native_targeting_error),
            Input("platform.locale", "required", "a country and language that LinkedIn supports as a pair"),
            Input(
                "platform.pageId",
                "required",
                _PAGE_FORM,
                find_error=_find_page_id_error,
                is_exempt=_has_page,
                reason="where the account's extra reference names no organization",
            ),
            Input(
                "platform.pageId",
                "optional",
                f"{_PAGE_FORM}; absent: the organization of the account's extra reference",
                find_error=_find_page_id_error,
            ),
            Input("platform.euPoliticalAdvertising", "optional", "absent means not declared"),
            Input("bid", "optional"),
            Input("schedule.endAt", "required", "a lifetime budget needs an end", periods=("lifetime",)),
            Input("schedule.endAt", "optional", "at least 24 hours after the start"),
            *refused_inputs(
                "targeting",
                "countries locationIds",
                "places are URNs of targeting.native (facet locations, urn:li:geo:...)",
            ),
            Input("targeting.keywords", "refused", reason="LinkedIn has no keywords"),
            *refused_inputs("creative", CONTENT_MEMBERS, "the post is the creative"),
        ),
        rules=(_check_group_creation, _check_name, _check_times),
        notes=(
            "The campaign group is ACTIVE from its creation; its campaign is paused and its creative a draft.",
            "Days are UTC. Audience expansion and the audience network stay off.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _build_page_query(cursor: str | None, limit: int) -> dict[str, Json]:
    return {"start": int(cursor) if cursor and cursor.isdigit() else 0, "count": limit}


def _parse_next_offset(response: Response) -> str | None:
    """Return the offset of the next page; None after a page that is not full, which is the last one."""
    start, count, total = (get_value(response.body, f"/paging/{name}") for name in ("start", "count", "total"))
    row_count = len(linkedin.parse_rows(response))
    if not (linkedin.is_integer(start) and linkedin.is_integer(count)) or row_count < max(count, 1):
        return None
    return None if linkedin.is_integer(total) and start + row_count >= total else str(start + row_count)


def _build_facets_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return linkedin.build_restli_request("adTargetingFacets", {}, {})


_URN_QUERY = {"queryVersion": "QUERY_USES_URNS"}


def _build_facet_entities_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query: dict[str, Json] = {
        "q": "adTargetingFacet",
        "facet": linkedin.build_urn(linkedin.FACET_URN, suffix),
        **_URN_QUERY,
    }
    query |= {"locale": {"language": "en", "country": "US"}}
    return linkedin.build_restli_request("adTargetingEntities", {}, query | _build_page_query(cursor, limit))


def _build_typeahead_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    facet, _, search_text = suffix.partition(":")
    query = {"q": "typeahead", "facet": linkedin.build_urn(linkedin.FACET_URN, facet), "query": search_text}
    return linkedin.build_restli_request("adTargetingEntities", {}, query | _URN_QUERY)


def _build_posts_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "author", "author": linkedin.build_urn(linkedin.ORGANIZATION_URN, suffix)}
    paged = {"count": limit, "start": _build_page_query(cursor, limit)["start"], "sortBy": "LAST_MODIFIED"}
    return linkedin.build_restli_request("posts", {}, query | paged, linkedin.FINDER)


def _build_ad_posts_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {
        "q": "dscAdAccount",
        "dscAdAccount": linkedin.build_account_urn(account),
        "dscAdTypes": ["STANDARD", "VIDEO"],
    }
    return linkedin.build_restli_request("posts", {}, query | _build_page_query(cursor, limit), linkedin.FINDER)


def _build_pages_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "roleAssignee", "state": "APPROVED"}
    return linkedin.build_restli_request(
        "organizationAcls", {}, query | _build_page_query(cursor, limit), linkedin.FINDER
    )


def _build_conversions_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "account", "account": linkedin.build_account_urn(account)}
    return linkedin.build_restli_request("conversions", {}, query | _build_page_query(cursor, limit))


def _build_entities_request(level: Level, account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return linkedin.build_list_request(account, level, limit=limit, cursor=cursor)


_catalog = partial(Catalog, items="/elements", id="/id", name="/name", next=_parse_next_offset)
CATALOGS = (
    _catalog("targeting_facets", _build_facets_request, id="/adTargetingFacetUrn", name="/facetName", next=None),
    _catalog(
        *("targeting_entities", _build_facet_entities_request),
        id="/urn",
        suffix="required",
        note="targeting_entities:<facet>, such as seniorities; facets that are only searched answer an error",
    ),
    _catalog(
        *("typeahead", _build_typeahead_request),
        id="/urn",
        next=None,
        suffix="required",
        note="typeahead:<facet>, such as locations, with the text to search for",
    ),
    _catalog(*("posts", _build_posts_request), name="/commentary", suffix="required", note="posts:<organization id>"),
    _catalog("ad_posts", _build_ad_posts_request, name=first_text("/adContext/dscName", "/commentary", "/id")),
    _catalog(
        *("pages", _build_pages_request),
        id="/organization",
        name="",
        note="asks for an organization admin's consent",
    ),
    *(
        _catalog(resource, partial(_build_entities_request, level), next=linkedin.parse_next_cursor)
        for resource, level in (("campaign_groups", CAMPAIGN_GROUP), ("campaigns", CAMPAIGN), ("creatives", CREATIVE))
    ),
    _catalog("conversions", _build_conversions_request),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

_TEMPLATE_SCHEDULE = {"start": 1_894_698_000_000, "end": 1_897_376_400_000}
TEMPLATES = (
    Template(
        "campaign",
        "Campaign group",
        {"name": "Autumn webinar", "status": linkedin.INITIAL_GROUP_STATUS, "runSchedule": _TEMPLATE_SCHEDULE},
        "It takes ACTIVE or DRAFT only; the account is added.",
    ),
    Template(
        "adGroup",
        "Campaign for clicks, 40 a day",
        {
            "campaignGroup": f"{linkedin.GROUP_URN}7021",
            "name": "Autumn webinar",
            "type": linkedin.SPONSORED_UPDATES,
            "status": linkedin.INITIAL_CAMPAIGN_STATUS,
            "objectiveType": linkedin.WEBSITE_VISIT,
            "optimizationTargetType": linkedin.MANUAL_TARGET,
            "costType": linkedin.CPC,
            "unitCost": {"amount": "4.50", "currencyCode": "USD"},
            "dailyBudget": {"amount": "40", "currencyCode": "USD"},
            "associatedEntity": f"{linkedin.ORGANIZATION_URN}7700123",
            "locale": {"country": "US", "language": "en"},
            "runSchedule": _TEMPLATE_SCHEDULE,
            "creativeSelection": linkedin.OPTIMIZED,
            "audienceExpansionEnabled": False,
            "offsiteDeliveryEnabled": False,
            "politicalIntent": linkedin.POLITICAL_INTENT[False],
            "targetingCriteria": {
                "include": {"and": [{"or": {f"{linkedin.FACET_URN}locations": ["urn:li:geo:103644278"]}}]}
            },
        },
    ),
    Template(
        "ad",
        "Creative of an existing post",
        {
            "campaign": f"{linkedin.CAMPAIGN_URN}880011",
            "content": {"reference": "urn:li:share:6850000000000000001"},
            "intendedStatus": linkedin.INITIAL_CREATIVE_STATUS,
            "name": "Autumn webinar",
        },
    ),
)

# Amounts in reports have up to 18 fraction digits. The last digits are noise of floats ("20.130000000000000782").
_DECIMAL_CONTEXT = Context(prec=2 * MAX_NUMBER_CHARACTERS)
_SIX_DIGITS = Decimal("0.000001")


def _read_rounded(member: str, columns: Columns) -> list[Json]:
    return list(map(_round_number, columns.get_column(f"/{member}")))


def _round_number(value: Json) -> Json:
    try:
        number = Decimal(value if isinstance(value, str) else get_text(value, "") or "")
        return number.quantize(_SIX_DIGITS, ROUND_HALF_EVEN, _DECIMAL_CONTEXT) if number.is_finite() else value
    except InvalidOperation:  # text that is no number, which parse_metric_columns refuses
        return value


def _exact_metric(name: Literal["spend", "conversionValue"], member: str) -> Metric:
    return Metric(name, f"/{member}", "major", partial(_read_rounded, member))


METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count", note="Clicks that are charged for."),
    _exact_metric("spend", "costInLocalCurrency"),
    Metric("conversions", "/externalWebsiteConversions", "count", note="On websites; leads are not among them."),
    _exact_metric("conversionValue", "conversionValueInLocalCurrency"),
    Metric("videoViews", "/videoViews", "count"),
    Metric("reach", "/approximateMemberReach", "count", note="For ranges up to 92 days; days do not add up."),
)

_report_level = partial(
    ReportLevel,
    adds_up=False,
    note="A conversion rule may give one conversion to several campaigns, so that sums can have it more than once.",
    source="LinkedIn Marketing API 202609, Ads Reporting; Help a426349, attribution models (read 2026-11-23)",
)
# A row has neither a name nor a parent. Entities without activity on a day have no row.
REPORT_LEVELS = (
    _report_level("campaign", "CAMPAIGN_GROUP", partial(linkedin.parse_report_id, CAMPAIGN_GROUP)),
    _report_level("adGroup", "CAMPAIGN", partial(linkedin.parse_report_id, CAMPAIGN)),
    _report_level("ad", "CREATIVE", partial(linkedin.parse_report_id, CREATIVE)),
)

_INPUT_ERROR_CODES = split_words(
    """
    MISSING_FIELD INVALID_VALUE_FOR_FIELD FIELD_VALUE_TOO_LOW FIELD_VALUE_TOO_HIGH FIELD_LENGTH_TOO_LONG
    CONDITIONAL_FIELD_NOT_ALLOWED CONDITIONAL_INVALID_VALUE CONDITIONAL_MISSING_FIELD CONDITIONAL_VALUE_TOO_HIGH
    CONDITIONAL_VALUE_TOO_LOW MULTIPLE_VALIDATIONS_FAILED INVALID_CAMPAIGN_CONFIGURATION CURRENCY_MISMATCH
    MISMATCH_FIELDS AUDIENCE_SIZE_TOO_SMALL STATUS_CHANGE_NOT_ALLOWED ENTITY_WITH_SAME_KEY_ALREADY_EXISTS
    QUERY_PARAM_NOT_ALLOWED DATE_TOO_EARLY DATE_IMMUTABLE_WHEN_PASSED START_DATE_AFTER_END_DATE
    """
)
ERRORS = (
    ErrorRule("rejected", "token", "the token has run out", ("EXPIRED_ACCESS_TOKEN", "65602")),
    # unverified: the code and number of a revoked token, and the number of an invalid one.
    ErrorRule("rejected", "token", "the token was withdrawn", ("REVOKED_ACCESS_TOKEN", "65601")),
    ErrorRule("rejected", "token", "the token is no token", ("INVALID_ACCESS_TOKEN", "65600")),
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",), 400),
    ErrorRule("rejected", "permission", "the app's credentials are not right", ("invalid_client",)),
    ErrorRule(
        "rejected",
        "permission",
        "the member's role on the account, or the app's tier, does not let it",
        split_words("ACCESS_DENIED NO_PERMISSION_ON_ENTITY NO_PERMISSION_ON_FIELD NO_PERMISSION_TO_UPDATE"),
    ),
    ErrorRule("rejected", "not_found", "no such thing, or none that the app may see", ("NOT_FOUND",)),
    ErrorRule("rejected", "input", "another user has changed the entity in the meantime", ("CONFLICT",)),
    ErrorRule("rejected", "input", "it has changed since the change was planned", ("PRECONDITION_FAILED",)),
    ErrorRule(
        "rejected",
        "network",
        f"LinkedIn has ended the API version {linkedin.VERSION}: adsunify has to be brought up to date",
        split_words("NONEXISTENT_VERSION VERSION_MISSING"),  # unverified: the name VERSION_MISSING
    ),
    ErrorRule("rejected", "input", "LinkedIn answers 426 to a version that has ended", status=426),
    ErrorRule("rejected", "input", "LinkedIn does not take the request", _INPUT_ERROR_CODES),
    ErrorRule(
        "ambiguous",
        "network",
        "LinkedIn had a fault of its own; it may have been done",
        split_words("TIMEOUT INTERNAL_ERROR UNDER_MAINTENANCE"),
    ),
)

NETWORK = Network(
    code=linkedin.CODE,
    title="LinkedIn",
    version=linkedin.VERSION,
    sunset=linkedin.SUNSET,
    hosts=(linkedin.HOST, linkedin.LOGIN_HOST),
    login=linkedin.LOGIN,
    get_money_unit=linkedin.get_money_unit,
    parse_error=linkedin.parse_error,
    time=linkedin.TIME,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Ads Reporting: days without activity have no element, and their figures are null, not 0. A response without any
    # element may also mean that the member has no right to read reports.
    missing_day="gap",
    geographies=tuple(f"/include/and/*/or/{place}" for place in PLACE_FACETS),
    # Public integrations: daily figures for about six months, older ones by months only.
    history=History(months=6),
    money_note='Native amounts are {"amount": "4.50", "currencyCode": "USD"}, in major units.',
    templates=TEMPLATES,
    extras=(
        Extra(
            "reference",
            "the organization (urn:li:organization:...) with the default page",
            is_settable=True,
            label="Organization",
            native="/reference",
        ),
        Extra(
            "type",
            "whether campaign groups can be created by the API; absent: BUSINESS",
            (linkedin.BUSINESS, linkedin.ENTERPRISE),
            is_settable=True,
            label="Kind of account",
            form="words",
            native="/type",
        ),
    ),
    parse_retry_delay=linkedin.parse_retry_delay,
    notes=(
        "A campaign is a campaign group natively, an ad group a campaign, an ad a creative.",
        "The consenting member needs a role on the ad account, too; a VIEWER only reads.",
        "There is no key against repetition: a repeated create makes a second entity.",
    ),
    brief_catalogs={"platform.pageId": "pages", "creative.existingId": "ad_posts"},
)
