"""The simulated Pinterest API v5: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the descriptions do not know are
refused, though the real API may ignore some of them.

Sources: the API descriptions 5.23.0 (2025-12, github.com/pinterest/api-description) and 5.28.0 (2026, in the PyPI
package pinterestsdk 2.1.0); developers.pinterest.com/docs, as of 2026 (authentication, campaigns and ad groups, ads
reporting, rate limits, access tiers, changelog); help.pinterest.com (campaign objectives, campaign budgets).
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.pinterest import analytics, catalogs, keywords, login, pins, reads, writes
from adsunify.sandbox.networks.pinterest.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.pinterest.seed import seed_world
from adsunify.sandbox.networks.pinterest.tables import ACCOUNTS, API_HOSTS, LOGIN, STORAGE_HOST
from adsunify.sandbox.oauth import consent_routes

ACCOUNT_PATH = "/v5/ad_accounts/{account}"
ENTITIES_PATH = f"{ACCOUNT_PATH}/{{entities:{'|'.join(reads.KIND_BY_COLLECTION)}}}"

NETWORK = Network(
    code="pinterest",
    first_id=626735565838,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", API_HOSTS, "/v5/oauth/token", login.issue_token, role="login"),
        Route("POST", API_HOSTS, "/v5/oauth/token/revoke", login.refuse_revocation, role="login"),
        Route("GET", API_HOSTS, "/v5/user_account", login.get_user_account),
        Route("GET", API_HOSTS, "/v5/ad_accounts", reads.list_accounts),
        Route("GET", API_HOSTS, ACCOUNT_PATH, reads.get_account),
        Route(
            "GET", API_HOSTS, f"{ACCOUNT_PATH}/{{of:(campaigns/|ad_groups/|ads/|)}}analytics", analytics.get_analytics
        ),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/reports", analytics.create_report_job),
        # error_in_200: the report job fails
        Route(
            "GET", API_HOSTS, f"{ACCOUNT_PATH}/reports", analytics.get_report_job, faults=frozenset({"error_in_200"})
        ),
        Route(
            "GET",
            (STORAGE_HOST,),
            "/async_reporting_v3/{report}/metrics_report.txt",
            analytics.download_report,
            role="download",
        ),
        Route("GET", API_HOSTS, ENTITIES_PATH, reads.list_entities),
        Route(
            "POST",
            API_HOSTS,
            f"{ACCOUNT_PATH}/{{entities:ads}}",
            writes.create_entities,
            faults=writes.BATCH_FAULTS | {"slow_media"},
        ),
        Route("POST", API_HOSTS, ENTITIES_PATH, writes.create_entities, faults=writes.BATCH_FAULTS),
        Route("PATCH", API_HOSTS, ENTITIES_PATH, writes.update_entities, faults=writes.BATCH_FAULTS),
        Route("GET", API_HOSTS, f"{ENTITIES_PATH}/{{id}}", reads.get_entity),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/keywords", keywords.list_keywords),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/keywords", keywords.create_keywords, faults=writes.BATCH_FAULTS),
        Route(
            "PATCH", API_HOSTS, f"{ACCOUNT_PATH}/keywords", keywords.update_keywords, faults=frozenset({"error_in_200"})
        ),
        Route("POST", API_HOSTS, f"{ACCOUNT_PATH}/bid_floor", catalogs.get_bid_floors),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/audiences", catalogs.list_audiences),
        Route("GET", API_HOSTS, f"{ACCOUNT_PATH}/conversion_tags", catalogs.list_conversion_tags),
        Route("GET", API_HOSTS, "/v5/boards", pins.list_boards),
        Route("GET", API_HOSTS, "/v5/boards/{id}", pins.get_board),
        Route("GET", API_HOSTS, "/v5/boards/{id}/pins", pins.list_board_pins),
        Route("GET", API_HOSTS, "/v5/pins", pins.list_pins),
        Route("POST", API_HOSTS, "/v5/pins", pins.create_pin),
        Route("GET", API_HOSTS, "/v5/pins/{id}", pins.get_pin),
        Route("DELETE", API_HOSTS, "/v5/pins/{id}", pins.delete_pin),
        Route(
            "GET",
            API_HOSTS,
            f"/v5/resources/targeting/{{type:{'|'.join(catalogs.TARGETING_OPTIONS)}}}",
            catalogs.list_targeting_options,
        ),
        Route("GET", API_HOSTS, "/v5/resources/targeting/interests/{id}", catalogs.get_interest),
        Route("GET", API_HOSTS, "/v5/resources/ad_account_countries", catalogs.list_countries),
        Route("GET", API_HOSTS, "/v5/resources/metrics_ready_state", analytics.get_metrics_readiness),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
)
