"""``adsunify launch``, on a store and at a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adsunify.answers import ChangeSet
from adsunify.cli.change_sets import Tracker, change_set_parts, totals_table
from adsunify.models.yaml_text import format_yaml

from .conftest import Networks, Place
from .launches import make_document
from .test_daily import answer_questions
from .test_progress import ManualClock, Screen

KEY = "sandbox-chatgpt-key"


@pytest.fixture
def account(both: Place) -> str:
    (account,) = both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    return str(account)


def write_document(document: Mapping[str, Any], folder: Path) -> str:
    """A file of YAML with amounts as a person writes them."""
    path = folder / "launch.yaml"
    path.write_text(format_yaml(document).replace("'640.50'", "640.50"))
    return str(path)


def states_of(launch: Mapping[str, Any]) -> dict[str, str]:
    return {cell["key"]: cell["state"] for cell in launch["cells"]}


def test_a_launch_is_prepared_executed_and_activated(
    both: Place, account: str, networks: Networks, tmp_path: Path
) -> None:
    document = make_document(account, "Autumn")
    document["accounts"][1]["accountId"] = account[:30]
    file = write_document(document, tmp_path)
    writes = networks.writes("chatgpt")
    created = both.ads("launch", "create", file, "--idempotency-key", f"{both.name}-1", "--json").data
    again = both.ads("launch", "create", file, "--idempotency-key", f"{both.name}-1", "--json").data
    assert again["launchId"] == created["launchId"]
    assert (created["status"], states_of(created)) == (
        "prepared",
        {"first": "prepared", "second": "prepared"},
    )
    assert [cell["planned"]["lifetime"] for cell in created["cells"]] == ["320.25", "320.25"]
    launch = created["launchId"]
    assert launch in both.ads("launch", "list").out
    assert both.ads("launch", "list", "--limit", "1", "--json").data[0]["launchId"] == launch
    description = both.ads("launch", "show", "Autumn").out
    assert both.ads("launch", "show", launch[:30]).out == description
    for words in (
        "Autumn: create is prepared",
        "320.25",
        "first",
        created["changeSets"][0]["digest"],
        "launch execute",
    ):
        assert words in description, words

    refused = both.ads("launch", "execute", launch, stdin=b"y\n")
    assert refused.code == 2 and "--confirmed" in refused.err
    code, _, question = answer_questions(both.environment, {"[y/N]: ": "n"}, "launch", "execute", launch)
    assert code == 1 and "320.25" in question and "Create: write these 2 operations" in question
    assert networks.writes("chatgpt") == writes
    done = both.ads("launch", "execute", launch, "--confirmed", "--json").data
    assert states_of(done) == {"first": "succeeded", "second": "succeeded"}
    after_execution = networks.writes("chatgpt")
    assert after_execution > writes
    nothing = both.ads("launch", "execute", launch, "--confirmed")
    assert nothing.code == 2 and "its latest change set (create) is finished" in nothing.err
    assert networks.writes("chatgpt") == after_execution

    activation = both.ads("launch", "activate", launch)
    assert activation.code == 0 and "activate, prepared" in activation.out and "640.50 USD" in activation.out
    cancelled = both.ads("launch", "cancel", launch, "--json").data
    assert (cancelled["action"], cancelled["status"]) == ("activate", "cancelled")
    for action in ("pause", "undo"):
        assert f"{action}, prepared" in both.ads("launch", action, launch).out
        both.ads("launch", "cancel", launch)


def test_invalid_cells_are_left_out_only_if_that_is_said(both: Place, account: str, tmp_path: Path) -> None:
    file = write_document(make_document(account, "Winter", goal="trafic"), tmp_path)
    refused = both.ads("launch", "create", file)
    assert refused.code == 2 and "--skip-invalid" in refused.err
    assert "issue    second: accounts.1.campaign.goal" in refused.out
    skipped = both.ads("launch", "create", file, "--skip-invalid", "--json").data
    assert states_of(skipped) == {"first": "prepared", "second": "skipped"}
    both.ads("launch", "cancel", skipped["launchId"])
    again = both.ads("launch", "prepare", skipped["launchId"], "--skip-invalid", "--json").data
    assert [operation["key"] for operation in again["operations"]] == ["first"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [x", "FILE: line 1"),
        ("nmae: Spring\ncampaign: {}\naccounts: []", "Did you mean name?"),
        ("name: Spring\ncampaign: {}\naccounts: [{accountId: meta}]", "accounts.0.accountId: names no account"),
        ("name: Spring\ncampaign: {}\naccounts: [meta]", "accounts.0: must be an object"),
    ],
)
def test_a_wrong_file_is_refused_by_member(both: Place, text: str, words: str) -> None:
    ran = both.ads("launch", "create", "-", stdin=text.encode())
    assert ran.code == 2 and words in ran.err


OPERATION = "01a2070a-64d5-7699-927c-f579596a23e5"


def make_change_set(states: Mapping[str, str], **members: Any) -> ChangeSet:
    """A change set with an operation for each ``<network> <number>``."""
    operations = [
        {"key": key, "network": key.split()[0], "state": state, "operationId": OPERATION, "accountId": OPERATION}
        for key, state in states.items()
    ]
    facts = {
        "digest": "d",
        "status": "running",
        "action": "create",
        "createdAt": "2026-11-24T05:00:00Z",
    }
    return ChangeSet.model_validate(
        {
            "id": OPERATION,
            "launchId": OPERATION,
            "reviewUrl": "http://localhost/",
            "expiresAt": None,
            "createdBy": {"userId": OPERATION, "credential": "key"},
            "members": len(states),
            "decided": 0,
            "operations": [{**operation, "digest": "d"} for operation in operations],
            "excluded": [],
            "issues": [],
            "totals": [],
            **facts,
            **members,
        }
    )


def test_the_progress_counts_cells_and_then_operations() -> None:
    clock = ManualClock()
    screen = Screen(clock)
    tracker = Tracker(screen.progress)
    clock.now += 2
    tracker.show_change_set(make_change_set({}, status="preparing", members=1200, decided=3))
    assert screen.draw()[0].startswith("⠋ Preparing: 3 of 1,200 cells planned")
    tracker.show_change_set(make_change_set({"meta 1": "running", "meta 2": "prepared", "x 1": "refused"}))
    tracker.show_change_set(make_change_set({"meta 1": "succeeded", "meta 2": "running", "x 1": "refused"}))
    lines = screen.draw()
    assert "Executing: 2 of 3 operations ended (1 of 2 done)" in lines[0]
    assert [line.split(maxsplit=2)[1:] for line in lines[1:]] == [["meta", "waiting; 1 succeeded"], ["x", "refused"]]


def test_the_money_of_several_networks_is_summed_up_by_currency() -> None:
    totals = [
        {
            "network": network,
            "currency": currency,
            "cells": cells,
            "exposure": make_spend("0"),
            "planned": make_spend(daily),
        }
        for network, currency, cells, daily in (
            ("meta", "USD", 2, "1100.50"),
            ("x", "USD", 1, "0.25"),
            ("meta", "EUR", 1, "3"),
        )
    ]
    table = totals_table(totals)
    assert table.totals == 1 and [row[:2] for row in table.cells][3] == ["all", "3"]
    assert table.cells[3][3].startswith("1,100.75 USD a day"), table.cells


def make_spend(daily: str) -> dict[str, str]:
    return {"currency": "USD", "daily": daily, "lifetime": "0"}


def test_operations_that_stopped_are_named() -> None:
    states = {"meta 1": "succeeded", "meta 2": "unknown", "x 1": "refused"}
    lines = list(change_set_parts(make_change_set(states, status="finished").to_dict()))
    assert f"unknown  meta 2: see `adsunify operations {OPERATION}`" in lines
    assert not any("To write it" in str(line) for line in lines)
