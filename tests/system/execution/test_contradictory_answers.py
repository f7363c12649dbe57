"""Responses that contradict themselves: believing the wrong half would write twice, or lose a write."""

from __future__ import annotations

import pytest

from adsunify.http.messages import Response
from tests.unit.execution.driving import batch, create, plan, play

SAYS = {401: {}, 429: {}, 400: {"error": {"code": "bad"}}, 403: {"error": {"code": "slow"}}, 409: {}, 302: {}}


@pytest.mark.parametrize("status", SAYS)
def test_a_refusal_that_names_something_new_is_no_refusal(status: int) -> None:
    """A gateway turned the status of a success around: after 401 and 429 the write would go out again by itself."""
    for step, body in (
        (create("a"), {"id": "7"}),
        (batch("a", 2), {"results": [{"position": 0, "id": "7"}, {"position": 1, "id": "8"}]}),
        (batch("a", 2), {"results": [{"position": 0, "id": "7"}]}),
    ):
        played = play(plan(step), [Response(status, {}, {**SAYS[status], **body})])
        (receipt,) = played.receipts
        assert (receipt.state, played.ending.status, played.ending.has_next_action) == ("ambiguous", "unknown", False)


@pytest.mark.parametrize("status", [401, 429, 400])
def test_a_refusal_that_names_nothing_new_is_one(status: int) -> None:
    for step, body in ((create("a"), {}), (batch("a", 2), {"results": [{"position": 0, "code": "bad"}]})):
        assert play(plan(step), [Response(status, {}, body)]).ending.status == "prepared"


def test_one_id_for_two_new_things_leaves_one_of_them_unknown() -> None:
    """The activation would switch on one of the two, and nobody would ever find the other."""
    answer = {"results": [{"position": 0, "id": "7"}, {"position": 1, "id": "7"}]}
    assert play(plan(batch("a", 2)), [Response(200, {}, answer)]).ending.status == "unknown"
