"""The simulated Pinterest API v5: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
descriptions do not know are refused, though the real API may ignore some of them.
"""

from adsunify.sandbox.framework import Network, Route, consent_routes
from adsunify.sandbox.networks.pinterest import analytics, catalogs, keywords, login, pins, reads, writes
from adsunify.sandbox.networks.pinterest.answers import failure, guard, problem
from adsunify.sandbox.networks.pinterest.seed import seed
from adsunify.sandbox.networks.pinterest.tables import ACCOUNTS, API, LOGIN, STORAGE_HOST

ACCOUNT = "/v5/ad_accounts/{account}"
ENTITIES = f"{ACCOUNT}/{{entities:{'|'.join(reads.KINDS)}}}"

NETWORK = Network(
    code="pinterest",
    first_id=626735565838,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", API, "/v5/oauth/token", login.token, role="login"),
        Route("POST", API, "/v5/oauth/token/revoke", login.revoke, role="login"),
        Route("GET", API, "/v5/user_account", login.user_account),
        Route("GET", API, "/v5/ad_accounts", reads.list_accounts),
        Route("GET", API, ACCOUNT, reads.get_account),
        Route("GET", API, f"{ACCOUNT}/{{of:(campaigns/|ad_groups/|ads/|)}}analytics", analytics.analytics),
        Route("POST", API, f"{ACCOUNT}/reports", analytics.create_job),
        # an error inside a 200 is here a job that failed
        Route("GET", API, f"{ACCOUNT}/reports", analytics.look, faults=frozenset({"error_in_200"})),
        Route("GET", (STORAGE_HOST,), "/async_reporting_v3/{report}/metrics_report.txt", analytics.download,
              role="download"),
        Route("GET", API, ENTITIES, reads.list_entities),
        Route("POST", API, f"{ACCOUNT}/{{entities:ads}}", writes.create, faults=writes.FAULTS | {"slow_media"}),
        Route("POST", API, ENTITIES, writes.create, faults=writes.FAULTS),
        Route("PATCH", API, ENTITIES, writes.update, faults=writes.FAULTS),
        Route("GET", API, f"{ENTITIES}/{{id}}", reads.get_entity),
        Route("GET", API, f"{ACCOUNT}/keywords", keywords.list_keywords),
        Route("POST", API, f"{ACCOUNT}/keywords", keywords.create, faults=writes.FAULTS),
        Route("PATCH", API, f"{ACCOUNT}/keywords", keywords.update, faults=frozenset({"error_in_200"})),
        Route("POST", API, f"{ACCOUNT}/bid_floor", catalogs.bid_floor),
        Route("GET", API, f"{ACCOUNT}/audiences", catalogs.audiences),
        Route("GET", API, f"{ACCOUNT}/conversion_tags", catalogs.conversion_tags),
        Route("GET", API, "/v5/boards", pins.list_boards),
        Route("GET", API, "/v5/boards/{id}", pins.get_board),
        Route("GET", API, "/v5/boards/{id}/pins", pins.list_board_pins),
        Route("GET", API, "/v5/pins", pins.list_pins),
        Route("POST", API, "/v5/pins", pins.create_pin),
        Route("GET", API, "/v5/pins/{id}", pins.get_pin),
        Route("DELETE", API, "/v5/pins/{id}", pins.delete_pin),
        Route("GET", API, f"/v5/resources/targeting/{{type:{'|'.join(catalogs.TARGETS)}}}", catalogs.targets),
        Route("GET", API, "/v5/resources/targeting/interests/{id}", catalogs.interest),
        Route("GET", API, "/v5/resources/ad_account_countries", catalogs.countries),
        Route("GET", API, "/v5/resources/metrics_ready_state", analytics.ready),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=seed,
)  # fmt: skip
