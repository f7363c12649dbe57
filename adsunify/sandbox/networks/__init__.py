"""The simulated networks: one folder each, named by the code of the network, with one `NETWORK`.

Other distributions provide more networks by entry points of the group `adsunify.sandboxes`: the name is the code of the
network, the value is a package with one `NETWORK`. `ADSUNIFY_ADAPTERS` names the networks to load, separated by commas.
"""

import os
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adsunify.sandbox.network import Network

GROUP = "adsunify.sandboxes"
VARIABLE = "ADSUNIFY_ADAPTERS"


def load_networks() -> "dict[str, Network]":
    """Import every simulated network, and return them by code, in alphabetical order."""
    packages = {module.name: f"{__name__}.{module.name}" for module in iter_modules(__path__) if module.ispkg}
    codes = {code.strip() for code in os.environ.get(VARIABLE, "").split(",")}
    external = entry_points(group=GROUP) if any(codes) else ()
    packages = {point.name: point.value for point in external if point.name in codes} | packages
    return {code: import_module(package).NETWORK for code, package in sorted(packages.items())}
