"""Verdicts: the outcome of a step in doubt, decided from reads of the network or by a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from adsunify.plans.records import Outputs
from adsunify.values.exact_json import Json

VerdictName = Literal["applied", "not_applied", "undecided"]


@frozen
class Evidence:
    """One read of the network.

    Attributes:
        read: a description of the read.
        at: the time of the read, in milliseconds since 1970.
        found: a description of the response.
        is_absence: whether the read was complete (all statuses, to the last page) and did not contain the write. Two
            such reads decide that a step was not applied; the second is part of a later inspection.
        item: the position of the item that the read is about; None if the step has no items.
    """

    read: str
    at: int
    found: str
    is_absence: bool = False
    item: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        value: dict[str, Json] = {"read": self.read, "at": self.at, "found": self.found}
        return value | {"isAbsence": self.is_absence, "item": self.item}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Evidence:
        """Read what :meth:`to_json` wrote."""
        return cls(value["read"], value["at"], value["found"], value["isAbsence"], value["item"])


@frozen
class ItemVerdict:
    """The verdict of one item of a step with items; ``index`` is its position in the planned array."""

    index: int
    verdict: VerdictName
    id: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {"index": self.index, "verdict": self.verdict, "id": self.id}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> ItemVerdict:
        """Read what :meth:`to_json` wrote."""
        return cls(value["index"], value["verdict"], value["id"])


@frozen
class StepVerdict:
    """The verdict of one attempt at a step.

    It does not change a status and is not a receipt; a later receipt replaces it.

    Attributes:
        step_key: the key of the step.
        attempt: the attempt in doubt.
        verdict: whether the write was applied.
        outputs: the outputs of an applied step, as a receipt has them.
        items: the verdict of each item that the attempt sent; empty if the step has no items.
        evidence: the reads, in the order in which they were made.
        reason: one sentence that says why.
        settled_by: the record of the person who settled the step (``build_actor_record``); None if reads decided.
    """

    step_key: str
    attempt: int
    verdict: VerdictName
    reason: str
    outputs: Outputs = field(factory=dict)
    items: tuple[ItemVerdict, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    settled_by: Mapping[str, Json] | None = None
