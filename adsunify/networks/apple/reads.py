"""Reading from Apple Ads: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.account import Account
from adsunify.adapter.error_rules import find_read_error
from adsunify.adapter.flows import completed_flow, fetch_response, fetch_rows
from adsunify.adapter.hierarchy import (
    MAX_FILTER_PAGES,
    DiscoveredAccount,
    EntityPage,
    EntityTree,
    ListQuery,
    ParsedEntity,
    check_query,
    drop_orphans,
)
from adsunify.adapter.insights import Coverage, DatedValues, Insights
from adsunify.adapter.network import Level, get_level
from adsunify.adapter.oauth import Credentials, OAuthClient, add_bearer_token, build_token_request, can_sign
from adsunify.adapter.reports import parse_report_rows
from adsunify.adapter.settings import to_account_time
from adsunify.errors import (
    Issue,
    PermissionRefused,
    ProviderNotFound,
    ProviderUnreadable,
    invalid_input,
    raise_if_issues,
)
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, require_id, require_objects

from . import native as apple
from .tables import AD_GROUP, CAMPAIGN, KEYWORD, LEVELS, METRICS, NETWORK, parse_offset_cursor

CREDENTIAL_MEMBERS = ("clientId", "teamId", "keyId", "privateKey")
"""The members that a person enters to connect. They are stored because every token request needs them."""


# -- connecting ---------------------------------------------------------------------------------------------------


def _build_token_request(key: Mapping[str, str], now: int) -> Request:
    return build_token_request(
        apple.TOKEN_URL,
        grant_type="client_credentials",
        client_id=key["clientId"],
        client_secret=apple.sign_client_secret(key["clientId"], key["teamId"], key["keyId"], key["privateKey"], now),
        scope=apple.OAUTH_SCOPE,
    )


def fetch_credentials(
    app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
) -> Flow[Credentials]:
    """Get a token with the key. Raises InvalidInput for a malformed key, TokenRefused for one that Apple rejects."""
    raise_if_issues(
        Issue(name, "required", "Apple Ads needs it to connect.") for name in CREDENTIAL_MEMBERS if not answer.get(name)
    )
    apple.load_private_key(answer["privateKey"])
    key = {name: answer[name] for name in CREDENTIAL_MEMBERS}
    return (yield from oauth.fetch_token(NETWORK, _build_token_request(key, now), now, Credentials("", extras=key)))


def refresh_credentials(app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
    """Get another token with the key; there are no refresh tokens."""
    return (yield from oauth.fetch_token(NETWORK, _build_token_request(credentials.extras, now), now, credentials))


def revoke_credentials(app: OAuthClient, credentials: Credentials) -> Flow[None]:
    """Do nothing: Apple has no request that revokes a key. A person removes the key in the account's settings."""
    return (yield from completed_flow(None))


# -- accounts -----------------------------------------------------------------------------------------------------


def _merge_account(native_id: str, row: Mapping[str, Json], whole: Mapping[str, Json]) -> DiscoveredAccount:
    extras = {name: get_text(whole, f"/{name}") or get_text(row, f"/{name}") for name in ("orgId", "paymentModel")}
    features, delegations = get_value(whole, "/productFeatures"), get_value(whole, "/delegations")
    if isinstance(features, list):
        extras["productFeatures"] = ",".join(item for item in features if isinstance(item, str))
    if isinstance(delegations, list):
        provided = any(get_value(item, "/resourceType") == apple.CONTENT_PROVIDER for item in delegations)
        extras["contentProvider"] = "true" if provided else "false"
    return DiscoveredAccount(
        native_id,
        get_text(whole, "/name") or get_text(row, "/name") or native_id,
        get_text(whole, "/currency"),
        get_text(whole, "/timezone"),
        get_text(whole, "/systemStatus"),
        {name: value for name, value in extras.items() if value is not None},
    )


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the ad accounts in which the key has a role. If an account cannot be read, its name in the list is used."""
    response = yield from fetch_response(NETWORK, Request("GET", f"{apple.API_URL}/acls"))
    accounts: list[DiscoveredAccount] = []
    for row in require_objects(response.body, "/result/acls"):
        native_id = require_id(row, "/adAccount/id", "role")
        reference = get_value(row, "/adAccount")
        request = apple.build_account_get_request(
            Account(apple.CODE, native_id), f"ad-accounts/{_parse_id_number(native_id)}"
        )
        try:
            whole = apple.parse_object((yield from fetch_response(NETWORK, request)), "ad account")
        except (PermissionRefused, ProviderNotFound):
            whole = {}
        accounts.append(_merge_account(native_id, reference, whole))
    return accounts


# -- the hierarchy ------------------------------------------------------------------------------------------------


def turn_page(request: Request, offset: int) -> Request:
    """Return the request of the page that begins at ``offset``."""
    return evolve(request, body={**request.body, "pagination": {**request.body["pagination"], "offset": offset}})


def get_following_offset(request: Request, response: Response) -> int | None:
    """Return the offset of the page after the page of ``request``; None at the end."""
    return apple.get_next_offset(response, request.body["pagination"]["offset"], len(parse_query_rows(response)))


def _build_next_request(request: Request, response: Response) -> Request | None:
    start = get_following_offset(request, response)
    return None if start is None else turn_page(request, start)


def parse_query_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list or of a report."""
    is_report = isinstance(get_value(response.body, "/result"), Mapping)
    return require_objects(response.body, "/result/rows" if is_report else "/result")


fetch_query_rows = partial(fetch_rows, NETWORK, following=_build_next_request, parse=parse_query_rows)


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all entities that are not deleted. Keywords can only be listed by their parent."""
    nodes: list[ParsedEntity] = []
    for level in LEVELS:
        filters: list[list[Json]] = [[]]
        if level is KEYWORD:
            campaigns = [node.id for node in nodes if node.kind == CAMPAIGN.kind]
            filters = [[apple.build_filter("campaignId", "EQUALS", _parse_id_number(entity))] for entity in campaigns]
        for conditions in filters:
            nodes += [
                hierarchy.parse_entity(level, native)
                for native in (
                    yield from fetch_query_rows(apple.build_account_query_request(account, level.path, conditions))
                )
            ]
    return EntityTree(drop_orphans(nodes))


def _parse_id_number(identifier: str) -> int:
    """Return an ID of a response as a number, the form that requests need."""
    if not apple.match_id_number(identifier):
        raise ProviderUnreadable("An id in the answer is no number.")
    return int(identifier)


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level. Apple searches campaigns by name; other levels are searched here, page by page."""
    level = check_query(NETWORK, kind, query)
    filters: list[Json] = []
    if query.parent_id is not None:
        filters.append(
            apple.build_filter(
                level.parent.removeprefix("/"), "EQUALS", apple.parse_id_number(query.parent_id, "parentId")
            )
        )
    elif level is KEYWORD:
        raise invalid_input("parentId", "required", "Apple Ads lists the keywords of an ad group only.")
    if query.status == apple.DELETED:
        filters.append(apple.build_filter("deleted", "EQUALS", True))
    elif query.status is not None:
        filters.append(apple.build_filter("status", "EQUALS", query.status))
    search_text = (query.search or "").casefold()
    if search_text and level is CAMPAIGN:
        # unverified: the meaning of wildcards in the text of a LIKE filter.
        filters.append(apple.build_filter("name", "LIKE", query.search, ignoreCase=True))
        search_text = ""
    start: int | None = parse_offset_cursor(query.cursor)
    entities: list[ParsedEntity] = []
    for _ in range(MAX_FILTER_PAGES if search_text else 1):
        response = yield from fetch_response(
            NETWORK, apple.build_account_query_request(account, level.path, filters, start or 0, query.limit)
        )
        page = [hierarchy.parse_entity(level, native) for native in apple.parse_rows(response)]
        for position, node in enumerate(page):
            if search_text in (node.name or "").casefold():
                entities.append(node)
            if len(entities) == query.limit and position + 1 < len(page):
                return EntityPage(tuple(entities), str((start or 0) + position + 1))
        start = apple.get_next_offset(response, start or 0, len(page))
        if start is None or len(entities) == query.limit:
            break
    return EntityPage(tuple(entities), None if start is None else str(start))


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity, deleted or not."""
    level = get_level(NETWORK, kind)
    response = yield from fetch_response(NETWORK, apple.build_entity_request(account, level, entity_id))
    entity = hierarchy.parse_entity(level, apple.parse_object(response, level.native))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity. An ad group without a bid strategy inherits its campaign's strategy, which is added."""
    entity = yield from fetch_entity(account, kind, entity_id)
    bid_strategy = get_value(entity.native, "/bidStrategy")
    bid_strategy = bid_strategy if isinstance(bid_strategy, Mapping) else {}
    if kind != AD_GROUP.kind or entity.parent_id is None or get_text(bid_strategy, "/bidStrategyType") is not None:
        return entity
    campaign = yield from fetch_entity(account, CAMPAIGN.kind, entity.parent_id)
    pair = {name: get_value(campaign.native, f"/bidStrategy/{name}") for name in ("bidStrategyType", "bidStrategyGoal")}
    return evolve(entity, native={**entity.native, "bidStrategy": {**pair, **bid_strategy}})


# -- insights -----------------------------------------------------------------------------------------------------

REPORT_FIELDS = ("impressions", "taps", "localSpend", "totalInstalls", "tapInstalls", "viewInstalls")
_ONE_DAY = timedelta(days=1)
ORG_TIME_ZONE = "ORTZ"  # unverified: this is always the account's time zone


def build_campaigns_request(account: Account, offset: int = 0) -> Request:
    """Build the query of all campaigns. Deleted campaigns are included, because their spend counts."""
    conditions = [apple.build_filter("deleted", "IN", [True, False])]
    return apple.build_account_query_request(account, CAMPAIGN.path, conditions, offset)


def build_level_report_request(
    account: Account, level: Level, start: date, end: date, condition: Json, size: int = apple.REPORT_PAGE_SIZE
) -> Request:
    """Build the request of a report about the entities of a level, in the campaigns that ``condition`` selects."""
    request = apple.build_account_query_request(account, f"reports/apps/{level.path}", [condition], size=size)
    days = {"start": start.isoformat(), "end": end.isoformat(), "timeZone": ORG_TIME_ZONE}
    if start != end:  # a daily report needs several days, so the totals are read for a single day
        days["granularity"] = "DAILY"
    pagination = {name: request.body["pagination"][name] for name in ("offset", "pageSize")}
    body = {
        "timeRange": days,
        "filters": request.body["filters"],
        "fields": list(REPORT_FIELDS),
        "pagination": pagination,
    }
    return evolve(request, body=body)


def _fetch_report_rows(account: Account, start: date, end: date, ids: Sequence[str]) -> Flow[list[Mapping[str, Json]]]:
    """Read the report's row of each campaign by one request or, if Apple refuses it, by one request per campaign."""
    # unverified: a report takes a filter with IN; only EQUALS is documented.
    native: list[Mapping[str, Json]] = []
    together = True
    for first in range(0, len(ids), apple.MAX_CAMPAIGNS_PER_REQUEST):
        some = list(ids[first : first + apple.MAX_CAMPAIGNS_PER_REQUEST])
        if together:
            condition = apple.build_filter("campaignId", "IN", some)
            request = build_level_report_request(account, CAMPAIGN, start, end, condition)
            response = yield request
            together = response.status != 400
            if together:
                problem = find_read_error(NETWORK, response)
                if problem is not None:
                    raise problem
                native += parse_query_rows(response)
                more = _build_next_request(request, response)
                native += (yield from fetch_query_rows(more)) if more is not None else []
        if not together:
            for campaign in some:
                condition = apple.build_filter("campaignId", "EQUALS", campaign)
                native += yield from fetch_query_rows(
                    build_level_report_request(account, CAMPAIGN, start, end, condition)
                )
    return native


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the days of each row of a report, and their figures."""
    if start != end:
        return parse_report_rows(
            METRICS, (item for row in native for item in get_objects(row, "/granularMetrics", "report")), "/date"
        )
    totals = (get_value(row, "/totalMetrics") for row in native)
    return parse_report_rows(METRICS, (item for item in totals if isinstance(item, Mapping)), "", lambda item: start)


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read daily figures, summed over the campaigns. Deleted campaigns are included, since their spend counts."""
    today = (to_account_time(account, now) or now).date()
    until = min(end, today)
    if start > until:  # all days are in the future
        coverage = Coverage(start, end, account.timezone).mark_provisional(today)
        return Insights.from_days((), coverage, NETWORK.missing_day)
    campaigns = yield from fetch_query_rows(build_campaigns_request(account))
    ids = [require_id(row, CAMPAIGN.id, CAMPAIGN.native) for row in campaigns]
    notes = [metric.note for metric in METRICS if metric.note]
    coverage = Coverage(start, end, account.timezone, notes=notes).mark_provisional(today)
    if not ids:  # a report without a filter by campaigns is refused
        return Insights.without_campaigns(evolve(coverage, end=until)).extend_to(end)
    native = yield from _fetch_report_rows(account, start, until, list(dict.fromkeys(ids)))
    return Insights.from_days(parse_daily_metrics(account, native, start, until), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


fetch_catalog_page = partial(catalogs.fetch_catalog_page, NETWORK)


def sign_request(request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str) -> Request:
    """Add the token. The request already has the header of the ad account."""
    return add_bearer_token(request, credentials) if can_sign(NETWORK, request) else request
