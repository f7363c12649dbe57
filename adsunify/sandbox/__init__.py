"""Simulated ad networks over real HTTP, on 127.0.0.1 only, and how to write one.

A network is a package `adsunify/sandbox/networks/<code>` with one `NETWORK`. The sandbox finds it by its folder. The
package imports these modules of `adsunify.sandbox` and nothing else of adsunify:

    network   Network, Route, Request, Response, AbortRequest
    world     Account, StoredEntity, World: the state, with undo
    checks    text, integer, choice, record and the other checks of values
    oauth     OAuthConfig, the consent page, token calls and bearer tokens
    paging    cursors and offsets
    instants  dates, instants and the days of a range
    figures   daily figures drawn from a seed, sums and shares
    links     signed links of report files
    parsing   InvalidRequest, exact JSON, forms
    faults    the faults that a test requests

A small network:

    HOST = "ads.example"
    LOGIN = OAuthConfig(consent_pages=(("login.example", "/oauth"),), required_scopes=("ads",), access_seconds=3600)

    def format_error(request: Request, problem: InvalidRequest) -> Response:  # a failed check in the native shape
        return Response(400, {"error": {"code": problem.code, "field": problem.where, "message": problem.message}})

    def format_status_error(request: Request, status: int) -> Response:         # 404, 405 and the fault `status`
        return Response(status, {"error": {"code": status}}, {"Retry-After": "7"} if status == 429 else {})

    def issue_token(request: Request) -> Response:
        _, issued = redeem_token_form(request, LOGIN)
        return Response(200, render_tokens(LOGIN, issued))

    def create_campaign(request: Request) -> Response:
        account = request.path_parameters["account"]
        if request.find_account(account) is None:
            raise AbortRequest(format_status_error(request, 404))
        members = request.parse_json(CAMPAIGN_CHECK)
        campaign = request.world.create("campaign", account, {"status": "ACTIVE", **members})
        return Response(200, {"id": campaign.id})

    CAMPAIGN_CHECK = record(required={"name": text(1, 400), "budget": number(1, places=2)},
                            optional={"status": choice("ACTIVE", "PAUSED")})
    NETWORK = Network(
        code="example", first_id=6001,
        accounts=(Account("act_1", "Demo", "USD", "America/New_York"), Account("act_2", "Demo", "JPY", "Asia/Tokyo")),
        routes=(*consent_routes(LOGIN),
                Route("POST", ("login.example",), "/token", issue_token, role="login"),
                Route("POST", (HOST,), "/v1/{account}/campaigns", create_campaign)),
        format_error=format_error, format_status_error=format_status_error, authorize_request=require_bearer_token)

**Handlers** are plain functions `(Request) -> Response`, never async, so each request is atomic. If a handler raises
`AbortRequest(response)` or `InvalidRequest(code, where, message, value)`, its changes are undone and nothing is logged.
If it returns a Response, its changes are kept, whatever the status. If the items of a batch can fail one by one (207),
handle each item in `with request.world.savepoint():` and catch InvalidRequest outside of the `with`. For
`validate_only`, do the work, then `raise AbortRequest(Response(200, ...))`.

**State** is `request.world`: `create`, `replace`, `remove`, `find`, `list_entities` (oldest first), `allocate_id` and
`now`. Each entity that a request creates, replaces or removes is one row of the log of writes; report jobs have
`logged=False`. A network stores nothing outside of its world, because a reset makes new worlds.

**Checks** are `(value, where) -> value` and raise InvalidRequest. JSON numbers arrive as int or Decimal, and a Response
holds int or Decimal (a float is a TypeError). `where` is a JSON pointer into the body, or the name of a parameter.

**Codes** of InvalidRequest: `unreadable`, `duplicate`, `unknown` (member or parameter), `required`, `type`, `value`,
`header`, `media_type` (415), `accept` (406); `missing`, `ineligible`, `processing` (ids of objects made elsewhere);
`token_missing`, `token_invalid`, `token_expired` (401); `invalid_client`, `invalid_grant` (token calls). A network may
add codes: `format_error` gets them too.

**Faults**: the server performs latency, reset_before, reset_after, status, truncate, html and empty. The
handlers perform partial, error_in_200 and slow_media, and a route names those that its handler performs:
`Route(..., faults=frozenset({"partial"}))`. The handler calls `request.get_fault("partial")`; the `value` of slow_media
is retryAfterMs. partial: the last item fails, the others are applied. error_in_200: nothing is applied, and the native
error has the status 200. `retryAfter` is the wait, in seconds, that a 429 names; `format_status_error` writes it where
the network has another place for it than `Retry-After` (`request.get_wait_seconds`). A fault without `path` applies to
routes of the role "api" only. `path` is a prefix of the native path, or a glob if it has one of `*?[`. It may begin
with the host: `/advertising-api-eu.amazon.com/sp`.

**Quiet days**: `POST /_sandbox/quiet {"network": "example", "days": ["2026-11-02"]}` names the days without delivery.
The list replaces the earlier one; a reset empties it. Reports call `request.world.delivers(day)` and show such a day as
the network documents it: no row, a row of zeros, or nulls.

**Reviews**: `POST /_sandbox/refuse {"network": "example", "ids": ["1001"]}` names the ads that the review refuses, and
on some networks ad groups and campaigns. The list replaces the earlier one; a reset empties it. Networks that show the
result of their review call `request.world.is_refused(entity)`.

**Links** in responses (report downloads, paging) have the real https hosts. Routes of a download host have the role
"download", which is not guarded, and refuse an `Authorization` header if the real host does.
"""

from adsunify.sandbox.server import RunningSandbox, Sandbox, get_fresh_id_offset, run_sandbox, sandbox, sandbox_thread

__all__ = ["RunningSandbox", "Sandbox", "get_fresh_id_offset", "run_sandbox", "sandbox", "sandbox_thread"]
