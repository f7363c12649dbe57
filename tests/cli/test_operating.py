"""Metrics, log lines and limits of a server and a worker as they are started: real processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from .running import run

SECRET = "adu_AAAAAAAA_" + "x" * 43


@contextmanager
def start_command(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[str, Path]]:
    """A command of ours until the end of the block: what it said first, and the file of its standard error."""
    errors = folder / "errors.txt"
    with (
        errors.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-m", "adsunify", *arguments],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield process.stdout.readline(), errors
        finally:
            process.terminate()
    assert process.returncode == 0


def read_metrics_address(errors: Path) -> str:
    match = re.search(r"^Metrics at (http://127\.0\.0\.1:\d+/metrics)$", errors.read_text(), re.MULTILINE)
    assert match is not None, errors.read_text()
    return match[1]


def test_a_server_is_watched(tmp_path: Path) -> None:
    arguments = ("serve", "--port", "0", "--json", "--database", "sqlite:///a.db", "--metrics", "0")
    with start_command(tmp_path, *arguments, "--log-format", "json", "--bad-tokens-per-minute", "1") as (line, errors):
        url = json.loads(line)["baseUrl"]
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert client.get("/readyz").json() == {"status": "ready"}
            headers = {"Authorization": f"Bearer {SECRET}"}
            statuses = [client.get(f"/api/v1/ads/keys?q={SECRET}", headers=headers).status_code for _ in range(2)]
            assert statuses == [401, 429]
        counted = httpx.get(read_metrics_address(errors), trust_env=False).text
        assert 'adsunify_requests_total{endpoint="get_keys",status="429"} 1' in counted
        assert 'adsunify_limited_total{limit="failures"} 1' in counted
        lines = [json.loads(line) for line in errors.read_text().splitlines() if line.startswith("{")]
        assert [(line["endpoint"], line["status"]) for line in lines] == [("get_keys", 401), ("get_keys", 429)]
        assert SECRET not in errors.read_text()


def test_a_worker_is_watched(tmp_path: Path) -> None:
    with start_command(tmp_path, "worker", "--database", "sqlite:///a.db", ADSUNIFY_METRICS="0") as (line, errors):
        assert line == "Delivering webhooks.\n"
        counted = httpx.get(read_metrics_address(errors), trust_env=False).text
        assert "adsunify_webhook_backlog 0" in counted and "adsunify_requests_total" not in counted
        time.sleep(0.1)  # it has begun by now, and ends well


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (("--metrics", "nowhere"), {}, "--metrics: must be a port such as 9464, or an address"),
        (("--metrics", "127.0.0.1:70000"), {}, "--metrics: must be a port"),
        (("--log-level", "loud"), {}, "'loud' is not one of"),
        (("--reads-per-minute", "-1"), {}, "--reads-per-minute"),
        ((), {"ADSUNIFY_WRITES_PER_MINUTE": "many"}, "ADSUNIFY_WRITES_PER_MINUTE"),
        ((), {"ADSUNIFY_PROXIES": "11"}, "ADSUNIFY_PROXIES"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(
    tmp_path: Path, arguments: Sequence[str], environment: dict[str, str], message: str
) -> None:
    ran = run("serve", "--port", "0", "--database", f"sqlite:///{tmp_path / 'a.db'}", *arguments, **environment)
    assert ran.code == 2
    assert message in ran.err and "Traceback" not in ran.err
