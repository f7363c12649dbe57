"""What a process counts while it works, for whoever watches it: plain numbers by plain words, no id and no name."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from attrs import define, field

ResponseOutcome = Literal["2xx", "3xx", "4xx", "429", "5xx", "not_sent", "lost"]
"""How a request to a network ended; ``lost``: nobody knows."""
ExecutionOutcome = Literal["succeeded", "handed_back", "rejected", "unknown", "refused", "failed"]
"""How a call to execute ended: ``refused`` wrote nothing (more), ``failed`` is the database's or a defect."""
DeliveryOutcome = Literal["delivered", "retried", "failed"]
"""What became of an attempt to deliver a notification: it comes again, or never."""

LimitName = Literal["reads", "writes", "failures", "registrations"]
"""Which limit refused a request."""


@define(eq=False)
class Counters:
    """Counts since the process began. ``network_requests``: to networks; ``executions_in_flight``: executions in flight
    now.
    """

    network_requests: Counter[tuple[str, ResponseOutcome]] = field(factory=Counter)
    executions: Counter[tuple[str, ExecutionOutcome]] = field(factory=Counter)
    delivery_attempts: Counter[DeliveryOutcome] = field(factory=Counter)
    limit_refusals: Counter[LimitName] = field(factory=Counter)
    executions_in_flight: int = 0


def status_class(status: int) -> ResponseOutcome:
    """The class of a status, of those that say "later" the one that matters."""
    if status == 429:
        return "429"
    classes: dict[int, ResponseOutcome] = {2: "2xx", 3: "3xx", 4: "4xx"}
    return classes.get(status // 100, "5xx")
