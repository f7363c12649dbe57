"""Reading from LinkedIn: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import fetch_response, fetch_rows
from adsunify.adapter.hierarchy import (
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    drop_orphans,
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.reports import parse_report_rows
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, require_object

from . import native as linkedin
from .settings import ACCOUNT_TYPE_MEMBER
from .tables import CAMPAIGN, CAMPAIGN_GROUP, CREATIVE, METRICS, NETWORK, is_enterprise

TIMEZONE = "UTC"  # the time zone of budget days, schedules and reports of every account
ACCOUNTS_PAGE_SIZE = 500
PAGE_SIZE, CREATIVES_PAGE_SIZE = 1_000, 100
MAX_CAMPAIGNS_PER_REQUEST = 20  # campaigns in the filter of creatives; more would make the URL too long


# -- accounts -----------------------------------------------------------------------------------------------------


def _build_next_request(request: Request, response: Response) -> Request | None:
    token = linkedin.parse_next_cursor(response)
    if token is None:
        return None
    parameters = [
        parameter for parameter in (request.query_raw or "").split("&") if not parameter.startswith("pageToken=")
    ]
    return evolve(request, query_raw="&".join([*parameters, f"pageToken={linkedin.encode_restli(token)}"]))


_fetch_rows = partial(fetch_rows, NETWORK, following=_build_next_request, parse=linkedin.parse_rows)


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts in which the member has a role."""
    rows = yield from _fetch_rows(
        linkedin.build_restli_request("adAccounts", {}, {"q": "search", "pageSize": ACCOUNTS_PAGE_SIZE})
    )
    return [parse_account(NETWORK, row, TIMEZONE, get_text(row, "/status")) for row in rows]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_entity(level: Level, row: Mapping[str, Json]) -> ParsedEntity:
    """Convert a row to an entity. Groups and campaigns have numbers as IDs, creatives their URN."""
    entity = hierarchy.parse_entity(
        level, row, linkedin.parse_urn_id(get_text(row, level.parent)) if level.parent else None
    )
    return evolve(entity, id=linkedin.get_path_id(level, entity.id))


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all entities that are active, paused or drafts."""
    nodes: list[ParsedEntity] = []
    for level in (CAMPAIGN_GROUP, CAMPAIGN):
        rows = yield from _fetch_rows(linkedin.build_list_request(account, level, limit=PAGE_SIZE))
        nodes.extend(_parse_entity(level, row) for row in rows)
    campaigns = [linkedin.build_urn(linkedin.CAMPAIGN_URN, node.id) for node in nodes if node.kind == CAMPAIGN.kind]
    for first in range(0, len(campaigns), MAX_CAMPAIGNS_PER_REQUEST):
        parents = campaigns[first : first + MAX_CAMPAIGNS_PER_REQUEST]
        rows = yield from _fetch_rows(
            linkedin.build_list_request(account, CREATIVE, parents=parents, limit=CREATIVES_PAGE_SIZE)
        )
        nodes.extend(_parse_entity(CREATIVE, row) for row in rows)
    return EntityTree(drop_orphans(nodes))


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. LinkedIn finds only exact names, so this function applies ``search`` to the page."""
    level = check_query(NETWORK, kind, query)
    parents: Sequence[str] = ()
    if query.parent_id is not None:
        parents = (linkedin.build_urn(linkedin.URN_PREFIXES[level.parent_kind], query.parent_id),)
    statuses = linkedin.LIVE_STATUSES if query.status is None else (query.status,)
    request = linkedin.build_list_request(
        account, level, parents=parents, statuses=statuses, limit=query.limit, cursor=query.cursor
    )
    response = yield from fetch_response(NETWORK, request)
    search_text = (query.search or "").casefold()
    entities = (_parse_entity(level, row) for row in linkedin.parse_rows(response))
    return EntityPage(
        tuple(node for node in entities if search_text in (node.name or "").casefold()),
        linkedin.parse_next_cursor(response),
    )


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity with any status."""
    level = get_level(NETWORK, kind)
    response = yield from fetch_response(NETWORK, linkedin.build_entity_request(account, level, entity_id))
    entity = _parse_entity(level, require_object(response.body, "", level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, linkedin.get_path_id(level, entity_id))


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity. A group also gets the type of its account, on which its locks depend."""
    entity = yield from fetch_entity(account, kind, entity_id)
    if kind == CAMPAIGN_GROUP.kind and is_enterprise(account):
        return evolve(entity, native={**entity.native, ACCOUNT_TYPE_MEMBER: linkedin.ENTERPRISE})
    return entity


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_FIELDS = (
    *("dateRange", "pivotValues", "impressions", "clicks", "costInLocalCurrency", "externalWebsiteConversions"),
    *("conversionValueInLocalCurrency", "videoViews"),
)
REACH_FIELD = "approximateMemberReach"
REACH_DAYS = 92
# unverified: a conversion counts on the day of the ad's click or view. Its window has at most 90 days.
RESTATED_DAYS = 90
MAX_ELEMENTS = 15_000  # the most rows of a response; LinkedIn silently leaves out further rows
NO_ROWS_NOTE = "LinkedIn answers no rows also where the member may not read reports."


def get_restated_from(now: datetime) -> date:
    """Return the first day whose figures may still change."""
    return now.astimezone(UTC).date() - timedelta(days=RESTATED_DAYS)


def parse_day(value: Json) -> date:
    """Parse a day of the form ``{year, month, day}``. Raises ProviderUnreadable."""
    try:
        parts = [value.get(part) for part in ("year", "month", "day")]
        if not all(map(linkedin.is_integer, parts)):
            raise ValueError
        return date(*parts)
    except (AttributeError, ValueError, OverflowError):
        raise ProviderUnreadable("A row of the report has no day.") from None


def build_analytics_request(
    account: Account, start: date, end: date, pivot: str, filters: Mapping[str, Json] | None = None
) -> Request:
    """Build the request of the daily figures of a pivot. ``filters``: lists of URNs in addition to the account's."""
    days = {
        name: {"year": day.year, "month": day.month, "day": day.day} for name, day in (("start", start), ("end", end))
    }
    # Ads Reporting: LinkedIn refuses reach for longer ranges.
    fields = (*REPORT_FIELDS, REACH_FIELD) if (end - start).days < REACH_DAYS else REPORT_FIELDS
    request = linkedin.build_restli_request(
        "adAnalytics",
        {},
        {
            "q": "analytics",
            "pivot": pivot,
            "timeGranularity": "DAILY",
            "dateRange": days,
            "accounts": [linkedin.build_account_urn(account)],
            **(filters or {}),
        },
    )
    return evolve(request, query_raw=f"{request.query_raw}&fields={','.join(fields)}")


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/dateRange/start", parse_day)


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read daily figures; days are in UTC, and there are no report jobs. Only days with activity have rows."""
    response = yield from fetch_response(NETWORK, build_analytics_request(account, start, end, "ACCOUNT"))
    native = linkedin.parse_rows(response)
    days = list(parse_daily_metrics(account, native, start, end))
    notes: list[str] = []
    if (end - start).days >= REACH_DAYS:
        notes.append(f"LinkedIn tells the reach of at most {REACH_DAYS} days at once.")
    if not native:
        notes.append(NO_ROWS_NOTE)
    cut = len(native) >= MAX_ELEMENTS
    if cut:
        notes.append(f"LinkedIn cuts an answer off at {MAX_ELEMENTS} rows; ask for fewer days.")
    coverage = Coverage(start, end, TIMEZONE, not cut, notes=notes)
    coverage = coverage.mark_provisional(get_restated_from(now))
    return Insights.from_days(days, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. A typeahead catalog searches with the caller's search text."""
    name, _, facet = resource.partition(":")
    if name == "typeahead" and ":" not in facet:
        if not facet:
            raise invalid_input("resource", "catalog_suffix", "This catalog is asked for as typeahead:<facet>.")
        if not query.search:
            raise invalid_input("search", "required", "LinkedIn's typeahead needs the text to search for.")
        resource, query = f"{resource}:{query.search}", evolve(query, search=None)
    return (yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query))
