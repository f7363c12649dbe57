"""Consent, tokens, headers and who may reach which customer."""

import re
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Login,
    Problem,
    Request,
    bearer,
    choice,
    exchange,
    record,
    refresh,
    revoke,
    text,
)
from adsunify.sandbox.networks.google.errors import answer
from adsunify.sandbox.networks.google.tables import LOGIN_HOST, SCOPE

# offline and consent: both needed to always get a refresh token; so here both are required
LOGIN = Login(
    pages=((LOGIN_HOST, "/o/oauth2/v2/auth"),),
    needed=(SCOPE,),
    required={"access_type": choice("offline"), "prompt": choice("consent")},
    optional={"include_granted_scopes": choice("true", "false")},
    access_seconds=3600,
    access_prefix="ya29.",
    refresh_prefix="1//",
)
_CLIENT = {"grant_type": text(), "client_id": text(), "client_secret": text()}
_CODE = record({**_CLIENT, "code": text(), "redirect_uri": text()}, {"code_verifier": text(43, 128)})
_REFRESH = record({**_CLIENT, "refresh_token": text()})


def token(request: Request) -> Answer:
    """A code or a refresh token against an access token; the refresh token stays the same and is given once."""
    request.query()
    form = request.form()
    match form.get("grant_type"):
        case "authorization_code":
            given = _CODE(form, "")
            issued = exchange(request, LOGIN, given["client_id"], given["client_secret"], given["code"],
                              given["redirect_uri"], given.get("code_verifier"))  # fmt: skip
            extra = {} if issued.refresh is None else {"refresh_token": issued.refresh.text}
        case "refresh_token":
            given = _REFRESH(form, "")
            issued = refresh(request, LOGIN, given["client_id"], given["client_secret"], given["refresh_token"])
            extra = {}
        case other:
            raise Problem("unsupported_grant_type", "grant_type", f"grant_type {other!r} is not supported")
    body = {"access_token": issued.access.text, "expires_in": 3599, "scope": SCOPE, "token_type": "Bearer"}
    return Answer(200, {**body, **extra})


def revoked(request: Request) -> Answer:
    """The end of a grant, by either of its tokens."""
    request.query()
    given = request.form(record({"token": text()}))
    if revoke(request, given["token"]):
        return Answer(200, {})
    return Answer(400, {"error": "invalid_token", "error_description": "Token expired or revoked"})


def guard(request: Request) -> None:
    """Every call of the ads API needs a token with the scope. `developer-token` is ignored since its sunset."""
    if SCOPE not in bearer(request).scopes:
        raise Problem("authorizationError.AUTHORIZATION_ERROR", "", "The token does not carry the adwords scope.")
    request.query()


def customers(request: Request) -> Answer:
    """The accounts the user reaches directly, managers included; `login-customer-id` is ignored."""
    roots = [one.id for one in request.world.accounts.values() if one.extra["manager"] is None]
    return answer({"resourceNames": [f"customers/{one}" for one in roots]})


def customer(request: Request) -> Account:
    """The account of the path, if the user reaches it the way the headers say."""
    asked = request.slots["customer"]
    if not re.fullmatch("[0-9]{10}", asked):
        raise Problem("requestError.INVALID_CUSTOMER_ID", "", "A customer id is ten digits, without dashes.", asked)
    login = asked
    if "login-customer-id" in request.headers:
        login = request.header("login-customer-id", text(10, 10, "[0-9]+"))
    account, root = request.account(asked), request.account(login)
    if (
        account is None or root is None
        or root.extra["manager"] is not None  # reached through a manager only
        or login not in (asked, account.extra["manager"])
    ):  # fmt: skip
        raise Problem(
            "authorizationError.USER_PERMISSION_DENIED", "",
            "User doesn't have permission to access customer. Note: If you're accessing a client customer, the "
            "manager's customer id must be set in the 'login-customer-id' header.",
        )  # fmt: skip
    if account.extra["status"] != "ENABLED":
        raise Problem("authorizationError.CUSTOMER_NOT_ENABLED", "", "The customer is not enabled.")
    return account


def resource(account: Account) -> dict[str, Any]:
    """An account as the resource `customer`."""
    return {
        "resourceName": f"customers/{account.id}", "id": int(account.id), "descriptiveName": account.name,
        "currencyCode": account.currency, "timeZone": account.timezone, "manager": account.extra["clients"],
        "testAccount": account.extra["test"], "status": account.extra["status"],
    }  # fmt: skip
