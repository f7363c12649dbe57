"""What people see in a real terminal of 80, 100 and 140 columns: nothing is wider, and no id is broken."""

from __future__ import annotations

import codecs
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import frozen
from rich.cells import cell_len
from rich.console import Console

from adsunify.cli import output, webhooks
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, sign
from tests.markers import exhaustive

from .conftest import Place
from .launches import make_document
from .running import BRIEF, ROOT

WIDTHS = (80, 100, 140)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
DRIVER = """
import fcntl, json, os, struct, sys, termios
from adsunify.cli import main
for width, arguments in json.load(open(sys.argv[1])):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    print("\\f", end="", flush=True)
    sys.argv = ["adsunify", *arguments]
    try:
        main()
    except SystemExit:
        pass
"""
"""Commands one after another in one process; the terminal is made as wide as each wants it."""


@contextmanager
def at_terminal(width: int, *arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Python with a terminal for everything it reads and writes, and the other end of that terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**clean, "TERM": "xterm", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.terminate()
        process.wait(timeout=60)
        os.close(ours)


def read_until(ours: int, end: str = "", answers: Mapping[str, str] | None = None) -> str:
    """What the terminal showed up to ``end``, or until it was closed; each question is answered when it is asked."""
    transcript, answered_until, decoder = "", 0, codecs.getincrementaldecoder("utf-8")()
    with suppress(OSError):  # the other end is closed
        while data := os.read(ours, 4096):
            transcript += decoder.decode(data)
            for question, answer in (answers or {}).items():
                while (place := transcript.find(question, answered_until)) >= 0:
                    answered_until = place + len(question)
                    os.write(ours, f"{answer}\n".encode())
            if end and end in transcript:
                break
    return transcript.replace("\r\n", "\n")


@frozen
class Screens:
    """What commands showed, by width and name."""

    texts: Mapping[tuple[int, str], str]
    ids: Mapping[str, str]


@pytest.fixture(scope="module")
def screens(
    place: Callable[[str], Place], api_server: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Screens:
    server = {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]}
    remote = Place("server", server)
    accounts = {row["network"]: row["accountId"] for row in api_server["accounts"]}
    done = remote.ads("create", accounts["chatgpt"], BRIEF, "--json").data["id"]
    remote.ads("execute", done, "--confirmed", "--json")
    live = remote.ads("activate", done, "--json").data["id"]
    rule = {"name": "Every account", "currency": "USD", "perOperation": {"daily": "9000000"}}
    remote.ads("guardrails", "create", "-", "--json", stdin=json.dumps(rule).encode())
    remote.ads("alerts", "add", "Too fast", "--kind", "paceAbove", "--percent", "120", "--json")
    document = tmp_path_factory.mktemp("launch") / "launch.json"
    document.write_text(json.dumps(make_document(accounts["chatgpt"], "Wide", goal="trafic")))
    launch = remote.ads("launch", "create", str(document), "--skip-invalid", "--json").data["launchId"]
    desired_file = tmp_path_factory.mktemp("file") / "campaigns.json"
    cell = {"accountId": accounts["chatgpt"], "key": "a-long-key-of-a-cell-of-the-spring-campaigns"}
    desired_launch = {"campaign": {**json.loads(Path(BRIEF).read_text()), "name": "Of a file"}, "accounts": [cell]}
    entity = {"accountId": accounts["chatgpt"], "kind": "campaign", "id": "cmpn_spring_1", "budget": "777.00"}
    name = "Garden chairs of spring, for terraces and balconies"
    desired_file.write_text(json.dumps({"name": "shop", "launches": {name: desired_launch}, "entities": [entity]}))
    files = f"sqlite:///{api_server['folder']}/served.db"
    local = f"sqlite:///{tmp_path_factory.mktemp('terminal')}/local.db"
    days = ("--start", "2026-01-01", "--end", "2026-01-03")
    person = ("--workspace", "shop", "--database", local, "--email")
    commands = {
        "accounts": ("accounts",),
        "operations": ("operations",),
        "operation": ("operations", done),
        "create": ("create", accounts["chatgpt"], BRIEF),
        "activate": ("activate", done),
        "execute": ("execute", live),
        "insights": ("insights", accounts["chatgpt"], *days),
        "campaigns": ("insights", accounts["chatgpt"], "--level", "campaign", *days),
        "overview": ("insights", *(accounts[network] for network in ("meta", "chatgpt", "amazon")), *days),
        "sync": ("insights", "sync", accounts["chatgpt"], "--days", "2", "--database", files),
        "launches": ("launch", "list"),
        "launch": ("launch", "show", launch),
        "networks": ("networks",),
        "entities": ("campaigns", accounts["chatgpt"]),
        "spend": ("campaigns", accounts["chatgpt"], "--days", "2"),
        "ad groups": ("ad-groups", accounts["tiktok"]),
        "ads": ("ads", accounts["outbrain"]),
        "tree": ("tree", accounts["snapchat"]),
        "catalog": ("catalog", accounts["chatgpt"], "platforms"),
        "catalogs": ("catalog", accounts["meta"]),
        "connections": ("disconnect",),
        "keys": ("keys", "list"),
        "guardrails": ("guardrails", "list"),
        "alerts": ("alerts", "list"),
        "pause": ("pause", accounts["chatgpt"], "cmpn_spring_1", "--kind", "campaign"),
        "edit": ("edit", accounts["chatgpt"], "cmpn_spring_1", "budget=425.00"),
        "bulk edit": ("bulk-edit", accounts["chatgpt"], "cmpn_spring_1", "cmpn_evergreen_1", "budget+=10%"),
        "delete": ("delete", accounts["chatgpt"], "ad_spring_1", "--kind", "ad"),
        "launch execution": ("launch", "execute", launch),
        "diff": ("diff", str(desired_file)),
        "apply": ("apply", str(desired_file)),
        "mistake": ("campaigns", "nonsense"),
        "mistaken operation": ("execute", accounts["chatgpt"]),
        "extras": ("admin", "account", accounts["tiktok"], "--unset", "createFlow", "--database", files),
        "clock": ("admin", "clock", "--database", files),
        "workspace": ("admin", "workspace", "--database", local),
    }
    setup_commands = [(80, ["admin", "init", *person, "ada@acme.example"])]
    setup_commands += [(width, ["admin", "user", *person, f"of{width}@acme.example"]) for width in WIDTHS]
    screen_commands = [(width, list(words)) for width in WIDTHS for words in commands.values()]
    screen_commands += [(width, ["cancel", live]) for width in WIDTHS]
    script = tmp_path_factory.mktemp("script") / "commands.json"
    script.write_text(json.dumps([*setup_commands, *screen_commands]))
    with at_terminal(80, "-c", DRIVER, str(script), **server, ADSUNIFY_SANDBOX_URL=api_server["sandboxUrl"]) as (
        _,
        ours,
    ):
        pages = read_until(ours, answers={"[y/N]: ": "n"}).split("\f")[1:]
    assert len(pages) == len(setup_commands) + len(screen_commands), pages[-1]
    names = [(80, "init"), *((width, "user") for width in WIDTHS)]
    names += [(width, name) for width in WIDTHS for name in commands]
    names += [(width, "cancel") for width in WIDTHS]
    texts = {name: STEERING.sub("", page.rpartition("\x1b[2K")[2]) for name, page in zip(names, pages, strict=True)}
    ids = {"done": done, "live": live, "account": accounts["chatgpt"], "tiktok": accounts["tiktok"], "launch": launch}
    return Screens(texts, ids)


WHOLE = {
    "accounts": ("account", "tiktok"),
    "operations": ("done", "live"),
    "operation": ("done",),
    "activate": ("done",),
    "execute": ("live", "done"),
    "cancel": ("live",),
    "extras": ("tiktok",),
    "sync": ("account",),
    "launches": ("launch",),
    "launch": ("launch",),
    "launch execution": ("launch",),
    "mistaken operation": ("account",),
}
"""The ids that a command shows."""
NAMES = (
    *("create", "insights", "campaigns", "overview", "networks", "clock", "workspace", "user", *WHOLE),
    *("entities", "spend", "ad groups", "ads", "tree", "catalog", "catalogs", "connections", "keys"),
    *("guardrails", "alerts", "pause", "edit", "bulk edit", "delete", "diff", "apply", "mistake"),
)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_terminal(screens: Screens, name: str, width: int) -> None:
    text = screens.texts[width, name]
    assert text.strip() and "Traceback" not in text
    assert [line for line in text.splitlines() if cell_len(line) > width] == []
    assert {screens.ids[id_name] for id_name in WHOLE.get(name, ())} <= set(UUID.findall(text))
    words = re.sub(r"(?m)^(password|apiKey|secret) .*$", "", text)  # random text may end with a hyphen
    assert not re.search(r"\w-$", words, re.MULTILINE), "an id is broken after a hyphen"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_important_columns_are_shown_and_the_others_are_named(screens: Screens, width: int) -> None:
    first, *_, last = screens.texts[width, "accounts"].splitlines()
    columns = ["account", "network", "name", "status", "currency", "native id", "time zone"]
    shown_columns = [column for column in columns if re.search(rf"\b{column}\b", first)]
    assert shown_columns[:4] == columns[:4] and len(shown_columns) == {80: 4, 100: 5, 140: 7}[width], first
    absent = [column for column in ("native id", "currency", "time zone") if column not in shown_columns]
    note = f"Not shown in {width} columns: {', '.join(absent)} (see --json)."
    assert (last == note) is bool(absent)
    assert all(
        column in screens.texts[width, "insights"].split() for column in ("impressions", "clicks", "reach", "total")
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_what_an_activation_begins_is_a_table_or_a_list_of_facts(screens: Screens, width: int) -> None:
    text = screens.texts[width, "execute"]
    assert f"as operation {screens.ids['done']} wrote it" in text and "320 USD lifetime" in text
    heading = r"begins to run  name +budget +from +to +id" if width == 140 else r"begins to run  campaign\nname +Autumn"
    assert re.search(heading, text), text


UUIDS = [f"01a2070{digit}-64d5-7699-927c-f579596a23e5" for digit in range(8)]
DELIVERY = {"status": "succeeded", "attempts": 12, "nextAttemptAt": "2026-01-01T00:00:00.000Z", "eventId": UUIDS[2]}
WEBHOOK = {"status": "active", "accountId": UUIDS[3], "createdAt": "2026-01-01T00:00:00.000Z"}
LONG_TABLES = {
    "webhooks": webhooks.make_webhooks_table(
        [
            WEBHOOK | {"webhookId": id_, "url": "https://acme.example/hook", "events": ["operation.prepared"]}
            for id_ in UUIDS
        ]
    ),
    "deliveries": webhooks.make_deliveries_table(
        [DELIVERY | {"deliveryId": id_, "type": "operation.succeeded"} for id_ in UUIDS]
    ),
    "ids": output.make_table(
        [output.Column("one", shortens=True), output.Column("two", shortens=True), output.Column("three")],
        [(id_, id_, id_) for id_ in UUIDS],
    ),
}


@pytest.mark.parametrize("width", [*WIDTHS, 60])
@pytest.mark.parametrize("name", LONG_TABLES)
def test_an_id_is_whole_or_shortened_so_that_commands_accept_it(name: str, width: int) -> None:
    screen = Console(width=width, force_terminal=True, file=io.StringIO(), color_system=None)
    with screen.capture() as captured:
        output.print_parts(screen, [LONG_TABLES[name]])
    lines = captured.get().splitlines()
    assert max(map(cell_len, lines)) <= width
    shown_ids = set(re.findall(r"01a2070[-0-9a-f]{3,}", captured.get()))
    assert {min(id_[:18], id_) for id_ in UUIDS} <= {id_[:18] for id_ in shown_ids}
    assert all(
        id_ in UUIDS or (output.SHORTENED_NOTE in lines and id_ in {uuid[:18] for uuid in UUIDS}) for id_ in shown_ids
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_amounts_have_separators_and_are_aligned(screens: Screens, width: int) -> None:
    lines = screens.texts[width, "spend"].splitlines()
    budgets = [match for line in lines if (match := re.search(r"(active|paused) +[\d,]+\.\d\d", line))]
    assert len(budgets) > 1 and len({match.end() for match in budgets}) == 1, lines


@pytest.mark.parametrize("width", [WIDTHS[0], *map(exhaustive, WIDTHS[1:])])
def test_events_are_printed_with_whole_ids(width: int) -> None:
    ids = [f"01a2070{digit}-64d5-7699-927c-f579596a23e5" for digit in range(3)]
    data = {"operationId": ids[1], "accountId": ids[2], "network": "meta", "status": "prepared"}
    body = json.dumps({"id": ids[0], "type": "operation.prepared", "data": data}).encode()
    listen = ("-m", "adsunify", "webhooks", "listen", "--port", "0")
    with at_terminal(width, *listen, ADSUNIFY_WEBHOOK_SECRET="whsec_canary") as (_, ours):
        url = read_until(ours, "/\r\n").removeprefix("Listening at ").strip()
        signed = {EVENT_ID_HEADER: ids[0], SIGNATURE_HEADER: sign(body, ids[0], "whsec_canary", int(time.time()))}
        assert httpx.post(url, content=body, headers=signed, trust_env=False).status_code == 204
        transcript = read_until(ours, "status=prepared\r\n")
    assert UUID.findall(transcript) == ids
    assert max(map(cell_len, transcript.splitlines())) <= width
