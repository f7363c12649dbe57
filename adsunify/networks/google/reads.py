"""Reading from Google Ads: connecting, the hierarchy, reports, catalogs. Nearly all reads are queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy
from adsunify.adapter.account import Account
from adsunify.adapter.flows import fetch_pages, fetch_response
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
from adsunify.adapter.metrics import Metric
from adsunify.adapter.network import Level, get_level, split_words
from adsunify.adapter.reports import parse_report_rows
from adsunify.adapter.settings import to_account_time
from adsunify.errors import PermissionRefused, ProviderNotFound, ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value, require_id, require_value

from . import native as google
from .tables import (
    AD,
    AD_GROUP,
    AD_PATH_FIELDS,
    BIDDING_FIELDS,
    CAMPAIGN,
    CONVERSION_GOAL_FIELDS,
    CRITERION_FIELDS,
    LEVELS,
    METRICS,
    NETWORK,
)


def _build_next_request(request: Request, response: Response) -> Request | None:
    cursor = google.parse_next_cursor(response)
    return None if cursor is None else evolve(request, body={**request.body, "pageToken": cursor})


def _fetch_query_rows(account: Account, query: str) -> Flow[list[Mapping[str, Json]]]:
    """Read all rows of a query."""
    answers = yield from fetch_pages(NETWORK, google.build_search_request(account, query), _build_next_request)
    return [row for answer in answers for row in get_objects(answer.body, "/results")]


# -- accounts -----------------------------------------------------------------------------------------------------

CLIENT_FIELDS = (
    *("id", "descriptive_name", "currency_code", "time_zone", "manager"),
    *("test_account", "status", "level", "hidden"),
)


def _fetch_client_rows(root: str) -> Flow[list[Mapping[str, Json]]]:
    """Read a root account and the accounts below it; an empty list if the root is closed."""
    at_root = Account(google.CODE, root, extras={"loginCustomerId": root})
    fields = [f"customer_client.{name}" for name in CLIENT_FIELDS]
    query = google.build_gaql(fields, "customer_client", f"customer_client.status = '{google.ENABLED}'")
    try:
        rows = yield from _fetch_query_rows(at_root, query)
    except PermissionRefused as problem:
        if problem.native.code == "authorizationError.CUSTOMER_NOT_ENABLED":
            return []
        raise
    return [require_value(row, "/customerClient", "account") for row in rows]


def _fetch_billable_unit(account: DiscoveredAccount) -> Flow[str | None]:
    currency = account.currency or ""
    if not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
        return None
    target = Account(google.CODE, account.native_id, extras=account.extras)
    fields = ("currency_constant.code", "currency_constant.billable_unit_micros")
    condition = f"currency_constant.code = {google.quote_literal(currency)}"
    rows = yield from _fetch_query_rows(target, google.build_gaql(fields, "currency_constant", condition))
    return get_text(rows[0], "/currencyConstant/billableUnitMicros") if rows else None


def _parse_client(client: Mapping[str, Json], root: str) -> DiscoveredAccount:
    native_id = require_id(client, "/id", "account")
    tested = "true" if get_value(client, "/testAccount") is True else "false"
    return DiscoveredAccount(
        native_id,
        get_text(client, "/descriptiveName") or native_id,
        get_text(client, "/currencyCode"),
        get_text(client, "/timeZone"),
        get_text(client, "/status"),
        {"loginCustomerId": root, "testAccount": tested},
    )


def discover_accounts() -> Flow[list[DiscoveredAccount]]:
    """Read the accounts that the token reaches directly or through managers. Direct access is preferred."""
    response = yield from fetch_response(NETWORK, Request("GET", f"{google.API_URL}/customers:listAccessibleCustomers"))
    names = [name for name in find_values(response.body, "/resourceNames/*") if isinstance(name, str)]
    accounts: dict[str, DiscoveredAccount] = {}
    for root in map(google.parse_resource_id, names):
        for client in (yield from _fetch_client_rows(root)):
            account = _parse_client(client, root)
            if get_value(client, "/manager") is not True and (
                account.native_id not in accounts or account.native_id == root
            ):
                accounts[account.native_id] = account
    for account in list(accounts.values()):
        unit = yield from _fetch_billable_unit(account)
        if unit is not None:
            accounts[account.native_id] = evolve(account, extras={**account.extras, "billableUnitMicros": unit})
    return list(accounts.values())


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _parse_entity(level: Level, row: Mapping[str, Json]) -> ParsedEntity:
    """Convert a row to an entity. The IDs are the ends of resource names; an ad's ID begins with its ad group's ID."""
    whole = hierarchy.parse_entity(level, row)
    own = google.parse_resource_id(whole.id)
    parent = google.parse_resource_id(whole.parent_id) if whole.parent_id is not None else None
    if level.native in google.COMPOSITE_ID_RESOURCES:
        parent, joint, _ = own.partition("~")
        if not joint:
            raise ProviderUnreadable(f"A {level.native} in the answer has no id of the form <parent>~<own id>.")
    return evolve(whole, id=own, parent_id=parent)


def _fetch_row(account: Account, level: Level, entity_id: str, fields: Iterable[str]) -> Flow[Mapping[str, Json]]:
    """Read the row of one entity, removed or not. Raises ProviderNotFound if it does not exist."""
    source = google.SOURCES[level.kind]
    ids = google.parse_resource_ids(level.native, entity_id, "entityId")
    conditions = [f"{name} = {id_}" for name, id_ in zip((source.parent, source.key)[-len(ids) :], ids, strict=True)]
    rows = yield from _fetch_query_rows(
        account, google.build_gaql(tuple(fields), source.resource, *source.conditions, *conditions)
    )
    if not rows:
        raise ProviderNotFound(f"Google Ads has no {level.native} {entity_id} in this account.")
    return rows[0]


def fetch_tree(account: Account) -> Flow[EntityTree]:
    """Read all entities that are not removed; a campaign gets its geo targets."""
    nodes: list[ParsedEntity] = []
    for level in LEVELS:
        source = google.SOURCES[level.kind]
        order = source.key if level is CAMPAIGN else ""
        query = google.build_gaql(
            level.fields, source.resource, *source.conditions, *source.live_conditions, order=order
        )
        nodes += [_parse_entity(level, row) for row in (yield from _fetch_query_rows(account, query))]
    condition = f"campaign_criterion.type = '{google.LOCATION}'"
    places: dict[str, list[Json]] = {}
    for row in (
        yield from _fetch_query_rows(account, google.build_gaql(CRITERION_FIELDS, "campaign_criterion", condition))
    ):
        campaign, _, _ = google.parse_resource_id(
            require_id(row, "/campaignCriterion/resourceName", "criterion")
        ).partition("~")
        places.setdefault(campaign, []).append(row["campaignCriterion"])
    visible = [
        evolve(node, native={**node.native, "campaignCriteria": places[node.id]})
        if node.kind == CAMPAIGN.kind and node.id in places
        else node
        for node in nodes
        if node.status != "deleted"
    ]
    return EntityTree(drop_orphans(visible))


def _has_text(row: Mapping[str, Json], search: str) -> bool:
    texts = find_values(row, "/adGroupAd/ad/responsiveSearchAd/*/*/text")
    return any(isinstance(text, str) and search.casefold() in text.casefold() for text in texts)


def list_entities(account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
    """Read one page of a level's entities in the order of their IDs. The cursor is the last ID of the page."""
    level = check_query(NETWORK, kind, query)
    source = google.SOURCES[level.kind]
    fixed: list[str] = []
    if query.parent_id is not None:
        (parent,) = google.parse_resource_ids(level.parent_kind, query.parent_id, "parentId")
        fixed.append(f"{source.parent} = {parent}")
    fixed += [
        *source.conditions,
        *([f"{source.resource}.status = '{query.status}'"] if query.status else source.live_conditions),
    ]
    if query.search and level is not AD:
        fixed.append(f"{source.resource}.name LIKE {google.build_like_pattern(query.search)}")
    cursor = query.cursor
    for _ in range(MAX_FILTER_PAGES):
        if cursor is not None and not google.is_digits(cursor):
            raise invalid_input("cursor", "malformed", "This is no cursor of this list.")
        after = [] if cursor is None else [f"{source.key} > {cursor}"]
        gaql = google.build_gaql(level.fields, source.resource, *fixed, *after, order=source.key, limit=query.limit)
        rows = yield from _fetch_query_rows(account, gaql)
        page = [_parse_entity(level, row) for row in rows]
        cursor = page[-1].id.rpartition("~")[2] if len(page) >= query.limit else None
        # An ad has no name, so the search looks in its texts.
        matches = [node for node in page if level is not AD or not query.search or _has_text(node.native, query.search)]
        if matches or cursor is None:
            break
    return EntityPage(tuple(matches), cursor)


def fetch_entity(account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
    """Read one entity with the fields of its level."""
    level = get_level(NETWORK, kind)
    return (yield from _fetch_fields(account, level, entity_id, level.fields))


def _fetch_fields(account: Account, level: Level, entity_id: str, fields: Iterable[str]) -> Flow[ParsedEntity]:
    entity = _parse_entity(level, (yield from _fetch_row(account, level, entity_id, fields)))
    return hierarchy.require_same_entity(NETWORK, level, entity, entity_id)


_EDIT_OBJECTS: Mapping[str, tuple[str, ...]] = {
    "campaign": split_words(
        "/campaign /campaignBudget /campaign/targetSpend /campaign/targetCpa /campaign/targetRoas"
        " /campaign/maximizeConversions /campaign/maximizeConversionValue"
    ),
    "adGroup": ("/adGroup", "/campaign"),
    "ad": ("/adGroupAd", "/adGroupAd/ad", "/adGroupAd/ad/responsiveSearchAd"),
}
"""The objects whose members an edit changes. An entity may lack them."""


def fetch_editable_entity(account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
    """Read the entity and what its edit needs.

    A campaign gets its bidding, criteria and goals, an ad group gets its campaign, and an ad gets its paths.
    """
    level = get_level(NETWORK, kind)
    fields = (*level.fields, *AD_PATH_FIELDS) if level is AD else level.fields
    entity = yield from _fetch_fields(account, level, entity_id, fields)
    native: Mapping[str, Json] = entity.native
    if level is AD_GROUP and entity.parent_id is not None:
        native = google.merge_rows(
            (yield from _fetch_row(account, CAMPAIGN, entity.parent_id, CAMPAIGN.fields)), native
        )
    if level is CAMPAIGN:
        native = google.merge_rows(native, (yield from _fetch_row(account, level, entity_id, BIDDING_FIELDS)))
        own = f"campaign.id = {entity_id}"
        kinds = f"campaign_criterion.type IN ('{google.LOCATION}', '{google.LANGUAGE}')"
        criteria = yield from _fetch_query_rows(
            account, google.build_gaql(CRITERION_FIELDS, "campaign_criterion", own, kinds)
        )
        goals = yield from _fetch_query_rows(
            account, google.build_gaql(CONVERSION_GOAL_FIELDS, "campaign_conversion_goal", own)
        )
        native = {
            **native,
            "campaignCriteria": [require_value(row, "/campaignCriterion", "criterion") for row in criteria],
            "campaignConversionGoals": [require_value(row, "/campaignConversionGoal", "goal") for row in goals],
        }
    if any(not isinstance(get_value(native, pointer, {}), Mapping) for pointer in _EDIT_OBJECTS[kind]):
        raise ProviderUnreadable(f"The {level.native} in the answer is not made of objects.")
    return evolve(entity, native=native)


# -- insights -----------------------------------------------------------------------------------------------------

CUSTOMER_FIELDS = ("customer.currency_code", "customer.time_zone")
FIGURE_FIELDS = split_words(
    "metrics.impressions metrics.clicks metrics.cost_micros metrics.conversions"
    " metrics.conversions_value metrics.video_trueview_views"
)


def build_days_condition(start: date, end: date) -> str:
    """Return the condition of a range of days in GAQL; both days are included."""
    return f"segments.date BETWEEN '{start.isoformat()}' AND '{end.isoformat()}'"


def list_page_metrics(page: Json) -> list[Metric]:
    """Return the metrics of a page of rows.

    Google Ads API, "Zero metrics": if a row lacks a selected field, the field is zero. The page names the selected
    fields.
    """
    selected = (get_text(page, "/fieldMask") or "").split(",")
    return [
        evolve(metric, absent_value=0) if metric.native.strip("/").replace("/", ".") in selected else metric
        for metric in METRICS
    ]


def parse_daily_metrics(account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date) -> DatedValues:
    """Return the day of each row, and its figures. ``native``: pages, since each page names its selected fields."""
    for page in native:
        yield from parse_report_rows(list_page_metrics(page), get_objects(page, "/results"), "/segments/date")


def fetch_insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Read the account's daily figures; there are no report jobs."""
    today = (to_account_time(account, now) or now).date()
    fields = ("segments.date", *CUSTOMER_FIELDS, *FIGURE_FIELDS)
    query = google.build_gaql(fields, "customer", build_days_condition(start, end), order="segments.date")
    answers = yield from fetch_pages(NETWORK, google.build_search_request(account, query), _build_next_request)
    pages = [answer.body for answer in answers]
    coverage = Coverage(start, end, account.timezone)
    coverage = coverage.mark_provisional(today - timedelta(days=google.RESTATED_DAYS))
    native = [row for page in pages for row in get_objects(page, "/results")]
    return Insights.from_days(parse_daily_metrics(account, pages, start, end), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


fetch_catalog_page = partial(catalogs.fetch_catalog_page, NETWORK)
