"""Determines how much of an operation is written, from its plan and its receipt, as data and in words.

The functions take an operation as the API shows it (docs/spec.md, "Shapes"). REST, MCP, the pages and the shell all use
them, so all of them describe an operation in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeVar

from attrs import frozen

from adsunify.errors import AdsunifyError, WriteOutcome

ErrorT = TypeVar("ErrorT", bound=AdsunifyError)

NOTHING_WRITTEN_TEXT = "Nothing of this operation is written."
ALL_WRITTEN_TEXT = "Everything in this operation is written."
EXPIRED_ADVICE = "Prepare the change again."
FINAL_ADVICE = (
    "This operation writes nothing more. Resume it to write the rest: the new operation sends only what is not "
    "written. A second operation for the whole change would write {applied} twice."
)
RESUMABLE_ADVICE = "Until {expires_at}, executing this same operation sends only what is not written."
UNKNOWN_ADVICE = (
    "Nothing more is sent. Inspect the operation, which looks for the write at the network, and then resume it: the "
    "new operation sends only what is not written."
)
RESTORED_ADVICE = (
    "Nothing more is sent, and it is not resumed. Look at the ad account, and prepare again only what it does not have."
)
RESUMED_ADVICE = "Operation {resumed_by} carries on with it. Continue with that one."


@frozen
class Completion:
    """How much of an operation is written.

    Attributes:
        outcome: the outcome of the whole operation; ``not_applied`` only if certainly no step was applied.
        applied_steps: the keys of the steps that were applied, completely or in part.
        doubtful_steps: the keys of the steps whose outcome is not known.
        remaining_steps: the keys of the steps that are certainly not, or not completely, applied. It is empty in lists,
            which do not show the steps of plans.
        item_counts: for steps that were applied in part, the number of applied items and of all items.
        advice: a sentence about what can be done next; may be empty.
    """

    outcome: WriteOutcome
    applied_steps: tuple[str, ...]
    doubtful_steps: tuple[str, ...]
    remaining_steps: tuple[str, ...]
    item_counts: Mapping[str, tuple[int, int]]
    advice: str

    def describe_steps(self) -> str:
        """Return sentences that name the steps that are written, doubtful and not written."""
        if self.outcome == "not_applied":
            return NOTHING_WRITTEN_TEXT
        if self.outcome == "applied":
            return ALL_WRITTEN_TEXT
        labelled = (
            ("Written", self.applied_steps),
            ("Not known", self.doubtful_steps),
            ("Not written", self.remaining_steps),
        )
        return " ".join(f"{label}: {', '.join(map(self._describe_step, keys))}." for label, keys in labelled if keys)

    def describe(self) -> str:
        """Return :meth:`describe_steps` followed by the advice."""
        return join_sentences(self.describe_steps(), self.advice)

    def _describe_step(self, key: str) -> str:
        if key not in self.item_counts:
            return key
        applied, count = self.item_counts[key]
        return f"{key} ({applied} of {count} items)" if key in self.applied_steps else key


def get_operation_state(operation: Mapping[str, Any]) -> str:
    """Return the word for the state of an operation as the API shows it: its status, or ``expired`` or ``stalled``."""
    if operation["expired"]:
        return "expired"
    return "stalled" if operation["stalled"] else str(operation["status"])


def read_completion(operation: Mapping[str, Any]) -> Completion:
    """Determine how much of an operation is written. ``operation`` is as the API shows it."""
    attempts: dict[str, list[Mapping[str, Any]]] = {}
    for attempt in operation["receipt"]["steps"]:
        attempts.setdefault(attempt["key"], []).append(attempt)
    carried = operation["plan"].get("carried", {})
    planned = [step["key"] for step in operation["plan"].get("steps", ())]
    keys = planned or list(attempts)
    applied, doubtful, remaining, items = [], [], [], {}
    for key in keys:
        states = {attempt["state"] for attempt in attempts.get(key, ())}
        earlier = carried.get(key, {"outputs": None, "items": ()})
        if earlier["outputs"] is not None:
            states.add("applied")
        applied_count, count = _count_items(attempts.get(key, ()), {item["index"] for item in earlier["items"]})
        if "applied" in states or applied_count:
            applied.append(key)
        if "applied" in states:
            continue
        if states & {"ambiguous", "in_flight"}:
            doubtful.append(key)
        else:
            remaining.append(key)
        if applied_count:
            items[key] = (applied_count, count)
    if operation["status"] in ("running", "unknown") and not doubtful and remaining:
        doubtful.append(remaining.pop(0))  # steps are written in order, so the first remaining one may be in flight
    outcome = _read_outcome(operation, applied, doubtful, remaining if planned else None)
    advice = _choose_advice(operation, outcome, applied)
    return Completion(outcome, tuple(applied), tuple(doubtful), tuple(remaining), items, advice)


def attach_operation(error: ErrorT, operation: Mapping[str, Any], *, advise: bool = True) -> ErrorT:
    """Add an operation to an error: its outcome, its applied steps, and a description in the message.

    ``advise`` adds the advice to the message. Errors whose message has its own advice pass False.
    """
    completion = read_completion(operation)
    error.operation_data = operation
    error.outcome, error.applied_steps = completion.outcome, completion.applied_steps
    error.message = join_sentences(error.message, completion.describe() if advise else completion.describe_steps())
    return error


def join_sentences(*sentences: str) -> str:
    """Join sentences into one text. A full stop is added to a sentence that has none."""
    ended = (text if text.endswith((".", "!", "?")) else f"{text}." for text in map(str.strip, sentences) if text)
    return " ".join(ended)


def _count_items(attempts: Sequence[Mapping[str, Any]], carried: Set[int]) -> tuple[int, int]:
    """Return the number of applied items and of all items of a step, over all its attempts and the carried items."""
    states = [(item["index"], item["state"]) for attempt in attempts for item in attempt["items"]]
    applied = carried | {index for index, state in states if state == "applied"}
    return len(applied), len(applied | {index for index, _ in states})


def _read_outcome(
    operation: Mapping[str, Any], applied: Sequence[str], doubtful: Sequence[str], remaining: Sequence[str] | None
) -> WriteOutcome:
    if operation["status"] == "succeeded":
        return "applied"
    if doubtful or operation["status"] in ("running", "unknown"):
        return "unknown"
    if not applied:  # lists of operations do not show the carried steps of an operation
        return "partly_applied" if remaining is None and "resumes" in operation else "not_applied"
    return "applied" if remaining == [] else "partly_applied"


def _choose_advice(operation: Mapping[str, Any], outcome: WriteOutcome, applied: Sequence[str]) -> str:
    if outcome == "applied":
        return ""
    if operation.get("restoredAt"):
        return RESTORED_ADVICE
    if operation.get("resumedBy"):
        return RESUMED_ADVICE.format(resumed_by=operation["resumedBy"])
    if outcome == "unknown":
        return "" if operation["status"] == "running" and not operation["stalled"] else UNKNOWN_ADVICE
    over = operation["expired"] or operation["status"] == "cancelled"
    if outcome == "not_applied":
        return EXPIRED_ADVICE if operation["expired"] else ""
    if over:
        return FINAL_ADVICE.format(applied=", ".join(applied))
    return RESUMABLE_ADVICE.format(expires_at=operation["expiresAt"])
