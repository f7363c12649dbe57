"""Create one campaign on Meta, Google Ads, Pinterest and Outbrain, paused on each of them.

What the networks share is written once; ``NETWORKS`` holds what each of them needs in addition. The campaign is
prepared on every network before it is executed on the first one, so a refusal leaves nothing behind.

Needs: connected accounts in US dollars on the four networks.
Prints: what each network refuses, or each native write of each plan; with ``--execute`` the ids of the new campaigns.
Running it again with the same name creates no second campaign: the idempotency keys find the first operations.
"""

import argparse
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from adsunify import Account, Ads, InvalidInput, NetworkCode, Operation, OperationError
from adsunify.models.brief import Budget, CampaignBrief, Creative, Keyword, Platform, Schedule, Targeting

URL = "https://shop.example/chairs"
PICTURE = Creative(headline="Built for rain", body="Chairs that stay outside.", url=URL, image_url=f"{URL}.jpg")
TEXTS = Creative(
    headlines=("Folding Garden Chairs", "Built For Rain", "Free Delivery"),
    descriptions=("Light, strong and easy to store.", "Order today, sit down on Friday."),
    url=URL,
)
KEYWORDS = [Keyword(text="garden chair"), Keyword(text="folding chair", match="exact")]
NETWORKS: dict[NetworkCode, tuple[Creative, Platform, list[Keyword]]] = {
    "meta": (PICTURE, Platform(page_id="9009"), []),
    "google": (TEXTS, Platform(eu_political_advertising=False), KEYWORDS),
    "pinterest": (PICTURE, Platform(board_id="730146114520000001"), KEYWORDS),
    "outbrain": (PICTURE, Platform(brand_name="Example Shop"), []),
}


def make_brief(network: NetworkCode, account: Account, name: str, budget: Decimal, start: date) -> CampaignBrief:
    """Make the brief for one network. The campaign starts at midnight in the time zone of the account."""
    creative, platform, keywords = NETWORKS[network]
    midnight = datetime.combine(start, time(), ZoneInfo(account.timezone or "UTC"))
    return CampaignBrief(
        name=name,
        goal="traffic",
        budget=Budget(amount=budget, currency="USD", period="daily"),
        bid=Decimal("0.50"),
        schedule=Schedule(start_at=midnight),
        targeting=Targeting(countries=["US"], keywords=keywords),
        creative=creative,
        platform=platform,
    )


def main(client: Ads, name: str, budget: Decimal, start: date, *, execute: bool = False) -> int:
    """Validate the campaign on each network, or create it if ``execute`` is True. Returns the number of failures."""
    operations: list[Operation] = []
    failures = 0
    for network in NETWORKS:
        active = (row for row in client.accounts.list(network=network) if row.status == "active")
        accounts = [row for row in active if row.currency == "USD"]
        if not accounts:
            raise SystemExit(f"{network}: no account in US dollars is connected")
        try:
            brief = make_brief(network, accounts[0], name, budget, start)
            if execute:
                operations.append(client.campaigns.create(accounts[0], brief, idempotency_key=f"{name} {network}"))
            else:
                steps = client.campaigns.validate(accounts[0], brief).plan.steps
                print(f"{network} {accounts[0].native_id}:", *(step.does for step in steps), sep="\n  ")
        except InvalidInput as refusal:
            failures += 1
            print(*(f"{network}: {issue.path} {issue.message}" for issue in refusal.issues), sep="\n")
    for operation in [] if failures else operations:
        try:
            done = client.operations.run(operation, confirmed=True)
            print(f"{done.network}: created campaign {done.created.campaign_id}, {done.review_url}")
        except OperationError as error:
            failures += 1
            print(f"{operation.network}: {error} Outcome: {error.outcome}. {operation.review_url}")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="the name of the campaign, which also finds it again")
    parser.add_argument("--budget", type=Decimal, default=Decimal("30.50"), help="US dollars per day and network")
    parser.add_argument("--start", type=date.fromisoformat, default=date.today() + timedelta(days=2))
    parser.add_argument("--execute", action="store_true", help="create the campaigns, paused")
    options = parser.parse_args()
    with Ads.from_environment() as ads:
        raise SystemExit(main(ads, options.name, options.budget, options.start, execute=options.execute) > 0)
