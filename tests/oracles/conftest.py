"""The official data, or a loud word that it is not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adsunify.values.exact_json import Json, loads

MISSING = "ADSUNIFY_SPECS is not set: payloads are NOT held against the official schemas"


@pytest.fixture(scope="session")
def spec() -> Callable[[str], Json]:
    """Reads one file of the official data, such as ``meta/marketing-api-v26.json``."""
    folder = os.environ.get("ADSUNIFY_SPECS")
    if not folder:
        pytest.skip(MISSING)

    def read(name: str) -> Json:
        return loads((Path(folder) / name).read_bytes())

    return read


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not os.environ.get("ADSUNIFY_SPECS"):
        terminalreporter.write_sep("!", MISSING, red=True, bold=True)
