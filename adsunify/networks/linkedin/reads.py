"""Reading from LinkedIn: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.hierarchy import Entity, FoundAccount, Page, Query, Tree, check_query, nest
from adsunify.adapter.insights import Coverage, Days, Insights
from adsunify.adapter.network import Account, Level, level
from adsunify.adapter.oauth import App, Credentials, bearer, token_request, trusted
from adsunify.adapter.reports import days
from adsunify.errors import ProviderError, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, need, text

from . import native as linkedin
from .settings import ACCOUNT_TYPE
from .tables import CAMPAIGN, CREATIVE, GROUP, METRICS, NETWORK, enterprise, listed

TIMEZONE = "UTC"  # budget days, schedules and reports of every account
ACCOUNTS_PAGE = 500
PAGE, CREATIVES_PAGE = 1_000, 100
CAMPAIGNS_AT_ONCE = 20  # whose creatives one request asks for: a longer address would be refused


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page. PKCE is for native apps at another endpoint, so it is not sent."""
    return oauth.authorize_url(
        linkedin.CONSENT,
        response_type="code",
        client_id=app.client_id,
        redirect_uri=redirect_uri,
        state=state,
        scope=" ".join(linkedin.SCOPES),
    )


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The code of the consent becomes a token of 60 days; only approved partners get a refresh token with it."""
    if not answer.get("code"):
        said = ", ".join(answer[name].rstrip(".") for name in ("error", "error_description") if answer.get(name))
        raise refused("code", "required", f"LinkedIn gave no code: {said or 'no reason'}.")
    request = token_request(
        linkedin.TOKEN,
        grant_type="authorization_code",
        code=answer["code"],
        redirect_uri=redirect_uri,
        client_id=app.client_id,
        client_secret=app.client_secret,
    )
    return (yield from oauth.exchange(NETWORK, request, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """A new access token, where LinkedIn gave this app a refresh token; its own 365 days are not prolonged."""
    return (yield from oauth.renewed(NETWORK, linkedin.TOKEN, app, credentials, now))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Both tokens; one that is refused was dead already, and does not keep the other alive."""
    for token in (credentials.refresh_token, credentials.access_token):
        if token is None:
            continue
        form = {"token": token, "client_id": app.client_id, "client_secret": app.client_secret}
        try:
            yield token_request(linkedin.REVOKE, **form)
        except ProviderError:
            continue


# -- accounts -----------------------------------------------------------------------------------------------------


def _following(request: Request, response: Response) -> Request | None:
    token = linkedin.page_token(response)
    if token is None:
        return None
    kept = [one for one in (request.query_raw or "").split("&") if not one.startswith("pageToken=")]
    return evolve(request, query_raw="&".join([*kept, f"pageToken={linkedin.restli(token)}"]))


def _listed(request: Request) -> Flow[list[Mapping[str, Json]]]:
    answers = yield from pages(NETWORK, request, _following)
    return [row for answer in answers for row in linkedin.elements(answer)]


def _found(row: Mapping[str, Json]) -> FoundAccount:
    native_id = ident(row, "/id", "account")
    extras = {name: text(row, f"/{name}") for name in ("reference", "type")}
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        text(row, "/currency"),
        TIMEZONE,
        text(row, "/status"),
        {name: value for name, value in extras.items() if value},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts in which the member has a role."""
    found = yield from _listed(linkedin.get("adAccounts", {}, {"q": "search", "pageSize": ACCOUNTS_PAGE}))
    return [_found(row) for row in found]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _entity(one: Level, row: Mapping[str, Json]) -> Entity:
    """Groups and campaigns by their number, creatives by their URN; parents, natively URNs, likewise."""
    found = hierarchy.entity(one, row, linkedin.last(text(row, one.parent)) if one.parent else None)
    return evolve(found, id=linkedin.own_id(one, found.id))


def tree(account: Account) -> Flow[Tree]:
    """All that is active, paused or a draft."""
    nodes: list[Entity] = []
    for one in (GROUP, CAMPAIGN):
        rows = yield from _listed(listed(account, one, limit=PAGE))
        nodes.extend(_entity(one, row) for row in rows)
    campaigns = [linkedin.urn(linkedin.CAMPAIGN_URN, node.id) for node in nodes if node.kind == CAMPAIGN.kind]
    for first in range(0, len(campaigns), CAMPAIGNS_AT_ONCE):
        parents = campaigns[first : first + CAMPAIGNS_AT_ONCE]
        rows = yield from _listed(listed(account, CREATIVE, parents=parents, limit=CREATIVES_PAGE))
        nodes.extend(_entity(CREATIVE, row) for row in rows)
    return Tree(nest(nodes))


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level. LinkedIn finds exact names only, so ``search`` filters the page here."""
    one = check_query(NETWORK, kind, query)
    parents: Sequence[str] = ()
    if query.parent_id is not None:
        parents = (linkedin.urn(linkedin.URNS[one.parent_kind], query.parent_id),)
    statuses = linkedin.LIVE if query.status is None else (query.status,)
    request = listed(account, one, parents=parents, statuses=statuses, limit=query.limit, cursor=query.cursor)
    response = yield from ask(NETWORK, request)
    sought = (query.search or "").casefold()
    found = (_entity(one, row) for row in linkedin.elements(response))
    return Page(tuple(node for node in found if sought in (node.name or "").casefold()), linkedin.page_token(response))


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity, whatever its status."""
    one = level(NETWORK, kind)
    response = yield from ask(NETWORK, linkedin.one_of(account, one, entity_id))
    row = need(response.body, "", one.native)
    if not isinstance(row, Mapping):
        raise ProviderUnreadable(f"The {one.native} is no object.")
    return _entity(one, row)


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """As :func:`entity`; a group's locks depend on the account's type, too."""
    found = yield from entity(account, kind, entity_id)
    if kind == GROUP.kind and enterprise(account):
        return evolve(found, native={**found.native, ACCOUNT_TYPE: linkedin.ENTERPRISE})
    return found


# -- insights -----------------------------------------------------------------------------------------------------

FIELDS = (
    *("dateRange", "pivotValues", "impressions", "clicks", "costInLocalCurrency", "externalWebsiteConversions"),
    *("conversionValueInLocalCurrency", "videoViews"),
)
REACH = "approximateMemberReach"
REACH_DAYS = 92
MOST_ELEMENTS = 15_000  # of an answer, which says nothing of what it leaves out


def _day(first: Json) -> date:
    try:
        parts = [first.get(part) for part in ("year", "month", "day")]
        if not all(map(linkedin.is_integer, parts)):
            raise ValueError
        return date(*parts)
    except (AttributeError, ValueError, OverflowError):
        raise ProviderUnreadable("A row of the report has no day.") from None


def _report(account: Account, start: date, end: date) -> Request:
    days = {
        name: {"year": one.year, "month": one.month, "day": one.day} for name, one in (("start", start), ("end", end))
    }
    # Reach is refused for longer ranges.
    fields = (*FIELDS, REACH) if (end - start).days < REACH_DAYS else FIELDS
    request = linkedin.get(
        "adAnalytics",
        {},
        {
            "q": "analytics",
            "pivot": "ACCOUNT",
            "timeGranularity": "DAILY",
            "dateRange": days,
            "accounts": [linkedin.account_urn(account)],
        },
    )
    return evolve(request, query_raw=f"{request.query_raw}&fields={','.join(fields)}")


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/dateRange/start", _day)


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days in UTC, answered at once; a row stands for a day with activity."""
    response = yield from ask(NETWORK, _report(account, start, end))
    native = linkedin.elements(response)
    found = list(reported(native))
    today = now.date()
    notes: list[str] = []
    if (end - start).days >= REACH_DAYS:
        notes.append(f"LinkedIn tells the reach of at most {REACH_DAYS} days at once.")
    if not native:
        notes.append("LinkedIn answers no rows also where the member may not read reports.")
    cut = len(native) >= MOST_ELEMENTS
    if cut:
        notes.append(f"LinkedIn cuts an answer off at {MOST_ELEMENTS} rows; ask for fewer days.")
    provisional = max(start, today) if end >= today else None
    coverage = Coverage(start, end, TIMEZONE, not cut, provisional, notes=notes)
    return Insights.of(found, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog; a typeahead's text is what the caller searches for."""
    name, _, facet = resource.partition(":")
    if name == "typeahead" and ":" not in facet:
        if not facet:
            raise refused("resource", "catalog_suffix", "This catalog is asked for as typeahead:<facet>.")
        if not query.search:
            raise refused("search", "required", "LinkedIn's typeahead needs the text to search for.")
        resource, query = f"{resource}:{query.search}", evolve(query, search=None)
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The member's token."""
    return bearer(request, credentials) if trusted(NETWORK, request) else request
