"""What an account contains, and changes of it: prepared by one command, and written only by ``execute``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from adsunify.answers import Batch
from adsunify.client.resources.operations import OperationsResource
from adsunify.errors import ServerConnectionError
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.problem_details import to_problem_details
from tests.networks.samples import list_example_briefs

from .conftest import Networks, Place
from .test_daily import KEY

CAMPAIGN = "cmpn_evergreen_1"


@pytest.fixture(scope="module")
def account(both: Place) -> str:
    """The native id of an account of ChatGPT in each of the places."""
    both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY)
    (row,) = both.ads("accounts", "chatgpt", "--json").data
    return str(row["nativeId"])


def find(both: Place, account: str, command: str = "campaigns", id_: str = CAMPAIGN) -> Mapping[str, Any]:
    (row,) = (row for row in both.ads(command, account, "--json").data if row["id"] == id_)
    return row


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_campaign_is_paused_and_activated(both: Place, account: str, networks: Networks) -> None:
    before = networks.writes("chatgpt")
    for command, status in (("pause", "paused"), ("unpause", "active")):
        (operation,) = both.ads(command, account, CAMPAIGN, "--json").data["operations"]
        assert (operation["action"], operation["status"]) == ("status", "prepared")
        assert both.ads("execute", operation["id"]).code == 2, "not without --confirmed"
        assert both.ads("execute", operation["id"][:23], "--confirmed", "--json").data["status"] == "succeeded"
        assert find(both, account)["status"] == status
    assert networks.writes("chatgpt") == before + 2


def test_the_plan_is_shown_with_the_command_that_executes_it(both: Place, account: str) -> None:
    output = both.ads("pause", f"chatgpt:{account}", CAMPAIGN, "cmpn_spring_1", "--kind", "campaign").out
    ids = re.findall(r"^(\S{36})  status on chatgpt, prepared$", output, re.MULTILINE)
    assert len(ids) == 2 and output.endswith(f"To execute: adsunify execute {' '.join(ids)}\n")
    assert "status: active -> paused" in output and "POST https://api.ads.openai.com" in output


def test_edits_of_one_and_of_several(both: Place, account: str) -> None:
    budgets = {row["id"]: row["budget USD"] for row in read_csv(both.ads("campaigns", account, "--csv").out)}
    edit = both.ads("edit", account, CAMPAIGN, "budget=500.00", "--json").data
    (change,) = edit["plan"]["steps"][0]["changes"]
    assert (change["field"], float(change["after"])) == ("budget", 500)
    several = both.ads("bulk-edit", account, "cmpn_spring_1", CAMPAIGN, "budget-=50%", "--json").data["operations"]
    changes = [operation["plan"]["steps"][0]["changes"][0] for operation in several]
    assert [float(change["after"]) * 2 for change in changes] == [
        float(budgets[id_]) for id_ in ("cmpn_spring_1", CAMPAIGN)
    ]
    done = both.ads("execute", edit["id"], several[0]["id"], "--confirmed", "--json").data["results"]
    assert [result["status"] for result in done] == ["succeeded", "succeeded"]
    after = {row["id"]: row["budget USD"] for row in read_csv(both.ads("campaigns", account, "--csv").out)}
    assert after[CAMPAIGN] == "500.00" and float(after["cmpn_spring_1"]) * 2 == float(budgets["cmpn_spring_1"])
    put_back = [f"budget={budgets[id_]}" for id_ in (CAMPAIGN, "cmpn_spring_1")]
    ids = [
        both.ads("edit", account, id_, setting, "--json").data["id"]
        for id_, setting in zip((CAMPAIGN, "cmpn_spring_1"), put_back, strict=True)
    ]
    stale = several[1]["id"]
    ran = both.ads("execute", *ids, stale, "--confirmed")
    assert ran.code == 1 and ran.out.count("succeeded") == 2, ran.out
    assert ran.lines[0].startswith(f"{stale}: ") and "UNKNOWN" not in ran.err


def test_one_failure_of_several_does_not_hide_what_is_unknown(both: Place, account: str, networks: Networks) -> None:
    prepared = both.ads("pause", account, CAMPAIGN, "cmpn_spring_1", "--json").data["operations"]
    networks.fault("chatgpt", "reset_after", path=f"/v1/campaigns/{CAMPAIGN}/pause")
    ran = both.ads("execute", *(operation["id"] for operation in prepared), "--confirmed")
    assert ran.code == 1 and ran.lines[-1].startswith("UNKNOWN"), ran
    both.ads("execute", both.ads("unpause", account, CAMPAIGN, "--json").data["operations"][0]["id"], "--confirmed")


def test_a_lost_answer_of_the_server_is_unknown(api_server: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Place("server", {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]})
    prepared = remote.ads("pause", "adacct_1", CAMPAIGN, "cmpn_spring_1", "--json").data["operations"]
    ids = [operation["id"] for operation in prepared]
    lost = to_problem_details(ServerConnectionError("The connection was lost.", outcome="unknown"))
    batch = Batch.model_validate({"results": [{"operationId": id_, "error": lost} for id_ in ids]})
    monkeypatch.setattr(OperationsResource, "run_many", lambda *_, **__: batch)
    ran = remote.ads("execute", *ids, ids[0], "--confirmed")
    assert ran.code == 1 and ran.out.count(" unknown ") == 2, ran.out
    assert ran.lines[0] == f"{ids[0]}: The connection was lost." and ran.lines[-1].startswith("UNKNOWN")


def test_a_deletion_is_destructive_and_only_prepared(both: Place, account: str, networks: Networks) -> None:
    before = networks.writes("chatgpt")
    output = both.ads("delete", account, "ad_spring_1").out
    assert "risk     destructive: IT CANNOT BE UNDONE" in output and networks.writes("chatgpt") == before


def test_lists_are_filtered(both: Place, account: str) -> None:
    rows = read_csv(both.ads("campaigns", account, "--csv", "--limit", "100").out)
    assert list(rows[0]) == [
        *("id", "name", "status", "native status", "budget USD", "period", "spend USD", "parent"),
    ]
    for status in ("active", "PAUSED"):
        chosen = both.ads("campaigns", account, "--status", status, "--csv", "--limit", "100").out
        assert read_csv(chosen) == [row for row in rows if row["status"] == status.lower()]
    assert [row["id"] for row in both.ads("campaigns", account, "--search", "evergr", "--json").data] == [CAMPAIGN]
    below = both.ads("ad-groups", account, "--parent", CAMPAIGN, "--json").data
    assert [row["id"] for row in below] == ["adgrp_evergreen_1"]
    assert len(both.ads("campaigns", account, "--limit", "1", "--json").data) == 1
    assert "--limit lists more" in both.ads("campaigns", account, "--limit", "1").out


def test_the_tree_and_the_catalogs(both: Place, account: str) -> None:
    output = both.ads("tree", account).out
    campaign, group, ad = (output.index(f" {id_} ") for id_ in (CAMPAIGN, "adgrp_evergreen_1", "ad_evergreen_1"))
    assert campaign < group < ad and "\n    ad     " in output
    assert [row["level"] for row in read_csv(both.ads("tree", account, "--csv").out)][:3] == [
        "campaign",
        "adGroup",
        "ad",
    ]
    resources = [row["catalog"] for row in read_csv(both.ads("catalog", account, "--csv").out)]
    assert "platforms" in resources
    assert {row["id"] for row in both.ads("catalog", account, "platforms", "--json").data} >= {"web"}


def test_spend_is_that_of_a_sync_or_read_when_it_is_asked_for(
    place: Callable[[str], Place], networks: Networks
) -> None:
    store = place("spend")
    store.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY)
    names = {row["id"]: row["spend USD"] for row in read_csv(store.ads("campaigns", "adacct_1", "--csv").out)}
    assert names[CAMPAIGN] == "" and "spend" not in store.ads("campaigns", "adacct_1").out
    read = read_csv(store.ads("campaigns", "adacct_1", "--days", "7", "--csv").out)
    spent = {row["id"]: row["spend USD"] for row in read}
    assert float(spent[CAMPAIGN]) > 0
    assert store.ads("insights", "sync", "chatgpt:adacct_1", "--level", "campaign", "--days", "9").code == 0
    stored_spend = {row["id"]: row["spend USD"] for row in read_csv(store.ads("campaigns", "adacct_1", "--csv").out)}
    assert stored_spend[CAMPAIGN] == spent[CAMPAIGN]


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_every_network_shows_a_budget(api_server: Mapping[str, Any], network: str) -> None:
    remote = Place("server", {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]})
    account = next(row["accountId"] for row in api_server["accounts"] if row["network"] == network)
    brief = max(list_example_briefs(network), key=lambda path: path.stem.endswith("daily"))
    operation = remote.ads("create", account, str(brief), "--json").data["id"]
    remote.ads("execute", operation, "--confirmed", "--json")
    rows = [
        row
        for command in ("campaigns", "ad-groups", "ads")
        for row in read_csv(remote.ads(command, account, "--csv").out)
    ]
    assert rows, network
    budgets = [row for row in rows if next(value for name, value in row.items() if name.startswith("budget"))]
    assert budgets and all(row["period"] in ("daily", "lifetime") for row in budgets)


def test_a_connection_ends_with_a_word(place: Callable[[str], Place]) -> None:
    store = place("disconnecting")
    store.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY)
    (row,) = read_csv(store.ads("disconnect", "--csv").out)
    assert (row["network"], row["status"], row["accounts"]) == ("chatgpt", "active", "1")
    assert store.ads("disconnect", "chatgpt").code == 2, "not without --confirmed"
    gone = store.ads("disconnect", "chatgpt", "--confirmed", "--json").data
    assert (gone["connectionId"], gone["status"]) == (row["connection"], "disconnected")


def test_a_key_is_revoked_by_its_name(both: Place) -> None:
    key = both.ads("keys", "create", f"short {both.name}", "--json").data
    gone = both.ads("keys", "revoke", f"short {both.name}", "--json").data
    assert gone["keyId"] == key["keyId"] and gone["revokedAt"] is not None
    assert both.ads("keys", "revoke", f"short {both.name}").code == 2, "a revoked key has no name"


# -- completion ----------------------------------------------------------------------------------------------------


def complete(where: Place, *words: str, shell: str = "bash") -> list[str]:
    ran = where.ads(
        _ADSUNIFY_COMPLETE=f"{shell}_complete", COMP_WORDS=" ".join(("adsunify", *words)), COMP_CWORD=str(len(words))
    )
    assert (ran.code, ran.err) == (0, "")
    return ran.out.split()


def test_accounts_and_operations_are_completed(both: Place, account: str) -> None:
    id_ = both.ads("accounts", "chatgpt", "--json").data[0]["accountId"]
    assert f"plain,{id_}" in complete(both, "campaigns", id_[:20])
    assert f"plain,{account}" in complete(both, "campaigns", account[:4])
    (newest,) = (row["id"] for row in both.ads("pause", account, CAMPAIGN, "--json").data["operations"])
    assert f"plain,{newest}" in complete(both, "execute", newest[:20])
    assert complete(both, "bulk-") == ["plain,bulk-edit"]


def test_what_is_not_there_completes_nothing(place: Callable[[str], Place], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("nowhere")
    missing = Place("missing", {"ADSUNIFY_DATABASE_URL": f"sqlite:///{folder}/new.db"})
    assert complete(missing, "campaigns", "0") == [] and list(folder.iterdir()) == []
    gone = Place("gone", {"ADSUNIFY_SERVER": "http://127.0.0.1:9", "ADSUNIFY_TOKEN": "t"})
    assert complete(gone, "execute", "0") == []
    assert complete(place("empty"), "campaigns", "0") == []
