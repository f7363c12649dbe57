"""A deployment whose only way out is a proxy, with a private authority: networks, OAuth, webhooks, and clients."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
from aiohttp import web
from attrs import define, field

from adsunify import AsyncAds, read_brief
from adsunify.answers.operations import Operation
from adsunify.answers.webhooks import Attempt, Webhook
from adsunify.client.local_backend import LocalBackend
from adsunify.errors import AdsunifyError, OperationError, ServerConnectionError
from adsunify.http.egress import CA_FILE_VARIABLE, EGRESS_PROXY_VARIABLE, TunnelBackend
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.sandbox.server import RunningSandbox, sandbox
from adsunify.service import connections
from adsunify.service.core import Service
from adsunify.service.factory import SANDBOX_SECRET
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import Clock
from adsunify.testing.connecting import get_sandbox_credentials, submit_consent_page
from tests.connect_proxy import SECRETS, ConnectProxy, Fault, connect_proxy
from tests.system.webhooks.receiving import Receiver, run_receiver
from tests.unit.http.certificates import Authority

from .served import RING, Hands, Served, brief

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("own_tls_contexts")]
HOSTS = sorted({host for code in ADAPTER_PACKAGES for host in get_adapter(code).network.hosts})
ADDRESS = "93.184.216.34"
"""The public address of the receiver, which only the proxy reaches."""
RECEIVER = "hooks.acme.example"


@define
class Networks:
    """The simulated networks behind TLS, at the names of the real ones. ``cuts``: how many answers are cut."""

    sandbox: RunningSandbox
    http: httpx.AsyncClient
    port: int = 0
    cuts: int = 0
    requests: list[tuple[str, str]] = field(factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        """Pass a request on to the simulated network of its host."""
        self.requests.append((request.method, request.host))
        answer = await self.http.request(
            request.method,
            f"{self.sandbox.url}/{request.host}{request.raw_path}",
            headers=[
                (name, value) for name, value in request.headers.items() if name not in ("Host", "Content-Length")
            ],
            content=await request.read(),
        )
        if self.cuts and request.method != "GET":
            self.cuts -= 1
            assert request.transport is not None
            request.transport.abort()
        headers = [
            (name, value)
            for name, value in answer.headers.multi_items()
            if name not in ("content-length", "content-encoding", "transfer-encoding", "connection", "date", "server")
        ]
        return web.Response(status=answer.status_code, headers=headers, body=answer.content)

    def writes(self) -> int:
        """How many entities native writes have touched so far."""
        return len(self.sandbox.state.writes)


@define
class Deployment:
    """An embedded store that reaches the networks and receivers only through the proxy."""

    proxy: ConnectProxy
    networks: Networks
    receiver: Receiver
    client: AsyncAds
    accounts: dict[str, str] = field(factory=dict)

    @property
    def backend(self) -> LocalBackend:
        """The open store."""
        assert isinstance(self.client.backend, LocalBackend)
        return self.client.backend

    @property
    def service(self) -> Service:
        """The service over the store."""
        return self.backend.service

    async def connect(self, network: str) -> str:
        """Connect a network, once, and return its account in US dollars."""
        if network not in self.accounts:
            actor = self.backend.actor
            if credentials := get_sandbox_credentials(network):
                await connections.connect_with_credentials(self.service, actor, network=network, **credentials)
            else:
                link = await connections.create_consent_link(self.service, actor, network=network)
                consent = await connections.start_consent(self.service, urlsplit(link["url"]).path.rpartition("/")[2])
                page = consent.url.replace("https://", f"{self.networks.sandbox.url}/")
                await connections.finish_consent(
                    self.service, network, await submit_consent_page(page), consent.browser_cookie
                )
            accounts = [account async for account in self.client.accounts.list(network=network)]
            self.accounts[network] = next(
                (account.account_id for account in accounts if account.currency == "USD"), accounts[0].account_id
            )
        return self.accounts[network]

    async def prepare(self, network: str = "meta") -> str:
        """Prepare a campaign and return its operation."""
        account = await self.connect(network)
        return (await self.client.campaigns.create(account, read_brief(brief(network)))).id

    async def execute_later(self, id_: str) -> Operation:
        """Execute an operation again and again until nothing is left, after the waits that it asks for."""
        async with asyncio.timeout(60):
            while True:
                operation = await self.client.operations.execute(id_, confirmed=True)
                if not operation.retry_after_ms:
                    return operation
                await asyncio.sleep(operation.retry_after_ms / 1000)


@asynccontextmanager
async def deploy_api(folder: Path, database: str) -> AsyncIterator[Deployment]:
    authority = Authority(folder)
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        networks = Networks(await stack.enter_async_context(sandbox()), http)
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{anything:.*}", networks.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2, auto_decompress=False)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=authority.server("networks.example", 1, HOSTS)).start()
        networks.port = runner.addresses[0][1]
        receiver = await stack.enter_async_context(run_receiver(authority.server(RECEIVER)))
        ports = {(host, 443): networks.port for host in HOSTS}
        ports[ADDRESS, 443] = urlsplit(receiver.url).port or 0
        proxy = await stack.enter_async_context(
            connect_proxy(lambda host, port: ports.get((host, port)), authority.server("localhost"))
        )
        environment = {**RING, EGRESS_PROXY_VARIABLE: proxy.url, CA_FILE_VARIABLE: str(authority.ca_file)}
        for code in ADAPTER_PACKAGES:
            environment[f"ADSUNIFY_{code.upper()}_CLIENT_ID"] = f"sandbox-{code}"
            environment[f"ADSUNIFY_{code.upper()}_CLIENT_SECRET"] = SANDBOX_SECRET
        client = await stack.enter_async_context(AsyncAds(database, environment=environment))
        yield Deployment(proxy, networks, receiver, client)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_deployment(
    tmp_path_factory: pytest.TempPathFactory, own_tls_contexts: None
) -> AsyncIterator[Deployment]:
    folder = tmp_path_factory.mktemp("egress")
    async with deploy_api(folder, f"sqlite:///{folder / 'ads.db'}") as deployment:
        yield deployment


@pytest.fixture
def deployment(shared_deployment: Deployment) -> Deployment:
    shared_deployment.proxy.faults.clear()
    return shared_deployment


# -- networks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
async def test_a_network_is_connected_and_written_through_the_proxy(deployment: Deployment, network: str) -> None:
    """Tokens, reads and writes: every connection is a tunnel to a host of the network."""
    head_count, before = len(deployment.proxy.heads), deployment.networks.writes()
    operation = await deployment.client.operations.execute(await deployment.prepare(network), confirmed=True)
    assert operation.status == "succeeded" and deployment.networks.writes() > before
    hosts = {target.removesuffix(":443") for target in deployment.proxy.targets[head_count:]}
    assert hosts and hosts <= set(get_adapter(network).network.hosts)


@pytest.mark.parametrize("fault", ["wrong password", "bad gateway", "reset", "cut in answer", "cut after 200"])
async def test_a_write_that_the_proxy_fails_is_not_sent_and_can_be_executed_again(
    deployment: Deployment, fault: Fault
) -> None:
    id_ = await deployment.prepare()
    writes = deployment.networks.writes()
    deployment.proxy.faults = [fault] * 40
    operation = await deployment.client.operations.execute(id_, confirmed=True)
    assert deployment.networks.writes() == writes
    assert (operation.status, operation.error and operation.error.code) == ("prepared", "not_sent")
    assert deployment.proxy.name in str(operation.to_dict())
    assert not [secret for secret in SECRETS if secret in str(operation.to_dict())]
    deployment.proxy.faults.clear()
    assert (await deployment.execute_later(id_)).status == "succeeded"


async def test_a_failure_of_the_proxy_between_two_writes_keeps_what_was_written(deployment: Deployment) -> None:
    # The first execution also opens tunnels for reads. After it, the first tunnel is that of the first write.
    await deployment.client.operations.execute(await deployment.prepare(), confirmed=True)
    id_ = await deployment.prepare()
    first: list[Fault | None] = [None]
    deployment.proxy.faults = first + ["bad gateway"] * 40
    operation = await deployment.client.operations.execute(id_, confirmed=True)
    assert operation.receipt is not None and operation.status == "prepared"
    assert [step.state for step in operation.receipt.steps][:2] == ["applied", "throttled"]
    deployment.proxy.faults.clear()
    writes = deployment.networks.writes()
    assert (await deployment.execute_later(id_)).status == "succeeded"
    assert deployment.networks.writes() > writes


async def test_an_answer_that_the_tunnel_loses_is_unknown_and_written_once(deployment: Deployment) -> None:
    id_ = await deployment.prepare()
    writes, deployment.networks.cuts = deployment.networks.writes(), 1
    with pytest.raises(OperationError) as problem:
        await deployment.client.operations.execute(id_, confirmed=True)
    assert problem.value.outcome == "unknown"
    assert deployment.networks.writes() == writes + 1 and deployment.networks.cuts == 0
    assert (await deployment.client.operations.get(id_)).status == "unknown"


async def test_a_write_does_not_leave_where_the_host_slept_while_the_proxy_connected(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = await deployment.prepare()
    hands, store, open_tunnel = Hands(), deployment.service.store, TunnelBackend.connect_tcp
    monkeypatch.setattr(store, "clock", Clock(hands.milliseconds, lambda: 0))

    async def connect_and_sleep(*args: Any, **more: Any) -> Any:
        stream = await open_tunnel(*args, **more)
        hands.pass_(seconds=60)
        return stream

    writes, tunnels = deployment.networks.writes(), len(deployment.proxy.heads)
    monkeypatch.setattr(TunnelBackend, "connect_tcp", connect_and_sleep)
    operation = await deployment.client.operations.execute(id_, confirmed=True)
    assert deployment.networks.writes() == writes and len(deployment.proxy.heads) > tunnels
    assert operation.error is not None and operation.error.code == "not_sent" and "lease" in operation.error.message


async def test_a_refused_token_request_names_the_proxy(deployment: Deployment) -> None:
    actor = deployment.backend.actor
    link = await connections.create_consent_link(deployment.service, actor, network="reddit")
    consent = await connections.start_consent(deployment.service, urlsplit(link["url"]).path.rpartition("/")[2])
    answer = await submit_consent_page(consent.url.replace("https://", f"{deployment.networks.sandbox.url}/"))
    deployment.proxy.faults = ["wrong password"] * 10
    with pytest.raises(AdsunifyError) as problem:
        await connections.finish_consent(deployment.service, "reddit", answer, consent.browser_cookie)
    text = f"{problem.value} {problem.value.__cause__}"
    assert deployment.proxy.name in text and "407" in text
    assert not [secret for secret in SECRETS if secret in text]


# -- webhooks -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def deliver_webhooks(deployment: Deployment, *addresses: str) -> AsyncIterator[None]:
    """Deliver webhooks; the name of the receiver has these addresses."""

    async def resolve(host: str) -> Sequence[str]:
        return addresses or [ADDRESS]

    deployment.service.resolve_host = resolve
    worker = WebhookWorker(deployment.service)
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await running


async def test_a_webhook_is_delivered_to_the_checked_address(deployment: Deployment) -> None:
    head_count, received_count = len(deployment.proxy.heads), len(deployment.receiver.got)
    async with deliver_webhooks(deployment):
        webhook = await deployment.client.webhooks.create(url=f"https://{RECEIVER}/hook")
        await deployment.client.webhooks.test(webhook)
        received = await deployment.receiver.count(received_count + 1)
        await deployment.client.webhooks.delete(webhook)
    assert received[-1].headers["Host"] == RECEIVER
    assert deployment.proxy.targets[head_count:] == [f"{ADDRESS}:443"]


async def test_a_webhook_that_the_proxy_refuses_waits_and_names_the_proxy(deployment: Deployment) -> None:
    received_count = len(deployment.receiver.got)
    deployment.proxy.faults = ["forbidden"]
    async with deliver_webhooks(deployment):
        webhook = await deployment.client.webhooks.create(url=f"https://{RECEIVER}/hook")
        await deployment.client.webhooks.test(webhook)
        async with asyncio.timeout(30):
            while not (tries := await list_attempts(deployment, webhook)) or tries[0].duration_ms is None:
                await asyncio.sleep(0.05)
        await deployment.client.webhooks.delete(webhook)
    assert len(deployment.receiver.got) == received_count
    assert f"the proxy {deployment.proxy.name} refused CONNECT {ADDRESS}:443 with status 403" in tries[0].error
    assert not [secret for secret in SECRETS if secret in tries[0].error]


async def list_attempts(deployment: Deployment, webhook: Webhook) -> list[Attempt]:
    """The attempts of the only delivery of a subscription."""
    (delivery,) = [delivery async for delivery in deployment.client.webhooks.deliveries(webhook)]
    return [attempt async for attempt in deployment.client.webhooks.attempts(webhook, delivery)]


# -- clients of a server ------------------------------------------------------------------------------------------


@asynccontextmanager
async def serve_behind_proxy(
    server: Served, folder: Path, scheme: str
) -> AsyncIterator[tuple[ConnectProxy, str, Path]]:
    """A proxy before a server that is called ``ads.acme.example``, its address, and the file of its authority."""
    authority = Authority(folder)
    upstream = urlsplit(server.base_url).port or 0

    async def accept_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", upstream)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)

    listener = await asyncio.start_server(accept_connection, "127.0.0.1", 0, ssl=authority.server("ads.acme.example"))
    port = listener.sockets[0].getsockname()[1] if scheme == "https" else upstream
    async with listener, connect_proxy(lambda host, _: port if host == "ads.acme.example" else None) as proxy:
        yield proxy, f"{scheme}://ads.acme.example", authority.ca_file


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("way", ["options", "environment"])
async def test_a_client_reaches_its_server_through_a_proxy(
    server: Served, tmp_path: Path, scheme: str, way: str
) -> None:
    token = server.people["admin"].tokens["write"]
    async with serve_behind_proxy(server, tmp_path, scheme) as (proxy, url, ca_file):
        options: dict[str, Any] = {"proxy": proxy.url, "ca_file": ca_file}
        if way == "environment":
            options = {"environment": {EGRESS_PROXY_VARIABLE: proxy.url, CA_FILE_VARIABLE: str(ca_file)}}
        async with AsyncAds(url, token=token, **options) as client:
            assert len([account async for account in client.accounts.list()]) > 11
    assert proxy.targets == [f"ads.acme.example:{443 if scheme == 'https' else 80}"]
    assert token.encode() not in proxy.heads[0]


@pytest.mark.parametrize(
    "fault",
    [
        "wrong password",
        "forbidden",
        "bad gateway",
        "cut before answer",
        "reset",
        "cut in answer",
        "not http",
        "cut after 200",
    ],
)
async def test_an_execute_that_the_proxy_fails_surely_did_nothing(server: Served, tmp_path: Path, fault: Fault) -> None:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    id_, writes = (await server.admin.post("/create", body, 201))["id"], server.networks.writes()
    token = server.people["admin"].tokens["write"]
    async with serve_behind_proxy(server, tmp_path, "https") as (proxy, url, ca_file):
        proxy.faults = [fault]
        async with AsyncAds(url, token=token, proxy=proxy.url, ca_file=ca_file, max_retries=0) as client:
            with pytest.raises(ServerConnectionError) as problem:
                await client.operations.execute(id_, confirmed=True)
            assert problem.value.outcome == "not_applied" and proxy.name in problem.value.message
            assert not [secret for secret in SECRETS if secret in str(problem.value)]
            assert server.networks.writes() == writes
            assert (await client.operations.execute(id_, confirmed=True)).status == "succeeded"


async def test_a_server_with_an_unknown_authority_is_refused(server: Served, tmp_path: Path) -> None:
    async with (
        serve_behind_proxy(server, tmp_path, "https") as (proxy, url, _),
        AsyncAds(url, token="adu_x", proxy=proxy.url, max_retries=0) as client,
    ):
        with pytest.raises(ServerConnectionError, match=r"TLS with ads\.acme\.example.*ca_file"):
            await client.call("get_networks")


async def test_a_server_on_this_machine_is_reached_without_the_proxy_of_the_environment(server: Served) -> None:
    environment = {EGRESS_PROXY_VARIABLE: "http://me:hush@127.0.0.1:9"}
    async with AsyncAds(
        server.base_url, token=server.people["admin"].tokens["write"], environment=environment, max_retries=0
    ) as client:
        assert [network async for network in client.networks.list()]


async def test_a_wrong_setting_is_named_without_its_password(tmp_path: Path) -> None:
    arguments = ["-m", "adsunify", "serve", "--port", "0", "--database", f"sqlite:///{tmp_path / 'a.db'}"]
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        env={**os.environ, **RING, EGRESS_PROXY_VARIABLE: "socks5://me:hush@proxy.example"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await child.communicate()
    assert child.returncode and EGRESS_PROXY_VARIABLE.encode() in output and b"hush" not in output
    assert not (tmp_path / "a.db").exists()
