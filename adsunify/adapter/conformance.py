"""Compares an adapter of another distribution with the Protocols when it is loaded.

mypy makes the same comparison for the adapters of this repository, with the types of parameters and results.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType

from . import API_VERSION, protocols
from .protocols import Adapter

PROTOCOL_BY_FIELD: dict[str, type] = {
    "native": protocols.Native,
    "settings": protocols.Settings,
    "tables": protocols.Tables,
    "reads": protocols.Reads,
    "plans": protocols.Plans,
    "native_targeting": protocols.NativeTargeting,
    "editable_targeting": protocols.EditableTargeting,
    "authorization": protocols.AuthorizationFlows,
    "request_tokens": protocols.RequestTokenFlows,
    "credentials": protocols.CredentialFlows,
}
"""The Protocol of each field of :class:`~adsunify.adapter.protocols.Adapter`."""
LOGIN_FIELDS = ("authorization", "request_tokens", "credentials")


def find_adapter_errors(code: str, package: object) -> Iterator[str]:
    """Yield the reasons why a package cannot be the adapter of the network ``code``, as messages for its author.

    Args:
        code: the name of the package's entry point.
        package: the imported package. It needs ``API_VERSION``, the version of the adapter API that it was written
            for, and ``ADAPTER``.
    """
    version = getattr(package, "API_VERSION", None)
    if version != API_VERSION:
        yield f"API_VERSION is {version!r}; this version of adsunify takes adapters of version {API_VERSION}"
    adapter = getattr(package, "ADAPTER", None)
    if not isinstance(adapter, Adapter):
        yield "ADAPTER is missing, or is not an adsunify.adapter.protocols.Adapter"
        return
    errors = list(_find_member_errors(adapter))
    yield from errors
    if not errors and adapter.network.code != code:
        yield f"the code of its NETWORK is {adapter.network.code!r}; it must be the name of the entry point, {code!r}"


def _find_member_errors(adapter: Adapter) -> Iterator[str]:
    logins = [field for field in LOGIN_FIELDS if getattr(adapter, field) is not None]
    if len(logins) != 1:
        yield f"exactly one of {', '.join(LOGIN_FIELDS)} must be given; {' and '.join(logins) or 'none'} is given"
    for field, protocol in PROTOCOL_BY_FIELD.items():
        module = getattr(adapter, field)
        if module is None and field in ("native_targeting", "editable_targeting", *LOGIN_FIELDS):
            continue
        for name, declared in _list_members(protocol):
            member = getattr(module, name, None)
            if member is None:
                yield f"{field}.{name} is missing"
            elif isinstance(declared, FunctionType):
                required = [*inspect.signature(declared).parameters][1:]  # without ``self``
                if not callable(member):
                    yield f"{field}.{name} is not a function"
                elif (parameters := [*inspect.signature(member).parameters]) != required:
                    yield f"{field}.{name} takes ({', '.join(parameters)}); it must take ({', '.join(required)})"


def _list_members(protocol: type) -> Iterator[tuple[str, object]]:
    for owner in protocol.__mro__:
        if getattr(owner, "_is_protocol", False):
            yield from ((name, member) for name, member in vars(owner).items() if not name.startswith("_"))
