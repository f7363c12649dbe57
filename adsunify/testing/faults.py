"""The faults that a test can request from the simulated networks, and the requested faults."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Literal

from attrs import field, frozen

from adsunify.errors import invalid_input
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.sandbox.faults import HANDLER_FAULTS, Fault
from adsunify.sandbox.networks import load_networks

FaultName = Literal[
    "status",
    "reset_before",
    "reset_after",
    "latency",
    "truncate",
    "html",
    "empty",
    "partial",
    "error_in_200",
    "slow_media",
]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
MAX_TIMES = 1_000_000


@frozen
class FaultDescription:
    """A fault.

    ``behaviour``: what the network does. ``result``: the result of an operation whose write meets the fault.
    ``arguments``: the least and the greatest value of each argument; ``required``: the arguments without a default.
    """

    behaviour: str
    result: str
    arguments: Mapping[str, tuple[int, int]] = field(factory=dict)
    required: tuple[str, ...] = ()


_UNKNOWN = "`outcome_unknown`; the network has applied the write"

FAULTS: Mapping[str, FaultDescription] = {
    "status": FaultDescription(
        "sends a native error with this HTTP status; `retry_after` is the wait that a 429 names",
        "400, 403: `provider_rejected`; 401, 429: `prepared`, to be executed again; 500, 503: `outcome_unknown`",
        {"status": (300, 599), "retry_after": (1, 86_400)},
        ("status",),
    ),
    "reset_before": FaultDescription(
        "cuts the connection before it does anything", "`outcome_unknown`; the network has not applied the write"
    ),
    "reset_after": FaultDescription("does the work and cuts the connection: the response is lost", _UNKNOWN),
    "latency": FaultDescription(
        "does the work and answers later, by the machine's clock", "`succeeded`", {"seconds": (0, 600)}, ("seconds",)
    ),
    "truncate": FaultDescription("does the work and sends half of the body", _UNKNOWN),
    "html": FaultDescription("does the work and sends an HTML page in place of JSON", _UNKNOWN),
    "empty": FaultDescription("does the work and sends no body", f"{_UNKNOWN} (linkedin: `succeeded`, by its headers)"),
    "partial": FaultDescription(
        "refuses the last item of a batch and applies the others",
        "`provider_rejected`, or `outcome_unknown` where the answer does not tell which items were applied",
    ),
    "error_in_200": FaultDescription(
        "sends a native error with the status 200",
        "`provider_rejected`, or `prepared` where the error is a limit; the network has not applied the write",
    ),
    "slow_media": FaultDescription(
        "answers that an uploaded picture or video is still processed",
        "`prepared`, to be executed again, or `provider_rejected`; the network has not applied this write",
        {"seconds": (0, 600)},
    ),
}
"""The faults of :meth:`SimulatedNetworks.fail`. The last three exist on the networks that document them."""


@frozen(eq=False)
class RequestedFault:
    """A fault that a test requested. It happens to the next ``times`` requests that match."""

    network: str
    fault: str
    method: str | None
    path: str | None
    times: int
    pending: Fault
    """The fault of the simulated network, which counts down."""

    @property
    def occurrences(self) -> int:
        """How often the fault has happened so far."""
        return self.times - self.pending.times

    def __str__(self) -> str:
        name = f"status {self.pending.value}" if self.fault == "status" else self.fault
        return f"{name} for {self.method or 'any method'} {self.path or 'any path'} of {self.network}"


def make_fault(
    network: str,
    method: str | None,
    path: str | None,
    fault: str,
    arguments: Mapping[str, float | None],
    times: int,
) -> RequestedFault:
    """Make a fault from the arguments of :meth:`SimulatedNetworks.fail`.

    Args:
        network: the code of a network.
        method: None for every method.
        path: None for every path.
        fault: a name of :data:`FAULTS`.
        arguments: the arguments of the fault by name; None: it was not given.
        times: how often the fault happens.

    Raises:
        InvalidInput: an argument is wrong, is missing, or does not belong to this fault.
    """
    networks = find_simulated_networks()
    check_choice("network", network, networks)
    check_choice("fault", fault, FAULTS)
    description = FAULTS[fault]
    for name, value in arguments.items():
        if value is not None and name not in description.arguments:
            raise invalid_input(name, "not_supported", f"is not an argument of the fault {fault}.")
        if value is not None:
            check_number(name, value, *description.arguments[name])
        elif name in description.required:
            raise invalid_input(name, "required", f"is required for the fault {fault}.")
    check_number("times", times, 1, MAX_TIMES)
    if fault in HANDLER_FAULTS and fault not in networks[network]:
        others = ", ".join(code for code, names in networks.items() if fault in names)
        raise invalid_input(
            "fault", "not_supported", f"{network} has no fault {fault}. These networks have it: {others}."
        )
    if method is not None:
        check_choice("method", method, METHODS)
    pattern = None if path is None else _make_pattern(path)
    seconds, retry_after = arguments.get("seconds"), arguments.get("retry_after")
    value = arguments.get("status") if seconds is None else seconds * 1000
    pending = Fault(
        network,
        fault,
        method,
        pattern,
        None if value is None else round(value),
        times,
        None if retry_after is None else round(retry_after),
    )
    return RequestedFault(network, fault, method, path, times, pending)


@cache
def find_simulated_networks() -> Mapping[str, Collection[str]]:
    """Return the networks with an adapter and a simulation, each with those of :data:`HANDLER_FAULTS` that it has."""
    networks = load_networks()
    return {
        code: {fault for route in networks[code].routes for fault in route.faults}
        for code in ADAPTER_PACKAGES
        if code in networks
    }


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise InvalidInput for a value that is not one of the choices. The message has the most similar one."""
    if isinstance(value, str) and value in choices:
        return
    similar = (
        get_close_matches(value[:60].lower(), [choice.lower() for choice in choices], 1)
        if isinstance(value, str)
        else []
    )
    correction = next((choice for choice in choices if choice.lower() in similar), None)
    hint = f"Use one of {', '.join(choices)}." if correction is None else f"Did you mean {correction}?"
    raise invalid_input(name, "choice", f"Unknown {name}. {hint}")


def check_number(name: str, value: object, least: int, most: int) -> None:
    """Raise InvalidInput unless the value is a number of the range; only ``seconds`` may have fractions."""
    allowed = (int, float) if name == "seconds" else (int,)
    if not isinstance(value, allowed) or isinstance(value, bool) or not least <= value <= most:
        kind = "number" if name == "seconds" else "whole number"
        raise invalid_input(name, "out_of_range", f"must be a {kind} from {least} to {most}.")


def _make_pattern(path: object) -> str:
    """Return a pattern of whole paths: the given pattern, or the pattern of all paths with the given end."""
    if not isinstance(path, str) or not path.startswith("/"):
        raise invalid_input("path", "malformed", "must begin with /, as /adsets and /v26.0/*/adsets do.")
    return path if set("*?[") & set(path) else f"/*{path}"
