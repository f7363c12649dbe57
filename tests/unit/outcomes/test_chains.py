"""What a chain has applied, from receipts, verdicts and what earlier plans carried."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.execution.state import ItemReceipt, Receipt
from adsunify.outcomes.chains import read_chain_progress
from adsunify.outcomes.verdicts import ItemVerdict, StepVerdict
from adsunify.plans.records import Carried, Plan
from tests.unit.execution.driving import batch, create, make_response, plan, play

PLAN = plan(create("one"), create("two", "one"), batch("three", 3))


def make_receipt(key: str, state: Any, **members: Any) -> Receipt:
    return Receipt([step.key for step in PLAN.steps].index(key), key, 1, state, **members)


def make_verdict(key: str, verdict: Any, **members: Any) -> StepVerdict:
    return StepVerdict(key, 1, verdict, "Because.", **members)


APPLIED = make_receipt("one", "applied", outputs={"id": "1"})
LOST = make_receipt("two", "ambiguous")


def test_a_step_in_doubt_needs_a_verdict() -> None:
    progress = read_chain_progress(PLAN, [APPLIED, LOST], {}, {("two", 1)}, ())
    assert (progress.undecided, set(progress.carried)) == (("two",), {"one"})
    undecided = make_verdict("two", "undecided")
    assert read_chain_progress(PLAN, [APPLIED, LOST], {}, {("two", 1)}, [undecided]) == progress


@pytest.mark.parametrize(("verdict", "remaining"), [("applied", ("three",)), ("not_applied", ("two", "three"))])
def test_a_verdict_decides(verdict: Any, remaining: tuple[str, ...]) -> None:
    outputs = {"id": "2"} if verdict == "applied" else {}
    given_ = make_verdict("two", verdict, outputs=outputs)
    progress = read_chain_progress(PLAN, [APPLIED, LOST], {}, {("two", 1)}, [given_])
    assert (progress.undecided, progress.remaining) == ((), remaining)
    assert progress.carried.get("two") == (Carried({"id": "2"}) if outputs else None)
    assert progress.applied_verdicts == ((given_,) if outputs else ())


def test_a_receipt_wins_over_what_was_carried() -> None:
    """A verdict about an older operation counts while its attempt is in doubt, and not after a late receipt."""
    resumed = evolve(PLAN, carried={"two": Carried({"id": "wrong"})})
    assert read_chain_progress(resumed, [LOST], {"two": None}, (), ()).carried == resumed.carried
    late = make_receipt("two", "applied", outputs={"id": "right"})
    assert read_chain_progress(resumed, [late], {}, (), ()).carried == {"two": Carried({"id": "right"})}
    assert read_chain_progress(resumed, [make_receipt("two", "rejected")], {}, (), ()).carried == {}


def test_a_late_receipt_of_an_older_operation_decides_no_attempt_of_the_last_one() -> None:
    """Both operations sent the step: what the last one wrote must be known before anything carries on."""
    receipts = [make_receipt("two", "applied", outputs={"id": "older"}), LOST]
    assert read_chain_progress(PLAN, receipts, {}, {("two", 1)}, ()).undecided == ("two",)
    applied = make_verdict("two", "applied", outputs={"id": "double"})
    progress = read_chain_progress(PLAN, receipts, {}, {("two", 1)}, [applied])
    assert (progress.undecided, progress.applied_verdicts) == ((), (applied,))
    assert progress.carried == {"two": Carried({"id": "older"})}


def test_what_an_inspection_finds_later_in_an_older_operation_is_carried() -> None:
    verdict = make_verdict("two", "applied", outputs={"id": "2"})
    progress = read_chain_progress(PLAN, [LOST], {"two": verdict}, (), ())
    assert (progress.carried, progress.applied_verdicts) == ({"two": Carried({"id": "2"})}, (verdict,))
    refuted = make_verdict("two", "not_applied")
    assert read_chain_progress(PLAN, [LOST], {"two": refuted}, (), ()).carried == {}


def test_items_of_several_operations_add_up() -> None:
    receipts = [
        make_receipt("three", "rejected", items=(ItemReceipt(0, "applied", "a"), ItemReceipt(1, "rejected"))),
        make_receipt("three", "ambiguous", items=(ItemReceipt(1, "ambiguous"), ItemReceipt(2, "ambiguous"))),
    ]
    items = (ItemVerdict(1, "applied", "b"), ItemVerdict(2, "not_applied"))
    verdict = make_verdict("three", "not_applied", items=items)
    progress = read_chain_progress(PLAN, receipts, {}, {("three", 1)}, [verdict])
    assert progress.carried == {"three": Carried(None, {0: "a", 1: "b"})}
    whole = evolve(verdict, items=(items[0], ItemVerdict(2, "applied", "c")))
    progress = read_chain_progress(PLAN, receipts, {}, {("three", 1)}, [whole])
    assert progress.carried == {"three": Carried({"id": ["a", "b", "c"]}, {0: "a", 1: "b", 2: "c"})}


@given(st.sets(st.sampled_from(["one", "two"])), st.sets(st.integers(0, 2)))
def test_the_executor_sends_what_is_not_carried(steps: set[str], items: set[int]) -> None:
    carried = {key: Carried({"id": f"carried {key}"}) for key in steps}
    if items:
        carried["three"] = Carried(None, {index: f"item {index}" for index in items})
    resumed = evolve(PLAN, carried=carried)
    assert Plan.from_bytes(resumed.canonical_bytes, resumed.digest) == resumed
    assert (resumed.digest == PLAN.digest) is (not carried)
    creates = [key for key in ("one", "two") if key not in steps]
    left = [index for index in range(3) if index not in items]
    answers = [make_response(key) for key in creates]
    played = play(resumed, [*answers, make_response("x")] if left else answers)
    sent_steps = [request.url.rsplit("/", 1)[-1] for request in played.sent_requests]
    assert sent_steps == [*creates, *(["three"] if left else [])]
    if "two" in creates:
        parent = "carried one" if "one" in steps else "one"
        assert played.sent_requests[creates.index("two")].body["parent"] == parent
    if left:
        assert [row["item"] for row in played.sent_requests[-1].body["rows"]] == left
