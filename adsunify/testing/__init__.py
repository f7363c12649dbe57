"""A kit for the tests of programs that use adsunify: simulated networks in this process, faults, a log, a clock.

>>> from adsunify.testing import sandbox
>>> with sandbox("meta") as networks, networks.client() as client:
...     networks.fail("meta", "POST", "/campaigns", status=429)
...     lower_budgets(client, networks.account("meta"))
...     assert [write.path for write in networks.writes("meta")] == [...]

Everything stays on 127.0.0.1. The pytest plugin has the fixtures ``ads_sandbox`` and ``ads``. The kit needs the extra
``server``. ``docs/testing.md`` is the guide. :mod:`adsunify.testing.contract` runs the JSON cases of an adapter.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .clock import SimulatedClock
    from .faults import FAULTS, FaultName, RequestedFault
    from .networks import NativeWrite, SimulatedNetworks, sandbox

_MODULE_BY_NAME = {
    "FAULTS": "faults",
    "FaultName": "faults",
    "NativeWrite": "networks",
    "RequestedFault": "faults",
    "SimulatedClock": "clock",
    "SimulatedNetworks": "networks",
    "sandbox": "networks",
}
__all__ = [
    "FAULTS",
    "FaultName",
    "NativeWrite",
    "RequestedFault",
    "SimulatedClock",
    "SimulatedNetworks",
    "sandbox",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from adsunify.errors import explain_missing_packages  # imported late, because every run of pytest loads the plugin

    with explain_missing_packages():
        value = getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
    globals()[name] = value
    return value
