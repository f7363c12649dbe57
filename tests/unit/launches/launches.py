"""What the tests of launches share: launches with their accounts, and their cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from adsunify.adapter.account import Account
from adsunify.errors import InvalidInput
from adsunify.launches.cells import Cell, make_cells
from adsunify.models.launch import NewLaunch
from adsunify.models.parsing import parse_model
from adsunify.networks.registry import get_adapter
from tests.networks.samples import get_samples

BRIEF: dict[str, Any] = {
    "name": "Tea spring",
    "goal": "traffic",
    "budget": {"amount": "18.50", "currency": "USD", "period": "daily"},
    "schedule": {"startAt": "2030-01-15T09:00:00Z"},
    "targeting": {"countries": ["US"]},
    "creative": {
        "headline": "Spring tea",
        "body": "Fresh leaves.",
        "url": "https://tea.example/",
        "imageUrl": "https://tea.example/spring.jpg",
    },
    "platform": {"pageId": "9009", "boardId": "730146114520000001"},
}


def account_id_of(number: int) -> str:
    return str(UUID(int=number + 1))


def make_account(code: str, currency: str | None = "USD") -> Account:
    return Account(code, get_adapter(code).network.example_account_id, currency, get_samples(code).timezone)


def make_launch(
    codes: list[str], campaign: Mapping[str, Any] = BRIEF, parts: Mapping[int, Mapping[str, Any]] = {}, **members: Any
) -> NewLaunch:
    """A launch with an account for each code. ``parts``: further members of single accounts."""
    accounts = [{"accountId": account_id_of(number), **parts.get(number, {})} for number in range(len(codes))]
    return parse_model(NewLaunch, {"name": "Spring", "campaign": campaign, "accounts": accounts, **members})


def cells_of(
    codes: list[str],
    campaign: Mapping[str, Any] = BRIEF,
    parts: Mapping[int, Mapping[str, Any]] = {},
    currencies: Mapping[int, str | None] = {},
    **members: Any,
) -> list[Cell]:
    accounts = {
        account_id_of(number): make_account(code, currencies.get(number, "USD")) for number, code in enumerate(codes)
    }
    return make_cells(make_launch(codes, campaign, parts, **members), accounts)


def refusals_of(*arguments: Any, **members: Any) -> dict[str, str]:
    """Path -> code of the issues of a launch that is refused as a whole."""
    with pytest.raises(InvalidInput) as refusal:
        cells_of(*arguments, **members)
    return {issue.path: issue.code for issue in refusal.value.issues}


def issues_of(cell: Cell) -> dict[str, str]:
    """Path -> code of the issues of a cell."""
    return {issue.path: issue.code for issue in cell.issues}
