"""Every case below ``tests/networks/<code>/{exemplary,supplemental}``, one test each, and what must hold of all."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from adsunify.networks import ADAPTERS
from tests.contract.cases import OWN, BadCase, Case, Library, read_cases
from tests.contract.running import check
from tests.contract.twice import unequal

READ = list(read_cases(OWN))
CASES = [one for one in READ if isinstance(one, Case)]


@cache
def library() -> Library:
    return Library.of(READ)


@pytest.mark.parametrize("case", READ, ids=lambda case: case.id)
def test_case(case: Case | BadCase) -> None:
    assert isinstance(case, Case), case.reason
    report = check(case, library(), strict=True)
    assert not report.failures, "\n".join(str(failure) for failure in report.failures)


def test_the_plans_are_the_same_in_every_process() -> None:
    assert unequal(OWN) == []


@pytest.mark.parametrize("network", ADAPTERS)
def test_names_are_unique(network: str) -> None:
    names = Counter(case.name for case in CASES if case.network == network)
    assert [name for name, count in names.items() if count > 1] == []
