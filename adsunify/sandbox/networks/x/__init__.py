"""X Ads API version 12, as the documentation describes it.

Simulated strictly: OAuth 1.0a on every request, the query signed as it is sent, atomic batches, amounts in micros.
`tables` holds hosts, enums, limits and demo accounts; `fields` campaigns and line items; `oauth` login and signatures.

Sources, as of 2026-08-22: github.com/xdevplatform/docs (x-ads-api and fundamentals/authentication, the source of
docs.x.com); the PyPI package twitter-ads 11.0.0.
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.x import catalogs, oauth, posts, stats, targeting
from adsunify.sandbox.networks.x.accounts import get_account, get_user_access, list_accounts
from adsunify.sandbox.networks.x.answers import format_error, format_status_error
from adsunify.sandbox.networks.x.entities import (
    make_batch_handler,
    make_create_handler,
    make_delete_handler,
    make_get_handler,
    make_list_handler,
    make_update_handler,
)
from adsunify.sandbox.networks.x.fields import CAMPAIGN_RESOURCE, LINE_ITEM_RESOURCE
from adsunify.sandbox.networks.x.instruments import get_instrument, list_instruments
from adsunify.sandbox.networks.x.seed import seed_world
from adsunify.sandbox.networks.x.tables import ACCOUNTS, DOWNLOAD_HOST, HOST, LOGIN_HOST

_ACCOUNT_PATH, _BATCH_PATH, _STATS_PATH = "/12/accounts/{account}", "/12/batch/accounts/{account}", "/12/stats"
_API_HOSTS, _LOGIN_HOSTS = (HOST,), (LOGIN_HOST,)
_ERROR_IN_200_FAULTS = frozenset({"error_in_200"})

NETWORK = Network(
    code="x",
    first_id=20_000_000,
    accounts=ACCOUNTS,
    routes=(
        Route("POST", _LOGIN_HOSTS, "/oauth/request_token", oauth.issue_request_token, role="login"),
        Route("GET", _LOGIN_HOSTS, "/oauth/authorize", oauth.show_consent_page, role="login"),
        Route("POST", _LOGIN_HOSTS, "/oauth/authorize", oauth.grant_consent, role="login"),
        Route("POST", _LOGIN_HOSTS, "/oauth/access_token", oauth.issue_access_token, role="login"),
        Route("POST", _LOGIN_HOSTS, "/1.1/oauth/invalidate_token.json", oauth.invalidate_token, role="login"),
        Route("GET", _API_HOSTS, "/12/accounts", list_accounts),
        Route("GET", _API_HOSTS, _ACCOUNT_PATH, get_account),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/authenticated_user_access", get_user_access),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/funding_instruments", list_instruments),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/funding_instruments/{{id}}", get_instrument),
        *(
            route
            for resource in (CAMPAIGN_RESOURCE, LINE_ITEM_RESOURCE)
            for route in (
                Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/{resource.path}", make_list_handler(resource)),
                Route("POST", _API_HOSTS, f"{_ACCOUNT_PATH}/{resource.path}", make_create_handler(resource)),
                Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/{resource.path}/{{id}}", make_get_handler(resource)),
                Route("PUT", _API_HOSTS, f"{_ACCOUNT_PATH}/{resource.path}/{{id}}", make_update_handler(resource)),
                Route("DELETE", _API_HOSTS, f"{_ACCOUNT_PATH}/{resource.path}/{{id}}", make_delete_handler(resource)),
                Route(
                    "POST",
                    _API_HOSTS,
                    f"{_BATCH_PATH}/{resource.path}",
                    make_batch_handler(resource),
                    faults=_ERROR_IN_200_FAULTS,
                ),
            )
        ),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/promoted_tweets", posts.list_promoted_posts),
        Route("POST", _API_HOSTS, f"{_ACCOUNT_PATH}/promoted_tweets", posts.promote_posts),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/promoted_tweets/{{id}}", posts.get_promoted_post),
        Route("DELETE", _API_HOSTS, f"{_ACCOUNT_PATH}/promoted_tweets/{{id}}", posts.delete_promoted_post),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/tweets", posts.list_posts),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/promotable_users", posts.list_promotable_users),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/targeting_criteria", targeting.list_criteria),
        Route("POST", _API_HOSTS, f"{_ACCOUNT_PATH}/targeting_criteria", targeting.create_criterion),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/targeting_criteria/{{id}}", targeting.get_criterion),
        Route("DELETE", _API_HOSTS, f"{_ACCOUNT_PATH}/targeting_criteria/{{id}}", targeting.delete_criterion),
        Route(
            "POST", _API_HOSTS, f"{_BATCH_PATH}/targeting_criteria", targeting.apply_batch, faults=_ERROR_IN_200_FAULTS
        ),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/custom_audiences", catalogs.list_audiences),
        Route("GET", _API_HOSTS, f"{_ACCOUNT_PATH}/tracking_tags", catalogs.list_tracking_tags),
        Route(
            "GET",
            _API_HOSTS,
            "/12/targeting_criteria/{resource:" + "|".join(catalogs.TARGETING_OPTIONS) + "}",
            catalogs.list_targeting_options,
        ),
        Route("GET", _API_HOSTS, "/12/bidding_rules", catalogs.list_bidding_rules),
        Route("GET", _API_HOSTS, "/12/line_items/placements", catalogs.list_placements),
        Route("GET", _API_HOSTS, f"{_STATS_PATH}/accounts/{{account}}", stats.get_stats),
        Route("GET", _API_HOSTS, f"{_STATS_PATH}/accounts/{{account}}/active_entities", stats.list_active_entities),
        Route("GET", _API_HOSTS, f"{_STATS_PATH}/accounts/{{account}}/reach/campaigns", stats.get_reach),
        Route("POST", _API_HOSTS, f"{_STATS_PATH}/jobs/accounts/{{account}}", stats.create_job),
        Route("GET", _API_HOSTS, f"{_STATS_PATH}/jobs/accounts/{{account}}", stats.list_jobs),
        Route(
            "GET",
            (DOWNLOAD_HOST,),
            "/advertiser-api-async-analytics/{file:[0-9a-f]{40}}.json.gz",
            stats.download_report,
            role="download",
        ),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=oauth.authorize_request,
    seed_world=seed_world,
)
