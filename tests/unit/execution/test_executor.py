"""The laws of an execution, one by one."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.errors import RequestNotSent, ResponseLost
from adsunify.execution.executor import (
    Commit,
    ExecutionLimits,
    KillPoint,
    SendRead,
    SendWrite,
    execute_plan,
    list_kill_points,
)
from adsunify.execution.state import Intent, Receipt, StateCommit, read_progress
from adsunify.http.messages import Response
from adsunify.plans.records import Binding, ItemBatch, Output, Step
from adsunify.values.exact_json import Json, dumps
from tests.system.simulation.plans import NETWORK

from .driving import batch, create, make_response, plan, play, replace, write

THREE = plan(create("a"), create("b", "a"), create("c", "b"))


# -- commits ------------------------------------------------------------------------------------------------------


def test_n_steps_are_n_plus_1_commits() -> None:
    played = play(THREE, [make_response("1"), make_response("2"), make_response("3")])
    assert played.shape == "i:claim SEND ri SEND ri SEND r:succeed"
    assert played.ending.status == "succeeded"
    assert [request.body for request in played.sent_requests] == [{}, {"parent": "1"}, {"parent": "2"}]
    assert [change.fence for change in played.commits] == [None, 1, 1, 1]


def test_the_intent_is_the_request_as_sent() -> None:
    played = play(THREE, [make_response("1"), make_response("2"), make_response("3")])
    intents = [change.intent for change in played.commits if change.intent is not None]
    assert [intent.request for intent in intents] == [request.to_json() for request in played.sent_requests]
    assert [(intent.step_index, intent.key, intent.attempt) for intent in intents] == [
        (0, "a", 1),
        (1, "b", 1),
        (2, "c", 1),
    ]


def test_the_first_overlay_is_read_before_the_claim_a_later_one_costs_a_commit() -> None:
    thing = Response(200, {}, {"thing": {"id": "9", "name": "old", "budget": 5}})
    played = play(
        plan(replace("a"), create("b"), replace("c")),
        [thing, make_response("1"), make_response("2"), thing, make_response("3")],
    )
    assert played.shape == "READ i:claim SEND ri SEND r READ i SEND r:succeed"
    assert played.sent_requests[0].body == {"thing": {"id": "9", "name": "new", "budget": 5}}
    assert played.commits[0].intent is not None
    assert played.commits[0].intent.request["body"] == played.sent_requests[0].body


@pytest.mark.parametrize("refused", ["claimed", "fenced", "expired", "too_early", "access", "not_prepared"])
def test_nothing_is_sent_without_its_intent(refused: str) -> None:
    for commit, sends in ((0, 0), (1, 1), (2, 2)):
        played = play(THREE, [make_response(str(index)) for index in range(sends)], refuse={commit: refused})
        assert len(played.sent_requests) == sends
        assert len(played.commits) == commit + 1
        assert (played.ending.status, played.ending.refusal) == (None, refused)
        assert len(played.receipts) == sends


def test_a_receipt_that_comes_too_late_to_end_the_operation_says_so() -> None:
    played = play(plan(create("a")), [make_response("1")], refuse={1: "fenced"})
    assert (played.ending.status, played.ending.refusal) == (None, "fenced")


# -- what an answer makes of the operation ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "state", "trigger", "again", "code"),
    [
        (Response(400, {}, {"error": {"code": "bad"}}), "rejected", "hand_back", False, "provider_rejected"),
        (Response(200, {}, {"error": {"code": "bad"}}), "rejected", "hand_back", False, "provider_rejected"),
        (Response(403, {}, None, "empty"), "rejected", "hand_back", False, "provider_rejected"),
        (Response(401, {}, {}), "rejected", "hand_back", True, "provider_token_refused"),
        (Response(429, {"retry-after": "7"}, {}), "throttled", "hand_back", True, "provider_throttled"),
        (Response(400, {}, {"error": {"code": "slow"}}), "throttled", "hand_back", True, "provider_throttled"),
        (RequestNotSent("refused"), "throttled", "hand_back", True, "not_sent"),
        (ResponseLost("reset"), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(500, {}, {}), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(408, {}, {"error": {"code": "bad"}}), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(460, {}, None, "empty"), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(499, {}, {"error": {"code": "gone"}}), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(200, {}, {"error": {"code": "new"}}), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(200, {}, {}), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(200, {}, "<html>", "unreadable"), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(200, {}, None, "empty"), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(302, {}, None, "empty"), "ambiguous", "lose", False, "outcome_unknown"),
        (Response(200, {}, {"id": "5", "error": {"code": "bad"}}), "ambiguous", "lose", False, "outcome_unknown"),
    ],
)
def test_the_outcome_of_a_step(answer: Response, state: str, trigger: str, again: bool, code: str) -> None:
    played = play(THREE, [make_response("1"), answer])
    receipt_effects = "r RENEW " if code == "provider_token_refused" else "r"
    assert played.shape == f"i:claim SEND ri SEND {receipt_effects}:{trigger}"
    last = played.commits[-1]
    assert played.receipts[-1].state == state
    assert (last.has_next_action, played.ending.has_next_action) == (again, again)
    assert last.error == played.ending.error
    assert last.error is not None
    assert last.error["code"] == code
    assert last.error["step"] == "b"
    assert played.ending.status == ("unknown" if trigger == "lose" else "prepared")
    assert (last.retry_after is not None) == (state == "throttled")


def test_the_network_says_how_long_to_wait() -> None:
    played = play(THREE, [Response(429, {"retry-after": "7"}, {})])
    assert played.commits[-1].retry_after == played.ending.retry_after == played.receipts[0].retry_after == 7_000


def test_a_refused_token_is_tried_once_more_with_a_new_intent() -> None:
    refused = Response(401, {}, {"error": {"code": "token"}})
    first = play(THREE, [refused])
    assert first.ending.has_next_action
    assert first.shape == "i:claim SEND r RENEW :hand_back", "the receipt is kept before the token is renewed"
    lost = play(THREE, [refused], renewed=False)
    assert not lost.ending.has_next_action and not lost.commits[-1].has_next_action
    second = play(THREE, [refused], receipts=first.receipts)
    assert second.commits[0].intent is not None
    assert second.commits[0].intent.attempt == 2
    assert not second.ending.has_next_action


def test_what_is_known_of_a_lost_answer_is_kept() -> None:
    played = play(THREE, [ResponseLost("reset after the headers", 201, {"x-request-id": "r-1"})])
    receipt = played.receipts[0]
    assert (receipt.http_status, receipt.request_id, receipt.state) == (201, "r-1", "ambiguous")
    assert receipt.error is not None
    assert receipt.error.message == "reset after the headers"


# -- going on -----------------------------------------------------------------------------------------------------


def test_what_was_applied_is_not_sent_again() -> None:
    first = play(THREE, [make_response("1"), Response(429, {}, {})])
    second = play(THREE, [make_response("2"), make_response("3")], receipts=first.receipts)
    assert [request.url.rsplit("/", 1)[-1] for request in second.sent_requests] == ["b", "c"]
    assert second.commits[0].intent is not None
    assert second.commits[0].intent.attempt == 2
    assert second.ending.status == "succeeded"


def test_all_receipts_but_no_end_only_the_end_is_missing() -> None:
    first = play(THREE, [make_response("1"), make_response("2"), make_response("3")])
    second = play(THREE, receipts=first.receipts)
    assert second.shape == ":claim :succeed"


@pytest.mark.parametrize("key", ["a", "b", "c"])
def test_a_step_in_flight_is_never_executed_again(key: str) -> None:
    played = play(THREE, in_flight=[key])
    assert played.effects == []
    assert (played.ending.refusal, played.ending.status) == ("doubtful", None)


def test_an_ambiguous_step_is_never_executed_again() -> None:
    first = play(THREE, [ResponseLost("reset")])
    assert play(THREE, receipts=first.receipts).ending.refusal == "doubtful"


@pytest.mark.parametrize(("limit", "sends"), [(1, 1), (2, 2), (3, 3), (25, 3)])
def test_a_batch_ends_between_steps(limit: int, sends: int) -> None:
    played = play(THREE, [make_response(str(index)) for index in range(sends)], limits=ExecutionLimits(max_steps=limit))
    if sends < 3:
        assert played.shape.endswith("SEND r:hand_back")
        assert (played.ending.status, played.ending.has_next_action, played.ending.error) == ("prepared", True, None)
    else:
        assert played.ending.status == "succeeded"


def test_a_shutdown_finishes_the_step_in_flight_and_hands_back() -> None:
    played = play(THREE, [make_response("1")], stop_after=1)
    assert played.shape == "i:claim SEND r:hand_back"
    assert played.ending.has_next_action
    assert play(THREE, stop_after=0).effects == []


# -- items --------------------------------------------------------------------------------------------------------


def _rows(*rows: str) -> Response:
    """``+id`` applied, otherwise an error code."""
    results = [
        {"position": index, **({"id": row[1:]} if row[0] == "+" else {"code": row})} for index, row in enumerate(rows)
    ]
    return Response(207, {}, {"results": results})


def test_only_items_surely_not_applied_are_sent_again_and_ids_stay_in_planned_order() -> None:
    made_four = plan(batch("a", 4))
    first = play(made_four, [_rows("bad", "+11", "slow", "+13")])
    assert (first.receipts[0].state, first.ending.has_next_action) == ("rejected", False)
    second = play(made_four, [_rows("slow", "+12")], receipts=first.receipts)
    assert second.sent_requests[0].body == {"rows": [{"item": 0}, {"item": 2}]}
    assert second.commits[0].intent is not None
    assert second.commits[0].intent.items == (0, 2)
    assert [(item.index, item.state) for item in second.receipts[0].items] == [(0, "throttled"), (2, "applied")]
    third = play(made_four, [_rows("+10")], receipts=[*first.receipts, *second.receipts])
    assert third.sent_requests[0].body == {"rows": [{"item": 0}]}
    assert third.receipts[0].outputs == {"id": ["10", "11", "12", "13"]}
    assert third.ending.status == "succeeded"


def test_one_doubtful_item_makes_the_operation_unknown() -> None:
    played = play(plan(batch("a", 3)), [_rows("+1", "fog", "bad")])
    assert (played.ending.status, played.receipts[0].state) == ("unknown", "ambiguous")
    assert [item.state for item in played.receipts[0].items] == ["applied", "ambiguous", "rejected"]


@pytest.mark.parametrize("position", [0, -1, 2])
def test_an_answer_that_speaks_twice_of_an_item_or_of_none_is_ambiguous(position: int) -> None:
    answer = _rows("bad", "+1")
    assert isinstance(answer.body, dict)
    answer.body["results"].append({"position": position, "id": "2"})
    played = play(plan(batch("a", 2)), [answer])
    assert (played.ending.status, played.receipts[0].items) == ("unknown", ())


def test_an_item_that_is_answered_by_the_id_of_another_is_ambiguous() -> None:
    step = Step(
        "a", "ad", "drop", write("a", {"rows": ["1", "2"]}), "delete", items=ItemBatch("/body/rows", "id", "id")
    )
    assert play(plan(step), [_rows("+1", "+2")]).ending.status == "succeeded"
    played = play(plan(step), [_rows("+1", "+3")])
    assert played.ending.status == "unknown"
    assert [item.state for item in played.receipts[0].items] == ["applied", "ambiguous"]


def test_a_batch_of_exactly_one_brings_one_id() -> None:
    step = Step(
        "b", "ad", "b", write("b"), bindings=(Binding("/body/of", "a", "id"),), outputs=(Output("id", ("/body/id",)),)
    )
    played = play(plan(batch("a", 1, many=False), step), [_rows("+7"), make_response("8")])
    assert played.receipts[0].outputs == {"id": "7"}
    assert played.sent_requests[1].body == {"of": "7"}


def test_an_error_beside_applied_items_is_read_item_by_item() -> None:
    answer = _rows("+1", "bad")
    assert isinstance(answer.body, dict)
    answer.body["error"] = {"code": "bad"}
    played = play(plan(batch("a", 2)), [answer])
    assert [item.state for item in played.receipts[0].items] == ["applied", "rejected"]


def test_a_step_without_items_left_to_send_is_not_sent() -> None:
    empty = Step("a", "ad", "none", write("a", {"rows": []}), items=batch("a", 1).items)
    played = play(plan(empty))
    assert played.effects == []
    assert played.ending.error is not None
    assert played.ending.error["code"] == "step_not_sendable"


# -- overlays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (RequestNotSent("refused"), True),
        (ResponseLost("reset"), True),
        (Response(503, {}, None, "empty"), True),
        (Response(429, {"retry-after": "3"}, {}), True),
        (Response(200, {}, {"other": 1}), True),
        (Response(200, {}, "<html>", "unreadable"), True),
        (Response(404, {}, {}), False),
        (Response(403, {}, {}), False),
        (Response(401, {}, {}), False),
    ],
)
def test_a_failed_read_before_a_change_is_not_applied(
    answer: Response | RequestNotSent | ResponseLost, again: bool
) -> None:
    first = play(plan(replace("a")), [answer])
    assert first.shape == "READ"
    later = play(plan(create("a"), replace("b")), [make_response("1"), answer])
    assert later.shape == "i:claim SEND r READ :hand_back"
    for played in (first, later):
        assert (played.ending.status, played.ending.has_next_action) == ("prepared", again)
        assert played.ending.error is not None


def test_a_step_that_would_be_repeated_like_a_read_is_not_sent() -> None:
    played = play(plan(Step("a", "ad", "a", evolve(write("a"), kind="read"))))
    assert played.effects == []
    assert played.ending.error is not None
    assert played.ending.error["code"] == "step_not_sendable"


def test_an_id_that_does_not_fit_stops_before_the_next_write() -> None:
    number = Step("b", "ad", "b", write("b"), bindings=(Binding("/body/of", "a", "id", cast="integer"),))
    for identity in ("12a", "1_0", " 7", "\u0661", "-3"):
        played = play(plan(create("a"), number), [make_response(identity)])
        assert played.shape == "i:claim SEND r:hand_back"
        assert played.receipts[0].state == "applied"
        assert (played.ending.status, played.ending.has_next_action) == ("prepared", False)
    assert play(plan(create("a"), number), [make_response("12"), make_response("x")]).sent_requests[1].body == {
        "of": 12
    }


# -- hostile answers ----------------------------------------------------------------------------------------------

_NAMES = ("id", "ok", "error", "code", "message", "results", "position", "access_token")
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_NAMES) | st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.integers(100, 599), _json, st.dictionaries(st.sampled_from(["retry-after", "date", "x-request-id"]), st.text())
)
def test_whatever_comes_back_is_an_outcome(status: int, body: Json, headers: dict[str, str]) -> None:
    answer = Response(status, headers, body)
    for step in (create("a"), batch("a", 2), batch("a", 1, many=False), replace("a")):
        thing = Response(200, {}, {"thing": {}})
        played = play(plan(step), [thing, answer] if step.overlay else [answer])
        receipt = played.receipts[0]
        assert Receipt.from_json(receipt.to_json()) == receipt
        assert len(dumps(receipt.response)) <= 64 * 1024
        dumps(receipt.to_json()).encode("utf-8")
        assert (receipt.state == "applied") == (played.ending.status == "succeeded")
        if not 200 <= status < 300:
            assert receipt.state != "applied"


@given(_json)
def test_whatever_a_read_brings_is_survived(body: Json) -> None:
    play(
        plan(replace("a")),
        [Response(200, {}, {"thing": body}), make_response("1")]
        if isinstance(body, dict)
        else [Response(200, {}, {"thing": body})],
    )


def _nest_errors(depth: int) -> Json:
    value: Json = "x"
    for _ in range(depth):
        value = {"error": value, "results": [value]} if depth < 15 else [value]
    return value


@pytest.mark.parametrize(
    "body",
    [
        {"id": "\x00"},
        {"id": "\ud800"},
        {"id": "7" * 100_000},
        {"id": True},
        {"id": ["7"]},
        {"id": ""},
        {"id": "a\nb"},
        {"results": [{"position": "0"}]},
        {"results": [{"position": 10**30, "id": "1"}]},
        {"results": [None]},
        {"error": {"code": ["x"]}},
        {"id": _nest_errors(900)},
        _nest_errors(900),
        _nest_errors(12),
    ],
    ids=range(14),
)
def test_an_id_that_is_none_is_ambiguous(body: Json) -> None:
    for step in (create("a"), batch("a", 1)):
        played = play(plan(step), [Response(200, {}, body)])
        assert played.ending.status == "unknown"


def test_an_id_that_is_none_beside_a_refused_item_is_ambiguous() -> None:
    played = play(plan(batch("a", 2)), [_rows("+a\nb", "bad")])
    assert (played.ending.status, played.receipts[0].items) == ("unknown", ())


def test_the_driver_must_answer_what_was_asked() -> None:
    run = execute_plan(NETWORK, THREE, read_progress([]), "op")
    next(run)
    with pytest.raises(TypeError):
        run.send(make_response("1"))


# -- kill points --------------------------------------------------------------------------------------------------


def test_the_kill_points_of_an_execution() -> None:
    played = play(THREE, [make_response("1"), make_response("2"), make_response("3")])
    passed: list[KillPoint] = []
    for effect in played.effects:
        before, after = list_kill_points(effect)
        passed += [*before, *after]
    assert len(passed) == 5 * 3
    assert set(passed) == set(KillPoint)


def test_the_kill_points_of_each_effect() -> None:
    intent, receipt = Intent(0, "a", 1, {}), Receipt(0, "a", 1, "applied")
    points = KillPoint
    assert list_kill_points(Commit(StateCommit("op", 1, receipt, intent))) == (
        (points.before_receipt_commit, points.before_intent_commit),
        (points.after_receipt_commit, points.after_intent_commit),
    )
    assert list_kill_points(SendWrite(write("a"), "a", 0)) == ((), (points.applied_before_read,))
    assert list_kill_points(SendRead(write("a"), "a")) == ((), ())
    assert list_kill_points(Commit(StateCommit("op", 1, trigger="hand_back"))) == ((), ())
