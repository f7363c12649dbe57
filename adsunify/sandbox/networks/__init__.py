"""The simulated networks: each folder is one, named by its code, and holds one `NETWORK`."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adsunify.sandbox.network import Network


def load_networks() -> "dict[str, Network]":
    """Every simulated network by its code, in alphabetical order; they are imported when it is first called."""
    codes = sorted(module.name for module in iter_modules(__path__) if module.ispkg)
    return {code: import_module(f"{__name__}.{code}").NETWORK for code in codes}
