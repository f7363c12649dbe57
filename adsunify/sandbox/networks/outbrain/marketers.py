"""The log-in and the marketers."""

from typing import Any

from adsunify.sandbox.checks import choice, comma_separated
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.outbrain.tables import LOGIN, PASSWORD, TOKEN_HEADER, USER_NAME
from adsunify.sandbox.oauth import issue_grant, parse_basic_auth
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

_EXTRA_CHECK = {"extraFields": comma_separated(choice("Account"))}


def log_in(request: Request) -> Response:
    """GET /login: a token of 30 days. Earlier ones stay valid."""
    request.parse_query()
    if parse_basic_auth(request) != (USER_NAME, PASSWORD):
        raise InvalidRequest("invalid_client", "", "wrong user name or password")
    return build_response(request, {TOKEN_HEADER: issue_grant(request, LOGIN, ()).access.text})


def list_marketers(request: Request) -> Response:
    """GET /marketers: all at once."""
    extra = "extraFields" in request.parse_query({}, _EXTRA_CHECK)
    rows = [_render_marketer(account, extra=extra) for account in request.world.accounts.values()]
    return build_response(request, {"marketers": rows, "count": len(rows)})


def get_marketer(request: Request) -> Response:
    """GET /marketers/{marketer}."""
    extra = "extraFields" in request.parse_query({}, _EXTRA_CHECK)
    return build_response(
        request, _render_marketer(require_account_by_id(request, request.path_parameters["marketer"]), extra=extra)
    )


def _render_marketer(account: Account, *, extra: bool) -> dict[str, Any]:
    """A marketer in a response, which names no currency and no time zone."""
    marketer: dict[str, Any] = {
        "id": account.id,
        "name": account.name,
        "enabled": account.extra["enabled"],
        "lastModified": "2026-01-02 10:00:00",
        "creationTime": "2020-01-02 10:00:00",
        "blockedSites": {"blockedPublishers": [], "blockedSections": []},
    }
    return {**marketer, "account": {"type": "DIRECT", "salesForceAccountId": "0010000000demo"}} if extra else marketer
