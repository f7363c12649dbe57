"""The simulated Amplify API v0.1 of Outbrain: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Members and parameters that the tables do not know are refused.
Not simulated: rate limits, such as two log-ins an hour (only as requested faults), multipart uploads, the search of
several locations at once, spend of budgets.

Sources: Outbrain's reference amplifyv01.docs.apiary.io, as of 2026-08-13; public clients for the paths of reports and
for paging (github.com/singer-io/tap-outbrain, github.com/dolead/py_outbrain, the PyPI package outbrain 0.0.9).
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.outbrain import budgets, campaigns, catalogs, links, marketers, places, reports
from adsunify.sandbox.networks.outbrain.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.outbrain.seed import seed_world
from adsunify.sandbox.networks.outbrain.tables import ACCOUNTS, API_HOSTS, BASE_PATH, PASSWORD, USER_NAME

_MARKETER_PATH = f"{BASE_PATH}/marketers/{{marketer}}"
_CAMPAIGN_PATH = f"{BASE_PATH}/campaigns/{{id}}"
_REPORTS_PATH = f"{BASE_PATH}/reports"
_MARKETER_REPORTS_PATH = f"{_REPORTS_PATH}/marketers/{{marketer}}"
_BULK_FAULTS = frozenset({"partial", "error_in_200"})  # every item of these calls has its own status

NETWORK = Network(
    code="outbrain",
    first_id=5001,
    accounts=ACCOUNTS,
    routes=(
        Route("GET", API_HOSTS, f"{BASE_PATH}/login", marketers.log_in, role="login"),
        Route("GET", API_HOSTS, f"{BASE_PATH}/marketers", marketers.list_marketers),
        Route("GET", API_HOSTS, _MARKETER_PATH, marketers.get_marketer),
        Route("GET", API_HOSTS, f"{_MARKETER_PATH}/budgets", budgets.list_budgets),
        Route("POST", API_HOSTS, f"{_MARKETER_PATH}/budgets", budgets.create_budget),
        Route("GET", API_HOSTS, f"{_MARKETER_PATH}/campaigns", campaigns.list_marketer_campaigns),
        Route("GET", API_HOSTS, f"{_MARKETER_PATH}/conversionEvents", catalogs.list_conversion_events),
        Route("GET", API_HOSTS, f"{_MARKETER_PATH}/segments", catalogs.list_segments),
        Route("GET", API_HOSTS, f"{BASE_PATH}/budgets/{{id}}", budgets.get_budget),
        Route("PUT", API_HOSTS, f"{BASE_PATH}/budgets/{{id}}", budgets.update_budget),
        Route("DELETE", API_HOSTS, f"{BASE_PATH}/budgets/{{id}}", budgets.delete_budget),
        Route("GET", API_HOSTS, f"{BASE_PATH}/budgets/{{id}}/campaigns", campaigns.list_budget_campaigns),
        Route("POST", API_HOSTS, f"{BASE_PATH}/campaigns", campaigns.create_campaign),
        Route("PUT", API_HOSTS, f"{BASE_PATH}/campaigns", campaigns.update_campaigns, faults=_BULK_FAULTS),
        Route("GET", API_HOSTS, _CAMPAIGN_PATH, campaigns.get_campaign),
        Route("PUT", API_HOSTS, _CAMPAIGN_PATH, campaigns.update_campaign),
        Route("GET", API_HOSTS, f"{BASE_PATH}/campaigns/{{ids}}/multiple", campaigns.get_campaigns),
        Route("GET", API_HOSTS, f"{_CAMPAIGN_PATH}/locations", campaigns.get_locations),
        Route("GET", API_HOSTS, f"{_CAMPAIGN_PATH}/promotedLinks", links.list_links),
        Route("POST", API_HOSTS, f"{_CAMPAIGN_PATH}/promotedLinks", links.create_link),
        Route("PUT", API_HOSTS, f"{_CAMPAIGN_PATH}/promotedLinks/", links.update_links, faults=_BULK_FAULTS),
        Route("POST", API_HOSTS, f"{_CAMPAIGN_PATH}/multiplePromotedLinks", links.create_links, faults=_BULK_FAULTS),
        Route("GET", API_HOSTS, f"{BASE_PATH}/promotedLinks/{{ids}}", links.get_link),
        Route("PUT", API_HOSTS, f"{BASE_PATH}/promotedLinks/{{ids}}", links.set_links_enabled),
        Route("GET", API_HOSTS, f"{BASE_PATH}/locations/search", places.search_locations),
        Route("GET", API_HOSTS, f"{BASE_PATH}/interests/all", catalogs.list_interests),
        Route("GET", API_HOSTS, f"{BASE_PATH}/interests/search", catalogs.search_interests),
        Route("GET", API_HOSTS, f"{BASE_PATH}/iabcategories/all", catalogs.list_categories),
        Route(
            "GET",
            API_HOSTS,
            f"{BASE_PATH}/metadata/{{list:supportedLanguages|browsers|operatingSystems}}",
            catalogs.list_metadata,
        ),
        Route("GET", API_HOSTS, f"{BASE_PATH}/currencies", catalogs.list_currencies),
        Route("GET", API_HOSTS, f"{_REPORTS_PATH}/fullDay", reports.get_full_day),
        Route("GET", API_HOSTS, f"{_REPORTS_PATH}/dataFreshness", reports.get_data_freshness),
        Route("GET", API_HOSTS, f"{_MARKETER_REPORTS_PATH}/periodic", reports.get_periodic_report),
        Route("GET", API_HOSTS, f"{_MARKETER_REPORTS_PATH}/campaigns/periodic", reports.get_campaigns_report),
        Route("GET", API_HOSTS, f"{_MARKETER_REPORTS_PATH}/campaigns/{{id}}/periodicContent", reports.get_links_report),
        Route("GET", API_HOSTS, f"{_MARKETER_REPORTS_PATH}/promotedContent", reports.get_content_report),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
    credentials={"username": USER_NAME, "password": PASSWORD},
)
