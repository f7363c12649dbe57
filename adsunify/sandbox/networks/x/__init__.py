"""X Ads API version 12, as the documentation describes it.

Simulated strictly: OAuth 1.0a on every request, the query signed as it is sent, atomic batches, amounts in micros.
`tables` holds hosts, enums, limits and demo accounts; `fields` campaigns and line items; `oauth` login and signatures.
"""

from adsunify.sandbox.framework import Network, Route
from adsunify.sandbox.networks.x import catalogs, oauth, posts, stats, targeting
from adsunify.sandbox.networks.x.accounts import access, accounts, one_account
from adsunify.sandbox.networks.x.answers import failure, problem
from adsunify.sandbox.networks.x.entities import batching, changing, creating, deleting, listing_of, reading
from adsunify.sandbox.networks.x.fields import CAMPAIGNS, LINE_ITEMS
from adsunify.sandbox.networks.x.instruments import instruments, one_instrument
from adsunify.sandbox.networks.x.seed import seed
from adsunify.sandbox.networks.x.tables import ACCOUNTS, DOWNLOAD_HOST, HOST, LOGIN_HOST

_ONE, _BATCH, _STATS = "/12/accounts/{account}", "/12/batch/accounts/{account}", "/12/stats"
_API, _LOGIN = (HOST,), (LOGIN_HOST,)
_IN_200 = frozenset({"error_in_200"})

NETWORK = Network(
    code="x",
    first_id=20_000_000,
    accounts=ACCOUNTS,
    routes=(
        Route("POST", _LOGIN, "/oauth/request_token", oauth.request_token, role="login"),
        Route("GET", _LOGIN, "/oauth/authorize", oauth.page, role="login"),
        Route("POST", _LOGIN, "/oauth/authorize", oauth.allow, role="login"),
        Route("POST", _LOGIN, "/oauth/access_token", oauth.access_token, role="login"),
        Route("POST", _LOGIN, "/1.1/oauth/invalidate_token.json", oauth.invalidate, role="login"),
        Route("GET", _API, "/12/accounts", accounts),
        Route("GET", _API, _ONE, one_account),
        Route("GET", _API, f"{_ONE}/authenticated_user_access", access),
        Route("GET", _API, f"{_ONE}/funding_instruments", instruments),
        Route("GET", _API, f"{_ONE}/funding_instruments/{{id}}", one_instrument),
        *(
            route
            for one in (CAMPAIGNS, LINE_ITEMS)
            for route in (
                Route("GET", _API, f"{_ONE}/{one.path}", listing_of(one)),
                Route("POST", _API, f"{_ONE}/{one.path}", creating(one)),
                Route("GET", _API, f"{_ONE}/{one.path}/{{id}}", reading(one)),
                Route("PUT", _API, f"{_ONE}/{one.path}/{{id}}", changing(one)),
                Route("DELETE", _API, f"{_ONE}/{one.path}/{{id}}", deleting(one)),
                Route("POST", _API, f"{_BATCH}/{one.path}", batching(one), faults=_IN_200),
            )
        ),
        Route("GET", _API, f"{_ONE}/promoted_tweets", posts.promoted),
        Route("POST", _API, f"{_ONE}/promoted_tweets", posts.promote),
        Route("GET", _API, f"{_ONE}/promoted_tweets/{{id}}", posts.one_promoted),
        Route("DELETE", _API, f"{_ONE}/promoted_tweets/{{id}}", posts.withdraw),
        Route("GET", _API, f"{_ONE}/tweets", posts.posts),
        Route("GET", _API, f"{_ONE}/promotable_users", posts.users),
        Route("GET", _API, f"{_ONE}/targeting_criteria", targeting.criteria),
        Route("POST", _API, f"{_ONE}/targeting_criteria", targeting.create),
        Route("GET", _API, f"{_ONE}/targeting_criteria/{{id}}", targeting.one_criterion),
        Route("DELETE", _API, f"{_ONE}/targeting_criteria/{{id}}", targeting.delete),
        Route("POST", _API, f"{_BATCH}/targeting_criteria", targeting.many_at_once, faults=_IN_200),
        Route("GET", _API, f"{_ONE}/custom_audiences", catalogs.audiences),
        Route("GET", _API, f"{_ONE}/tracking_tags", catalogs.tags),
        Route("GET", _API, "/12/targeting_criteria/{resource:" + "|".join(catalogs.OPTIONS) + "}", catalogs.options),
        Route("GET", _API, "/12/bidding_rules", catalogs.bidding_rules),
        Route("GET", _API, "/12/line_items/placements", catalogs.placements),
        Route("GET", _API, f"{_STATS}/accounts/{{account}}", stats.stats),
        Route("GET", _API, f"{_STATS}/accounts/{{account}}/active_entities", stats.active),
        Route("GET", _API, f"{_STATS}/accounts/{{account}}/reach/campaigns", stats.reach),
        Route("POST", _API, f"{_STATS}/jobs/accounts/{{account}}", stats.create_job),
        Route("GET", _API, f"{_STATS}/jobs/accounts/{{account}}", stats.jobs),
        Route(
            "GET", (DOWNLOAD_HOST,), "/advertiser-api-async-analytics/{file:[0-9a-f]{40}}.json.gz", stats.download,
            role="download",
        ),
    ),
    problem=problem,
    failure=failure,
    guard=oauth.guard,
    seed=seed,
)  # fmt: skip
