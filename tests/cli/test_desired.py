"""Campaigns as a file in the shell, over a store and over a server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adsunify.cli.desired import diff_lines
from adsunify.models.yaml_text import format_yaml, parse_yaml

from .conftest import Networks, Place
from .running import BRIEF
from .test_daily import answer_questions

KEY = "sandbox-chatgpt-key"


@pytest.fixture(scope="module")
def account(both: Place) -> str:
    """An account with a campaign."""
    (id_,) = both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    operation = both.ads("create", id_, BRIEF, "--json").data
    both.ads("execute", operation["id"], "--confirmed")
    return str(id_)


def test_an_import_is_a_file_without_difference(both: Place, account: str, networks: Networks, tmp_path: Path) -> None:
    writes = networks.writes("chatgpt")
    imported = both.ads("import", account)
    document: Any = parse_yaml(imported.out)
    assert document == both.ads("import", account, "--json").data
    assert {entity["kind"] for entity in document["entities"]} == {"campaign", "adGroup", "ad"}
    file = tmp_path / "campaigns.yaml"
    file.write_text(imported.out)
    assert both.ads("diff", str(file), "--exit-code").out == "Nothing differs.\n"
    campaign = next(
        entity for entity in document["entities"] if entity["kind"] == "campaign" and "boots" in entity["name"]
    )
    name, campaign["name"] = campaign["name"], "Winter boots"
    file.write_text(format_yaml(document))
    difference = both.ads("diff", str(file), "--exit-code")
    assert difference.code == 3
    assert f"~ change  chatgpt campaign {campaign['id']}  {name}" in difference.out
    assert f"    name           {name} -> Winter boots\n" in difference.out
    assert difference.out.endswith("0 to create, 1 to change, 0 to pause or delete, 0 drifted.\n")
    assert both.ads("diff", str(file)).code == 0
    piped = both.ads("diff", "-", "--json", stdin=file.read_bytes()).data
    assert [row["field"] for row in piped["change"][0]["fields"]] == ["name"]
    assert networks.writes("chatgpt") == writes, "nothing is written"


@pytest.mark.parametrize(
    ("wrong", "path", "meant"),
    [
        ({"nmae": "A"}, "entities.0.nmae", "Did you mean name?"),
        ({"status": "pause"}, "entities.0.status", "Did you mean paused?"),
        ({"kind": "adgroup"}, "entities.0.kind", "Did you mean adGroup?"),
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(
    both: Place, account: str, wrong: dict[str, str], path: str, meant: str
) -> None:
    entity = {"accountId": account, "kind": "campaign", "id": "1", **wrong}
    refused = both.ads("diff", "-", stdin=format_yaml({"entities": [entity]}).encode())
    assert (refused.code, refused.out) == (2, "")
    assert any(line.startswith(f"{path}: ") and line.endswith(meant) for line in refused.lines), refused.err


def test_an_account_is_named_as_in_other_commands(both: Place, account: str) -> None:
    name = next(row["name"] for row in both.ads("accounts", "--json").data if row["accountId"] == account)
    entity = both.ads("import", account, "--json").data["entities"][0]
    for word, code in ((f"chatgpt:{name}", 0), (f"chatgpt:{name}x", 2), ("chatgpt", 2)):
        file = format_yaml({"entities": [{**entity, "accountId": word}]}).encode()
        difference = both.ads("diff", "-", stdin=file)
        assert difference.code == code, difference.err
        assert code == 0 or (difference.err.startswith("entities.0.accountId: ") and name in difference.err)


def test_a_file_is_applied_once(both: Place, account: str, networks: Networks, tmp_path: Path) -> None:
    """The first apply creates, the second does nothing, a rename is an edit, and what left the file is paused."""
    key = f"cell-{both.name}"
    campaign = json.loads(Path(BRIEF).read_text()) | {"name": f"Applied boots {both.name}"}
    launch: Any = {"campaign": campaign, "accounts": [{"accountId": account, "key": key}]}
    document: Any = {"name": f"file {both.name}", "launches": {"Applied": launch}}
    file = tmp_path / "campaigns.yaml"

    def ads(*arguments: str) -> Any:
        file.write_text(format_yaml(document))
        return both.ads(arguments[0], str(file), *arguments[1:])

    assert ads("diff").out.startswith(f"+ create  Applied / {key} on chatgpt\n")
    writes = networks.writes("chatgpt")
    waiting = ads("apply")
    assert (waiting.code, networks.writes("chatgpt")) == (0, writes), waiting.err
    assert "Nothing is written yet. Review and execute it: http" in waiting.err
    refused = ads("apply", "--confirmed")
    assert refused.code == 1 and "Execute or cancel it first" in refused.err
    id_ = re.search(r"^(\S+)  apply, prepared$", waiting.out, re.MULTILINE)
    assert id_ is not None
    assert f"To write it: adsunify change-set execute {id_[1]}" in waiting.out
    assert both.ads("change-set", "show", id_[1], "--json").data["status"] == "prepared"
    assert both.ads("change-set", "execute", id_[1], stdin=b"y\n").code == 2, "nobody is asked without a terminal"
    assert networks.writes("chatgpt") == writes
    assert both.ads("change-set", "cancel", id_[1], "--json").data["status"] == "cancelled"
    waiting_id = ads("apply", "--json").data["id"]
    done = both.ads("change-set", "execute", waiting_id, "--confirmed", "--json").data
    assert [operation["state"] for operation in done["operations"]] == ["succeeded"]
    writes = networks.writes("chatgpt")
    again = ads("apply", "--confirmed")
    assert (again.code, networks.writes("chatgpt")) == (0, writes)
    assert again.out.endswith("Nothing differs.\n")
    campaign["name"] += " B"
    assert " -> Applied boots" in ads("diff", "--exit-code").out
    assert ads("apply", "--confirmed").code == 0
    launch["status"] = "active"
    assert ads("apply", "--confirmed").code == 0
    assert ads("diff", "--exit-code").code == 0
    launch["accounts"] = []
    assert ads("diff").out.startswith("- pause   chatgpt campaign ")
    assert ads("apply", "--confirmed").code == 0
    assert ads("diff", "--exit-code").code == 0
    assert ads("diff", "--delete").out.startswith("- delete  chatgpt campaign ")


def test_a_person_sees_the_difference_and_the_money_and_decides(
    place: Callable[[str], Place], networks: Networks, tmp_path: Path
) -> None:
    own = place("asked")
    (id_,) = own.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    launch = {"campaign": json.loads(Path(BRIEF).read_text()), "accounts": [{"accountId": id_, "key": "one"}]}
    file = tmp_path / "campaigns.yaml"
    file.write_text(format_yaml({"launches": {"Asked": launch}}))
    before = networks.writes("chatgpt")
    code, out, transcript = answer_questions(own.environment, {"[y/N]: ": "n"}, "apply", str(file), "--json")
    assert (code, json.loads(out)["status"], networks.writes("chatgpt")) == (0, "cancelled", before)
    question = transcript.index("Apply: write these 1 operations")
    assert max(transcript.index(words) for words in ("+ create  Asked / one", "320.00 USD in all")) < question
    code, out, transcript = answer_questions(own.environment, {"[y/N]: ": "y"}, "apply", str(file))
    assert code == 0 and "succeeded" in out and networks.writes("chatgpt") > before


def test_lines_of_a_diff_fit_eighty_columns() -> None:
    entity = {"accountId": "a", "network": "meta", "kind": "campaign", "entityId": "120210000000000001"}
    change = {"field": "lifetimeBudget", "before": "x" * 99, "after": None, "locked": None}
    drift = {"field": "lifetimeBudget", "planned": "12345678.00", "found": "87654321.00"}
    difference = {
        "isEmpty": False,
        "create": [{"launch": "Spring", "key": "meta-de", "accountId": "a", "network": "meta", "blocked": None}],
        "change": [{**entity, "name": "Chairs", "fields": [change]}],
        "pause": [{**entity, "entityId": "2", "name": "Old", "action": "pause"}],
        "drifted": [
            {**entity, "name": "Chairs", "fields": [drift]},
            {**entity, "entityId": "3", "name": None, "fields": [{"field": "entity"}]},
        ],
        "notCompared": [],
    }
    lines = list(diff_lines(difference))
    assert max(map(len, lines)) <= 80
    assert [line[0] for line in lines if line[0] != " "] == ["+", "-", "~", "!", "1"]
    assert "  ! lifetimeBudget 12345678.00 was written; changed outside to 87654321.00" in lines
