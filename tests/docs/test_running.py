"""``docs/running.md`` against the code: metrics, their labels, limits and options as they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import click
import pytest
from attrs import asdict
from prometheus_client import generate_latest

from adsunify.cli.serve import serve, worker
from adsunify.cli.server_options import LIMIT_OPTIONS
from adsunify.service import counters, sessions
from adsunify.service.core import Service
from adsunify.service.factory import TIMEOUT_VARIABLES, open_service
from adsunify.service.rate_limits import MAX_BUCKETS, RateLimits
from adsunify.store import DEFAULT_TIMEOUTS
from adsunify.store.gauges import Gauges
from adsunify.store.retention import RULES
from adsunify_server.metrics import RequestMetrics, ServiceCollector
from tests.server.served import RING

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "running.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def words(cell: str) -> list[str]:
    return re.findall("`([^`]+)`", cell)


@pytest.fixture
async def service(tmp_path: Path) -> Service:
    """A service that has counted each thing once."""
    counted = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", RING)).service
    for answered in get_args(counters.ResponseOutcome):
        counted.counters.network_requests["meta", answered] += 1
    for ended in get_args(counters.ExecutionOutcome):
        counted.counters.executions["meta", ended] += 1
    for attempted in get_args(counters.DeliveryOutcome):
        counted.counters.delivery_attempts[attempted] += 1
    for limited in get_args(counters.LimitName):
        counted.counters.limit_refusals[limited] += 1
    await counted.close()
    return counted


async def test_every_metric_with_its_labels_and_their_words(service: Service) -> None:
    requests = RequestMetrics()
    requests.count_request("get_keys", 200, 0.1)
    text = generate_latest(ServiceCollector(service, requests, Gauges(1, 1, 1, 1))).decode()
    labels: dict[str, dict[str, set[str]]] = {name: {} for name in re.findall(r"^# TYPE (\w+)", text, re.M)}
    for name, pairs in re.findall(r"^(\w+)\{(.*)\} ", text, re.M):
        family = re.sub("_(bucket|sum|count)$", "", name)
        for label, value in re.findall(r'(\w+)="([^"]*)"', pairs):
            labels[family].setdefault(label, set()).add(value)
    documented: dict[str, set[str]] = {}
    for names, label_names, meaning in rows("Metrics"):
        for name in words(names):
            documented[name] = set(words(label_names))
            for label in documented[name] & {"outcome", "limit"}:
                assert set(words(meaning)) == labels[name][label], name
    assert documented == {name: set(label_values) - {"le"} for name, label_values in labels.items()}


def test_every_limit_with_its_default() -> None:
    limits = {words(cells[2])[1]: (int(cells[1]), words(cells[2])[0]) for cells in rows("Limits") if cells[2]}
    table = {
        variable: (usual, f"--{name}")
        for name, (variable, usual, _) in LIMIT_OPTIONS.items()
        if name not in ("processes", "proxies")
    }
    assert limits == table
    assert sorted(asdict(RateLimits()).values()) == sorted(usual for usual, _ in limits.values())
    (passwords,) = [cells[1] for cells in rows("Limits") if not cells[2]]
    assert passwords == f"{sessions.MAX_TRIES_BY_EMAIL}, {sessions.MAX_TRIES_BY_ADDRESS}"
    assert f"{MAX_BUCKETS:,}" in TEXT


@pytest.mark.parametrize("command", [serve, worker])
def test_every_option_is_there(command: click.Command) -> None:
    there = {name for parameter in command.params for name in parameter.opts}
    named = set(re.findall(r"`(--[a-z-]+)", TEXT)) - {"--dry-run"}  # of maintain
    assert {"--metrics", "--log-level", "--log-format"} <= there & named
    if command is serve:
        assert named <= there


def test_each_kind_of_retention_with_its_days() -> None:
    assert [(words(cells[0])[0], int(cells[1])) for cells in rows("Retention")] == [
        (rule.kind, rule.days) for rule in RULES
    ]


def test_each_timeout_of_the_database_with_its_default() -> None:
    documented = {words(cells[0])[0]: int(cells[1]) for cells in rows("The database's timeouts")}
    assert documented == {variable: getattr(DEFAULT_TIMEOUTS, name) for name, variable in TIMEOUT_VARIABLES.items()}
