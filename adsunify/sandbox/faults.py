"""Faults that a test requests in advance: which call fails, and how."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any

from attrs import define

from adsunify.sandbox.checks import choice, integer, record, text
from adsunify.sandbox.parsing import InvalidRequest

# the `value` of each fault: (whether it is required, minimum, maximum); None if the fault takes no value
_FAULT_VALUES: Mapping[str, tuple[bool, int, int] | None] = {
    "latency": (True, 0, 600_000),  # milliseconds
    "reset_before": None,
    "reset_after": None,
    "status": (True, 300, 599),  # HTTP status
    "truncate": None,
    "html": None,
    "empty": None,
    "partial": None,
    "error_in_200": None,
    "slow_media": (False, 0, 600_000),  # retryAfterMs
}
HANDLER_FAULTS = frozenset({"partial", "error_in_200", "slow_media"})  # performed by the network's handler


@define
class Fault:
    """A requested fault; `times` counts down to 0."""

    network: str
    name: str
    method: str | None
    path: str | None
    value: int | None
    times: int
    retry_after: int | None = None
    """Seconds of the header `Retry-After` of the fault `status`. They replace the network's own wait."""

    def matches(self, network: str, method: str, host: str, path: str, api: bool, natively: Collection[str]) -> bool:
        """Whether the fault applies to this call.

        A fault without `path` applies only to calls of the ad API (`api`), not to log-ins or downloads. A fault that
        only a handler can perform applies only if the route names it: `natively` has the faults that the route names.
        """
        return (
            self.network == network
            and self.method in (None, method)
            and (api if self.path is None else _matches_path(self.path, host, path))
            and (self.name not in HANDLER_FAULTS or self.name in natively)
        )


def _matches_path(pattern: str, host: str, path: str) -> bool:
    """Whether `pattern` matches the native path or `/HOST/native/path`.

    With one of `*?[` the pattern is a glob, otherwise a prefix.
    """
    for candidate in (path, f"/{host}{path}"):
        if fnmatchcase(candidate, pattern) if set("*?[") & set(pattern) else candidate.startswith(pattern):
            return True
    return False


@define
class FaultQueue:
    """The requested faults in order. The first one that matches a call is used, and its `times` falls by one."""

    pending: list[Fault]

    def take_next(
        self, network: str, method: str, host: str, path: str, api: bool, natively: Collection[str]
    ) -> Fault | None:
        """Return the fault for this call, or None."""
        for fault in self.pending:
            if fault.matches(network, method, host, path, api, natively):
                fault.times -= 1
                if not fault.times:
                    self.pending.remove(fault)
                return fault
        return None


def parse_fault(content: Any, networks: Collection[str]) -> Fault:
    """Parse the body of `POST /_sandbox/faults`. Raises InvalidRequest."""
    members = record(
        required={"network": choice(*networks), "fault": choice(*_FAULT_VALUES)},
        optional={
            "method": choice("GET", "POST", "PUT", "PATCH", "DELETE"),
            "path": text(pattern="/.*"),
            "value": integer(),
            "times": integer(1, 1_000_000),
            "retryAfter": integer(1, 86_400),
        },
    )(content, "")
    fault, value = members["fault"], members.get("value")
    limits = _FAULT_VALUES[fault]
    if limits is None and value is not None:
        raise InvalidRequest("value", "/value", f"{fault} takes no value")
    if limits is not None and value is None and limits[0]:
        raise InvalidRequest("required", "/value", f"{fault} needs a value from {limits[1]} to {limits[2]}")
    if limits is not None and value is not None:
        integer(limits[1], limits[2])(value, "/value")
    if fault != "status" and "retryAfter" in members:
        raise InvalidRequest("value", "/retryAfter", f"{fault} takes no retryAfter")
    return Fault(
        members["network"],
        fault,
        members.get("method"),
        members.get("path"),
        value,
        members.get("times", 1),
        members.get("retryAfter"),
    )
