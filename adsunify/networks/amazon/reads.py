"""Reading from Amazon Ads: connecting, the hierarchy, reports, catalogs."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from adsunify import connecting, reading
from adsunify.connecting import App, Credentials, bearer, challenge, token_request, trusted
from adsunify.errors import ProviderNotFound, refused
from adsunify.network import Account, Level, level
from adsunify.outcomes import failure
from adsunify.reading import (
    CatalogPage,
    Entity,
    FoundAccount,
    Page,
    Query,
    Tree,
    ask,
    check_query,
    nest,
    pages,
    settled,
)
from adsunify.steps import Kind
from adsunify.wire import Flow, Json, Request, Response, ident, read, rows, text

from .native import (
    BROAD_MATCH,
    CLIENT_HEADER,
    CONSENT,
    HOSTS,
    PERMISSION,
    SELLER,
    TOKEN,
    VENDOR,
    collection,
    id_filter,
    listed,
    next_token,
    profile_name,
    profiles,
)
from .tables import FILTERS, LEVELS, LIVE, NAMED, NETWORK

SMALLEST_PAGE = 10  # (unverified) one client documents 10 to 100
KDP_AUTHOR = "KDP_AUTHOR"
NO_PAYMENT = "payment problem"


# -- connecting ---------------------------------------------------------------------------------------------------


def authorize_url(app: App, redirect_uri: str, state: str, verifier: str) -> str:
    """The consent page of Login with Amazon."""
    return connecting.authorize_url(
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
        raise refused("code", "required", f"Amazon gave no code: {answer.get('error_description') or 'no reason'}.")
    request = token_request(
        TOKEN,
        grant_type="authorization_code",
        code=answer["code"],
        redirect_uri=redirect_uri,
        client_id=app.client_id,
        client_secret=app.client_secret,
        code_verifier=verifier,
    )
    return (yield from connecting.exchange(NETWORK, request, now))


def refresh(app: App, credentials: Credentials, now: int) -> Flow[Credentials]:
    """A new access token; the refresh token stays the same and does not expire."""
    request = token_request(
        TOKEN,
        grant_type="refresh_token",
        refresh_token=credentials.refresh_token or "",
        client_id=app.client_id,
        client_secret=app.client_secret,
    )
    return (yield from connecting.exchange(NETWORK, request, now, credentials))


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
            nodes.extend(reading.entity(one, native) for native in rows(response.body, f"/{collection(one)}"))
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
    found = tuple(reading.entity(one, native) for native in rows(response.body, f"/{collection(one)}"))
    return Page(found, next_token(response))


def _one(account: Account, one: Level, entity_id: str) -> Flow[Entity]:
    body = _states(*FILTERS) | {id_filter(one): {"include": [entity_id]}, "includeExtendedDataFields": True}
    response = yield from ask(NETWORK, listed(account, one, body))
    for native in rows(response.body, f"/{collection(one)}"):
        found = reading.entity(one, native)
        if found.id == entity_id:
            return found
    raise ProviderNotFound(f"Amazon Ads has no {one.native} {entity_id} in this profile.")


def entity(account: Account, kind: str, entity_id: str) -> Flow[Entity]:
    """One entity, archived ones too: there is no path of its own, so the list is asked for its id."""
    return (yield from _one(account, level(NETWORK, kind), entity_id))


def editable(account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
    """As :func:`entity`: the native entity is all that an edit needs."""
    return (yield from entity(account, kind, entity_id))


# -- catalogs -----------------------------------------------------------------------------------------------------


def catalog(account: Account, resource: str, query: Query) -> Flow[CatalogPage]:
    """One page of a catalog."""
    return (yield from reading.catalog(NETWORK, account, resource, query))


def sign(request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request:
    """The access token (its ``Atza|`` is part of it) and the app's id."""
    if not trusted(NETWORK, request):
        return request
    return bearer(evolve(request, headers={**request.headers, CLIENT_HEADER: app.client_id}), credentials)
