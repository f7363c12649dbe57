"""The command line as a person or a script uses it: exit codes, streams, and the processes that it starts."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.review.capabilities import MatrixTable, build_sections
from adsunify_mcp.request_metadata import CAPABILITIES_KEY, VERSION_KEY
from tests.pages.browsing import Browser

from .running import run

ROOT = Path(__file__).parents[2]
BRIEF = ROOT / "examples/briefs/amazon-product_ads-conversions-daily.json"
ACCOUNT = ("--currency", "USD", "--timezone", "America/Los_Angeles")


def run_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "adsunify", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.exhaustive
def test_demo_is_green_on_every_network() -> None:
    ran = run_process("demo", "--json")
    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout)["networks"]
    assert [network["network"] for network in results] == list(ADAPTER_PACKAGES)
    assert all(stage["ok"] for network in results for stage in network["stages"])


@pytest.mark.exhaustive
def test_demo_says_where_a_broken_adapter_fails(tmp_path: Path) -> None:
    broken = (
        "import adsunify.networks.amazon.plans as plans\n"
        "from adsunify.errors import invalid_input\n"
        "def broken(*_):\n    raise invalid_input('plan', 'broken', 'was broken on purpose.')\n"
        "plans.plan_activate = broken\n"
        "from adsunify.cli.commands import adsunify\n"
        "adsunify(['demo', '--networks', 'amazon', '--json'])\n"
    )
    ran = subprocess.run([sys.executable, "-c", broken], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 1
    stages = {stage["stage"]: stage["ok"] for stage in json.loads(ran.stdout)["networks"][0]["stages"]}
    assert stages["execute"]
    assert not stages["activate"]
    assert "amazon failed at activate" in ran.stderr
    assert "broken on purpose" in ran.stderr


def test_demo_refuses_an_unknown_network() -> None:
    ran = run("demo", "--networks", "myspace")
    assert ran.code == 2
    assert "myspace" in ran.err


def test_plan_prints_the_native_requests() -> None:
    ran = run("plan", "amazon", str(BRIEF), *ACCOUNT, "--json")
    assert ran.code == 0, ran.err
    plan = json.loads(ran.out)
    assert plan["network"] == "amazon"
    assert plan["version"] == 1
    assert len(plan["digest"]) == 64
    first, second = plan["steps"][:2]
    assert {"key", "kind", "method", "url", "headers", "body", "bindings", "outputs"} <= set(first)
    assert first["method"] == "POST"
    assert first["url"] == "https://advertising-api.amazon.com/sp/campaigns"
    assert "campaignId" not in second["body"]["adGroups"][0]
    assert second["bindings"] == [{"to": "/body/adGroups/0/campaignId", "step": first["key"], "output": "id"}]


@pytest.mark.exhaustive
def test_plan_is_the_same_in_every_process() -> None:
    plans = {
        run_process("plan", "amazon", str(BRIEF), *ACCOUNT, "--json", PYTHONHASHSEED=seed).stdout for seed in ("1", "2")
    }
    assert len(plans) == 1


def write_changed_brief(tmp_path: Path, **members: Any) -> str:
    """The example brief with members changed, in a file."""
    path = tmp_path / "brief.json"
    path.write_text(json.dumps({**json.loads(BRIEF.read_text()), **members}))
    return str(path)


def test_plan_refuses_with_one_line_per_issue(tmp_path: Path) -> None:
    ran = run("plan", "amazon", write_changed_brief(tmp_path, goal="traffic", bid="0.001"), *ACCOUNT)
    assert ran.code == 2
    assert ran.out == ""
    lines = ran.err.strip().splitlines()
    assert [line.split(":")[0] for line in lines] == ["goal", "bid"]


def test_plan_says_what_is_taken_instead(tmp_path: Path) -> None:
    ran = run("plan", "amazon", write_changed_brief(tmp_path, platform={"sku": "STOVE-1", "boardId": "1"}), *ACCOUNT)
    assert ran.code == 2
    assert "platform.boardId: it takes platform.sku" in ran.err


def load_lookup_case(name: str) -> tuple[Any, Any]:
    """The brief and the recorded answers of a case of Outbrain."""
    case = json.loads((ROOT / "tests/networks/outbrain/exemplary" / name).read_text())
    return case["input"]["brief"], case["exchange"]


def test_plan_says_how_a_look_up_is_given_and_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    brief, exchange = load_lookup_case("create-crawled-awareness-daily.json")
    (tmp_path / "brief.json").write_text(json.dumps(brief))
    (tmp_path / "answers.json").write_text(json.dumps(exchange))
    command = ("plan", "outbrain", "brief.json", "--currency", "USD", "--timezone", "UTC")
    ran = run(*command)
    first, second = ran.err.splitlines()
    assert ran.code == 2 and exchange[0]["request"]["url"] in first
    assert second.startswith('--lookups: must name a JSON file with the response: [{"request": {"method": "GET", ')
    assert "adsunify validate" in second
    assert run(*command, "--lookups", "answers.json").code == 0
    help_text = re.sub(r"\s+", "", run("plan", "--help").out)
    assert '[{"request":{"method":"GET","url":"https://..."},"response":{"status":200,"body":{}}}]' in help_text
    for wrong in ("{}", "[1]", "[{}]", '[{"request": {"url": "https://x"}}]', "nonsense"):
        (tmp_path / "answers.json").write_text(wrong)
        ran = run(*command, "--lookups", "answers.json")
        assert (ran.code, len(ran.err.splitlines())) == (2, 1) and '[{"request":' in ran.err, wrong


def test_networks_cuts_nothing() -> None:
    table = run("networks", COLUMNS="80").out
    grids = [part for _, under in build_sections() for part in under if isinstance(part, MatrixTable)]
    words = {word for grid in grids for row in grid.rows for cell in row for word in cell.split()}
    assert words and words <= set(table.split())


def test_a_demo_ends_with_a_line() -> None:
    ran = run("demo", "--networks", "amazon")
    assert ran.code == 0 and ran.out.endswith("\n") and "amazon" in ran.out
    assert ran.out.splitlines()[-1].split() == ["amazon", *["ok"] * 8]


@pytest.mark.parametrize("command", ["accounts", "db upgrade", "admin init --workspace w --email a@x.example"])
def test_a_new_store_is_its_owners_alone(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*command.split(), "--database", "sqlite:///a.db").code == 0
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
    (tmp_path / "a.db").chmod(0o640)
    assert run(*command.split()[:2], "--database", "sqlite:///a.db").code in (0, 2)
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o640, "what is there stays as it is"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("plan", "myspace", str(BRIEF), *ACCOUNT), "network"),
        (("plan", "amazon", str(BRIEF), "--currency", "USD", "--timezone", "Mars/Base"), "timezone"),
        (("plan", "amazon", str(BRIEF), *ACCOUNT, "--account-extra", "region"), "--account-extra"),
        (("plan", "amazon", str(BRIEF), *ACCOUNT, "--account-extra", "regoin=EU"), "--account-extra"),
        (("plan", "chatgpt", str(BRIEF), *ACCOUNT, "--account-extra", "region=EU"), "this network has no extras"),
        (("plan", "amazon", str(BRIEF), "--currency", "XXQ", "--timezone", "UTC"), "--currency: must be a current ISO"),
        (("plan", "amazon", str(ROOT / "README.md"), *ACCOUNT), "BRIEF: must be valid JSON"),
        (("plam",), "Did you mean plan? The commands are connect, disconnect, accounts"),
        (("serve", "--port", "0", "--database", "mysql://x"), "database"),
        (("serve", "--port", "0", "--database", "sqlite:///x.db", "--base-url", "ftp://x"), "ADSUNIFY_BASE_URL"),
        (("admin", "init", "--workspace", "w", "--email", "nobody"), "email"),
    ],
)
def test_bad_input_exits_with_2_and_a_sentence(
    arguments: tuple[str, ...], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*arguments)
    assert ran.code == 2, ran.err
    assert named in ran.err
    assert "Traceback" not in ran.err


def test_admin_init_and_user_print_what_is_needed_once(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'a.db'}"
    first = json.loads(
        run("admin", "init", "--workspace", "w", "--email", "A@x.example", "--database", database, "--json").out
    )
    assert set(first) == {"workspaceId", "userId", "email", "password", "apiKey"}
    second = json.loads(
        run("admin", "user", "--workspace", "w", "--email", "b@x.example", "--database", database, "--json").out
    )
    assert second["workspaceId"] == first["workspaceId"]
    assert second["userId"] != first["userId"]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (first["apiKey"], first["password"], second["apiKey"], second["password"]):
        assert secret.encode() not in stored


def start_command(
    tmp_path: Path, *arguments: str, **environment: str
) -> tuple[subprocess.Popen[str], Mapping[str, Any]]:
    """A server that answers, and its one line of JSON."""
    process = subprocess.Popen(
        [sys.executable, "-m", "adsunify", *arguments, "--port", "0", "--json"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def stop_process(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> int:
    """End a process and return its exit code."""
    process.send_signal(number)
    with process:
        return process.wait(timeout=30)


def test_serve_with_sandbox_connects_and_keeps_its_accounts(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'a.db'}"
    process, ready = start_command(tmp_path, "serve", "--sandbox", "--database", database)
    try:
        assert set(ready) == {"baseUrl", "apiKey", "workspaceId", "sandboxUrl", "accounts"}
        assert [row["network"] for row in ready["accounts"]] == list(ADAPTER_PACKAGES)
        bearer = {"Authorization": f"Bearer {ready['apiKey']}"}
        response = httpx.get(f"{ready['baseUrl']}/api/v1/ads/auth/verify", headers=bearer, trust_env=False)
        assert response.json()["data"]["canWrite"] is True
    finally:
        assert stop_process(process) == 0
    process, again = start_command(tmp_path, "serve", "--sandbox", "--database", database)
    try:
        assert again["accounts"] == ready["accounts"]
        assert again["apiKey"] != ready["apiKey"]
        bearer = {"Authorization": f"Bearer {again['apiKey']}"}
        account = again["accounts"][0]["accountId"]
        response = httpx.get(f"{again['baseUrl']}/api/v1/ads/accounts/{account}/tree", headers=bearer, trust_env=False)
        assert response.status_code == 200
    finally:
        assert stop_process(process, signal.SIGINT) == 0


@pytest.mark.exhaustive
def test_serve_with_sandbox_lets_a_person_in_and_its_key_ends_with_it(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'a.db'}"
    keys = []
    for _ in range(2):  # again over the same store: another key, and the same person
        command = [sys.executable, "-m", "adsunify", "serve", "--sandbox", "--port", "0", "--database", database]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            output = "".join(itertools.islice(process.stdout, 5 + len(ADAPTER_PACKAGES)))
            match = re.search(r"Sign in at (\S+)/sign-in to the workspace sandbox: (\S+@\S+), password (\S+)\n", output)
            key = re.search(r"API key, for this run only: (adu_\S+)\n", output)
            assert match is not None and key is not None, output
            asyncio.run(_check_sign_in(*match.groups()))
            keys.append(key[1])
        finally:
            assert stop_process(process, signal.SIGINT) == 0
    process, ready = start_command(tmp_path, "serve", "--database", database)
    try:
        for secret in keys:
            bearer = {"Authorization": f"Bearer {secret}"}
            response = httpx.get(f"{ready['baseUrl']}/api/v1/ads/auth/verify", headers=bearer, trust_env=False)
            assert response.status_code == 401
    finally:
        assert stop_process(process) == 0


async def _check_sign_in(base_url: str, email: str, password: str) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=60, follow_redirects=True) as http:
        person = Browser(http, base_url)
        await person.sign_in(email, password)
        assert "admin of sandbox" in person.text


@pytest.mark.exhaustive
def test_serve_attaches_to_a_running_sandbox(tmp_path: Path) -> None:
    simulated, where = start_command(tmp_path, "sandbox")
    try:
        process, ready = start_command(
            tmp_path, "serve", "--sandbox", "--database", "sqlite:///a.db", ADSUNIFY_SANDBOX_URL=where["sandboxUrl"]
        )
        try:
            assert ready["sandboxUrl"] == where["sandboxUrl"]
            assert len(ready["accounts"]) == len(ADAPTER_PACKAGES)
        finally:
            assert stop_process(process) == 0
    finally:
        assert stop_process(simulated) == 0


def test_serve_without_sandbox_has_no_accounts_and_makes_a_key_ring(tmp_path: Path) -> None:
    process, ready = start_command(tmp_path, "serve", "--database", "sqlite:///a.db")
    try:
        assert ready["apiKey"] is None
        assert ready["sandboxUrl"] is None
        assert ready["accounts"] == []
        assert (tmp_path / "a.db.keys").stat().st_mode & 0o777 == 0o600
        answer = httpx.get(f"{ready['baseUrl']}/openapi.json", trust_env=False)
        assert answer.json()["openapi"] == "3.1.0"
    finally:
        assert stop_process(process) == 0


def test_a_sandbox_that_is_not_loopback_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    simulated = {"ADSUNIFY_SANDBOX_URL": "http://sandbox.example"}
    ran = run("serve", "--port", "0", "--database", "sqlite:///a.db", **simulated)
    assert ran.code == 2
    assert "127.0.0.1" in ran.err


def test_postgresql_needs_a_key_ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("serve", "--port", "0", "--database", "postgresql://nobody@127.0.0.1:1/none")
    assert ran.code == 2
    assert "ADSUNIFY_SECRET_KEYS" in ran.err


def test_agents_on_standard_input(tmp_path: Path) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "account", "arguments": {}}},
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "adsunify", "mcp", "--database", "sqlite:///agents.db"],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=True,
    )
    first, second = (json.loads(line) for line in ran.stdout.splitlines())
    assert first["result"]["protocolVersion"] == "2025-11-25"
    assert second["result"]["structuredContent"] == {"data": []}


def test_agents_on_standard_input_without_a_handshake(tmp_path: Path) -> None:
    """Each message names its revision in its metadata (2026-07-28); one without metadata is of an older revision."""

    def make_message(id_: int, method: str, version: Any, **params: Any) -> dict[str, Any]:
        metadata = {VERSION_KEY: version, CAPABILITIES_KEY: {}}
        return {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": metadata}}

    messages = [
        make_message(1, "server/discover", "2026-07-28"),
        make_message(2, "tools/call", "2026-07-28", name="account", arguments={}),
        make_message(3, "tools/list", "2027-01-01"),
        make_message(4, "tools/list", 5),
        make_message(5, "ping", "2026-07-28"),
        {"jsonrpc": "2.0", "id": 6, "method": "ping"},
        {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": {VERSION_KEY: "2026-07-28"}}},
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "adsunify", "mcp", "--database", "sqlite:///agents.db"],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=True,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, ran.stdout.splitlines())}
    assert answers[1]["result"]["supportedVersions"][0] == "2026-07-28"
    assert answers[2]["result"]["resultType"] == "complete"
    assert {id_: answers[id_]["error"]["code"] for id_ in (3, 4, 5, 7)} == {3: -32022, 4: -32602, 5: -32601, 7: -32602}
    assert answers[6]["result"] == {}
