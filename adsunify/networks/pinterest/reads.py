"""Connecting to Pinterest, and what is read from it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import failure
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query, nest
from adsunify.adapter.insights import Coverage, Days, Insights, Pending
from adsunify.adapter.network import Account, Level, level
from adsunify.adapter.oauth import App, Credentials, bearer, token_request, trusted
from adsunify.adapter.reports import days, downloaded
from adsunify.adapter.settings import local_time
from adsunify.errors import NativeError, PermissionRefused, ProviderError, TokenRefused, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import windows
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import ident, need, read, rows, text

from . import native as pinterest
from .tables import AD, AD_GROUP, CAMPAIGN, INTERESTS, KEYWORD, METRICS, NETWORK

# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page. PKCE is not documented for v5."""
    query = {"client_id": app.client_id, "redirect_uri": redirect_uri, "state": state}
    return oauth.authorize_url(pinterest.CONSENT, **query, response_type="code", scope=",".join(pinterest.SCOPES))


def _proven(app: App, address: str, **form: str) -> Request:
    """A form with the app's own credentials."""
    basic = base64.b64encode(f"{app.client_id}:{app.client_secret}".encode()).decode("ascii")
    request = token_request(address, **form)
    return evolve(request, headers={**pinterest.ACCEPT, "Authorization": f"Basic {basic}"})


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The code of the consent, good once, becomes tokens."""
    if not answer.get("code"):
        said = ", ".join(answer[name] for name in ("error", "error_description") if answer.get(name))
        raise refused("code", "required", f"Pinterest gave no code: {said or 'no reason'}.")
    form = {"grant_type": "authorization_code", "code": answer["code"], "redirect_uri": redirect_uri}
    # Apps registered before 2025-09-25 need to ask for a refresh token that can be renewed.
    request = _proven(app, pinterest.TOKEN, **form, continuous_refresh="true")
    return (yield from oauth.exchange(NETWORK, request, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """New tokens; the answer brings a new refresh token, too."""
    if credentials.refresh_token is None:
        return credentials
    form = {"grant_type": "refresh_token", "refresh_token": credentials.refresh_token}
    try:
        return (yield from oauth.exchange(NETWORK, _proven(app, pinterest.TOKEN, **form), now, credentials))
    except ProviderError as problem:
        if problem.native.status == 400:  # a refresh token that is not valid (any more)
            raise TokenRefused(problem.message, native=problem.native) from problem
        raise


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Works for tokens of system users only: a user's token is forgotten here, and runs out there."""
    form = {"token": credentials.access_token, "token_type_hint": "access_token"}
    try:
        yield from ask(NETWORK, _proven(app, pinterest.REVOKE, **form))
    except PermissionRefused:
        return


# -- accounts -----------------------------------------------------------------------------------------------------


def _listed(request: Request) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a list, to its last page."""
    answers = yield from pages(NETWORK, request, pinterest.following)
    return [row for answer in answers for row in pinterest.listed(answer)]


def _account(row: Mapping[str, Json]) -> FoundAccount:
    native_id, permissions = ident(row, "/id", "account"), read(row, "/permissions")
    extras = {
        "permissions": ",".join(map(str, permissions)) if isinstance(permissions, list) else None,
        "country": text(row, "/country"),
        "owner": text(row, "/owner/username"),
        "createdTime": text(row, "/created_time"),
    }
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        text(row, "/currency"),
        text(row, "/time_zone") or pinterest.UTC_NAME,
        extras={name: value for name, value in extras.items() if value is not None},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts that the user owns, or that others share."""
    request = pinterest.asked("/ad_accounts", None, ("include_shared_accounts", "true"), *_whole())
    return [_account(row) for row in (yield from _listed(request))]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _whole() -> list[tuple[str, str]]:
    return pinterest.paged(pinterest.PAGE, None)


def tree(account: Account) -> Flow[Tree]:
    """What is active or paused, each level to its last page; keywords by their ad groups."""
    nodes: list[Entity] = []
    for one in (CAMPAIGN, AD_GROUP, AD):
        request = pinterest.of_account(account, one.path, *pinterest.statuses(*pinterest.LIVE), *_whole())
        nodes.extend(hierarchy.entity(one, row) for row in (yield from _listed(request)))
    groups = [node.id for node in nodes if node.kind == AD_GROUP.kind]
    for first in range(0, len(groups), pinterest.PAGE):
        some = [("ad_group_ids", one) for one in groups[first : first + pinterest.PAGE]]
        request = pinterest.of_account(account, KEYWORD.path, *some, *_whole())
        nodes.extend(hierarchy.entity(KEYWORD, row) for row in (yield from _listed(request)))
    return Tree(nest(nodes))


def _stored(kind: str) -> Level:
    """The level of a kind that is listed and read by its own; keywords are not."""
    one = level(NETWORK, kind)
    if one is KEYWORD:
        raise refused("kind", "not_supported", "Pinterest's keywords are read in the tree, or as a catalog.")
    return one


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level; a search goes on to further pages until something is found."""
    one = _stored(kind)
    check_query(NETWORK, kind, query)
    asked = pinterest.statuses(*([query.status] if query.status is not None else pinterest.LIVE))
    if query.parent_id is not None:
        asked.append((f"{one.parent.removeprefix('/')}s", query.parent_id))
    sought = (query.search or "").casefold()
    cursor = query.cursor
    found: tuple[Entity, ...] = ()
    for _ in range(FILTER_PAGES):
        request = pinterest.of_account(account, one.path, *asked, *pinterest.paged(query.limit, cursor))
        response = yield from ask(NETWORK, request)
        read_here = [hierarchy.entity(one, row) for row in pinterest.listed(response)]
        found = tuple(entity for entity in read_here if sought in (entity.name or "").casefold())
        cursor = pinterest.bookmark(response)
        if found or cursor is None:
            break
    return Page(found, cursor)


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity as it is."""
    one = _stored(kind)
    url, path = f"/ad_accounts/{{account}}/{one.path}/{{id}}", {"account": account.native_id, "id": entity_id}
    response = yield from ask(NETWORK, pinterest.asked(url, path))
    return hierarchy.entity(one, need(response.body, ""))


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The same: an entity has all that its settings speak of."""
    return (yield from entity(account, kind, entity_id))


# -- insights -----------------------------------------------------------------------------------------------------

COLUMNS = [metric.native.removeprefix("/") for metric in METRICS]
POLL = 15_000  # milliseconds
RESTATED_DAYS = 30  # a conversion counts on the day of the click that led to it, up to 30 days before
ZONE, OWN_ZONE = "reporting_timezone", "AD_ACCOUNT_TIME_ZONE"
UTC_NAMES = (None, pinterest.UTC_NAME, "Etc/UTC")


def _in_own_zone(account: Account, asking: Request, plain: Request) -> Flow[tuple[Response, str | None]]:
    """The answer in days of the account, or in days of UTC (``plain``) where it is refused those; and which zone."""
    response = yield asking
    zone = account.timezone
    if response.status == 400 and asking != plain:
        response, zone = (yield plain), pinterest.UTC_NAME
    problem = failure(NETWORK, response)
    if problem is not None:
        raise problem
    return response, zone


def _sync(account: Account, start: date, end: date) -> Flow[tuple[list[Mapping[str, Json]], str | None]]:
    days = (("start_date", start.isoformat()), ("end_date", end.isoformat()))
    query = (*days, ("granularity", "DAY"), ("columns", ",".join(COLUMNS)))
    own = () if account.timezone in UTC_NAMES else ((ZONE, OWN_ZONE),)
    asking, plain = (pinterest.of_account(account, "analytics", *query, *more) for more in (own, ()))
    response, zone = yield from _in_own_zone(account, asking, plain)
    need(response.body, "", "report")
    return rows(response.body, "", "report"), zone


def _report(account: Account, start: date, end: date, own: bool) -> Request:
    """A report is asked for. Nothing of the account changes: repeated, it is another report."""
    body: dict[str, Json] = {
        "start_date": start.isoformat(),
        "end_date": end.isoformat(),
        "granularity": "DAY",
        "level": "ADVERTISER",
        "columns": list(COLUMNS),
        "report_format": "JSON",
        **({ZONE: OWN_ZONE} if own else {}),
    }
    return evolve(pinterest.sent(account, "POST", "reports", body), nature="read")


def _started(account: Account, start: date, end: date) -> Flow[tuple[list[str], str | None]]:
    """The tokens of the reports of a range, each of at most 186 days, and the zone of their days."""
    tokens: list[str] = []
    zone = account.timezone
    for first, last in windows(start, end, pinterest.REPORT_DAYS):
        own = zone not in UTC_NAMES
        asking, plain = (_report(account, first, last, wanted) for wanted in (own, own and bool(tokens)))
        response, here = yield from _in_own_zone(account, asking, plain)
        zone = here
        tokens.append(ident(response.body, "/token", "report"))
    return tokens, zone


def job_of(tokens: Sequence[str], utc: bool) -> str:
    """One job for the reports of a range: base64url without padding, for tokens hold characters of all kinds.

    A list of several; its first one is empty where the days are those of UTC though the account's are others.
    """
    whole = tokens[0] if len(tokens) == 1 and not utc else dumps(["", *tokens] if utc else list(tokens))
    return base64.urlsafe_b64encode(whole.encode()).rstrip(b"=").decode("ascii")


def tokens_of(job: str) -> tuple[list[str], bool]:
    """The tokens of a job, and whether its days are those of UTC. Raises InvalidInput for what is no job."""
    try:
        whole = base64.b64decode(job + "=" * (-len(job) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise refused("resource", "malformed", "A report is named by the job that its first answer gave.") from None
    try:
        found = loads(whole)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        return [whole], False
    tokens = [one for one in found if one]
    return tokens, len(tokens) < len(found)


def _address(account: Account, token: str) -> Flow[tuple[str, str | None]]:
    """The state of a report, and where its file is."""
    state = (yield from ask(NETWORK, pinterest.of_account(account, "reports", ("token", token)))).body
    status = text(state, "/report_status") or ""
    if status not in (pinterest.IN_PROGRESS, pinterest.FINISHED):
        said = text(state, "/message") or "ask again"
        raise ProviderError(f"Pinterest made no report ({status}): {said}.", native=NativeError(status or None, said))
    return status, text(state, "/url")


def _file(url: str | None) -> Flow[list[Mapping[str, Json]]]:
    """The rows of a finished report."""
    groups = yield from downloaded(url)
    if not isinstance(groups, Mapping):
        return rows(groups, "", "report file")
    # By entity or by day, as the report was sorted.
    return [{"DATE": group, **row} for group in groups for row in rows({"rows": groups[group]}, "/rows", "report file")]


def _from_reports(account: Account, tokens: Sequence[str]) -> Flow[list[Mapping[str, Json]] | str]:
    """The rows of all reports, or the state of one that is still being made."""
    urls: list[str | None] = []
    for token in tokens:
        status, url = yield from _address(account, token)
        if status == pinterest.IN_PROGRESS:
            return status
        urls.append(url)
    native: list[Mapping[str, Json]] = []
    for url in urls:
        native.extend((yield from _file(url)))
    return native


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/DATE")


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account. Up to 90 days back are asked for at once; older ones are reports, to be resumed."""
    today = now.astimezone(UTC).date()
    reached = max(start, min(end, (local_time(account, now) or now).date()))
    if job is None and start >= today - timedelta(days=pinterest.SYNC_DAYS):
        native, zone = yield from _sync(account, start, reached)
    else:
        if job is None:
            tokens, zone = yield from _started(account, start, reached)
            utc = zone != account.timezone
            pending = Pending(job_of(tokens, utc), pinterest.IN_PROGRESS, POLL)
            return Insights.waiting(start, end, zone, pending)
        tokens, utc = tokens_of(job)
        zone = pinterest.UTC_NAME if utc else account.timezone
        found = yield from _from_reports(account, tokens)
        if isinstance(found, str):
            return Insights.waiting(start, end, zone, Pending(job, found, POLL))
        native = found
    told = list(reported(native))
    if told and not all(start <= one <= end for one, _ in told):  # a job resumed without its dates
        start, end = min(one for one, _ in told), max(one for one, _ in told)
    restated = max(start, today - timedelta(days=RESTATED_DAYS))
    notes = [] if zone == account.timezone else ["Days are those of UTC: the account's own are not to be had."]
    coverage = Coverage(start, end, zone, True, restated if restated <= end else None, (), notes)
    return Insights.of(told, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog. A search in ``interests`` is for a name: only digits are the id of one."""
    page = yield from catalogs.catalog(NETWORK, account, resource, query)
    sought = query.search or ""
    if resource != INTERESTS or pinterest.DIGITS(sought):
        return page
    return evolve(page, rows=tuple(row for row in page.rows if sought.casefold() in row.name.casefold()))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The access token as a header."""
    return bearer(request, credentials) if trusted(NETWORK, request) else request
