"""Reading from Meta: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.account import Account
from adsunify.adapter.flows import fetch_response, fetch_rows, next_page_builder
from adsunify.adapter.hierarchy import (
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    fetch_lineage,
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights, PendingReport, find_report_range
from adsunify.adapter.network import Level
from adsunify.adapter.oauth import Credentials, OAuthClient, add_bearer_token, can_sign
from adsunify.adapter.reports import parse_report_rows
from adsunify.errors import NativeErrorDetails, ProviderError, ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow, Request, RequestKind, Response
from adsunify.values.dates import get_timezone
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import get_text, get_value, require_id, require_value

from . import native as meta
from .tables import METRICS, NETWORK

TOKEN_URL = f"{meta.API_URL}/oauth/access_token"


_build_next_request = next_page_builder("after", meta.parse_next_cursor)
_fetch_rows = partial(fetch_rows, NETWORK, following=_build_next_request, parse=meta.parse_rows)


# -- connecting ---------------------------------------------------------------------------------------------------


def build_authorization_url(app: OAuthClient, redirect_uri: str, state: str, verifier: str) -> str:
    """Build the address of the consent page, without PKCE."""
    # unverified: whether the consent page accepts a code_challenge.
    query = {"client_id": app.client_id, "redirect_uri": redirect_uri, "state": state}
    return oauth.build_consent_url(meta.CONSENT_URL, **query, response_type="code", scope=",".join(meta.OAUTH_SCOPES))


def _build_exchange_request(app: OAuthClient, nature: RequestKind, **parameters: str) -> Request:
    query = {"client_id": app.client_id, "client_secret": app.client_secret, **parameters}
    return Request("GET", TOKEN_URL, query=query, kind=nature, is_signed=False)


def _extend_token(app: OAuthClient, token: str, now: int) -> Flow[Credentials]:
    """Exchange a valid token for a token of about 60 days. A token without ``expires_in`` does not expire."""
    query = {"grant_type": "fb_exchange_token", "fb_exchange_token": token}
    return (yield from oauth.fetch_token(NETWORK, _build_exchange_request(app, "read", **query), now))


def fetch_credentials(
    app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
) -> Flow[Credentials]:
    """Exchange the code for a token of some hours, and this token for a token of about 60 days."""
    request = _build_exchange_request(
        app, "read_once", redirect_uri=redirect_uri, code=require_value(answer, "/code", "consent")
    )
    short = yield from oauth.fetch_token(NETWORK, request, now)
    return (yield from _extend_token(app, short.access_token, now))


def refresh_credentials(app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Exchange the valid token for a new one. Meta has no refresh tokens, and cannot exchange an expired token."""
    return (yield from _extend_token(app, credentials.access_token, now))


def revoke_credentials(app: OAuthClient, credentials: Credentials) -> Flow[None]:
    """Remove the app from the user."""
    response = yield from fetch_response(NETWORK, Request("DELETE", f"{meta.API_URL}/me/permissions", kind="read_once"))
    if get_value(response.body, "/success") is not True:
        raise ProviderUnreadable("Meta did not say that the app was removed.")


# -- accounts -----------------------------------------------------------------------------------------------------

ACCOUNT_FIELDS = (
    "id,account_id,name,currency,timezone_name,account_status,disable_reason,min_daily_budget,default_dsa_beneficiary,"
    "default_dsa_payor,business{id,name}"
)


def _parse_account(row: Mapping[str, Json]) -> DiscoveredAccount:
    status = get_text(row, "/account_status")
    native_status = meta.ACCOUNT_STATUS.get(status, status) if status is not None else None
    account = parse_account(NETWORK, row, get_text(row, "/timezone_name"), native_status)
    # Meta leaves empty fields out of a response. So if a requested field is absent, it is not set.
    read = {extra: get_text(row, f"/default_{name}") or "" for extra, name in meta.DSA_MEMBERS.items()}
    return evolve(account, extras={**read, **account.extras})


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts of the token's user."""
    rows = yield from _fetch_rows(
        meta.build_edge_request("me", "adaccounts", meta.build_fields_query(ACCOUNT_FIELDS, meta.PAGE_SIZE, None))
    )
    return [_parse_account(row) for row in rows]


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_entities(level: Level, response: Response) -> tuple[ParsedEntity, ...]:
    return tuple(hierarchy.parse_entity(level, row) for row in meta.parse_rows(response))


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all pages of campaigns, ad sets and ads."""

    def build_request(level: Level) -> Request:
        fields = ",".join(["id", "name", "status", "effective_status", *filter(None, [level.parent.removeprefix("/")])])
        query = meta.build_fields_query(fields, meta.PAGE_SIZE, None)
        return meta.build_edge_request(account.native_id, level.path, query)

    return hierarchy.fetch_tree(NETWORK, build_request, _build_next_request, _parse_entities)


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level, in the whole account or below one parent."""
    level = check_query(NETWORK, kind, query)
    page_query = meta.build_fields_query(",".join(level.fields), query.limit, query.cursor)
    if query.status is not None:
        page_query["effective_status"] = dumps([query.status])
    if query.search is not None:
        page_query["filtering"] = dumps([{"field": "name", "operator": "CONTAIN", "value": query.search}])
    request = meta.build_edge_request(query.parent_id or account.native_id, level.path, page_query)
    response = yield from fetch_response(NETWORK, request)
    return EntityPage(_parse_entities(level, response), meta.parse_next_cursor(response))


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity with the fields of its level. Graph API: an ID may belong to any type of node and any owner."""
    return (yield from fetch_lineage(NETWORK, account, kind, entity_id, _fetch_level_entity))[0]


def _fetch_level_entity(level: Level, entity_id: str) -> Flow[ParsedEntity]:
    request = meta.build_node_request(entity_id, ",".join((*level.fields, meta.OWNER_MEMBER)))
    try:
        response = yield from fetch_response(NETWORK, request)
    except ProviderError as problem:
        if meta.is_node_type_error(problem, level.native):
            raise ProviderNotFound(f"Meta: {entity_id} is no {level.native}.", native=problem.native) from None
        raise
    entity = hierarchy.parse_entity(level, require_value(response.body, ""))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


fetch_editable_entity = fetch_entity


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_FIELDS = "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values"
REPORT_PAGE_SIZE = "500"
REPORT_STATE_FIELDS = "async_status,async_percent_completion,error_code,error_message,error_subcode"
NEW_STATE = "Job Not Started"
COMPLETED_STATE, FAILED_STATES = "Job Completed", ("Job Failed", "Job Skipped")
SYNC_DAYS = 90
RESTATED_DAYS = 28  # unverified: figures are final after so many days; deleted ads get figures for as long
POLL_INTERVAL_MS = 15_000  # milliseconds
TOO_MUCH_DATA_CODES = ("1", "1487534", "1504018", "1504038")  # too much data for one response, or a timeout of Meta


def build_report_query(level: str, start: date, end: date, fields: str = REPORT_FIELDS) -> dict[str, str]:
    """Build the query of a report by days. ``level``: the native name of the level."""
    days = {"since": start.isoformat(), "until": end.isoformat()}
    return {"level": level, "time_increment": "1", "time_range": dumps(days), "fields": fields}


def is_short_range(start: date, end: date) -> bool:
    """Return whether the range is short enough for a synchronous report."""
    return (end - start).days < SYNC_DAYS


def is_too_much_data(problem: ProviderError) -> bool:
    """Return whether Meta refused a synchronous report because of its size, so that a job must make it."""
    return bool(set((problem.native.code or "").split("/")).intersection(TOO_MUCH_DATA_CODES))


def start_report(account: Account, query: Mapping[str, str]) -> Flow[str]:
    """Start a report and return its id. The POST changes nothing in the account, so it is a read."""
    url, path = f"{meta.API_URL}/{{account}}/insights", {"account": account.native_id}
    response = yield from fetch_response(NETWORK, Request("POST", url, path, body=dict(query), encoding="form_json"))
    return require_id(response.body, "/report_run_id", "report")


def fetch_pending_state(job: str) -> Flow[str | None]:
    """Return the state of an unfinished report; None for a finished one."""
    state = (yield from fetch_response(NETWORK, meta.build_node_request(job, REPORT_STATE_FIELDS))).body
    status = get_text(state, "/async_status") or ""
    if status in FAILED_STATES:
        reason = get_text(state, "/error_message") or "ask again"
        code = get_text(state, "/error_code")
        raise ProviderError(f"Meta made no report ({status}): {reason}.", native=NativeErrorDetails(code, reason))
    # Marketing API, "Insights best practices": the report is finished only if both values say so.
    return None if status == COMPLETED_STATE and get_text(state, "/async_percent_completion") == "100" else status


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, "/date_start")


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures: up to 90 days in one request, else from a job that a later call resumes."""
    today = now.astimezone(get_timezone(account.timezone)).date() if account.timezone else now.date()
    query = build_report_query("account", start, end)
    native: list[Mapping[str, Json]] | None = None
    if job is None and is_short_range(start, end):
        try:
            native = yield from _fetch_rows(
                meta.build_edge_request(account.native_id, "insights", query | {"limit": REPORT_PAGE_SIZE})
            )
        except ProviderError as problem:
            if not is_too_much_data(problem):
                raise
    if native is None:
        job = job or (yield from start_report(account, query))
        status = yield from fetch_pending_state(job)
        if status is not None:
            return Insights.from_pending_report(
                start, end, account.timezone, PendingReport(job, status, POLL_INTERVAL_MS)
            )
        native = yield from _fetch_rows(meta.build_edge_request(job, "insights", {"limit": REPORT_PAGE_SIZE}))
    dated = list(parse_daily_metrics(account, native, start, end))
    coverage = Coverage(*find_report_range(dated, start, end), account.timezone)
    coverage = coverage.mark_provisional(today - timedelta(days=RESTATED_DAYS))
    return Insights.from_days(dated, coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


fetch_catalog_page = partial(catalogs.fetch_catalog_page, NETWORK)


def sign_request(request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str) -> Request:
    """Add the token as a header, and the proof that the sender knows the app's secret."""
    if not can_sign(NETWORK, request):
        return request
    signed = add_bearer_token(request, credentials)
    if not app.client_secret:
        return signed
    proof = hmac.new(app.client_secret.encode(), credentials.access_token.encode(), hashlib.sha256).hexdigest()
    return evolve(signed, query={**signed.query, "appsecret_proof": proof})
