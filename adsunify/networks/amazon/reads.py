"""Reading from Amazon Ads: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import failure
from adsunify.adapter.flows import ask, pages, settled
from adsunify.adapter.hierarchy import Entity, FoundAccount, Page, Query, Tree, check_query, nest
from adsunify.adapter.insights import Coverage, DateRange, Days, Insights, Pending
from adsunify.adapter.network import Account, Level, Metric, level
from adsunify.adapter.oauth import App, Credentials, bearer, challenge, token_request, trusted
from adsunify.adapter.reports import days, downloaded, joint, separate
from adsunify.adapter.settings import local_time
from adsunify.errors import NativeError, ProviderError, ProviderNotFound, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.dates import windows
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, need, read, rows, text

from .native import (
    BROAD_MATCH,
    CLIENT_HEADER,
    CONSENT,
    DAILY,
    HOSTS,
    PERMISSION,
    REPORT_COLUMNS,
    REPORT_DAYS,
    REPORT_MEDIA,
    REPORTS,
    SCOPE_HEADER,
    SELLER,
    TOKEN,
    VENDOR,
    collection,
    host,
    id_filter,
    listed,
    next_token,
    profile_name,
    profiles,
)
from .tables import FILTERS, LEVELS, LIVE, METRICS, NAMED, NETWORK, VENDOR_METRICS

SMALLEST_PAGE = 10  # (unverified) one client documents 10 to 100
KDP_AUTHOR = "KDP_AUTHOR"
NO_PAYMENT = "payment problem"
FIRST_POLL, LATER_POLL = 30_000, 60_000  # milliseconds; a report takes up to 3 hours
RESTATED_DAYS = 28 + 14  # conversions are restated for 28 days and their window, traffic for 3 days
_DAY = timedelta(days=1)
_DUPLICATE = re.compile(r"duplicate of\s*:\s*([0-9A-Za-z-]{1,100})").search


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page of Login with Amazon."""
    return oauth.authorize_url(
        CONSENT,
        client_id=app.client_id,
        scope=PERMISSION,
        response_type="code",
        redirect_uri=redirect_uri,
        state=state,
        code_challenge=challenge(verifier),
        code_challenge_method="S256",
    )


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The code of the consent, good for 5 minutes, becomes tokens."""
    if not answer.get("code"):
        said = ", ".join(answer[name].rstrip(".") for name in ("error", "error_description") if answer.get(name))
        raise refused("code", "required", f"Amazon gave no code: {said or 'no reason'}.")
    request = token_request(
        TOKEN,
        grant_type="authorization_code",
        code=answer["code"],
        redirect_uri=redirect_uri,
        client_id=app.client_id,
        client_secret=app.client_secret,
        code_verifier=verifier,
    )
    return (yield from oauth.exchange(NETWORK, request, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """A new access token; the refresh token stays the same and does not expire."""
    return (yield from oauth.renewed(NETWORK, TOKEN, app, credentials, now))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Nothing to call: the user removes the app in the Amazon account."""
    return (yield from settled(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def _kind(profile: Mapping[str, Json]) -> str | None:
    # Authors (KDP) advertise by asin, as vendors do.
    return VENDOR if text(profile, "/accountInfo/subType") == KDP_AUTHOR else text(profile, "/accountInfo/type")


def _found(profile: Mapping[str, Json], region: str) -> FoundAccount:
    extras = {"region": region, "accountType": _kind(profile) or "", "countryCode": text(profile, "/countryCode") or ""}
    unpaid = read(profile, "/accountInfo/validPaymentMethod") is False  # only delivered for vendors
    return FoundAccount(
        ident(profile, "/profileId", "profile"),
        profile_name(profile),
        text(profile, "/currencyCode"),
        text(profile, "/timezone"),
        NO_PAYMENT if unpaid else None,
        {name: value for name, value in extras.items() if value},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The profiles of all three regions: a host lists only its own, and often none."""
    found: list[FoundAccount] = []
    for region, name in HOSTS.items():
        response = yield from ask(NETWORK, profiles(f"https://{name}"))
        found.extend(
            _found(profile, region)
            for profile in rows(response.body, "", "list of profiles")
            if _kind(profile) in (SELLER, VENDOR)
        )
    return found


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _states(*states: str) -> dict[str, Json]:
    # What an absent filter means is documented nowhere, so it is always sent.
    return {"stateFilter": {"include": list(states)}}


def _following(request: Request, response: Response) -> Request | None:
    token = next_token(response)
    return None if token is None else evolve(request, body={**request.body, "nextToken": token})


def tree(account: Account) -> Flow[Tree]:
    """All that is not archived."""
    nodes: list[Entity] = []
    for one in LEVELS:
        for response in (yield from pages(NETWORK, listed(account, one, _states(*LIVE)), _following)):
            nodes.extend(hierarchy.entity(one, native) for native in rows(response.body, f"/{collection(one)}"))
    return Tree(nest(nodes))


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level's entities."""
    one = check_query(NETWORK, kind, query)
    body = _states(query.status) if query.status is not None else _states(*LIVE)
    if query.search:
        if kind not in NAMED:
            raise refused("search", "not_supported", f"Amazon Ads searches {' and '.join(NAMED)} by name, no {kind}.")
        body["nameFilter"] = {"queryTermMatchType": BROAD_MATCH, "include": [query.search]}
    if query.parent_id is not None:
        body[id_filter(one.parent)] = {"include": [query.parent_id]}
    if query.cursor is not None:
        body["nextToken"] = query.cursor
    request = listed(account, one, body | {"maxResults": query.limit})
    response = yield request
    if response.status == 400 and query.limit < SMALLEST_PAGE:
        response = yield listed(account, one, body | {"maxResults": SMALLEST_PAGE})
    problem = failure(NETWORK, response)
    if problem is not None:
        raise problem
    found = tuple(hierarchy.entity(one, native) for native in rows(response.body, f"/{collection(one)}"))
    return Page(found, next_token(response))


def _one(account: Account, one: Level, entity_id: str) -> Flow[Entity]:
    body = _states(*FILTERS) | {id_filter(one): {"include": [entity_id]}, "includeExtendedDataFields": True}
    response = yield from ask(NETWORK, listed(account, one, body))
    for native in rows(response.body, f"/{collection(one)}"):
        found = hierarchy.entity(one, native)
        if found.id == entity_id:
            return found
    raise ProviderNotFound(f"Amazon Ads has no {one.native} {entity_id} in this profile.")


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity, archived ones too: there is no path of its own, so the list is asked for its id."""
    return (yield from _one(account, level(NETWORK, kind), entity_id))


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """As :func:`entity`: the native entity is all that an edit needs."""
    return (yield from entity(account, kind, entity_id))


# -- insights -----------------------------------------------------------------------------------------------------


def _creation(account: Account, days: DateRange) -> Request:
    """A report is asked for. It may be repeated: an identical one is answered by the id of the first."""
    start, end = days.start.isoformat(), days.end.isoformat()
    configuration = {
        "adProduct": "SPONSORED_PRODUCTS",
        "reportTypeId": "spCampaigns",
        "groupBy": ["campaign"],
        "timeUnit": DAILY,
        "format": "GZIP_JSON",
        "columns": list(REPORT_COLUMNS),
    }
    body = {"name": f"insights {start}..{end}", "startDate": start, "endDate": end, "configuration": configuration}
    headers = {"Content-Type": REPORT_MEDIA, SCOPE_HEADER: account.native_id}
    return Request("POST", host(account) + REPORTS, headers=headers, body=body, encoding="json")


def _created(account: Account, days: DateRange) -> Flow[Mapping[str, Json]]:
    """A report's ``reportId`` and ``status``: of a new one, or of the one that it would repeat."""
    response = yield _creation(account, days)
    if response.status == 425:  # "The Request is a duplicate of : <reportId>": success in disguise
        said = _DUPLICATE(text(response.body, "/detail") or text(response.body, "/details") or "")
        if said is None:
            raise ProviderUnreadable("Amazon Ads refused a duplicate report without naming the first.")
        return {"reportId": said.group(1), "status": None}
    problem = failure(NETWORK, response)
    if problem is not None:
        raise problem
    return {"reportId": ident(response.body, "/reportId", "report"), "status": text(response.body, "/status")}


def _state(account: Account, report: str) -> Flow[Mapping[str, Json]]:
    url, headers = host(account) + REPORTS + "/{reportId}", {SCOPE_HEADER: account.native_id}
    response = yield from ask(NETWORK, Request("GET", url, path={"reportId": report}, headers=headers))
    state = need(response.body, "", "report")
    if not isinstance(state, Mapping):
        raise ProviderUnreadable("The report's state is no object.")
    return {**state, "reportId": report}


def _has_failed(state: Mapping[str, Json]) -> bool:
    # The word FAILED is documented nowhere (unverified), the reason is.
    return text(state, "/status") == "FAILED" or bool(text(state, "/failureReason"))


def _day(value: Json, at: str) -> date | None:
    try:
        return date.fromisoformat(text(value, at) or "")
    except ValueError:
        return None


def _parts(start: date, end: date, count: int | None) -> list[DateRange]:
    """The days of each report. ``count``: as many as there are."""
    pieces = [DateRange(*piece) for piece in windows(start, end, REPORT_DAYS)]
    if count is None:
        return pieces
    return pieces[-count:] if count <= len(pieces) else [DateRange(start, end)] * count


def _metrics(account: Account) -> tuple[Metric, ...]:
    return VENDOR_METRICS if account.extras.get("accountType") == VENDOR else METRICS


def reported(account: Account, native: Iterable[Mapping[str, Json]]) -> Days:
    """The day of each row of a report and its figures."""
    return days(_metrics(account), native, "/date")


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Reports of at most 31 days each under one job. A row stands for a day with activity."""
    today = (local_time(account, now) or now).date()
    states: list[Mapping[str, Json]] = []
    for report in separate(job) if job is not None else ():
        states += [(yield from _state(account, report))]
    parts = _parts(start, end, len(states) if job is not None else None)
    if job is None:
        for part in parts:
            states += [(yield from _created(account, part))]
    unfinished = [state for state in states if text(state, "/status") != "COMPLETED" and not _has_failed(state)]
    if unfinished:
        wait = FIRST_POLL if job is None else LATER_POLL
        reports = [state["reportId"] for state in states]
        pending = Pending(joint(reports), text(unfinished[0], "/status") or "PENDING", wait)
        return Insights.waiting(start, end, account.timezone, pending)
    native: list[Mapping[str, Json]] = []
    covered: list[DateRange] = []
    notes = [note for note in {metric.note: None for metric in _metrics(account)} if note]
    if states and all(_has_failed(state) for state in states):
        said = text(states[0], "/failureReason") or "no reason given"
        raise ProviderError(f"Amazon Ads made no report: {said}.", native=NativeError(text(states[0], "/status"), said))
    for state, part in zip(states, parts, strict=True):
        # A job may be resumed without its dates: the report names its own.
        days = DateRange(_day(state, "/startDate") or part.start, _day(state, "/endDate") or part.end)
        if _has_failed(state):
            reason = text(state, "/failureReason") or "no reason given"
            notes.append(f"The report of {days.start} to {days.end} failed: {reason}.")
        else:
            native.extend(rows((yield from downloaded(text(state, "/url"))), "", "report file"))
            covered.append(days)
    if covered and not start <= covered[0].start <= covered[-1].end <= end:
        start, end = covered[0].start, covered[-1].end
    restated = max(start, today - timedelta(days=RESTATED_DAYS))
    provisional = restated if restated <= end else None
    coverage = Coverage(start, end, account.timezone, provisional_from=provisional, notes=notes)
    return Insights.of(reported(account, native), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The access token (its ``Atza|`` is part of it) and the app's id."""
    if not trusted(NETWORK, request):
        return request
    return bearer(evolve(request, headers={**request.headers, CLIENT_HEADER: app.client_id}), credentials)
