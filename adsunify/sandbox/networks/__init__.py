"""The simulated networks: each code names a module that holds one `NETWORK`, imported when a sandbox starts."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adsunify.sandbox.network import Network

NETWORK_MODULES = {
    "meta": "adsunify.sandbox.networks.meta",
    "google": "adsunify.sandbox.networks.google",
    "amazon": "adsunify.sandbox.networks.amazon",
    "tiktok": "adsunify.sandbox.networks.tiktok",
    "snapchat": "adsunify.sandbox.networks.snapchat",
    "pinterest": "adsunify.sandbox.networks.pinterest",
    "linkedin": "adsunify.sandbox.networks.linkedin",
    "x": "adsunify.sandbox.networks.x",
    "reddit": "adsunify.sandbox.networks.reddit",
    "chatgpt": "adsunify.sandbox.networks.chatgpt",
    "apple": "adsunify.sandbox.networks.apple",
    "outbrain": "adsunify.sandbox.networks.outbrain",
}


def load_networks() -> "dict[str, Network]":
    """Every network of the table whose module exists, by code."""
    return {code: import_module(module).NETWORK for code, module in NETWORK_MODULES.items() if find_spec(module)}
