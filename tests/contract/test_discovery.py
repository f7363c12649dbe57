"""Discovery is honest: what ``GET /workflows`` says is enough to plan, and all else is refused by its name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adsunify.checks import MEMBERS
from adsunify.network import Account
from adsunify.networks import ADAPTERS, adapter
from adsunify.service.networks import workflows

from .cases import ACCOUNT_IDS
from .discovery import GOALS, PERIODS, Cell, brief, cells, refusals, same_format, without

CURRENCY = "USD"


def account(network: str) -> Account:
    return Account(network, ACCOUNT_IDS.get(network, "1234567890"), CURRENCY, "America/New_York")


def all_cells() -> Iterator[Cell]:
    for code in ADAPTERS:
        for workflow in workflows(adapter(code).network):
            yield from cells(workflow)


CELLS = list(all_cells())


@pytest.fixture(params=CELLS, ids=lambda cell: cell.id)
def cell(request: pytest.FixtureRequest) -> Cell:
    found: Cell = request.param
    return found


def test_a_brief_from_the_rows_alone_plans(cell: Cell) -> None:
    assert refusals(brief(cell, CURRENCY), account(cell.network)) == set()


def test_a_brief_without_a_needed_member_is_refused_at_it(cell: Cell) -> None:
    whole = brief(cell, CURRENCY)
    for path in cell.needed():
        less = without(whole, path)
        found = refusals(less, account(cell.network))
        if same_format(cell, less):
            assert found & cell.group(path), path
        else:  # what makes it this format is gone: it is another one, and lacks what that one needs
            assert found, path


def test_a_group_of_which_one_is_taken_refuses_two(cell: Cell) -> None:
    for path in cell.needed():
        if cell.rows[path]["need"] == "one":
            for other in cell.group(path) - {path}:
                both = brief(cell, CURRENCY, more=(other,))
                assert refusals(both, account(cell.network)) & {path, other}


def test_an_optional_member_is_taken(cell: Cell) -> None:
    """Members that the rows let in stand in a brief of their own each; what they exclude is another rule's business."""
    refused = {}
    for path, row in cell.rows.items():
        if row["need"] == "optional":
            found = refusals(brief(cell, CURRENCY, more=(path,)), account(cell.network))
            if found:
                refused[path] = found
    assert refused == {}


@pytest.mark.parametrize("path", MEMBERS)
def test_a_member_that_no_row_takes_is_refused_at_it(cell: Cell, path: str) -> None:
    if cell.takes(path):
        assert path in cell.rows
        return
    more = brief(cell, CURRENCY, more=(path,))
    found = refusals(more, account(cell.network))
    if path == "platform.euPoliticalAdvertising":  # false declares an absence and passes everywhere
        assert found == set()
    elif same_format(cell, more):
        # an existing creative is refused at the members that it would replace (the contract of the brief)
        assert path in found or (path == "creative.existingId" and found)
    else:  # the member makes it another format, which lacks what that one needs
        assert found


@pytest.mark.parametrize("network", ADAPTERS)
def test_every_other_goal_and_period_is_refused_by_its_name(network: str) -> None:
    mine = [cell for cell in CELLS if cell.network == network]
    for cell in mine:
        whole = brief(cell, CURRENCY)
        offered = {(one.goal, one.period) for one in mine if one.format == cell.format}
        for goal in GOALS:
            for period in PERIODS:
                if (goal, period) not in offered:
                    changed = whole | {"goal": goal, "budget": {**whole["budget"], "period": period}}
                    assert refusals(changed, account(network)) & {"goal", "budget.period"}, (cell.id, goal, period)


def test_the_cells_are_there() -> None:
    assert {cell.network for cell in CELLS} == set(ADAPTERS)
