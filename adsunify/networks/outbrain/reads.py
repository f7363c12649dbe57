"""Reading from Outbrain: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.catalogs import CatalogPage, catalog_rows
from adsunify.adapter.flows import ask, optional, pages, settled
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query, nest, owned
from adsunify.adapter.insights import Coverage, Days, Insights
from adsunify.adapter.network import Account, Level, level
from adsunify.adapter.oauth import App, Credentials, trusted
from adsunify.adapter.reports import day, days
from adsunify.errors import ProviderNotFound, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import windows
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, identifier, read, rows, text

from . import native as outbrain
from .tables import AD, CAMPAIGN, METRICS, NETWORK

# -- connecting ---------------------------------------------------------------------------------------------------

_HEADER_TEXT = re.compile(r"[!-~]{1,4096}").fullmatch
_NO_CONTROLS = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,1000}").fullmatch
_DAY_MILLISECONDS = 24 * 60 * 60 * 1000


def _checked(answer: Mapping[str, str], member: str) -> str:
    value = answer.get(member, "")
    if not _NO_CONTROLS(value) or (member == "username" and ":" in value):
        raise refused(member, "malformed", f"Outbrain: the {member} is missing, or holds characters that none has.")
    return value


def _login(answer: Mapping[str, str]) -> Request:
    """Amplify reference: 2 an hour for each user, so that it is never repeated by itself."""
    pair = f"{_checked(answer, 'username')}:{_checked(answer, 'password')}"
    headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return Request("GET", f"{outbrain.API}/login", headers=headers, nature="read_once", signed=False)


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """A token as it was given, proven by one read; or name and password, used once, become a token of 30 days."""
    if "apiKey" not in answer:
        response = yield from ask(NETWORK, _login(answer))
        token = read(response.body, f"/{outbrain.TOKEN_HEADER}")
        if not isinstance(token, str) or not _HEADER_TEXT(token):
            raise ProviderUnreadable("Outbrain: the answer to the sign-in holds no token.")
        return Credentials(token, expires_at=now + outbrain.TOKEN_DAYS * _DAY_MILLISECONDS)
    token = answer["apiKey"]
    if not _HEADER_TEXT(token):
        raise refused("apiKey", "malformed", "Outbrain: a token has letters, digits and signs, and no blanks.")
    yield from ask(NETWORK, _proof(token))
    return Credentials(token)


def _proof(token: str) -> Request:
    """A cheap read that only a living token is answered."""
    return evolve(outbrain.get("marketers"), headers={outbrain.TOKEN_HEADER: token}, signed=False)


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """The same again: nothing renews a token. (An operation that the user may not do is answered 401, too: Amplify
    reference.)"""
    return (yield from settled(credentials))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Nothing to call: a token runs out by itself, or with a changed password."""
    return (yield from settled(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def accounts() -> Flow[list[FoundAccount]]:
    """The marketers. The currency is that of any of their budgets: they all have the same one."""
    response = yield from ask(NETWORK, outbrain.get("marketers"))
    found: list[FoundAccount] = []
    for native in rows(response.body, "/marketers", "list of marketers"):
        native_id = ident(native, "/id", "marketer")
        answer = yield from ask(NETWORK, outbrain.get("marketers/{marketer}/budgets", marketer=native_id))
        named = [text(one, "/currency") for one in rows(answer.body, "/budgets", "list of budgets")]
        currency = next((one for one in named if one), None)
        status = outbrain.native_status(native)
        found.append(FoundAccount(native_id, text(native, "/name") or native_id, currency, outbrain.ZONE, status))
    return found


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _entity(one: Level, native: Mapping[str, Json], parent_id: str | None = None) -> Entity:
    found = hierarchy.entity(one, native, parent_id)
    status = outbrain.native_status(native)
    return evolve(found, native_status=status, status=one.states.get(status or ""))


def _rows(one: Level, response: Response, owner: str) -> list[Entity]:
    parent = owner if one is AD else None
    return [_entity(one, native, parent) for native in rows(response.body, f"/{one.path}", "list")]


def _ends(one: Level, response: Response, offset: int, limit: int) -> bool:
    """Whether no page follows: by the total where it is said, else by a page that is not full."""
    count, total = len(rows(response.body, f"/{one.path}", "list")), outbrain.total(response, "/totalCount")
    return count == 0 or (count < limit if total is None else offset + count >= total)


def _every(one: Level, owner: str, limit: int) -> Flow[list[Entity]]:
    def following(request: Request, response: Response) -> Request | None:
        offset = int(request.query["offset"])
        if _ends(one, response, offset, limit):
            return None
        offset += len(rows(response.body, f"/{one.path}"))
        return evolve(request, query={**request.query, "offset": str(offset)})

    answers = yield from pages(NETWORK, outbrain.listed(one, owner, limit, 0, _filter(one, None)), following)
    return [row for answer in answers for row in _rows(one, answer, owner)]


def _filter(one: Level, status: str | None) -> dict[str, str]:
    """What a list can be asked for: archived campaigns, and links that are enabled or not."""
    if one is CAMPAIGN:
        return {"includeArchived": "true" if status == outbrain.ARCHIVED else "false"}
    asked = status in (outbrain.ENABLED, outbrain.DISABLED)
    return {"enabled": "true" if status == outbrain.ENABLED else "false"} if asked else {}


def tree(account: Account) -> Flow[Tree]:
    """Campaigns that are not archived, and the links of each."""
    nodes = yield from _every(CAMPAIGN, account.native_id, outbrain.LARGEST_PAGE)
    for campaign in tuple(nodes):
        nodes += yield from _every(AD, campaign.id, outbrain.LINKS_PAGE)
    return Tree(nest(nodes))


_CURSOR = re.compile(r"(?:([^.]+)\.)?([0-9]{1,9})").fullmatch


def _owners(account: Account, one: Level, query: Query) -> Flow[list[str]]:
    """Whose lists are walked: the marketer's, the parent's, or those of every campaign."""
    if one is CAMPAIGN:
        return [account.native_id]
    if query.parent_id is not None:
        return [query.parent_id]
    archived = query.status == outbrain.ARCHIVED
    response = yield from ask(NETWORK, outbrain.names(account, archived=archived))
    return [ident(row, "/id", "campaign") for row in rows(response.body, "/campaigns", "list of campaigns")]


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level; links without a named campaign are read campaign by campaign."""
    one = check_query(NETWORK, kind, query)
    place = _CURSOR(query.cursor or "0")
    if place is None or (one is CAMPAIGN and place[1]):
        raise refused("cursor", "malformed", "This is no cursor of this list.")
    offset = int(place[2])
    owners = yield from _owners(account, one, query)
    if place[1]:
        owners = owners[owners.index(place[1]) :] if place[1] in owners else []
    size = min(query.limit, outbrain.LARGEST_PAGE if one is CAMPAIGN else outbrain.LINKS_PAGE)
    found: list[Entity] = []
    for _ in range(FILTER_PAGES):
        if not owners or len(found) == query.limit:
            break
        request = outbrain.listed(one, owners[0], size, offset, _filter(one, query.status))
        response = yield from ask(NETWORK, request)
        listed = _rows(one, response, owners[0])
        ended = _ends(one, response, offset, size)
        for row in listed:
            if len(found) == query.limit:
                ended = False
                break
            found += [row] if _wanted(row, query) else []
            offset += 1
        if ended:
            owners, offset = owners[1:], 0
    if not owners:
        return Page(tuple(found))
    return Page(tuple(found), f"{owners[0]}.{offset}" if one is AD else str(offset))


def _wanted(row: Entity, query: Query) -> bool:
    named = query.search is None or query.search.casefold() in (row.name or "").casefold()
    return named and (query.status is None or row.native_status == query.status)


def _one(one: Level, entity_id: str, query: Mapping[str, str] | None = None) -> Flow[Entity]:
    response = yield from ask(NETWORK, outbrain.get(f"{one.path}/{{id}}", query or {}, id=entity_id))
    if not isinstance(response.body, Mapping):
        raise ProviderUnreadable(f"Outbrain: the {one.native} in the answer is no object.")
    found = _entity(one, response.body)
    if found.id != entity_id:
        raise ProviderUnreadable(f"Outbrain answered another {one.native} than the one that was asked for.")
    return found


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity; of a link, its campaign says which marketer has it."""
    return (yield from owned(NETWORK, account, (yield from _one(level(NETWORK, kind), entity_id)), _one))[0]


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity; a campaign with its whole targeting, and with its budget as it is."""
    if level(NETWORK, kind) is not CAMPAIGN:
        return (yield from entity(account, kind, entity_id))
    whole = yield from _one(CAMPAIGN, entity_id, {"extraFields": outbrain.CAMPAIGN_EXTRAS})
    found, *_ = yield from owned(NETWORK, account, whole, _one)
    budget = identifier(read(found.native, "/budget/id"))
    if budget is None:
        return found
    response = yield from ask(NETWORK, outbrain.get("budgets/{id}", id=budget))
    if identifier(read(response.body, "/id")) != budget:
        raise ProviderUnreadable("Outbrain answered another budget than the one that was asked for.")
    return evolve(found, native={**found.native, "budget": response.body})


# -- insights -----------------------------------------------------------------------------------------------------

_DAY = timedelta(days=1)


def _report(account: Account, first: date, last: date) -> Request:
    query = {
        "from": first.isoformat(),
        "to": last.isoformat(),
        "breakdown": "daily",
        **outbrain.paged(outbrain.REPORT_PAGE, 0),
        "sort": "+fromDate",
        "includeArchivedCampaigns": "true",
        # Amplify reference: since January 2025 the default hides campaigns that are paused.
        "enabledCampaignsOnly": "false",
        "includeVideoStats": "true",
    }
    return outbrain.get("reports/marketers/{marketer}/periodic", query, marketer=account.native_id)


def _following(request: Request, response: Response) -> Request | None:
    offset = int(request.query["offset"]) + len(rows(response.body, "/results", "report"))
    total = outbrain.total(response, "/totalResults")
    if total is None or offset >= total or not rows(response.body, "/results"):
        return None
    return evolve(request, query={**request.query, "offset": str(offset)})


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/metadata/fromDate")


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of US Eastern time, answered at once."""
    answers: list[Response] = []
    for first, last in windows(start, end, outbrain.REPORT_DAYS):
        answers += yield from pages(NETWORK, _report(account, first, last), _following)
    native = [row for answer in answers for row in rows(answer.body, "/results", "report")]
    fresh = yield from optional(NETWORK, outbrain.get("reports/fullDay"))
    partial = outbrain.today(now)  # where it is not told up to which day the figures are full
    told = text(fresh.body, "/fullDayDate") if fresh is not None else None
    if told is not None:
        partial = day(told[:10]) + _DAY
    provisional = max(start, partial) if partial <= end else None
    notes = [metric.note for metric in METRICS if metric.note]
    coverage = Coverage(start, end, outbrain.ZONE, provisional_from=provisional, notes=notes)
    return Insights.of(reported(native), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _links(account: Account, campaign: str, query: Query) -> Flow[CatalogPage]:
    """A page of a campaign's links; where it goes on, only the offset tells."""
    declared = next(one for one in NETWORK.catalogs if one.resource == LINKS)
    asked = declared.request(account, campaign, query.cursor, query.limit)
    response = yield from ask(NETWORK, asked)
    found, sought = catalog_rows(declared, response), (query.search or "").casefold()
    offset, limit = int(asked.query["offset"]), int(asked.query["limit"])
    cursor = None if _ends(AD, response, offset, limit) else str(offset + len(found))
    return CatalogPage(tuple(row for row in found if sought in row.name.casefold()), cursor)


LINKS = "promoted_links"


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog; not every marketer has segments."""
    name, _, suffix = resource.partition(":")
    if name == LINKS and suffix:
        return (yield from _links(account, suffix, query))
    try:
        return (yield from catalogs.catalog(NETWORK, account, resource, query))
    except ProviderNotFound:
        if name != "segments":
            raise
        raise refused("resource", "not_available", "Outbrain offers no segments to this marketer.") from None


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The token, in a header of its own."""
    if not trusted(NETWORK, request):
        return request
    return evolve(request, headers={**request.headers, outbrain.TOKEN_HEADER: credentials.access_token})
