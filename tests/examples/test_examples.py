"""The scripts of ``examples`` as a user runs them, by their command lines, against the simulated networks."""

from __future__ import annotations

import ast
import asyncio
import csv
import json
import re
import runpy
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from datetime import date, timedelta
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

import adsunify
from adsunify import Ads, NetworkCode, Operation, OperationError, read_brief
from adsunify.events import build_event_body
from adsunify.testing import SimulatedNetworks, sandbox
from adsunify.webhooks import sign

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = {path.stem: path for path in sorted(FOLDER.glob("*.py"))}
CODES: tuple[NetworkCode, ...] = ("meta", "google", "pinterest", "outbrain")
BRIEF = FOLDER / "briefs" / "meta-page_link_ad-traffic-daily.json"
SECRET = "whsec_of_the_board"
Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def simulation() -> Iterator[SimulatedNetworks]:
    with sandbox(*CODES) as networks:
        yield networks


@pytest.fixture
def networks(simulation: SimulatedNetworks) -> SimulatedNetworks:
    simulation.reset()
    return simulation


@pytest.fixture
def client(networks: SimulatedNetworks) -> Iterator[Ads]:
    with networks.client() as client:
        yield client


@pytest.fixture
def run(client: Ads, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a script by its command line, with the client of the test in place of that of the environment.

    Returns the exit code and what it printed.
    """

    def run_script(name: str, *arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(SCRIPTS[name]), run_name="__main__")
        code = ended.value.code
        return (code if isinstance(code, int) else 0), capsys.readouterr().out

    monkeypatch.setattr(Ads, "from_environment", lambda: nullcontext(client))
    return run_script


def load(name: str) -> ModuleType:
    """The module of a script."""
    module = ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(SCRIPTS[name].read_text(), SCRIPTS[name], "exec"), module.__dict__)
    finally:
        del sys.modules[name]
    return module


def prepare(client: Ads, networks: SimulatedNetworks) -> Operation:
    """Prepare a campaign at Meta."""
    return client.campaigns.create(networks.account("meta"), read_brief(BRIEF.read_bytes()))


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def count_writes(networks: SimulatedNetworks) -> int:
    return len(networks.writes())


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_explains_itself(name: str, run: Run) -> None:
    code, printed = run(name, "--help")
    assert code == 0
    assert "Needs:" in printed and "Prints:" in printed
    source = SCRIPTS[name].read_text()
    assert 30 <= source.count("\n") <= 90
    functions = {node.name for node in ast.walk(ast.parse(source)) if hasattr(node, "name")}
    assert "main" in functions
    assert not re.search(r"\bfloat\(", source)


def test_the_table_lists_every_script() -> None:
    table = (FOLDER / "README.md").read_text()
    linked = set(re.findall(r"\]\(([\w./]+)\)", table))
    assert {f"{name}.py" for name in SCRIPTS} <= linked
    assert all((FOLDER / target).exists() for target in linked)


def test_one_brief_four_networks(run: Run, networks: SimulatedNetworks, client: Ads) -> None:
    script, name = "one_brief_four_networks", "Garden chairs"
    for arguments in ([], ["--execute"]):
        code, printed = run(script, name, "--budget", "0.001", *arguments)
        assert code == 1 and "meta: campaign.budget.amount" in printed
    code, printed = run(script, name)
    assert code == 0 and all(f"{network} " in printed for network in CODES)
    assert count_writes(networks) == 0
    code, printed = run(script, "Folding chairs", "--execute")
    assert (code, printed.count("created campaign")) == (0, 4)
    assert {write.network for write in networks.writes()} == set(CODES)
    writes = count_writes(networks)
    assert run(script, "Folding chairs", "--execute") == (0, printed)
    assert count_writes(networks) == writes


def test_budgets_by_rule(run: Run, networks: SimulatedNetworks) -> None:
    code, printed = run("budgets_by_rule", "1000")
    assert (code, "->" in printed, printed.count("cost of a click") > 2) == (0, False, True)
    code, printed = run("budgets_by_rule", "0.01")
    changes = re.findall(r"budget ([\d.]+) -> ([\d.]+)", printed)
    assert code == 0 and count_writes(networks) == 0 and changes
    assert all(0 <= Decimal(before) * 4 / 5 - Decimal(after) < 1 for before, after in changes)
    code, printed = run("budgets_by_rule", "0.01", "--execute")
    assert (code, printed.count("succeeded"), count_writes(networks)) == (0, len(changes), len(changes))
    code, printed = run("budgets_by_rule", "0.01", "--execute")
    assert (code, count_writes(networks)) == (0, len(changes))


def test_nightly_report(run: Run, networks: SimulatedNetworks, client: Ads, tmp_path: Path) -> None:
    output, end = tmp_path / "report.csv", date.today() - timedelta(days=1)
    arguments = (output, "--days", 3, "--end", end)
    assert run("nightly_report", *arguments)[0] == 0
    rows = read_csv(output)
    account = networks.account("meta")
    expected = client.insights.daily(account, end - timedelta(days=2), end).rows
    reported = [row for row in rows if row["account"] == account.native_id]
    assert [(row["date"], row["spend"]) for row in reported] == [(str(day.date), str(day.spend)) for day in expected]
    assert {row["provisional"] for row in rows} == {"True", "False"}
    networks.fail("pinterest", "GET", status=403, times=30)
    code, printed = run("nightly_report", *arguments)
    assert code == 1 and f"in {output}" in printed
    assert {row["network"] for row in read_csv(output)} == {*CODES} - {"pinterest"}
    assert list(tmp_path.iterdir()) == [output]


def test_disconnected_accounts_are_left_out(run: Run, client: Ads, tmp_path: Path) -> None:
    [outbrain] = [connection for connection in client.connections.list() if connection.network == "outbrain"]
    client.connections.disconnect(outbrain)
    output = tmp_path / "report.csv"
    assert run("nightly_report", output, "--days", 1)[0] == 0
    assert {row["network"] for row in read_csv(output)} == {*CODES} - {"outbrain"}
    assert "outbrain" not in run("budgets_by_rule", "1000")[1]
    with pytest.raises(SystemExit, match="outbrain: no account"):
        load("one_brief_four_networks").main(client, "Garden chairs", Decimal("30.50"), date(2050, 3, 1))


def test_the_nightly_report_in_parquet_has_exact_amounts_or_asks_for_pyarrow(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "report.parquet"
    code, printed = run("nightly_report", output, "--days", 3)
    if find_spec("pyarrow") is None:
        assert (code, printed, output.exists()) == (2, "", False)
        return
    table = import_module("pyarrow.parquet").read_table(output)
    assert (code, printed) == (0, f"{table.num_rows} rows in {output}\n")
    assert str(table.schema.field("spend").type) == "decimal128(38, 9)"


def test_status_board(networks: SimulatedNetworks) -> None:
    async def use_board() -> None:
        ads = networks.async_client()
        async with ads:
            account = networks.account("outbrain")
            [operation] = (
                await ads.bulk.status(
                    account, kind="campaign", entities=[await first_campaign(ads, account)], status="paused"
                )
            ).operations
        async with TestClient(TestServer(load("status_board").main(ads, SECRET))) as web:
            assert f"<td>prepared<td>{operation.id}" in await (await web.get("/")).text()
            for status, minutes in (("succeeded", 2), ("running", 1)):  # the newer event arrives first
                at = operation.created_at + timedelta(minutes=minutes)
                data = {"operationId": operation.id, "accountId": account.account_id, "network": "outbrain"}
                event = build_event_body("e1", f"operation.{status}", at, "w1", {**data, "status": status})
                assert await deliver(web, event, SECRET) == 204
            forged = {**event, "createdAt": "2099-01-01T00:00:00Z", "data": {**event["data"], "status": "forged"}}
            assert await deliver(web, forged, "whsec_of_somebody_else") == 400
            page = await (await web.get("/")).text()
            assert f"<td>succeeded<td>{operation.id}" in page and page.count(operation.id) == 1

    asyncio.run(use_board())


async def first_campaign(ads: adsunify.AsyncAds, account: Any) -> str:
    return next(node.id for node in (await ads.accounts.tree(account)).nodes if node.status == "active")


async def deliver(web: Any, event: Any, secret: str) -> int:
    body = json.dumps(event).encode()
    headers = {"Service-Event-Id": "e1", "Service-Signature": sign(body, "e1", secret, int(time.time()))}
    status: int = (await web.post("/hook", data=body, headers=headers)).status
    return status


def test_approval_in_chat(run: Run, networks: SimulatedNetworks, client: Ads, monkeypatch: pytest.MonkeyPatch) -> None:
    account = networks.account("meta").account_id
    for answer in ("yes", "approve 000000"):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        code, printed = run("approval_in_chat", account, BRIEF)
        assert (code, count_writes(networks), "/review/" in printed) == (1, 0, True)
        assert client.operations.list().first().status == "cancelled"
    module = load("approval_in_chat")
    code = module.main(client, account, BRIEF, lambda message: re.findall(r"`(approve \w+)`", message)[0])
    assert (code, count_writes(networks)) == (0, 4)
    assert client.operations.list().first().status == "succeeded"


def test_mcp_agent(run: Run, networks: SimulatedNetworks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = f"sqlite:///{tmp_path / 'ads.db'}"
    monkeypatch.setenv("ADSUNIFY_SANDBOX_URL", networks.url)
    monkeypatch.setenv("ADSUNIFY_DATABASE_URL", database)
    with Ads(database) as client:
        client.connections.create("outbrain", **networks.credentials("outbrain"))
        account = client.accounts.list(network="outbrain").first()
        campaign = next(node.id for node in client.accounts.tree(account).nodes if node.status == "active")
    for answer, code, writes in (("no", 1, 0), ("yes", 0, 1)):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        ended, printed = run("mcp_agent", account.account_id, "campaign", campaign, "paused")
        assert (ended, count_writes(networks)) == (code, writes), printed
        assert "Tools: account search_tools" in printed
    assert printed.endswith("succeeded\n")


def test_backfill_insights(
    run: Run, networks: SimulatedNetworks, client: Ads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adsunify.AsyncAds, "from_environment", networks.async_client)
    database = tmp_path / "figures.db"
    end = date.today() - timedelta(days=46)
    start = end - timedelta(days=32)  # of two months, and inside the 90 days that Apple reports
    networks.fail("outbrain", "GET", status=403, times=3)
    code, printed = run("backfill_insights", database, start, "--end", end)
    jobs = printed.count("\n")
    assert code == 1 and f"[{jobs}/{jobs}]" in printed
    code, printed = run("backfill_insights", database, start, "--end", end)
    assert code == 0 and 0 < printed.count("\n") < jobs
    code, printed = run("backfill_insights", database, start, "--end", end)
    read_again = {line.split()[1] for line in printed.splitlines() if not line.endswith(": 0 days")}
    assert code == 0 and read_again <= {"google", "linkedin"}, "they correct conversions for 90 days"
    account = networks.account("meta")
    expected = [(str(day.date), str(day.spend)) for day in client.insights.daily(account, start, end).rows]
    with closing(sqlite3.connect(database)) as saved:
        query = "SELECT day, spend FROM figures WHERE account = ? ORDER BY day"
        assert saved.execute(query, [account.account_id]).fetchall() == expected != []


@pytest.mark.parametrize(("fault", "is_written"), [("reset_before", False), ("reset_after", True)])
def test_recover_unknown(fault: Any, is_written: bool, run: Run, networks: SimulatedNetworks, client: Ads) -> None:
    """What the network has is found, only the rest is written, and nothing is written twice."""
    assert run("recover_unknown") == (0, "")
    operation = prepare(client, networks)
    networks.fail("meta", "POST", "/adsets", fault=fault)
    with pytest.raises(OperationError):
        client.operations.run(operation, confirmed=True)
    written_entities = list_writes(networks)
    code, printed = run("recover_unknown")
    assert (code, list_writes(networks)) == (1, written_entities)
    if not is_written:
        assert "undecided" in printed and "to be written" not in printed
        networks.clock.advance(minutes=16)
        code, printed = run("recover_unknown")
        assert (code, list_writes(networks)) == (1, written_entities)
    assert ("not_applied: " in printed) is not is_written
    assert printed.count("to be written") == (2 if is_written else 3)
    code, printed = run("recover_unknown", "--execute")
    assert (code, printed.splitlines()[-1].strip()) == (0, "succeeded")
    assert list_writes(networks) == ["campaigns", "adsets", "adcreatives", "ads"]
    assert run("recover_unknown", "--execute") == (0, "")
    assert len(list_writes(networks)) == 4
    rest = client.operations.list().first()
    assert rest.resumes == operation.id
    active = client.operations.run(client.campaigns.activate(rest.account_id, rest), confirmed=True)
    assert active.status == "succeeded"


def list_writes(networks: SimulatedNetworks) -> list[str]:
    """The last part of the path of each native write."""
    return [write.path.rpartition("/")[2] for write in networks.writes("meta")]


def test_recover_what_a_person_must_decide(run: Run, networks: SimulatedNetworks, client: Ads) -> None:
    """Lists do not show a creative as one that the operation made, so the script says how to decide it."""
    operation = prepare(client, networks)
    networks.fail("meta", "POST", "/adcreatives", fault="reset_before")
    with pytest.raises(OperationError):
        client.operations.run(operation, confirmed=True)
    networks.clock.advance(minutes=16)
    code, printed = run("recover_unknown", operation.id, "--execute")
    assert (code, list_writes(networks)) == (1, ["campaigns", "adsets"])
    step = re.findall(rf"adsunify settle {operation.id} (\w+) ", printed)[0]
    client.operations.settle(operation, step=step, verdict="not_applied")
    code, printed = run("recover_unknown", operation.id, "--execute")
    assert (code, list_writes(networks)) == (0, ["campaigns", "adsets", "adcreatives", "ads"]), printed
    prepared = prepare(client, networks)
    code, printed = run("recover_unknown", prepared.id, "--execute")
    assert "not executed" in printed and len(list_writes(networks)) == 4
