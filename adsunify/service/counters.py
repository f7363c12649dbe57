"""Counters of a process for metrics. Their labels are fixed words, never ids or names."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from attrs import define, field

ResponseOutcome = Literal["2xx", "3xx", "4xx", "429", "5xx", "not_sent", "lost"]
"""The outcome of a request to a network. ``lost``: no response arrived, so the outcome is not known."""
ExecutionOutcome = Literal["succeeded", "handed_back", "rejected", "unknown", "refused", "failed"]
"""The outcome of a call to execute. ``refused``: nothing was written; ``failed``: a database error or a defect."""
DeliveryOutcome = Literal["delivered", "retried", "failed"]
"""The outcome of an attempt to deliver a notification. ``failed``: there is no further attempt."""

LimitName = Literal["reads", "writes", "failures", "registrations"]
"""The limit that refused a request."""
JobName = Literal["webhooks", "ledger", "launches", "figures", "alerts", "retention"]
"""A job that runs beside requests (:mod:`.jobs`). A server runs the first three, a worker runs all."""


@define(eq=False)
class Counters:
    """Counts since the process began. ``executions_in_flight``: executions in progress now."""

    network_requests: Counter[tuple[str, ResponseOutcome]] = field(factory=Counter)
    executions: Counter[tuple[str, ExecutionOutcome]] = field(factory=Counter)
    delivery_attempts: Counter[DeliveryOutcome] = field(factory=Counter)
    limit_refusals: Counter[LimitName] = field(factory=Counter)
    job_failures: Counter[JobName] = field(factory=Counter)
    executions_in_flight: int = 0


def status_class(status: int) -> ResponseOutcome:
    """Return the class of an HTTP status; 429 is a class by itself."""
    if status == 429:
        return "429"
    classes: dict[int, ResponseOutcome] = {2: "2xx", 3: "3xx", 4: "4xx"}
    return classes.get(status // 100, "5xx")
