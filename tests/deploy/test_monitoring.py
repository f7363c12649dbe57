"""Alerts and dashboard against the metrics that a running server and a running worker answer."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, get_args

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from adsunify.contract import ENDPOINTS
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import counters
from adsunify_mcp.http import MCP_PATH
from adsunify_server.middleware import QUIET_ENDPOINTS
from tests.cli.running import first_line, process
from tests.server.served import brief

from .files import MONITORING, list_deploy_files, load_alerts, load_compose, load_dashboard, load_yaml

SCRAPED = {"job", "instance"}
"""The labels that Prometheus adds to each series."""
WORDS: dict[str, dict[str, Iterable[str]]] = {
    "adsunify_network_requests_total": {"outcome": get_args(counters.ResponseOutcome), "network": ADAPTER_PACKAGES},
    "adsunify_executions_total": {"outcome": get_args(counters.ExecutionOutcome), "network": ADAPTER_PACKAGES},
    "adsunify_webhook_attempts_total": {"outcome": get_args(counters.DeliveryOutcome)},
    "adsunify_limited_total": {"limit": get_args(counters.LimitName)},
    "adsunify_job_failures_total": {"name": get_args(counters.JobName)},
}
"""The values of the labels that have a fixed vocabulary."""
SERIES = re.compile(r"\b(up|adsunify_\w+)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
GROUPING = re.compile(r"\bby \(([^)]*)\)")

ALERTS = {rule["alert"]: rule for rule in load_alerts()}
DASHBOARD = load_dashboard()
PANELS: dict[str, Any] = {panel["title"]: panel for panel in DASHBOARD["panels"]}
EXPRESSIONS = {
    **{name: rule["expr"] for name, rule in ALERTS.items()},
    **{f"{title} {target['refId']}": target["expr"] for title, panel in PANELS.items() for target in panel["targets"]},
}

Metrics = dict[str, set[str]]


def read_metrics(url: str) -> Metrics:
    """The name of each series at an address, and of each metric without series, with the labels."""
    metrics: Metrics = {}
    for family in text_string_to_metric_families(httpx.get(url, trust_env=False).text):
        metrics.setdefault(f"{family.name}_total" if family.type == "counter" else family.name, set())
        for sample in family.samples:
            metrics.setdefault(sample.name, set()).update(sample.labels)
    return metrics


def read_metrics_address(started: Any) -> str:
    """The address that a process says on stderr."""
    for line in started.stderr:
        if "Metrics at " in line:
            return str(line.split("Metrics at ")[1].strip())
    raise AssertionError("the process has ended")


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Metrics, Metrics]]:
    """What a server and a worker answer, after one thing of each kind has happened."""
    database = f"sqlite:///{tmp_path_factory.mktemp('metrics')}/a.db"
    hook = "http://127.0.0.1:9/hooks"
    options = ("--metrics", "0", "--log-level", "error", "--webhook-dev-target", hook)
    server_options = ("--port", "0", "--sandbox", "--json", "--bad-tokens-per-minute", "1")
    with (
        process("serve", *server_options, *options, ADSUNIFY_DATABASE_URL=database) as server,
        process("worker", *options, ADSUNIFY_DATABASE_URL=database) as worker,
    ):
        server_metrics, ready = read_metrics_address(server), first_line(server)
        open_api = partial(httpx.Client, base_url=f"{ready['baseUrl']}/api/v1/ads", trust_env=False, timeout=60.0)
        with open_api() as stranger:
            for _ in range(3):
                stranger.get("/keys", headers={"Authorization": "Bearer adu_AAAAAAAA_wrong"})
        with open_api(headers={"Authorization": f"Bearer {ready['apiKey']}"}) as client:
            webhook = client.post("/webhooks", json={"url": hook}).json()["data"]
            assert client.post(f"/webhooks/{webhook['webhookId']}/test", json={}).status_code == 202
            account = next(row["accountId"] for row in ready["accounts"] if row["network"] == "meta")
            body = {"accountId": account, "campaign": brief("meta")}
            operation = client.post("/create", json=body).json()["data"]
            assert client.post(f"/operations/{operation['id']}/execute", json={"confirmed": True}).status_code == 200
        end = time.monotonic() + 60
        while not read_metrics(server_metrics).get("adsunify_webhook_attempts_total"):
            assert time.monotonic() < end, "no webhook was sent"
            time.sleep(0.1)
        yield read_metrics(server_metrics), read_metrics(read_metrics_address(worker))


def list_series(expression: str) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """The series of an expression, each with its matchers: label, operator, value."""
    return [(name, MATCHER.findall(matchers)) for name, matchers in SERIES.findall(expression)]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_series_is_a_metric_with_these_labels(name: str, metrics: tuple[Metrics, Metrics]) -> None:
    server, worker = metrics
    known: Metrics = {name: server.get(name, set()) | worker.get(name, set()) for name in {*server, *worker}} | {
        "up": set()
    }
    series = list_series(EXPRESSIONS[name])
    assert series
    for metric, matchers in series:
        assert metric in known
        assert {label for label, _, _ in matchers} <= known[metric] | SCRAPED, metric
    labels = SCRAPED.union(*(known[metric] for metric, _ in series))
    for group in GROUPING.findall(EXPRESSIONS[name]):
        assert set(group.split(", ")) <= labels


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_value_of_a_label_is_a_word_of_the_code(name: str) -> None:
    for metric, matchers in list_series(EXPRESSIONS[name]):
        for label, _, value in matchers:
            if label in WORDS.get(metric, {}) and value != "$network":
                assert set(value.split("|")) <= set(WORDS[metric][label])


def test_every_metric_of_servers_and_workers_is_on_the_dashboard(metrics: tuple[Metrics, Metrics]) -> None:
    server, worker = metrics
    shown_metrics = {
        metric for panel in PANELS.values() for target in panel["targets"] for metric, _ in list_series(target["expr"])
    }
    histogram = {"adsunify_request_seconds", "adsunify_request_seconds_bucket"}
    assert set(server) | set(worker) == shown_metrics - {"up"} | histogram
    assert set(worker) < set(server)


@pytest.mark.parametrize("name", ALERTS)
def test_the_words_of_an_alert_name_labels_that_it_has(name: str) -> None:
    rule = ALERTS[name]
    assert rule["labels"]["severity"] in ("page", "ticket")
    words = f"{rule['annotations']['summary']} {rule['annotations']['description']}"
    groups = {label for group in GROUPING.findall(rule["expr"]) for label in group.split(", ")}
    aggregated = bool(re.search(r"\b(sum|max|min|absent)\b", rule["expr"]))
    assert set(re.findall(r"\$labels\.(\w+)", words)) <= (groups if aggregated else SCRAPED)


def test_the_slow_endpoints_leave_out_those_that_execute() -> None:
    (pattern,) = re.findall(r'endpoint!~"([^"]+)"', ALERTS["AdsunifySlow"]["expr"])
    executing = [endpoint.operation_id for endpoint in ENDPOINTS if endpoint.path.endswith("/execute")]
    assert executing and all(
        re.fullmatch(pattern, name) for name in (*executing, f"POST {MCP_PATH}", "POST /review/{operationId}/execute")
    )
    assert not re.fullmatch(pattern, "post_create")


def test_the_errors_leave_out_exactly_the_requests_of_probes() -> None:
    patterns = re.findall(r'endpoint!~"([^"]+)"', ALERTS["AdsunifyErrors"]["expr"])
    assert len(patterns) == 2 == len(list_series(ALERTS["AdsunifyErrors"]["expr"]))
    for pattern in patterns:
        assert all(re.fullmatch(pattern, name) for name in QUIET_ENDPOINTS)
        assert not any(re.fullmatch(pattern, name) for name in ("get_keys", "GET /", "none", f"POST {MCP_PATH}"))


def test_what_the_manual_says_to_alert_on_has_an_alert() -> None:
    series = {metric for rule in ALERTS.values() for metric, _ in list_series(rule["expr"])}
    text = (MONITORING.parents[1] / "docs" / "running.md").read_text()
    (sentence,) = re.findall(r"Alert on (.*?\.)\n", text, re.DOTALL)
    assert set(re.findall(r"adsunify_\w+", sentence)) < series


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in PANELS.values():
        place = panel["gridPos"]
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not own & cells and max(own)[0] < 24
        cells |= own
    assert len({panel["id"] for panel in PANELS.values()}) == len(DASHBOARD["panels"])


def test_prometheus_reads_every_process_under_the_name_that_the_alerts_use() -> None:
    (scraped,) = load_yaml(MONITORING / "prometheus.yaml")["scrape_configs"]
    (targets,) = scraped["static_configs"]
    services = load_compose()["services"]
    ports = {
        f"{name}:{service['environment']['ADSUNIFY_METRICS'].split(':')[1]}"
        for name, service in services.items()
        if name != "migration" and "ADSUNIFY_METRICS" in service.get("environment", {})
    }
    assert set(targets["targets"]) == ports
    (of_kubernetes,) = load_yaml(MONITORING / "prometheus-kubernetes.yaml")["scrape_configs"]
    jobs = {
        value
        for expression in EXPRESSIONS.values()
        for _, matchers in list_series(expression)
        for label, _, value in matchers
        if label == "job"
    }
    assert {scraped["job_name"], of_kubernetes["job_name"]} == jobs


def test_every_file_of_rules_exists() -> None:
    for path in list_deploy_files():
        if path.parent == MONITORING and path.suffix == ".yaml":
            for name in load_yaml(path).get("rule_files", []):
                assert (MONITORING / name).is_file()
