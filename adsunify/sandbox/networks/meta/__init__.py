"""The simulated Meta Marketing API v26.0: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Responses leave out empty members, as Meta does: unset fields,
`paging` of an empty list, `actions` of a day without any.

Sources, for v26.0 (released 2026-07-29): developers.facebook.com (Graph API changelog and error handling; Marketing API
reference, bidding, currencies, insights, rate limiting; Facebook Login, long-lived tokens); parameters, types and enums
of the PyPI package facebook-business 26.0.3.
"""

from adsunify.sandbox.network import Network, Request, Response, Route
from adsunify.sandbox.networks.meta import catalogs, insights, login, reads, writes
from adsunify.sandbox.networks.meta.accounts import ACCOUNTS
from adsunify.sandbox.networks.meta.errors import authorize_request, format_error, format_status_error, not_found_error
from adsunify.sandbox.oauth import consent_routes

API_HOSTS = ("graph.facebook.com",)
ACCOUNT_PATH = "/v26.0/{node:act_[^/]+}"
NODE_PATH = "/v26.0/{node}"


def get_node(request: Request) -> Response:
    """GET /{id}: the node of any kind with that id."""
    if (response := insights.find_run_status(request) or reads.find_entity_response(request)) is None:
        raise not_found_error(request, request.path_parameters["node"])
    return response


NETWORK = Network(
    code="meta",
    first_id=6101,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(login.LOGIN),
        Route("GET", API_HOSTS, "/v26.0/oauth/access_token", login.issue_token, role="login"),
        Route("GET", API_HOSTS, "/v26.0/oauth/revoke", login.revoke_token, role="login"),
        Route("GET", API_HOSTS, "/v26.0/debug_token", login.inspect_token, role="login"),
        Route("DELETE", API_HOSTS, "/v26.0/me/permissions", login.revoke_permissions, role="login"),
        Route("GET", API_HOSTS, "/v26.0/me", reads.get_user),
        Route("GET", API_HOSTS, "/v26.0/me/adaccounts", reads.list_accounts),
        Route("GET", API_HOSTS, "/v26.0/me/accounts", catalogs.list_pages),
        Route("GET", API_HOSTS, "/v26.0/search", catalogs.search_catalog),
        Route("GET", API_HOSTS, ACCOUNT_PATH, reads.get_account),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/campaigns", writes.create_campaign),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/adsets", writes.create_adset),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/ads", writes.create_ad),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/adcreatives", writes.create_adcreative),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/adimages", catalogs.create_image),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/{{edge:{'|'.join(catalogs.ROWS_BY_EDGE)}}}", catalogs.list_edge),
        Route("GET", API_HOSTS, f"{NODE_PATH}/insights", insights.get_insights),
        # error_in_200: a report run fails, and its poll answers 200
        Route("POST", API_HOSTS, f"{NODE_PATH}/insights", insights.create_run, faults=frozenset({"error_in_200"})),
        Route("GET", API_HOSTS, f"{NODE_PATH}/{{edge:campaigns|adsets|ads|adcreatives}}", reads.list_entities),
        Route("GET", API_HOSTS, NODE_PATH, get_node),
        Route("POST", API_HOSTS, NODE_PATH, writes.update_entity),
        Route("DELETE", API_HOSTS, NODE_PATH, writes.delete_entity),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
)
