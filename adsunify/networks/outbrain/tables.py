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

from adsunify.brief import CampaignBrief
from adsunify.editing import whole_day
from adsunify.errors import Issue, refused
from adsunify.network import (
    Account,
    Catalog,
    Entity,
    ErrorRule,
    Format,
    Goal,
    Input,
    ItemAnswer,
    Level,
    Login,
    Metric,
    Network,
    Period,
    Setting,
    Template,
    native_amount,
    words,
)
from adsunify.steps import Step
from adsunify.wire import Json, Request, Response, identifier, read, rows, text

from . import native as outbrain
from .targeting import BROWSERS, LANGUAGE, PARTS, PLATFORMS, SYSTEMS, ids_of, interests_of, unknown_countries
from .targeting import wrong_native as wrong_targeting

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    id="/id",
    status="/enabled",
    states={outbrain.ENABLED: "active", outbrain.DISABLED: "paused", outbrain.ARCHIVED: "archived"},
    settable={"active": outbrain.ENABLED, "paused": outbrain.DISABLED},
    filters=outbrain.STATUSES,
    born=outbrain.DISABLED,
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
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


def native_status(native: Mapping[str, Json]) -> str | None:
    """The status in one word: natively it is two flags."""
    if native.get("archived") is True or native.get("autoArchived") is True:
        return outbrain.ARCHIVED
    words_ = {True: outbrain.ENABLED, False: outbrain.DISABLED}
    enabled = native.get("enabled")
    return words_[enabled] if isinstance(enabled, bool) else None


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What the answer to an array says of each item: HTTP 200 does not mean success."""
    sent, listed = request.body, response.body
    if not isinstance(sent, list) or not isinstance(listed, list) or len(listed) != len(sent):
        return None
    ids = [read(one, "/id") for one in sent]
    answers = []
    for index, row in enumerate(listed):
        native_id = identifier(read(row, "/id")) or ids[index]
        position = ids.index(native_id) if native_id in ids else index
        if text(row, "/operationStatus/status") == outbrain.SUCCESS:
            answers.append(ItemAnswer(position, native_id))
        else:
            answers.append(ItemAnswer(position, error=outbrain.item_error(row, _request_id(response))))
    return answers


def _request_id(response: Response) -> str | None:
    return response.headers.get(outbrain.REQUEST_ID_HEADER)


# -- formats ------------------------------------------------------------------------------------------------------

CONTENT = words("headline imageUrl imageHash")


def has_content(members: Mapping[str, Json]) -> bool:
    """Whether a brief brings headline or image; else both are taken from the page."""
    return any(f"creative.{name}" in members for name in CONTENT)


def _days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
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
    Input("platform.euPoliticalAdvertising", "refused", reason="it has no such declaration"),
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


# -- settings -----------------------------------------------------------------------------------------------------


def period_of(entity: Entity) -> Period | None:
    """The period of a campaign's budget; a monthly one is neither."""
    kinds: Mapping[str, Period] = {outbrain.DAILY: "daily", outbrain.WHOLE: "lifetime"}
    return kinds.get(text(entity, "/budget/type") or "")


def _shared(entity: Entity, now: datetime | None) -> str | None:
    return "its budget is used by other campaigns" if read(entity, "/budget/shared") is True else None


def _started(entity: Entity, now: datetime | None) -> str | None:
    # Dates in ISO form sort as text.
    start = text(entity, "/budget/startDate")
    if now is not None and start is not None and start <= now.date().isoformat():
        return "the start date has passed"
    return _shared(entity, now)


def _reviewed(entity: Entity, now: datetime | None) -> str | None:
    editable = read(entity, "/approvalStatus/isEditable")
    return None if editable is True else "it has been reviewed, and only a pending link can be edited; make a new one"


def _write_objective(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    kind = read(entity, "/campaignOptimization/optimizationType")
    fitting = outbrain.OPTIMIZATIONS[value]
    return {
        "/objective": value,
        "/campaignOptimization": {"optimizationType": kind if kind in fitting else fitting[0]},
    }


def _write_type(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    # Amplify reference: a DAILY budget supports only SPEND_ASAP.
    pacing = {"/budget/pacing": outbrain.SPEND_ASAP} if value == outbrain.DAILY else {}
    return {"/budget/type": value, **pacing}


def _write_start(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/budget/startDate": whole_day(value, account, "fields.startAt").isoformat()}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    last = None if value is None else whole_day(value, account, "fields.endAt", ends=True).isoformat()
    return {"/budget/endDate": last, "/budget/runForever": last is None}


def _write_suffix(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/suffixTrackingCode": outbrain.EMPTY_SUFFIX if value is None else value}


def _write_prefix(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    before = read(entity, "/prefixTrackingCode")
    kept = dict(before) if isinstance(before, Mapping) else {}
    return {"/prefixTrackingCode": {**kept, "prefix": outbrain.EMPTY_PREFIX if value is None else value}}


def _ids(member: str) -> Callable[[Entity, Account], Json]:
    return lambda entity, account: ids_of(read(entity, f"/targeting/{member}"))


def _write_language(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if "," in value:
        raise refused("fields.languages", "choice", "Outbrain targets exactly one language.")
    return {f"/targeting/{LANGUAGE}": value}


def _write_interests(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/targeting/interests": interests_of(value)}


_campaign = partial(Setting, "campaign")
_budget = partial(Setting, "campaign", lock=_shared)
_content = partial(Setting, "ad", lock=_reviewed)
_NOT_OFFERED = "Outbrain does not target by it"

SETTINGS = (
    _campaign("name", "/name", longest=outbrain.NAME_LENGTH),
    _campaign(
        *("objective", "/objective", "choice"),
        choices=tuple(outbrain.OPTIMIZATIONS),
        write=_write_objective,
        note="objective: its type of optimization follows, where the one in use does not fit.",
    ),
    _campaign("bid", "/cpc", "money", note="bid: the maximum cost per click, under every objective."),
    _budget(*("budgetType", "/budget/type", "choice"), choices=outbrain.BUDGET_TYPES, write=_write_type),
    _budget("budget", "/budget/amount", "money", period_of),
    _budget("pacing", "/budget/pacing", "choice", choices=outbrain.PACING),
    _budget("dailyTarget", "/budget/dailyTarget", "money"),
    _campaign(
        *("startAt", "/budget/startDate", "day"),
        lock=_started,
        write=_write_start,
        note="startAt, endAt: a date, or an instant, which means its whole day in US Eastern time.",
    ),
    _budget("endAt", "/budget/endDate", "day", clears=True, write=_write_end),
    _campaign("locations", "/targeting/locations", "list", read=_ids("locations")),
    _campaign("excludedLocations", "/targeting/excludedLocations", "list", read=_ids("excludedLocations")),
    _campaign("languages", f"/targeting/{LANGUAGE}", write=_write_language, note="languages: exactly one."),
    _campaign("interests", "/targeting/interests", "list", write=_write_interests),
    _campaign("platforms", "/targeting/platform", "list", choices=PLATFORMS),
    _campaign("browsers", "/targeting/browsers", "list", choices=BROWSERS),
    _campaign("operatingSystems", "/targeting/operatingSystems", "list", choices=SYSTEMS),
    _campaign("ages", "/targeting/ages", lock=_NOT_OFFERED),
    _campaign("genders", "/targeting/genders", lock=_NOT_OFFERED),
    _campaign("trackingSuffix", "/suffixTrackingCode", clears=True, write=_write_suffix),
    _campaign("trackingPrefix", "/prefixTrackingCode/prefix", clears=True, write=_write_prefix),
    Setting(
        *("ad", "status", "/enabled", "choice"),
        choices=("active", "paused"),
        read=lambda entity, account: AD.states.get(native_status(entity) or ""),
        write=lambda value, entity, account: {"/enabled": value == "active"},
    ),
    _content("headline", "/text"),
    _content("brandName", "/sectionName"),
    _content("description", "/description"),
    _content("image", "/imageMetadata/url", write=lambda value, entity, account: {"/imageMetadata": {"url": value}}),
    _content("logo", "/logoMetadata/url", write=lambda value, entity, account: {"/logoMetadata": {"url": value}}),
    Setting("ad", "url", "/url", lock="a link keeps its address; make a new one"),
    Setting("ad", "bid", "/cpc", lock="the bid is the campaign's; links have cpcAdjustment, to be changed natively"),
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
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    money="Native amounts are decimal numbers in major units, with at most 2 digits after the point.",
    templates=TEMPLATES,
    wait=outbrain.wait,
    items=items,
    notes=(
        "There is no ad group: promoted links hang on campaigns.",
        "All days are days of US Eastern time.",
        "Lists are filtered by status and name on our side.",
    ),
)
