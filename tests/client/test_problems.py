"""Errors go over a wire and come back as what they were."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import adsunify
from adsunify.errors import (
    AdsunifyError,
    Conflict,
    Forbidden,
    GuardrailRefused,
    InvalidInput,
    Issue,
    LookupNeeded,
    MissingExtra,
    NativeErrorDetails,
    NotFound,
    OperationError,
    PermissionRefused,
    PlanStale,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    RateLimited,
    RequestNotSent,
    ResponseLost,
    RuleBreach,
    ServerConnectionError,
    ServerUnreachable,
    StaleValue,
    StoreError,
    TokenRefused,
    Unauthenticated,
    ValuesMoved,
    VaultError,
)
from adsunify.problem_details import from_problem_details, to_problem_details

NATIVE = NativeErrorDetails("190/463", "The token has expired.", "A1b2", 401)
OPERATION = {"id": "00000000-0000-7000-8000-000000000000", "status": "prepared"}
ERRORS: list[AdsunifyError] = [
    InvalidInput([Issue("campaign.name", "too_short", "must have 3 or more characters."), Issue("", "x", "y.")]),
    InvalidInput([Issue("accountId", "account_disconnected", "is disconnected.")], code="special"),
    LookupNeeded([Issue("lookups", "lookup_needed", "give it.")]),
    Unauthenticated("No."),
    Unauthenticated("No token.", code="token_missing"),
    Forbidden("No.", code="write_required"),
    Forbidden("No more.", code="access_lost", operation=OPERATION),
    GuardrailRefused("Too much.", breaches=[RuleBreach("g1", "Small", "maxBid", "USD", "2.00", None, "3.00", "2.00")]),
    GuardrailRefused("Blocked.", breaches=[RuleBreach("g1", "Small", "currency")], code="guardrail_currency"),
    GuardrailRefused("Ask.", breaches=[RuleBreach("g1", "Small", "exposure")], code="approval_required"),
    NotFound("Nothing."),
    Conflict("Taken."),
    RateLimited("Too many.", retry_after=1.5),
    ProviderError("Refused.", native=NATIVE),
    ProviderError("Refused."),
    TokenRefused("Refused.", native=NATIVE),
    PermissionRefused("Refused.", native=NATIVE),
    ProviderNotFound("Nothing.", native=NATIVE),
    ProviderThrottled("Later.", native=NATIVE),
    ProviderUnreadable("What?", outcome="unknown"),
    OperationError("Over.", code="operation_expired", operation=OPERATION),
    OperationError("Refused.", code="provider_rejected", operation=OPERATION, native=NATIVE),
    OperationError("Nobody knows.", code="outcome_unknown", operation=OPERATION, outcome="unknown"),
    OperationError("Gone.", code="account_disconnected"),
    PlanStale("Changed.", differences=[StaleValue("campaign", "1", "budget", "20", "30", "USD")]),
    ValuesMoved("Changed.", differences=[StaleValue("campaign", "1", "name", "A", "B")]),
    OperationError("Later.", code="provider_throttled", operation=OPERATION, retry_after=2.5),
    ServerUnreachable("It is down."),
    ServerUnreachable("It was cut off.", outcome="unknown"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__}-{error.code}")
def test_there_and_back(error: AdsunifyError) -> None:
    problem = json.loads(json.dumps(to_problem_details(error)))
    back = from_problem_details(problem)
    assert type(back) is type(error)
    for name in ("message", "code", "outcome", "status", "title", "operation_data", "applied_steps"):
        assert getattr(back, name) == getattr(error, name), name
    assert getattr(back, "issues", None) == getattr(error, "issues", None)
    assert getattr(back, "breaches", None) == getattr(error, "breaches", None)
    assert getattr(back, "native", None) == getattr(error, "native", None)
    assert to_problem_details(back) == problem


@pytest.mark.parametrize("outcome", ["perhaps", 5, None, []])
def test_an_outcome_that_this_version_does_not_know_is_unknown(outcome: object) -> None:
    problem = {**to_problem_details(NotFound("Nothing.")), "outcome": outcome}
    assert from_problem_details(problem).outcome == "unknown"


HERE: list[AdsunifyError] = [
    MissingExtra("Install the extra."),
    RequestNotSent("No way there.", repeatable=False),
    ResponseLost("Cut.", 200, {"server": "x"}),
    ServerConnectionError("It was cut off.", outcome="unknown"),
    StoreError("The disk is full."),
    VaultError("Sealed."),
]
"""Errors that no problem details describe exactly."""


@pytest.mark.parametrize("error", [*ERRORS, *HERE], ids=lambda error: f"{type(error).__name__}-{error.code}")
def test_to_another_process_and_back(error: AdsunifyError) -> None:
    """As a pool of processes passes them on: with every attribute."""
    error.request_id, error.applied_steps = "from-the-server", ("campaign",)
    for back in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(back) is type(error)
        assert (vars(back), back.args, str(back)) == (vars(error), error.args, str(error))


@pytest.mark.parametrize("error", [RequestNotSent("No way there."), ResponseLost("Cut.", 200)])
def test_what_the_transport_says_is_unreadable(error: ProviderUnreadable) -> None:
    back = from_problem_details(to_problem_details(error))
    assert type(back) is ProviderUnreadable
    assert (back.code, back.outcome, back.native) == (error.code, error.outcome, error.native)


@pytest.mark.parametrize("error", [StoreError("disk full at /hidden"), VaultError("sealed under the hidden key")])
def test_the_inside_stays_inside(error: AdsunifyError) -> None:
    problem = to_problem_details(error)
    assert "hidden" not in str(problem)
    assert type(from_problem_details(problem)) is type(error)
    assert from_problem_details(problem).code == error.code


def list_classes(kind: type[AdsunifyError] = AdsunifyError) -> set[type[AdsunifyError]]:
    """The class of errors, and all below it, that the package defines."""
    own = {kind} if kind.__module__ == "adsunify.errors" else set()
    return own.union(*(list_classes(subclass) for subclass in kind.__subclasses__()))


def test_every_class_is_here() -> None:
    """A new class of errors needs a way back."""
    classes = {type(error) for error in (*ERRORS, *HERE)}
    assert list_classes() - classes == {AdsunifyError}


def test_every_class_that_a_caller_may_catch_is_exported() -> None:
    """Callers catch ProviderUnreadable in place of the two classes of the transport."""
    missing = {error_class.__name__ for error_class in list_classes()} - {*adsunify.__all__}
    assert missing == {"RequestNotSent", "ResponseLost"}
