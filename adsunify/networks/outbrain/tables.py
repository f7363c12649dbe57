"""Outbrain Amplify API v0.1, the only version so far: what the API has and what the adapter uses, as tables.

No sunset is announced.

Three surprises. Budget, dates and pacing are an object of their own, which several campaigns may share. There are no ad
groups: promoted links belong to campaigns. A successful response may have no body, and the successful response to an
array may hold failed items.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_start_is_midnight, deny_political_ads
from adsunify.adapter.formats import Format, Goal, Input, Period
from adsunify.adapter.metrics import Metric, ReportLevel
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import (
    Catalog,
    Credential,
    ErrorRule,
    Level,
    Login,
    Network,
    PayloadRules,
    Template,
    project_sunset,
    split_words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.countries import KOSOVO
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects

from . import native as outbrain
from .settings import EDITS, SETTINGS
from .targeting import EDITABLE_TARGETING, PLATFORMS, find_countries_error
from .targeting import find_native_targeting_error as wrong_targeting

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    id="/id",
    status=outbrain.parse_native_status,
    status_members={
        outbrain.ENABLED: {"enabled": True},
        outbrain.DISABLED: {"enabled": False},
        outbrain.ARCHIVED: {"archived": True},
    },
    unified_statuses=outbrain.UNIFIED_STATUSES,
    writable_statuses={"active": outbrain.ENABLED, "paused": outbrain.DISABLED},
    status_filters=outbrain.STATUSES,
    initial_status=outbrain.DISABLED,
    id_pattern=r"[0-9A-Fa-f]+",
    created=outbrain.parse_creation_time,
    hidden_statuses=(outbrain.ARCHIVED,),
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    account="/marketerId",
    name="/name",
    payload=PayloadRules(
        read_only=("id", "marketerId", "budget", "liveStatus", "minimumCpc", "contentType", "autoArchived"),
        fixed=("budgetId", "creativeFormat"),
        neutral=outbrain.NEUTRAL_MEMBERS,
        bidding={"campaignOptimization/optimizationType": outbrain.CLICK_OPTIMIZATIONS},
        budget_names=("budgetId",),
    ),
    has_unique_name=True,
    compared=("/budgetId=/budget/id", "/targeting/locations", "/targeting/excludedLocations"),
    settings_context={
        "targeting": ("/targeting",),
        "bidding": ("/cpc", "/objective", "/campaignOptimization", "/budget", "/minimumCpc"),
    },
    note=f"A separate budget object holds budget and dates. Targeting edits take {', '.join(EDITABLE_TARGETING)}.",
)
AD = _level(
    *("ad", "promoted link", "promotedLinks"),
    name="/text",
    payload=PayloadRules(
        read_only=("id",),
        fixed=("campaignId", "url", "approvalStatus", "onAirStatus"),
        neutral=outbrain.NEUTRAL_MEMBERS,
    ),
    parent="/campaignId",
    parent_kind="campaign",
    review_status="/approvalStatus/status",
    disapproved_statuses=("Rejected",),
    settings_context={
        "creative": ("/url", "/text", "/sectionName", "/imageMetadata", "/approvalStatus", "/onAirStatus")
    },
    note="It hangs on a campaign: there is no ad group. It cannot be deleted, only paused.",
)
LEVELS = (CAMPAIGN, AD)
# The plan puts a mark of the operation into the name, so no other budget has the same name.
BUDGET = Level("budget", *("budget", "", "/id", "/name", ""), has_unique_name=True, catalog="budgets")


# -- formats ------------------------------------------------------------------------------------------------------

CONTENT_MEMBERS = split_words("headline imageUrl imageHash")


def has_content(members: Mapping[str, Json]) -> bool:
    """Return whether a brief has a headline or an image. Without them Outbrain takes both from the page."""
    return any(f"creative.{name}" in members for name in CONTENT_MEMBERS)


def _check_days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    yield from check_start_is_midnight(NETWORK.title, brief, outbrain.TIMEZONE)
    first, _ = outbrain.get_eastern_serving_days(brief)
    if now is not None and first < outbrain.get_eastern_date(now):
        yield Issue("schedule.startAt", "past", "Outbrain takes no start before today in US Eastern time.")


def _check_budget_floor(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if account.currency == "USD":
        amount = to_native_amount(outbrain.get_money_unit(account), brief.budget.amount)
        yield from outbrain.check_budget_floor(
            outbrain.MIN_BUDGETS_USD, build_budget(brief, amount), "budget.amount", "USD"
        )


def build_budget(brief: CampaignBrief, amount: Json) -> dict[str, Json]:
    """Build the budget with amount, dates and pacing. The step adds the budget's name."""
    first, last = outbrain.get_eastern_serving_days(brief)
    kind = outbrain.BUDGET_TYPE_BY_PERIOD[brief.budget.period]
    return {
        "amount": amount,
        "startDate": first.isoformat(),
        **({} if last is None else {"endDate": last.isoformat()}),
        # unverified: with runForever a budget needs no endDate; one client reports that Outbrain required it.
        "runForever": last is None,
        "type": kind,
        "pacing": outbrain.PACING_BY_BUDGET_TYPE[kind],
    }


GOALS: tuple[Goal, ...] = ("traffic", "awareness")
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
CLICK_BID_MEANING = "maximum cost per click"
BID_MEANINGS: Mapping[Goal, str] = {
    "traffic": CLICK_BID_MEANING,
    "awareness": f"{CLICK_BID_MEANING}: clicks are what is sold here, it is no CPM",
}
_CONTENT_REASON = "headline and image come together, or both are taken from the page"

_COMMON_INPUTS = (
    Input("creative.url", "required", "the page that is promoted; it cannot be changed later"),
    Input("creative.body", "optional"),
    Input("bid", "required", CLICK_BID_MEANING),
    Input("schedule.endAt", "required", "a lifetime budget is spent up to it", periods=("lifetime",)),
    Input("schedule.endAt", "optional"),
    Input("targeting.countries", "optional", "ISO 3166 codes", find_error=find_countries_error),
    Input("targeting.locationIds", "optional", "ids of the catalog locations"),
    Input("targeting.native", "optional", "Outbrain's own targeting object", find_error=wrong_targeting),
    Input("targeting.keywords", "refused", reason="links are shown beside articles, not on searches"),
    Input("platform.brandName", "optional", "the source line"),
    deny_political_ads(),
    Input("creative.existingId", "refused", reason="a promoted link is made anew for each campaign"),
    Input("creative.headlines", "refused", reason="a promoted link has one headline"),
    Input("creative.descriptions", "refused", reason="a promoted link has one description, creative.body"),
)
_content_format = partial(
    Format,
    goals=GOALS,
    periods=PERIODS,
    bid_meanings=BID_MEANINGS,
    rules=(_check_days, _check_budget_floor),
)

FORMATS = (
    _content_format(
        "promoted_link",
        "Promoted link with headline and image",
        inputs=(
            Input("creative.headline", "required", _CONTENT_REASON),
            Input("creative.imageUrl", "one", _CONTENT_REASON, group="image"),
            Input("creative.imageHash", "one", "the id of an image at Outbrain", group="image"),
            *_COMMON_INPUTS,
        ),
        is_match=has_content,
        notes=("Whole days of US Eastern time; people review a link before it serves.",),
    ),
    _content_format(
        "crawled_link",
        "Promoted link crawled from its page",
        inputs=_COMMON_INPUTS,
        is_match=lambda members: not has_content(members),
        notes=("Headline and image are taken from the page, perhaps some time after the link is made.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _build_places_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = {"term": suffix, "limit": str(limit), "locationsVersion": "V2"}
    return outbrain.build_get_request("locations/search", query)


def _build_interests_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    if not suffix:
        return outbrain.build_get_request("interests/all")
    return outbrain.build_get_request("interests/search", {"term": suffix, "limit": str(limit)})


def _parse_targetable_interests(response: Response) -> list[Mapping[str, Json]]:
    """Return all interests that can be targeted, at every level."""
    targetable_rows: list[Mapping[str, Json]] = []
    waiting = list(get_objects(response.body, "/interests", "catalog"))
    while waiting:
        interest, *waiting = waiting
        if interest.get("canBeTargeted") is True:
            targetable_rows.append({name: value for name, value in interest.items() if name != "subConcepts"})
        waiting = [*get_objects(interest, "/subConcepts", "catalog"), *waiting]
    return targetable_rows


def _plain_request_builder(path: str) -> Callable[[Account, str, str | None, int], Request]:
    return lambda account, suffix, cursor, limit: outbrain.build_get_request(path)


def _account_request_builder(path: str) -> Callable[[Account, str, str | None, int], Request]:
    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return outbrain.build_get_request(f"marketers/{{marketer}}/{path}", marketer=account.native_id)

    return request


def _parse_words(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of an array of texts."""
    values = response.body if isinstance(response.body, list) else []
    return [{"value": value} for value in values]


def _build_links_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    offset = int(cursor) if cursor is not None and cursor.isascii() and cursor.isdigit() else 0
    return outbrain.build_owner_list_request(AD, suffix, min(limit, outbrain.LINKS_PAGE_SIZE), offset, {})


CATALOGS = (
    Catalog(
        "locations",
        _build_places_request,
        "/geoLocations",
        "/id",
        "/canonicalName",
        suffix="required",
        note="locations:Berlin",
    ),
    Catalog("interests", _build_interests_request, _parse_targetable_interests, "/id", "/name", suffix="optional"),
    Catalog(
        "iab_categories", _plain_request_builder("iabcategories/all"), "/categories", "/categoryId", "/categoryName"
    ),
    Catalog("languages", _plain_request_builder("metadata/supportedLanguages"), "", "/code", "/name"),
    Catalog("browsers", _plain_request_builder("metadata/browsers"), _parse_words, "/value", "/value"),
    Catalog("operating_systems", _plain_request_builder("metadata/operatingSystems"), _parse_words, "/value", "/value"),
    Catalog("currencies", _plain_request_builder("currencies"), "/currencies", "/code", "/name"),
    Catalog("budgets", _account_request_builder("budgets"), "/budgets", "/id", "/name"),
    Catalog("conversion_events", _account_request_builder("conversionEvents"), "/conversionEvents", "/id", "/name"),
    Catalog(
        "segments", _account_request_builder("segments"), "/segments", "/id", "/name"
    ),  # unverified: the path of segments
    Catalog(
        *("promoted_links", _build_links_request, "/promotedLinks", "/id", "/text"),
        suffix="required",
        note="promoted_links:<campaign id>",
    ),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Traffic on all devices",
        {
            "name": "Ten ways to sleep better",
            "budgetId": "00a1b2c3d4e5f60718293a4b5c6d7e8f90",
            "cpc": Decimal("0.42"),
            "objective": "Traffic",
            "creativeFormat": outbrain.STANDARD_FORMAT,
            "campaignOptimization": {"optimizationType": outbrain.TRAFFIC},
            "targeting": {"platform": list(PLATFORMS)},
        },
        "budgetId is one of the catalog budgets.",
    ),
    Template(
        "ad",
        "Headline and image",
        {
            "url": "https://shop.example/guide",
            "text": "Ten ways to sleep better",
            "sectionName": "Example Shop",
            "imageMetadata": {"url": "https://shop.example/sleep.jpg"},
        },
        "Its parentId is the campaign; headline and image may be left to the page.",
    ),
)


# Outbrain may write counts with decimals. Only the native row keeps a fraction.
METRICS = (
    Metric("impressions", "/metrics/impressions", "whole"),
    Metric("clicks", "/metrics/clicks", "whole"),
    Metric("spend", "/metrics/spend", "major", note="Digital services taxes (dstFeeCost) are not part of spend."),
    Metric("conversions", "/metrics/totalConversions", "decimal", note="Conversions after clicks and views."),
    Metric("conversionValue", "/metrics/totalSumValue", "major"),
    Metric("videoViews", "/metrics/videoPlays", "whole"),
)
# unverified: the figures of the campaigns, and those of their links, add up to those of the marketer.
REPORT_SOURCE = "Amplify reference, Performance Reporting (2026-08-13), read 2026-11-23"
REPORT_LEVELS = (
    ReportLevel("campaign", "campaigns/periodic", "/campaignId", source=REPORT_SOURCE),
    ReportLevel(
        *("ad", "campaigns/{campaign}/periodicContent", "/promotedLinkId", None, "/campaignId"),
        note="Outbrain does not document whether carousels, which are sequences of links, are part of this report.",
        source=REPORT_SOURCE,
    ),
)

ERRORS = (
    ErrorRule("rejected", "input", "the item was refused inside a success", (outbrain.FAILURE,)),
    # Outbrain has no error codes, so these rules use the documented HTTP statuses.
    ErrorRule("rejected", "input", "a parameter is wrong or missing, below a floor, or a name taken", status=400),
    ErrorRule("rejected", "permission", "the marketer or the role is out of reach", status=403),
    ErrorRule("rejected", "not_found", "there is no such thing", status=404),
)

NETWORK = Network(
    code=outbrain.CODE,
    title="Outbrain",
    version=outbrain.VERSION,
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(outbrain.HOST,),
    login=Login(
        "credentials",
        refresh_before_seconds=0,
        note="A token lasts 30 days and cannot be renewed or revoked; at most 2 sign-ins an hour. A changed password"
        " or e-mail ends all tokens.",
        credentials=(
            (Credential("api_key", "API key", "hidden"),),
            (Credential("username", "User name"), Credential("password", "Password", "hidden")),
        ),
    ),
    get_money_unit=outbrain.get_money_unit,
    parse_error=outbrain.parse_error,
    levels=LEVELS,
    beside=(BUDGET,),
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Amplify reference, "Performance Reporting": rows have explicit zeros. A day without a row has no data, so its
    # figures are null.
    missing_day="gap",
    geographies=("/locations",),
    money_note="Native amounts are decimal numbers in major units, with at most 2 digits after the point.",
    other_countries=(KOSOVO,),
    has_whole_days=True,
    templates=TEMPLATES,
    parse_retry_delay=outbrain.parse_retry_delay,
    parse_item_results=outbrain.parse_item_results,
    notes=(
        "There is no ad group: promoted links hang on campaigns.",
        "All days are days of US Eastern time.",
        "Lists are filtered by status and name on our side.",
    ),
)
