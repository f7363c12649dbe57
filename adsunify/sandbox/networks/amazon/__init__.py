"""Amazon Ads, Sponsored Products v3, with Profiles v2 and Reporting v3, as the documentation describes them.

Simulated strictly: three regional hosts, vendor media types both ways, 207 batches that are judged item by item.
`tables` holds hosts, limits and demo profiles; `entities` the four write resources; `columns` the report types.

Sources: advertising.amazon.com/API/docs, as of 2025-09 (Sponsored Products guides, profiles, reporting v3, errors,
limits); Amazon's Postman collection (github.com/amzn/ads-advanced-tools-docs, 2025-03); its OpenAPI descriptions of
2022-12 (github.com/whitebox-co/amazon-ads-api).
"""

from datetime import timedelta
from decimal import Decimal

from adsunify.sandbox.network import Network, Route
from adsunify.sandbox.networks.amazon import products, writes
from adsunify.sandbox.networks.amazon.answers import authorize_request, format_error, format_status_error
from adsunify.sandbox.networks.amazon.entities import RESOURCES
from adsunify.sandbox.networks.amazon.lists import list_portfolios, make_list_handler
from adsunify.sandbox.networks.amazon.login import get_profile, issue_token, list_profiles
from adsunify.sandbox.networks.amazon.reports import cancel_report, create_report, download_report, get_report
from adsunify.sandbox.networks.amazon.tables import ACCOUNTS, HOSTS, LOGIN, MARKETPLACES, STORAGE_HOST, TOKEN_HOSTS
from adsunify.sandbox.oauth import consent_routes
from adsunify.sandbox.world import World


def seed_world(world: World) -> None:
    """Every profile has run one campaign for a year, so that its reports have rows, and has two portfolios."""
    for account in world.accounts.values():
        begun = world.get_local_date(account) - timedelta(days=365)
        lowest = MARKETPLACES[account.extra["country"]].budget_limits[0]
        on = {"state": "ENABLED"}
        name = f"Evergreen {account.extra['country']}"
        campaign = world.create(
            "campaign",
            account.id,
            {
                **on,
                "name": name,
                "targetingType": "MANUAL",
                "startDate": begun.isoformat(),
                "budget": {"budgetType": "DAILY", "budget": lowest * 50},
                "dynamicBidding": {"strategy": "LEGACY_FOR_SALES", "placementBidding": []},
            },
        )
        above = {"campaignId": campaign.id}
        group_data = {**on, **above, "name": name, "defaultBid": (lowest / 2).quantize(Decimal(1), "ROUND_UP")}
        group = world.create("adGroup", account.id, group_data, parent=campaign.id)
        above["adGroupId"] = group.id
        listing = {"sku": "EVERGREEN-1"} if account.extra["type"] == "seller" else {"asin": "B0EVERGRN1"}
        world.create("productAd", account.id, {**on, **above, **listing}, parent=group.id)
        for match in ("EXACT", "PHRASE"):
            keyword = {**on, **above, "keywordText": "camping stove", "matchType": match}
            world.create("keyword", account.id, keyword, parent=group.id)
        for portfolio in ("Brand", "Launches"):
            world.create("portfolio", account.id, {"name": portfolio, "state": "ENABLED", "inBudget": True})


NETWORK = Network(
    code="amazon",
    first_id=301_000_000_000_001,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", TOKEN_HOSTS, "/auth/o2/token", issue_token, role="login"),
        Route("GET", HOSTS, "/v2/profiles", list_profiles),
        Route("GET", HOSTS, "/v2/profiles/{profile}", get_profile),
        *(
            route
            for resource in RESOURCES
            for route in (
                Route("POST", HOSTS, resource.path, writes.make_create_handler(resource), faults=writes.BATCH_FAULTS),
                Route("PUT", HOSTS, resource.path, writes.make_update_handler(resource), faults=writes.BATCH_FAULTS),
                Route(
                    "POST",
                    HOSTS,
                    f"{resource.path}/delete",
                    writes.make_delete_handler(resource),
                    faults=writes.BATCH_FAULTS,
                ),
                Route("POST", HOSTS, f"{resource.path}/list", make_list_handler(resource)),
            )
        ),
        Route("POST", HOSTS, "/sp/campaigns/budget/usage", products.get_budget_usage),
        Route("POST", HOSTS, "/sp/targets/keywords/recommendations", products.list_keyword_recommendations),
        Route("POST", HOSTS, "/portfolios/list", list_portfolios),
        Route("POST", HOSTS, "/eligibility/product/list", products.list_eligibility),
        Route("POST", HOSTS, "/product/metadata", products.list_metadata),
        Route("POST", HOSTS, "/reporting/reports", create_report),
        Route("GET", HOSTS, "/reporting/reports/{report}", get_report, faults=frozenset({"error_in_200"})),
        Route("DELETE", HOSTS, "/reporting/reports/{report}", cancel_report),
        Route("GET", (STORAGE_HOST,), "/reports/{report}.json.gz", download_report, role="download"),
    ),
    format_error=format_error,
    format_status_error=format_status_error,
    authorize_request=authorize_request,
    seed_world=seed_world,
)
