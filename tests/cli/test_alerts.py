"""``adsunify alerts`` on a store and at a server, and the worker that evaluates them, also after it was killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from .conftest import Place
from .running import ROOT, process
from .test_daily import KEY

ADD = ("alerts", "add", "Too much", "--kind", "spendAbove", "--amount", "0.01", "--currency", "USD")
DIES = """
import os, signal
from adsunify.cli import main
from adsunify.store import events

def record_and_die(*arguments):
    record_events(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

record_events, events.record_events = events.record_events, record_and_die
main()
"""
"""A worker that is killed after it has recorded the first event, before the commit."""


def test_an_alert_is_made_changed_and_removed(both: Place) -> None:
    alert = both.ads(*ADD, "--level", "campaign", "--network", "meta", "--network", "google", "--json").data
    assert (alert["amount"], alert["level"], alert["scope"]) == ("0.01", "campaign", {"networks": ["meta", "google"]})
    assert both.ads("alerts", "list", "--json").data == [alert]
    table = both.ads("alerts", "list").out
    assert alert["id"] in table and "spends more than 0.01 USD" in table
    change = ("alerts", "change", alert["id"], "--paused", "--days", "7", "--amount", "5")
    changed = both.ads(*change, "--json").data
    assert changed == {**alert, "active": False, "days": 7, "amount": "5.00"}
    lines = both.ads("alerts", "change", alert["id"], "--active").out
    assert "Too much, active" in lines and "5.00 USD within 7 days" in lines and "networks meta, google" in lines
    refused = both.ads("alerts", "change", alert["id"], "--percent", "120")
    assert refused.code == 2 and "is not a member of spendAbove" in refused.err
    assert both.ads("alerts", "change", alert["id"], "--percent", "much").code == 2
    assert both.ads("alerts", "remove", alert["id"]).out == "deleted: Too much\n"
    assert both.ads("alerts", "list", "--json").data == []


@pytest.fixture
def shop(place: Callable[[str], Place], request: pytest.FixtureRequest) -> Place:
    """A store with an account that has figures of today, and an alert that they break."""
    own = place("".join(filter(str.isalnum, request.node.name)))
    (account, *_) = own.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    own.ads(*ADD, "--account", account)
    own.ads("insights", "sync", account, "--days", "3", "--level", "account")
    return own


def rows_of(own: Place, question: str) -> list[Any]:
    with closing(sqlite3.connect(own.environment["ADSUNIFY_DATABASE_URL"].removeprefix("sqlite:///"))) as database:
        return database.execute(question).fetchall()


TOLD = "SELECT data FROM events WHERE type = 'rule.triggered'"


def test_a_worker_that_is_killed_tells_neither_twice_nor_never(shop: Place) -> None:
    environment = {**os.environ, **shop.environment}
    killed = subprocess.run(
        [sys.executable, "-c", DIES, "worker"], cwd=ROOT, env=environment, capture_output=True, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert rows_of(shop, TOLD) == rows_of(shop, "SELECT * FROM alert_breaches") == []
    for _ in range(2):
        with process("worker", **shop.environment) as worker:
            assert worker.stdout is not None and worker.stdout.readline() == "Delivering webhooks.\n"
            while not rows_of(shop, "SELECT * FROM alert_evaluations"):
                assert worker.poll() is None
                time.sleep(0.1)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0
        assert len(rows_of(shop, TOLD)) == 1
    alert = shop.ads("alerts", "list", "--json").data[0]
    assert (alert["notEvaluated"], alert["lastEvaluatedAt"] is None) == ([], False)
