"""Reading from TikTok: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.account import Account
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import find_read_error
from adsunify.adapter.flows import completed_flow, fetch_response, fetch_rows
from adsunify.adapter.hierarchy import (
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    parse_account,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights, PendingReport, find_report_range
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.oauth import Credentials, OAuthClient, can_sign
from adsunify.adapter.reports import parse_date, parse_report_rows
from adsunify.adapter.settings import to_account_time
from adsunify.errors import NativeErrorDetails, ProviderError, ProviderNotFound, ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import get_text, get_value, require_id, require_value

from . import native as tiktok
from .tables import METRICS, NETWORK, REPORT_METRICS

TOKEN_URL = f"{tiktok.API_URL}/oauth2/access_token/"
REVOKE_URL = f"{tiktok.API_URL}/oauth2/revoke_token/"
ADVERTISERS_URL = f"{tiktok.API_URL}/oauth2/advertiser/get/"


_fetch_rows = partial(fetch_rows, NETWORK, following=tiktok.build_next_request, parse=tiktok.parse_rows)


# -- connecting ---------------------------------------------------------------------------------------------------


def build_authorization_url(app: OAuthClient, redirect_uri: str, state: str, verifier: str) -> str:
    """Build the address of the consent page. The developer app holds the permissions; there is no PKCE."""
    return oauth.build_consent_url(tiktok.CONSENT_URL, app_id=app.client_id, state=state, redirect_uri=redirect_uri)


def _build_app_secret_request(address: str, app: OAuthClient, **members: str) -> Request:
    body = {"app_id": app.client_id, "secret": app.client_secret, **members}
    return Request("POST", address, body=body, encoding="json", kind="read_once", is_signed=False)


def fetch_credentials(
    app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
) -> Flow[Credentials]:
    """Exchange an ``auth_code`` for a token that does not expire."""
    code = require_value(answer, "/auth_code", "consent")
    response = yield from fetch_response(NETWORK, _build_app_secret_request(TOKEN_URL, app, auth_code=code))
    token = get_text(response.body, "/data/access_token")
    if not token:
        raise ProviderUnreadable("TikTok: the token answer has no access_token.")
    seconds = get_value(response.body, "/data/expires_in")
    lives = isinstance(seconds, int) and not isinstance(seconds, bool)
    return Credentials(token, get_text(response.body, "/data/refresh_token"), now + seconds * 1000 if lives else None)


def refresh_credentials(app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Return the same credentials: an advertiser's token cannot be renewed."""
    return (yield from completed_flow(credentials))


def revoke_credentials(app: OAuthClient, credentials: Credentials) -> Flow[None]:
    """Revoke the token."""
    request = evolve(_build_app_secret_request(REVOKE_URL, app, access_token=credentials.access_token), is_signed=True)
    response = yield from fetch_response(NETWORK, request)
    require_value(response.body, "/code")


# -- accounts -----------------------------------------------------------------------------------------------------

# API for Business: the last two are returned only if they are requested. An unknown name is an error (40002).
ACCOUNT_FIELDS = [
    *("advertiser_id", "name", "currency", "timezone", "display_timezone", "status", "role", "country", "company"),
    *("balance", "owner_bc_id", "advertiser_account_type", "can_use_custom_identity", "ads_only_mode"),
]


def _parse_account(row: Mapping[str, Json]) -> DiscoveredAccount:
    timezone = get_text(row, "/display_timezone") or get_text(row, "/timezone")
    return parse_account(NETWORK, row, timezone, get_text(row, "/status"), id_pointer="/advertiser_id")


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts that the token reaches. ``sign_request`` adds the app's ID to the first request."""
    references = tiktok.parse_rows((yield from fetch_response(NETWORK, Request("GET", ADVERTISERS_URL))))
    ids = [require_id(row, "/advertiser_id", "account") for row in references]
    accounts: list[DiscoveredAccount] = []
    for first in range(0, len(ids), tiktok.MAX_ACCOUNTS_PER_REQUEST):
        some = ids[first : first + tiktok.MAX_ACCOUNTS_PER_REQUEST]
        query = {"advertiser_ids": dumps(some), "fields": dumps(ACCOUNT_FIELDS)}
        response = yield from fetch_response(NETWORK, Request("GET", f"{tiktok.API_URL}/advertiser/info/", query=query))
        accounts += [_parse_account(row) for row in tiktok.parse_rows(response)]
    return accounts


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_entity(level: Level, row: Mapping[str, Json]) -> ParsedEntity:
    if level.kind == "ad" and get_text(row, level.id) is None:  # an ad of the Smart+ endpoints
        level = evolve(level, id=f"/{tiktok.SMART_AD_ID_MEMBER}")
    return hierarchy.parse_entity(level, row)


def _parse_entities(level: Level, response: Response) -> list[ParsedEntity]:
    return [_parse_entity(level, row) for row in tiktok.parse_rows(response)]


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all pages of campaigns, ad groups and ads. TikTok leaves out deleted entities."""

    def build_request(level: Level) -> Request:
        page = {"page": "1", "page_size": str(tiktok.PAGE_SIZE)}
        return tiktok.build_account_get_request(account, f"/{level.path}/get/", **page)

    return hierarchy.fetch_tree(NETWORK, build_request, tiktok.build_next_request, _parse_entities)


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. The cursor is the number of the next page and the size of all pages: ``2:50``."""
    level = get_level(NETWORK, kind)
    filtering: dict[str, Json] = {}
    if query.parent_id is not None:
        if not level.parent:
            raise invalid_input("parentId", "not_supported", f"A {kind} of TikTok has no parent to filter by.")
        filtering[f"{level.parent.removeprefix('/')}s"] = [query.parent_id]
    if query.search is not None:
        filtering[level.name.removeprefix("/")] = query.search
    switch = query.status if query.status in tiktok.CREATE_STATUSES else None  # TikTok has no filter for these statuses
    if query.status is not None and switch is None:
        own = f"{level.path.upper()}_STATUS_"
        if query.status not in level.status_filters and not query.status.startswith(own):
            accepted = (
                f"TikTok filters by these native statuses: {', '.join(level.status_filters)}, and its details {own}..."
            )
            raise invalid_input("status", "choice", accepted)
        name = "primary_status" if query.status.startswith("STATUS_") else "secondary_status"
        filtering[name] = query.status
    page, _, size = (query.cursor or "1").partition(":")
    size = size or str(min(query.limit, tiktok.PAGE_SIZE))
    filter_parameters: dict[str, Json] = {"filtering": filtering} if filtering else {}
    request = tiktok.build_account_get_request(
        account, f"/{level.path}/get/", **filter_parameters, page=page, page_size=size
    )
    response = yield from fetch_response(NETWORK, request)
    entities = tuple(
        _parse_entity(level, row)
        for row in tiktok.parse_rows(response)
        if switch in (None, get_text(row, "/operation_status"))
    )
    following = tiktok.parse_next_page(response)
    return EntityPage(entities, None if following is None else f"{following}:{size}")


def get_entity_flow(entities: ParsedEntity) -> tiktok.CreateFlow:
    """Return the flow that created an entity. Raises InvalidInput for the old Smart+, which is only read."""
    if get_value(entities.native, f"/{tiktok.SMART_AD_ID_MEMBER}") is not None:
        return tiktok.SMART_PLUS_FLOW
    automation = get_text(entities.native, "/campaign_automation_type")
    if automation == tiktok.OLD_SMART_PLUS:
        message = "TikTok: this belongs to an older Smart+ campaign, which is only read here."
        raise invalid_input("entityId", "not_supported", message)
    return tiktok.FLOW_BY_AUTOMATION.get(automation or "", tiktok.MANUAL_FLOW)


def _find_entity(
    account: Account, kind: Kind, entity_id: str, name: str, prefix: str = ""
) -> Flow[ParsedEntity | None]:
    path = f"{prefix}/{tiktok.RESOURCES[kind]}/get/"
    response = yield from fetch_response(
        NETWORK, tiktok.build_account_get_request(account, path, filtering={f"{name}s": [entity_id]})
    )
    for row in tiktok.parse_rows(response):
        if get_text(row, f"/{name}") == entity_id:
            return _parse_entity(get_level(NETWORK, kind), row)
    return None


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity. An ad of the Smart+ flow has another ID in the Smart+ endpoints, so the ID is tried in both."""
    level = get_level(NETWORK, kind)
    entity_kind: Kind = next(each for each in tiktok.ID_MEMBERS if each == level.kind)
    entity = yield from _find_entity(account, entity_kind, entity_id, tiktok.ID_MEMBERS[entity_kind])
    if entity is None and entity_kind == "ad":
        entity = yield from _find_entity(
            account, entity_kind, entity_id, tiktok.SMART_AD_ID_MEMBER, tiktok.PATH_PREFIXES[tiktok.SMART_PLUS_FLOW]
        )
    if entity is None:
        raise ProviderNotFound(f"TikTok has no such {tiktok.KIND_NAMES[entity_kind]}, or it is deleted.")
    return entity


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity from the endpoints of the flow that created it."""
    entity = yield from fetch_entity(account, kind, entity_id)
    if get_text(entity.native, "/campaign_automation_type") == tiktok.OLD_SMART_PLUS:
        return entity
    if get_entity_flow(entity) == tiktok.MANUAL_FLOW or (
        kind == "ad" and get_value(entity.native, "/ad_text_list") is not None
    ):
        return entity
    name = tiktok.SMART_AD_ID_MEMBER if kind == "ad" else tiktok.ID_MEMBERS[kind]
    own_id = require_id(entity.native, f"/{name}", "entity")
    own = yield from _find_entity(account, kind, own_id, name, tiktok.PATH_PREFIXES[tiktok.SMART_PLUS_FLOW])
    if own is None:
        return entity
    # Only a response of the manual endpoint has the member that names the flow, so the member is added.
    return evolve(own, native={**own.native, "campaign_automation_type": tiktok.NEW_SMART_PLUS})


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_DAYS = 30  # API for Business, integrated report: days in one request with stat_time_day
TASK_COMPLETED_STATE, TASK_FAILED_STATES = "SUCCESS", ("FAILED", "CANCELED")
DAY_POINTER = "/dimensions/stat_time_day"
# unverified: a conversion counts on the day of the ad's impression, up to 28 days before the conversion. Other
# figures are final on the next day.
RESTATED_DAYS = 28
POLL_INTERVAL_MS = 5_000  # milliseconds between two reads of a report task's state


def build_report_requests(
    account: Account,
    start: date,
    end: date,
    data_level: str,
    dimension: str = "advertiser_id",
    attributes: Sequence[str] = (),
    **more: Json,
) -> list[Request]:
    """Build the requests of the first pages of a report by days: one for each range of 30 days.

    ``dimension`` is the id of the level, ``attributes`` are further metrics, and ``more`` are further parameters.
    """
    return [
        tiktok.build_account_get_request(
            account,
            "/report/integrated/get/",
            service_type="AUCTION",
            report_type="BASIC",
            data_level=data_level,
            dimensions=[dimension, "stat_time_day"],
            metrics=[*attributes, *REPORT_METRICS],
            start_date=first.isoformat(),
            end_date=last.isoformat(),
            page="1",
            page_size=str(tiktok.PAGE_SIZE),
            **more,
        )
        for first, last in split_date_range(start, end, REPORT_DAYS)
    ]


def get_restated_day(account: Account, now: datetime) -> date:
    """Return the first day whose figures TikTok may still change."""
    return (to_account_time(account, now) or now).date() - timedelta(days=RESTATED_DAYS)


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row of a report, and its figures."""
    return parse_report_rows(METRICS, native, DAY_POINTER, parse_day)


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read daily figures; days are in the account's time zone. ``job``: a report task that was created elsewhere."""
    native: list[Mapping[str, Json]] = []
    for request in () if job is not None else build_report_requests(account, start, end, "AUCTION_ADVERTISER"):
        native += yield from _fetch_rows(request)
    if job is not None:
        rows = yield from _fetch_task_rows(account, job)
        if isinstance(rows, PendingReport):
            return Insights.from_pending_report(start, end, account.timezone, rows)
        native = rows
    days = list(parse_daily_metrics(account, native, start, end))
    coverage = Coverage(*find_report_range(days, start, end), account.timezone)
    coverage = coverage.mark_provisional(get_restated_day(account, now))
    return Insights.from_days(days, coverage, NETWORK.missing_day, native)


def _fetch_task_rows(account: Account, task: str) -> Flow[list[Mapping[str, Json]] | PendingReport]:
    """Return the rows of a report task in the form of the synchronous report, or the state of an unfinished task."""
    checked = yield from fetch_response(
        NETWORK, tiktok.build_account_get_request(account, "/report/task/check/", task_id=task)
    )
    status = str(require_value(checked.body, "/data/status"))
    if status in TASK_FAILED_STATES:
        raise ProviderError(
            f"TikTok made no report ({status}).", native=NativeErrorDetails(status, "The report task ended.")
        )
    if status != TASK_COMPLETED_STATE:
        return PendingReport(task, status, POLL_INTERVAL_MS)
    file = yield evolve(
        tiktok.build_account_get_request(account, "/report/task/download/", task_id=task), response_format="bytes"
    )
    content = file.body if isinstance(file.body, bytes) else b""
    if not file.is_ok or content.lstrip().startswith(b"{"):  # an error, or the address of a file
        problem = find_read_error(NETWORK, Response.from_bytes(file.status, file.headers, content))
        raise problem or ProviderUnreadable("TikTok: the report is no CSV text; ask for output_format CSV_STRING.")
    return _parse_csv_rows(content)


def _parse_csv_rows(content: bytes) -> list[Mapping[str, Json]]:
    """Parse rows of CSV. Every column is a metric or a dimension."""
    # unverified: the columns of a CSV report have the names of metrics and dimensions.
    try:
        table = csv.DictReader(content.decode("utf-8-sig").splitlines(), strict=True)
        rows = list(table)
    except (UnicodeDecodeError, csv.Error) as problem:
        raise ProviderUnreadable("TikTok: the report is no CSV text.") from problem
    if "stat_time_day" not in (table.fieldnames or ()):
        raise ProviderUnreadable("TikTok: the report has no days (stat_time_day).")
    return [
        {
            "dimensions": {name: value for name, value in row.items() if name and name not in REPORT_METRICS},
            "metrics": {name: value for name, value in row.items() if name in REPORT_METRICS},
        }
        for row in rows
    ]


def parse_day(value: Json) -> date:
    """Return the day of a row. Raises ProviderUnreadable if it has none."""
    return parse_date(value[:10] if isinstance(value, str) else None)


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Read one page of a catalog. ``locations:US`` are the locations of a country."""
    name, _, country = resource.partition(":")
    if name != "locations":
        return (yield from catalogs.fetch_catalog_page(NETWORK, account, resource, query))
    whole = yield from catalogs.fetch_catalog_page(NETWORK, account, name, evolve(query, search=None))
    search_text = (query.search or "").casefold()
    rows = (row for row in whole.rows if not country or get_text(row.native, "/region_code") == country)
    return evolve(whole, rows=tuple(row for row in rows if search_text in row.name.casefold()))


def sign_request(request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str) -> Request:
    """Add the token as a header. The list of accounts also needs the app's ID and secret."""
    if not can_sign(NETWORK, request):
        return request
    signed = evolve(request, headers={**request.headers, tiktok.TOKEN_HEADER: credentials.access_token})
    if request.url != ADVERTISERS_URL:
        return signed
    return evolve(signed, query={**signed.query, "app_id": app.client_id, "secret": app.client_secret})
