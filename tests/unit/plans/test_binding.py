"""Plans as data: bindings, outputs, promises, overlays, digests."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from pathlib import Path

import pytest
from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from adsunify.errors import InvalidInput, ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.plans.binding import apply_overlay, extract_outputs, fill_bindings, has_expected_values
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import (
    Binding,
    Change,
    Expectation,
    ItemBatch,
    Output,
    Overlay,
    Plan,
    Step,
    add_operation_marks,
    build_marked_body,
    encode_plan,
    make_plan,
)
from adsunify.values.exact_json import Json, dumps_canonical, loads


def step(key: str = "one", **members: object) -> Step:
    request = Request("POST", "https://api.example/{p}/things", body={"a": [{"b": 1}, {"b": 2}]}, encoding="json")
    return evolve(Step(key, "campaign", "makes a thing", request), **members)


FULL = step(
    "two",
    bindings=(
        Binding("/body/a/1/c", "one", "id", prefix="urn:"),
        Binding("/path/p", "one", "id"),
        Binding("/query/n", "one", "id", cast="integer"),
    ),
    outputs=(Output("id", ("/body/id", "/headers/x-id"), separator=":"),),
    expectations=(Expectation("/body/success", True),),
    items=ItemBatch("/body/a", "ids", sent="b"),
    overlay=Overlay(
        Request("GET", "https://api.example/t"), "/thing", "/body/thing", ("x",), {"/a": Decimal("1.5")}, ("/y",)
    ),
    can_be_empty=True,
    entity="7",
    parent="6",
    changes=(Change("budget", "1", "2"),),
)
MARKS = (
    IdempotencyMark("/body/n"),
    IdempotencyMark("/headers/Idempotency-Key", "key"),
    IdempotencyMark("/body/name", "short", "Tea "),
)
MARKED = evolve(FULL, marks=MARKS)


def test_everything_of_a_plan_survives_the_store() -> None:
    plan = make_plan("meta", "create", "act_1", [step(), MARKED], ["mind the days"], "spend")
    stored = encode_plan(plan)
    again = Plan.from_bytes(stored, plan.digest)
    assert again == plan
    assert encode_plan(again) == stored


def test_a_changed_plan_is_not_read() -> None:
    plan = make_plan("meta", "create", "act_1", [step()])
    with pytest.raises(ValueError, match="digest"):
        Plan.from_bytes(encode_plan(plan).replace(b"things", b"thongs"), plan.digest)


def test_a_plan_has_a_step_and_looks_only_back() -> None:
    with pytest.raises(InvalidInput):
        make_plan("meta", "create", "act_1", [])
    with pytest.raises(ValueError):
        make_plan("meta", "create", "act_1", [FULL, step()])
    with pytest.raises(ValueError):
        make_plan("meta", "create", "act_1", [step(), step()])


def test_bindings_fill_body_path_and_query_and_leave_the_plan_alone() -> None:
    before = dumps_canonical(FULL.to_json())
    request = fill_bindings(FULL, {"one": {"id": "42"}})
    assert request.body == {"a": [{"b": 1}, {"b": 2, "c": "urn:42"}]}
    assert request.path == {"p": "42"}
    assert request.query == {"n": 42}
    assert dumps_canonical(FULL.to_json()) == before


def test_only_some_items_are_sent_with_their_own_bindings() -> None:
    request = fill_bindings(FULL, {"one": {"id": "42"}}, only=[1])
    assert request.body == {"a": [{"b": 2, "c": "urn:42"}]}


def test_a_binding_takes_only_one_id() -> None:
    with pytest.raises(ValueError):
        fill_bindings(FULL, {"one": {"id": ["1", "2"]}})
    with pytest.raises(LookupError):
        fill_bindings(FULL, {})


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_what_a_caller_writes_never_becomes_a_reference(name: str, native: dict[str, str]) -> None:
    body = {"name": name, "targeting": native}
    literal_step = evolve(step(), request=Request("POST", "https://api.example/x", body=body, encoding="json"))
    assert fill_bindings(literal_step, {"one": {"id": "42"}}).body == body


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (Response(200, {}, {"id": "urn:thing:9"}), {"id": "9"}),
        (Response(200, {"x-id": "urn:8"}, None, "empty"), {"id": "8"}),
        (Response(200, {}, {"id": 7}), {"id": "7"}),
        (Response(200, {}, {"id": ""}), None),
        (Response(200, {}, {"id": True}), None),
        (Response(200, {}, {"id": ["1"]}), None),
        (Response(200, {}, {}), None),
        (Response(200, {}, [], "json"), None),
    ],
)
def test_outputs_come_from_the_first_pointer_that_finds_an_id(response: Response, expected: object) -> None:
    assert extract_outputs(FULL, response) == expected


def test_several_ids_come_as_a_list() -> None:
    many = step(outputs=(Output("hashes", ("/body/images/*/hash",)),))
    assert extract_outputs(many, Response(200, {}, {"images": {"a": {"hash": "x"}, "b": {"hash": "y"}}})) == {
        "hashes": ["x", "y"]
    }
    assert extract_outputs(many, Response(200, {}, {"images": {"a": {"hash": "x"}, "b": {"hash": None}}})) is None


@pytest.mark.parametrize(("body", "good"), [({"success": True}, True), ({"success": 1}, False), ({}, False)])
def test_a_promise_is_kept_to_the_letter(body: object, good: bool) -> None:
    assert (
        has_expected_values(step(expectations=(Expectation("/body/success", True),)), Response(200, {}, body)) is good
    )


def test_an_overlay_keeps_what_it_does_not_change() -> None:
    read = Response(200, {}, {"thing": {"x": 1, "y": 2, "z": 3, "a": 0}})
    request = apply_overlay(FULL, FULL.request, read)
    assert request.body["thing"] == {"z": 3, "a": Decimal("1.5")}
    assert read.body["thing"]["x"] == 1


@pytest.mark.parametrize("response", [Response(200, {}, {}), Response(500, {}, {"thing": {}}), Response(204)])
def test_an_overlay_that_cannot_be_read_changes_nothing(response: Response) -> None:
    with pytest.raises(ProviderUnreadable):
        apply_overlay(FULL, FULL.request, response)


def test_marks_tell_one_operation_from_another_and_stay_the_same_for_one() -> None:
    plan = make_plan("x", "create", "1", [step(), MARKED])
    mine, again, other = (
        add_operation_marks(plan, "op-1"),
        add_operation_marks(plan, "op-1"),
        add_operation_marks(plan, "op-2"),
    )
    request = mine.get_step("two").request
    assert request.body["n"] == str(int.from_bytes(hashlib.sha256(b"op-1:two").digest()[:8], "big") >> 1)
    assert request.headers["Idempotency-Key"] == "op-1-two"
    assert request.body["name"] == "Tea " + hashlib.sha256(b"op-1").hexdigest()[:8]
    assert mine == again and mine != other and mine.get_step("one") == other.get_step("one")
    assert mine.digest == other.digest == plan.digest and mine.canonical_bytes == plan.canonical_bytes
    assert add_operation_marks(Plan.from_bytes(mine.canonical_bytes, mine.digest), "op-1") == mine


def test_marks_change_the_marked_places_and_nothing_else() -> None:
    url, body = "https://api.example/{p}/things", {"a": [{"b": 1}], "c": 4}
    request = Request("PUT", url, {"p": "1"}, {"q": "2"}, {"h": "3"}, body, "json", "write", "raw=1", "bytes", False)
    whole = evolve(MARKED, request=request, action="update")
    for record in (request, whole):
        assert [of.name for of in fields(type(record)) if getattr(record, of.name) == of.default] == []
    marked = add_operation_marks(make_plan("x", "edit", "1", [step(), whole]), "op-1").get_step("two")
    assert marked.request != request
    assert evolve(marked, request=request) == whole
    assert evolve(marked.request, headers=request.headers, body=request.body) == request
    assert request.headers == {"h": "3"} and request.body == {"a": [{"b": 1}], "c": 4}


def test_marks_of_no_operation_follow_from_what_the_plan_does() -> None:
    first, again = (add_operation_marks(make_plan("x", "create", "1", [step(), MARKED])) for _ in range(2))
    elsewhere = evolve(MARKED, request=evolve(MARKED.request, url="https://api.example/t"))
    other = add_operation_marks(make_plan("x", "create", "1", [step(), elsewhere]))
    assert first == again
    assert first.get_step("two").request.body["n"] != other.get_step("two").request.body["n"]


def test_a_step_without_its_marks_is_never_sent() -> None:
    outputs = {"one": {"id": "42"}}
    plan = make_plan("x", "create", "1", [step(), MARKED])
    with pytest.raises(ValueError, match="no marks"):
        fill_bindings(plan.get_step("two"), outputs)
    for lost in MARKS:
        some = evolve(MARKED, marks=tuple(mark for mark in MARKS if mark is not lost))
        short = evolve(
            add_operation_marks(make_plan("x", "create", "1", [step(), some]), "op-1").get_step("two"), marks=MARKS
        )
        with pytest.raises(ValueError, match="no marks"):
            fill_bindings(short, outputs)
    assert (
        fill_bindings(add_operation_marks(plan, "op-1").get_step("two"), outputs).headers["Idempotency-Key"]
        == "op-1-two"
    )


def test_a_plan_without_marks_is_the_same_for_every_operation() -> None:
    plan = make_plan("x", "create", "1", [step()])
    assert add_operation_marks(plan, "op-1") is plan


# -- plans of before --------------------------------------------------------------------------------------------------

BEFORE: Json = loads((Path(__file__).parent / "plans_with_marks.json").read_bytes())
"""Plans whose stored bytes hold the values of their marks, as 3595d86 wrote them, with the requests that it sent."""


@pytest.mark.parametrize("old", BEFORE, ids=[case["network"] for case in BEFORE])
def test_a_stored_plan_that_holds_its_marks_is_shown_and_sent_as_before(old: Json) -> None:
    plan = add_operation_marks(Plan.from_bytes(old["stored"].encode("ascii"), old["digest"]), old["operationId"])
    stored = {row["key"]: row for row in loads(old["stored"])["steps"]}
    sent = {step.key: step for step in plan.steps if step.marks}
    assert list(sent) == [marked_step["key"] for marked_step in old["marked"]]
    for marked_step in old["marked"]:
        assert dumps_canonical(sent[marked_step["key"]].request.to_json()) == dumps_canonical(marked_step["request"])
        assert build_marked_body(stored[marked_step["key"]], old["operationId"]) == marked_step["request"].get("body")
        outputs = {binding.step: {binding.output: "7"} for binding in sent[marked_step["key"]].bindings}
        assert fill_bindings(sent[marked_step["key"]], outputs).headers == marked_step["request"].get("headers", {})
