"""What problem details say: how long to wait goes over the wire and comes back, titles suit their codes."""

from __future__ import annotations

from adsunify.errors import OperationError, ProviderThrottled
from adsunify.problem_details import PROBLEM_CODES, PROBLEM_TITLES, from_problem_details, to_problem_details


def test_a_wait_survives_the_wire() -> None:
    error = ProviderThrottled("The video is being processed.", code="media_processing", retry_after=2.5)
    problem = to_problem_details(error)
    assert problem["retryAfterMs"] == 2500
    assert problem["code"] in PROBLEM_CODES
    again = from_problem_details(problem)
    assert isinstance(again, ProviderThrottled) and again.retry_after == 2.5


def test_a_code_has_its_own_title_where_that_of_the_class_would_mislead() -> None:
    assert set(PROBLEM_TITLES) <= set(PROBLEM_CODES)
    unknown = to_problem_details(OperationError("The answer was lost.", code="outcome_unknown", outcome="unknown"))
    assert unknown["title"] == "It is not known whether the write was done"
    other = to_problem_details(OperationError("The account is disconnected.", code="account_disconnected"))
    assert other["title"] == OperationError.title
