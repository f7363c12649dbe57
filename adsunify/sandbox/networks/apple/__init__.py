"""The simulated Apple Ads Platform API 1.0: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the tables do not know are refused,
though the real API may ignore some of them. Not simulated: negative keywords, changes of ad accounts, hourly, weekly
and monthly reports, and grouped ones.

Sources, for version 1.0 (released 2026-08): developer.apple.com/documentation/apple-ads-platform-api (OAuth, access
overview, rate limits, campaigns, ad groups, keywords, bulk operations, creatives, geo targeting, reports).
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.apple import accounts, catalogs, entities, lists, login, reports, writes
from adsunify.sandbox.networks.apple.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.apple.seed import seed_world
from adsunify.sandbox.networks.apple.tables import (
    ACCOUNTS,
    API_HOSTS,
    CLIENT_ID,
    KEY_ID,
    PRIVATE_KEY,
    TEAM_ID,
    TOKEN_HOST,
)

_COLLECTION_PATH = f"/v1/{{word:{'|'.join(entities.KIND_BY_COLLECTION)}}}"
_ENTITY_PATH = f"{_COLLECTION_PATH}/{{id:[1-9][0-9]{{0,18}}}}"
_LEVEL_SLOT = "{level:campaigns|adgroups|ads|keywords|searchterms}"

NETWORK = Network(
    code="apple",
    first_id=9000001,
    accounts=ACCOUNTS,
    routes=(
        Route("POST", (TOKEN_HOST,), "/auth/oauth2/token", login.issue_token, role="login"),
        Route("GET", API_HOSTS, "/v1/me", accounts.get_user),
        Route("GET", API_HOSTS, "/v1/acls", accounts.list_acls),
        Route("GET", API_HOSTS, "/v1/orgs/{id}", accounts.get_organization),
        Route("GET", API_HOSTS, "/v1/ad-accounts/{id}", accounts.get_ad_account),
        Route("GET", API_HOSTS, "/v1/advertiser-resources", accounts.list_advertiser_resources),
        Route("POST", API_HOSTS, _COLLECTION_PATH, writes.create_entity),
        Route("POST", API_HOSTS, f"{_COLLECTION_PATH}/query", lists.query_entities),
        Route(
            "POST",
            API_HOSTS,
            "/v1/keywords/bulk-{action:create|update|delete}",
            writes.apply_bulk_action,
            faults=writes.BULK_FAULTS,
        ),
        Route("GET", API_HOSTS, _ENTITY_PATH, entities.get_entity),
        Route("PUT", API_HOSTS, _ENTITY_PATH, writes.update_entity),
        Route("DELETE", API_HOSTS, _ENTITY_PATH, writes.delete_entity),
        Route("POST", API_HOSTS, "/v1/product-pages/query", catalogs.list_product_pages),
        Route("GET", API_HOSTS, "/v1/search/apps", catalogs.search_apps),
        Route("GET", API_HOSTS, "/v1/apps/{id}", catalogs.get_app),
        Route("POST", API_HOSTS, "/v1/eligibilities/apps/query", catalogs.list_eligibility),
        Route("GET", API_HOSTS, "/v1/search/geo", catalogs.search_places),
        Route("POST", API_HOSTS, "/v1/metadata/apps/supported-languages/query", catalogs.list_supported_languages),
        Route("POST", API_HOSTS, f"/v1/reports/apps/{_LEVEL_SLOT}/query", reports.query_report),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
    credentials={"client_id": CLIENT_ID, "team_id": TEAM_ID, "key_id": KEY_ID, "private_key": PRIVATE_KEY},
)
