"""The simulated LinkedIn Marketing API: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the documentation does not know are
refused, though the real API may ignore some of them.

Sources, for version 202609, as of 2026-08: learn.microsoft.com/en-us/linkedin/marketing (versioning, account structure,
ads reporting, budget pricing, ads targeting, error responses) and /shared (rate limits, pagination, query tunneling,
authentication, ad targeting entities); github.com/linkedin-developers/linkedin-api-python-client 0.3.0 for headers and
encoding; public integrations of 2026 for what the documentation leaves open.
"""

from collections.abc import Callable

from adsunify.sandbox.network import AbortRequest, Network, Request, Response, Route
from adsunify.sandbox.networks.linkedin import analytics, catalogs, login, posts, reads, writes
from adsunify.sandbox.networks.linkedin.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.linkedin.restli import is_tunnelled
from adsunify.sandbox.networks.linkedin.tables import ACCOUNTS, API_HOSTS, LOGIN, LOGIN_HOST
from adsunify.sandbox.oauth import consent_routes

_LOGIN_HOSTS = (LOGIN_HOST,)
_ACCOUNT_PATH = "/rest/adAccounts/{account}"
_ENTITIES_PATH = f"{_ACCOUNT_PATH}/{{entities:{'|'.join(writes.KIND_BY_COLLECTION)}}}"
_READ_HANDLERS: tuple[tuple[str, Callable[[Request], Response]], ...] = (
    ("/rest/adAccounts", reads.list_accounts),
    ("/rest/adAccountUsers", reads.list_roles),
    (_ACCOUNT_PATH, reads.get_account),
    ("/rest/adAnalytics", analytics.get_analytics),
    ("/rest/adTargetingFacets", catalogs.list_facets),
    ("/rest/adTargetingEntities", catalogs.find_targeting_entities),
    ("/rest/audienceCounts", catalogs.count_audience),
    ("/rest/adBudgetPricing", catalogs.get_budget_pricing),
    ("/rest/organizationAcls", catalogs.list_pages),
    ("/rest/conversions", catalogs.list_conversions),
    ("/rest/posts", posts.find_posts),
    ("/rest/posts/{post}", posts.get_post),
    ("/rest/videos/{video}", posts.get_video),
)


def _make_tunnel_handler(
    read: Callable[[Request], Response], write: Callable[[Request], Response] | None = None
) -> Callable[[Request], Response]:
    """A handler for POST: the tunnelled GET, or the write of this path."""

    def handler(request: Request) -> Response:
        if is_tunnelled(request):
            return read(request)
        if write is None:
            raise AbortRequest(format_status_error(request, 405))
        return write(request)

    return handler


NETWORK = Network(
    code="linkedin",
    first_id=7021,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", _LOGIN_HOSTS, "/oauth/v2/accessToken", login.issue_token, role="login"),
        Route("POST", _LOGIN_HOSTS, "/oauth/v2/revoke", login.revoke_token, role="login"),
        Route("POST", _LOGIN_HOSTS, "/oauth/v2/introspectToken", login.introspect_token, role="login"),
        *(Route("GET", API_HOSTS, path, read) for path, read in _READ_HANDLERS),
        *(Route("POST", API_HOSTS, path, _make_tunnel_handler(read)) for path, read in _READ_HANDLERS),
        Route("GET", API_HOSTS, _ENTITIES_PATH, reads.search_entities),
        Route(
            "POST",
            API_HOSTS,
            _ENTITIES_PATH,
            _make_tunnel_handler(reads.search_entities, writes.create_or_update_entities),
            faults=writes.BATCH_FAULTS,
        ),
        Route("GET", API_HOSTS, f"{_ENTITIES_PATH}/{{entity}}", reads.get_entity),
        Route("POST", API_HOSTS, f"{_ENTITIES_PATH}/{{entity}}", writes.update_entity),
        Route("DELETE", API_HOSTS, f"{_ENTITIES_PATH}/{{entity}}", writes.delete_entity),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=writes.seed_world,
)
