"""A program that uses the public client. mypy and pyright check the type of each result; nothing runs it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, assert_type

from adsunify import (
    Account,
    Ads,
    AdsunifyError,
    AsyncAds,
    AsyncPages,
    Budget,
    CampaignBrief,
    Creative,
    EditTargeting,
    ExternalNetwork,
    InvalidInput,
    Issue,
    Item,
    KeyScope,
    Keyword,
    NativeAccount,
    NetworkCode,
    Operation,
    OperationError,
    Pages,
    Platform,
    ProviderError,
    Report,
    Schedule,
    Targeting,
    plan,
    read_brief,
)
from adsunify.answers import (
    Batch,
    BatchFailed,
    CatalogRow,
    Connection,
    Entity,
    Failure,
    Figures,
    Insights,
    Node,
    Prepared,
    Settings,
)
from adsunify.plans.records import Plan

ELSEWHERE = ExternalNetwork("elsewhere")


def plan_without_client(members: dict[str, Any]) -> Plan:
    brief = read_brief(members)
    assert_type(brief, CampaignBrief)
    account = NativeAccount(network="meta", native_id="act_1", currency="USD", timezone="America/New_York")
    return assert_type(plan(brief, account), Plan)


def make_brief() -> CampaignBrief:
    return CampaignBrief(
        name="Garden chairs",
        goal="traffic",
        budget=Budget(amount="20.50", currency="USD", period="daily"),
        schedule=Schedule(start_at="2030-03-01T08:00:00Z"),
        targeting=Targeting(countries=["US"], keywords=[Keyword(text="chairs", match="exact")]),
        creative=Creative(headline="Chairs", url="https://shop.example/chairs"),
        platform=Platform(page_id="9009"),
    )


def make_brief_of_python_values(amount: Decimal, start: datetime) -> CampaignBrief:
    budget = Budget(amount=amount, currency="USD", period="lifetime")
    schedule = Schedule(start_at=start, end_at=start + timedelta(days=9))
    assert_type(budget.amount, str)
    assert_type(schedule.start_at, str)
    assert_type(schedule.end, datetime | None)
    targeting, creative = Targeting(countries=["US"]), Creative(existing_id="1")
    return CampaignBrief(
        name="Tea", goal="traffic", budget=budget, bid=amount, schedule=schedule, targeting=targeting, creative=creative
    )


def use_client(brief: CampaignBrief, code: NetworkCode) -> Operation:
    with Ads("sqlite:///ads.db", workspace="default") as client:
        assert_type(client, Ads)
        assert_type(client.accounts.list(network="meta"), Pages[Account])
        assert_type(client.accounts.list(network=code).all(), list[Account])
        assert_type(client.accounts.list(network=ELSEWHERE).first(), Account)
        assert_type(client.connections.create("chatgpt", api_key="key"), Connection)
        account = client.accounts.get("account-id")
        assert_type(account.currency, str | None)
        assert_type(client.accounts.catalog(account, "pages"), Pages[CatalogRow])
        client.keys.create(name="nightly", expires_at=datetime(2030, 1, 1, tzinfo=UTC))
        key = client.keys.create_scoped(
            name="shop", scope=KeyScope(networks=["meta"], account_ids=[account.account_id])
        )
        assert_type(None if key.scope is None else key.scope.account_ids, list[str] | None)
        operation = client.campaigns.create(account, brief, idempotency_key="key")
        assert_type(operation.expires_at, datetime)
        assert_type(operation.plan.steps[0].does, str)
        assert_type(operation.retry_after_ms, int | None)
        if operation.status == "prepared" and operation.risk != "destructive":
            operation = client.operations.execute(operation, confirmed=True)
        assert_type(operation.created.campaign_id, str)
        assert_type(operation.created.ad_ids, list[str])
        client.campaigns.edit(account, operation.created.campaign_id, fields={"budget": "25.00"})
        client.ad_groups.edit(account, "1", targeting=EditTargeting(languages=[Item(id="1000", name="English")]))
        for entity in client.campaigns.list(account, status="PAUSED"):
            assert_type(entity, Entity)
            assert_type(client.campaigns.settings(account, entity), Settings)
        nodes = client.accounts.tree(account).nodes
        assert_type(nodes, list[Node])
        assert_type(client.bulk.status(account, kind="ad", entities=nodes, status="paused"), Prepared)
        client.bulk.edit(account, kind="adGroup", entities=["1"], field="bid", mode="set", value=Decimal("0.50"))
        report = client.insights.daily(account, date(2030, 3, 1), date(2030, 3, 31))
        assert_type(report, Insights)
        assert_type(report.rows[0].spend, Decimal | None)
        assert_type(report.rows[0].date, date)
        ads = client.insights.report(account, date(2030, 3, 1), date(2030, 3, 31), level="ad", entity_ids=nodes)
        assert_type(ads, Report)
        assert_type(next(ads.rows).entity_name, str | None)
        assert_type(ads.sum_totals().spend, Decimal | None)
        assert_type(client.operations.execute_many([operation, "operation-id"], confirmed=True), Batch)
        for result in client.operations.run_many([operation], confirmed=True, progress=print).results:
            assert_type(result.error if isinstance(result, BatchFailed) else result.operation, Failure | Operation)
        assert_type(operation.to_dict(), dict[str, Any])
        return assert_type(client.operations.run(operation, confirmed=True, progress=print), Operation)


async def use_async_client(brief: CampaignBrief) -> Operation:
    async with AsyncAds("https://ads.example", token="token", timeout=30.0) as client:
        assert_type(client, AsyncAds)
        accounts = client.accounts.list()
        assert_type(accounts, AsyncPages[Account])
        async for account in accounts:
            assert_type(account, Account)
        first = await accounts.first()
        report = client.insights.report(first, date(2030, 3, 1), date(2030, 3, 31), level="campaign")
        async for row in report:
            assert_type(row.spend, Decimal | None)
        assert_type(await report.sum_totals(), Figures)
        operation = await client.campaigns.create(first, brief)
        return assert_type(await client.operations.run(operation, confirmed=True), Operation)


def read_errors(error: AdsunifyError) -> list[Issue]:
    if isinstance(error, InvalidInput):
        return list(error.issues)
    if isinstance(error, OperationError | ProviderError):
        assert_type(error.operation, Operation | None)
        raise error
    return []
