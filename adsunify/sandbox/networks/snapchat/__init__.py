"""The simulated Snap Marketing API v1: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the tables do not know are refused,
though the real API may ignore some of them. Not simulated: PATCH, reads by several ids, uploads of media.

Sources, as of 2026-10: developers.snap.com/api/marketing-api/Ads-API (quick start to monetary values, with its
announcements and changelog); public clients of 2026 for the shapes of targeting lists and statistics.
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.snapchat import accounts, catalogs, entities, login, stats, writes
from adsunify.sandbox.networks.snapchat.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.snapchat.seed import seed_world
from adsunify.sandbox.networks.snapchat.tables import ACCOUNTS, ACCOUNTS_HOST, API_HOSTS, LOGIN, STORAGE_HOST
from adsunify.sandbox.oauth import consent_routes

ACCOUNT_PATH = "/v1/adaccounts/{account}"
ORGANIZATION_PATH = "/v1/organizations/{organization}"
# The parents of each kind in writes.
CAMPAIGNS_PATH = "/v1/{above:adaccounts}/{id}/{kind:campaigns}"
AD_SQUADS_PATH = "/v1/{above:campaigns}/{id}/{kind:adsquads}"
ADS_PATH = "/v1/{above:adsquads}/{id}/{kind:ads}"
CREATIVES_PATH = "/v1/{above:adaccounts}/{id}/{kind:creatives}"

NETWORK = Network(
    code="snapchat",
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", (ACCOUNTS_HOST,), "/login/oauth2/access_token", login.issue_token, role="login"),
        Route("GET", API_HOSTS, "/v1/me", login.get_user),
        Route("GET", API_HOSTS, "/v1/me/organizations", accounts.list_organizations),
        Route("GET", API_HOSTS, f"{ORGANIZATION_PATH}/adaccounts", accounts.list_ad_accounts),
        Route("GET", API_HOSTS, f"{ORGANIZATION_PATH}/fundingsources", accounts.list_funding_sources),
        Route("GET", API_HOSTS, ACCOUNT_PATH, accounts.get_ad_account),
        Route("POST", API_HOSTS, CAMPAIGNS_PATH, writes.create_entities, faults=writes.BATCH_FAULTS),
        Route("POST", API_HOSTS, AD_SQUADS_PATH, writes.create_entities, faults=writes.BATCH_FAULTS),
        Route("POST", API_HOSTS, ADS_PATH, writes.create_entities, faults=writes.BATCH_FAULTS | {"slow_media"}),
        *(
            Route("PUT", API_HOSTS, path, writes.replace_entities, faults=writes.BATCH_FAULTS)
            for path in (CAMPAIGNS_PATH, AD_SQUADS_PATH, ADS_PATH, CREATIVES_PATH)
        ),
        Route(
            "DELETE",
            API_HOSTS,
            "/v1/{kind:campaigns|adsquads|ads}/{id}",
            writes.delete_entity,
            faults=frozenset({"error_in_200"}),
        ),
        Route("GET", API_HOSTS, "/v1/{kind:campaigns|adsquads|ads|creatives}/{id}", entities.get_entity),
        Route(
            "GET",
            API_HOSTS,
            "/v1/{above:adaccounts}/{id}/{kind:campaigns|adsquads|ads|creatives}",
            entities.list_entities,
        ),
        Route("GET", API_HOSTS, "/v1/{above:campaigns}/{id}/{kind:adsquads|ads}", entities.list_entities),
        Route("GET", API_HOSTS, ADS_PATH, entities.list_entities),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/stats", stats.get_stats),
        Route("GET", API_HOSTS, "/v1/{kind:campaigns|adsquads|ads}/{id}/stats", stats.get_entity_stats),
        # error_in_200: the report fails
        Route(
            "GET", API_HOSTS, f"{ACCOUNT_PATH}/stats_report", stats.get_stats_report, faults=frozenset({"error_in_200"})
        ),
        Route("GET", (STORAGE_HOST,), "/snap-async-stats/{report:[0-9]+}.json", stats.download_report, role="download"),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/media", catalogs.list_media),
        Route("GET", API_HOSTS, "/v1/media/{id}", catalogs.get_media),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/segments", catalogs.list_segments),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/pixels", catalogs.list_pixels),
        Route("GET", API_HOSTS, "/v1/targeting/geo/country", catalogs.list_countries),
        Route(
            "GET", API_HOSTS, "/v1/targeting/geo/{country}/{part:region|metro|postal_code}", catalogs.list_country_parts
        ),
        Route("GET", API_HOSTS, "/v1/targeting/interests/scls", catalogs.list_interests),
        Route(
            "GET",
            API_HOSTS,
            "/v1/targeting/{family:demographics}/{type:languages|age_group|gender}",
            catalogs.list_flat_catalog,
        ),
        Route(
            "GET",
            API_HOSTS,
            "/v1/targeting/{family:device}/{type:os_type|connection_type|carrier}",
            catalogs.list_flat_catalog,
        ),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
)
