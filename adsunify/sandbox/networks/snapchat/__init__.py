"""The simulated Snap Marketing API v1: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
tables do not know are refused, though the real API may ignore some of them. Not simulated: PATCH, reading by ids,
uploading media.
"""

from adsunify.sandbox.framework import Network, Route, consent_routes
from adsunify.sandbox.networks.snapchat import accounts, catalogs, entities, login, stats, writes
from adsunify.sandbox.networks.snapchat.answers import failure, guard, problem
from adsunify.sandbox.networks.snapchat.seed import seed
from adsunify.sandbox.networks.snapchat.tables import ACCOUNTS, ACCOUNTS_HOST, API, LOGIN, STORAGE_HOST

ACCOUNT = "/v1/adaccounts/{account}"
ORGANIZATION = "/v1/organizations/{organization}"
# What is written below what.
CAMPAIGNS = "/v1/{above:adaccounts}/{id}/{kind:campaigns}"
AD_SQUADS = "/v1/{above:campaigns}/{id}/{kind:adsquads}"
ADS = "/v1/{above:adsquads}/{id}/{kind:ads}"
CREATIVES = "/v1/{above:adaccounts}/{id}/{kind:creatives}"

NETWORK = Network(
    code="snapchat",
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", (ACCOUNTS_HOST,), "/login/oauth2/access_token", login.token, role="login"),
        Route("GET", API, "/v1/me", login.me),
        Route("GET", API, "/v1/me/organizations", accounts.organizations),
        Route("GET", API, f"{ORGANIZATION}/adaccounts", accounts.ad_accounts),
        Route("GET", API, f"{ORGANIZATION}/fundingsources", accounts.funding_sources),
        Route("GET", API, ACCOUNT, accounts.ad_account),
        Route("POST", API, CAMPAIGNS, writes.create, faults=writes.FAULTS),
        Route("POST", API, AD_SQUADS, writes.create, faults=writes.FAULTS),
        Route("POST", API, ADS, writes.create, faults=writes.FAULTS | {"slow_media"}),
        *(Route("PUT", API, path, writes.replace, faults=writes.FAULTS)
          for path in (CAMPAIGNS, AD_SQUADS, ADS, CREATIVES)),
        Route("DELETE", API, "/v1/{kind:campaigns|adsquads|ads}/{id}", writes.delete,
              faults=frozenset({"error_in_200"})),
        Route("GET", API, "/v1/{kind:campaigns|adsquads|ads|creatives}/{id}", entities.show),
        Route("GET", API, "/v1/{above:adaccounts}/{id}/{kind:campaigns|adsquads|ads|creatives}", entities.list_all),
        Route("GET", API, "/v1/{above:campaigns}/{id}/{kind:adsquads|ads}", entities.list_all),
        Route("GET", API, ADS, entities.list_all),
        Route("GET", API, f"{ACCOUNT}/stats", stats.stats),
        # an error inside a 200 is here a report that failed
        Route("GET", API, f"{ACCOUNT}/stats_report", stats.stats_report, faults=frozenset({"error_in_200"})),
        Route("GET", (STORAGE_HOST,), "/snap-async-stats/{report:[0-9]+}.json", stats.download, role="download"),
        Route("GET", API, f"{ACCOUNT}/media", catalogs.media),
        Route("GET", API, "/v1/media/{id}", catalogs.one_media),
        Route("GET", API, f"{ACCOUNT}/segments", catalogs.segments),
        Route("GET", API, f"{ACCOUNT}/pixels", catalogs.pixels),
        Route("GET", API, "/v1/targeting/geo/country", catalogs.countries),
        Route("GET", API, "/v1/targeting/geo/{country}/{part:region|metro|postal_code}", catalogs.parts),
        Route("GET", API, "/v1/targeting/interests/scls", catalogs.interests),
        Route("GET", API, "/v1/targeting/{family:demographics}/{type:languages|age_group|gender}", catalogs.flat),
        Route("GET", API, "/v1/targeting/{family:device}/{type:os_type|connection_type|carrier}", catalogs.flat),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=seed,
)  # fmt: skip
