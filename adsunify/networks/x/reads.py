"""Reading from X: connecting by OAuth 1.0a, the hierarchy, places, reports, catalogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from urllib.parse import parse_qsl

from attrs import evolve

from adsunify import reading
from adsunify.connecting import App, Credentials, RequestToken, authorize_url, trusted
from adsunify.errors import InvalidInput, Issue, ProviderUnreadable, TokenRefused, refused
from adsunify.insights import Insights
from adsunify.network import Account, Level, level
from adsunify.reading import (
    FILTER_PAGES,
    CatalogPage,
    Entity,
    FoundAccount,
    Page,
    Query,
    Tree,
    ask,
    check_query,
    pages,
    settled,
)
from adsunify.steps import Kind
from adsunify.wire import Flow, Json, Request, ident, need, read, rows, text

from . import native as x
from . import stats
from .signing import authorized, nonce_of
from .tables import LEVELS, LINE_ITEM, NETWORK, POST
from .targeting import Criterion, criterion

TOKEN_SECRET = "tokenSecret"
"""The member of ``Credentials.extras`` that holds the user token's secret."""
ACCEPTED = "ACCEPTED"


# -- connecting ---------------------------------------------------------------------------------------------------


def _form(request: Request) -> Flow[dict[str, str]]:
    """The members of a form-encoded answer; anything but a 200 is a failure."""
    response = yield from ask(NETWORK, request)
    content = response.body.decode("utf-8", "replace") if isinstance(response.body, bytes) else response.body
    found = dict(parse_qsl(content)) if isinstance(content, str) and response.status == 200 else {}
    if not found.get("oauth_token") or not found.get("oauth_token_secret"):
        raise ProviderUnreadable("X: the token answer has no oauth_token with its secret.")
    return found


def _leg(url: str) -> Request:
    # Signed where it is built: these two are not signed with a user's token. The answers are forms, not JSON.
    return Request("POST", url, nature="read_once", answer="bytes", signed=False)


def request_token(app: App, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
    """The first leg. X compares the callback with the registered one, so nothing that varies stands in its query."""
    request = authorized(_leg(x.REQUEST_TOKEN), app, now, nonce_of(state), oauth_callback=redirect_uri)
    found = yield from _form(request)
    if found.get("oauth_callback_confirmed") != "true":
        raise ProviderUnreadable("X did not confirm the callback address.")
    url = authorize_url(x.CONSENT, oauth_token=found["oauth_token"])
    return RequestToken(url, found["oauth_token"], found["oauth_token_secret"])


def exchange(app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int) -> Flow[Credentials]:
    """The request token, whose secret is ``verifier``, becomes the user's; a callback without verifier is a refusal."""
    token, proof = answer.get("oauth_token", ""), answer.get("oauth_verifier", "")
    if not token or not proof:  # (unverified) a refused consent says denied=<request token>
        raise refused("oauth_verifier", "consent_refused", "X gave no verifier: the consent was refused.")
    leg = _leg(x.ACCESS_TOKEN)
    found = yield from _form(authorized(leg, app, now, nonce_of(proof), token, verifier, oauth_verifier=proof))
    told = {"userId": found.get("user_id"), "screenName": found.get("screen_name")}
    extras = {TOKEN_SECRET: found["oauth_token_secret"], **{name: one for name, one in told.items() if one}}
    return Credentials(found["oauth_token"], extras=extras)


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """There is nothing to refresh: a token lives until the user or the app's owner ends it."""
    yield from settled(None)
    raise TokenRefused("X tokens cannot be refreshed; connect the account again.")


def revoke(app: App, credentials: Credentials) -> Flow[None]:
    """Ends the user's token; one that is dead already is as good."""
    try:
        yield from ask(NETWORK, Request("POST", x.INVALIDATE, nature="read_once"))
    except TokenRefused as problem:
        if problem.native.code != x.DEAD_TOKEN:
            raise


# -- lists --------------------------------------------------------------------------------------------------------


def listed(request: Request) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a list, to its last page."""
    answers = yield from pages(NETWORK, request, x.following)
    return [row for answer in answers for row in rows(answer.body, "/data")]


def instruments(account_id: str, **query: str) -> Flow[list[Mapping[str, Json]]]:
    """The funding instruments of an account, or those that the query names."""
    request = x.call("GET", "/accounts/{account}/funding_instruments", query, account=account_id)
    return (yield from listed(request))


def is_promotable(account: Account, post: str) -> Flow[bool]:
    """Whether the post is published, by the account's own user or by another one that it may promote."""
    users: list[dict[str, str]] = [{}]
    for user in users:
        if (yield from listed(x.posts(account, {"tweet_ids": post, **user}))):
            return True
        if not user:  # the list shows the full user's posts only
            others = yield from listed(x.of_account(account, "promotable_users", count=x.PAGE))
            users += [
                {"user_id": ident(one, "/user_id", "promotable user")}
                for one in others
                if text(one, "/promotable_user_type") != x.FULL_USER
            ]
    return False


def places(countries: Sequence[str]) -> Flow[list[str]]:
    """The location ids of countries, in their order. Raises InvalidInput for one that X does not know."""
    found: list[str] = []
    issues: list[Issue] = []
    for index, country in enumerate(countries):
        response = yield from ask(NETWORK, x.locations({"location_type": x.COUNTRIES, "country_code": country}))
        fitting = [one for one in rows(response.body, "/data") if text(one, "/country_code") == country]
        if fitting:
            found.append(ident(fitting[0], "/targeting_value", "location"))
        else:
            message = "X has no location for this country; it is never left out."
            issues.append(Issue(f"targeting.countries/{index}", "not_found", message))
    if issues:
        raise InvalidInput(issues)
    return found


def criteria(account: Account, line_item: str) -> Flow[list[Criterion]]:
    """The targeting criteria of a line item, all of them."""
    return [criterion(one) for one in (yield from _criteria(account, line_item))]


def _criteria(account: Account, line_item: str) -> Flow[list[Mapping[str, Json]]]:
    request = x.of_account(account, "targeting_criteria", line_item_ids=line_item, count=x.PAGE)
    return (yield from listed(request))


# -- accounts and entities ----------------------------------------------------------------------------------------


def _account(row: Mapping[str, Json], funding: Sequence[Mapping[str, Json]]) -> FoundAccount:
    native_id, status = ident(row, "/id", "account"), text(row, "/approval_status")
    able = [one for one in funding if read(one, "/able_to_fund") is True]
    currency = next((text(one, "/currency") for one in (*able, *funding)), None)
    switched = text(row, "/timezone_switch_at")
    return FoundAccount(
        native_id,
        text(row, "/name") or native_id,
        currency,
        text(row, "/timezone"),
        None if status == ACCEPTED else status,
        {"timezoneSwitchAt": switched} if switched else {},
    )


def accounts() -> Flow[list[FoundAccount]]:
    """The accounts of the user, each with the currency of its funding."""
    found = []
    for row in (yield from listed(x.call("GET", "/accounts", {"count": x.PAGE}))):
        funding = yield from instruments(ident(row, "/id", "account"))
        found.append(_account(row, funding))
    return found


def tree(account: Account) -> Flow[Tree]:
    """Campaigns, line items and promoted posts that are not deleted."""
    nodes: list[Entity] = []
    shown: set[str] = set()
    for one in LEVELS:
        found = yield from listed(x.of_account(account, one.path, count=x.PAGE))
        read_ = [reading.entity(one, native) for native in found]
        # X still lists what lies below a deleted entity, at every level under it.
        nodes += [node for node in read_ if node.parent_id is None or node.parent_id in shown]
        shown = {node.id for node in nodes if node.kind == one.kind}
    return Tree(tuple(nodes))


def _filters(one: Level, query: Query) -> dict[str, str]:
    asked = {"count": str(query.limit)}
    if query.parent_id is not None:
        asked[f"{one.parent.removeprefix('/')}s"] = query.parent_id
    if query.search:
        if one is POST:
            raise refused("search", "not_supported", "X searches campaigns and line items by name; posts have none.")
        asked["q"] = query.search
    if query.status == x.DRAFT:
        asked["with_draft"] = "true"
    return asked


def entities(account: Account, kind: str, query: Query) -> Flow[Page]:
    """One page of a level's entities. X filters no status: pages without a fitting one are passed over."""
    one = check_query(NETWORK, kind, query)
    request, cursor = x.of_account(account, one.path, **_filters(one, query)), query.cursor
    fitting: tuple[Entity, ...] = ()
    for _ in range(FILTER_PAGES):
        asked = request if cursor is None else evolve(request, query={**request.query, "cursor": cursor})
        response = yield from ask(NETWORK, asked)
        found = (reading.entity(one, native) for native in rows(response.body, "/data"))
        fitting = tuple(node for node in found if query.status in (None, node.native_status))
        cursor = x.next_cursor(response)
        if fitting or cursor is None:
            break
    return Page(fitting, cursor)


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity that is not deleted."""
    one = level(NETWORK, kind)
    path = f"/accounts/{{account}}/{one.path}/{{id}}"
    response = yield from ask(NETWORK, x.call("GET", path, {}, account=account.native_id, id=entity_id))
    native = need(response.body, "/data", one.native)
    if not isinstance(native, Mapping):
        raise ProviderUnreadable(f"X: the {one.native} is no object.")
    return reading.entity(one, native)


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """The entity, a line item with its targeting criteria."""
    found = yield from entity(account, kind, entity_id)
    if kind != LINE_ITEM.kind:
        return found
    targeting = yield from _criteria(account, entity_id)
    return evolve(found, native={**found.native, "targeting_criteria": targeting})


def insights(account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]:
    """Days of the account: a few of a few campaigns at once, else reports under one job."""
    return (yield from stats.insights(account, start, end, job, now))


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from reading.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The OAuth 1.0a signature of the request, by the app and the user's token."""
    if not trusted(NETWORK, request):
        return request
    secret = credentials.extras.get(TOKEN_SECRET, "")
    return authorized(request, app, now, nonce, credentials.access_token, secret)
