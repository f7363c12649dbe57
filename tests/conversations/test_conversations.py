"""A recorded conversation comes to the same end without the network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.store import clock

from .conversation import find_recordings, kept, opened, talk


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
async def test_conversation(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the same operation ids each time: some networks are sent what follows from them
    monkeypatch.setattr(clock, "_last_id", 0)
    monkeypatch.setattr(clock, "get_random_bytes", lambda: bytes(16))
    async with opened(network, tmp_path) as (service, actor, code, cassette):
        result = await talk(service, actor, network, code)
    assert json.loads(json.dumps(result)) == kept(network, result)
    assert result["created"][0] == result["activated"] == "succeeded"
    assert result["rows"]
    assert cassette.unexpected == cassette.unplayed == []


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_no_secret_is_on_a_cassette(network: str) -> None:
    text = (find_recordings(network) / "exchanges.json").read_text()
    assert "sandbox-secret" not in text
    assert "Authorization" not in text
    assert not re.search(r"Bearer [A-Za-z0-9]", text)
