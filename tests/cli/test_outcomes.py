"""A write whose answer was lost, on the command line: it is inspected, settled, resumed and undone."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from .conftest import Networks, Place
from .running import BRIEF
from .test_daily import KEY


@pytest.fixture(scope="module")
def account(both: Place) -> str:
    """An account of ChatGPT in each of the places."""
    (id_,) = both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    return str(id_)


def lose(both: Place, account: str, networks: Networks, fault: str) -> str:
    """An operation whose campaign got no answer. Its name is its own: a campaign of the same name could be its."""
    brief = json.loads(Path(BRIEF).read_text()) | {"name": f"Boots {uuid4()}"}
    operation = both.ads("create", account, "-", "--json", stdin=json.dumps(brief).encode()).data["id"]
    networks.fault("chatgpt", fault, path="/v1/campaigns", method="POST")
    assert both.ads("execute", operation, "--confirmed").code == 1
    return str(operation)


def test_what_was_written_is_found_carried_and_undone(both: Place, account: str, networks: Networks) -> None:
    operation = lose(both, account, networks, "reset_after")
    before = networks.writes("chatgpt")
    inspection = both.ads("inspect", operation)
    assert inspection.code == 0 and "resume the operation" in inspection.out
    (step,) = (step for step in both.ads("inspect", operation, "--json").data["steps"] if step["key"] == "campaign")
    assert step["verdict"] == "applied" and step["reason"].endswith("cannot be distinguished from this one.")
    rest = both.ads("resume", operation, "--json").data
    assert rest["plan"]["carried"]["campaign"]["outputs"] == {"id": step["entityId"]}
    assert networks.writes("chatgpt") == before, "neither inspecting nor resuming writes"
    assert both.ads("execute", rest["id"], "--confirmed", "--json").data["status"] == "succeeded"
    undo = both.ads("undo", rest["id"], "--json").data
    assert undo["undoes"] == rest["id"]
    assert both.ads("execute", undo["id"], "--confirmed", "--json").data["status"] == "succeeded"


def test_only_a_person_at_a_local_store_settles(both: Place, account: str, networks: Networks) -> None:
    operation = lose(both, account, networks, "reset_before")
    assert both.ads("resume", operation).code == 1
    settled = both.ads("settle", operation, "campaign", "not_applied")
    if both.name == "server":
        assert settled.code == 1 and "signed-in person" in settled.err
        return
    assert settled.code == 0 and f"adsunify resume {operation}" in settled.out
    rest = both.ads("resume", operation, "--json").data
    assert both.ads("execute", rest["id"], "--confirmed", "--json").data["status"] == "succeeded"
