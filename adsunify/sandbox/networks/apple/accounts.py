"""The user, its organization, its ad accounts and their delegations."""

from adsunify.sandbox.checks import choice
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple.answers import build_response, not_found_error, require_account
from adsunify.sandbox.networks.apple.tables import ORGANIZATION, USER
from adsunify.sandbox.parsing import InvalidRequest


def get_user(request: Request) -> Response:
    """GET /me."""
    request.parse_query()
    return build_response({"result": USER})


def list_acls(request: Request) -> Response:
    """GET /acls: an entry for each ad account."""
    request.parse_query()
    short = ("id", "name", "orgId")
    rows = [
        {"adAccount": {name: account.extra["native"][name] for name in short}, "roles": ["AD_ACCOUNT_ADMIN"]}
        for account in request.world.accounts.values()
    ]
    return build_response({"result": {"acls": rows}})


def get_organization(request: Request) -> Response:
    """GET /orgs/{id}."""
    request.parse_query()
    if request.path_parameters["id"] != str(ORGANIZATION["id"]):
        raise not_found_error("organization")
    return build_response({"result": ORGANIZATION})


def get_ad_account(request: Request) -> Response:
    """GET /ad-accounts/{id}: only the ad account of the context (an `orgId` is not accepted)."""
    request.parse_query()
    account = require_account(request)
    if request.path_parameters["id"] != account.id:
        raise InvalidRequest("forbidden", "", "X-AP-Context names another ad account")
    return build_response({"result": account.extra["native"]})


def list_advertiser_resources(request: Request) -> Response:
    """GET /advertiser-resources."""
    query = request.parse_query({"resourceType": choice("CONTENT_PROVIDER")})
    rows = [
        delegation
        for account in request.world.accounts.values()
        for delegation in account.extra["native"]["delegations"]
        if delegation["resourceType"] == query["resourceType"]
    ]
    return build_response({"result": rows})
