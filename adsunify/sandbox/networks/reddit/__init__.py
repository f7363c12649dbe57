"""The simulated Reddit Ads API v3: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the tables do not know are refused,
though the real API may ignore some of them. Not simulated: creating and changing posts, forecasts.

Sources: the OpenAPI description ads-api.reddit.com/docs/specs/reddit-ads-api-v3.yaml (2026-07-14) and the pages of
ads-api.reddit.com/docs/v3, as of 2026 (authentication, campaign set-up, migration of objectives, the notice on
conversion pixels of 2026-04-13); public integrations of 2026 for the behaviour of the live API.
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.reddit import accounts, catalogs, entities, login, posts, reports, writes
from adsunify.sandbox.networks.reddit.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.reddit.seed import seed_world
from adsunify.sandbox.networks.reddit.tables import ACCOUNTS, API_HOSTS, LOGIN, LOGIN_HOSTS
from adsunify.sandbox.oauth import consent_routes

_BASE_PATH = "/api/v3"
_ACCOUNT_PATH = f"{_BASE_PATH}/ad_accounts/{{account}}"
_COLLECTION_SLOT = "{kind:campaigns|ad_groups|ads}"
_SLOW_FAULTS = frozenset({"slow_media"})

NETWORK = Network(
    code="reddit",
    first_id=1860000000000000001,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", LOGIN_HOSTS, "/api/v1/access_token", login.issue_token, role="login"),
        Route("POST", LOGIN_HOSTS, "/api/v1/revoke_token", login.revoke_token, role="login"),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/me/businesses", accounts.list_businesses),
        Route("POST", API_HOSTS, f"{_BASE_PATH}/businesses/{{business}}/ad_accounts/query", accounts.list_ad_accounts),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/businesses/{{business}}/ad_accounts", accounts.list_owned_ad_accounts),
        Route("GET", API_HOSTS, _ACCOUNT_PATH, accounts.get_ad_account),
        Route("POST", API_HOSTS, f"{_ACCOUNT_PATH}/{{kind:ads}}", writes.create_entity, faults=_SLOW_FAULTS),
        Route("POST", API_HOSTS, f"{_ACCOUNT_PATH}/{_COLLECTION_SLOT}", writes.create_entity),
        Route("GET", API_HOSTS, f"{_ACCOUNT_PATH}/{_COLLECTION_SLOT}", entities.list_entities),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/{_COLLECTION_SLOT}/{{id}}", entities.get_entity),
        Route("PATCH", API_HOSTS, f"{_BASE_PATH}/{_COLLECTION_SLOT}/{{id}}", writes.update_entity),
        Route("POST", API_HOSTS, f"{_ACCOUNT_PATH}/reports", reports.create_report),
        Route("GET", API_HOSTS, f"{_ACCOUNT_PATH}/funding_instruments", catalogs.list_funding_instruments),
        Route("GET", API_HOSTS, f"{_ACCOUNT_PATH}/pixels", catalogs.list_pixels),
        Route("GET", API_HOSTS, f"{_ACCOUNT_PATH}/profiles", catalogs.list_profiles),
        Route("GET", API_HOSTS, f"{_ACCOUNT_PATH}/apps", catalogs.list_apps),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/posts/{{post}}", posts.get_post),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/structured_posts/{{post:t3_[^/]+}}", posts.get_post),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/structured_posts/jobs/{{job}}", posts.get_post_job, faults=_SLOW_FAULTS),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/profiles/{{profile}}/posts", posts.list_posts),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/profiles/{{profile}}/structured_posts", posts.list_structured_posts),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/targeting/geolocations", catalogs.list_geolocations),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/targeting/communities/search", catalogs.search_communities),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/targeting/communities", catalogs.list_communities),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/targeting/interests", catalogs.list_interests),
        Route(
            "GET",
            API_HOSTS,
            f"{_BASE_PATH}/targeting/{{catalog:languages|carriers|devices}}",
            catalogs.list_flat_catalog,
        ),
        Route("GET", API_HOSTS, f"{_BASE_PATH}/time_zones", catalogs.list_timezones),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
)
