"""docs/client.md: the table shows the client's options with their defaults, and the examples open a client."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

import pytest

from adsunify.client.options import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS, OPTION_NAMES

TEXT = (Path(__file__).parents[2] / "docs" / "client.md").read_text()


def test_every_option_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", TEXT, re.MULTILINE)
    assert [name for name, _ in rows] == list(OPTION_NAMES)
    defaults = dict(rows)
    assert float(defaults["timeout"]) == DEFAULT_TIMEOUT_SECONDS
    assert int(defaults["max_retries"]) == DEFAULT_MAX_RETRIES


@pytest.mark.parametrize("code", re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE))
def test_an_example_opens_a_client(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening sends nothing. The files of the certificates do not exist here."""
    monkeypatch.setenv("ADSUNIFY_SERVER", "https://ads.acme.example")
    monkeypatch.setenv("ADSUNIFY_TOKEN", "adu_...")
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *files, **named: None)
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", lambda *files: None)
    exec(compile(code, "client.md", "exec"), {})
