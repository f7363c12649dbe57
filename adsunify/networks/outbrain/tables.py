"""Outbrain: Amplify API v0.1, the only version there has ever been; no sunset announced.

Three surprises. Budget, dates and pacing are an object of their own, which several campaigns may share. There is no ad
group: promoted links hang on campaigns. Success may be an answer without a body, and an array's success may hold
failures.

Sources: Outbrain's own reference (amplifyv01.docs.apiary.io, of 2026-08-13); public connectors for reports and paging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial

from adsunify.adapter.brief_checks import deny_political_ads, start_issues
from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Format,
    Goal,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Period,
    Template,
    native_amount,
    words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.countries import KOSOVO
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import rows

from . import native as outbrain
from .settings import EDITS, SETTINGS
from .targeting import PARTS, PLATFORMS, unknown_countries
from .targeting import wrong_native as wrong_targeting

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    id="/id",
    status="/enabled",
    states=outbrain.STATES,
    settable={"active": outbrain.ENABLED, "paused": outbrain.DISABLED},
    filters=outbrain.STATUSES,
    born=outbrain.DISABLED,
    ids=r"[0-9A-Fa-f]+",
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    account="/marketerId",
    name="/name",
    shows={
        "targeting": ("/targeting",),
        "bidding": ("/cpc", "/objective", "/campaignOptimization", "/budget", "/minimumCpc"),
    },
    note=f"Budget and dates stand on a budget object of its own. An edit's targeting takes {', '.join(PARTS)}.",
)
AD = _level(
    *("ad", "promoted link", "promotedLinks"),
    name="/text",
    parent="/campaignId",
    parent_kind="campaign",
    shows={"creative": ("/url", "/text", "/sectionName", "/imageMetadata", "/approvalStatus", "/onAirStatus")},
    note="It hangs on a campaign: there is no ad group. It cannot be deleted, only paused.",
)
LEVELS = (CAMPAIGN, AD)


# -- formats ------------------------------------------------------------------------------------------------------

CONTENT = words("headline imageUrl imageHash")


def has_content(members: Mapping[str, Json]) -> bool:
    """Whether a brief brings headline or image; else both are taken from the page."""
    return any(f"creative.{name}" in members for name in CONTENT)


def _days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    yield from start_issues(NETWORK.title, brief, outbrain.ZONE)
    first, _ = outbrain.serving_days(brief)
    if now is not None and first < outbrain.today(now):
        yield Issue("schedule.startAt", "past", "Outbrain takes no start before today in US Eastern time.")


def _floor(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if account.currency == "USD":
        amount = native_amount(outbrain.unit(account), brief.budget.amount)
        yield from outbrain.too_small(outbrain.LEAST_USD, budget_of(brief, amount), "budget.amount", "USD")


def budget_of(brief: CampaignBrief, amount: Json) -> dict[str, Json]:
    """The budget that carries amount, dates and pacing; its name is that of the operation."""
    first, last = outbrain.serving_days(brief)
    kind = outbrain.TYPE_OF[brief.budget.period]
    return {
        "amount": amount,
        "startDate": first.isoformat(),
        **({} if last is None else {"endDate": last.isoformat()}),
        "runForever": last is None,  # one client reports that endDate was demanded even then (unverified)
        "type": kind,
        "pacing": outbrain.PACING_OF[kind],
    }


GOALS: tuple[Goal, ...] = ("traffic", "awareness")
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
CPC = "maximum cost per click"
BIDS: Mapping[Goal, str] = {"traffic": CPC, "awareness": f"{CPC}: clicks are what is sold here, it is no CPM"}
_OWN_TITLE = "headline and image come together, or both are taken from the page"

_SHARED = (
    Input("creative.url", "required", accepts="the page that is promoted; it cannot be changed later"),
    Input("creative.body", "optional"),
    Input("bid", "required", accepts=CPC),
    Input("schedule.endAt", "required", periods=("lifetime",), accepts="a lifetime budget is spent up to it"),
    Input("schedule.endAt", "optional"),
    Input("targeting.countries", "optional", test=unknown_countries, accepts="ISO 3166 codes"),
    Input("targeting.locationIds", "optional", accepts="ids of the catalog locations"),
    Input("targeting.native", "optional", test=wrong_targeting, accepts="Outbrain's own targeting object"),
    Input("targeting.keywords", "refused", reason="links are shown beside articles, not on searches"),
    Input("platform.brandName", "optional", accepts="the source line"),
    deny_political_ads(),
    Input("creative.existingId", "refused", reason="a promoted link is made anew for each campaign"),
    Input("creative.headlines", "refused", reason="a promoted link has one headline"),
    Input("creative.descriptions", "refused", reason="a promoted link has one description, creative.body"),
)
_format = partial(
    Format,
    goals=GOALS,
    periods=PERIODS,
    bid=BIDS,
    rules=(_days, _floor),
)

FORMATS = (
    _format(
        "promoted_link",
        "Promoted link with headline and image",
        inputs=(
            Input("creative.headline", "required", accepts=_OWN_TITLE),
            Input("creative.imageUrl", "one", group="image", accepts=_OWN_TITLE),
            Input("creative.imageHash", "one", group="image", accepts="the id of an image at Outbrain"),
            *_SHARED,
        ),
        when=has_content,
        notes=("Whole days of US Eastern time; people review a link before it serves.",),
    ),
    _format(
        "crawled_link",
        "Promoted link crawled from its page",
        inputs=_SHARED,
        when=lambda members: not has_content(members),
        notes=("Headline and image are taken from the page, perhaps some time after the link is made.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

Rows = Callable[[Response], Sequence[Mapping[str, Json]]]


def _places(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    query = {"term": sought, "limit": str(limit), "locationsVersion": "V2"}
    return outbrain.get("locations/search", query)


def _interests(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    if not sought:
        return outbrain.get("interests/all")
    return outbrain.get("interests/search", {"term": sought, "limit": str(limit)})


def _targetable(response: Response) -> list[Mapping[str, Json]]:
    """The interests that can be targeted, those below others too."""
    found: list[Mapping[str, Json]] = []
    waiting = list(rows(response.body, "/interests", "catalog"))
    while waiting:
        one, *waiting = waiting
        if one.get("canBeTargeted") is True:
            found.append({name: value for name, value in one.items() if name != "subConcepts"})
        waiting = [*rows(one, "/subConcepts", "catalog"), *waiting]
    return found


def _simple(path: str) -> Callable[[Account, str, str | None, int], Request]:
    return lambda account, sought, cursor, limit: outbrain.get(path)


def _owned(path: str) -> Callable[[Account, str, str | None, int], Request]:
    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        return outbrain.get(f"marketers/{{marketer}}/{path}", marketer=account.native_id)

    return request


def _values(response: Response) -> list[Mapping[str, Json]]:
    """A bare array of words as rows."""
    listed = response.body if isinstance(response.body, list) else []
    return [{"value": one} for one in listed]


def _links(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    offset = int(cursor) if cursor is not None and cursor.isascii() and cursor.isdigit() else 0
    return outbrain.listed(AD, sought, min(limit, outbrain.LINKS_PAGE), offset, {})


CATALOGS = (
    Catalog("locations", _places, "/geoLocations", "/id", "/canonicalName", suffix="required", note="locations:Berlin"),
    Catalog("interests", _interests, _targetable, "/id", "/name", suffix="optional"),
    Catalog("iab_categories", _simple("iabcategories/all"), "/categories", "/categoryId", "/categoryName"),
    Catalog("languages", _simple("metadata/supportedLanguages"), "", "/code", "/name"),
    Catalog("browsers", _simple("metadata/browsers"), _values, "/value", "/value"),
    Catalog("operating_systems", _simple("metadata/operatingSystems"), _values, "/value", "/value"),
    Catalog("currencies", _simple("currencies"), "/currencies", "/code", "/name"),
    Catalog("budgets", _owned("budgets"), "/budgets", "/id", "/name"),
    Catalog("conversion_events", _owned("conversionEvents"), "/conversionEvents", "/id", "/name"),
    Catalog("segments", _owned("segments"), "/segments", "/id", "/name"),  # its path is (unverified)
    Catalog(
        *("promoted_links", _links, "/promotedLinks", "/id", "/text"),
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
            "creativeFormat": outbrain.STANDARD,
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


# Counts may be written with decimals; a fraction stays in the native row only.
METRICS = (
    Metric("impressions", "/metrics/impressions", "whole"),
    Metric("clicks", "/metrics/clicks", "whole"),
    Metric("spend", "/metrics/spend", "major", note="Digital services taxes (dstFeeCost) are not part of spend."),
    Metric("conversions", "/metrics/totalConversions", "decimal", note="Conversions after clicks and views."),
    Metric("conversionValue", "/metrics/totalSumValue", "major"),
    Metric("videoViews", "/metrics/videoPlays", "whole"),
)

ERRORS = (
    ErrorRule("rejected", "input", "the item was refused inside a success", (outbrain.FAILURE,)),
    # Outbrain has no codes: what follows is each documented status in words.
    ErrorRule("rejected", "input", "a parameter is wrong or missing, below a floor, or a name taken", status=400),
    ErrorRule("rejected", "permission", "the marketer or the role is out of reach", status=403),
    ErrorRule("rejected", "not_found", "there is no such thing", status=404),
)

NETWORK = Network(
    code=outbrain.CODE,
    title="Outbrain",
    version=outbrain.VERSION,
    hosts=(outbrain.HOST,),
    login=Login(
        "credentials",
        ahead=0,
        note="A token lasts 30 days and cannot be renewed or revoked; at most 2 sign-ins an hour. A changed password"
        " or e-mail ends all tokens.",
    ),
    unit=outbrain.unit,
    error=outbrain.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Amplify API, reports ("outbrain: 12 Insights"): rows carry explicit zeros; a day without a row has no data: null.
    missing_day="gap",
    geographies=("/locations",),
    money="Native amounts are decimal numbers in major units, with at most 2 digits after the point.",
    other_countries=(KOSOVO,),
    templates=TEMPLATES,
    wait=outbrain.wait,
    items=outbrain.items,
    status_sent=outbrain.status_sent,
    notes=(
        "There is no ad group: promoted links hang on campaigns.",
        "All days are days of US Eastern time.",
        "Lists are filtered by status and name on our side.",
    ),
)
