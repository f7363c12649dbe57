"""The log-in and the marketers."""

from typing import Any

from adsunify.sandbox.framework import Account, Answer, Problem, Request, basic, grant
from adsunify.sandbox.networks.outbrain.answers import answered, marketer, words
from adsunify.sandbox.networks.outbrain.tables import LOGIN, PASSWORD, TOKEN_HEADER, USER_NAME

_EXTRA = {"extraFields": words("Account")}


def log_in(request: Request) -> Answer:
    """GET /login: a token of 30 days. Earlier ones stay valid."""
    request.query()
    if basic(request) != (USER_NAME, PASSWORD):
        raise Problem("invalid_client", "", "wrong user name or password")
    return answered(request, {TOKEN_HEADER: grant(request, LOGIN, ()).access.text})


def list_marketers(request: Request) -> Answer:
    """GET /marketers: all at once."""
    extra = "extraFields" in request.query({}, _EXTRA)
    rows = [_view(account, extra=extra) for account in request.world.accounts.values()]
    return answered(request, {"marketers": rows, "count": len(rows)})


def show_marketer(request: Request) -> Answer:
    """GET /marketers/{marketer}."""
    extra = "extraFields" in request.query({}, _EXTRA)
    return answered(request, _view(marketer(request, request.slots["marketer"]), extra=extra))


def _view(account: Account, *, extra: bool) -> dict[str, Any]:
    """A marketer: it names neither its currency nor a time zone."""
    shown: dict[str, Any] = {
        "id": account.id,
        "name": account.name,
        "enabled": account.extra["enabled"],
        "lastModified": "2026-01-02 10:00:00",
        "creationTime": "2020-01-02 10:00:00",
        "blockedSites": {"blockedPublishers": [], "blockedSections": []},
    }
    return {**shown, "account": {"type": "DIRECT", "salesForceAccountId": "0010000000demo"}} if extra else shown
