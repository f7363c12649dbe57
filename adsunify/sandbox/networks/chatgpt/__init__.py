"""The simulated OpenAI Advertiser API v1: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
tables do not know are refused, though the real API may ignore some of them. There is no consent page: keys are in
`tables`, one for each account. Not simulated: partner keys, bulk jobs, product feeds, uploading bytes, reports that are
not daily, old values that reads show for some seconds.
"""

from adsunify.sandbox.framework import Network, Route
from adsunify.sandbox.networks.chatgpt import catalogs, conversions, entities, insights, writes
from adsunify.sandbox.networks.chatgpt.answers import failure, guard, problem
from adsunify.sandbox.networks.chatgpt.seed import seed
from adsunify.sandbox.networks.chatgpt.tables import ACCOUNTS, API

ALL = "/v1/{kind:campaigns|ad_groups|ads}"

NETWORK = Network(
    code="chatgpt",
    accounts=ACCOUNTS,
    routes=(
        Route("GET", API, "/v1/ad_account", catalogs.ad_account),
        Route("GET", API, "/v1/ad_account/insights", insights.insights),
        Route("POST", API, "/v1/upload", writes.upload),
        Route("GET", API, ALL, entities.list_all),
        Route("POST", API, ALL, writes.create),
        Route("GET", API, f"{ALL}/{{id}}", entities.show),
        Route("POST", API, f"{ALL}/{{id}}", writes.update),
        Route("GET", API, f"{ALL}/{{id}}/insights", insights.insights_below),
        Route("POST", API, f"{ALL}/{{id}}/{{verb:activate|pause|archive}}", writes.switch),
        Route("GET", API, "/v1/geo_lookup/search", catalogs.geo_lookup),
        Route("GET", API, "/v1/conversions/event_settings", catalogs.conversion_events),
        Route("GET", API, "/v1/conversions/pixels", catalogs.pixels),
        Route("POST", API, "/v1/conversions/insights", conversions.insights),
        Route("GET", API, "/v1/custom_audiences", catalogs.custom_audiences),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=seed,
    first_id=4001,
)
