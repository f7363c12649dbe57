"""The life of an operation: the table, and nothing but the table."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from adsunify.errors import NativeErrorDetails
from adsunify.execution.state import (
    REVIEW_MILLISECONDS,
    TRANSITIONS,
    IllegalTransition,
    ItemReceipt,
    OperationStatus,
    Receipt,
    Trigger,
    apply_trigger,
    is_expired,
    read_progress,
)

STATUSES = (None, *get_args(OperationStatus))
TRIGGERS = get_args(Trigger)
END = ("succeeded", "unknown", "cancelled")


@pytest.mark.parametrize(("status", "trigger"), list(product(STATUSES, TRIGGERS)))
def test_only_what_the_table_says_is_legal(status: OperationStatus | None, trigger: Trigger) -> None:
    if (status, trigger) in TRANSITIONS:
        assert apply_trigger(status, trigger) == TRANSITIONS[status, trigger]
    else:
        with pytest.raises(IllegalTransition):
            apply_trigger(status, trigger)


def test_what_has_ended_stays_as_it_is() -> None:
    assert not [key for key in TRANSITIONS if key[0] in END]


def test_each_event_of_the_contract_has_its_transition() -> None:
    events = {event for _, event in TRANSITIONS.values() if event is not None}
    assert events == {f"operation.{status}" for status in ("prepared", "running", "succeeded", "unknown", "cancelled")}


class Life(RuleBasedStateMachine):
    """Any sequence of triggers: the state follows the table, and one that has ended never moves again."""

    def __init__(self) -> None:
        super().__init__()
        self.status: OperationStatus | None = None
        self.ended: OperationStatus | None = None

    @rule(trigger=st.sampled_from(TRIGGERS))
    def pull(self, trigger: Trigger) -> None:
        before = self.status
        try:
            self.status, _ = apply_trigger(self.status, trigger)
        except IllegalTransition:
            assert self.status == before
        if self.status in END and self.ended is None:
            self.ended = self.status

    @invariant()
    def end_is_final(self) -> None:
        assert self.ended is None or self.status == self.ended


TestLife = Life.TestCase


def test_expiry_is_exact_to_the_millisecond() -> None:
    until = 1_000 + REVIEW_MILLISECONDS
    assert not is_expired(until, until - 1)
    assert is_expired(until, until)


State = Literal["applied", "rejected", "throttled", "ambiguous"]


def receipt(key: str, state: State, attempt: int = 1, **members: Any) -> Receipt:
    return Receipt(0, key, attempt, state, **members)


def test_progress_merges_the_items_of_all_attempts() -> None:
    first = receipt(
        "keywords",
        "rejected",
        items=(ItemReceipt(0, "applied", "k0"), ItemReceipt(1, "rejected", None, NativeErrorDetails("x"))),
        blame="input",
    )
    second = receipt("keywords", "applied", 2, items=(ItemReceipt(1, "applied", "k1"),), outputs={"ids": ["k0", "k1"]})
    first_progress = read_progress([first])
    assert first_progress.applied_items == {"keywords": {0: "k0"}}
    assert first_progress.outputs == {}
    both = read_progress([first, second])
    assert both.applied_items == {"keywords": {0: "k0", 1: "k1"}}
    assert both.outputs == {"keywords": {"ids": ["k0", "k1"]}}
    assert both.attempts == {"keywords": 2}


def test_an_ambiguous_or_open_step_is_doubtful() -> None:
    assert read_progress([receipt("one", "ambiguous")]).doubtful_steps == ("one",)
    assert read_progress([], ["two"]).doubtful_steps == ("two",)


@given(st.sampled_from(get_args(State)), st.text(), st.integers(1, 9))
def test_a_receipt_survives_the_store(state: State, words: str, attempt: int) -> None:
    whole = receipt(
        "one",
        state,
        attempt,
        http_status=207,
        request_id=words,
        outputs={"id": words, "ids": [words]},
        items=(ItemReceipt(3, "throttled", None, NativeErrorDetails("c", words, None, 429)),),
        response={"body": [words]},
        error=NativeErrorDetails(words),
        retry_after=5,
    )
    assert Receipt.from_json(whole.to_json()) == whole
