"""How to write a network of the sandbox. One module, `adsunify/sandbox/networks/<code>.py`, that ends in `NETWORK`.

Everything comes from here: `from adsunify.sandbox.framework import ...`. Nothing may come from the rest of adsunify.

    HOST = "ads.example"
    LOGIN = Login(pages=(("login.example", "/oauth"),), needed=("ads",), access_seconds=3600)

    def problem(request: Request, problem: Problem) -> Answer:      # every failed check, in the native error shape
        return Answer(400, {"error": {"code": problem.code, "field": problem.where, "message": problem.message}})

    def failure(request: Request, status: int) -> Answer:           # 404, 405, and the told fault `status`
        return Answer(status, {"error": {"code": status}}, {"Retry-After": "7"} if status == 429 else {})

    def create_campaign(request: Request) -> Answer:
        if request.account(request.slots["account"]) is None:
            raise Refusal(failure(request, 404))
        given = request.json(CAMPAIGN)                              # a check of checks.py, often a `record`
        made = request.world.create("campaign", request.slots["account"], {"status": "ACTIVE", **given})
        return Answer(200, {"id": made.id})

    CAMPAIGN = record(required={"name": text(1, 400), "budget": number(1, places=2)},
                      optional={"status": choice("ACTIVE", "PAUSED")})
    NETWORK = Network(
        code="example", first_id=6001,
        accounts=(Account("act_1", "Demo", "USD", "America/New_York"), Account("act_2", "Demo", "JPY", "Asia/Tokyo")),
        routes=(*consent_routes(LOGIN),
                Route("POST", ("login.example",), "/token", token, role="login"),
                Route("POST", (HOST,), "/v1/{account}/campaigns", create_campaign)),
        problem=problem, failure=failure, guard=bearer)

**Handlers** are plain functions `(Request) -> Answer`, never async: one request is atomic. They raise `Refusal(answer)`
or `Problem(code, where, message, value)`; then everything they changed is undone and nothing is logged. An `Answer`
of any status that is returned keeps the changes. Items that fail alone (207): `with request.world.savepoint():`
around each, and catch the Problem outside the `with`. `validate_only`: build, then `raise Refusal(Answer(200, ...))`.

**State** (`request.world`): `create(kind, account, data, *, parent=None, id=None, logged=True) -> Entity`,
`put(entity, {**entity.data, ...})`, `remove(entity)`, `find(kind, id, account=None)`, `entities(kind, account=None,
parent=None)` oldest first, `allocate()` a new id, `now`. Entity: kind, id, account, parent, data, created_at,
updated_at. Each entity changed by `create/put/remove` is one row of the writes log. Report jobs: `logged=False`.
Nothing else is kept anywhere: no module-level state (a reset makes new worlds).

**Checks** `(value, where) -> value`: text, integer, integer_text, number, boolean, choice, listing, record, nullable,
json_text, foreign, visible, country_code, anything (see `checks`); a check of your own is a function that raises
Problem. Numbers arrive as int or Decimal and are answered from int or Decimal (a float is a TypeError).
Reading a request: `request.json(check, media_type=...)`, `.form(check)`, `.query(required, optional)`, `.header(name,
check)`, `.media(type)`, `.accept(type)`, `.slots`, `.headers`, `.pairs`, `.raw_query`, `.body`, `.account(id)`, `.now`.

**Problem codes** of the framework: `unreadable`, `duplicate`, `unknown` (member or parameter), `required`, `type`,
`value`, `header`, `media_type` (415), `accept` (406); `missing`, `ineligible`, `processing` (foreign ids);
`token_missing`, `token_invalid`, `token_expired` (401); `invalid_client`, `invalid_grant` (token calls). Your own codes
are welcome: `problem` gets them too.

**Log-in**: `consent_routes(login)`; in the token handler `exchange(request, login, client_id, client_secret, code,
redirect_uri, code_verifier=None) -> Issued(access, refresh)`, `refresh(request, login, client_id, client_secret,
refresh_token) -> Issued`, `lengthen(request, access_token, seconds) -> Token`, `grant(request, login, scopes)`,
`revoke(request, token) -> bool`, `basic(request) -> (client_id, client_secret)`, `client(request, id, secret)`; in the
guard `bearer(request) -> Token` or `valid(request, text)`. Token: text, use, grant, scopes, expires_at. The app is
`sandbox-<code>` with `CLIENT_SECRET`.

**Faults**: latency, reset_before, reset_after, status, truncate, html, empty are done for you. partial, error_in_200
and slow_media reach only routes that name them: `Route(..., faults=frozenset({"partial"}))`, and the handler asks
`request.told("partial") -> Fault | None` (`.value`: retryAfterMs of slow_media). partial: the last item fails, the
others are applied. error_in_200: nothing is applied, the native error stands in a 2xx. A fault without `path` meets
only routes of role "api"; `path` is a prefix of the native path, or a glob where it holds one of `*?[`; `/HOST/path`
is understood too (`/advertising-api-eu.amazon.com/sp`).

**Quiet days**: `POST /_sandbox/quiet {"network": "example", "days": ["2026-11-02"]}` names the days on which nothing is
delivered (the list replaces the one before; a reset empties it). Reports ask `request.world.delivers(day)` and answer
such a day as the network documents it: no row, a row of zeros, or nulls.

**Links** in answers (report downloads, paging) name the real https hosts; the download host has routes of role
"download" (no guard), and refuses an `Authorization` header where the real one does.
"""

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    choice,
    country_code,
    external_id,
    integer,
    integer_text,
    json_text,
    nullable,
    number,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.faults import Fault
from adsunify.sandbox.network import AbortRequest, Network, Request, Response, Route
from adsunify.sandbox.oauth import (
    IssuedTokens,
    OAuthConfig,
    check_client,
    consent_routes,
    exchange_code,
    extend_token,
    issue_grant,
    parse_basic_auth,
    refresh_tokens,
    require_access_token,
    require_bearer_token,
    revoke_grant,
)
from adsunify.sandbox.parsing import InvalidRequest, parse_json, serialize_json
from adsunify.sandbox.world import CLIENT_SECRET, Account, StoredEntity, Token, World

__all__ = [
    "CLIENT_SECRET",
    "AbortRequest",
    "Account",
    "Check",
    "Fault",
    "InvalidRequest",
    "IssuedTokens",
    "Network",
    "OAuthConfig",
    "Request",
    "Response",
    "Route",
    "StoredEntity",
    "Token",
    "World",
    "any_value",
    "array",
    "boolean",
    "check_client",
    "choice",
    "consent_routes",
    "country_code",
    "exchange_code",
    "extend_token",
    "external_id",
    "integer",
    "integer_text",
    "issue_grant",
    "json_text",
    "nullable",
    "number",
    "parse_basic_auth",
    "parse_json",
    "record",
    "refresh_tokens",
    "require_access_token",
    "require_bearer_token",
    "revoke_grant",
    "serialize_json",
    "text",
    "visible_text",
]  # fmt: skip
