"""Finds adapters of other distributions by their entry points.

``ADSUNIFY_ADAPTERS`` names the codes of the networks to load, separated by commas. No other adapter is imported,
because adapters receive credentials.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib import import_module
from importlib.metadata import entry_points

from adsunify.adapter.conformance import find_adapter_errors
from adsunify.adapter.protocols import Adapter
from adsunify.errors import InvalidInput, invalid_input
from adsunify.networks import ADAPTERS_VARIABLE

GROUP = "adsunify.networks"
"""The group of the entry points: the name is the code of the network, the value is the package of the adapter."""
_is_code = re.compile("[a-z]{1,20}").fullmatch


def find_external_packages(codes: str, built_in: Collection[str]) -> Mapping[str, str]:
    """Return the packages of the adapters that ``ADSUNIFY_ADAPTERS`` names, by code; nothing is imported.

    Args:
        codes: the value of the variable.
        built_in: codes that no other distribution can take.

    Raises:
        InvalidInput: a code is malformed or built in, or it has no entry point or more than one.
    """
    installed = entry_points(group=GROUP)
    packages = {}
    for code in filter(None, (part.strip() for part in codes.split(","))):
        package_names = sorted({point.value for point in installed if point.name == code})
        if not _is_code(code):
            raise _make_refusal(f"{code!r} must be 1 to 20 letters from a to z.")
        if code in built_in:
            raise _make_refusal(f"{code} is a network of adsunify itself; choose another code.")
        if not package_names:
            known = ", ".join(sorted({point.name for point in installed})) or "none"
            raise _make_refusal(
                f"No installed package has an entry point {code} in the group {GROUP}. Installed: {known}."
            )
        if len(package_names) > 1:
            raise _make_refusal(f"Several packages are an adapter of {code}: {', '.join(package_names)}.")
        packages[code] = package_names[0]
    return packages


def load_external_adapter(code: str, package: str) -> Adapter:
    """Import an adapter and compare it with the Protocols. Raises InvalidInput with everything that is missing."""
    try:
        module = import_module(package)
    except ImportError as problem:
        raise _make_refusal(f"{package}, the adapter of {code}, cannot be imported: {problem}") from problem
    if errors := list(find_adapter_errors(code, module)):
        text = f"{package} is not an adapter of {code}: {'; '.join(errors)}. docs/adapters.md describes an adapter."
        raise _make_refusal(text)
    adapter: Adapter = module.ADAPTER
    return adapter


def _make_refusal(text: str) -> InvalidInput:
    return invalid_input(ADAPTERS_VARIABLE, "choice", text)
