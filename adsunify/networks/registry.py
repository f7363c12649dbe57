"""Finds adapters: ``get_adapter("meta")`` imports one.

Each folder of :mod:`adsunify.networks` is the adapter of the network whose code is the folder's name. Other
distributions provide further adapters (:mod:`adsunify.networks.external`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from adsunify import networks
from adsunify.errors import invalid_input
from adsunify.networks import ADAPTERS_VARIABLE

if TYPE_CHECKING:
    from adsunify.adapter.protocols import Adapter

ADAPTER_PACKAGES: Mapping[str, str]
"""Network code -> the package of its adapter. The first use lists the folders and imports no adapter."""

PUBLISHED_ORDER = (
    *("meta", "google", "tiktok", "snapchat", "pinterest", "linkedin"),
    *("reddit", "amazon", "x", "chatgpt", "apple", "outbrain"),
)
"""The order in which the API and the command line list these networks. It is part of the API and does not change.

Other networks follow them in alphabetical order.
"""


def __getattr__(name: str) -> Mapping[str, str]:
    if name == "ADAPTER_PACKAGES":
        return discover_packages()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def find_built_in_packages() -> Mapping[str, str]:
    """Return the packages of the folders of :mod:`adsunify.networks`, by network code."""
    folders = sorted(module.name for module in iter_modules(networks.__path__) if module.ispkg)
    codes = dict.fromkeys((*PUBLISHED_ORDER, *folders))
    return {code: f"{networks.__name__}.{code}" for code in codes if code in folders}


@cache
def discover_packages() -> Mapping[str, str]:
    """Return :data:`ADAPTER_PACKAGES`: the folders of :mod:`adsunify.networks`, then the adapters from outside.

    Raises InvalidInput if ``ADSUNIFY_ADAPTERS`` names an adapter that cannot be loaded.
    """
    built_in = find_built_in_packages()
    if not os.environ.get(ADAPTERS_VARIABLE):
        return built_in
    from .external import find_external_packages

    return {**built_in, **find_external_packages(os.environ[ADAPTERS_VARIABLE], built_in)}


@cache
def get_adapter(code: str) -> Adapter:
    """Return the adapter of a network, imported at the first call. Raises InvalidInput for an unknown code."""
    packages = discover_packages()
    if code not in packages:
        from adsunify.models.error_messages import find_similar  # pydantic is slow to import

        similar = find_similar(code.lower(), packages)
        hint = "" if similar is None else f" Did you mean {similar}?"
        raise invalid_input("network", "choice", f"Unknown network; the networks are {', '.join(packages)}.{hint}")
    if code not in find_built_in_packages():
        from .external import load_external_adapter

        return load_external_adapter(code, packages[code])
    adapter: Adapter = import_module(packages[code]).ADAPTER
    return adapter
