"""The REST API, the command line and the plans are as they were recorded."""

from __future__ import annotations

import json

import pytest

from .recording import FOLDER, HELD, as_text, drop_networks


@pytest.mark.parametrize("name", HELD)
def test_interface_is_as_recorded(name: str) -> None:
    recorded = json.loads((FOLDER / name).read_text())
    current = json.loads(as_text(HELD[name]()))
    differing = {key for key in recorded.keys() | current.keys() if recorded.get(key) != current.get(key)}
    assert not differing, f"{name} changed at: {sorted(differing)[:20]}. `python -m tests.golden` records it again."


@pytest.mark.parametrize("name", HELD)
def test_a_network_leaves_no_trace_when_it_is_dropped(name: str) -> None:
    """``python -m tests.golden --new-networks`` records a new network, and nothing else that changed."""
    recorded = json.loads((FOLDER / name).read_text())
    dropped = drop_networks(recorded, {"apple"})
    assert as_text(dropped).count("apple") == 0 < as_text(recorded).count("apple")
    assert drop_networks(recorded, set()) == recorded
