"""The simulated Google Ads API v26, from the documentation alone: an independent second reading.

`tables` holds resources and fields, `catalogs` the constants of every account, `messages` reads JSON by the tables,
`connect` authorizes calls, `operations` and `rules` perform mutates, `gaql`, `rows`, `reports` and `search` answer
queries, and `errors` formats refusals.

Sources, for v26 (released 2026-10-14): developers.google.com/google-ads/api (release notes, sunset dates, REST
authorization, mutating, zero metrics, quotas, errors, EU political advertising, reference of v26); the descriptors and
field comments of the PyPI package google-ads 34.0.0.
"""

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.google import catalogs, connect, operations
from adsunify.sandbox.networks.google.errors import format_error, format_status_error
from adsunify.sandbox.networks.google.search import make_search_handler, suggest_geo_targets
from adsunify.sandbox.networks.google.tables import API_VERSION, HOST, PAGE_SIZE, RESOURCES, TOKEN_HOST
from adsunify.sandbox.oauth import consent_routes
from adsunify.sandbox.world import World

_API_HOSTS, _CUSTOMER_PATH = (HOST,), f"/{API_VERSION}/customers/{{customer}}"
_COLLECTIONS = "|".join(resource.collection for resource in RESOURCES)


def seed_world(world: World) -> None:
    """In the account without a manager: a shared budget, and an old campaign that never declared EU advertising."""
    account = "5550002221"
    budget = world.create(
        "budget",
        account,
        {
            "name": "Shared spring budget",
            "amountMicros": 50_000_000,
            "deliveryMethod": "STANDARD",
            "explicitlyShared": True,
            "period": "DAILY",
            "status": "ENABLED",
        },
    )
    operations.add_campaign(
        world,
        account,
        {
            "name": "Undeclared campaign",
            "status": "PAUSED",
            "advertisingChannelType": "SEARCH",
            "manualCpc": {},
            "campaignBudget": operations.build_resource_name(budget),
            "networkSettings": {"targetGoogleSearch": True},
            "geoTargetTypeSetting": {
                "positiveGeoTargetType": "PRESENCE_OR_INTEREST",
                "negativeGeoTargetType": "PRESENCE",
            },
            "startDateTime": "2024-03-01 00:00:00",
        },
    )


def make_network(page_size: int = PAGE_SIZE) -> Network:
    """The network; `page_size` is for tests of paging (the real one is fixed)."""
    return Network(
        code="google",
        first_id=77001,
        accounts=catalogs.ACCOUNTS,
        routes=(
            *consent_routes(connect.LOGIN),
            Route("POST", (TOKEN_HOST,), "/token", connect.issue_token, role="login"),
            Route("POST", (TOKEN_HOST,), "/revoke", connect.revoke_token, role="login"),
            Route(
                "GET",
                _API_HOSTS,
                f"/{API_VERSION}/customers:listAccessibleCustomers",
                connect.list_accessible_customers,
            ),
            Route("POST", _API_HOSTS, f"{_CUSTOMER_PATH}/googleAds:search", make_search_handler(page_size)),
            Route(
                "POST",
                _API_HOSTS,
                f"{_CUSTOMER_PATH}/googleAds:mutate",
                operations.mutate_resources,
                faults=operations.BATCH_FAULTS,
            ),
            Route(
                "POST",
                _API_HOSTS,
                f"{_CUSTOMER_PATH}/{{collection:{_COLLECTIONS}}}:mutate",
                operations.mutate_resource,
                faults=operations.BATCH_FAULTS,
            ),
            Route("POST", _API_HOSTS, f"/{API_VERSION}/geoTargetConstants:suggest", suggest_geo_targets),
        ),
        format_error=format_error,
        format_status_error=format_status_error,
        authorize_request=connect.authorize_request,
        seed_world=seed_world,
    )


NETWORK = make_network()
