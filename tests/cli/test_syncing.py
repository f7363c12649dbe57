"""``adsunify insights sync`` keeps daily figures, also after its process was killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adsunify.client import Ads

from .conftest import Place
from .running import ROOT, process
from .test_daily import KEY

DIES = """
import os, signal
from adsunify.cli import main
from adsunify.service.reporting import keeping
from adsunify.store import kept_figures

keeping.ROWS_PER_COMMIT = 1
keep_days, commits = kept_figures.keep_days, int(os.environ["COMMITS"])

def keep_or_die(*arguments):
    global commits
    count = keep_days(*arguments)
    if commits == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    commits -= 1
    return count

kept_figures.keep_days = keep_or_die
main()
"""
"""Syncs each day in its own transaction, and is killed before the commit after so many."""


@pytest.fixture
def shop(place: Callable[[str], Place], request: pytest.FixtureRequest) -> tuple[Place, str]:
    """A store with an account that has figures."""
    own = place("".join(filter(str.isalnum, request.node.name)))
    (account, *_) = own.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    return own, account


def rows_of(own: Place, table: str) -> list[Any]:
    with closing(sqlite3.connect(own.environment["ADSUNIFY_DATABASE_URL"].removeprefix("sqlite:///"))) as database:
        return database.execute(f"SELECT * FROM {table}").fetchall()


def test_sync(shop: tuple[Place, str]) -> None:
    own, account = shop
    first = own.ads("insights", "sync", account, "--days", "9", "--json").data["results"]
    assert [result["level"] for result in first] == ["account", "campaign", "adGroup", "ad"]
    assert {(result["accountId"], result["network"], result["state"], result["error"]) for result in first} == {
        (account, "chatgpt", "synced", None)
    }
    assert all(result["versions"] == result["rows"] > 0 for result in first)
    assert len(rows_of(own, "figures")) == sum(result["rows"] for result in first)
    again = own.ads("insights", "sync", "--level", "account", "--level", "ad", "--days", "9")
    assert again.code == 0 and len(again.out.splitlines()) == 2
    assert f"({account}), ad: " in again.out


def test_failures(shop: tuple[Place, str], networks: Any) -> None:
    own, account = shop
    unknown = own.ads("insights", "sync", "00000000-0000-7000-8000-000000000000")
    assert (unknown.code, unknown.out) == (1, "") and "no connected account" in unknown.err
    networks.fault("chatgpt", "status", value=403, times=1)
    failed = own.ads("insights", "sync", account, "--days", "2", "--level", "account")
    assert failed.code == 1 and "account: " in failed.err and "Traceback" not in failed.err
    assert rows_of(own, "figure_reads") == []


def test_a_worker_syncs(shop: tuple[Place, str]) -> None:
    own, _ = shop
    settings = {**own.environment, "ADSUNIFY_INSIGHTS_SYNC_HOURS": "1", "ADSUNIFY_INSIGHTS_RETENTION_DAYS": "30"}
    with process("worker", **settings) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "Delivering webhooks.\n"
        while len(rows_of(own, "figure_reads")) < 4:
            assert worker.poll() is None
            time.sleep(0.1)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert rows_of(own, "figures")


@pytest.mark.parametrize("commits", [0, 2])
def test_a_sync_is_killed(shop: tuple[Place, str], commits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed is kept, days that were not are not known, and the next sync completes it."""
    own, account = shop
    command = ("insights", "sync", account, "--days", "9", "--level", "ad")
    environment = {**os.environ, **own.environment, "COMMITS": str(commits)}
    killed = subprocess.run([sys.executable, "-c", DIES, *command], cwd=ROOT, env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    reads, half = rows_of(own, "figure_reads"), rows_of(own, "figures")
    assert len(reads) == commits
    assert rows_of(own, "staged_figures")
    end = datetime.now(UTC).date() - timedelta(days=1)
    synced = own.ads(*command, "--json").data["results"][0]
    assert synced["state"] == "synced"
    assert synced["versions"] == synced["rows"] - len(half) > 0
    assert len(rows_of(own, "figures")) == synced["rows"]
    assert own.ads(*command, "--json").data["results"][0]["versions"] == 0
    monkeypatch.setenv("ADSUNIFY_SANDBOX_URL", own.environment["ADSUNIFY_SANDBOX_URL"])
    with Ads(own.environment["ADSUNIFY_DATABASE_URL"]) as client:
        report = client.insights.report(account, end - timedelta(days=6), end, level="ad", as_of=datetime.now(UTC))
        reported = client.insights.report(account, end - timedelta(days=6), end, level="ad")
        assert sorted(report.rows, key=repr) == sorted(reported.rows, key=repr)
