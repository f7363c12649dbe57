"""Reading from OpenAI: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from urllib.parse import quote

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage, CatalogRow
from adsunify.adapter.flows import MAX_PAGES, ask, pages, settled
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query
from adsunify.adapter.insights import Coverage, Days, Figure, Insights, daily
from adsunify.adapter.network import Account, Level, level, timezone_of
from adsunify.adapter.oauth import App, Credentials, trusted
from adsunify.adapter.reports import day, days
from adsunify.errors import PermissionRefused, ProviderNotFound, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import windows, zone
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import ident, need, rows, text

from . import native as openai
from .tables import AD, AD_GROUP, CAMPAIGN, CONVERSION_METRICS, METRICS, NETWORK, STATIC

# -- connecting ---------------------------------------------------------------------------------------------------


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """An API key, proven by one read; it lasts until it is revoked."""
    key = answer.get("apiKey", "")
    if not key:
        raise refused("apiKey", "required", "ChatGPT Ads is connected with an API key of Ads Manager.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise refused("apiKey", "malformed", "An API key holds no blanks, and nothing but plain characters.")
    for name in answer:
        if name != "apiKey":
            raise refused(name, "not_supported", "ChatGPT Ads takes the API key only.")
    credentials = Credentials(key)
    yield from ask(NETWORK, oauth.bearer(evolve(openai.get("ad_account"), signed=False), credentials))
    return credentials


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """The same again: nothing renews an API key."""
    return (yield from settled(credentials))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Nothing to call: the user revokes the key in Ads Manager."""
    return (yield from settled(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def _standing(native: Mapping[str, Json]) -> str | None:
    """The account's status, or the review that keeps it from serving."""
    status = text(native, "/status")
    if status not in (None, openai.ACTIVE):
        return status
    for at in ("/review/status", "/account_integrity_review/review/status"):  # either may be left out
        review = text(native, at)
        if review not in (None, openai.APPROVED):
            return review
    return status


def accounts() -> Flow[list[FoundAccount]]:
    """The one account that the key belongs to."""
    native = (yield from ask(NETWORK, openai.get("ad_account"))).body
    native_id = ident(native, "/id", "account")
    name = text(native, "/account_name") or text(native, "/name") or native_id
    currency, timezone = text(native, "/currency_code"), text(native, "/timezone")
    return [FoundAccount(native_id, name, currency, timezone, _standing(native))]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _all(one: Level, parent_id: str | None) -> Flow[list[Entity]]:
    """A level below one parent, to its last page."""
    answers = yield from pages(NETWORK, openai.listed(one, parent_id, openai.LARGEST_PAGE), openai.following)
    return [hierarchy.entity(one, native, parent_id) for answer in answers for native in openai.data(answer)]


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, then the ad groups of each, then the ads of each: what is listed does not name its parent."""
    nodes = above = yield from _all(CAMPAIGN, None)
    asked = 1
    for one in (AD_GROUP, AD):
        below: list[Entity] = []
        for parent in above:
            if asked >= MAX_PAGES:
                return Tree((*nodes, *below), truncated=True)
            below += yield from _all(one, parent.id)
            asked += 1
        nodes, above = [*nodes, *below], below
    return Tree(tuple(nodes))


def _parents(one: Level) -> Flow[list[str]]:
    """The ids of all that a level's entities may belong to, in list order."""
    above = level(NETWORK, one.parent_kind)
    owners: Sequence[str | None] = (yield from _parents(above)) if above.parent else (None,)
    found: list[str] = []
    for owner in owners:
        found += [parent.id for parent in (yield from _all(above, owner))]
    return found


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level; without a parent it walks the parents. OpenAI filters by nothing that we take, so status
    and search are looked for here."""
    one = check_query(NETWORK, kind, query)
    walks = bool(one.parent) and query.parent_id is None
    parents: Sequence[str | None] = (query.parent_id,)
    after = query.cursor
    if walks:
        parents = yield from _parents(one)
        if query.cursor is not None:
            parent, _, last = query.cursor.partition(".")
            if parent not in parents:
                raise refused("cursor", "malformed", "This is no cursor of this list, or its place is gone.")
            parents, after = parents[parents.index(parent) :], last or None
    filtered = query.search is not None or query.status is not None
    found: list[Entity] = []
    asked = 0
    for position, owner in enumerate(parents):
        place = f"{owner}." if walks else ""
        more = True
        while more:
            room = query.limit - len(found)
            if not room or asked >= FILTER_PAGES:
                return Page(tuple(found), place + (after or "") if walks or after else None)
            request = openai.listed(one, owner, openai.LARGEST_PAGE if filtered else room, after)
            response = yield from ask(NETWORK, request)
            asked += 1
            listed = [hierarchy.entity(one, native, owner) for native in openai.data(response)]
            fitting = [row for row in listed if _wanted(row, query)]
            found += fitting[:room]
            if len(fitting) > room:  # the rest of the page is read again
                return Page(tuple(found), place + found[-1].id)
            following = openai.next_cursor(response)
            if following is not None and following == after:
                raise ProviderUnreadable("The list of OpenAI does not end: its cursor repeats.")
            more = following is not None
            last = following or (listed[-1].id if listed else "")
            after = following
        if len(found) == query.limit and position + 1 < len(parents):
            return Page(tuple(found), place + last)
        after = None
    return Page(tuple(found))


def _wanted(row: Entity, query: Query) -> bool:
    named = query.search is None or query.search.casefold() in (row.name or "").casefold()
    return named and (query.status is None or row.native_status == query.status)


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity, archived ones too; its parent is told by lists only."""
    one = level(NETWORK, kind)
    response = yield from ask(NETWORK, openai.single(one, entity_id))
    native = need(response.body, "", one.native)
    if not isinstance(native, Mapping):
        raise ProviderUnreadable(f"The {one.native} is no object.")
    found = hierarchy.entity(one, native)
    if found.id != entity_id:
        raise ProviderUnreadable(f"OpenAI answered another {one.native} than the one that was asked for.")
    return found


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """As :func:`entity`: the native entity is all that an edit needs."""
    return (yield from entity(account, kind, entity_id))


# -- insights -----------------------------------------------------------------------------------------------------

FIELDS = (
    *("metadata.readable_time", "metadata.timezone", "campaign.id", "campaign.name"),
    *("campaign.impressions", "campaign.clicks", "campaign.spend"),
)
CONVERSION_DAYS = 365
_DAY = timedelta(days=1)
WINDOWS = (
    "Conversions count within 30 days of a click and 1 day of a view, on the day of the ad's event "
    "(attribution_time_basis ad_event_time), after a daily processing."
)


def _delivery(first: date, last: date, timezone: str) -> Request:
    days = {"type": "date_range", "since": first.isoformat(), "until": last.isoformat(), "timezone": timezone}
    query = [
        ("time_granularity", "daily"),
        ("aggregation_level", CAMPAIGN.native),
        ("limit", str(openai.REPORT_PAGE)),
        ("time_ranges[]", dumps(days)),
        *(("fields[]", name) for name in FIELDS),
    ]
    return openai.arrays(openai.get("ad_account/insights"), query)


def _delivered(first: date, last: date, timezone: str) -> Flow[list[Mapping[str, Json]]]:
    """A row for each campaign and day with impressions, each once."""
    start = _delivery(first, last, timezone)

    def following(request: Request, response: Response) -> Request | None:
        cursor = openai.next_cursor(response)
        page = "" if cursor is None else f"&after={quote(cursor, safe='')}"
        return evolve(request, query_raw=f"{start.query_raw}{page}") if page else None

    answers = yield from pages(NETWORK, start, following)
    found: dict[tuple[str, str], Mapping[str, Json]] = {}
    for row in (row for answer in answers for row in openai.data(answer)):
        # the row's own id differs between lists of fields
        found[ident(row, "/campaign_id", "report's row"), day(row.get("readable_time")).isoformat()] = row
    return list(found.values())


def _midnight(day_: date, timezone: str) -> str:
    """The beginning of a local day in Unix seconds."""
    return str(openai.whole_seconds(datetime.combine(day_, time(), zone(timezone))))


def _converted(first: date, last: date, timezone: str) -> Flow[list[Mapping[str, Json]]]:
    """A row for each whole day of the account. It is a read in spite of its POST."""
    found: list[Mapping[str, Json]] = []
    for since, until in windows(first, last, CONVERSION_DAYS):
        days = {"type": "unix_range", "start": _midnight(since, timezone), "end": _midnight(until + _DAY, timezone)}
        body = {
            "aggregation_level": CAMPAIGN.native,
            "time_granularity": "daily",
            "group_by_entity": False,
            "time_ranges": [dumps(days)],
        }
        url = f"{openai.API}/conversions/insights"
        request = Request("POST", url, headers=openai.HEADERS, body=body, encoding="json")
        found += openai.data((yield from ask(NETWORK, request)))
    return found


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of the delivery report and its figures."""
    return days(METRICS, native, "/readable_time")


def _conversions(account: Account, native: Sequence[Mapping[str, Json]]) -> Days:
    for row, (when, found) in zip(native, days(CONVERSION_METRICS, native, "/date"), strict=True):
        currency = text(row, "/order_created_attributed_sales_currency")
        if currency is None or currency != account.currency:
            found = {**found, "conversionValue": None}
        yield when, found


def _joined(
    delivered: Days, converted: Mapping[date, Mapping[str, Figure]]
) -> Iterator[tuple[date, dict[str, Figure]]]:
    """Days with activity: what was delivered on them, and what it led to."""
    summed = {row.date: row for row in daily(delivered)}
    for one in sorted({*summed, *(when for when, found in converted.items() if any(found.values()))}):
        known: dict[str, Figure] = dict(converted.get(one, {}))
        if one in summed:
            row = summed[one]
            spend = None if row.spend is None else Decimal(row.spend)
            known |= {"impressions": row.impressions, "clicks": row.clicks, "spend": spend}
        yield one, known


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account, answered at once: delivery and conversions are two reports."""
    timezone = timezone_of(account)
    today = now.astimezone(zone(timezone)).date()
    first, last = start, min(end, today)  # neither may lie in the future
    notes = [WINDOWS]
    delivered: list[Mapping[str, Json]] = []
    converted: list[Mapping[str, Json]] = []
    if first <= last:
        delivered = yield from _delivered(first, last, timezone)
    whole = min(last, today - _DAY)
    if first <= whole:
        try:
            converted = yield from _converted(first, whole, timezone)
        except (PermissionRefused, ProviderNotFound):
            notes.append("OpenAI tells no conversions of this account.")
    if last == today:
        notes.append("The conversions of a day are told when it is over.")
    newest = today - _DAY
    provisional = max(start, newest) if end >= newest else None
    coverage = Coverage(start, end, timezone, provisional_from=provisional, notes=notes)
    found = _joined(
        reported(delivered),
        dict(_conversions(account, converted)),
    )
    return Insights.of(found, coverage, NETWORK.missing_day, [*delivered, *converted])


# -- catalogs -----------------------------------------------------------------------------------------------------


def _sources(account: Account, search: str) -> Flow[CatalogPage]:
    """The sources that events are linked to, each once."""
    request = openai.event_settings(openai.LARGEST_PAGE)
    found: dict[str, CatalogRow] = {}
    for answer in (yield from pages(NETWORK, request, openai.following)):
        for setting in openai.data(answer):
            for source in rows(setting, "/sources", "event setting"):
                source_id = ident(source, "/id", "source")
                found[source_id] = CatalogRow(source_id, text(source, "/name") or source_id, source)
    return CatalogPage(tuple(row for row in found.values() if search.casefold() in row.name.casefold()))


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog. The platforms are a list of ours; where sources are not listed, the events name them."""
    search = query.search or ""
    if resource == STATIC:
        listed = [CatalogRow(name, name, {"id": name}) for name in openai.PLATFORMS if search.casefold() in name]
        return CatalogPage(tuple(listed))
    try:
        return (yield from catalogs.catalog(NETWORK, account, resource, query))
    except ProviderNotFound:
        if resource != "pixels":
            raise
    return (yield from _sources(account, search))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The API key. It belongs to one account, so that no header names one."""
    return oauth.bearer(request, credentials) if trusted(NETWORK, request) else request
