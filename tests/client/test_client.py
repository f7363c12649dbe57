"""The clients: the same over a store of one's own and over a server, awaited and not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from adsunify import Ads, AsyncAds, Operation
from adsunify.answers import Account
from adsunify.errors import (
    AdsunifyError,
    Conflict,
    InvalidInput,
    NotFound,
    OperationError,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    ServerUnreachable,
    TokenRefused,
    Unauthenticated,
)
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.factory import BASE_URL_VARIABLE
from tests.server.served import NEVER, Served, brief

from .conftest import DOORS, environment, make_brief, open_client, serve_answer

pytestmark = pytest.mark.asyncio(loop_scope="module")


Ask = Callable[[AsyncAds], Awaitable[Any]]


# -- the same results ---------------------------------------------------------------------------------------------


READS: dict[str, Callable[[AsyncAds, str], Awaitable[Any]]] = {
    "networks": lambda ads, account: ads.networks.list().all(),
    "network": lambda ads, account: ads.networks.get("amazon"),
    "workflows": lambda ads, account: ads.workflows.list().all(),
    "accounts": lambda ads, account: ads.accounts.list().all(),
    "accounts of a network": lambda ads, account: ads.accounts.list(network="google").all(),
    "account": lambda ads, account: ads.accounts.get(account),
    "connections": lambda ads, account: ads.connections.list().all(),
    "validate": lambda ads, account: ads.campaigns.validate(account, make_brief("meta", name="Garden chairs")),
    "catalog": lambda ads, account: ads.accounts.catalog(account, "locales", limit=2).first(),
    "search": lambda ads, account: ads.accounts.catalog(account, "interests", search="tea").all(),
    "insights": lambda ads, account: ads.insights.daily(account, date(2026, 1, 1), date(2026, 1, 3)),
    "call": lambda ads, account: ads.call("get_account", path={"accountId": account}),
}


@pytest.mark.parametrize("door", DOORS)
async def test_a_list_is_read_to_its_last_page(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    client, account = clients[door], server.accounts["google"]
    rows = await client.accounts.catalog(account, "languages", limit=100).all()
    assert len(rows) > 2
    assert [row async for row in client.accounts.catalog(account, "languages", limit=2)] == rows
    assert await client.accounts.catalog(account, "languages", limit=1).first() == rows[0]
    with pytest.raises(NotFound, match="empty"):
        await client.accounts.catalog(account, "languages", search="no such language").first()


@pytest.mark.parametrize("name", list(READS))
async def test_reads_are_the_same(server: Served, clients: dict[str, AsyncAds], name: str) -> None:
    local, remote = [await READS[name](clients[door], server.accounts["meta"]) for door in DOORS]
    assert local == remote


async def test_the_tree_is_the_same(server: Served, clients: dict[str, AsyncAds]) -> None:
    local, remote = [await clients[door].accounts.tree(server.accounts["amazon"]) for door in DOORS]
    assert local.nodes == remote.nodes and local.nodes
    assert local.levels == remote.levels


async def test_operations_are_the_same(server: Served, clients: dict[str, AsyncAds]) -> None:
    """Compare without the address of the review, which names the server that answered."""
    await clients["local"].campaigns.create(server.accounts["google"], make_brief("google"))
    local, remote = [await clients[door].operations.list().all() for door in DOORS]
    assert [operation.id for operation in local] == [operation.id for operation in remote] and local
    local_one, remote_one = [await clients[door].operations.get(local[0]) for door in DOORS]
    there = remote_one.to_dict()
    differing = {name for name, value in local_one.to_dict().items() if there[name] != value}
    assert differing == {"reviewUrl"}


async def test_who_one_is(server: Served, clients: dict[str, AsyncAds]) -> None:
    local, remote = [await clients[door].auth.verify() for door in DOORS]
    assert (local.kind, local.credential, local.role, local.can_write) == ("local", "local", "admin", True)
    assert remote.kind == "key"
    assert local.workspace_id == remote.workspace_id


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_the_whole_workflow(server: Served, clients: dict[str, AsyncAds], network: str) -> None:
    """As the documentation shows it; what comes of it differs in ids and times only."""
    shapes = []
    for door in DOORS:
        ads = clients[door]
        rows = await ads.accounts.list(network=network).all()
        account = next(row for row in rows if row.account_id == server.accounts[network])
        operation = await ads.campaigns.create(account, make_brief(network))
        assert (operation.status, operation.next_action, operation.retry_after_ms) == ("prepared", None, None)
        assert operation.created == ()
        done = await ads.operations.run(operation, confirmed=True)
        assert done.status == "succeeded" and done.id == operation.id
        assert await ads.operations.get(operation.id) == done
        live = await ads.campaigns.activate(account, done)
        assert live.plan.exposure == operation.plan.planned != operation.plan.exposure
        assert (await ads.operations.run(live.id, confirmed=True)).status == "succeeded"
        campaign = await ads.campaigns.get(account, done.created.campaign_id)
        assert campaign.status == "active" and (campaign.kind, campaign.id) == ("campaign", done.created.campaign_id)
        assert [(await ads.ads.get(account, id_)).kind for id_ in done.created.ad_ids] == ["ad"]
        prepared = await ads.bulk.status(account, kind="campaign", entities=[campaign], status="paused")
        (paused,) = prepared.operations
        cancelled = await ads.operations.cancel(paused)
        assert cancelled.status == "cancelled"
        shapes.append([shape(record.to_dict()) for record in (operation, done, live, paused, cancelled)])
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("door", DOORS)
async def test_a_network_with_credentials_of_its_own(clients: dict[str, AsyncAds], door: str) -> None:
    connection = await clients[door].connections.create("chatgpt", api_key="sandbox-chatgpt-key")
    (account,) = await clients[door].accounts.list(network="chatgpt").all()
    assert connection.accounts == [account.account_id]
    with pytest.raises(InvalidInput):
        await clients[door].connections.create("chatgpt", username="nobody")


def shape(value: Any) -> Any:
    """The data without its texts and numbers."""
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    return [shape(element) for element in value] if isinstance(value, list | tuple) else type(value).__name__


# -- the same errors ----------------------------------------------------------------------------------------------


async def both_raise(clients: dict[str, AsyncAds], ask: Ask) -> tuple[AdsunifyError, AdsunifyError]:
    """What both doors raise: of one class, with one code, outcome and text."""
    raised: list[AdsunifyError] = []
    for door in DOORS:
        with pytest.raises(AdsunifyError) as error:
            await ask(clients[door])
        raised.append(error.value)
    local, remote = raised
    assert isinstance(local, type(remote)), (local, remote)
    assert (local.code, local.outcome, local.status) == (remote.code, remote.outcome, remote.status)
    assert local.message == remote.message
    return local, remote


async def test_refused_input(server: Served, clients: dict[str, AsyncAds]) -> None:
    account = server.accounts["meta"]
    asks: list[Ask] = [
        lambda ads: ads.call("post_create", body={"accountId": account, "campaign": brief("meta", goal="sales")}),
        lambda ads: ads.campaigns.create(account, make_brief("meta", budget__currency="EUR")),
        lambda ads: ads.campaigns.create("nonsense", make_brief("meta")),
        lambda ads: ads.operations.run(NEVER, confirmed=False),
        lambda ads: ads.accounts.catalog(account, "locales", limit=101).all(),
        lambda ads: ads.accounts.catalog(account, "no such thing!").all(),
        lambda ads: ads.campaigns.create(account, make_brief("meta"), idempotency_key="k" * 201),
        lambda ads: ads.campaigns.create(account, make_brief("meta"), idempotency_key="k\nk"),
        lambda ads: ads.insights.daily(account, date(2026, 2, 2), date(2026, 2, 1)),
        lambda ads: ads.call("get_account"),
        lambda ads: ads.call("get_keys", query={"limit": "1"}),
    ]
    for ask in asks:
        local, remote = await both_raise(clients, ask)
        assert isinstance(local, InvalidInput) and isinstance(remote, InvalidInput)
        assert local.issues == remote.issues and local.issues
        assert type(remote) is type(local)


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
async def test_a_position_in_a_list_is_named_by_dots(
    server: Served, clients: dict[str, AsyncAds], network: str
) -> None:
    """In briefs and edits; alike in the library, over a server, and in the answer itself."""
    account = server.accounts[network]
    campaign = {**brief(network), "targeting": {"countries": ["US", "UK"], "keywords": [{"text": ""}]}}
    edit = {"targeting": {"locations": [{"id": "1", "name": "?", "radiusKm": -1}]}}
    asks: list[tuple[str, Any, Ask, set[str]]] = [
        (
            "/validate-campaign",
            {"accountId": account, "campaign": campaign},
            lambda ads: ads.call("post_validate_campaign", body={"accountId": account, "campaign": campaign}),
            {"campaign.targeting.countries.1", "campaign.targeting.keywords.0.text"},
        ),
        (
            f"/accounts/{account}/campaigns/1/edit",
            edit,
            lambda ads: ads.call("post_account_campaign_edit", path={"accountId": account, "entityId": "1"}, body=edit),
            {"targeting.locations.0.radiusKm"},
        ),
    ]
    for address, body, ask, expected in asks:
        answered = {path for path, _ in await server.admin.read_issues("POST", address, body)}
        local, remote = await both_raise(clients, ask)
        assert isinstance(local, InvalidInput) and isinstance(remote, InvalidInput)
        assert [{issue.path for issue in error.issues} for error in (local, remote)] == [expected, expected]
        assert answered == expected


async def test_bulk_edits_that_are_refused(server: Served, clients: dict[str, AsyncAds]) -> None:
    account = server.accounts["meta"]
    done = await clients["local"].operations.run(
        await clients["local"].campaigns.create(account, make_brief("meta", budget__amount="25")), confirmed=True
    )
    for field, path, code, word in (
        ("daily_budget", "field", "unknown_field", "major units"),
        ("budget", "entityIds.0", "no_change", "fields.budget"),
    ):
        local, remote = await both_raise(
            clients,
            lambda ads, field=field: ads.bulk.edit(
                account, kind="adGroup", entities=[done.created.ad_group_id], field=field, mode="set", value=25
            ),
        )
        assert isinstance(local, InvalidInput) and isinstance(remote, InvalidInput)
        assert local.issues == remote.issues
        assert [(issue.path, issue.code) for issue in local.issues] == [(path, code)]
        assert word in local.issues[0].message


@pytest.mark.parametrize("dots", [".", ".."])
async def test_an_id_that_would_be_folded_into_another_address(clients: dict[str, AsyncAds], dots: str) -> None:
    for ask in (
        lambda ads: ads.call("get_account_campaign", path={"accountId": NEVER, "entityId": dots}),
        lambda ads: ads.operations.run(dots, confirmed=True),
    ):
        with pytest.raises(InvalidInput) as error:
            await ask(clients["remote"])
        assert [issue.code for issue in error.value.issues] == ["malformed"]


async def test_what_is_not_there(clients: dict[str, AsyncAds]) -> None:
    for ask in (
        lambda ads: ads.accounts.get(NEVER),
        lambda ads: ads.operations.get(NEVER),
        lambda ads: ads.campaigns.create(NEVER, make_brief("meta")),
        lambda ads: ads.connections.disconnect(NEVER),
    ):
        local, remote = await both_raise(clients, ask)
        assert type(local) is type(remote) is NotFound


async def test_conflicts(server: Served, clients: dict[str, AsyncAds]) -> None:
    account = server.accounts["meta"]
    for ads in clients.values():
        await ads.campaigns.create(account, make_brief("meta"), idempotency_key="taken ключ")
    local, remote = await both_raise(
        clients, lambda ads: ads.campaigns.create(account, make_brief("meta"), idempotency_key="taken ключ")
    )
    assert type(local) is type(remote) is Conflict


async def test_errors_of_operations_carry_the_operation(server: Served, clients: dict[str, AsyncAds]) -> None:
    operation = await clients["remote"].campaigns.create(server.accounts["meta"], make_brief("meta"))
    await server.networks.fault("meta", "status", path="/v26.0/act_1001/campaigns", value=400, times=2)
    local, remote = await both_raise(clients, lambda ads: ads.operations.run(operation, confirmed=True))
    assert type(local) is type(remote) is OperationError
    assert (local.code, local.outcome) == ("provider_rejected", "not_applied")
    assert local.native is not None and remote.native is not None
    assert (local.native.status, remote.native.status) == (400, 400)
    for error in (local, remote):
        assert isinstance(error.operation, Operation) and error.operation.id == operation.id
    await clients["remote"].operations.cancel(operation)
    local, remote = await both_raise(clients, lambda ads: ads.operations.run(operation, confirmed=True))
    assert (local.code, local.outcome) == ("operation_cancelled", "not_applied")


async def test_errors_of_the_network(server: Served, clients: dict[str, AsyncAds]) -> None:
    account = server.accounts["amazon"]
    faults: list[tuple[str, dict[str, Any], type[ProviderError]]] = [
        ("status", {"value": 500}, ProviderUnreadable),
        ("status", {"value": 429}, ProviderThrottled),
        ("reset_before", {}, ProviderUnreadable),
    ]
    for fault, more, kind in faults:
        await server.networks.fault("amazon", fault, path="/sp/campaigns/list", times=1000, **more)
        local, remote = await both_raise(clients, lambda ads: ads.accounts.tree(account))
        server.networks.state.faults.pending.clear()
        assert isinstance(local, kind) and isinstance(remote, kind)
        assert local.native.status == remote.native.status
        assert local.retry_after == remote.retry_after or isinstance(local, ProviderThrottled)
    local, remote = await both_raise(clients, lambda ads: ads.accounts.catalog(account, "product_eligibility:a").all())
    assert type(local) is type(remote) is ProviderNotFound
    world = server.networks.state.worlds["amazon"]
    tokens, world.tokens = world.tokens, {}
    local, remote = await both_raise(clients, lambda ads: ads.accounts.tree(account))
    world.tokens = tokens
    assert type(local) is type(remote) is TokenRefused
    await clients["local"].accounts.tree(account)


async def test_what_only_a_server_says(server: Served) -> None:
    async with AsyncAds(server.base_url, token="adu_nobody") as nobody:
        with pytest.raises(Unauthenticated):
            await nobody.auth.verify()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 15\r\n\r\n<html>no</html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b'HTTP/1.1 500 No\r\nContent-Length: 15\r\n\r\n{"error": true}',
        b'HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{"data": {}}',
        b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"data": {}}',
    ],
)
async def test_an_answer_that_is_none(answer: bytes) -> None:
    """What only reads was not applied; of everything else nobody knows."""
    async with serve_answer(answer) as url, AsyncAds(url, token="t", max_retries=0) as ads:
        with pytest.raises(ServerUnreachable) as read:
            await ads.auth.verify()
        assert (read.value.code, read.value.outcome) == ("server_unreachable", "not_applied")
        with pytest.raises(ServerUnreachable):
            await ads.connections.list().all()
        with pytest.raises(ServerUnreachable) as write:
            await ads.operations.run(NEVER, confirmed=True)
        assert (write.value.code, write.value.outcome) == ("server_unreachable", "unknown")


async def test_a_server_that_is_not_there() -> None:
    async with AsyncAds("http://127.0.0.1:9", token="t", max_retries=0) as ads:
        with pytest.raises(ServerUnreachable) as error:
            await ads.operations.run(NEVER, confirmed=True)
    assert error.value.outcome == "not_applied"
    assert "the adsunify server at http://127.0.0.1:9" in error.value.message and "network" not in str(error.value)
    assert error.value.title == "The adsunify server gave no usable answer"


# -- the synchronous client ---------------------------------------------------------------------------------------


async def test_both_clients_have_the_same_constructors() -> None:
    assert inspect.signature(Ads) == inspect.signature(AsyncAds)
    assert inspect.signature(Ads.from_environment) == inspect.signature(AsyncAds.from_environment)
    assert inspect.getdoc(Ads.from_environment) == inspect.getdoc(AsyncAds.from_environment)


@pytest.mark.parametrize("door", DOORS)
async def test_a_client_of_the_environment(server: Served, door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server comes before a database, as in the commands."""
    variables = environment(server) | {"ADSUNIFY_DATABASE_URL": server.database}
    if door == "remote":
        variables |= {"ADSUNIFY_SERVER": server.base_url, "ADSUNIFY_TOKEN": server.people["admin"].tokens["write"]}
    async with AsyncAds.from_environment(environment=variables, workspace="shop" if door == "local" else None) as ads:
        kind = (await ads.auth.verify()).kind
    assert kind == ("local" if door == "local" else "key")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    def work() -> str:
        with Ads.from_environment(workspace="shop" if door == "local" else None) as ads:
            return ads.auth.verify().kind

    assert await asyncio.to_thread(work) == kind


@pytest.mark.parametrize("client", [Ads, AsyncAds])
@pytest.mark.parametrize(
    ("variables", "missing", "words"),
    [
        ({}, "ADSUNIFY_SERVER", "ADSUNIFY_TOKEN to use a server, or ADSUNIFY_DATABASE_URL"),
        ({"ADSUNIFY_TOKEN": "t"}, "ADSUNIFY_SERVER", "is not set"),
        ({"ADSUNIFY_SERVER": "https://ads.example", "ADSUNIFY_TOKEN": ""}, "ADSUNIFY_TOKEN", "needs a token"),
        (
            {"ADSUNIFY_SERVER": "https://ads.example", "ADSUNIFY_DATABASE_URL": "sqlite:///x.db"},
            "ADSUNIFY_TOKEN",
            "needs a token",
        ),
    ],
)
async def test_an_environment_without_an_address(
    client: type[Ads | AsyncAds], variables: dict[str, str], missing: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as error:
        client.from_environment(environment=variables)
    assert [issue.path for issue in error.value.issues] == [missing]


@pytest.mark.parametrize("door", DOORS)
async def test_without_awaiting(server: Served, door: str) -> None:
    def work() -> tuple[list[Account], Operation, Operation]:
        if door == "local":
            client = Ads(server.database, workspace="shop", environment=environment(server))
        else:
            client = Ads(server.base_url, token=server.people["admin"].tokens["write"])
        with client as ads:
            account = ads.accounts.get(server.accounts["google"])
            operation = ads.campaigns.create(account, make_brief("google"), idempotency_key=f"sync {door}")
            done = ads.operations.run(operation, confirmed=True)
            with pytest.raises(NotFound):
                ads.operations.get(NEVER)
            assert len(list(islice(ads.accounts.catalog(account, "languages", limit=1), 3))) == 3
            return ads.accounts.list().all(), operation, done

    accounts, operation, done = await asyncio.to_thread(work)
    assert server.accounts["google"] in {account.account_id for account in accounts}
    assert (operation.status, done.status, done.id) == ("prepared", "succeeded", operation.id)
    assert operation.review_url.endswith(operation.id)


@pytest.mark.parametrize(
    "ask", [lambda ads: ads.operations.execute(NEVER, confirmed=True), lambda ads: ads.auth.verify()]
)
async def test_a_call_of_another_thread_ends_with_the_client(ask: Callable[[Ads], Any]) -> None:
    """A response is not read any more, and a read is not repeated. The call does not wait for ever."""
    arrived, ended = asyncio.Event(), asyncio.Event()

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await ended.wait()
        writer.close()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as listening:
        client = Ads(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", token="t")
        await asyncio.to_thread(client.__enter__)
        call = asyncio.ensure_future(asyncio.to_thread(ask, client))
        await arrived.wait()
        await asyncio.to_thread(client.__exit__)
        async with asyncio.timeout(60):
            with pytest.raises((RuntimeError, ServerUnreachable), match=r"closed|was lost"):
                await call
        ended.set()


async def test_a_client_is_opened_once(server: Served) -> None:
    async with open_client(server, "remote") as client:
        with pytest.raises(RuntimeError, match="open already"):
            await client.open()
        assert await client.auth.verify()

    def work() -> None:
        with Ads(server.base_url, token=server.people["admin"].tokens["write"]) as ads:
            with pytest.raises(RuntimeError, match="open already"):
                ads.__enter__()
            assert ads.auth.verify()

    await asyncio.to_thread(work)


async def test_clients_that_are_not_open() -> None:
    ads = Ads("sqlite:///never.db")
    with pytest.raises(RuntimeError, match="open the client first"):
        ads.networks.list().all()
    with pytest.raises(RuntimeError, match="open the client first"):
        await AsyncAds("sqlite:///never.db").networks.list().all()
    with pytest.raises(RuntimeError, match="open the client first"):
        _ = AsyncAds("sqlite:///never.db").backend
    assert not Path("never.db").exists()


@pytest.mark.parametrize(
    ("url", "token", "path"),
    [
        ("https://ads.example", None, "token"),
        ("sqlite:///x.db", "t", "token"),
        ("mysql://x", None, "database"),
        ("sqlite://", None, "database"),
        ("http://[::1", "t", "server"),
        ("https://", "t", "server"),
        ("http://127.0.0.1:99999", "t", "server"),
        ("https://me:secret@ads.example", "t", "server"),
        ("https://ads.example", "a\nb", "token"),
    ],
)
async def test_addresses_that_are_none(url: str, token: str | None, path: str) -> None:
    with pytest.raises(InvalidInput) as error:
        async with AsyncAds(url, token=token, environment={}):
            pass
    assert [issue.path for issue in error.value.issues] == [path]

    def work() -> None:
        with pytest.raises(InvalidInput), Ads(url, token=token, environment={}):
            pass

    await asyncio.to_thread(work)


async def test_an_address_without_a_scheme() -> None:
    with pytest.raises(InvalidInput, match="address begins with http:// or https://"):
        async with AsyncAds("127.0.0.1:9", token="t", environment={}):
            pass


@pytest.mark.parametrize("door", DOORS)
async def test_a_network_with_a_consent_page_is_not_connected_with_credentials(
    clients: dict[str, AsyncAds], door: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        await clients[door].connections.create("meta")
    ((path, message),) = [(issue.path, issue.message) for issue in error.value.issues]
    assert path == "network"
    for way in ("adsunify connect meta", "authorize", "adsunify serve", "chatgpt, outbrain, apple"):
        assert way in message


async def test_an_operation_id_that_is_none(clients: dict[str, AsyncAds]) -> None:
    with pytest.raises(InvalidInput, match="Unknown operationId"):
        await clients["local"].call("get_everything")


async def test_a_review_stands_where_people_reach_the_server(server: Served) -> None:
    elsewhere = {**environment(server), BASE_URL_VARIABLE: "https://ads.example"}
    async with AsyncAds(server.database, workspace="shop", environment=elsewhere) as ads:
        operation = await ads.campaigns.create(server.accounts["amazon"], make_brief("amazon"))
        assert operation.review_url == f"https://ads.example/review/{operation.id}"
