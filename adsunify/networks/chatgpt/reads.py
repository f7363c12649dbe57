"""Reading from OpenAI: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from urllib.parse import quote

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.catalogs import CatalogPage, CatalogRow
from adsunify.adapter.flows import MAX_PAGES, completed_flow, fetch_response, fetch_rows
from adsunify.adapter.hierarchy import (
    MAX_FILTER_PAGES,
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights, MetricValue, sum_by_day
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.oauth import Credentials, OAuthClient, can_sign
from adsunify.adapter.reports import parse_date, parse_report_rows
from adsunify.errors import PermissionRefused, ProviderNotFound, ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import get_midnight, get_timezone, split_date_range
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import get_objects, get_text, require_id, require_object

from . import native as openai
from .tables import AD, AD_GROUP, CAMPAIGN, CONVERSION_METRICS, LEVELS, METRICS, NETWORK, STATIC_CATALOG

# -- connecting ---------------------------------------------------------------------------------------------------


def fetch_credentials(
    app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
) -> Flow[Credentials]:
    """Check an API key by one read. A key is valid until it is revoked."""
    key = answer.get("apiKey", "")
    if not key:
        raise invalid_input("apiKey", "required", "ChatGPT Ads is connected with an API key of Ads Manager.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise invalid_input("apiKey", "malformed", "An API key holds no blanks, and nothing but plain characters.")
    for name in answer:
        if name != "apiKey":
            raise invalid_input(name, "not_supported", "ChatGPT Ads takes the API key only.")
    credentials = Credentials(key)
    yield from fetch_response(
        NETWORK, oauth.add_bearer_token(evolve(openai.build_get_request("ad_account"), is_signed=False), credentials)
    )
    return credentials


def refresh_credentials(app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Return the same credentials: an API key cannot be renewed."""
    return (yield from completed_flow(credentials))


def revoke_credentials(app: OAuthClient, credentials: Credentials) -> Flow[None]:
    """Do nothing: OpenAI has no request that revokes a key. A person revokes the key in Ads Manager."""
    return (yield from completed_flow(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def _get_account_status(native: Mapping[str, Json]) -> str | None:
    """Return the account's status or, if it is active, the status of a review that prevents serving."""
    status = get_text(native, "/status")
    if status not in (None, openai.ACTIVE):
        return status
    for at in ("/review/status", "/account_integrity_review/review/status"):  # a response may lack either review
        review = get_text(native, at)
        if review not in (None, openai.APPROVED):
            return review
    return status


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the one account to which the key belongs."""
    native = (yield from fetch_response(NETWORK, openai.build_get_request("ad_account"))).body
    native_id = require_id(native, "/id", "account")
    name = get_text(native, "/account_name") or get_text(native, "/name") or native_id
    currency, timezone = get_text(native, "/currency_code"), get_text(native, "/timezone")
    return [DiscoveredAccount(native_id, name, currency, timezone, _get_account_status(native))]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _fetch_children(level: Level, parent_id: str | None) -> Flow[list[ParsedEntity]]:
    """Read all entities of a level below one parent."""
    request = openai.build_children_request(level, parent_id, openai.MAX_PAGE_SIZE)
    rows = yield from fetch_rows(NETWORK, request, openai.build_next_request, openai.parse_rows)
    return [hierarchy.parse_entity(level, native, parent_id) for native in rows]


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read campaigns, then the ad groups of each, then the ads of each: entities do not name their parent."""
    nodes = above = yield from _fetch_children(CAMPAIGN, None)
    requests = 1
    for level in (AD_GROUP, AD):
        below: list[ParsedEntity] = []
        for parent in above:
            if requests >= MAX_PAGES:
                return EntityTree((*nodes, *below), is_truncated=True)
            below += yield from _fetch_children(level, parent.id)
            requests += 1
        nodes, above = [*nodes, *below], below
    return EntityTree(tuple(nodes))


def _fetch_parent_ids(level: Level) -> Flow[list[str]]:
    """Read the IDs of all entities of the level above, in the order of their lists."""
    above = get_level(NETWORK, level.parent_kind)
    owners: Sequence[str | None] = (yield from _fetch_parent_ids(above)) if above.parent else (None,)
    ids: list[str] = []
    for owner in owners:
        ids += [parent.id for parent in (yield from _fetch_children(above, owner))]
    return ids


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level; without a parent id, page through all parents.

    OpenAI has no filter for status or name, so this function applies both.
    """
    level = check_query(NETWORK, kind, query)
    walks = bool(level.parent) and query.parent_id is None
    parents: Sequence[str | None] = (query.parent_id,)
    after = query.cursor
    if walks:
        parents = yield from _fetch_parent_ids(level)
        if query.cursor is not None:
            parent, _, last = query.cursor.partition(".")
            if parent not in parents:
                raise invalid_input("cursor", "malformed", "This is no cursor of this list, or its place is gone.")
            parents, after = parents[parents.index(parent) :], last or None
    filtered = query.search is not None or query.status is not None
    entities: list[ParsedEntity] = []
    requests = 0
    for position, owner in enumerate(parents):
        place = f"{owner}." if walks else ""
        has_more = True
        while has_more:
            room = query.limit - len(entities)
            if not room or requests >= MAX_FILTER_PAGES:
                return EntityPage(tuple(entities), place + (after or "") if walks or after else None)
            request = openai.build_children_request(level, owner, openai.MAX_PAGE_SIZE if filtered else room, after)
            response = yield from fetch_response(NETWORK, request)
            requests += 1
            page = [hierarchy.parse_entity(level, native, owner) for native in openai.parse_rows(response)]
            matches = [row for row in page if query.has_match(row)]
            entities += matches[:room]
            if len(matches) > room:  # the next call starts after the last returned entity
                return EntityPage(tuple(entities), place + entities[-1].id)
            following = openai.parse_next_cursor(response)
            if following is not None and following == after:
                raise ProviderUnreadable("The list of OpenAI does not end: its cursor repeats.")
            has_more = following is not None
            last = following or (page[-1].id if page else "")
            after = following
        if len(entities) == query.limit and position + 1 < len(parents):
            return EntityPage(tuple(entities), place + last)
        after = None
    return EntityPage(tuple(entities))


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity, archived or not. The response does not name the parent, which only a list shows."""
    level = get_level(NETWORK, kind)
    response = yield from fetch_response(NETWORK, openai.build_level_entity_request(level, entity_id))
    entity = hierarchy.parse_entity(level, require_object(response.body, "", level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


fetch_editable_entity = fetch_entity


# -- insights -----------------------------------------------------------------------------------------------------

CONVERSION_DAYS = 365
RESTATED_DAYS = 30  # a conversion counts on the day of the click or view, up to 30 days before the conversion
_ONE_DAY = timedelta(days=1)
CONVERSION_NOTE = (
    "Conversions count within 30 days of a click and 1 day of a view, on the day of the ad's event "
    "(attribution_time_basis ad_event_time), after a daily processing."
)
NO_CONVERSIONS_NOTE = "OpenAI reports no conversions of this account."
TODAY_NOTE = "OpenAI reports the conversions of a day after the day has ended."


def list_entity_fields(native_level: str) -> tuple[str, ...]:
    """Return the fields of a row that name its entity: the ids of the levels above, the entity's id and its name."""
    natives = [level.native for level in LEVELS]
    above = natives[: natives.index(native_level)]
    return *(f"{native}.id" for native in above), f"{native_level}.id", f"{native_level}.name"


def build_delivery_request(
    native_level: str, first: date, last: date, timezone: str, entity_ids: Sequence[str] = ()
) -> Request:
    """Build the request for one row per entity and day with impressions. Without ids it covers all of the level."""
    days = {"type": "date_range", "since": first.isoformat(), "until": last.isoformat(), "timezone": timezone}
    fields = [*("metadata.readable_time", "metadata.timezone"), *list_entity_fields(native_level)]
    fields += [f"{native_level}.{name}" for name in ("impressions", "clicks", "spend")]
    condition = {"field": f"{native_level}.id", "operator": "IN", "value": list(entity_ids)}
    query = [
        ("time_granularity", "daily"),
        ("aggregation_level", native_level),
        ("limit", str(openai.REPORT_PAGE_SIZE)),
        ("time_ranges[]", dumps(days)),
        *([("filters[]", dumps(condition))] if entity_ids else []),
        *(("fields[]", name) for name in fields),
    ]
    return openai.with_repeated_query(openai.build_get_request("ad_account/insights"), query)


def turn_report_page(request: Request, cursor: str) -> Request:
    """Return the request of the page after ``cursor``. ``request`` is the request of the first page."""
    return evolve(request, query_raw=f"{request.query_raw}&after={quote(cursor, safe='')}")


def index_delivery_rows(
    rows: Iterable[Mapping[str, Json]], id_pointer: str
) -> dict[tuple[str, str], Mapping[str, Json]]:
    """Return the rows by entity id and day. A row's own id is not used: it depends on the requested fields."""
    return {
        (require_id(row, id_pointer, "report's row"), parse_date(row.get("readable_time")).isoformat()): row
        for row in rows
    }


def _fetch_delivery_rows(first: date, last: date, timezone: str) -> Flow[list[Mapping[str, Json]]]:
    """Read one row per campaign and day with impressions."""
    start = build_delivery_request(CAMPAIGN.native, first, last, timezone)

    def following(request: Request, response: Response) -> Request | None:
        cursor = openai.parse_next_cursor(response)
        return None if cursor is None else turn_report_page(start, cursor)

    rows = yield from fetch_rows(NETWORK, start, following, openai.parse_rows)
    return list(index_delivery_rows(rows, "/campaign_id").values())


def _format_midnight(day: date, timezone: str) -> str:
    """Return the first instant of a local day in Unix seconds."""
    return str(openai.TIME.format(get_midnight(day, timezone)))


def fetch_conversion_rows(
    native_level: str, first: date, last: date, timezone: str, entity_ids: Sequence[str] = ()
) -> Flow[list[Mapping[str, Json]]]:
    """Read one row per entity and whole day or, without ids, one row per day of the account. The POST only reads."""
    subject: dict[str, Json] = {"entity_ids": list(entity_ids)} if entity_ids else {"group_by_entity": False}
    rows: list[Mapping[str, Json]] = []
    for since, until in split_date_range(first, last, CONVERSION_DAYS):
        days = {
            "type": "unix_range",
            "start": _format_midnight(since, timezone),
            "end": _format_midnight(until + _ONE_DAY, timezone),
        }
        body = {
            "aggregation_level": native_level,
            "time_granularity": "daily",
            **subject,
            "time_ranges": [dumps(days)],
        }
        url = f"{openai.API_URL}/conversions/insights"
        request = Request("POST", url, headers=openai.HEADERS, body=body, encoding="json")
        rows += openai.parse_rows((yield from fetch_response(NETWORK, request)))
    return rows


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of the delivery report, and its figures."""
    return parse_report_rows(METRICS, native, "/readable_time")


def drop_foreign_sales(account: Account, native: Iterable[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    """Yield the rows of conversions. Sales in another currency than the account's are replaced by None."""
    for row in native:
        currency = get_text(row, "/order_created_attributed_sales_currency")
        is_own = currency is not None and currency == account.currency
        yield row if is_own else {**row, "order_created_attributed_sales": None}


def _join_days(
    delivered: DatedValues, converted: Mapping[date, Mapping[str, MetricValue]]
) -> Iterator[tuple[date, dict[str, MetricValue]]]:
    """Yield each day with activity, with its delivery figures and its conversions."""
    summed = {row.date: row for row in sum_by_day(delivered)}
    for day in sorted({*summed, *(when for when, figures in converted.items() if any(figures.values()))}):
        known: dict[str, MetricValue] = dict(converted.get(day, {}))
        if day in summed:
            row = summed[day]
            spend = None if row.spend is None else Decimal(row.spend)
            known |= {"impressions": row.impressions, "clicks": row.clicks, "spend": spend}
        yield day, known


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures from two reports: delivery and conversions. There are no report jobs."""
    timezone = require_timezone(account)
    today = now.astimezone(get_timezone(timezone)).date()
    first, last = start, min(end, today)  # OpenAI refuses days in the future
    notes = [CONVERSION_NOTE]
    delivered: list[Mapping[str, Json]] = []
    converted: list[Mapping[str, Json]] = []
    if first <= last:
        delivered = yield from _fetch_delivery_rows(first, last, timezone)
    whole = min(last, today - _ONE_DAY)
    if first <= whole:
        try:
            converted = yield from fetch_conversion_rows(CAMPAIGN.native, first, whole, timezone)
        except (PermissionRefused, ProviderNotFound):
            notes.append(NO_CONVERSIONS_NOTE)
    if last == today:
        notes.append(TODAY_NOTE)
    coverage = Coverage(start, end, timezone, notes=notes).mark_provisional(today - timedelta(days=RESTATED_DAYS))
    days = _join_days(
        parse_daily_metrics(account, delivered, start, end),
        dict(parse_report_rows(CONVERSION_METRICS, drop_foreign_sales(account, converted), "/date")),
    )
    return Insights.from_days(days, coverage, NETWORK.missing_day, [*delivered, *converted])


# -- catalogs -----------------------------------------------------------------------------------------------------


def _fetch_event_sources(account: Account, search: str) -> Flow[CatalogPage]:
    """Read the distinct sources that events are linked to."""
    request = openai.build_event_settings_request(openai.MAX_PAGE_SIZE)
    sources: dict[str, CatalogRow] = {}
    for setting in (yield from fetch_rows(NETWORK, request, openai.build_next_request, openai.parse_rows)):
        for source in get_objects(setting, "/sources", "event setting"):
            source_id = require_id(source, "/id", "source")
            sources[source_id] = CatalogRow(source_id, get_text(source, "/name") or source_id, source)
    return CatalogPage(tuple(row for row in sources.values() if search.casefold() in row.name.casefold()))


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. If OpenAI has no list of pixels, the pixels are the sources of the events."""
    search = query.search or ""
    if resource == STATIC_CATALOG:
        rows = [CatalogRow(name, name, {"id": name}) for name in openai.PLATFORMS if search.casefold() in name]
        return CatalogPage(tuple(rows))
    try:
        return (yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query))
    except ProviderNotFound:
        if resource != "pixels":
            raise
    return (yield from _fetch_event_sources(account, search))


def sign_request(request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str) -> Request:
    """Add the API key. It belongs to one account, so no header names the account."""
    return oauth.add_bearer_token(request, credentials) if can_sign(NETWORK, request) else request
