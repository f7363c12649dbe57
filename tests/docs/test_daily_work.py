"""The commands of the page about daily work, from top to bottom, at a server with the simulated networks."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.running import first_line, process, run

TEXT = (Path(__file__).parents[2] / "docs" / "daily_work.md").read_text()
COMMANDS = re.findall(r"^\$ adsunify (.+)$", TEXT, re.MULTILINE)


def test_each_command_succeeds(tmp_path: Path) -> None:
    assert len(COMMANDS) > 25
    with process("serve", "--sandbox", "--port", "0", "--json", folder=tmp_path, log=tmp_path / "log") as server:
        ready = first_line(server)
        where = {"ADSUNIFY_SERVER": ready["baseUrl"], "ADSUNIFY_TOKEN": ready["apiKey"]}
        for command in COMMANDS:
            latest = run("operations", "--limit", "1", "--json", **where).data if "OPERATION" in command else []
            words = [latest[0]["id"] if word == "OPERATION" else word for word in shlex.split(command)]
            ran = run(*words, **where)
            assert ran.code == 0 and ran.out, f"{command}: {ran.err}"


def test_completion_is_that_of_each_shell() -> None:
    for shell in ("zsh", "fish"):
        ran = run(_ADSUNIFY_COMPLETE=f"{shell}_source")
        assert f"_ADSUNIFY_COMPLETE={shell}_source adsunify" in TEXT
        assert ran.code == 0 and f"_ADSUNIFY_COMPLETE={shell}_complete" in ran.out
