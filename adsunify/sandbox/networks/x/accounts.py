"""Accounts and what the user may do there."""

from adsunify.sandbox.framework import Account, Answer, Request
from adsunify.sandbox.networks.x.answers import Data, account_of, answered, flag, given
from adsunify.sandbox.networks.x.lists import listed
from adsunify.sandbox.networks.x.tables import USER_ID

_SINCE = "2019-02-20T15:04:05Z"


def accounts(request: Request) -> Answer:
    """`GET /12/accounts`. An account has no currency."""
    rows = [_view(one) for one in request.world.accounts.values()]
    return listed(request, rows, {"account_ids": "id"}, search="name")


def one_account(request: Request) -> Answer:
    """`GET /12/accounts/:id`."""
    given(request, optional={"with_deleted": flag})
    return answered(request, _view(account_of(request)))


def access(request: Request) -> Answer:
    """`GET accounts/:a/authenticated_user_access`."""
    given(request)
    permissions = list(account_of(request).extra["permissions"])
    return answered(request, {"user_id": USER_ID, "permissions": permissions})


def _view(account: Account) -> Data:
    return {
        "id": account.id,
        "name": account.name,
        "business_name": None,
        "business_id": None,
        "timezone": account.timezone,
        "timezone_switch_at": "2019-02-20T08:00:00Z",
        "approval_status": "ACCEPTED",
        "industry_type": "RETAIL",
        "created_at": _SINCE,
        "updated_at": _SINCE,
        "deleted": False,
    }
