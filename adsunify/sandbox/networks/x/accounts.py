"""Accounts and the user's permissions."""

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x.answers import Data, build_response, check_flag, parse_parameters, require_account
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.networks.x.tables import USER_ID
from adsunify.sandbox.world import Account

_CREATED_AT = "2019-02-20T15:04:05Z"


def list_accounts(request: Request) -> Response:
    """`GET /12/accounts`. An account has no currency."""
    rows = [_render_account(account) for account in request.world.accounts.values()]
    return build_page_response(request, rows, {"account_ids": "id"}, search="name")


def get_account(request: Request) -> Response:
    """`GET /12/accounts/:id`."""
    parse_parameters(request, optional={"with_deleted": check_flag})
    return build_response(request, _render_account(require_account(request)))


def get_user_access(request: Request) -> Response:
    """`GET accounts/:a/authenticated_user_access`."""
    parse_parameters(request)
    permissions = list(require_account(request).extra["permissions"])
    return build_response(request, {"user_id": USER_ID, "permissions": permissions})


def _render_account(account: Account) -> Data:
    return {
        "id": account.id,
        "name": account.name,
        "business_name": None,
        "business_id": None,
        "timezone": account.timezone,
        "timezone_switch_at": "2019-02-20T08:00:00Z",
        "approval_status": "ACCEPTED",
        "industry_type": "RETAIL",
        "created_at": _CREATED_AT,
        "updated_at": _CREATED_AT,
        "deleted": False,
    }
