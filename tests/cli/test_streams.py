"""Streams, arguments and files that are not what they should be: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.markers import exhaustive

from .running import BRIEFS, run

GOOGLE = BRIEFS / "google-responsive_search_ad-traffic-daily.json"
META = BRIEFS / "meta-page_link_ad-traffic-daily.json"
ACCOUNT = ("--currency", "USD", "--timezone", "America/New_York")


def shell(line: str, folder: Path, *arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line of the shell, in which ``"$@"`` is a command of ours with these arguments."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ADSUNIFY_")}
    words = ("sh", "-c", line, "sh", sys.executable, "-m", "adsunify", *arguments)
    return subprocess.run(words, cwd=folder, env={**clean, **environment}, capture_output=True, timeout=60)


@pytest.mark.parametrize("encoding", ["ascii", *map(exhaustive, ["latin-1", "cp1252", "utf-8"])])
def test_what_an_encoding_lacks_is_escaped(tmp_path: Path, encoding: str) -> None:
    named = {**json.loads(GOOGLE.read_text()), "name": "Tee fr\u00fch \U0001f375"}
    (tmp_path / "brief.json").write_text(json.dumps(named))
    command = ("plan", "google", "brief.json", *ACCOUNT)
    ran = shell('"$@"', tmp_path, *command, PYTHONIOENCODING=encoding)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)
    document = shell('"$@"', tmp_path, *command, "--json", PYTHONIOENCODING=encoding)
    text = document.stdout.decode("utf-8" if encoding in ("ascii", "utf-8") else encoding)
    assert named["name"] in json.loads(text)["steps"][0]["does"]


@pytest.mark.parametrize(
    ("line", "arguments", "code", "message"),
    [
        ('"$@" <&-', ("plan", "meta", "-", *ACCOUNT), 2, "BRIEF: must be valid JSON"),
        exhaustive('"$@" <&-', ("connect", "chatgpt"), 2, "credentials: are required"),
        exhaustive('"$@" <&-', ("accounts", "--server", "http://127.0.0.1:9", "--token", "-"), 2, "token: is required"),
        exhaustive('"$@" <&-', ("mcp",), 0, ""),
        ('"$@" >/dev/full', ("plan", "meta", str(META), *ACCOUNT), 1, "No space left on device"),
        exhaustive('"$@" >/dev/full', ("networks",), 1, "No space left on device"),
        ('"$@"', ("plan", "meta", "/proc/self/mem", *ACCOUNT), 1, "System error"),
    ],
)
def test_streams_and_files_that_fail(
    tmp_path: Path, line: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = shell(line, tmp_path, *arguments)
    assert ran.returncode == code, ran.stderr
    assert message in ran.stderr.decode() and b"Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "meta", str(META), *ACCOUNT, "--native-account", b"\xfc"),
        exhaustive(("validate", b"\xfc", str(META))),
        exhaustive(("operations", b"\xfc", "--server", "http://127.0.0.1:9", "--token", "t")),
        exhaustive(("admin", "init", "--workspace", b"\xfc", "--email", "ada@acme.example")),
    ],
)
def test_arguments_that_are_no_text(tmp_path: Path, arguments: tuple[str | bytes, ...]) -> None:
    ran = shell('"$@"', tmp_path, *arguments)
    assert (ran.returncode, ran.stderr.decode()) == (
        2,
        "arguments: must be valid text; one of them has bytes that are not.\n",
    )


def test_a_file_may_be_called_anything(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xfc.json")).write_bytes(META.read_bytes())
    assert shell('"$@"', tmp_path, "plan", "meta", b"\xfc.json", *ACCOUNT).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("insights", "nope", "--end", "0001-01-02"), "ACCOUNT: names no account"),
        (("accounts", "--server", "http://[::1", "--token", "t"), "server: must be"),
        (("accounts", "--server", "http://127.0.0.1:99999", "--token", "t"), "server: must be"),
        (("accounts", "--server", "http://me:secret@127.0.0.1:9", "--token", "t"), "server: must be"),
        (("accounts", "--server", "http://127.0.0.1:9", "--token", "f\u00fcr"), "token: must have visible ASCII"),
        (("serve", "--port", "0", "--webhook-dev-target", "127.0.0.1:8090"), "--webhook-dev-target: must begin"),
        (("worker", "--webhook-dev-target", "127.0.0.1:8090"), "--webhook-dev-target: must begin"),
        (
            ("plan", "tiktok", str(META), *ACCOUNT, "--account-extra", "createFlow=smart"),
            "createFlow must be one of auto",
        ),
        (
            ("plan", "google", str(GOOGLE), *ACCOUNT, "--account-extra", "testAccount=maybe"),
            "testAccount must be one of true",
        ),
        (("demo", "--networks", ""), "--networks: nothing is not one of meta"),
    ],
)
def test_values_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*arguments)
    assert ran.code == 2, ran.err
    assert message in ran.err and "Traceback" not in ran.err and "secret" not in ran.err


@pytest.mark.parametrize("command", ["serve", exhaustive("sandbox")])
def test_a_port_that_is_taken(tmp_path: Path, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = shell('"$@"', tmp_path, command, "--port", str(port))
    assert ran.returncode == 2
    assert f"--port: cannot listen on port {port} of 127.0.0.1" in ran.stderr.decode()


@pytest.mark.parametrize(
    "member", ['"status": "200"', '"status": null', '"status": true', '"headers": []', '"headers": {"retry-after": 1}']
)
def test_a_look_up_that_is_no_answer(tmp_path: Path, member: str) -> None:
    post = "https://api.linkedin.com/rest/posts/urn%3Ali%3Ashare%3A6850000000000000001"
    answer = f'[{{"request": {{"method": "GET", "url": "{post}"}}, "response": {{{member}, "body": {{}}}}}}]'
    (tmp_path / "lookups.json").write_text(answer)
    brief = str(BRIEFS / "linkedin-sponsored_post-traffic-daily.json")
    ran = run("plan", "linkedin", brief, *ACCOUNT, "--lookups", str(tmp_path / "lookups.json"))
    assert ran.code == 2, ran.err
    assert "--lookups: must be a list of recorded responses" in ran.err
