"""Wrong uses of the public client, one in each line that ends in a comment ``wrong``. Nothing runs it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from adsunify import (
    Account,
    Ads,
    AsyncAds,
    Budget,
    CampaignBrief,
    Creative,
    EditTargeting,
    Keyword,
    NativeAccount,
    Operation,
    Platform,
    Schedule,
    Targeting,
    plan,
)
from adsunify.answers import Insights


def use_wrong_briefs(brief: CampaignBrief, account: NativeAccount) -> None:
    Budget(amount=20.5, currency="USD", period="daily")  # wrong
    Budget(amount="20.50", currency="USD", period="weekly")  # wrong
    Budget(amount="20.50", curency="USD", period="daily")  # wrong
    Budget(amount="20.50", period="daily")  # wrong
    Schedule(startAt="2030-01-01T00:00:00Z")  # wrong
    Schedule(start_at=date(2030, 1, 1))  # wrong
    Schedule(end_at="2030-01-01T00:00:00Z")  # wrong
    CampaignBrief(brief.name, brief.goal)  # wrong
    brief.budget.amount += Decimal(1)  # wrong
    Targeting(country=["US"])  # wrong
    Keyword(text="chairs", match="near")  # wrong
    Creative(headlines=[1, 2, 3])  # wrong
    Platform(page=9009)  # wrong
    EditTargeting(location_ids=["1"])  # wrong
    print(brief.nmae)  # wrong
    plan({"name": "Garden chairs"}, account)  # wrong


def use_wrong_arguments(client: Ads, brief: CampaignBrief, account: Account, start: date) -> None:
    client.accounts.list(network="facebook")  # wrong
    client.accounts.get(5)  # wrong
    client.accounts.list("meta")  # wrong
    client.accounts("meta")  # wrong
    client.networks.get("facebook")  # wrong
    client.connections.create("chatgpt", api_key=5)  # wrong
    client.campaigns.create(account, None)  # wrong
    client.campaigns.create(account, "brief.json")  # wrong
    client.campaigns.create(account, {"name": "Garden chairs"})  # wrong
    client.campaigns.create(account, brief, idempotencyKey="key")  # wrong
    client.campaigns.edit(account, "1", fields={"budget": 25.0})  # wrong
    client.campaigns.edit(account, "1", feilds={"budget": "25.00"})  # wrong
    client.campaigns.edit(account, 1, fields={"budget": "25.00"})  # wrong
    client.operations.execute("id")  # wrong
    client.operations.execute("id", confirmed=False)  # wrong
    client.operations.execute(account, confirmed=True)  # wrong
    client.operations.run_many(["id"])  # wrong
    client.operations.run_many("id", confirmed=True)[0]  # wrong
    client.bulk.status(account, kind="adgroup", entities=["1"], status="paused")  # wrong
    client.bulk.status(account, kind="ad", entities=["1"], status="archived")  # wrong
    client.bulk.edit(account, kind="ad", entities=["1"], field="bid", mode="set", value=0.5)  # wrong
    client.bulk.edit(account, kind="ad", entities=["1"], field="bid", mode="add", value=1)  # wrong
    client.insights.daily(account, "2030-03-01", start)  # wrong
    client.insights.daily(None, start, start)  # wrong
    client.insights.report(account, start, start, level="keyword")  # wrong
    client.insights.report(account, start, start)  # wrong
    client.with_options(retries=3)  # wrong
    client.webhooks.create(url="https://shop.example/hook", events=["operation.done"])  # wrong


def use_wrong_attributes(operation: Operation, report: Insights, account: Account) -> None:
    print(operation.nextAction)  # wrong
    print(operation.data)  # wrong
    print(operation.plan.steps[0].description)  # wrong
    print(operation.created.campaign)  # wrong
    print(operation.expires_at < "2030-01-01")  # wrong
    print(report["rows"])  # wrong
    print(report.rows[0].spent)  # wrong
    print(report.rows[0].spend + 1)  # wrong
    print(account.id)  # wrong


async def forget_to_wait(client: AsyncAds, brief: CampaignBrief) -> None:
    for _ in client.accounts.list():  # wrong
        pass
    (await client.accounts.list()).all()  # wrong
    print(client.operations.get("id").status)  # wrong
