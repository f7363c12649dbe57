"""Connecting to Meta, and what is read from it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.hierarchy import Entity, FoundAccount, Page, Query, Tree, check_query, nest, owned
from adsunify.adapter.insights import Coverage, Days, Insights, Pending
from adsunify.adapter.network import Account, Level, level
from adsunify.adapter.oauth import App, Credentials, bearer, trusted
from adsunify.adapter.reports import days
from adsunify.errors import NativeError, ProviderError, ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow, Nature, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import zone
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import ident, need, read, text

from . import native as meta
from .tables import METRICS, NETWORK

TOKEN = f"{meta.GRAPH}/oauth/access_token"


def _following(request: Request, response: Response) -> Request | None:
    cursor = meta.next_cursor(response)
    return None if cursor is None else evolve(request, query={**request.query, "after": cursor})


def _listed(request: Request) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a list, to its last page."""
    answers = yield from pages(NETWORK, request, _following)
    return [row for answer in answers for row in meta.listed(answer)]


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page. PKCE is not used: its support is (unverified)."""
    query = {"client_id": app.client_id, "redirect_uri": redirect_uri, "state": state}
    return oauth.authorize_url(meta.CONSENT, **query, response_type="code", scope=",".join(meta.SCOPES))


def _token(app: App, nature: Nature, **more: str) -> Request:
    query = {"client_id": app.client_id, "client_secret": app.client_secret, **more}
    return Request("GET", TOKEN, query=query, nature=nature, signed=False)


def _prolonged(app: App, token: str, now: int) -> Flow[Credentials]:
    """A token of about 60 days for one that still lives; without ``expires_in`` it does not expire."""
    query = {"grant_type": "fb_exchange_token", "fb_exchange_token": token}
    return (yield from oauth.exchange(NETWORK, _token(app, "read", **query), now))


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """A code for a token of some hours, and that for one of about 60 days."""
    request = _token(app, "read_once", redirect_uri=redirect_uri, code=need(answer, "/code", "consent"))
    short = yield from oauth.exchange(NETWORK, request, now)
    return (yield from _prolonged(app, short.access_token, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """There is no refresh token: the living token is exchanged; an expired one cannot be."""
    return (yield from _prolonged(app, credentials.access_token, now))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Removes the app from the user."""
    response = yield from ask(NETWORK, Request("DELETE", f"{meta.GRAPH}/me/permissions", nature="read_once"))
    if read(response.body, "/success") is not True:
        raise ProviderUnreadable("Meta did not say that the app was removed.")


# -- accounts -----------------------------------------------------------------------------------------------------

ACCOUNT_FIELDS = (
    "id,account_id,name,currency,timezone_name,account_status,disable_reason,min_daily_budget,default_dsa_beneficiary,"
    "default_dsa_payor,business{id,name}"
)


def _account(row: Mapping[str, Json]) -> FoundAccount:
    native_id, status = ident(row, "/id", "account"), text(row, "/account_status")
    # Meta leaves empty fields out of an answer: what was asked for and is not there is not set.
    extras = {extra: text(row, f"/default_{name}") or "" for extra, name in meta.DSA.items()}
    numbers = {"minDailyBudget": text(row, "/min_daily_budget"), "accountStatus": status}
    extras |= {name: number for name, number in numbers.items() if number is not None}
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        text(row, "/currency"),
        text(row, "/timezone_name"),
        meta.ACCOUNT_STATUS.get(status, status) if status is not None else None,
        extras,
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts of the token's user."""
    found = yield from _listed(meta.edge("me", "adaccounts", meta.paged(ACCOUNT_FIELDS, meta.PAGE, None)))
    return [_account(row) for row in found]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, ad sets and ads, each to its last page."""
    nodes: list[Entity] = []
    for one in NETWORK.levels:
        fields = ",".join(["id", "name", "status", "effective_status", *filter(None, [one.parent.removeprefix("/")])])
        found = yield from _listed(meta.edge(account.native_id, one.path, meta.paged(fields, meta.PAGE, None)))
        nodes.extend(hierarchy.entity(one, row) for row in found)
    return Tree(nest(nodes))


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level, of the whole account or of one parent."""
    one = check_query(NETWORK, kind, query)
    asked = meta.paged(",".join(one.fields), query.limit, query.cursor)
    if query.status is not None:
        asked["effective_status"] = dumps([query.status])
    if query.search is not None:
        asked["filtering"] = dumps([{"field": "name", "operator": "CONTAIN", "value": query.search}])
    response = yield from ask(NETWORK, meta.edge(query.parent_id or account.native_id, one.path, asked))
    found = tuple(hierarchy.entity(one, row) for row in meta.listed(response))
    return Page(found, meta.next_cursor(response))


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity with the fields of its level. Graph API: an id may be anybody's, of any type."""
    line = yield from owned(NETWORK, account, (yield from _one(level(NETWORK, kind), entity_id)), _one)
    return line[0]


def _one(one: Level, entity_id: str) -> Flow[Entity]:
    try:
        response = yield from ask(NETWORK, meta.node(entity_id, ",".join((*one.fields, meta.OWNER))))
    except ProviderError as problem:
        if meta.of_another_node(problem, one.native):
            raise ProviderNotFound(f"Meta: {entity_id} is no {one.native}.", native=problem.native) from None
        raise
    return hierarchy.entity(one, need(response.body, ""))


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The same: the fields of a level are all that its settings speak of."""
    return (yield from entity(account, kind, entity_id))


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_FIELDS = "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values"
REPORT_PAGE = "500"
STATE_FIELDS = "async_status,async_percent_completion,error_code,error_message,error_subcode"
COMPLETED, OVER = "Job Completed", ("Job Failed", "Job Skipped")
SYNC_DAYS = 90
RESTATED_DAYS = 7  # (unverified) the account's attribution setting decides
POLL = 15_000  # milliseconds
TOO_MUCH = ("1", "1487534", "1504018", "1504038")  # too much data, or a timeout, for one answer


def _started(account: Account, query: Mapping[str, str]) -> Flow[str]:
    # The POST makes a report and changes nothing in the account: a read.
    url, path = f"{meta.GRAPH}/{{account}}/insights", {"account": account.native_id}
    response = yield from ask(NETWORK, Request("POST", url, path, body=dict(query), encoding="form_json"))
    return ident(response.body, "/report_run_id", "report")


def _finished(job: str) -> Flow[str | None]:
    """The state of a report that is still being made, None where it is ready."""
    state = (yield from ask(NETWORK, meta.node(job, STATE_FIELDS))).body
    status = text(state, "/async_status") or ""
    if status in OVER:
        said = text(state, "/error_message") or "ask again"
        code = text(state, "/error_code")
        raise ProviderError(f"Meta made no report ({status}): {said}.", native=NativeError(code, said))
    # Marketing API: only both together mean that the report is ready.
    return None if status == COMPLETED and text(state, "/async_percent_completion") == "100" else status


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/date_start")


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account. Up to 90 are asked for at once; more, or too much data, is a report to be resumed."""
    today = now.astimezone(zone(account.timezone)).date() if account.timezone else now.date()
    days = {"since": start.isoformat(), "until": end.isoformat()}
    query = {"level": "account", "time_increment": "1", "time_range": dumps(days), "fields": REPORT_FIELDS}
    native: list[Mapping[str, Json]] | None = None
    if job is None and (end - start).days < SYNC_DAYS:
        try:
            native = yield from _listed(meta.edge(account.native_id, "insights", query | {"limit": REPORT_PAGE}))
        except ProviderError as problem:
            if not set((problem.native.code or "").split("/")).intersection(TOO_MUCH):
                raise
    if native is None:
        job = job or (yield from _started(account, query))
        status = yield from _finished(job)
        if status is not None:
            return Insights.waiting(start, end, account.timezone, Pending(job, status, POLL))
        native = yield from _listed(meta.edge(job, "insights", {"limit": REPORT_PAGE}))
    found = list(reported(native))
    if found and not all(start <= one <= end for one, _ in found):  # a job resumed without its dates
        start, end = min(one for one, _ in found), max(one for one, _ in found)
    restated = today - timedelta(days=RESTATED_DAYS)
    provisional = max(start, restated) if end >= restated else None
    coverage = Coverage(start, end, account.timezone, provisional_from=provisional)
    return Insights.of(found, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The token as a header, and the proof that the app's secret is known."""
    if not trusted(NETWORK, request):
        return request
    signed = bearer(request, credentials)
    if not app.client_secret:
        return signed
    proof = hmac.new(app.client_secret.encode(), credentials.access_token.encode(), hashlib.sha256).hexdigest()
    return evolve(signed, query={**signed.query, "appsecret_proof": proof})
