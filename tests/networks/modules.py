"""The modules of the folder ``tests/networks/<code>`` that the suites of all networks import."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingModule(LookupError):
    """A network whose folder lacks a module, or whose module lacks a member."""


def load_network_module(code: str, name: str, *members: str) -> Any:
    """Import ``tests/networks/<code>/<name>.py``, which must define ``members``. MissingModule says what is missing."""
    place = f"tests/networks/{code}/{name}.py"
    guide = 'see "How to add a network" in CONTRIBUTING.md'
    try:
        module = import_module(f"tests.networks.{code}.{name}")
    except ModuleNotFoundError as problem:
        raise MissingModule(f"{place} cannot be imported ({problem}); {guide}") from problem
    missing = [member for member in members if not hasattr(module, member)]
    if missing:
        raise MissingModule(f"{place} does not define {' and '.join(missing)}; {guide}")
    return module
