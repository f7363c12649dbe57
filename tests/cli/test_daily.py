"""The daily commands, over a store of one's own and over a server: the same answers, and nothing written unasked."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from adsunify.cli import output
from adsunify.cli.figures import insights_parts

from .conftest import Networks, Place
from .running import BRIEF, BRIEFS

KEY = "sandbox-chatgpt-key"
NEVER = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def account(both: Place) -> str:
    """An account of ChatGPT in each of the places."""
    connection = both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data
    (id_,) = connection["accounts"]
    return str(id_)


def prepare_operation(both: Place, account: str) -> str:
    return str(both.ads("create", account, BRIEF, "--json").data["id"])


def test_a_campaign_from_brief_to_figures(both: Place, account: str, networks: Networks) -> None:
    assert account in [account_row["accountId"] for account_row in both.ads("accounts", "--json").data]
    valid = both.ads("validate", account, BRIEF, "--json").data
    assert (valid["valid"], valid["network"]) == (True, "chatgpt")
    before = networks.writes("chatgpt")
    operation = both.ads("create", account, BRIEF, "--json").data
    assert operation["status"] == "prepared"
    assert networks.writes("chatgpt") == before, "preparing writes nothing"
    done = both.ads("execute", operation["id"], "--confirmed", "--json").data
    assert (done["id"], done["status"]) == (operation["id"], "succeeded")
    writes = networks.writes("chatgpt")
    assert writes == before + len(operation["plan"]["steps"])
    assert both.ads("execute", operation["id"], "--json").data == done, "a replay needs no word and writes nothing"
    output = both.ads("activate", operation["id"]).out
    assert "begins to run" in output and operation["id"] in output
    assert re.search(r"campaign +Autumn boots +320 USD lifetime ", output), output
    live = both.ads("activate", operation["id"], "--json").data
    assert (live["action"], live["risk"], live["sourceOperationId"]) == ("activate", "spend", operation["id"])
    assert both.ads("execute", live["id"], "--confirmed", "--json").data["status"] == "succeeded"
    assert networks.writes("chatgpt") == writes + len(live["plan"]["steps"])
    assert both.ads("operations", live["id"], "--json").data["status"] == "succeeded"
    operation_ids = [operation_row["id"] for operation_row in both.ads("operations", "--json").data]
    assert operation_ids.index(live["id"]) < operation_ids.index(operation["id"])
    figures = both.ads("insights", account, "--start", "2026-01-01", "--end", "2026-01-03", "--json").data
    assert [row["date"] for row in figures["rows"]] == ["2026-01-01", "2026-01-02", "2026-01-03"]


def test_a_key_for_one_account(both: Place, account: str, networks: Networks) -> None:
    agent_key = both.ads("keys", "create", "agent", "--write", "--days", "7", "--account", account, "--json").data
    assert (agent_key["scope"], agent_key["canWrite"]) == ({"accountIds": [account]}, True) and agent_key[
        "expiresAt"
    ] is not None
    plain = both.ads("keys", "create", "reporting", "--json").data
    assert (plain["scope"], plain["canWrite"]) == (None, False)
    wide = both.ads("keys", "create", "google", "--network", "google", "--network", "meta")
    assert re.search(r"google, meta .*\n.*secret: adu_", wide.out), wide.out
    scopes = {key["keyId"]: key["scope"] for key in both.ads("keys", "list", "--json").data}
    assert scopes[agent_key["keyId"]] == {"accountIds": [account]} and scopes[plain["keyId"]] is None
    table = both.ads("keys", "list").out
    assert re.search(rf"agent .* {account} ", table) and re.search(r"reporting .* all ", table), table
    if both.name == "server":
        bound = Place("bound", {**both.environment, "ADSUNIFY_TOKEN": agent_key["secret"]})
        assert [row["accountId"] for row in bound.ads("accounts", "--json").data] == [account]
        assert bound.ads("keys", "create", "child", "--network", "chatgpt", "--json").data["scope"] == {
            "networks": ["chatgpt"],
            "accountIds": [account],
        }
    for refused in ("nothing", NEVER):
        ran = both.ads("keys", "create", "x", "--account", refused)
        assert ran.code in (1, 2) and "ccount" in ran.err, ran.err


def test_a_server_says_what_its_rest_api_says(api_server: Mapping[str, Any]) -> None:
    address = api_server["baseUrl"].replace("http:", "HTTP:")  # a scheme is the same in letters of any case
    remote = Place("server", {"ADSUNIFY_SERVER": address, "ADSUNIFY_TOKEN": api_server["apiKey"]})
    bearer = {"Authorization": f"Bearer {api_server['apiKey']}"}
    for command, path in (("accounts", "/accounts"), ("operations", "/operations")):
        response = httpx.get(f"{api_server['baseUrl']}/api/v1/ads{path}", headers=bearer, trust_env=False)
        assert remote.ads(command, "--json").data == response.json()["data"]
    assert {row["network"] for row in remote.ads("accounts", "x", "--json").data} == {"x"}


def test_people_read_tables(both: Place, account: str) -> None:
    table = both.ads("accounts", "chatgpt").out
    assert account in table and "time zone" in table
    operation = both.ads("create", account, BRIEF)
    assert operation.code == 0
    assert "risk     low" in operation.out and "POST https://api.ads.openai.com" in operation.out
    spends = "spends   This spends nothing yet. Once it is active, it can spend 320.00 USD in all."
    assert spends in operation.out and spends in both.ads("validate", account, BRIEF).out
    assert "money: budget.lifetime_spend_limit_micros = 320 USD, sent as 320000000" in operation.out
    assert "prepared" in both.ads("operations").out
    since = ("--since", "2020-01-01", "--network", "chatgpt", "--account", account)
    (newest,) = both.ads("operations", "--status", "prepared", *since, "--limit", "1", "--json").data
    assert newest["status"] == "prepared" and newest["accountId"] == account
    assert both.ads("operations", "--until", "2020-01-01T00:00:00Z", "--json").data == []
    assert "valid: chat_card on chatgpt" in both.ads("validate", account, BRIEF).out
    assert "total" in both.ads("insights", account).out


def test_days_without_figures_are_named_in_words(both: Place, account: str) -> None:
    now = datetime.now(UTC).date()
    start, end = str(now - timedelta(days=3)), str(now + timedelta(days=5))
    ran = both.ads("insights", account, "--start", start, "--end", end)
    assert ran.code == 0 and "[{" not in ran.out
    assert re.search(rf"^\d{{4}}-\d\d-\d\d to {end}: no figures$", ran.out, re.MULTILINE), ran.out
    figures = both.ads("insights", account, "--start", start, "--end", end, "--json").data
    figures["coverage"]["missing"] = [{"startDate": start, "endDate": start}]
    assert f"{start}: no figures" in list(insights_parts(figures))


def test_nobody_is_asked_and_nothing_is_written_without_the_word(both: Place, account: str, networks: Networks) -> None:
    operation, before = prepare_operation(both, account), networks.writes("chatgpt")
    for stdin in (b"", b"y\n"):
        ran = both.ads("execute", operation, stdin=stdin)
        assert (ran.code, ran.out) == (2, "")
        assert "--confirmed" in ran.err
    assert networks.writes("chatgpt") == before
    assert both.ads("operations", operation, "--json").data["status"] == "prepared"


def test_cancelling(both: Place, account: str, networks: Networks) -> None:
    operation, before = prepare_operation(both, account), networks.writes("chatgpt")
    assert both.ads("cancel", operation, "--json").data["status"] == "cancelled"
    ran = both.ads("execute", operation, "--confirmed", "--json")
    assert (ran.code, json.loads(ran.out)["status"]) == (1, "cancelled")
    assert "cancelled" in ran.err and "UNKNOWN" not in ran.err
    assert networks.writes("chatgpt") == before


def test_what_nobody_knows_is_said_and_never_sent_again(both: Place, account: str, networks: Networks) -> None:
    operation = prepare_operation(both, account)
    networks.fault("chatgpt", "reset_after", path="/v1/campaigns")
    before = networks.writes("chatgpt")
    ran = both.ads("execute", operation, "--confirmed", "--json")
    assert ran.code == 1
    receipt = json.loads(ran.out)
    assert (receipt["id"], receipt["status"]) == (operation, "unknown"), (
        "the command prints the receipt although the outcome is unknown"
    )
    assert ran.lines[-1].startswith("UNKNOWN")
    assert networks.writes("chatgpt") == before + 2, "the image, and the campaign whose answer was lost"
    again = both.ads("execute", operation, "--confirmed")
    assert again.code == 1 and again.lines[-1].startswith("UNKNOWN") and "ambiguous" in again.out
    assert networks.writes("chatgpt") == before + 2


def test_a_limit_is_waited_for(both: Place, account: str, networks: Networks) -> None:
    operation = prepare_operation(both, account)
    networks.fault("chatgpt", "status", path="/v1/ad_groups", value=429)
    done = both.ads("execute", operation, "--confirmed", "--json").data
    assert done["status"] == "succeeded"
    assert [step["state"] for step in done["receipt"]["steps"]].count("throttled") == 1


def test_what_the_network_refuses(both: Place, account: str, networks: Networks, tmp_path: Path) -> None:
    operation = prepare_operation(both, account)
    networks.fault("chatgpt", "status", path="/v1/campaigns", value=400)
    ran = both.ads("execute", operation, "--confirmed", "--json")
    assert ran.code == 1
    operation_record = json.loads(ran.out)
    assert operation_record["status"] == "prepared" and "nextAction" not in operation_record
    assert "UNKNOWN" not in ran.err and ran.lines
    assert both.ads("execute", operation, "--confirmed", "--json").data["status"] == "succeeded", "deliberately again"


def test_an_idempotency_key_gives_the_same_operation(both: Place, account: str) -> None:
    key = ("--idempotency-key", f"daily {both.name}", "--json")
    first, again = (both.ads("create", account, BRIEF, *key).data["id"] for _ in range(2))
    assert first == again
    other = str(BRIEFS / "chatgpt-chat_card-awareness-lifetime.json")
    assert both.ads("create", account, other, *key).code == 1


def test_a_brief_on_standard_input(both: Place, account: str) -> None:
    brief = Path(BRIEF).read_bytes()
    assert both.ads("validate", account, "-", "--json", stdin=brief).data["valid"] is True
    assert both.ads("validate", account, "-", stdin=b"nonsense").code == 2


def test_a_refused_brief_has_a_line_per_issue(both: Place, account: str, tmp_path: Path) -> None:
    brief = {**json.loads(Path(BRIEF).read_text()), "goal": "app_installs", "bid": "0.0000001"}
    path = tmp_path / "brief.json"
    path.write_text(json.dumps(brief))
    for command in ("validate", "create"):
        ran = both.ads(command, account, str(path), "--json")
        assert (ran.code, ran.out) == (2, "")
        assert {line.split(":")[0] for line in ran.lines} <= {"goal", "bid"} and ran.lines


def test_a_refused_brief_is_told_as_it_stands_in_its_file(both: Place, account: str, tmp_path: Path) -> None:
    """The same words as `plan`, though a request holds the brief as ``campaign``."""
    path = tmp_path / "brief.json"
    path.write_text(json.dumps({**json.loads(Path(BRIEF).read_text()), "platform": {"boardId": "1"}}))
    place = ("--currency", "USD", "--timezone", "UTC")
    planned = both.ads("plan", "chatgpt", str(path), *place)
    assert planned.code == 2 and planned.err.startswith("platform.boardId: ")
    for command in ("validate", "create"):
        assert both.ads(command, account, str(path)).err == planned.err


def test_a_position_in_a_list_is_named_by_dots(both: Place, account: str, tmp_path: Path) -> None:
    path = tmp_path / "brief.json"
    brief = json.loads(Path(BRIEF).read_text())
    path.write_text(json.dumps({**brief, "targeting": {"countries": ["US", "UK"], "keywords": [{"text": ""}]}}))
    for command in (("validate", account), ("create", account), ("plan", "chatgpt")):
        place = ("--currency", "USD", "--timezone", "UTC") if command[0] == "plan" else ()
        ran = both.ads(*command, str(path), *place)
        named = [line.split(":")[0] for line in ran.lines]
        assert (ran.code, named) == (2, ["targeting.countries.1", "targeting.keywords.0.text"])


def test_a_brief_file_names_a_member_once(both: Place, account: str, tmp_path: Path) -> None:
    path = tmp_path / "brief.json"
    path.write_text(Path(BRIEF).read_text().replace('"amount": ', '"amount": "1", "amount": ', 1))
    for command in (("validate", account), ("create", account), ("plan", "chatgpt")):
        place = ("--currency", "USD", "--timezone", "UTC") if command[0] == "plan" else ()
        ran = both.ads(*command, str(path), *place)
        assert (ran.code, ran.err) == (2, "budget.amount: must be given once.\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("operations", NEVER), 1),
        (("operations", "nonsense"), 2),
        (("execute", NEVER, "--confirmed"), 1),
        (("cancel", NEVER), 1),
        (("activate", NEVER), 1),
        (("insights", NEVER), 1),
        (("validate", NEVER, BRIEF), 1),
        (("create", "nonsense", BRIEF), 2),
        (("accounts", "myspace"), 2),
        (("insights", NEVER, "--start", "yesterday"), 2),
        (("create", NEVER, "no-such-file.json"), 2),
    ],
)
def test_exit_codes(both: Place, arguments: tuple[str, ...], code: int) -> None:
    ran = both.ads(*arguments, "--json")
    assert (ran.code, ran.out) == (code, "")
    assert ran.err and "Traceback" not in ran.err


# -- where -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--server", "http://127.0.0.1:9", "--database", "sqlite:///x.db"), "--server"),
        (("--token", "t"), "--token"),
        (("--server", "http://127.0.0.1:9"), "token"),
        (("--server", "http://127.0.0.1:9", "--token", "t", "--workspace", "w"), "--workspace"),
        (("--server", "127.0.0.1:9", "--token", "t"), "--server: must begin with http:// or https://"),
        (("--database", "mysql://x"), "database"),
    ],
)
def test_places_that_are_none(place: Callable[[str], Place], arguments: tuple[str, ...], named: str) -> None:
    ran = place("none").ads("accounts", *arguments)
    assert ran.code == 2 and named in ran.err


def test_a_server_of_the_environment_without_a_scheme(place: Callable[[str], Place]) -> None:
    ran = place("none").ads("accounts", ADSUNIFY_SERVER="127.0.0.1:9", ADSUNIFY_TOKEN="t")
    assert (ran.code, ran.err) == (2, "ADSUNIFY_SERVER: must begin with http:// or https://.\n")


def test_the_command_line_counts_more_than_the_environment(
    place: Callable[[str], Place], api_server: Mapping[str, Any]
) -> None:
    everything = {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]}
    store = place("precedence")
    assert store.ads("accounts", "--json", **everything).data, "the server of the environment"
    database = ("--database", store.environment["ADSUNIFY_DATABASE_URL"])
    assert store.ads("accounts", "--json", *database, **everything).data == []


def test_a_server_that_is_not_there() -> None:
    gone = Place("gone", {"ADSUNIFY_SERVER": "http://127.0.0.1:9", "ADSUNIFY_TOKEN": "t"})
    ran = gone.ads("accounts")
    assert ran.code == 1 and "Cannot connect to" in ran.err and "UNKNOWN" not in ran.err


def test_workspaces_of_a_store(place: Callable[[str], Place]) -> None:
    """A new store's workspace is named, or ``local``; there is never another by itself."""
    store = place("workspaces")
    connection = store.ads("connect", "chatgpt", "--workspace", "shop", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data
    for named in ((), ("--workspace", "shop"), ("--workspace", " shop ")):
        assert [account["accountId"] for account in store.ads("accounts", *named, "--json").data] == connection[
            "accounts"
        ]
    for wrong in ("local", ""):
        ran = store.ads("accounts", "--workspace", wrong)
        assert ran.code == 2 and "workspaces: shop." in ran.err


def test_a_token_is_read_from_standard_input(api_server: Mapping[str, Any]) -> None:
    remote = Place("stdin", {"ADSUNIFY_SERVER": api_server["baseUrl"]})
    assert remote.ads("accounts", "--token", "-", "--json", stdin=f"{api_server['apiKey']}\n".encode()).data
    assert remote.ads("accounts", "--token", "-", "--json", stdin=b"adu_nobody\n").code == 1


# -- a person who is asked -----------------------------------------------------------------------------------------


def answer_questions(
    environment: Mapping[str, str], answers: Mapping[str, str], *arguments: str
) -> tuple[int, str, str]:
    """A command with a terminal for input and stderr, where each question is answered; its code, stdout, and what the
    terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "adsunify", *arguments],
        env={**os.environ, **environment},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    transcript, open_ = "", dict(answers)
    try:
        while data := os.read(ours, 4096):
            transcript += data.decode()
            for question in [text for text in open_ if text in transcript]:  # what is typed before it is asked is lost
                os.write(ours, f"{open_.pop(question)}\n".encode())
    except OSError:  # the other end is closed
        pass
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    return process.returncode, out, transcript


def test_a_person_sees_plan_risk_and_money_and_decides(place: Callable[[str], Place], networks: Networks) -> None:
    store = place("person")
    (account,) = store.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    operation, before = prepare_operation(store, account), networks.writes("chatgpt")
    code, out, transcript = answer_questions(store.environment, {"[y/N]: ": "n"}, "execute", operation, "--json")
    assert (code, out) == (1, "")
    for words in ("Create the campaign", "320 USD", "risk", "Risk low", "https://api.ads.openai.com/v1/campaigns"):
        assert words in transcript
    assert networks.writes("chatgpt") == before
    code, out, _ = answer_questions(store.environment, {"[y/N]: ": "y"}, "execute", operation, "--json")
    assert code == 0
    assert json.loads(out)["status"] == "succeeded", "stdout is one document, whatever was asked"
    assert networks.writes("chatgpt") == before + 4


def test_what_a_network_calls_things_cannot_steer_the_terminal() -> None:
    assert output.to_plain_text("a\x1b[2Jb\r\nc\u202e") == "a\ufffd[2Jb\ufffd\ufffdc\ufffd"
    screen = output.make_console()
    with screen.capture() as captured:
        output.print_parts(screen, [output.make_table((output.Column("name"),), [("[red]x[/red]\x1b]0;title\x07",)])])
    assert "\x1b" not in captured.get() and "[red]x[/red]" in captured.get()
