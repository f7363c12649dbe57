"""The REST API, the command line and the plans are as they were recorded."""

from __future__ import annotations

import json

import pytest

from .recording import FOLDER, HELD, as_text


@pytest.mark.parametrize("name", HELD)
def test_interface_is_as_recorded(name: str) -> None:
    recorded = json.loads((FOLDER / name).read_text())
    current = json.loads(as_text(HELD[name]()))
    differing = {key for key in recorded.keys() | current.keys() if recorded.get(key) != current.get(key)}
    assert not differing, f"{name} changed at: {sorted(differing)[:20]}. `python -m tests.golden` records it again."
