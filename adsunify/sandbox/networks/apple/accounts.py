"""The user, its organization, its ad accounts and what was delegated to them."""

from adsunify.sandbox.framework import Answer, Problem, Request, choice
from adsunify.sandbox.networks.apple.answers import absent, account_of, answered
from adsunify.sandbox.networks.apple.tables import ORGANIZATION, USER


def me(request: Request) -> Answer:
    """GET /me."""
    request.query()
    return answered({"result": USER})


def acls(request: Request) -> Answer:
    """GET /acls: an entry for each ad account."""
    request.query()
    short = ("id", "name", "orgId")
    rows = [
        {"adAccount": {name: account.extra["native"][name] for name in short}, "roles": ["AD_ACCOUNT_ADMIN"]}
        for account in request.world.accounts.values()
    ]
    return answered({"result": {"acls": rows}})


def organization(request: Request) -> Answer:
    """GET /orgs/{id}."""
    request.query()
    if request.slots["id"] != str(ORGANIZATION["id"]):
        raise absent("organization")
    return answered({"result": ORGANIZATION})


def ad_account(request: Request) -> Answer:
    """GET /ad-accounts/{id}: the ad account of the context, and no other (an `orgId` is none)."""
    request.query()
    account = account_of(request)
    if request.slots["id"] != account.id:
        raise Problem("forbidden", "", "X-AP-Context names another ad account")
    return answered({"result": account.extra["native"]})


def resources(request: Request) -> Answer:
    """GET /advertiser-resources."""
    wanted = request.query({"resourceType": choice("CONTENT_PROVIDER")})
    rows = [
        one
        for account in request.world.accounts.values()
        for one in account.extra["native"]["delegations"]
        if one["resourceType"] == wanted["resourceType"]
    ]
    return answered({"result": rows})
