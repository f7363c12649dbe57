"""Reading from Apple Ads: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import failure
from adsunify.adapter.flows import ask, pages, settled
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query, nest
from adsunify.adapter.insights import Coverage, Days, Insights
from adsunify.adapter.network import Account, Level, level
from adsunify.adapter.oauth import App, Credentials, bearer, token_request, trusted
from adsunify.adapter.reports import days
from adsunify.adapter.settings import local_time
from adsunify.errors import (
    Issue,
    PermissionRefused,
    ProviderNotFound,
    ProviderUnreadable,
    refuse,
    refused,
)
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, read, rows, text

from . import native as apple
from .tables import AD_GROUP, CAMPAIGN, KEYWORD, LEVELS, METRICS, NETWORK, offset_of

GIVEN = ("clientId", "teamId", "keyId", "privateKey")
"""What a person gives to connect; kept, for every token is asked for with them."""


# -- connecting ---------------------------------------------------------------------------------------------------


def _token(given: Mapping[str, str], now: int) -> Request:
    return token_request(
        apple.TOKEN,
        grant_type="client_credentials",
        client_id=given["clientId"],
        client_secret=apple.client_secret(given["clientId"], given["teamId"], given["keyId"], given["privateKey"], now),
        scope=apple.PERMISSION,
    )


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The key becomes a token. Raises InvalidInput for what cannot be one, TokenRefused for one that Apple rejects."""
    refuse(Issue(name, "required", "Apple Ads needs it to connect.") for name in GIVEN if not answer.get(name))
    apple.private_key(answer["privateKey"])
    given = {name: answer[name] for name in GIVEN}
    return (yield from oauth.exchange(NETWORK, _token(given, now), now, Credentials("", extras=given)))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Another token, asked for with the key again: there is no refresh token."""
    return (yield from oauth.exchange(NETWORK, _token(credentials.extras, now), now, credentials))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Nothing to call: the key is removed in the account's settings."""
    return (yield from settled(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def _found(native_id: str, listed: Mapping[str, Json], whole: Mapping[str, Json]) -> FoundAccount:
    extras = {name: text(whole, f"/{name}") or text(listed, f"/{name}") for name in ("orgId", "paymentModel")}
    features, delegations = read(whole, "/productFeatures"), read(whole, "/delegations")
    if isinstance(features, list):
        extras["productFeatures"] = ",".join(one for one in features if isinstance(one, str))
    if isinstance(delegations, list):
        provided = any(read(one, "/resourceType") == apple.CONTENT_PROVIDER for one in delegations)
        extras["contentProvider"] = "true" if provided else "false"
    return FoundAccount(
        native_id,
        text(whole, "/name") or text(listed, "/name") or native_id,
        text(whole, "/currency"),
        text(whole, "/timezone"),
        text(whole, "/systemStatus"),
        {name: value for name, value in extras.items() if value is not None},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The ad accounts in which the key has a role; one that does not show itself is kept by its name."""
    response = yield from ask(NETWORK, Request("GET", f"{apple.API}/acls"))
    found: list[FoundAccount] = []
    for row in apple.results(response, "/result/acls"):
        native_id = ident(row, "/adAccount/id", "role")
        listed = read(row, "/adAccount")
        asked = apple.fetched(Account(apple.CODE, native_id), f"ad-accounts/{_number(native_id)}")
        try:
            whole = apple.result((yield from ask(NETWORK, asked)), "ad account")
        except (PermissionRefused, ProviderNotFound):
            whole = {}
        found.append(_found(native_id, listed, whole))
    return found


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _following(request: Request, response: Response) -> Request | None:
    body = request.body
    start = apple.following(response, body["pagination"]["offset"], len(_listed(response)))
    return (
        None if start is None else evolve(request, body={**body, "pagination": {**body["pagination"], "offset": start}})
    )


def _listed(response: Response) -> list[Mapping[str, Json]]:
    return apple.results(response, "/result/rows" if isinstance(read(response.body, "/result"), Mapping) else "/result")


def _rows(request: Request) -> Flow[list[Mapping[str, Json]]]:
    """The rows of all pages."""
    answers = yield from pages(NETWORK, request, _following)
    return [row for answer in answers for row in _listed(answer)]


def _entity(one: Level, native: Mapping[str, Json]) -> Entity:
    found = hierarchy.entity(one, native)
    return evolve(found, status="deleted") if native.get("deleted") is True else found


def tree(account: Account) -> Flow[Tree]:
    """All that is not deleted. Keywords are only listed by what they belong to."""
    nodes: list[Entity] = []
    for one in LEVELS:
        filters: list[list[Json]] = [[]]
        if one is KEYWORD:
            campaigns = [node.id for node in nodes if node.kind == CAMPAIGN.kind]
            filters = [[apple.where("campaignId", "EQUALS", _number(found))] for found in campaigns]
        for wanted in filters:
            nodes += [_entity(one, native) for native in (yield from _rows(apple.queried(account, one.path, wanted)))]
    return Tree(nest(nodes))


def _number(found: str) -> int:
    """An id that Apple gave, as it is sent back."""
    if not apple.IDENTIFIER(found):
        raise ProviderUnreadable("An id in the answer is no number.")
    return int(found)


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level. Campaigns are searched by name natively; others are looked through here, page by page."""
    one = check_query(NETWORK, kind, query)
    filters: list[Json] = []
    if query.parent_id is not None:
        filters.append(apple.where(one.parent.removeprefix("/"), "EQUALS", apple.number(query.parent_id, "parentId")))
    elif one is KEYWORD:
        raise refused("parentId", "required", "Apple Ads lists the keywords of an ad group only.")
    if query.status is not None:
        filters.append(apple.where("status", "EQUALS", query.status))
    sought = (query.search or "").casefold()
    if sought and one is CAMPAIGN:
        # What a wildcard in it means is (unverified).
        filters.append(apple.where("name", "LIKE", query.search, ignoreCase=True))
        sought = ""
    start: int | None = offset_of(query.cursor)
    found: list[Entity] = []
    for _ in range(FILTER_PAGES if sought else 1):
        response = yield from ask(NETWORK, apple.queried(account, one.path, filters, start or 0, query.limit))
        listed = [_entity(one, native) for native in apple.results(response)]
        for position, node in enumerate(listed):
            if sought in (node.name or "").casefold():
                found.append(node)
            if len(found) == query.limit and position + 1 < len(listed):
                return Page(tuple(found), str((start or 0) + position + 1))
        start = apple.following(response, start or 0, len(listed))
        if start is None or len(found) == query.limit:
            break
    return Page(tuple(found), None if start is None else str(start))


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity, a deleted one too."""
    one = level(NETWORK, kind)
    found = _entity(one, apple.result((yield from ask(NETWORK, apple.single(account, one, entity_id))), one.native))
    if found.id != entity_id:
        raise ProviderUnreadable(f"Apple Ads answered another {one.native} than the one that was asked for.")
    return found


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity; an ad group without a bid strategy of its own shows its campaign's, which it inherits."""
    found = yield from entity(account, kind, entity_id)
    held = read(found.native, "/bidStrategy")
    held = held if isinstance(held, Mapping) else {}
    if kind != AD_GROUP.kind or found.parent_id is None or text(held, "/bidStrategyType") is not None:
        return found
    campaign = yield from entity(account, CAMPAIGN.kind, found.parent_id)
    pair = {name: read(campaign.native, f"/bidStrategy/{name}") for name in ("bidStrategyType", "bidStrategyGoal")}
    return evolve(found, native={**found.native, "bidStrategy": {**pair, **held}})


# -- insights -----------------------------------------------------------------------------------------------------

FIELDS = ("impressions", "taps", "localSpend", "totalInstalls", "tapInstalls", "viewInstalls")
_DAY = timedelta(days=1)
ORG_TIME_ZONE = "ORTZ"  # that it always is the account's is (unverified)


def _report(account: Account, start: date, end: date, wanted: Json) -> Request:
    request = apple.queried(account, "reports/apps/campaigns", [wanted], size=apple.REPORT_PAGE)
    days = {"start": start.isoformat(), "end": end.isoformat(), "timeZone": ORG_TIME_ZONE}
    if start != end:  # a daily report is longer than a day; of one day the totals are asked for
        days["granularity"] = "DAILY"
    pagination = {name: request.body["pagination"][name] for name in ("offset", "pageSize")}
    body = {"timeRange": days, "filters": request.body["filters"], "fields": list(FIELDS), "pagination": pagination}
    return evolve(request, body=body)


def _reported(account: Account, start: date, end: date, ids: Sequence[str]) -> Flow[list[Mapping[str, Json]]]:
    """The report's row of each campaign.

    Only EQUALS is documented of reports; IN is (unverified), so that a refused one is asked campaign by campaign.
    """
    native: list[Mapping[str, Json]] = []
    together = True
    for first in range(0, len(ids), apple.CAMPAIGNS_AT_ONCE):
        some = list(ids[first : first + apple.CAMPAIGNS_AT_ONCE])
        if together:
            asked = _report(account, start, end, apple.where("campaignId", "IN", some))
            response = yield asked
            together = response.status != 400
            if together:
                problem = failure(NETWORK, response)
                if problem is not None:
                    raise problem
                native += _listed(response)
                more = _following(asked, response)
                native += (yield from _rows(more)) if more is not None else []
        if not together:
            for one in some:
                native += yield from _rows(_report(account, start, end, apple.where("campaignId", "EQUALS", one)))
    return native


def reported(native: Iterable[Mapping[str, Json]], start: date, end: date) -> Days:
    """The days of each row of a report and their figures."""
    if start != end:
        return days(METRICS, (one for row in native for one in rows(row, "/granularMetrics", "report")), "/date")
    told = (read(row, "/totalMetrics") for row in native)
    return days(METRICS, (one for one in told if isinstance(one, Mapping)), "", lambda one: start)


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days summed over the campaigns, deleted ones too, for what they spent was spent."""
    today = (local_time(account, now) or now).date()
    until = min(end, today)
    if start > until:  # all of it lies ahead
        return Insights.of((), Coverage(start, end, account.timezone, provisional_from=start), NETWORK.missing_day)
    everything = apple.queried(account, CAMPAIGN.path, [apple.where("deleted", "IN", [True, False])])
    ids = [ident(row, CAMPAIGN.id, CAMPAIGN.native) for row in (yield from _rows(everything))]
    notes = [metric.note for metric in METRICS if metric.note]
    provisional = max(start, today) if end >= today else None
    coverage = Coverage(start, end, account.timezone, provisional_from=provisional, notes=notes)
    if not ids:  # Apple Ads Platform API, reports: no campaigns are an empty result, without a call
        return Insights.without_campaigns(evolve(coverage, end=until)).until(end)
    native = yield from _reported(account, start, until, list(dict.fromkeys(ids)))
    return Insights.of(reported(native, start, until), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The token; the ad account stands in the request already."""
    return bearer(request, credentials) if trusted(NETWORK, request) else request
