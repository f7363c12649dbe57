"""One advertising API over many ad networks: prepare a change, have it reviewed, execute it, read its results.

``import adsunify`` is fast: each public name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .adapter.network import Account
    from .client import Ads, AsyncAds
    from .errors import AdsunifyError, InvalidInput, OperationError, ProviderError
    from .models.brief import CampaignBrief, read_brief
    from .planning import plan

__version__ = "0.1.0"

_MODULE_BY_NAME = {
    "Account": "adapter.network",
    "Ads": "client",
    "AdsunifyError": "errors",
    "AsyncAds": "client",
    "CampaignBrief": "models.brief",
    "InvalidInput": "errors",
    "OperationError": "errors",
    "ProviderError": "errors",
    "plan": "planning",
    "read_brief": "models.brief",
}
__all__ = [
    "Account",
    "Ads",
    "AdsunifyError",
    "AsyncAds",
    "CampaignBrief",
    "InvalidInput",
    "OperationError",
    "ProviderError",
    "plan",
    "read_brief",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
    globals()[name] = value
    return value
