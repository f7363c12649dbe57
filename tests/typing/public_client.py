"""A program that uses the public client. mypy and pyright check the type of each result; nothing runs it."""

from __future__ import annotations

from datetime import date
from typing import Any, assert_type

from adsunify import (
    Account,
    Ads,
    AdsunifyError,
    AsyncAds,
    CampaignBrief,
    InvalidInput,
    OperationError,
    ProviderError,
    plan,
    read_brief,
)
from adsunify.client import Account as ConnectedAccount
from adsunify.client import Connection, Operation
from adsunify.errors import Issue
from adsunify.plans.records import Plan


def plan_without_client(members: dict[str, Any]) -> Plan:
    brief = read_brief(members)
    assert_type(brief, CampaignBrief)
    account = Account(network="meta", native_id="act_1", currency="USD", timezone="America/New_York")
    return assert_type(plan(brief, account), Plan)


def use_client(members: dict[str, Any], brief: CampaignBrief) -> Operation:
    with Ads("sqlite:///ads.db", workspace="default") as ads:
        assert_type(ads, Ads)
        assert_type(ads.accounts("meta"), list[ConnectedAccount])
        assert_type(ads.connect("chatgpt", api_key="key"), Connection)
        account = ads.account("account-id")
        assert_type(ads.create(account, members), Operation)
        operation = ads.create(account.id, brief, idempotency_key="key")
        assert_type(operation.status, str)
        assert_type(operation.next_action, str | None)
        assert_type(operation.retry_after_ms, int)
        assert_type(ads.operations(), list[Operation])
        ads.insights(account, date(2030, 3, 1), "2030-03-31")
        return assert_type(ads.execute(operation, confirmed=True), Operation)


async def use_async_client(members: dict[str, Any]) -> Operation:
    async with AsyncAds("https://ads.example", token="token") as ads:
        assert_type(ads, AsyncAds)
        accounts = await ads.accounts()
        assert_type(accounts, list[ConnectedAccount])
        operation = await ads.create(accounts[0], members)
        return assert_type(await ads.execute(operation, confirmed=True), Operation)


def read_errors(error: AdsunifyError) -> list[Issue]:
    if isinstance(error, InvalidInput):
        return list(error.issues)
    if isinstance(error, OperationError | ProviderError):
        raise error
    return []
