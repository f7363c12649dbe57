"""Discovery is honest: what ``GET /workflows`` says is enough to plan, and all else is refused by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import OPTIONAL_MEMBERS
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.networks import workflows_to_json
from adsunify.values.exact_json import Json
from tests.networks.samples import get_samples

from .discovery import (
    GOALS,
    PERIODS,
    SAMPLES,
    Cell,
    find_refusals,
    is_same_format,
    list_cells,
    make_minimal_brief,
    remove_member,
    set_member,
)

CURRENCY = "USD"


def make_account(network: str) -> Account:
    return Account(network, get_adapter(network).network.example_account_id, CURRENCY, "America/New_York")


def list_all_cells() -> Iterator[Cell]:
    for code in ADAPTER_PACKAGES:
        for workflow in workflows_to_json(get_adapter(code).network):
            yield from list_cells(workflow)


CELLS = list(list_all_cells())


@pytest.fixture(params=CELLS, ids=lambda cell: cell.id)
def cell(request: pytest.FixtureRequest) -> Cell:
    offered_cell: Cell = request.param
    return offered_cell


def test_a_brief_from_the_rows_alone_plans(cell: Cell) -> None:
    assert find_refusals(make_minimal_brief(cell, CURRENCY), make_account(cell.network)) == set()


def test_a_brief_without_a_needed_member_is_refused_at_it(cell: Cell) -> None:
    whole = make_minimal_brief(cell, CURRENCY)
    for path in cell.list_needed_members():
        less = remove_member(whole, path)
        refused_paths = find_refusals(less, make_account(cell.network))
        if is_same_format(cell, less):
            assert refused_paths & cell.get_group(path), path
        else:  # what makes it this format is gone: it is another one, and lacks what that one needs
            assert refused_paths, path


def test_a_group_of_which_one_is_taken_refuses_two(cell: Cell) -> None:
    for path in cell.list_needed_members():
        if cell.rows[path]["need"] == "one":
            for other in cell.get_group(path) - {path}:
                both = make_minimal_brief(cell, CURRENCY, more=(other,))
                assert find_refusals(both, make_account(cell.network)) & {path, other}


def test_an_optional_member_is_taken(cell: Cell) -> None:
    """Members that the rows let in stand in a brief of their own each; what they exclude is another rule's business."""
    refused = {}
    for path, row in cell.rows.items():
        if row["need"] == "optional":
            refused_paths = find_refusals(make_minimal_brief(cell, CURRENCY, more=(path,)), make_account(cell.network))
            if refused_paths:
                refused[path] = refused_paths
    assert refused == {}


def test_a_member_that_no_row_takes_is_refused_at_it(cell: Cell) -> None:
    for path in OPTIONAL_MEMBERS:
        if cell.takes(path):
            assert path in cell.rows
            continue
        more = make_minimal_brief(cell, CURRENCY, more=(path,))
        paths = find_refusals(more, make_account(cell.network))
        if is_same_format(cell, more):
            # an existing creative is refused at the members that it would replace (the contract of the brief)
            assert path in paths or (path == "creative.existingId" and paths), path
        else:  # the member makes it another format, which lacks what that one needs
            assert paths, path


def test_a_value_that_is_no_choice_is_refused(cell: Cell) -> None:
    for path, row in cell.rows.items():
        if row["choices"] and row["need"] != "refused":
            other: Json = "NO SUCH CHOICE" if isinstance(row["choices"][0], str) else not row["choices"][0]
            value = make_minimal_brief(cell, CURRENCY)
            set_member(value, path, [other] if isinstance(SAMPLES[path], list) else other)
            assert path in find_refusals(value, make_account(cell.network)), path


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_the_declaration_of_political_ads_stands_in_the_rows(network: str) -> None:
    for cell in CELLS:
        if cell.network == network:
            row = cell.rows["platform.euPoliticalAdvertising"]
            assert row["need"] != "refused"
            assert row["choices"] == ([] if get_samples(network).takes_political_ads else [False])
            assert not row["choices"] or row["reason"].startswith("true is refused: ")


CONDITIONS: Mapping[tuple[str, str], tuple[Mapping[str, str], Mapping[str, str]]] = {
    (code, reason): extras for code in ADAPTER_PACKAGES for reason, extras in get_samples(code).row_conditions.items()
}
"""What the reason of a row says of accounts: extras for which the row counts, and for which it does not."""


def test_every_condition_is_said_in_the_row() -> None:
    rows = [
        (code, row)
        for code in ADAPTER_PACKAGES
        for offered_format in get_adapter(code).network.formats
        for row in offered_format.inputs
    ]
    assert {(code, row.reason) for code, row in rows if row.is_exempt is not None} == set(CONDITIONS)
    assert {(code, row.reason) for code, row in rows if row.reason.startswith("where ")} == set(CONDITIONS)


@pytest.mark.parametrize(("network", "condition"), CONDITIONS)
def test_a_row_counts_for_the_accounts_that_it_names(network: str, condition: str) -> None:
    for workflow in workflows_to_json(get_adapter(network).network):
        for own in (0, 1):
            extras = CONDITIONS[network, condition][own]
            hold = {text for (code, text), sides in CONDITIONS.items() if code == network and sides[0] == extras}
            others = {text for code, text in CONDITIONS if code == network} - hold
            rows = [row for row in workflow["inputs"] if row["reason"] not in others]
            assert (condition in hold) == (own == 0)
            for cell in list_cells({**workflow, "inputs": rows}):
                known = evolve(make_account(network), extras=extras)
                whole = make_minimal_brief(cell, CURRENCY)
                assert find_refusals(whole, known) == set(), extras
                for path in {row["path"] for row in workflow["inputs"] if row["reason"] == condition}:
                    if path in cell.list_needed_members():
                        assert path in find_refusals(remove_member(whole, path), known), (path, extras)
                    elif not cell.takes(path):
                        assert path in find_refusals(make_minimal_brief(cell, CURRENCY, more=(path,)), known), (
                            path,
                            extras,
                        )


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_every_other_goal_and_period_is_refused_by_its_name(network: str) -> None:
    mine = [cell for cell in CELLS if cell.network == network]
    for cell in mine:
        whole = make_minimal_brief(cell, CURRENCY)
        offered = {(other.goal, other.period) for other in mine if other.format == cell.format}
        for goal in GOALS:
            for period in PERIODS:
                if (goal, period) not in offered:
                    changed = whole | {"goal": goal, "budget": {**whole["budget"], "period": period}}
                    assert find_refusals(changed, make_account(network)) & {"goal", "budget.period"}, (
                        cell.id,
                        goal,
                        period,
                    )


def test_the_cells_are_there() -> None:
    assert {cell.network for cell in CELLS} == set(ADAPTER_PACKAGES)
