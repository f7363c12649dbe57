"""Reading from Snapchat: connecting, the hierarchy, statistics, catalogs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache, partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import ask, pages, settled
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query, nest, owned
from adsunify.adapter.insights import Coverage, Days, Insights, Pending
from adsunify.adapter.network import Account, Level, level, timezone_of
from adsunify.adapter.oauth import App, Credentials, bearer, token_request, trusted
from adsunify.adapter.reports import days, downloaded
from adsunify.errors import NativeError, ProviderError, ProviderNotFound, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import windows, zone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, ident, read, rows, text

from . import native as snap
from .settings import PACING_LEVEL
from .tables import LEVELS, METRICS, NETWORK, PLACE_CATALOGS, country_of


def _following(request: Request, response: Response) -> Request | None:
    cursor = snap.next_cursor(response)
    return None if cursor is None else evolve(request, query={**request.query, "cursor": cursor})


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page; Snap has no PKCE."""
    return oauth.authorize_url(
        snap.CONSENT,
        response_type="code",
        client_id=app.client_id,
        redirect_uri=redirect_uri,
        scope=snap.PERMISSION,
        state=state,
    )


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The code of the consent becomes tokens."""
    if not answer.get("code"):
        said = ", ".join(answer[name].rstrip(".") for name in ("error", "error_description") if answer.get(name))
        raise refused("code", "required", f"Snapchat gave no code: {said or 'no reason'}.")
    request = token_request(
        snap.TOKEN,
        grant_type="authorization_code",
        client_id=app.client_id,
        client_secret=app.client_secret,
        code=answer["code"],
        redirect_uri=redirect_uri,
    )
    return (yield from oauth.exchange(NETWORK, request, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """A new access token; the refresh token may be another one from then on."""
    return (yield from oauth.renewed(NETWORK, snap.TOKEN, app, credentials, now))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Nothing to call: the user removes the app in the Snapchat account."""
    return (yield from settled(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def _found(native: Mapping[str, Json], organization: str) -> FoundAccount:
    native_id = ident(native, "/id", "account")
    extras = {"organizationId": text(native, "/organization_id") or organization}
    signals = read(native, "/regulations/restricted_delivery_signals")
    if isinstance(signals, bool):
        extras["restrictedDeliverySignals"] = "true" if signals else "false"
    name, status = text(native, "/name") or native_id, text(native, "/status")
    return FoundAccount(native_id, name, text(native, "/currency"), text(native, "/timezone"), status, extras)


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts of every organization of the user."""
    asked = Request("GET", f"{snap.API}/me/organizations", query={"with_ad_accounts": "true"})
    organizations: list[str] = []
    for response in (yield from pages(NETWORK, asked, _following)):
        found = snap.unwrapped(response, "organizations", "organization")
        organizations += [ident(one, "/id", "organization") for one in found]
    accounts_: list[FoundAccount] = []
    for organization in dict.fromkeys(organizations):
        asked = Request("GET", f"{snap.API}/organizations/{{id}}/adaccounts", {"id": organization})
        for response in (yield from pages(NETWORK, asked, _following)):
            found = snap.unwrapped(response, "adaccounts", "adaccount")
            accounts_ += [_found(one, organization) for one in found]
    return accounts_


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _entity(one: Level, native: Mapping[str, Json]) -> Entity:
    found = hierarchy.entity(one, native)
    return evolve(found, status="deleted") if native.get("deleted") is True else found


def _rows(one: Level, response: Response) -> list[Entity]:
    return [_entity(one, native) for native in snap.unwrapped(response, one.path, one.native)]


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, ad squads and ads, each to the last page."""
    nodes: list[Entity] = []
    for one in LEVELS:
        asked = snap.listed(one, "adaccounts", account.native_id, snap.LARGEST_PAGE)
        for response in (yield from pages(NETWORK, asked, _following)):
            nodes += _rows(one, response)
    return Tree(nest(nodes))


_CURSOR = re.compile(r"([0-9]{2,3})\.([0-9]{1,6})\.(.*)", re.DOTALL).fullmatch


def _place(query: Query) -> tuple[int, int, str | None]:
    """The size of Snap's page, how many of its rows were given already, and its own cursor.

    Ads API: a page has at least 50 rows, ours may have fewer: a cursor of ours stands inside one of Snap's.
    """
    if query.cursor is None:
        return max(snap.SMALLEST_PAGE, query.limit), 0, None
    found = _CURSOR(query.cursor)
    if found is None or int(found[1]) < snap.SMALLEST_PAGE:
        raise refused("cursor", "malformed", "This is no cursor of this list.")
    return int(found[1]), int(found[2]), found[3] or None


def _cursor(size: int, offset: int, native: str | None) -> str:
    return f"{size}.{offset}.{native or ''}"


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level; Snap filters by nothing, so status and search are looked for here."""
    one = check_query(NETWORK, kind, query)
    size, offset, cursor = _place(query)
    owner = "adaccounts" if query.parent_id is None else snap.PARENTS[kind][0]
    found: list[Entity] = []
    for _ in range(FILTER_PAGES):
        asked = snap.listed(one, owner, query.parent_id or account.native_id, size, cursor)
        response = yield from ask(NETWORK, asked)
        listed = _rows(one, response)
        for position, row in enumerate(listed[offset:], offset + 1):
            if _wanted(row, query):
                found.append(row)
            if len(found) == query.limit and position < len(listed):
                return Page(tuple(found), _cursor(size, position, cursor))
        following = snap.next_cursor(response)
        if following is None:
            return Page(tuple(found))
        if following == cursor:
            raise ProviderUnreadable("The list of Snapchat does not end: its cursor repeats.")
        offset, cursor = 0, following
        if len(found) == query.limit:
            break
    return Page(tuple(found), _cursor(size, offset, cursor))


def _wanted(row: Entity, query: Query) -> bool:
    named = query.search is None or query.search.casefold() in (row.name or "").casefold()
    return named and (query.status is None or row.native_status == query.status)


def _one(one: Level, entity_id: str) -> Flow[Entity]:
    found = _rows(one, (yield from ask(NETWORK, snap.single(one, entity_id))))
    if not found:
        raise ProviderNotFound(f"Snapchat has no {one.native} {entity_id}.")
    if found[0].id != entity_id:
        raise ProviderUnreadable(f"Snapchat answered another {one.native} than the one that was asked for.")
    return found[0]


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity."""
    return (yield from _line(account, kind, entity_id))[0]


def _line(account: Account, kind: str, entity_id: str) -> Flow[tuple[Entity, ...]]:
    """The entity and what it hangs on: only a campaign says which account it is of."""
    return (yield from owned(NETWORK, account, (yield from _one(level(NETWORK, kind), entity_id)), _one))


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity; beside an ad squad the pacing level of its campaign, which says who holds the budget."""
    found, *above = yield from _line(account, kind, entity_id)
    if kind != "adGroup":
        return found
    return evolve(found, native={**found.native, PACING_LEVEL: read(above[0].native, "/pacing_level")})


# -- insights -----------------------------------------------------------------------------------------------------

STATS_FIELDS = "impressions,swipes,spend,video_views,conversion_purchases,conversion_purchases_value"
STATS_DAYS = 30  # Ads API: 31 by days, but one with the autumn change of clocks is an hour longer
FINAL_AFTER = timedelta(hours=48)
COMPLETED, FAILED = "COMPLETED", "FAILED"  # (unverified)
POLL = 15_000  # milliseconds
_DAY = timedelta(days=1)


def _midnight(day: date, timezone: str) -> str:
    """The beginning of a local day, with the offset that then holds."""
    return datetime.combine(day, time(), zone(timezone)).isoformat(timespec="milliseconds")


def _stats(account: Account, first: date, last: date) -> Request:
    # Ads API: an account by itself tells only what was spent; broken down by campaign it tells all (else E1008).
    timezone = timezone_of(account)
    query = {
        "granularity": "DAY",
        "breakdown": "campaign",
        "fields": STATS_FIELDS,
        "start_time": _midnight(first, timezone),
        "end_time": _midnight(last + _DAY, timezone),
        "omit_empty": "false",
        "swipe_up_attribution_window": "28_DAY",
        "view_attribution_window": "1_DAY",
    }
    return Request("GET", f"{snap.API}/adaccounts/{{account}}/stats", {"account": account.native_id}, query)


def _series(body: Json) -> Iterator[Mapping[str, Json]]:
    """The rows of statistics: one for a campaign and day, or for a day where they are not broken down."""
    for one in rows(body, "/timeseries_stats", "statistics"):
        yield from rows(one, "/timeseries_stat/timeseries", "statistics")
        for campaign in rows(one, "/timeseries_stat/breakdown_stats/campaign", "statistics"):
            for row in rows(campaign, "/timeseries", "statistics"):
                yield {"id": campaign.get("id"), "type": campaign.get("type"), **row}


def _local(value: Json, timezone: str) -> datetime | None:
    found = snap.moment(value)
    return None if found is None else found.astimezone(zone(timezone))


def _day(told: Json, timezone: str) -> date:
    found = _begun(told, timezone) if isinstance(told, str) and len(told) <= LONGEST_TIME else None
    if found is None:
        raise ProviderUnreadable("A row of the statistics has no day.")
    return found


LONGEST_TIME = 64
"""Characters of a time: what a network sends is remembered below."""


@lru_cache(1000)  # the rows of all campaigns say the same days
def _begun(told: str, timezone: str) -> date | None:
    found = _local(told, timezone)
    return None if found is None else found.date()


def _restated(bodies: Sequence[Json], timezone: str, now: datetime) -> date:
    """The first day whose figures may still change."""
    said = [_local(at, timezone) for body in bodies for at in found_at(body, _FINAL)]
    known = [one for one in said if one is not None]
    return min(known).date() if known else (now - FINAL_AFTER).astimezone(zone(timezone)).date()


_FINAL = "/timeseries_stats/*/timeseries_stat/finalized_data_end_time"


def _report(account: Account, job: str) -> Flow[Json | Pending]:
    """A report that was asked for elsewhere: its statistics, or that it is still being made."""
    url = f"{snap.API}/adaccounts/{{account}}/stats_report"
    asked = Request("GET", url, {"account": account.native_id}, {"report_run_id": job})
    response = yield from ask(NETWORK, asked)
    found = snap.unwrapped(response, "async_stats_reports", "async_stats_report")
    status = text(found, "/0/async_status") or ""
    if status == FAILED:
        raise ProviderError(f"Snapchat made no report ({status}).", native=NativeError(status, "The report failed."))
    if status != COMPLETED:
        return Pending(job, status, POLL)
    return (yield from downloaded(text(found, "/0/result")))


def reported(native: Iterable[Mapping[str, Json]], timezone: str) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/start_time", partial(_day, timezone=timezone))


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account, summed over its campaigns; a report is only resumed, never asked for."""
    timezone = timezone_of(account)
    bodies: list[Json] = []
    if job is not None:
        body = yield from _report(account, job)
        if isinstance(body, Pending):
            return Insights.waiting(start, end, timezone, body)
        bodies.append(body)
    for first, last in windows(start, end, STATS_DAYS) if job is None else ():
        answers = yield from pages(NETWORK, _stats(account, first, last), _following)
        bodies += [answer.body for answer in answers]
    native = [row for body in bodies for row in _series(body)]
    found = list(reported(native, timezone))
    if found and not all(start <= one <= end for one, _ in found):  # a report resumed without its dates
        start, end = min(one for one, _ in found), max(one for one, _ in found)
    restated = _restated(bodies, timezone, now)
    provisional = max(start, restated) if restated <= end else None
    notes = [metric.note for metric in METRICS if metric.note]
    coverage = Coverage(start, end, timezone, provisional_from=provisional, notes=notes)
    return Insights.of(found, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog; places have ids that a brief takes as they are."""
    page = yield from catalogs.catalog(NETWORK, account, resource, query)
    name, _, suffix = resource.partition(":")
    if name not in PLACE_CATALOGS:
        return page
    before = f"{country_of(suffix or query.search or '')}:{PLACE_CATALOGS[name]}:"
    return evolve(page, rows=tuple(evolve(row, id=before + row.id) for row in page.rows))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The access token."""
    return bearer(request, credentials) if trusted(NETWORK, request) else request
