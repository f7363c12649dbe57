"""A recorded conversation comes to the same end without the network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.store import clock

from .conversation import find_recordings, load_expected_result, open_conversation, run_conversation


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
async def test_conversation(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the same operation ids each time: some networks are sent what follows from them
    monkeypatch.setattr(clock, "_last_id", 0)
    monkeypatch.setattr(clock, "get_random_bytes", lambda: bytes(16))
    async with open_conversation(network, tmp_path) as (service, actor, code, cassette):
        result = await run_conversation(service, actor, network, code)
    assert json.loads(json.dumps(result)) == load_expected_result(network, result)
    assert result["created"][0] == result["activated"] == "succeeded"
    assert result["rows"]
    assert cassette.unexpected == cassette.unplayed == []


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_no_secret_is_on_a_cassette(network: str) -> None:
    text = (find_recordings(network) / "exchanges.json").read_text()
    assert "sandbox-secret" not in text
    assert "Authorization" not in text
    assert not re.search(r"Bearer [A-Za-z0-9]", text)
