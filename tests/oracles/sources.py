"""What is held against the oracles: the writes, reads and recorded answers of all cases, and of the example briefs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cache

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import run_flow
from adsunify.errors import AdsunifyError, LookupNeeded
from adsunify.http.messages import Request, Response
from adsunify.models.brief import read_brief
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan, plan_create
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Plan, Step, add_operation_marks
from adsunify.testing.contract.cases import Case, InvalidCase, Library
from adsunify.testing.contract.conversation import Conversation, UnexpectedRequest, make_response
from adsunify.testing.contract.kinds import run_case
from adsunify.testing.contract.plans import PLANNING, list_output_names
from adsunify.testing.contract.writes import find_answered_step, make_sent_request
from adsunify.values.exact_json import Json, dumps, loads
from tests.networks.samples import get_samples, list_example_briefs, list_own_cases

SAMPLE_ID = "120000000000001"


@frozen
class Write:
    """One planned step, its bindings filled with sample ids."""

    name: str
    step: Step
    request: Request

    @property
    def body(self) -> Json:
        return plain(self.request.body)


@frozen
class Exchange:
    """One request that a case makes, and what the network is recorded to say."""

    name: str
    request: Request
    response: Response

    @property
    def body(self) -> Json:
        return plain(self.request.body)


def plain(value: Json) -> Json:
    """The value as it goes over the wire, with the types that a JSON reader gives it."""
    return json.loads(dumps(value))


@cache
def writes(network: str) -> tuple[Write, ...]:
    """Every step that the cases and the example briefs of a network plan."""
    all_writes: list[Write] = []
    for name, planned in _plans(network):
        marked_plan = add_operation_marks(planned)
        outputs = {step.key: dict.fromkeys(list_output_names(step), SAMPLE_ID) for step in marked_plan.steps}
        all_writes += [Write(f"{name}-{step.key}", step, fill_bindings(step, outputs)) for step in marked_plan.steps]
    return tuple(all_writes)


def _plans(network: str) -> Iterator[tuple[str, Plan]]:
    for path in list_example_briefs(network):
        yield path.stem, _example(network, loads(path.read_bytes()))
    for case in _cases(network):
        if case.kind in PLANNING:
            try:
                plan = run_case(case, LIBRARY).plan
            except (AdsunifyError, InvalidCase, UnexpectedRequest):
                continue  # the runner of the cases reports a case that does not run
            assert plan is not None
            yield case.path.stem, plan


LIBRARY = Library(list_own_cases())
OWN = (("creative", "existingId"), ("platform", "conversionEvent"), ("targeting", "countries"))
"""What an example brief names of its account or of the network's lists, and a network is asked for before the plan."""


def _example(network: str, brief: Json) -> Plan:
    """The plan of an example brief; what is read first is answered as a create case of the network has it recorded."""
    timezone = get_samples(network).timezone
    account = Account(network, get_adapter(network).network.example_account_id, brief["budget"]["currency"], timezone)
    try:
        return plan(read_brief(dumps(brief)), account)
    except LookupNeeded as problem:
        needed = problem
    for case in _cases(network):
        if case.kind != "create":
            continue
        members, recorded = deepcopy(brief), case.input["brief"]
        for part, member in OWN:
            if member in members.get(part, {}) and member in recorded.get(part, {}):
                members[part][member] = recorded[part][member]
        account = evolve(case.account, currency=brief["budget"]["currency"], timezone=timezone)
        with suppress(AdsunifyError):
            return run_flow(
                plan_create(account, read_brief(dumps(members))), Conversation(network, case.exchange).answer
            )
    raise needed


def _cases(network: str) -> Iterator[Case]:
    return (case for case in list_own_cases() if case.network == network and case.refuse is None)


@cache
def exchanges(network: str) -> tuple[Exchange, ...]:
    """Every exchange of the exemplary cases of a network: answers as the network gives them."""
    all_exchanges: list[Exchange] = []
    for case in _cases(network):
        if not case.is_exemplary or not case.exchange:
            continue
        if case.kind == "outcome":
            step, _ = find_answered_step(case, LIBRARY)
            request = make_sent_request(step, case.exchange[0].get("request") or {})
            all_exchanges.append(
                Exchange(case.path.stem, request, make_response(case.exchange[0]["response"], request))
            )
            continue
        talk = Conversation(case.network, case.exchange)
        try:
            run_case(case, LIBRARY, talk)
        except (AdsunifyError, InvalidCase, UnexpectedRequest):
            continue
        for index, (request, place) in enumerate(talk.answered):
            response = make_response(case.exchange[place]["response"], request)
            all_exchanges.append(Exchange(f"{case.path.stem}-{index}", request, response))
    return tuple(all_exchanges)


@cache
def refusals(network: str) -> tuple[Exchange, ...]:
    """The recorded answers of all outcome cases that are errors in JSON."""
    all_refusals: list[Exchange] = []
    for case in _cases(network):
        if case.kind != "outcome":
            continue
        try:
            step, _ = find_answered_step(case, LIBRARY)
        except (AdsunifyError, InvalidCase, KeyError):
            continue
        request = make_sent_request(step, case.exchange[0].get("request") or {})
        response = make_response(case.exchange[0]["response"], request)
        if response.status >= 400 and response.state == "json":
            all_refusals.append(Exchange(case.path.stem, request, response))
    return tuple(all_refusals)


def get_name(sample: Write | Exchange) -> str:
    """The name of a test."""
    return sample.name
