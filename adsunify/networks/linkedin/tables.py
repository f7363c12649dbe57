"""LinkedIn Marketing API, versioned Rest.li, 202609. A version lives 12 months, then answers 426.

Sources: LinkedIn's documentation of February to August 2026, its error code registry, its official Python client.

Three surprises. A new entity's id comes in a header, and the answer has no body. Queries are Rest.li: parentheses and
commas stand as they are, only what is inside is encoded. A campaign group cannot be created paused, so it is created
ACTIVE and its campaign holds everything back; what is called a campaign here is a group there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from functools import partial
from typing import Literal

from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Extra,
    Format,
    History,
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
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS, Json
from adsunify.values.json_pointer import Columns, read, text

from . import native as linkedin
from .settings import EDITS, SETTINGS, window_issues
from .targeting import PLACES, wrong_criteria

# -- levels -------------------------------------------------------------------------------------------------------

_STATES: Mapping[str, str] = {
    linkedin.ACTIVE: "active",
    linkedin.PAUSED: "paused",
    linkedin.DRAFT: "paused",
    linkedin.ARCHIVED: "archived",
    linkedin.CANCELED: "archived",
    linkedin.PENDING_DELETION: "deleted",
    linkedin.REMOVED: "deleted",
}
_SETTABLE: Mapping[str, str] = {"active": linkedin.ACTIVE, "paused": linkedin.PAUSED}

_level = partial(Level, id="/id", name="/name", settable=_SETTABLE)


def _ids(kind: str) -> str:
    return f"({re.escape(linkedin.URNS[kind])})?[0-9]+"


GROUP = _level(
    "campaign",
    "campaign group",
    "adCampaignGroups",
    ids=_ids("campaign"),
    status="/status",
    states=_STATES,
    filters=tuple(_STATES),
    note="LinkedIn takes no paused group at creation: it is created ACTIVE, without a budget, and nothing in it serves "
    "while its campaigns are paused. Later it is paused like everything else.",
)
CAMPAIGN = _level(
    "adGroup",
    "campaign",
    "adCampaigns",
    ids=_ids("adGroup"),
    status="/status",
    parent="/campaignGroup",
    parent_kind="campaign",
    states={**_STATES, linkedin.COMPLETED: "archived"},
    filters=(*_STATES, linkedin.COMPLETED),
    born=linkedin.CAMPAIGN_BORN,
    shows={
        "targeting": ("/targetingCriteria",),
        "bidding": ("/optimizationTargetType", "/costType", "/unitCost", "/pacingStrategy"),
    },
)
CREATIVE = _level(
    "ad",
    "creative",
    "creatives",
    ids=_ids("ad"),
    status="/intendedStatus",
    parent="/campaign",
    parent_kind="adGroup",
    states=_STATES,
    filters=tuple(_STATES),
    born=linkedin.CREATIVE_BORN,
    shows={"creative": ("/content", "/review", "/isServing", "/servingHoldReasons")},
    note="A draft is not reviewed; the review begins when it is set active, and may take a day.",
)
LEVELS = (GROUP, CAMPAIGN, CREATIVE)


# -- formats ------------------------------------------------------------------------------------------------------

_POST = re.compile(r"urn:li:(share|ugcPost):[0-9]+", re.ASCII).fullmatch
_PAGE = re.compile(r"(urn:li:organization:)?[0-9]+", re.ASCII).fullmatch


def _wrong_post(value: Json) -> str | None:
    return None if _POST(value) else "it is no post's URN"


def _wrong_page(value: Json) -> str | None:
    return None if _PAGE(value) else "it is no organization's id"


def page_of(account: Account, brief: CampaignBrief | None = None) -> str | None:
    """The organization that the campaign is for, as a URN: the brief's, or the account's own where it is one."""
    page = brief.platform.page_id if brief is not None else None
    if page is not None:
        return linkedin.urn(linkedin.ORGANIZATION_URN, page)
    reference = account.extras.get("reference", "")
    return reference if reference.startswith(linkedin.ORGANIZATION_URN) else None


def _has_page(account: Account) -> bool:
    return page_of(account) is not None


def enterprise(account: Account) -> bool:
    """Whether the account is one whose groups cannot be created by the API."""
    return account.extras.get("type") == linkedin.ENTERPRISE


def _creatable(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if enterprise(account):  # CAMPAIGN_GROUP_CREATION_NOT_ALLOWED
        message = "LinkedIn lets no campaign group be created in an ENTERPRISE account through the API."
        yield Issue("account.extras.type", "not_supported", message)


def _name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if linkedin.bytes_of(brief.name) > linkedin.CAMPAIGN_NAME_BYTES:
        message = f"LinkedIn takes a campaign name of at most {linkedin.CAMPAIGN_NAME_BYTES} bytes of UTF-8."
        yield Issue("name", "too_long", message)


def _times(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    schedule = brief.schedule
    paths = ("schedule.startAt", "schedule.endAt")
    for path, written in zip(paths, (schedule.start_at, schedule.end_at), strict=True):
        if written is not None and linkedin.too_fine(written):
            yield Issue(path, "over_precision", "LinkedIn counts whole milliseconds; nothing is rounded.")
    yield from window_issues(schedule.start, schedule.end, paths, now)


_CONTENT = tuple(
    f"creative.{member}" for member in ("headline", "body", "url", "imageUrl", "imageHash", "headlines", "descriptions")
)
_NO_PLACES = "places are URNs of targeting.native (facet locations, urn:li:geo:...)"
_PAGE_FORM = "an organization's id in digits, or urn:li:organization:<digits>: the page that owns the post"

FORMATS = (
    Format(
        "sponsored_post",
        "existing sponsored post",
        goals=("traffic", "awareness"),
        periods=("daily", "lifetime"),
        bid={
            "traffic": "maximum cost per click; without one LinkedIn bids for the most clicks",
            "awareness": "price per 1000 impressions; without one LinkedIn bids for the most impressions",
        },
        inputs=(
            Input(
                "creative.existingId", "required", test=_wrong_post, accepts="urn:li:share:<id> or urn:li:ugcPost:<id>"
            ),
            Input("targeting.native", "required", test=wrong_criteria, accepts="a targetingCriteria object"),
            Input("platform.locale", "required", accepts="a country and language that LinkedIn supports as a pair"),
            Input(
                *("platform.pageId", "required"),
                test=_wrong_page,
                accepts=_PAGE_FORM,
                unless=_has_page,
                reason="where the account's extra reference names no organization",
            ),
            Input(
                *("platform.pageId", "optional"),
                test=_wrong_page,
                accepts=f"{_PAGE_FORM}; absent: the organization of the account's extra reference",
            ),
            Input("platform.euPoliticalAdvertising", "optional", accepts="absent means not declared"),
            Input("bid", "optional"),
            Input("schedule.endAt", "required", periods=("lifetime",), accepts="a lifetime budget needs an end"),
            Input("schedule.endAt", "optional", accepts="at least 24 hours after the start"),
            Input("targeting.countries", "refused", reason=_NO_PLACES),
            Input("targeting.locationIds", "refused", reason=_NO_PLACES),
            Input("targeting.keywords", "refused", reason="LinkedIn has no keywords"),
            *(Input(path, "refused", reason="the post is the creative") for path in _CONTENT),
        ),
        rules=(_creatable, _name, _times),
        notes=(
            "The campaign group is ACTIVE from its creation; its campaign is paused and its creative a draft.",
            "Days are UTC. Audience expansion and the audience network stay off.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _offset(cursor: str | None, limit: int) -> dict[str, Json]:
    return {"start": int(cursor) if cursor and cursor.isdigit() else 0, "count": limit}


def _next_offset(response: Response) -> str | None:
    """Where the next page of a list by offsets begins; None behind a page that is not full."""
    start, count, total = (read(response.body, f"/paging/{name}") for name in ("start", "count", "total"))
    found = len(linkedin.elements(response))
    if not (linkedin.is_integer(start) and linkedin.is_integer(count)) or found < max(count, 1):
        return None
    return None if linkedin.is_integer(total) and start + found >= total else str(start + found)


def _facets(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return linkedin.get("adTargetingFacets", {}, {})


_BY_URN = {"queryVersion": "QUERY_USES_URNS"}


def _facet_entities(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query: dict[str, Json] = {"q": "adTargetingFacet", "facet": linkedin.urn(linkedin.FACET_URN, suffix), **_BY_URN}
    query |= {"locale": {"language": "en", "country": "US"}}
    return linkedin.get("adTargetingEntities", {}, query | _offset(cursor, limit))


def _typeahead(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    facet, _, sought = suffix.partition(":")
    query = {"q": "typeahead", "facet": linkedin.urn(linkedin.FACET_URN, facet), "query": sought}
    return linkedin.get("adTargetingEntities", {}, query | _BY_URN)


def _posts(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "author", "author": linkedin.urn(linkedin.ORGANIZATION_URN, suffix)}
    paged = {"count": limit, "start": _offset(cursor, limit)["start"], "sortBy": "LAST_MODIFIED"}
    return linkedin.get("posts", {}, query | paged, linkedin.FINDER)


def _ad_posts(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "dscAdAccount", "dscAdAccount": linkedin.account_urn(account), "dscAdTypes": ["STANDARD", "VIDEO"]}
    return linkedin.get("posts", {}, query | _offset(cursor, limit), linkedin.FINDER)


def _pages(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "roleAssignee", "state": "APPROVED"}
    return linkedin.get("organizationAcls", {}, query | _offset(cursor, limit), linkedin.FINDER)


def _conversions(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"q": "account", "account": linkedin.account_urn(account)}
    return linkedin.get("conversions", {}, query | _offset(cursor, limit))


def listed(
    account: Account,
    one: Level,
    *,
    parents: Sequence[str] = (),
    statuses: Sequence[str] = linkedin.LIVE,
    limit: int,
    cursor: str | None = None,
) -> Request:
    """One page of a level's entities, below ``parents`` (URNs) where any are given."""
    query: dict[str, Json]
    if one is CREATIVE:  # q=search answers 404 here
        query = {"q": "criteria", **({"campaigns": list(parents)} if parents else {})}
        query |= {"intendedStatuses": list(statuses)}
    else:
        parent = {"campaignGroup": {"values": list(parents)}} if parents else {}
        query = {"q": "search", "search": {**parent, "status": {"values": list(statuses)}}}
    query |= {"pageSize": limit, **({"pageToken": cursor} if cursor is not None else {}), "sortOrder": "ASCENDING"}
    method = linkedin.FINDER if one is CREATIVE else ""
    return linkedin.get(f"adAccounts/{{account}}/{one.path}", linkedin.owned(account), query, method)


def _entities(one: Level, account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return listed(account, one, limit=limit, cursor=cursor)


def _post_name(row: Mapping[str, Json]) -> str:
    return text(row, "/adContext/dscName") or text(row, "/commentary") or text(row, "/id") or ""


_ROWS = "/elements"
CATALOGS = (
    Catalog("targeting_facets", _facets, _ROWS, "/adTargetingFacetUrn", "/facetName"),
    Catalog(
        *("targeting_entities", _facet_entities, _ROWS, "/urn", "/name", _next_offset, "required"),
        note="targeting_entities:<facet>, such as seniorities; facets that are only searched answer an error",
    ),
    Catalog(
        *("typeahead", _typeahead, _ROWS, "/urn", "/name", None, "required"),
        note="typeahead:<facet>, such as locations, with the text to search for",
    ),
    Catalog("posts", _posts, _ROWS, "/id", "/commentary", _next_offset, "required", note="posts:<organization id>"),
    Catalog("ad_posts", _ad_posts, _ROWS, "/id", _post_name, _next_offset),
    Catalog("pages", _pages, _ROWS, "/organization", "", _next_offset, note="asks for an organization admin's consent"),
    Catalog("campaign_groups", partial(_entities, GROUP), _ROWS, "/id", "/name", linkedin.page_token),
    Catalog("campaigns", partial(_entities, CAMPAIGN), _ROWS, "/id", "/name", linkedin.page_token),
    Catalog("creatives", partial(_entities, CREATIVE), _ROWS, "/id", "/name", linkedin.page_token),
    Catalog("conversions", _conversions, _ROWS, "/id", "/name", _next_offset),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

_WINDOW = {"start": 1_894_698_000_000, "end": 1_897_376_400_000}
TEMPLATES = (
    Template(
        "campaign",
        "Campaign group",
        {"name": "Autumn webinar", "status": linkedin.GROUP_BORN, "runSchedule": _WINDOW},
        "It takes ACTIVE or DRAFT only; the account is added.",
    ),
    Template(
        "adGroup",
        "Campaign for clicks, 40 a day",
        {
            "campaignGroup": f"{linkedin.GROUP_URN}7021",
            "name": "Autumn webinar",
            "type": linkedin.SPONSORED_UPDATES,
            "status": linkedin.CAMPAIGN_BORN,
            "objectiveType": linkedin.WEBSITE_VISIT,
            "optimizationTargetType": linkedin.MANUAL,
            "costType": linkedin.CPC,
            "unitCost": {"amount": "4.50", "currencyCode": "USD"},
            "dailyBudget": {"amount": "40", "currencyCode": "USD"},
            "associatedEntity": f"{linkedin.ORGANIZATION_URN}7700123",
            "locale": {"country": "US", "language": "en"},
            "runSchedule": _WINDOW,
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
            "intendedStatus": linkedin.CREATIVE_BORN,
            "name": "Autumn webinar",
        },
    ),
)

# Reports carry up to 18 fraction digits of float noise ("20.130000000000000782").
_WIDE = Context(prec=2 * MAX_NUMBER_CHARACTERS)
_SIX_DIGITS = Decimal("0.000001")


def _without_noise(member: str, columns: Columns) -> list[Json]:
    return list(map(_cleaned, columns.at(f"/{member}")))


def _cleaned(said: Json) -> Json:
    try:
        number = Decimal(said if isinstance(said, str) else text(said, "") or "")
        return number.quantize(_SIX_DIGITS, ROUND_HALF_EVEN, _WIDE) if number.is_finite() else said
    except InvalidOperation:  # no number, or a senseless one: whoever reads it says so
        return said


def _exact(name: Literal["spend", "conversionValue"], member: str) -> Metric:
    return Metric(name, f"/{member}", "major", partial(_without_noise, member))


METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count", note="Clicks that are charged for."),
    _exact("spend", "costInLocalCurrency"),
    Metric("conversions", "/externalWebsiteConversions", "count", note="On websites; leads are not among them."),
    _exact("conversionValue", "conversionValueInLocalCurrency"),
    Metric("videoViews", "/videoViews", "count"),
    Metric("reach", "/approximateMemberReach", "count", note="For ranges up to 92 days; days do not add up."),
)

_REFUSED_INPUT = words(
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
    ErrorRule("rejected", "token", "the token was withdrawn", ("REVOKED_ACCESS_TOKEN", "65601")),  # (unverified)
    ErrorRule("rejected", "token", "the token is no token", ("INVALID_ACCESS_TOKEN", "65600")),  # number (unverified)
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",), 400),
    ErrorRule("rejected", "permission", "the app's credentials are not right", ("invalid_client",)),
    ErrorRule(
        "rejected",
        "permission",
        "the member's role on the account, or the app's tier, does not let it",
        words("ACCESS_DENIED NO_PERMISSION_ON_ENTITY NO_PERMISSION_ON_FIELD NO_PERMISSION_TO_UPDATE"),
    ),
    ErrorRule("rejected", "not_found", "no such thing, or none that the app may see", ("NOT_FOUND",)),
    ErrorRule("rejected", "input", "somebody else changed it meanwhile: prepare it anew", ("CONFLICT",)),
    ErrorRule("rejected", "input", "it is not as it was: prepare it anew", ("PRECONDITION_FAILED",)),
    ErrorRule(
        "rejected",
        "network",
        f"LinkedIn has ended the API version {linkedin.VERSION}: adsunify has to be brought up to date",
        words("NONEXISTENT_VERSION VERSION_MISSING"),  # the second name is (unverified)
    ),
    ErrorRule("rejected", "input", "LinkedIn answers 426 to a version that has ended", status=426),
    ErrorRule("rejected", "input", "LinkedIn does not take the request", _REFUSED_INPUT),
    ErrorRule(
        "ambiguous",
        "network",
        "LinkedIn had a fault of its own; it may have been done",
        words("TIMEOUT INTERNAL_ERROR UNDER_MAINTENANCE"),
    ),
)

NETWORK = Network(
    code=linkedin.CODE,
    title="LinkedIn",
    version=linkedin.VERSION,
    sunset=date(2027, 9, 15),  # (unverified) a version lives at least 12 months: 202608 to about mid August 2027
    hosts=(linkedin.HOST, linkedin.LOGIN_HOST),
    login=Login(
        "oauth2",
        scopes=linkedin.SCOPES,
        note="Consent lasts 60 days; apps of approved partners renew it for up to 365 days.",
    ),
    unit=linkedin.unit,
    error=linkedin.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Ads Reporting ("linkedin: 12 Insights"): days without activity have no element, which is null and not 0. An answer
    # without elements also comes where the member has no right to read.
    missing_day="gap",
    geographies=tuple(f"/include/and/*/or/{place}" for place in PLACES),
    # Ads Reporting (secondary source): daily figures for about six months, older ones by months only.
    history=History(months=6),
    money='Native amounts are {"amount": "4.50", "currencyCode": "USD"}, in major units.',
    templates=TEMPLATES,
    extras=(
        Extra("reference", "the organization behind the account (urn:li:organization:...), whose page is the default"),
        Extra(
            "type",
            "whether campaign groups can be created by the API; absent: BUSINESS",
            (linkedin.BUSINESS, linkedin.ENTERPRISE),
        ),
    ),
    wait=linkedin.wait,
    notes=(
        "A campaign is a campaign group natively, an ad group a campaign, an ad a creative.",
        "The consenting member needs a role on the ad account, too; a VIEWER only reads.",
        "There is no key against repetition: a repeated create makes a second entity.",
    ),
)
