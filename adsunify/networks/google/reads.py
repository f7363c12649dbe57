"""Reading from Google Ads: connecting, the hierarchy, reports, catalogs. Nearly all of it is queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from itertools import chain

from attrs import evolve

from adsunify.adapter import catalogs, hierarchy, oauth
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.error_rules import failure
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.hierarchy import FILTER_PAGES, Entity, FoundAccount, Page, Query, Tree, check_query, nest
from adsunify.adapter.insights import Coverage, Days, Insights
from adsunify.adapter.network import Account, Level, level, words
from adsunify.adapter.oauth import App, Credentials, bearer, challenge, token_request, trusted
from adsunify.adapter.reports import days
from adsunify.adapter.settings import local_time
from adsunify.errors import PermissionRefused, ProviderNotFound, ProviderUnreadable, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, ident, need, read, rows, text

from . import native as google
from .tables import AD, AD_GROUP, BIDDING, CAMPAIGN, CRITERIA, GOALS, LEVELS, METRICS, NETWORK, PATHS


def _following(request: Request, response: Response) -> Request | None:
    cursor = google.next_page(response)
    return None if cursor is None else evolve(request, body={**request.body, "pageToken": cursor})


def _rows(account: Account, query: str) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a query."""
    answers = yield from pages(NETWORK, google.searched(account, query), _following)
    return [row for answer in answers for row in rows(answer.body, "/results")]


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page. ``offline`` and ``consent`` together always bring a refresh token."""
    return oauth.authorize_url(
        google.CONSENT,
        client_id=app.client_id,
        redirect_uri=redirect_uri,
        response_type="code",
        scope=google.PERMISSION,
        access_type="offline",
        prompt="consent",
        state=state,
        code_challenge=challenge(verifier),
        code_challenge_method="S256",
    )


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The code of the consent becomes tokens."""
    if not answer.get("code"):
        raise refused("code", "required", f"Google gave no code: {answer.get('error') or 'no reason'}.")
    request = token_request(
        google.TOKEN,
        grant_type="authorization_code",
        code=answer["code"],
        client_id=app.client_id,
        client_secret=app.client_secret,
        redirect_uri=redirect_uri,
        code_verifier=verifier,
    )
    return (yield from oauth.exchange(NETWORK, request, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """A new access token; the refresh token stays the same."""
    return (yield from oauth.renewed(NETWORK, google.TOKEN, app, credentials, now))


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Ends the consent; a token that is dead already is as good."""
    response = yield token_request(google.REVOKE, token=credentials.refresh_token or credentials.access_token)
    problem = failure(NETWORK, response)
    if problem is not None and problem.native.code != "invalid_token":
        raise problem


# -- accounts -----------------------------------------------------------------------------------------------------

CLIENTS = (
    *("id", "descriptive_name", "currency_code", "time_zone", "manager"),
    *("test_account", "status", "level", "hidden"),
)


def _under(root: str) -> Flow[list[Mapping[str, Json]]]:
    """The accounts below a root, itself among them; none where it is closed."""
    at_root = Account(google.CODE, root, extras={"loginCustomerId": root})
    fields = [f"customer_client.{name}" for name in CLIENTS]
    query = google.gaql(fields, "customer_client", f"customer_client.status = '{google.ENABLED}'")
    try:
        found = yield from _rows(at_root, query)
    except PermissionRefused as problem:
        if problem.native.code == "authorizationError.CUSTOMER_NOT_ENABLED":
            return []
        raise
    return [need(row, "/customerClient", "account") for row in found]


def _billable_unit(account: FoundAccount) -> Flow[str | None]:
    currency = account.currency or ""
    if not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
        return None
    asked = Account(google.CODE, account.native_id, extras=account.extras)
    fields = ("currency_constant.code", "currency_constant.billable_unit_micros")
    condition = f"currency_constant.code = {google.literal(currency)}"
    found = yield from _rows(asked, google.gaql(fields, "currency_constant", condition))
    return text(found[0], "/currencyConstant/billableUnitMicros") if found else None


def _found(client: Mapping[str, Json], root: str) -> FoundAccount:
    native_id = ident(client, "/id", "account")
    tested = "true" if read(client, "/testAccount") is True else "false"
    return FoundAccount(
        native_id,
        text(client, "/descriptiveName") or native_id,
        text(client, "/currencyCode"),
        text(client, "/timeZone"),
        text(client, "/status"),
        {"loginCustomerId": root, "testAccount": tested},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The accounts that the token reaches, itself or through managers; those that it reaches itself are kept so."""
    response = yield from ask(NETWORK, Request("GET", f"{google.API}/customers:listAccessibleCustomers"))
    names = [name for name in found_at(response.body, "/resourceNames/*") if isinstance(name, str)]
    found: dict[str, FoundAccount] = {}
    for root in map(google.tail, names):
        for client in (yield from _under(root)):
            one = _found(client, root)
            if read(client, "/manager") is not True and (one.native_id not in found or one.native_id == root):
                found[one.native_id] = one
    for one in list(found.values()):
        unit = yield from _billable_unit(one)
        if unit is not None:
            found[one.native_id] = evolve(one, extras={**one.extras, "billableUnitMicros": unit})
    return list(found.values())


# -- the hierarchy ------------------------------------------------------------------------------------------------


def _entity(one: Level, row: Mapping[str, Json]) -> Entity:
    """A row as an entity. Its ids stand at the end of resource names; an ad's begins with that of its ad group."""
    whole = hierarchy.entity(one, row)
    own = google.tail(whole.id)
    parent = google.tail(whole.parent_id) if whole.parent_id is not None else None
    if one.native in google.COMPOSED:
        parent, joint, _ = own.partition("~")
        if not joint:
            raise ProviderUnreadable(f"A {one.native} in the answer has no id of the form <parent>~<own id>.")
    return evolve(whole, id=own, parent_id=parent)


def _row(account: Account, one: Level, entity_id: str, fields: Iterable[str]) -> Flow[Mapping[str, Json]]:
    """The row of one entity, removed ones too; ProviderNotFound where there is none."""
    source = google.SOURCES[one.kind]
    ids = google.ids_of(one.native, entity_id, "entityId")
    conditions = [f"{name} = {id_}" for name, id_ in zip((source.parent, source.key)[-len(ids) :], ids, strict=True)]
    found = yield from _rows(account, google.gaql(tuple(fields), source.resource, *source.always, *conditions))
    if not found:
        raise ProviderNotFound(f"Google Ads has no {one.native} {entity_id} in this account.")
    return found[0]


def tree(account: Account) -> Flow[Tree]:
    """All that is not removed; a campaign shows its geo targets."""
    nodes: list[Entity] = []
    for one in LEVELS:
        source = google.SOURCES[one.kind]
        order = source.key if one is CAMPAIGN else ""
        query = google.gaql(one.fields, source.resource, *source.always, *source.live, order=order)
        nodes += [_entity(one, row) for row in (yield from _rows(account, query))]
    condition = f"campaign_criterion.type = '{google.LOCATION}'"
    places: dict[str, list[Json]] = {}
    for row in (yield from _rows(account, google.gaql(CRITERIA, "campaign_criterion", condition))):
        campaign, _, _ = google.tail(ident(row, "/campaignCriterion/resourceName", "criterion")).partition("~")
        places.setdefault(campaign, []).append(row["campaignCriterion"])
    shown = [
        evolve(node, native={**node.native, "campaignCriteria": places[node.id]})
        if node.kind == CAMPAIGN.kind and node.id in places
        else node
        for node in nodes
        if node.status != "deleted"
    ]
    return Tree(nest(shown))


def _speaks_of(row: Mapping[str, Json], search: str) -> bool:
    texts = found_at(row, "/adGroupAd/ad/responsiveSearchAd/*/*/text")
    return any(isinstance(one, str) and search.casefold() in one.casefold() for one in texts)


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level's entities, in the order of their ids; the cursor is the last id."""
    one = check_query(NETWORK, kind, query)
    source = google.SOURCES[one.kind]
    fixed: list[str] = []
    if query.parent_id is not None:
        (parent,) = google.ids_of(one.parent_kind, query.parent_id, "parentId")
        fixed.append(f"{source.parent} = {parent}")
    fixed += [*source.always, *([f"{source.resource}.status = '{query.status}'"] if query.status else source.live)]
    if query.search and one is not AD:
        fixed.append(f"{source.resource}.name LIKE {google.containing(query.search)}")
    cursor = query.cursor
    for _ in range(FILTER_PAGES):
        if cursor is not None and not google.is_digits(cursor):
            raise refused("cursor", "malformed", "This is no cursor of this list.")
        after = [] if cursor is None else [f"{source.key} > {cursor}"]
        asked = google.gaql(one.fields, source.resource, *fixed, *after, order=source.key, limit=query.limit)
        found = yield from _rows(account, asked)
        read_ = [_entity(one, row) for row in found]
        cursor = read_[-1].id.rpartition("~")[2] if len(read_) >= query.limit else None
        # An ad has no name that Google could search.
        fitting = [node for node in read_ if one is not AD or not query.search or _speaks_of(node.native, query.search)]
        if fitting or cursor is None:
            break
    return Page(tuple(fitting), cursor)


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity with the fields of its level."""
    one = level(NETWORK, kind)
    return _entity(one, (yield from _row(account, one, entity_id, one.fields)))


_OBJECTS: Mapping[str, tuple[str, ...]] = {
    "campaign": words(
        "/campaign /campaignBudget /campaign/targetSpend /campaign/targetCpa /campaign/targetRoas"
        " /campaign/maximizeConversions /campaign/maximizeConversionValue"
    ),
    "adGroup": ("/adGroup", "/campaign"),
    "ad": ("/adGroupAd", "/adGroupAd/ad", "/adGroupAd/ad/responsiveSearchAd"),
}
"""What an edit writes into: objects, or left out."""


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity with its bidding, criteria and goals (a campaign), its campaign (an ad group), its paths (an ad)."""
    one = level(NETWORK, kind)
    fields = (*one.fields, *PATHS) if one is AD else one.fields
    found = _entity(one, (yield from _row(account, one, entity_id, fields)))
    native: Mapping[str, Json] = found.native
    if one is AD_GROUP and found.parent_id is not None:
        native = google.merged((yield from _row(account, CAMPAIGN, found.parent_id, CAMPAIGN.fields)), native)
    if one is CAMPAIGN:
        native = google.merged(native, (yield from _row(account, one, entity_id, BIDDING)))
        own = f"campaign.id = {entity_id}"
        kinds = f"campaign_criterion.type IN ('{google.LOCATION}', '{google.LANGUAGE}')"
        criteria = yield from _rows(account, google.gaql(CRITERIA, "campaign_criterion", own, kinds))
        goals = yield from _rows(account, google.gaql(GOALS, "campaign_conversion_goal", own))
        native = {
            **native,
            "campaignCriteria": [need(row, "/campaignCriterion", "criterion") for row in criteria],
            "campaignConversionGoals": [need(row, "/campaignConversionGoal", "goal") for row in goals],
        }
    if any(not isinstance(read(native, pointer, {}), Mapping) for pointer in _OBJECTS[kind]):
        raise ProviderUnreadable(f"The {one.native} in the answer is not made of objects.")
    return evolve(found, native=native)


# -- insights -----------------------------------------------------------------------------------------------------

REPORT = words(
    "segments.date customer.currency_code customer.time_zone metrics.impressions metrics.clicks metrics.cost_micros"
    " metrics.conversions metrics.conversions_value metrics.video_trueview_views"
)


def reported(answer: Response) -> Days:
    """The day of each row of an answer and its figures. Google Ads API: what was selected and is left out is zero."""
    selected = (text(answer.body, "/fieldMask") or "").split(",")
    metrics = [
        evolve(metric, absent=0) if metric.native.strip("/").replace("/", ".") in selected else metric
        for metric in METRICS
    ]
    return days(metrics, rows(answer.body, "/results"), "/segments/date")


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account, answered at once."""
    today = (local_time(account, now) or now).date()
    days = f"segments.date BETWEEN '{start.isoformat()}' AND '{end.isoformat()}'"
    query = google.gaql(REPORT, "customer", days, order="segments.date")
    answers = yield from pages(NETWORK, google.searched(account, query), _following)
    restated = today - timedelta(days=google.RESTATED_DAYS)
    provisional = max(start, restated) if end >= restated else None
    coverage = Coverage(start, end, account.timezone, provisional_from=provisional)
    native = [row for answer in answers for row in rows(answer.body, "/results")]
    return Insights.of(chain.from_iterable(map(reported, answers)), coverage, NETWORK.missing_day, native)


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from catalogs.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The access token. A developer token is sunset (2026-09-09): access belongs to the app's Cloud project."""
    return bearer(request, credentials) if trusted(NETWORK, request) else request
