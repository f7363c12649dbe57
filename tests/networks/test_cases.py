"""Every case below ``tests/networks/<code>/{exemplary,supplemental}``, one test each, and what must hold of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import tests.networks
from adsunify.adapter.error_rules import match_error_rule
from adsunify.adapter.flows import run_flow
from adsunify.adapter.network import ErrorRule, Network
from adsunify.errors import ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.testing.contract.cases import Case, InvalidFile, Library, read_cases
from adsunify.testing.contract.checks import check_case
from adsunify.testing.contract.conversation import make_response
from adsunify.testing.contract.determinism import find_unequal_plans
from adsunify.testing.contract.kinds import KINDS
from adsunify.testing.contract.writes import find_answered_step, make_sent_request
from tests.networks.samples import get_samples, list_case_folders

READ = [case for folder in list_case_folders() for case in read_cases(folder)]
CASES = [case for case in READ if isinstance(case, Case)]


def list_cases(network: str, kind: str) -> list[Case]:
    return [case for case in CASES if (case.network, case.kind) == (network, kind)]


KINDS_READ = sorted({(case.network, case.kind) for case in CASES})
DIAGONAL = [
    network_and_kind
    for number, network in enumerate(ADAPTER_PACKAGES)
    for network_and_kind in [pair for pair in KINDS_READ if pair[0] == network][number % 4 :: 4]
]
"""A quarter of the kinds of each network: each kind is among them for several networks."""
ATTACKED = {
    max(list_cases(*network_and_kind), key=lambda case: (case.refuse is None, case.is_exemplary)).id
    for network_and_kind in DIAGONAL
}
"""Cases that are not refusals: hostile answers are tried around them in every run."""


@cache
def read_library() -> Library:
    return Library.from_files(READ)


@pytest.mark.parametrize("case", READ, ids=lambda case: case.id)
def test_case(case: Case | InvalidFile) -> None:
    assert isinstance(case, Case), case.reason
    report = check_case(case, read_library(), strict=True, try_hostile_responses=case.id in ATTACKED)
    assert not report.failures, "\n".join(str(failure) for failure in report.failures)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("network", "kind"), KINDS_READ)
def test_hostile_answers_around_every_case(network: str, kind: str) -> None:
    failures = {case.id: check_case(case, read_library(), strict=True).failures for case in list_cases(network, kind)}
    assert {name: messages for name, messages in failures.items() if messages} == {}


@pytest.mark.parametrize("place", tests.networks.__path__)
def test_the_plans_are_the_same_in_every_process(place: str) -> None:
    assert find_unequal_plans(Path(place)) == []


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_names_are_unique(network: str) -> None:
    names = Counter(case.name for case in CASES if case.network == network)
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_each_kind_has_an_exemplary_case(network: str) -> None:
    kinds = {case.kind for case in CASES if case.network == network and case.is_exemplary}
    unsupported = set() if get_samples(network).refreshes_tokens else {"refresh"}
    assert set(KINDS) - kinds - unsupported == set()


ENTITY_READS = [case for case in CASES if case.kind == "entity" and case.refuse is None and case.is_exemplary]


@pytest.mark.parametrize("case", ENTITY_READS, ids=lambda case: case.id)
def test_an_answer_about_another_entity_is_refused(case: Case) -> None:
    """The recorded answers, to a request for the neighbour of the entity that they describe."""
    entity_id = str(case.input["entityId"])
    neighbour = entity_id[:-1] + ("2" if entity_id.endswith("1") else "1")
    reads = get_adapter(case.network).reads
    for fetch_entity in (reads.fetch_entity, reads.fetch_editable_entity):
        recorded = cycle(case.exchange)

        def answer(request: Request, recorded: Iterator[Any] = recorded) -> Response:
            return make_response(next(recorded)["response"], request)

        with pytest.raises((ProviderUnreadable, ProviderNotFound)):
            run_flow(fetch_entity(case.account, str(case.input["kind"]), neighbour), answer)


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_each_network_has_reads_of_an_entity(network: str) -> None:
    assert network in {case.network for case in ENTITY_READS}


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_each_row_of_errors_has_a_case(network: str) -> None:
    declared = get_adapter(network).network
    met = [rule for case in CASES if case.network == network for rule in list_matched_rows(declared, case)]
    assert [rule.meaning for rule in declared.errors if not any(rule is row for row in met)] == []


def list_matched_rows(network: Network, case: Case) -> Iterator[ErrorRule]:
    """The rows of ERRORS that the recorded answers of a case fall under."""
    for recorded in case.exchange:
        step = find_answered_step(case, read_library())[0] if case.kind == "outcome" else None
        request = (
            make_sent_request(step, recorded.get("request") or {}) if step is not None else Request("GET", "https://x")
        )
        response = make_response(recorded["response"], request)
        action = None if step is None else step.action
        errors = [(network.parse_error(response), response.status)]
        if step is not None and step.items is not None:
            errors += [
                (item.error, 200) for item in network.parse_item_results(step, request, response) or () if item.error
            ]
        rules = [match_error_rule(network, error, status, action) for error, status in errors if error is not None]
        yield from (rule for rule in rules if rule is not None)
