"""Consent, tokens, headers, and the customers that a user can reach."""

import re
from typing import Any

from adsunify.sandbox.checks import choice, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.google.errors import build_response
from adsunify.sandbox.networks.google.tables import LOGIN_HOST, SCOPE
from adsunify.sandbox.oauth import OAuthConfig, redeem_token_form, require_bearer_token, revoke_grant
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

# Google surely issues a refresh token only with both "offline" and "consent", so both are required
LOGIN = OAuthConfig(
    consent_pages=((LOGIN_HOST, "/o/oauth2/v2/auth"),),
    required_scopes=(SCOPE,),
    required_parameters={"access_type": choice("offline"), "prompt": choice("consent")},
    optional_parameters={"include_granted_scopes": choice("true", "false")},
    access_seconds=3600,
    access_prefix="ya29.",
    refresh_prefix="1//",
    token_form={"code_verifier": text(43, 128)},
)


def issue_token(request: Request) -> Response:
    """Exchange a code or a refresh token. The refresh token stays the same; only the exchange of a code returns it."""
    request.parse_query()
    grant_type = request.parse_form().get("grant_type")
    if grant_type not in ("authorization_code", "refresh_token"):
        raise InvalidRequest("unsupported_grant_type", "grant_type", f"grant_type {grant_type!r} is not supported")
    _, issued = redeem_token_form(request, LOGIN)
    body = {"access_token": issued.access.text, "expires_in": 3599, "scope": SCOPE, "token_type": "Bearer"}
    if grant_type == "authorization_code" and issued.refresh is not None:
        body["refresh_token"] = issued.refresh.text
    return Response(200, body)


def revoke_token(request: Request) -> Response:
    """Revoke a grant by either of its tokens."""
    request.parse_query()
    form = request.parse_form(record({"token": text()}))
    if revoke_grant(request, form["token"]):
        return Response(200, {})
    return Response(400, {"error": "invalid_token", "error_description": "Token expired or revoked"})


def authorize_request(request: Request) -> None:
    """Check that the token has the scope. `developer-token` is ignored since its sunset."""
    if SCOPE not in require_bearer_token(request).scopes:
        raise InvalidRequest(
            "authorizationError.AUTHORIZATION_ERROR", "", "The token does not carry the adwords scope."
        )
    request.parse_query()


def list_accessible_customers(request: Request) -> Response:
    """The accounts the user reaches directly, managers included; `login-customer-id` is ignored."""
    roots = [account.id for account in request.world.accounts.values() if account.extra["manager"] is None]
    return build_response({"resourceNames": [f"customers/{customer_id}" for customer_id in roots]})


def require_account(request: Request) -> Account:
    """The account of the path, if the user reaches it through the login customer of the headers."""
    customer_id = request.path_parameters["customer"]
    if not re.fullmatch("[0-9]{10}", customer_id):
        raise InvalidRequest(
            "requestError.INVALID_CUSTOMER_ID", "", "A customer id is ten digits, without dashes.", customer_id
        )
    login = customer_id
    if "login-customer-id" in request.headers:
        login = request.require_header("login-customer-id", text(10, 10, "[0-9]+"))
    account, root = request.find_account(customer_id), request.find_account(login)
    if (
        account is None
        or root is None
        or root.extra["manager"] is not None  # the user reaches this account only through a manager
        or login not in (customer_id, account.extra["manager"])
    ):
        raise InvalidRequest(
            "authorizationError.USER_PERMISSION_DENIED",
            "",
            "User doesn't have permission to access customer. Note: If you're accessing a client customer, the "
            "manager's customer id must be set in the 'login-customer-id' header.",
        )
    if account.extra["status"] != "ENABLED":
        raise InvalidRequest("authorizationError.CUSTOMER_NOT_ENABLED", "", "The customer is not enabled.")
    return account


def render_customer(account: Account) -> dict[str, Any]:
    """An account as the resource `customer`."""
    return {
        "resourceName": f"customers/{account.id}",
        "id": int(account.id),
        "descriptiveName": account.name,
        "currencyCode": account.currency,
        "timeZone": account.timezone,
        "manager": account.extra["clients"],
        "testAccount": account.extra["test"],
        "status": account.extra["status"],
    }
