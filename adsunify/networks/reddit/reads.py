"""Reading from Reddit: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query, nest, owned
from adsunify.adapter.insights import Coverage, Days, Insights
from adsunify.adapter.network import Account, Level, level, timezone_of
from adsunify.adapter.oauth import App, Credentials, bearer, token_request, trusted
from adsunify.adapter.reports import day, days
from adsunify.errors import PermissionRefused, ProviderError, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request
from adsunify.plans.records import Kind
from adsunify.values.dates import utc_text, zone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, read, text

from . import native as reddit
from .tables import AD, LEVELS, METRICS, NETWORK

# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page; without ``duration=permanent`` there would be no refresh token. Reddit has no PKCE."""
    return oauth.authorize_url(
        reddit.CONSENT,
        client_id=app.client_id,
        response_type="code",
        state=state,
        redirect_uri=redirect_uri,
        duration="permanent",
        scope=",".join(reddit.SCOPES),
    )


def _proven(app: App, address: str, **form: str) -> Request:
    """A form with the app's own credentials, which Reddit takes from the Basic header only."""
    basic = base64.b64encode(f"{app.client_id}:{app.client_secret}".encode()).decode("ascii")
    return evolve(token_request(address, **form), headers={**reddit.HEADERS, "Authorization": f"Basic {basic}"})


def _tokens(request: Request, now: int, kept: Credentials | None = None) -> Flow[Credentials]:
    try:
        return (yield from oauth.exchange(NETWORK, request, now, kept))
    except ProviderError as problem:
        if problem.native.status == 401:  # not the consent is refused here, but the app
            message = "Reddit refuses the app's client id and secret."
            raise PermissionRefused(message, native=problem.native) from problem
        raise


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The code of the consent, good once and for ten minutes, becomes tokens."""
    if not answer.get("code"):
        said = ", ".join(answer[name].rstrip(".") for name in ("error", "error_description") if answer.get(name))
        raise refused("code", "required", f"Reddit gave no code: {said or 'no reason'}.")
    form = {"grant_type": "authorization_code", "code": answer["code"], "redirect_uri": redirect_uri}
    return (yield from _tokens(_proven(app, reddit.TOKEN, **form), now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """A new access token; the refresh token may be another one from then on."""
    if credentials.refresh_token is None:
        return credentials
    form = {"grant_type": "refresh_token", "refresh_token": credentials.refresh_token}
    return (yield from _tokens(_proven(app, reddit.TOKEN, **form), now, credentials))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """The refresh token, and with it all that came of it."""
    token, hint = credentials.refresh_token, "refresh_token"
    if token is None:
        token, hint = credentials.access_token, "access_token"
    yield from ask(NETWORK, _proven(app, reddit.REVOKE, token=token, token_type_hint=hint))


# -- accounts -----------------------------------------------------------------------------------------------------

EXTRAS = {
    "businessId": "/business_id",
    "type": "/type",
    "suspensionReason": "/suspension_reason",
    "attributionType": "/attribution_type",
    "clickAttributionWindow": "/click_attribution_window",
    "viewAttributionWindow": "/view_attribution_window",
}


def _listed(request: Request) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a list, to its last page."""
    answers = yield from pages(NETWORK, request, reddit.following)
    return [row for answer in answers for row in reddit.listed(answer)]


def _found(row: Mapping[str, Json]) -> FoundAccount:
    native_id = ident(row, "/id", "account")
    extras = {name: text(row, pointer) for name, pointer in EXTRAS.items()}
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        text(row, "/currency"),
        text(row, "/time_zone_id") or reddit.UTC_NAME,
        text(row, "/admin_approval"),
        {name: value for name, value in extras.items() if value},
    )


def _of_business(business: str) -> Flow[list[Mapping[str, Json]]]:
    """The accounts that the business owns or shares; where that is not told, those it owns."""
    path = {"business": business}
    try:
        return (yield from _listed(reddit.searched("/businesses/{business}/ad_accounts/query", path, {}, {})))
    except ProviderError as problem:
        if problem.native.status not in (400, 403, 404):
            raise
    return (yield from _listed(reddit.asked("/businesses/{business}/ad_accounts", path)))


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts of every business of the user, each once."""
    found: dict[str, FoundAccount] = {}
    for business in (yield from _listed(reddit.asked("/me/businesses"))):
        for row in (yield from _of_business(ident(business, "/id", "business"))):
            one = _found(row)
            found.setdefault(one.native_id, one)
    return list(found.values())


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _entity(one: Level, row: Mapping[str, Json]) -> Entity:
    found = hierarchy.entity(one, row)
    if not isinstance(read(row, one.id), str):  # Ads API: all ids are texts
        raise ProviderUnreadable(f"The id of a {one.native} in the answer is no text.")
    return found


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, ad groups and ads, each to the last page."""
    nodes: list[Entity] = []
    for one in LEVELS:
        rows = yield from _listed(reddit.of_account(account, one.path, {"page.size": str(reddit.LARGEST_PAGE)}))
        nodes += [_entity(one, row) for row in rows]
    return Tree(nest(nodes))


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level; a search goes on to further pages until something is found.

    Reddit filters by parent, and ads by status. Other statuses and names are looked for here.
    """
    one = check_query(NETWORK, kind, query)
    asked = {"page.size": str(query.limit)}
    if query.parent_id is not None:
        asked[one.parent.removeprefix("/")] = query.parent_id
    if query.status is not None and one is AD:
        asked["configured_status"] = query.status
    cursor = query.cursor
    found: tuple[Entity, ...] = ()
    for _ in range(FILTER_PAGES):
        response = yield from ask(NETWORK, reddit.page(reddit.of_account(account, one.path, asked), cursor))
        read_here = [_entity(one, row) for row in reddit.listed(response)]
        found = tuple(entity for entity in read_here if _wanted(entity, query))
        following = reddit.next_url(response)
        if following is not None and following == cursor:
            raise ProviderUnreadable("The list of Reddit does not end: its next page is itself.")
        cursor = following
        if found or cursor is None:
            break
    return Page(found, cursor)


def _wanted(found: Entity, query: Query) -> bool:
    if query.search is not None and query.search.casefold() not in (found.name or "").casefold():
        return False
    if query.status is None:
        return found.native_status not in reddit.CLOSED
    return found.native_status == query.status


def _one(one: Level, entity_id: str) -> Flow[Entity]:
    response = yield from ask(NETWORK, reddit.asked(f"/{one.path}/{{id}}", {"id": reddit.known_id(entity_id)}))
    found = _entity(one, reddit.one_of(response, one.native))
    if found.id != entity_id:
        raise ProviderUnreadable(f"Reddit answered another {one.native} than the one that was asked for.")
    return found


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity, whatever its status; the address alone does not say which account it is of."""
    return (yield from owned(NETWORK, account, (yield from _one(level(NETWORK, kind), entity_id)), _one))[0]


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The same: an entity has all that its settings speak of."""
    return (yield from entity(account, kind, entity_id))


# -- insights -----------------------------------------------------------------------------------------------------

FIELDS = [metric.native.removeprefix("/").upper() for metric in METRICS]
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


def _midnight(local_day: date, timezone: str) -> datetime:
    return datetime.combine(local_day, time(), zone(timezone)).astimezone(UTC)


def _whole_hour(moment: datetime, *, up: bool = False) -> str:
    """Reports begin and end with whole hours (unverified); there are zones with half ones."""
    whole = moment.replace(minute=0, second=0, microsecond=0)
    return utc_text(whole + _HOUR if up and whole < moment else whole)


def _report(account: Account, start: date, end: date) -> Request:
    timezone = timezone_of(account)
    asking: dict[str, Json] = {
        "starts_at": _whole_hour(_midnight(start, timezone)),
        "ends_at": _whole_hour(_midnight(end + _DAY, timezone), up=True),
        "time_zone_id": timezone,
        "breakdowns": ["DATE"],
        "fields": list(FIELDS),
    }
    path, query = {"account": account.native_id}, {"page.size": str(reddit.LARGEST_PAGE)}
    return reddit.searched("/ad_accounts/{account}/reports", path, query, asking)


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/date")


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account, answered at once. Reddit settles a day for some hours."""
    timezone = timezone_of(account)
    answers = yield from pages(NETWORK, _report(account, start, end), reddit.following)
    told = [row for answer in answers for row in reddit.listed(answer, "/data/metrics")]
    dated = [(day(row.get("date")), row) for row in told]
    native = [row for one, row in dated if start <= one <= end]  # whole hours may reach into a day beside
    updated = [reddit.moment(read(answer.body, "/data/metrics_updated_at")) for answer in answers]
    settled = min([now, *(one for one in updated if one is not None)]) - timedelta(hours=reddit.SETTLING_HOURS)
    restated = max(start, settled.astimezone(zone(timezone)).date())
    notes = [metric.note for metric in METRICS if metric.note]
    coverage = Coverage(start, end, timezone, True, restated if restated <= end else None, notes=notes)
    return Insights.of(reported(native), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog; beside a country, a search for places is Reddit's."""
    name, _, suffix = resource.partition(":")
    if name == "geolocations" and suffix and query.search:
        resource, query = f"{resource} {query.search}", evolve(query, search=None)
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The access token."""
    return bearer(request, credentials) if trusted(NETWORK, request) else request
