"""The simulated Northway Ads API v3: a strict, independent reading of docs.northway.example/ads/v3.

"chosen" marks a choice where the documentation is silent. Unknown members and parameters are refused.
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.oauth import consent_routes
from adsunify_northway.simulated import catalogs, entities, login, reports, writes
from adsunify_northway.simulated.answers import authorize_request, format_error, format_status_error
from adsunify_northway.simulated.seed import seed_world
from adsunify_northway.simulated.tables import ACCOUNTS, API_HOSTS, LOGIN

_ADVERTISER_PATH = "/v3/advertisers/{advertiser}"
_COLLECTION_SLOT = "{collection:campaigns|ad_sets|ads}"

NETWORK = Network(
    code="northway",
    first_id=7001,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", API_HOSTS, "/v3/oauth/token", login.issue_token, role="login"),
        Route("POST", API_HOSTS, "/v3/oauth/revoke", login.revoke_token, role="login"),
        Route("GET", API_HOSTS, "/v3/advertisers", catalogs.list_advertisers),
        Route("GET", API_HOSTS, f"{_ADVERTISER_PATH}/pixels", catalogs.list_pixels),
        Route("GET", API_HOSTS, "/v3/geo/countries", catalogs.list_countries),
        Route("GET", API_HOSTS, f"{_ADVERTISER_PATH}/report", reports.get_report),
        Route("GET", API_HOSTS, f"{_ADVERTISER_PATH}/{_COLLECTION_SLOT}", entities.list_entities),
        Route("GET", API_HOSTS, f"/v3/{_COLLECTION_SLOT}/{{id}}", entities.get_entity),
        Route("POST", API_HOSTS, f"{_ADVERTISER_PATH}/campaigns", writes.create_campaign),
        Route("POST", API_HOSTS, "/v3/campaigns/{parent}/ad_sets", writes.create_ad_set),
        Route("POST", API_HOSTS, "/v3/ad_sets/{parent}/ads", writes.create_ad),
        Route("PATCH", API_HOSTS, f"/v3/{_COLLECTION_SLOT}/{{id}}", writes.update_entity),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
)
