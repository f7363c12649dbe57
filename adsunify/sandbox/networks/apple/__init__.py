"""The simulated Apple Ads Platform API 1.0: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
tables do not know are refused, though the real API may ignore some of them. Not simulated: negative keywords, changes
of ad accounts, hourly, weekly and monthly reports, and grouped ones.
"""

from adsunify.sandbox.framework import Network, Route
from adsunify.sandbox.networks.apple import accounts, catalogs, entities, lists, login, reports, writes
from adsunify.sandbox.networks.apple.answers import failure, guard, problem
from adsunify.sandbox.networks.apple.seed import seed
from adsunify.sandbox.networks.apple.tables import ACCOUNTS, API, TOKEN_HOST

_WORD = f"/v1/{{word:{'|'.join(entities.KINDS)}}}"
_ONE = f"{_WORD}/{{id:[1-9][0-9]{{0,18}}}}"
_LEVEL = "{level:campaigns|adgroups|ads|keywords|searchterms}"

NETWORK = Network(
    code="apple",
    first_id=9000001,
    accounts=ACCOUNTS,
    routes=(
        Route("POST", (TOKEN_HOST,), "/auth/oauth2/token", login.token, role="login"),
        Route("GET", API, "/v1/me", accounts.me),
        Route("GET", API, "/v1/acls", accounts.acls),
        Route("GET", API, "/v1/orgs/{id}", accounts.organization),
        Route("GET", API, "/v1/ad-accounts/{id}", accounts.ad_account),
        Route("GET", API, "/v1/advertiser-resources", accounts.resources),
        Route("POST", API, _WORD, writes.create),
        Route("POST", API, f"{_WORD}/query", lists.query),
        Route("POST", API, "/v1/keywords/bulk-{action:create|update|delete}", writes.bulk, faults=writes.BULK_FAULTS),
        Route("GET", API, _ONE, entities.show),
        Route("PUT", API, _ONE, writes.update),
        Route("DELETE", API, _ONE, writes.delete),
        Route("POST", API, "/v1/product-pages/query", catalogs.product_pages),
        Route("GET", API, "/v1/search/apps", catalogs.search_apps),
        Route("GET", API, "/v1/apps/{id}", catalogs.app),
        Route("POST", API, "/v1/eligibilities/apps/query", catalogs.eligibility),
        Route("GET", API, "/v1/search/geo", catalogs.places),
        Route("POST", API, "/v1/metadata/apps/supported-languages/query", catalogs.languages),
        Route("POST", API, f"/v1/reports/apps/{_LEVEL}/query", reports.query),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=seed,
)
