"""The simulated Amplify API v0.1 of Outbrain: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
tables do not know are refused. Not simulated: rates (only as told faults, the two log-ins an hour too), multipart
uploads, the search of several locations at once, spend of budgets.
"""

from adsunify.sandbox.framework import Network, Route
from adsunify.sandbox.networks.outbrain import budgets, campaigns, catalogs, links, marketers, places, reports
from adsunify.sandbox.networks.outbrain.answers import failure, guard, problem
from adsunify.sandbox.networks.outbrain.seed import seed
from adsunify.sandbox.networks.outbrain.tables import ACCOUNTS, API, BASE

_MARKETER = f"{BASE}/marketers/{{marketer}}"
_CAMPAIGN = f"{BASE}/campaigns/{{id}}"
_REPORTS = f"{BASE}/reports"
_EACH = frozenset({"partial", "error_in_200"})  # where every item has a status of its own

NETWORK = Network(
    code="outbrain",
    first_id=5001,
    accounts=ACCOUNTS,
    routes=(
        Route("GET", API, f"{BASE}/login", marketers.log_in, role="login"),
        Route("GET", API, f"{BASE}/marketers", marketers.list_marketers),
        Route("GET", API, _MARKETER, marketers.show_marketer),
        Route("GET", API, f"{_MARKETER}/budgets", budgets.list_all),
        Route("POST", API, f"{_MARKETER}/budgets", budgets.create),
        Route("GET", API, f"{_MARKETER}/campaigns", campaigns.list_of_marketer),
        Route("GET", API, f"{_MARKETER}/conversionEvents", catalogs.conversion_events),
        Route("GET", API, f"{_MARKETER}/segments", catalogs.segments),
        Route("GET", API, f"{BASE}/budgets/{{id}}", budgets.show),
        Route("PUT", API, f"{BASE}/budgets/{{id}}", budgets.update),
        Route("DELETE", API, f"{BASE}/budgets/{{id}}", budgets.delete),
        Route("GET", API, f"{BASE}/budgets/{{id}}/campaigns", campaigns.list_of_budget),
        Route("POST", API, f"{BASE}/campaigns", campaigns.create),
        Route("PUT", API, f"{BASE}/campaigns", campaigns.update_several, faults=_EACH),
        Route("GET", API, _CAMPAIGN, campaigns.show),
        Route("PUT", API, _CAMPAIGN, campaigns.update),
        Route("GET", API, f"{BASE}/campaigns/{{ids}}/multiple", campaigns.show_several),
        Route("GET", API, f"{_CAMPAIGN}/locations", campaigns.locations),
        Route("GET", API, f"{_CAMPAIGN}/promotedLinks", links.list_all),
        Route("POST", API, f"{_CAMPAIGN}/promotedLinks", links.create),
        Route("PUT", API, f"{_CAMPAIGN}/promotedLinks/", links.update_several, faults=_EACH),
        Route("POST", API, f"{_CAMPAIGN}/multiplePromotedLinks", links.create_several, faults=_EACH),
        Route("GET", API, f"{BASE}/promotedLinks/{{ids}}", links.show),
        Route("PUT", API, f"{BASE}/promotedLinks/{{ids}}", links.set_enabled),
        Route("GET", API, f"{BASE}/locations/search", places.search),
        Route("GET", API, f"{BASE}/interests/all", catalogs.interests),
        Route("GET", API, f"{BASE}/interests/search", catalogs.interest_search),
        Route("GET", API, f"{BASE}/iabcategories/all", catalogs.categories),
        Route("GET", API, f"{BASE}/metadata/{{list:supportedLanguages|browsers|operatingSystems}}", catalogs.metadata),
        Route("GET", API, f"{BASE}/currencies", catalogs.currencies),
        Route("GET", API, f"{_REPORTS}/fullDay", reports.full_day),
        Route("GET", API, f"{_REPORTS}/dataFreshness", reports.data_freshness),
        Route("GET", API, f"{_REPORTS}/marketers/{{marketer}}/periodic", reports.periodic),
        Route("GET", API, f"{_REPORTS}/marketers/{{marketer}}/campaigns/periodic", reports.of_campaigns),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=seed,
)
