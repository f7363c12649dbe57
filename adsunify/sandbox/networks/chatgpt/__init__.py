"""The simulated OpenAI Advertiser API v1: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the tables do not know are refused,
though the real API may ignore some of them. There is no consent page: keys are in `tables`, one for each account. Not
simulated: partner keys, bulk jobs, product feeds, uploading bytes, reports that are not daily, reads that return old
values for some seconds after a write.

Sources: OpenAI's OpenAPI document 2.3.0 (2026-06); developers.openai.com/ads, as of 2026-09 (changelog to 2026-09-10);
"field report" in a comment: notes of public integrators of 2026-09.
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.chatgpt import catalogs, conversions, entities, insights, writes
from adsunify.sandbox.networks.chatgpt.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.chatgpt.seed import seed_world
from adsunify.sandbox.networks.chatgpt.tables import ACCOUNTS, API_HOSTS

COLLECTION_PATH = "/v1/{kind:campaigns|ad_groups|ads}"

NETWORK = Network(
    code="chatgpt",
    accounts=ACCOUNTS,
    routes=(
        Route("GET", API_HOSTS, "/v1/ad_account", catalogs.get_ad_account),
        Route("GET", API_HOSTS, "/v1/ad_account/insights", insights.get_account_insights),
        Route("POST", API_HOSTS, "/v1/upload", writes.upload_image),
        Route("GET", API_HOSTS, COLLECTION_PATH, entities.list_entities),
        Route("POST", API_HOSTS, COLLECTION_PATH, writes.create_entity),
        Route("GET", API_HOSTS, f"{COLLECTION_PATH}/{{id}}", entities.get_entity),
        Route("POST", API_HOSTS, f"{COLLECTION_PATH}/{{id}}", writes.update_entity),
        Route("GET", API_HOSTS, f"{COLLECTION_PATH}/{{id}}/insights", insights.get_entity_insights),
        Route("POST", API_HOSTS, f"{COLLECTION_PATH}/{{id}}/{{verb:activate|pause|archive}}", writes.set_status),
        Route("GET", API_HOSTS, "/v1/geo_lookup/search", catalogs.search_places),
        Route("GET", API_HOSTS, "/v1/conversions/event_settings", catalogs.list_event_settings),
        Route("GET", API_HOSTS, "/v1/conversions/pixels", catalogs.list_pixels),
        Route("POST", API_HOSTS, "/v1/conversions/insights", conversions.get_conversion_insights),
        Route("GET", API_HOSTS, "/v1/custom_audiences", catalogs.list_custom_audiences),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
    first_id=4001,
    credentials={"api_key": "sandbox-chatgpt-key"},
)
