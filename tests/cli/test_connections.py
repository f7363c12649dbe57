"""Connecting from the command line: a consent that comes back to it, or to a server; credentials, but never on argv."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import pytest
from pydantic.alias_generators import to_camel

from adsunify.contract.requests import list_credential_networks
from adsunify.testing.connecting import FormParser, get_sandbox_credentials
from tests.markers import exhaustive

from .conftest import Place
from .running import process
from .test_daily import KEY, answer_questions


def open_browser() -> httpx.Client:
    return httpx.Client(trust_env=False, timeout=30)


def open_consent_page(visit: httpx.Client, link: str) -> httpx.Response:
    """Open a link and follow it to the network's page."""
    return press_button(visit, visit.get(link))


def press_button(visit: httpx.Client, page: httpx.Response) -> httpx.Response:
    """Press the one button."""
    form = FormParser()
    form.feed(page.text)
    assert form.action is not None, page.text
    return visit.request(
        form.method.upper(), urljoin(str(page.url), form.action), data=form.fields, follow_redirects=True
    )


def read_link(stderr: object) -> str:
    assert hasattr(stderr, "readline")
    stderr.readline()
    return str(stderr.readline()).strip()


@pytest.mark.parametrize("network", ["meta", exhaustive("x"), exhaustive("tiktok")])
def test_a_consent_comes_back_to_this_machine(place: Callable[[str], Place], network: str) -> None:
    store = place(f"consent-{network}")
    with process("connect", network, "--no-browser", "--json", **store.environment) as connecting:
        link = read_link(connecting.stderr)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/connect/[\w-]+", link)
        with open_browser() as visit:
            assert "connected" in press_button(visit, open_consent_page(visit, link)).text
            out, _ = connecting.communicate(timeout=60)
        assert connecting.returncode == 0
        connection = json.loads(out)
        assert (connection["network"], connection["status"]) == (network, "active")
        with open_browser() as visit, pytest.raises(httpx.ConnectError):
            visit.get(link)
    assert sorted(store["accountId"] for store in store.ads("accounts", "--json").data) == sorted(
        connection["accounts"]
    )


def test_a_consent_at_a_server(api_server: Mapping[str, str]) -> None:
    where = {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]}
    with process("connect", "google", "--no-browser", **where) as connecting:
        link = read_link(connecting.stderr)
        assert link.startswith(api_server["baseUrl"])
        with open_browser() as visit:
            press_button(visit, open_consent_page(visit, link))
            out, _ = connecting.communicate(timeout=60)
    assert connecting.returncode == 0
    assert re.match(r"google: \d connected", out) and "time zone" in out


def test_a_consent_that_is_refused(place: Callable[[str], Place]) -> None:
    store = place("refused")
    with process("connect", "meta", "--no-browser", **store.environment) as connecting:
        link = read_link(connecting.stderr)
        address = f"{link.rpartition('/connect/')[0]}/connect/callback/meta"
        with open_browser() as visit:
            page = open_consent_page(visit, link)
            (state,) = parse_qs(urlsplit(str(page.url)).query)["state"]
            with open_browser() as stranger:  # has no cookie, so this stops nothing
                assert stranger.get(address, params={"error": "access_denied", "state": "another"}).status_code == 404
            assert connecting.poll() is None
            assert visit.get(address, params={"error": "access_denied", "state": state}).status_code == 422
            out, err = connecting.communicate(timeout=60)
    assert (connecting.returncode, out) == (1, "")
    assert "was not connected" in err
    assert store.ads("accounts", "--json").data == []


def test_the_browser_inherits_no_secret(place: Callable[[str], Place], tmp_path: Path) -> None:
    dump = tmp_path / "environment"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nenv > "{dump}.part"\necho "$1" >> "{dump}.part"\nmv "{dump}.part" "{dump}"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    store = place("browser")
    secrets = {"ADSUNIFY_TOKEN": "canary-token", "ADSUNIFY_META_CLIENT_ID": "sandbox-meta"}
    secrets["ADSUNIFY_META_CLIENT_SECRET"] = "sandbox-secret"
    with process("connect", "meta", **store.environment, **secrets, BROWSER=f"{script} %s") as connecting:
        link = read_link(connecting.stderr)
        with open_browser() as visit:
            press_button(visit, open_consent_page(visit, link))
        assert connecting.wait(timeout=60) == 0
    environment = dump.read_text()
    assert link in environment
    assert "ADSUNIFY_" not in environment and "canary-token" not in environment and "sandbox-secret" not in environment


def test_a_port_that_is_taken(place: Callable[[str], Place], api_server: Mapping[str, str]) -> None:
    port = api_server["baseUrl"].rpartition(":")[2]
    ran = place("port").ads("connect", "meta", "--port", port)
    assert ran.code == 2 and "--port" in ran.err


def test_a_network_without_an_application(place: Callable[[str], Place]) -> None:
    store = place("none")
    ran = store.ads("connect", "meta", "--no-browser", ADSUNIFY_SANDBOX_URL="")
    assert ran.code == 2 and "ADSUNIFY_META_CLIENT_ID" in ran.err


# -- credentials of its own ---------------------------------------------------------------------------------------


def make_body(network: str) -> bytes:
    return json.dumps({to_camel(name): value for name, value in get_sandbox_credentials(network).items()}).encode()


def make_variables(network: str) -> dict[str, str]:
    return {f"ADSUNIFY_{network}_{name}".upper(): value for name, value in get_sandbox_credentials(network).items()}


@pytest.mark.parametrize("network", list_credential_networks())
def test_credentials_of_the_environment_of_a_file_and_of_standard_input(
    both: Place, network: str, tmp_path: Path
) -> None:
    path = tmp_path / "credentials.json"
    path.write_bytes(make_body(network))
    for ran in (
        both.ads("connect", network, "--json", **make_variables(network)),
        both.ads("connect", network, "--json", "--credentials", str(path)),
        both.ads("connect", network, "--json", "--credentials", "-", stdin=path.read_bytes()),
    ):
        assert ran.data["network"] == network and ran.data["accounts"]
        for value in get_sandbox_credentials(network).values():
            assert value not in ran.out + ran.err


def test_a_variable_may_name_a_file(place: Callable[[str], Place], tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text(get_sandbox_credentials("apple")["private_key"])
    environment = make_variables("apple")
    del environment["ADSUNIFY_APPLE_PRIVATE_KEY"]
    store = place("file")
    assert store.ads("connect", "apple", "--json", **environment, ADSUNIFY_APPLE_PRIVATE_KEY_FILE=str(key)).data[
        "accounts"
    ]
    gone = store.ads("connect", "apple", **environment, ADSUNIFY_APPLE_PRIVATE_KEY_FILE=str(tmp_path / "gone"))
    assert gone.code == 2 and "ADSUNIFY_APPLE_PRIVATE_KEY_FILE" in gone.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "named"),
    [
        (("chatgpt",), b"", "ADSUNIFY_CHATGPT_API_KEY"),
        (("outbrain",), b"", "ADSUNIFY_OUTBRAIN_USERNAME"),
        (("chatgpt", "--credentials", "-"), b"nonsense", "JSON object"),
        (("chatgpt", "--credentials", "-"), b'{"apiKey": 1}', "JSON object"),
        (("chatgpt", "--credentials", "-"), b'{"password": "p"}', "password"),
        (("outbrain", "--credentials", "-"), b'{"username": "u"}', "password"),
        (("meta", "--credentials", "-"), b"{}", "--credentials"),
    ],
)
def test_credentials_that_are_none(
    place: Callable[[str], Place], arguments: tuple[str, ...], stdin: bytes, named: str
) -> None:
    ran = place("wrong").ads("connect", *arguments, stdin=stdin)
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.err


def test_a_key_that_the_network_refuses_is_not_shown(both: Place) -> None:
    ran = both.ads("connect", "chatgpt", ADSUNIFY_CHATGPT_API_KEY="canary-wrong-key")
    assert ran.code == 1 and ran.err
    assert "canary-wrong-key" not in ran.out + ran.err


def test_a_person_is_asked_and_what_he_types_is_not_shown(place: Callable[[str], Place], tmp_path: Path) -> None:
    store = place("typed")
    code, out, transcript = answer_questions(store.environment, {"apiKey: ": KEY}, "connect", "chatgpt", "--json")
    assert code == 0, transcript
    assert json.loads(out)["accounts"]
    assert "apiKey" in transcript and KEY not in transcript
    typed = {"Connect with": "username", "username: ": "sandbox-outbrain", "password: ": "sandbox-secret"}
    code, out, transcript = answer_questions(store.environment, typed, "connect", "outbrain", "--json")
    assert code == 0, transcript
    assert "sandbox-secret" not in transcript
