"""The example of an adapter in a package of its own: installed, it works like the networks of adsunify itself."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.system.thirteenth.toy import REPOSITORY, make_environment

PACKAGE = REPOSITORY / "examples" / "adapter_package"
SOURCES = sorted((PACKAGE / "src").rglob("*.py"))
CODE = "northway"
MCP_HEADERS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of a process in which the example is installed, from the data of its ``pyproject.toml``.

    ``nox -s build`` builds and installs its wheel: the tests have no build backend.
    """
    site = tmp_path_factory.mktemp("site")
    pyproject = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    project = pyproject["project"]
    for folder in pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        shutil.copytree(PACKAGE / folder, site / Path(folder).name, ignore=shutil.ignore_patterns("__pycache__"))
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n\n".join(groups))
    environment = make_environment(site)
    path = os.pathsep.join(filter(None, [environment["PYTHONPATH"], os.environ.get("PYTHONPATH")]))
    return {**environment, "PYTHONPATH": path, "ADSUNIFY_ADAPTERS": CODE}


def run_module(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=PACKAGE, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def server(environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server that has connected its accounts on the simulated networks."""
    command = [sys.executable, "-m", "adsunify", "serve", "--sandbox", "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path_factory.mktemp("server"), env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        headers = {"Authorization": f"Bearer {ready['apiKey']}"}
        with httpx.Client(base_url=ready["baseUrl"], headers=headers, timeout=60) as client:
            yield client
        process.send_signal(signal.SIGTERM)


def call_endpoint(client: httpx.Client, method: str, path: str, body: Any = None, **query: str) -> Any:
    """The data of an endpoint's answer."""
    answer = client.request(method, f"/api/v1/ads{path}", json=body, params=query)
    assert answer.is_success, answer.text
    return answer.json()["data"]


def call_tool(client: httpx.Client, name: str, **arguments: Any) -> Any:
    """The data of an agent's tool."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    result = client.post("/api/mcp", json=call, headers=MCP_HEADERS).json()["result"]
    assert not result.get("isError"), result
    return result["structuredContent"]["data"]


def make_brief() -> dict[str, Any]:
    """The sample brief of the package, for a month from tomorrow."""
    sample = json.loads((PACKAGE / "src" / "adsunify_northway" / "sample_brief.json").read_text())
    start = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
    budget = {"amount": "20.50", "currency": "EUR", "period": "daily"}
    return {**sample, "name": "Garden chairs", "budget": budget, "schedule": {"startAt": start.isoformat()}}


def last_week() -> dict[str, str]:
    today = datetime.now(UTC).date()
    return {"startDate": str(today - timedelta(days=7)), "endDate": str(today - timedelta(days=1))}


def list_enums(value: Any) -> Iterator[list[str]]:
    """Every list of choices in a JSON schema."""
    if isinstance(value, Mapping):
        if isinstance(value.get("enum"), list):
            yield value["enum"]
        for member in value.values():
            yield from list_enums(member)
    elif isinstance(value, list):
        for member in value:
            yield from list_enums(member)


@pytest.fixture(scope="module")
def account(server: httpx.Client) -> str:
    """The id of the connected account in euros."""
    accounts = call_endpoint(server, "GET", "/accounts", network=CODE)
    return next(str(account["accountId"]) for account in accounts if account["currency"] == "EUR")


# -- in the lists of networks -------------------------------------------------------------------------------------


def test_the_commands_list_the_network(environment: Mapping[str, str]) -> None:
    printed = run_module(environment, "adsunify", "networks", "--markdown").stdout
    assert f"| {CODE} | Single image | traffic, conversions | daily, lifetime |" in printed


@pytest.mark.exhaustive
def test_the_api_lists_the_network(server: httpx.Client) -> None:
    networks = call_endpoint(server, "GET", "/networks")
    assert [network["network"] for network in networks] == [*ADAPTER_PACKAGES, CODE]
    enums = [enum for enum in list_enums(server.get("/openapi.json").json()) if {*ADAPTER_PACKAGES} <= {*enum}]
    assert enums
    assert all(CODE in enum for enum in enums)


# -- from a brief to figures --------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_campaign_is_created_and_reported_over_rest(server: httpx.Client, account: str) -> None:
    operation = call_endpoint(server, "POST", "/create", {"accountId": account, "campaign": make_brief()})
    execute = f"/operations/{operation['id']}/execute"
    done = call_endpoint(server, "POST", execute, {"confirmed": True})
    assert done["status"] == "succeeded"
    campaign_id = done["receipt"]["steps"][0]["outputs"]["id"]
    campaign = call_endpoint(server, "GET", f"/accounts/{account}/campaigns/{campaign_id}")
    assert (campaign["status"], campaign["native"]["daily_budget_minor"]) == ("paused", 2050)
    insights = call_endpoint(server, "GET", f"/accounts/{account}/insights", **last_week())
    assert insights["coverage"]["complete"]
    assert len(insights["rows"]) == 7
    clicks = [row["clicked"] for row in insights["nativeRows"]]
    assert [row["clicks"] for row in insights["rows"]] == clicks
    assert insights["rows"][0]["clicks"] > 0


@pytest.mark.exhaustive
def test_an_agent_creates_a_campaign_and_reads_the_report(server: httpx.Client, account: str) -> None:
    assert account in [row["accountId"] for row in call_tool(server, "account", network=CODE)]
    body = {"accountId": account, "campaign": make_brief()}
    operation = call_tool(server, "call_tool", operationId="post_create", body=body)
    done = call_tool(server, "execute", operationId=operation["id"], confirmed=True)
    assert done["status"] == "succeeded"
    parameters = {"path": {"accountId": account}, "query": last_week()}
    insights = call_tool(server, "call_tool", operationId="get_account_insights", **parameters)
    assert insights["rows"][0]["clicks"] > 0


# -- for the author of an adapter ---------------------------------------------------------------------------------


def test_its_cases_pass(environment: Mapping[str, str]) -> None:
    done = run_module(environment, "adsunify.testing.contract", "tests/cases", "--strict")
    count = len([*(PACKAGE / "tests" / "cases").rglob("*.json")])
    assert (done.returncode, done.stdout) == (0, f"{count} passed, 0 failed\n"), done.stderr


def test_a_case_that_the_adapter_contradicts_fails(environment: Mapping[str, str], tmp_path: Path) -> None:
    case = json.loads((PACKAGE / "tests/cases" / CODE / "exemplary" / "insights.json").read_text())
    for row in case["exchange"][0]["response"]["body"]["rows"]:
        row["clicks"] = row.pop("clicked")
    folder = tmp_path / CODE
    folder.mkdir()
    (folder / "insights.json").write_text(json.dumps(case))
    done = run_module(environment, "adsunify.testing.contract", str(tmp_path))
    assert done.returncode == 1
    assert f"FAILED {CODE}/insights.json (insights): /rows/0/clicks: expected 31, found null" in done.stdout


def test_the_runner_refuses_an_adapter_that_is_not_installed(environment: Mapping[str, str]) -> None:
    named = {**environment, "ADSUNIFY_ADAPTERS": "northwest"}
    done = run_module(named, "adsunify.testing.contract", "tests/cases")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: ADSUNIFY_ADAPTERS: No installed package has an entry point northwest" in done.stderr


def test_the_runner_names_the_variable_that_loads_an_adapter(environment: Mapping[str, str]) -> None:
    done = run_module({**environment, "ADSUNIFY_ADAPTERS": ""}, "adsunify.testing.contract", "tests/cases")
    assert done.returncode == 1
    assert "ADSUNIFY_ADAPTERS adds the networks of other packages." in done.stdout


def list_imports(path: Path) -> Iterator[str]:
    """The modules of adsunify, and the names in them, that a file imports: ``adsunify.errors.Issue``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (
                f"{node.module}.{alias.name}" for alias in node.names if f"{node.module}.".startswith("adsunify")
            )


def test_it_imports_only_the_adapter_api() -> None:
    """``docs/adapters.md`` lists the modules that may be imported."""
    table = (REPOSITORY / "docs" / "adapters.md").read_text().partition("| modules |")[2]
    api = [f"{name.removesuffix('.*')}." for name in re.findall(r"`(adsunify\.[\w.*]+)`", table)]
    imports = {name for path in SOURCES for name in list_imports(path)}
    assert imports
    assert [name for name in sorted(imports) if not name.startswith((*api, "adsunify_northway."))] == []


def test_the_simulated_network_shares_no_code_with_the_adapter() -> None:
    simulated = [path for path in SOURCES if path.parent.name == "simulated"]
    assert not [path for path in SOURCES if path not in simulated and "simulated" in path.read_text()]
    imports = {name for path in simulated for name in list_imports(path)}
    assert imports
    assert all(name.startswith(("adsunify.sandbox.", "adsunify_northway.simulated.")) for name in imports)
