"""The guard of a proof refuses every write of an activation, and no write of a creation, a pause or a deletion."""

from __future__ import annotations

from functools import cache
from itertools import chain

import pytest
from attrs import evolve

from adsunify.adapter.flows import run_flow
from adsunify.http.messages import Request
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.records import Plan
from adsunify.proving.guard import make_guard
from adsunify.testing.contract.cases import Case, Library, read_cases
from adsunify.testing.contract.conversation import Conversation
from adsunify.testing.contract.plans import PLANNING, plan_case
from tests.networks.samples import find_case_folder


@cache
def read_library(network: str) -> Library:
    return Library.from_files(read_cases(find_case_folder(network) / "exemplary"))


def make_plan(case: Case) -> Plan:
    return run_flow(plan_case(case, read_library(case.network)), Conversation(case.network, case.exchange).answer)


def list_refused(case: Case) -> list[bool]:
    """Whether the guard refuses each write of a case's plan."""
    guard = make_guard(get_adapter(case.network), case.account)
    return [
        guard.find_activation(_apply_overlay(step.request, step.overlay)) is not None for step in make_plan(case).steps
    ]


def _apply_overlay(request: Request, overlay: object) -> Request:
    """The request with the changes of its overlay, which are known only when it is sent."""
    changes = getattr(overlay, "changes", {})
    flat = {pointer.rpartition("/")[2]: value for pointer, value in changes.items()}
    return evolve(request, body={"overlay": [flat], "body": request.body}) if flat else request


def sets_status(plan: Plan) -> bool:
    """Whether an edit sets a status by one of its fields (Outbrain)."""
    return any(change.field in ("status", "enabled") for step in plan.steps for change in step.changes)


def list_cases(network: str, *kinds: str) -> list[Case]:
    return [case for case in read_library(network).cases if case.kind in kinds and case.refuse is None]


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_every_write_of_an_activation_is_refused(network: str) -> None:
    activations = list_cases(network, "activate")
    activations += [case for case in list_cases(network, "status") if case.input["status"] == "active"]
    assert activations
    assert [case.name for case in activations if not all(list_refused(case))] == []


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_no_other_write_is_refused(network: str) -> None:
    others = [
        case
        for case in list_cases(network, *PLANNING)
        if case.kind in ("create", "delete", "edit", "native_create")
        or (case.kind == "status" and case.input["status"] == "paused")
    ]
    spending = {case.name for case in others if case.kind == "native_create" and make_plan(case).risk == "spend"}
    activating = {case.name for case in others if case.kind == "edit" and sets_status(make_plan(case))}
    refused = [case.name for case in others if case.name not in spending | activating and any(list_refused(case))]
    assert refused == []


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_reads_are_not_refused(network: str) -> None:
    guard = make_guard(get_adapter(network), list_cases(network, "create")[0].account)
    members = chain.from_iterable(member_set.items() for member_set in guard.members)
    read = Request("POST", "https://network.example/search", body=dict(members))
    assert guard.find_activation(read) is None
    assert guard.find_activation(evolve(read, kind="write")) is not None
