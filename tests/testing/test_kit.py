"""The kit for users' tests, as a test uses it: clients, faults, the log of writes, the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest

from adsunify import Ads, InvalidInput, OperationError, read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.networks.samples import make_brief
from adsunify.sandbox.faults import parse_fault
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.testing import FAULTS, FaultName, SimulatedNetworks, sandbox

MIDNIGHT = datetime(2027, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def simulation() -> Iterator[SimulatedNetworks]:
    with sandbox() as networks:
        yield networks


@pytest.fixture
def networks(simulation: SimulatedNetworks) -> SimulatedNetworks:
    simulation.reset()
    return simulation


@pytest.fixture
def client(networks: SimulatedNetworks) -> Iterator[Ads]:
    with networks.client() as client:
        yield client


def prepare(networks: SimulatedNetworks, client: Ads, network: str) -> Any:
    """Prepare a campaign; the operation."""
    account = networks.account(network)
    brief = make_brief(network, account.currency, account.timezone, networks.clock.now())
    return client.campaigns.create(account, read_brief(brief))


def execute_once(client: Ads, operation: Any) -> tuple[str, str | None]:
    """Call execute once; the status and what is to be done next, or the code and the outcome of the error."""
    try:
        answer = client.call("post_operation_execute", path={"operationId": operation.id}, body={"confirmed": True})[
            "data"
        ]
    except OperationError as error:
        return error.code, error.outcome
    return answer["status"], answer.get("nextAction")


UNKNOWN = ("outcome_unknown", "unknown")
REJECTED = ("provider_rejected", "not_applied")
AGAIN = ("prepared", "execute")
RESULTS: dict[str, tuple[str, dict[str, Any], tuple[str, str | None], int]] = {
    "400": ("meta", {"status": 400}, REJECTED, 0),
    "401": ("meta", {"status": 401}, AGAIN, 0),
    "403": ("meta", {"status": 403}, REJECTED, 0),
    "429": ("meta", {"status": 429}, AGAIN, 0),
    "500": ("meta", {"status": 500}, UNKNOWN, 0),
    "503": ("meta", {"status": 503}, UNKNOWN, 0),
    "reset_before": ("meta", {}, UNKNOWN, 0),
    "reset_after": ("meta", {}, UNKNOWN, 1),
    "latency": ("meta", {"seconds": 0.01}, ("succeeded", None), 4),
    "truncate": ("meta", {}, UNKNOWN, 1),
    "html": ("meta", {}, UNKNOWN, 1),
    "empty": ("meta", {}, UNKNOWN, 1),
    "partial": ("snapchat", {}, REJECTED, 0),
    "error_in_200": ("google", {}, REJECTED, 0),
    "slow_media": ("snapchat", {"seconds": 3}, AGAIN, 2),
}
"""For each fault of the first write (of a POST that a handler fails): what one call of execute gives, and how many
native writes were done."""


@pytest.mark.parametrize("name", RESULTS)
def test_a_fault_has_the_result_that_the_table_says(name: str, networks: SimulatedNetworks, client: Ads) -> None:
    network, arguments, result, writes = RESULTS[name]
    fault: Any = "status" if name.isdigit() else name
    operation = prepare(networks, client, network)
    requested = networks.fail(network, "POST", fault=fault, **arguments)
    assert execute_once(client, operation) == result
    assert (requested.occurrences, networks.unused_faults(), len(networks.writes(network))) == (1, (), writes)
    assert f"`{result[0]}`" in FAULTS[fault].result


def test_the_table_has_every_fault_of_the_sandbox() -> None:
    assert set(FAULTS) == set(get_args(FaultName)) == {name for name in RESULTS if not name.isdigit()} | {"status"}
    with pytest.raises(InvalidRequest) as refused:
        parse_fault({"network": "meta", "fault": ""}, ["meta"])
    assert set(refused.value.message.removeprefix("must be one of ").split(", ")) == set(FAULTS)


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_a_limit_is_waited_for_on_the_clock_and_each_write_is_done_once(
    network: str, networks: SimulatedNetworks, client: Ads
) -> None:
    operation = prepare(networks, client, network)
    step = operation.plan.steps[0]
    networks.fail(network, step.method, urlsplit(step.path).path, status=429, retry_after=300)
    waits: list[int] = []
    before = networks.clock.now()
    done = client.operations.run(
        operation, confirmed=True, progress=lambda current: waits.append(current.retry_after_ms)
    )
    assert done.status == "succeeded"
    assert [-(-wait // 10_000) for wait in waits] == [30]  # each network names the wait in its own way
    assert timedelta(seconds=290) < networks.clock.now() - before < timedelta(seconds=400)
    assert not networks.unused_faults()
    requests = [(write.method, write.path, repr(write.query), repr(write.body)) for write in networks.writes(network)]
    assert len(requests) == len(set(requests)) >= 1


def test_the_log_has_what_was_sent_and_touched(networks: SimulatedNetworks, client: Ads) -> None:
    done = client.operations.run(prepare(networks, client, "meta"), confirmed=True)
    writes = networks.writes("meta")
    assert [(write.method, write.path.rpartition("/")[2]) for write in writes] == [
        ("POST", "campaigns"),
        ("POST", "adsets"),
        ("POST", "adcreatives"),
        ("POST", "ads"),
    ]
    assert writes[0].host == "graph.facebook.com" and writes[0].body["status"] == "PAUSED"
    assert writes[0].entities == (("campaign", done.created.campaign_id),)
    assert networks.writes("google") == () and networks.writes() == writes
    client.operations.run(prepare(networks, client, "x"), confirmed=True)
    assert networks.writes("x")[0].query["entity_status"] == "PAUSED"  # X takes everything in the query
    assert networks.writes("x")[0].body is None


def test_the_clock_moves_networks_and_store_together(networks: SimulatedNetworks, client: Ads) -> None:
    operation = prepare(networks, client, "meta")
    networks.clock.advance(minutes=31)
    assert client.operations.get(operation).expired
    assert execute_once(client, operation) == ("operation_expired", "not_applied")
    networks.clock.advance(days=3)  # the life of every access token
    for network in ("google", "amazon", "x"):
        done = client.operations.run(prepare(networks, client, network), confirmed=True)
        assert done.status == "succeeded"
        assert networks.writes(network)[-1].at - datetime.now(UTC) > timedelta(days=3)
    networks.reset()
    assert networks.clock.now() - datetime.now(UTC) < timedelta(seconds=1)
    assert networks.writes() == ()


def test_a_clock_that_starts_elsewhere() -> None:
    with sandbox("meta", start=MIDNIGHT) as networks, networks.client() as client:
        assert MIDNIGHT <= networks.clock.now() < MIDNIGHT + timedelta(minutes=2)
        operation = prepare(networks, client, "meta")
        assert MIDNIGHT <= operation.created_at < MIDNIGHT + timedelta(minutes=10)
        networks.clock.advance(hours=1)
        networks.reset()
        assert networks.clock.now() < MIDNIGHT + timedelta(minutes=2)


def test_connecting_the_accounts_meets_no_fault() -> None:
    with sandbox("outbrain") as networks:
        fault = networks.fail("outbrain", status=503, times=9)
        assert networks.account("outbrain").status == "active"
        assert fault.occurrences == 0


def test_each_client_has_a_store_with_the_same_accounts(networks: SimulatedNetworks) -> None:
    account = networks.account("meta")
    with networks.client() as first, networks.client() as second:
        operation = prepare(networks, first, "meta")
        assert first.operations.get(operation).id == operation.id
        assert second.operations.list().all() == []
        assert first.accounts.get(account).native_id == second.accounts.get(account).native_id
        assert {row.network for row in second.accounts.list()} == set(ADAPTER_PACKAGES)
    networks.reset()
    with networks.client() as third:  # the logins survive a reset
        assert third.operations.run(prepare(networks, third, "meta"), confirmed=True).status == "succeeded"


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_a_test_connects_a_network_itself(network: Any, networks: SimulatedNetworks, client: Ads) -> None:
    """A network with a consent page takes no credentials, and the error says that."""
    if get_adapter(network).network.login.kind != "credentials":
        with pytest.raises(InvalidInput, match="consent page"):
            networks.credentials(network)
        return
    connection = client.connections.create(network, **networks.credentials(network))
    assert networks.account(network).account_id in connection.accounts and connection.status == "active"


async def test_an_asynchronous_test() -> None:
    async with sandbox("chatgpt") as networks, networks.async_client() as client:
        [account] = [row.network async for row in client.accounts.list()]
        assert account == "chatgpt" == networks.account("chatgpt").network
        networks.fail("chatgpt", status=429)
        assert (await client.accounts.tree(networks.account("chatgpt"))).nodes is not None
        with pytest.raises(InvalidInput, match="name it"):
            networks.account("meta")


def test_a_fault_that_met_no_request_is_reported(networks: SimulatedNetworks, client: Ads) -> None:
    unused = networks.fail("meta", "POST", "/adsetz", status=429)
    used = networks.fail("meta", "POST", "/graph.facebook.com/*/adsets", status=429, times=2)
    client.operations.run(prepare(networks, client, "meta"), confirmed=True)
    assert used.occurrences == 2 and networks.unused_faults() == (unused,)
    text = networks.describe_unused_faults()
    assert text.startswith("No request met the fault: status 429 for POST /adsetz of meta. The last requests were: ")
    assert "POST /graph.facebook.com/v26.0/act_1001/adsets" in text


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"network": "mta", "status": 429}, "network", "Did you mean meta?"),
    ({"network": "facebook", "status": 429}, "network", "Use one of meta, "),
    ({}, "fault", "Name a fault, or a status such as status=429."),
    ({"fault": "reset_afer"}, "fault", "Did you mean reset_after?"),
    ({"fault": "status"}, "status", "required"),
    ({"fault": "latency"}, "seconds", "required"),
    ({"fault": "html", "status": 429}, "status", "not an argument of the fault html"),
    ({"status": 200}, "status", "must be a whole number from 300 to 599."),
    ({"status": "429"}, "status", "must be a whole number from 300 to 599."),
    ({"status": 429, "retry_after": 0}, "retry_after", "from 1 to 86400"),
    ({"fault": "latency", "seconds": -1}, "seconds", "must be a number from 0 to 600."),
    ({"status": 429, "times": 0}, "times", "from 1 to "),
    ({"status": 429, "method": "post"}, "method", "Did you mean POST?"),
    ({"status": 429, "path": "adsets"}, "path", "must begin with /"),
    ({"fault": "partial"}, "fault", "These networks have it: "),
]


@pytest.mark.parametrize(("arguments", "member", "message"), BAD)
def test_a_wrong_fault_is_refused(
    arguments: dict[str, Any], member: str, message: str, networks: SimulatedNetworks
) -> None:
    with pytest.raises(InvalidInput) as refused:
        networks.fail(**{"network": "meta", **arguments})
    [issue] = refused.value.issues
    assert issue.path == member and message in issue.message
    assert networks.unused_faults() == ()


def test_other_wrong_arguments_are_refused(networks: SimulatedNetworks) -> None:
    for wrong in (
        lambda: sandbox("gogle"),
        lambda: networks.account("gogle"),
        lambda: networks.writes("gogle"),
        lambda: networks.credentials("gogle"),
    ):
        with pytest.raises(InvalidInput, match=r"Did you mean google\?"):
            wrong()
    with pytest.raises(InvalidInput, match="time zone"):
        sandbox(start=datetime(2026, 1, 1))
    with pytest.raises(InvalidInput, match="ahead"):
        networks.clock.advance(days=-1)
    for seconds in (-1, "5", None, float("nan")):
        with pytest.raises(InvalidInput, match="seconds: must be a number"):
            networks.delay_lists("meta", seconds)  # type: ignore[arg-type]
    with sandbox("meta") as ended:
        pass
    with pytest.raises(RuntimeError, match="have ended"):
        ended.client()
