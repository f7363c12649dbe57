"""The adapters: ``get_adapter("meta")`` imports one. No adapter performs I/O.

:mod:`adsunify.adapter.protocols` says what an adapter has to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from adsunify.adapter.protocols import Adapter
from adsunify.errors import invalid_input

ADAPTER_PACKAGES: Mapping[str, str] = {
    "meta": "adsunify.networks.meta",
    "google": "adsunify.networks.google",
    "tiktok": "adsunify.networks.tiktok",
    "snapchat": "adsunify.networks.snapchat",
    "pinterest": "adsunify.networks.pinterest",
    "linkedin": "adsunify.networks.linkedin",
    "reddit": "adsunify.networks.reddit",
    "amazon": "adsunify.networks.amazon",
    "x": "adsunify.networks.x",
    "chatgpt": "adsunify.networks.chatgpt",
    "apple": "adsunify.networks.apple",
    "outbrain": "adsunify.networks.outbrain",
}
"""Network code to the folder of its adapter."""


@cache
def get_adapter(code: str) -> Adapter:
    """The adapter of a network code, imported when it is first needed; InvalidInput for an unknown one."""
    if code not in ADAPTER_PACKAGES:
        raise invalid_input(
            "network", "choice", f"There is no such network here; there are {', '.join(ADAPTER_PACKAGES)}."
        )
    adapter: Adapter = import_module(ADAPTER_PACKAGES[code]).ADAPTER
    return adapter
