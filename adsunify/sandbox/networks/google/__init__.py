"""The simulated Google Ads API v26, from the documentation alone: an independent second reading.

`tables` says what there is, `catalogs` what every account finds, `messages` how JSON is read by those tables,
`connect` who may call, `operations` and `rules` what a mutate does and refuses, `gaql`, `rows` and `search` answer
queries, `errors` words every refusal.
"""

from adsunify.sandbox.framework import Network, Route, World, consent_routes
from adsunify.sandbox.networks.google import catalogs
from adsunify.sandbox.networks.google.connect import LOGIN, customers, guard, revoked, token
from adsunify.sandbox.networks.google.errors import failure, problem
from adsunify.sandbox.networks.google.operations import FAULTS, add_campaign, mutate, mutate_one, resource_name
from adsunify.sandbox.networks.google.search import search, suggest
from adsunify.sandbox.networks.google.tables import HOST, PAGE_SIZE, RESOURCES, TOKEN_HOST, VERSION

_ADS, _CUSTOMER = (HOST,), f"/{VERSION}/customers/{{customer}}"
_COLLECTIONS = "|".join(one.collection for one in RESOURCES)


def seed(world: World) -> None:
    """In the account without a manager: a shared budget, and an old campaign that never declared EU advertising."""
    account = "5550002221"
    budget = world.create("budget", account, {
        "name": "Shared spring budget", "amountMicros": 50_000_000, "deliveryMethod": "STANDARD",
        "explicitlyShared": True, "period": "DAILY", "status": "ENABLED",
    })  # fmt: skip
    add_campaign(world, account, {
        "name": "Undeclared campaign", "status": "PAUSED", "advertisingChannelType": "SEARCH", "manualCpc": {},
        "campaignBudget": resource_name(budget), "networkSettings": {"targetGoogleSearch": True},
        "geoTargetTypeSetting": {"positiveGeoTargetType": "PRESENCE_OR_INTEREST", "negativeGeoTargetType": "PRESENCE"},
        "startDateTime": "2024-03-01 00:00:00",
    })  # fmt: skip


def network(page_size: int = PAGE_SIZE) -> Network:
    """The network; `page_size` is for tests of paging (the real one is fixed)."""
    return Network(
        code="google",
        first_id=77001,
        accounts=catalogs.ACCOUNTS,
        routes=(
            *consent_routes(LOGIN),
            Route("POST", (TOKEN_HOST,), "/token", token, role="login"),
            Route("POST", (TOKEN_HOST,), "/revoke", revoked, role="login"),
            Route("GET", _ADS, f"/{VERSION}/customers:listAccessibleCustomers", customers),
            Route("POST", _ADS, f"{_CUSTOMER}/googleAds:search", search(page_size)),
            Route("POST", _ADS, f"{_CUSTOMER}/googleAds:mutate", mutate, faults=FAULTS),
            Route("POST", _ADS, f"{_CUSTOMER}/{{collection:{_COLLECTIONS}}}:mutate", mutate_one, faults=FAULTS),
            Route("POST", _ADS, f"/{VERSION}/geoTargetConstants:suggest", suggest),
        ),
        problem=problem,
        failure=failure,
        guard=guard,
        seed=seed,
    )


NETWORK = network()
