"""Connecting to TikTok, and what is read from it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import failure
from adsunify.adapter.flows import ask, pages, settled
from adsunify.adapter.hierarchy import Entity, FoundAccount, Page, Query, Tree, nest
from adsunify.adapter.insights import Coverage, Days, Insights, Pending
from adsunify.adapter.network import Account, level
from adsunify.adapter.oauth import App, Credentials, trusted
from adsunify.adapter.reports import day, days
from adsunify.errors import NativeError, ProviderError, ProviderNotFound, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import windows
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import ident, need, read, text

from . import native as tiktok
from .tables import METRICS, NETWORK, REPORTED

TOKEN = f"{tiktok.BASE}/oauth2/access_token/"
REVOKE = f"{tiktok.BASE}/oauth2/revoke_token/"
ADVERTISERS = f"{tiktok.BASE}/oauth2/advertiser/get/"


def _following(request: Request, response: Response) -> Request | None:
    page = tiktok.next_page(response)
    return None if page is None else evolve(request, query={**request.query, "page": str(page)})


def _all(request: Request) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a list, to its last page."""
    answers = yield from pages(NETWORK, request, _following)
    return [row for answer in answers for row in tiktok.listed(answer)]


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page; what is permitted is chosen on the developer app, and there is no PKCE."""
    return oauth.authorize_url(tiktok.CONSENT, app_id=app.client_id, state=state, redirect_uri=redirect_uri)


def _with_secret(address: str, app: App, **more: str) -> Request:
    body = {"app_id": app.client_id, "secret": app.client_secret, **more}
    return Request("POST", address, body=body, encoding="json", nature="read_once", signed=False)


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """An ``auth_code`` for a token that does not expire."""
    code = need(answer, "/auth_code", "consent")
    response = yield from ask(NETWORK, _with_secret(TOKEN, app, auth_code=code))
    token = text(response.body, "/data/access_token")
    if not token:
        raise ProviderUnreadable("TikTok: the token answer has no access_token.")
    seconds = read(response.body, "/data/expires_in")
    lives = isinstance(seconds, int) and not isinstance(seconds, bool)
    return Credentials(token, text(response.body, "/data/refresh_token"), now + seconds * 1000 if lives else None)


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """The same again: nothing renews an advertiser's token."""
    return (yield from settled(credentials))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Takes the token's access away."""
    request = evolve(_with_secret(REVOKE, app, access_token=credentials.access_token), signed=True)
    response = yield from ask(NETWORK, request)
    need(response.body, "/code")


# -- accounts -----------------------------------------------------------------------------------------------------

# API for Business: the last two come only when asked for, and an unknown name here is an error.
ACCOUNT_FIELDS = [
    *("advertiser_id", "name", "currency", "timezone", "display_timezone", "status", "role", "country", "company"),
    *("balance", "owner_bc_id", "advertiser_account_type", "can_use_custom_identity", "ads_only_mode"),
]
FLAGS = {"canUseCustomIdentity": "can_use_custom_identity", "adsOnlyMode": "ads_only_mode"}


def _account(row: Mapping[str, Json]) -> FoundAccount:
    native_id = ident(row, "/advertiser_id", "account")
    extras = {extra: str(row[name]).lower() for extra, name in FLAGS.items() if isinstance(row.get(name), bool)}
    owner = text(row, "/owner_bc_id")
    zone = text(row, "/display_timezone") or text(row, "/timezone")
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        text(row, "/currency"),
        zone,
        text(row, "/status"),
        extras | ({"ownerBcId": owner} if owner else {}),
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts that the token reaches; ``sign`` adds the app to the first request."""
    reached = tiktok.listed((yield from ask(NETWORK, Request("GET", ADVERTISERS))))
    ids = [ident(row, "/advertiser_id", "account") for row in reached]
    found: list[FoundAccount] = []
    for first in range(0, len(ids), tiktok.ACCOUNTS_AT_ONCE):
        some = ids[first : first + tiktok.ACCOUNTS_AT_ONCE]
        query = {"advertiser_ids": dumps(some), "fields": dumps(ACCOUNT_FIELDS)}
        response = yield from ask(NETWORK, Request("GET", f"{tiktok.BASE}/advertiser/info/", query=query))
        found += [_account(row) for row in tiktok.listed(response)]
    return found


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _entity(kind: str, row: Mapping[str, Json]) -> Entity:
    one = level(NETWORK, kind)
    if kind == "ad" and text(row, one.id) is None:  # an ad as the Smart+ endpoints show it
        one = evolve(one, id=f"/{tiktok.SMART_AD}")
    found = hierarchy.entity(one, row)
    # API for Business: the switch of a deleted entity may still say ENABLE.
    gone = (text(row, "/secondary_status") or "").endswith("_STATUS_DELETE")
    return evolve(found, status="deleted") if gone else found


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, ad groups and ads, each to its last page; deleted ones are hidden."""
    nodes: list[Entity] = []
    for one in NETWORK.levels:
        asked = tiktok.asked(account, f"/{one.path}/get/", page="1", page_size=str(tiktok.PAGE))
        rows = yield from _all(asked)
        nodes.extend(_entity(one.kind, row) for row in rows)
    return Tree(nest(nodes))


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level. The cursor is the next page and the size of all pages: ``2:50``."""
    one = level(NETWORK, kind)
    filtering: dict[str, Json] = {}
    if query.parent_id is not None:
        if not one.parent:
            raise refused("parentId", "not_supported", f"A {kind} of TikTok has no parent to filter by.")
        filtering[f"{one.parent.removeprefix('/')}s"] = [query.parent_id]
    if query.search is not None:
        filtering[one.name.removeprefix("/")] = query.search
    switch = query.status if query.status in tiktok.BORN else None  # TikTok has no filter for it
    if query.status is not None and switch is None:
        own = f"{one.path.upper()}_STATUS_"
        if query.status not in one.filters and not query.status.startswith(own):
            accepted = f"TikTok filters by these native statuses: {', '.join(one.filters)}, and its details {own}..."
            raise refused("status", "choice", accepted)
        name = "primary_status" if query.status.startswith("STATUS_") else "secondary_status"
        filtering[name] = query.status
    page, _, size = (query.cursor or "1").partition(":")
    size = size or str(min(query.limit, tiktok.PAGE))
    more: dict[str, Json] = {"filtering": filtering} if filtering else {}
    asked = tiktok.asked(account, f"/{one.path}/get/", **more, page=page, page_size=size)
    response = yield from ask(NETWORK, asked)
    found = tuple(
        _entity(kind, row) for row in tiktok.listed(response) if switch in (None, text(row, "/operation_status"))
    )
    following = tiktok.next_page(response)
    return Page(found, None if following is None else f"{following}:{size}")


def flow_of(found: Entity) -> tiktok.Create:
    """The flow that an entity was made in. InvalidInput for one of the old Smart+, which is only read."""
    if read(found.native, f"/{tiktok.SMART_AD}") is not None:
        return tiktok.SMART_PLUS
    automation = text(found.native, "/campaign_automation_type")
    if automation == tiktok.OLD_SMART_PLUS:
        message = "TikTok: this belongs to an older Smart+ campaign, which is only read here."
        raise refused("entityId", "not_supported", message)
    return tiktok.AUTOMATION.get(automation or "", tiktok.MANUAL)


def _one(account: Account, kind: Kind, entity_id: str, name: str, prefix: str = "") -> Flow[Entity | None]:
    path = f"{prefix}/{tiktok.RESOURCES[kind]}/get/"
    response = yield from ask(NETWORK, tiktok.asked(account, path, filtering={f"{name}s": [entity_id]}))
    for row in tiktok.listed(response):
        if text(row, f"/{name}") == entity_id:
            return _entity(kind, row)
    return None


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity; an ad that the Smart+ endpoints made is known there by another id."""
    one = level(NETWORK, kind)
    wanted: Kind = next(each for each in tiktok.IDS if each == one.kind)
    found = yield from _one(account, wanted, entity_id, tiktok.IDS[wanted])
    if found is None and wanted == "ad":
        found = yield from _one(account, wanted, entity_id, tiktok.SMART_AD, tiktok.PREFIX[tiktok.SMART_PLUS])
    if found is None:
        raise ProviderNotFound(f"TikTok has no such {tiktok.CALLED[wanted]}, or it is deleted.")
    return found


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity as the endpoints of its own flow show it."""
    found = yield from entity(account, kind, entity_id)
    if text(found.native, "/campaign_automation_type") == tiktok.OLD_SMART_PLUS:
        return found
    if flow_of(found) == tiktok.MANUAL or (kind == "ad" and read(found.native, "/ad_text_list") is not None):
        return found
    name = tiktok.SMART_AD if kind == "ad" else tiktok.IDS[kind]
    own_id = ident(found.native, f"/{name}", "entity")
    own = yield from _one(account, kind, own_id, name, tiktok.PREFIX[tiktok.SMART_PLUS])
    if own is None:
        return found
    # What tells the flow stands in the manual endpoint's answer, and stays.
    return evolve(own, native={**own.native, "campaign_automation_type": tiktok.NEW_SMART_PLUS})


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_DAYS = 30  # API for Business: with stat_time_day at most 30 days to a call
TASK_DONE, TASK_OVER = "SUCCESS", ("FAILED", "CANCELED")
POLL = 5_000  # milliseconds between two looks at a report task


def reported(native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(METRICS, native, "/dimensions/stat_time_day", _day)


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account's time zone; a day without delivery has no row. ``job`` is a report task made elsewhere."""
    native: list[Mapping[str, Json]] = []
    for first, last in windows(start, end, REPORT_DAYS) if job is None else ():
        asked = tiktok.asked(
            account,
            "/report/integrated/get/",
            service_type="AUCTION",
            report_type="BASIC",
            data_level="AUCTION_ADVERTISER",
            dimensions=["advertiser_id", "stat_time_day"],
            metrics=list(REPORTED),
            start_date=first.isoformat(),
            end_date=last.isoformat(),
            page="1",
            page_size=str(tiktok.PAGE),
        )
        native += yield from _all(asked)
    if job is not None:
        made = yield from _task(account, job)
        if isinstance(made, Pending):
            return Insights.waiting(start, end, account.timezone, made)
        native = made
    found = list(reported(native))
    if found and not all(start <= one <= end for one, _ in found):  # a task resumed without its dates
        start, end = min(one for one, _ in found), max(one for one, _ in found)
    return Insights.of(found, Coverage(start, end, account.timezone), NETWORK.missing_day, native)


def _task(account: Account, task: str) -> Flow[list[Mapping[str, Json]] | Pending]:
    """The rows of a report task in the shape of the rows at once, or that it is still being made."""
    checked = yield from ask(NETWORK, tiktok.asked(account, "/report/task/check/", task_id=task))
    status = str(need(checked.body, "/data/status"))
    if status in TASK_OVER:
        raise ProviderError(f"TikTok made no report ({status}).", native=NativeError(status, "The report task ended."))
    if status != TASK_DONE:
        return Pending(task, status, POLL)
    file = yield evolve(tiktok.asked(account, "/report/task/download/", task_id=task), answer="bytes")
    content = file.body if isinstance(file.body, bytes) else b""
    if not file.ok or content.lstrip().startswith(b"{"):  # an error, or the address of a file; never the rows
        problem = failure(NETWORK, Response.of(file.status, file.headers, content))
        raise problem or ProviderUnreadable("TikTok: the report is no CSV text; ask for output_format CSV_STRING.")
    return _table(content)


def _table(content: bytes) -> list[Mapping[str, Json]]:
    """Rows of CSV under TikTok's own names (unverified); what is no metric is a dimension."""
    try:
        table = csv.DictReader(content.decode("utf-8-sig").splitlines(), strict=True)
        found = list(table)
    except (UnicodeDecodeError, csv.Error) as problem:
        raise ProviderUnreadable("TikTok: the report is no CSV text.") from problem
    if "stat_time_day" not in (table.fieldnames or ()):
        raise ProviderUnreadable("TikTok: the report has no days (stat_time_day).")
    return [
        {
            "dimensions": {name: value for name, value in row.items() if name and name not in REPORTED},
            "metrics": {name: value for name, value in row.items() if name in REPORTED},
        }
        for row in found
    ]


def _day(told: Json) -> date:
    return day(told[:10] if isinstance(told, str) else None)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog; ``locations:US`` are those of a country."""
    name, _, country = resource.partition(":")
    if name != "locations":
        return (yield from catalogs.catalog(NETWORK, account, resource, query))
    whole = yield from catalogs.catalog(NETWORK, account, name, evolve(query, search=None))
    sought = (query.search or "").casefold()
    kept = (row for row in whole.rows if not country or text(row.native, "/region_code") == country)
    return evolve(whole, rows=tuple(row for row in kept if sought in row.name.casefold()))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The token as a header; the list of accounts also wants to know the app."""
    if not trusted(NETWORK, request):
        return request
    signed = evolve(request, headers={**request.headers, tiktok.TOKEN_HEADER: credentials.access_token})
    if request.url != ADVERTISERS:
        return signed
    return evolve(signed, query={**signed.query, "app_id": app.client_id, "secret": app.client_secret})
