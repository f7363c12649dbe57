"""Reading from Outbrain: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account
from adsunify.adapter.catalogs import CatalogPage, parse_catalog_rows
from adsunify.adapter.flows import completed_flow, fetch_if_possible, fetch_pages, fetch_response
from adsunify.adapter.hierarchy import (
    MAX_FILTER_PAGES,
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    drop_orphans,
    fetch_lineage,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.oauth import Credentials, OAuthClient, can_sign
from adsunify.adapter.reports import parse_date, parse_report_rows
from adsunify.errors import ProviderNotFound, ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, parse_id, require_id, require_object

from . import native as outbrain
from .tables import AD, CAMPAIGN, METRICS, NETWORK

# -- connecting ---------------------------------------------------------------------------------------------------

_match_header_text = re.compile(r"[!-~]{1,4096}").fullmatch
_match_printable = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,1000}").fullmatch
_DAY_MILLISECONDS = 24 * 60 * 60 * 1000


def _require_login_member(answer: Mapping[str, str], member: str) -> str:
    value = answer.get(member, "")
    if not _match_printable(value) or (member == "username" and ":" in value):
        raise invalid_input(
            member, "malformed", f"Outbrain: the {member} is missing, or holds characters that none has."
        )
    return value


def _build_login_request(answer: Mapping[str, str]) -> Request:
    """Build the request that signs in. It is never repeated: a user may sign in twice an hour (Amplify reference)."""
    pair = f"{_require_login_member(answer, 'username')}:{_require_login_member(answer, 'password')}"
    headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return Request("GET", f"{outbrain.API_URL}/login", headers=headers, kind="read_once", is_signed=False)


def fetch_credentials(
    app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
) -> Flow[Credentials]:
    """Check a given token by one read, or exchange name and password for a token of 30 days."""
    if "apiKey" not in answer:
        response = yield from fetch_response(NETWORK, _build_login_request(answer))
        token = get_value(response.body, f"/{outbrain.TOKEN_HEADER}")
        if not isinstance(token, str) or not _match_header_text(token):
            raise ProviderUnreadable("Outbrain: the answer to the sign-in holds no token.")
        return Credentials(token, expires_at=now + outbrain.TOKEN_LIFETIME_DAYS * _DAY_MILLISECONDS)
    token = answer["apiKey"]
    if not _match_header_text(token):
        raise invalid_input("apiKey", "malformed", "Outbrain: a token has letters, digits and signs, and no blanks.")
    yield from fetch_response(NETWORK, _build_token_check_request(token))
    return Credentials(token)


def _build_token_check_request(token: str) -> Request:
    """Build a cheap request that succeeds only with a valid token."""
    return evolve(outbrain.build_get_request("marketers"), headers={outbrain.TOKEN_HEADER: token}, is_signed=False)


def refresh_credentials(app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Return the same credentials, because no request renews a token.

    A 401 does not prove that the token is invalid: it is also the answer to a forbidden operation (Amplify reference).
    """
    return (yield from completed_flow(credentials))


def revoke_credentials(app: OAuthClient, credentials: Credentials) -> Flow[None]:
    """Do nothing: Outbrain has no request that revokes a token. It ends after 30 days or with a changed password."""
    return (yield from completed_flow(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the marketers. All budgets of a marketer have the same currency, which is the account's."""
    response = yield from fetch_response(NETWORK, outbrain.build_get_request("marketers"))
    accounts: list[DiscoveredAccount] = []
    for native in get_objects(response.body, "/marketers", "list of marketers"):
        native_id = require_id(native, "/id", "marketer")
        answer = yield from fetch_response(
            NETWORK, outbrain.build_get_request("marketers/{marketer}/budgets", marketer=native_id)
        )
        currencies = [get_text(item, "/currency") for item in get_objects(answer.body, "/budgets", "list of budgets")]
        currency = next((item for item in currencies if item), None)
        status = outbrain.parse_native_status(native)
        accounts.append(
            DiscoveredAccount(native_id, get_text(native, "/name") or native_id, currency, outbrain.TIMEZONE, status)
        )
    return accounts


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_owned_entities(level: Level, response: Response, owner: str) -> list[ParsedEntity]:
    parent = owner if level is AD else None
    return [
        hierarchy.parse_entity(level, native, parent) for native in get_objects(response.body, f"/{level.path}", "list")
    ]


def _is_last_page(level: Level, response: Response, offset: int, limit: int) -> bool:
    """Return whether this is the last page: the total is reached or, without a total, the page is not full."""
    count, total = (
        len(get_objects(response.body, f"/{level.path}", "list")),
        outbrain.parse_total(response.body, "/totalCount"),
    )
    return count == 0 or (count < limit if total is None else offset + count >= total)


def _fetch_level(level: Level, owner: str, limit: int) -> Flow[list[ParsedEntity]]:
    def following(request: Request, response: Response) -> Request | None:
        offset = int(request.query["offset"])
        if _is_last_page(level, response, offset, limit):
            return None
        offset += len(get_objects(response.body, f"/{level.path}"))
        return evolve(request, query={**request.query, "offset": str(offset)})

    answers = yield from fetch_pages(
        NETWORK, outbrain.build_owner_list_request(level, owner, limit, 0, _build_status_query(level, None)), following
    )
    return [row for answer in answers for row in _parse_owned_entities(level, answer, owner)]


def _build_status_query(level: Level, status: str | None) -> dict[str, str]:
    """Return the query that filters a list by status. Campaigns are filtered by archived, links by enabled."""
    if level is CAMPAIGN:
        return {"includeArchived": "true" if status == outbrain.ARCHIVED else "false"}
    is_by_status = status in (outbrain.ENABLED, outbrain.DISABLED)
    return {"enabled": "true" if status == outbrain.ENABLED else "false"} if is_by_status else {}


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read the campaigns that are not archived, and the links of each."""
    nodes = yield from _fetch_level(CAMPAIGN, account.native_id, outbrain.MAX_PAGE_SIZE)
    for campaign in tuple(nodes):
        nodes += yield from _fetch_level(AD, campaign.id, outbrain.LINKS_PAGE_SIZE)
    return EntityTree(drop_orphans(nodes))


_match_cursor = re.compile(r"(?:([^.]+)\.)?([0-9]{1,9})").fullmatch


def fetch_campaign_ids(account: Account, *, archived: bool) -> Flow[list[str]]:
    """Return the ids of the marketer's campaigns. ``archived``: include archived campaigns."""
    response = yield from fetch_response(NETWORK, outbrain.build_campaign_names_request(account, archived=archived))
    return [require_id(row, "/id", "campaign") for row in get_objects(response.body, "/campaigns", "list of campaigns")]


def _fetch_owner_ids(account: Account, level: Level, query: ListQuery) -> Flow[list[str]]:
    """Return the owners whose lists are read: the marketer, the parent, or every campaign."""
    if level is CAMPAIGN:
        return [account.native_id]
    if query.parent_id is not None:
        return [query.parent_id]
    return (yield from fetch_campaign_ids(account, archived=query.status == outbrain.ARCHIVED))


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. Without a parent ID, links are read campaign by campaign."""
    level = check_query(NETWORK, kind, query)
    place = _match_cursor(query.cursor or "0")
    if place is None or (level is CAMPAIGN and place[1]):
        raise invalid_input("cursor", "malformed", "This is no cursor of this list.")
    offset = int(place[2])
    owners = yield from _fetch_owner_ids(account, level, query)
    if place[1]:
        owners = owners[owners.index(place[1]) :] if place[1] in owners else []
    size = min(query.limit, outbrain.MAX_PAGE_SIZE if level is CAMPAIGN else outbrain.LINKS_PAGE_SIZE)
    entities: list[ParsedEntity] = []
    for _ in range(MAX_FILTER_PAGES):
        if not owners or len(entities) == query.limit:
            break
        request = outbrain.build_owner_list_request(
            level, owners[0], size, offset, _build_status_query(level, query.status)
        )
        response = yield from fetch_response(NETWORK, request)
        page = _parse_owned_entities(level, response, owners[0])
        ended = _is_last_page(level, response, offset, size)
        for row in page:
            if len(entities) == query.limit:
                ended = False
                break
            entities += [row] if query.has_match(row) else []
            offset += 1
        if ended:
            owners, offset = owners[1:], 0
    if not owners:
        return EntityPage(tuple(entities))
    return EntityPage(tuple(entities), f"{owners[0]}.{offset}" if level is AD else str(offset))


def _fetch_with_query(level: Level, entity_id: str, query: Mapping[str, str] | None = None) -> Flow[ParsedEntity]:
    request = outbrain.build_get_request(f"{level.path}/{{id}}", query or {}, id=entity_id)
    response = yield from fetch_response(NETWORK, request)
    entity = hierarchy.parse_entity(level, require_object(response.body, "", level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity. The campaign of a link names its marketer."""
    return (yield from fetch_lineage(NETWORK, account, kind, entity_id, _fetch_with_query))[0]


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity. A campaign gets its whole targeting and its budget."""
    if get_level(NETWORK, kind) is not CAMPAIGN:
        return (yield from fetch_entity(account, kind, entity_id))
    fetch_whole = partial(_fetch_with_query, query={"extraFields": outbrain.EXTRA_CAMPAIGN_FIELDS})
    (entity,) = yield from fetch_lineage(NETWORK, account, kind, entity_id, fetch_whole)
    budget = parse_id(get_value(entity.native, "/budget/id"))
    if budget is None:
        return entity
    response = yield from fetch_response(NETWORK, outbrain.build_get_request("budgets/{id}", id=budget))
    if parse_id(get_value(response.body, "/id")) != budget:
        raise ProviderUnreadable("Outbrain answered another budget than the one that was asked for.")
    return evolve(entity, native={**entity.native, "budget": response.body})


# -- insights -----------------------------------------------------------------------------------------------------

_ONE_DAY = timedelta(days=1)


def build_days_query(start: date, end: date) -> dict[str, str]:
    """Build the query of the first page of a daily report."""
    days = {"from": start.isoformat(), "to": end.isoformat(), "breakdown": "daily"}
    return {**days, **outbrain.build_offset_query(outbrain.REPORT_PAGE_SIZE, 0)}


# Amplify reference: since January 2025 the default hides campaigns that are paused.
ALL_CAMPAIGNS_QUERY = {"includeArchivedCampaigns": "true", "enabledCampaignsOnly": "false"}
VIDEO_QUERY = {"includeVideoStats": "true"}


def _build_periodic_request(account: Account, start: date, end: date) -> Request:
    query = {**build_days_query(start, end), "sort": "+fromDate", **ALL_CAMPAIGNS_QUERY, **VIDEO_QUERY}
    return outbrain.build_get_request("reports/marketers/{marketer}/periodic", query, marketer=account.native_id)


def _build_next_request(request: Request, response: Response) -> Request | None:
    offset = int(request.query["offset"]) + len(get_objects(response.body, "/results", "report"))
    total = outbrain.parse_total(response.body, "/totalResults")
    if total is None or offset >= total or not get_objects(response.body, "/results"):
        return None
    return evolve(request, query={**request.query, "offset": str(offset)})


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/metadata/fromDate")


def fetch_incomplete_day(now: datetime) -> Flow[date]:
    """Return the first day whose figures are not complete: today if Outbrain does not name the last complete day."""
    fresh = yield from fetch_if_possible(NETWORK, outbrain.build_get_request("reports/fullDay"))
    full_day = get_text(fresh.body, "/fullDayDate") if fresh is not None else None
    return outbrain.get_eastern_date(now) if full_day is None else parse_date(full_day[:10]) + _ONE_DAY


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read daily figures; days are in US Eastern time, and there are no report jobs."""
    answers: list[Response] = []
    for first, last in split_date_range(start, end, outbrain.REPORT_DAYS):
        answers += yield from fetch_pages(NETWORK, _build_periodic_request(account, first, last), _build_next_request)
    native = [row for answer in answers for row in get_objects(answer.body, "/results", "report")]
    incomplete = yield from fetch_incomplete_day(now)
    notes = [metric.note for metric in METRICS if metric.note]
    coverage = Coverage(start, end, outbrain.TIMEZONE, notes=notes).mark_provisional(incomplete)
    return Insights.from_days(parse_daily_metrics(account, native, start, end), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _fetch_links_page(account: Account, campaign: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read a page of a campaign's links; the offset is the cursor."""
    declared = next(catalog for catalog in NETWORK.catalogs if catalog.resource == LINKS_CATALOG)
    request = declared.request(account, campaign, query.cursor, query.limit)
    response = yield from fetch_response(NETWORK, request)
    rows, search = parse_catalog_rows(declared, response), (query.search or "").casefold()
    offset, limit = int(request.query["offset"]), int(request.query["limit"])
    cursor = None if _is_last_page(AD, response, offset, limit) else str(offset + len(rows))
    return CatalogPage(tuple(row for row in rows if search in row.name.casefold()), cursor)


LINKS_CATALOG = "promoted_links"


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. Raises InvalidInput for segments if the marketer has none."""
    name, _, suffix = resource.partition(":")
    if name == LINKS_CATALOG and suffix:
        return (yield from _fetch_links_page(account, suffix, query))
    try:
        return (yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query))
    except ProviderNotFound:
        if name != "segments":
            raise
        raise invalid_input("resource", "not_available", "Outbrain offers no segments to this marketer.") from None


def sign_request(request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str) -> Request:
    """Add the token in Outbrain's header."""
    if not can_sign(NETWORK, request):
        return request
    return evolve(request, headers={**request.headers, outbrain.TOKEN_HEADER: credentials.access_token})
