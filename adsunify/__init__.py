"""One advertising API over many ad networks: prepare a change, have it reviewed, execute it, read its results.

``import adsunify`` is fast: each public name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answers import Account, Operation
    from .client import Ads, AsyncAds, AsyncPages, AsyncReport, Pages, Report
    from .contract.requests import KeyScope, Status
    from .errors import (
        AdsunifyError,
        Conflict,
        Forbidden,
        GuardrailRefused,
        InvalidInput,
        Issue,
        LookupNeeded,
        MissingExtra,
        NativeErrorDetails,
        NotFound,
        OperationError,
        PermissionRefused,
        PlanStale,
        ProviderError,
        ProviderNotFound,
        ProviderThrottled,
        ProviderUnreadable,
        RateLimited,
        RuleBreach,
        ServerConnectionError,
        ServerUnreachable,
        StaleValue,
        StoreError,
        TokenRefused,
        Unauthenticated,
        ValuesMoved,
        VaultError,
    )
    from .events import EventName
    from .models.alert import AlertKind, AlertScope
    from .models.brief import (
        Budget,
        CampaignBrief,
        Creative,
        Keyword,
        Locale,
        Platform,
        Schedule,
        Targeting,
        read_brief,
    )
    from .models.edit import EditBody, EditTargeting, Item
    from .models.guardrail import GuardedAction, RuleClient, RuleScope, SpendLimits, SpendWindow
    from .models.launch import LaunchAccount
    from .planning import NativeAccount, plan
    from .plans.records import Kind
    from .values.network_codes import ExternalNetwork, NetworkCode

__version__ = "0.1.0"

_MODULE_BY_NAME = {
    "Account": "answers",
    "Ads": "client",
    "AlertKind": "models.alert",
    "AlertScope": "models.alert",
    "AdsunifyError": "errors",
    "AsyncAds": "client",
    "AsyncPages": "client",
    "AsyncReport": "client",
    "Budget": "models.brief",
    "CampaignBrief": "models.brief",
    "Conflict": "errors",
    "Creative": "models.brief",
    "EditBody": "models.edit",
    "EditTargeting": "models.edit",
    "EventName": "events",
    "ExternalNetwork": "values.network_codes",
    "Forbidden": "errors",
    "GuardedAction": "models.guardrail",
    "GuardrailRefused": "errors",
    "InvalidInput": "errors",
    "Issue": "errors",
    "Item": "models.edit",
    "KeyScope": "contract.requests",
    "Keyword": "models.brief",
    "Kind": "plans.records",
    "Locale": "models.brief",
    "LookupNeeded": "errors",
    "MissingExtra": "errors",
    "LaunchAccount": "models.launch",
    "NativeAccount": "planning",
    "NativeErrorDetails": "errors",
    "NetworkCode": "values.network_codes",
    "NotFound": "errors",
    "Operation": "answers",
    "OperationError": "errors",
    "Pages": "client",
    "PermissionRefused": "errors",
    "PlanStale": "errors",
    "Platform": "models.brief",
    "ProviderError": "errors",
    "ProviderNotFound": "errors",
    "ProviderThrottled": "errors",
    "ProviderUnreadable": "errors",
    "RateLimited": "errors",
    "Report": "client",
    "RuleBreach": "errors",
    "RuleClient": "models.guardrail",
    "RuleScope": "models.guardrail",
    "Schedule": "models.brief",
    "ServerConnectionError": "errors",
    "ServerUnreachable": "errors",
    "SpendLimits": "models.guardrail",
    "SpendWindow": "models.guardrail",
    "Status": "contract.requests",
    "StaleValue": "errors",
    "StoreError": "errors",
    "Targeting": "models.brief",
    "TokenRefused": "errors",
    "Unauthenticated": "errors",
    "ValuesMoved": "errors",
    "VaultError": "errors",
    "plan": "planning",
    "read_brief": "models.brief",
}
__all__ = [
    "Account",
    "Ads",
    "AdsunifyError",
    "AlertKind",
    "AlertScope",
    "AsyncAds",
    "AsyncPages",
    "AsyncReport",
    "Budget",
    "CampaignBrief",
    "Conflict",
    "Creative",
    "EditBody",
    "EditTargeting",
    "EventName",
    "ExternalNetwork",
    "Forbidden",
    "GuardedAction",
    "GuardrailRefused",
    "InvalidInput",
    "Issue",
    "Item",
    "KeyScope",
    "Keyword",
    "Kind",
    "LaunchAccount",
    "Locale",
    "LookupNeeded",
    "MissingExtra",
    "NativeAccount",
    "NativeErrorDetails",
    "NetworkCode",
    "NotFound",
    "Operation",
    "OperationError",
    "Pages",
    "PermissionRefused",
    "PlanStale",
    "Platform",
    "ProviderError",
    "ProviderNotFound",
    "ProviderThrottled",
    "ProviderUnreadable",
    "RateLimited",
    "Report",
    "RuleBreach",
    "RuleClient",
    "RuleScope",
    "Schedule",
    "ServerConnectionError",
    "ServerUnreachable",
    "SpendLimits",
    "SpendWindow",
    "StaleValue",
    "Status",
    "StoreError",
    "Targeting",
    "TokenRefused",
    "Unauthenticated",
    "ValuesMoved",
    "VaultError",
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
