"""The simulated Reddit Ads API v3: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
tables do not know are refused, though the real API may ignore some of them. Not simulated: making and changing posts,
forecasts.
"""

from adsunify.sandbox.framework import Network, Route, consent_routes
from adsunify.sandbox.networks.reddit import accounts, catalogs, entities, login, posts, reports, writes
from adsunify.sandbox.networks.reddit.answers import failure, guard, problem
from adsunify.sandbox.networks.reddit.seed import seed
from adsunify.sandbox.networks.reddit.tables import ACCOUNTS, API, LOGIN, LOGIN_HOSTS

_V3 = "/api/v3"
_ACCOUNT = f"{_V3}/ad_accounts/{{account}}"
_KINDS = "{kind:campaigns|ad_groups|ads}"
_SLOW = frozenset({"slow_media"})

NETWORK = Network(
    code="reddit",
    first_id=1860000000000000001,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", LOGIN_HOSTS, "/api/v1/access_token", login.token, role="login"),
        Route("POST", LOGIN_HOSTS, "/api/v1/revoke_token", login.revoke, role="login"),
        Route("GET", API, f"{_V3}/me/businesses", accounts.businesses),
        Route("POST", API, f"{_V3}/businesses/{{business}}/ad_accounts/query", accounts.every_ad_account),
        Route("GET", API, f"{_V3}/businesses/{{business}}/ad_accounts", accounts.owned_ad_accounts),
        Route("GET", API, _ACCOUNT, accounts.ad_account),
        Route("POST", API, f"{_ACCOUNT}/{{kind:ads}}", writes.create, faults=_SLOW),
        Route("POST", API, f"{_ACCOUNT}/{_KINDS}", writes.create),
        Route("GET", API, f"{_ACCOUNT}/{_KINDS}", entities.list_all),
        Route("GET", API, f"{_V3}/{_KINDS}/{{id}}", entities.show),
        Route("PATCH", API, f"{_V3}/{_KINDS}/{{id}}", writes.change),
        Route("POST", API, f"{_ACCOUNT}/reports", reports.report),
        Route("GET", API, f"{_ACCOUNT}/funding_instruments", catalogs.funding_instruments),
        Route("GET", API, f"{_ACCOUNT}/pixels", catalogs.pixels),
        Route("GET", API, f"{_ACCOUNT}/profiles", catalogs.profiles),
        Route("GET", API, f"{_ACCOUNT}/apps", catalogs.apps),
        Route("GET", API, f"{_V3}/posts/{{post}}", posts.post),
        Route("GET", API, f"{_V3}/structured_posts/{{post:t3_[^/]+}}", posts.post),
        Route("GET", API, f"{_V3}/structured_posts/jobs/{{job}}", posts.job, faults=_SLOW),
        Route("GET", API, f"{_V3}/profiles/{{profile}}/posts", posts.posts),
        Route("GET", API, f"{_V3}/profiles/{{profile}}/structured_posts", posts.structured_posts),
        Route("GET", API, f"{_V3}/targeting/geolocations", catalogs.geolocations),
        Route("GET", API, f"{_V3}/targeting/communities/search", catalogs.search_communities),
        Route("GET", API, f"{_V3}/targeting/communities", catalogs.communities),
        Route("GET", API, f"{_V3}/targeting/interests", catalogs.interests),
        Route("GET", API, f"{_V3}/targeting/{{catalog:languages|carriers|devices}}", catalogs.flat),
        Route("GET", API, f"{_V3}/time_zones", catalogs.time_zones),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=seed,
)
