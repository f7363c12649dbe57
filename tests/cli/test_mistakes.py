"""Mistakes of people: each is refused with exit code 2 and what was probably meant, and nothing is prepared."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adsunify import read_brief
from adsunify.cli.names import find_operation
from adsunify.errors import InvalidInput
from adsunify.store import clock
from adsunify.testing import sandbox

from .conftest import Place
from .running import BRIEF


@pytest.fixture(scope="module")
def remote(api_server: Mapping[str, Any]) -> Place:
    """A server with an account on every network."""
    return Place("server", {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]})


@pytest.fixture(scope="module")
def words(remote: Place, api_server: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What the mistakes and the messages name."""
    accounts = {row["network"]: row for row in api_server["accounts"]}
    operation = remote.ads("create", accounts["chatgpt"]["accountId"], BRIEF, "--json").data["id"]
    brief = tmp_path_factory.mktemp("briefs") / "brief.json"
    brief.write_text(json.dumps({**json.loads(Path(BRIEF).read_text()), "targetting": {}}))
    names = {"brief": str(brief), "operation": operation, "beginning": operation[:20]}
    for network in ("chatgpt", "meta"):
        names |= {network: accounts[network]["accountId"], f"{network}_name": accounts[network]["name"]}
    return names


MISTAKES = {
    "network": (("accounts", "metta"), "Did you mean meta?"),
    "network of a plan": (
        ("plan", "googel", BRIEF, "--currency", "USD", "--timezone", "UTC"),
        "Did you mean google?",
    ),
    "member of a brief": (("create", "{chatgpt}", "{brief}"), "Did you mean targeting?"),
    "command": (("opertions",), "Did you mean operations?"),
    "subcommand": (("keys", "crate", "reporting"), "Did you mean create?"),
    "option": (("operations", "--sttaus", "prepared"), "Did you mean '--status'?"),
    "value of an option": (("operations", "--status", "prepred"), "Did you mean prepared?"),
    "field of an edit": (("edit", "{chatgpt}", "cmpn_spring_1", "budgt=25"), "Did you mean budget?"),
    "an assignment without =": (("edit", "{chatgpt}", "cmpn_spring_1", "budget", "25"), "such as budget=25.00"),
    "a percentage without %": (("bulk-edit", "{chatgpt}", "cmpn_spring_1", "budget+=10"), "such as budget+=10%"),
    "a name for the id of an account": (("campaigns", "{chatgpt_name}"), "chatgpt:{chatgpt_name} ({chatgpt})"),
    "a misspelt name": (("campaigns", "meta:{meta_name}s"), "Did you mean meta:{meta_name} ({meta})?"),
    "a name for the id of an entity": (
        ("pause", "{chatgpt}", "Spring"),
        "ENTITY: is a name; give the id: campaign Spring (cmpn_spring_1)",
    ),
    "a misspelt id of an entity": (
        ("pause", "{chatgpt}", "cmpn_sprng_1"),
        "Did you mean campaign Spring (cmpn_spring_1)?",
    ),
    "entities of two levels": (
        ("pause", "{chatgpt}", "cmpn_spring_1", "ad_spring_1"),
        "names entities of several levels (campaign, ad)",
    ),
    "an operation for an account": (("campaigns", "{operation}"), "Did you mean its account {chatgpt}?"),
    "the beginning of an operation for an account": (
        ("campaigns", "{beginning}"),
        "names no account. It is an operation, not an account. Did you mean its account {chatgpt}?",
    ),
    "an account for an operation": (("execute", "{chatgpt}"), "`adsunify operations --account {chatgpt}` lists its"),
    "a name that no account of the network has": (
        ("campaigns", "meta:Zzz"),
        "names no account. The accounts are meta:{meta_name} ({meta})",
    ),
    "a network for an account": (("campaigns", "meta"), "It is a network. Its accounts: meta:{meta_name} ({meta})"),
    "an ambiguous beginning": (("campaigns", "0"), "names several accounts: "),
    "a native status": (("campaigns", "{meta}", "--status", "PAUSE"), "Did you mean paused?"),
    "a catalog": (("catalog", "{meta}", "pagess"), "Did you mean pages?"),
    "a connection": (("disconnect", "chatgtp"), "Did you mean chatgpt ("),
    "two formats": (("accounts", "--csv", "--json"), "--csv: cannot be used with --json"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_answered_with_what_was_probably_meant(remote: Place, words: Mapping[str, str], name: str) -> None:
    arguments, message = MISTAKES[name]
    ran = remote.ads(*(argument.format(**words) for argument in arguments))
    assert (ran.code, ran.out) == (2, ""), ran
    assert message.format(**words) in ran.err
    assert "Traceback" not in ran.err


def test_candidates_are_listed_where_nothing_is_similar(remote: Place, words: Mapping[str, str]) -> None:
    ran = remote.ads("operations", "nonsense")
    assert ran.code == 2 and f"prepared ({words['operation']})" in ran.err
    ran = remote.ads("campaigns", "nonsense")
    assert ran.code == 2 and ran.err.count(" (") == 8 and ran.err.endswith(" more.\n"), ran.err


def test_the_beginning_of_an_id_that_has_another_time_than_its_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of a process go on where they were after its clock was set back."""
    with sandbox("chatgpt") as networks, networks.client() as ads:
        monkeypatch.setattr(clock, "_last_id", time.time_ns() // 1_000_000 + 3_600_000 << clock._COUNTER_BITS)
        account = networks.account("chatgpt")
        operation = ads.campaigns.create(account, read_brief(Path(BRIEF).read_text()))
        with pytest.raises(InvalidInput, match=f"Give the whole id: {operation.id}") as refusal:
            find_operation(ads, operation.id[:14])
        assert refusal.value.issues[0].code == "ambiguous"
        assert find_operation(ads, operation.id) == operation
