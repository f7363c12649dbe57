"""Budgets of launches are divided exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.errors import InvalidInput
from adsunify.launches.budgets import compute_common_unit, share_units, split_amount
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.money import MICROS, from_units

from .launches import BRIEF, cells_of, issues_of, make_account, refusals_of

CODES = tuple(ADAPTER_PACKAGES)


def split(**members: Any) -> dict[str, Any]:
    shared = {"amount": "100", "currency": "USD", "period": "daily", "by": "even"}
    return BRIEF | {"budget": {"split": shared | members}}


@given(
    codes=st.lists(st.sampled_from(CODES), min_size=1, max_size=40),
    currency=st.sampled_from(("USD", "JPY")),
    weights=st.data(),
    count=st.integers(1, 10**12),
    is_even=st.booleans(),
)
def test_shares_add_up_exactly(
    codes: list[str], currency: str, weights: st.DataObject, count: int, is_even: bool
) -> None:
    """For the units of all networks. Each share is its part, rounded down; the first one has the remainder."""
    currencies = {code: currency for code in codes if code != "pinterest" or currency == "USD"}
    units = [
        (network := get_adapter(code).network).get_money_unit(make_account(network.code, currencies.get(code, "USD")))
        for code in codes
    ]
    unit = compute_common_unit(units)
    assert all(unit * money_unit.offset % (MICROS * money_unit.step) == 0 for money_unit in units)
    parts = [1] * len(codes) if is_even else [weights.draw(st.integers(1, 10_000)) for _ in codes]
    expected = share_units(count, parts)
    try:
        shares = split_amount(from_units(count * unit, MICROS), unit, parts, "")
    except InvalidInput:
        assert 0 in expected or count * unit > 2**63 - 1
        return
    assert sum(map(Decimal, shares)) == Decimal(from_units(count * unit, MICROS))
    in_units = [int(Decimal(share) * MICROS) // unit for share in shares]
    assert [share_count * unit for share_count in in_units] == [Decimal(share) * MICROS for share in shares]
    assert min(in_units) > 0
    rounded = [count * part // sum(parts) for part in parts]
    assert in_units[1:] == rounded[1:]
    assert 0 <= in_units[0] - rounded[0] < len(parts)


def test_the_first_cell_has_the_remainder() -> None:
    cells = cells_of(["meta", "google", "meta"], split(amount="100.01"))
    budgets = [(cell.brief or {})["budget"]["amount"] for cell in cells]
    assert budgets == ["33.35", "33.33", "33.33"]


def test_shares_are_of_the_coarsest_unit() -> None:
    """Pinterest stores micros, Meta whole cents."""
    assert next((cell.brief or {})["budget"]["amount"] for cell in cells_of(["pinterest"] * 3, split())) == "33.333334"
    cells = cells_of(["pinterest", "meta", "pinterest"], split())
    assert [(cell.brief or {})["budget"]["amount"] for cell in cells] == ["33.34", "33.33", "33.33"]
    assert refusals_of(["pinterest", "meta"], split(amount="9.999")) == {
        "campaign.budget.split.amount": "over_precision"
    }


def test_weights_divide_the_amount() -> None:
    parts = {0: {"weight": 1}, 1: {"weight": 3}}
    cells = cells_of(["meta", "google"], split(by="weights"), parts)
    assert [(cell.brief or {})["budget"] for cell in cells] == [
        {"amount": amount, "currency": "USD", "period": "daily"} for amount in ("25", "75")
    ]
    assert refusals_of(["meta", "google"], split(by="weights"), {0: {"weight": 1}}) == {"accounts.1.weight": "required"}
    assert issues_of(cells_of(["meta", "google"], split(), parts)[0]) == {"accounts.0.weight": "conflict"}


def test_a_share_of_nothing_is_refused() -> None:
    assert refusals_of(["meta"] * 3, split(amount="0.02")) == {"campaign.budget.split.amount": "out_of_range"}


@pytest.mark.parametrize(
    ("currency", "issue"),
    [
        ("EUR", {"accounts.1.campaign.budget.currency": "currency_mismatch"}),
        (None, {"accounts.1.accountId": "account_currency_unknown"}),
    ],
)
def test_an_account_of_another_currency_is_refused_and_nothing_is_converted(
    currency: str | None, issue: dict[str, str]
) -> None:
    cells = cells_of(["meta"] * 4, split(), currencies={1: currency})
    assert [issues_of(cell) for cell in cells] == [{}, issue, {}, {}]
    assert cells[1].brief is None
    assert [cell.brief["budget"]["amount"] for cell in cells if cell.brief is not None] == ["25"] * 3


def test_a_part_may_replace_the_split() -> None:
    """The budgets of a network, or of an account, are not shares of the amount of the others."""
    own = {"split": None, "amount": "7", "currency": "USD", "period": "daily"}
    cells = cells_of(
        ["meta", "google", "google", "meta"],
        split(),
        {3: {"campaign": {"budget": own}}},
        networks={"google": {"budget": {"split": {"amount": "9"}}}},
    )
    assert [(cell.brief or {})["budget"]["amount"] for cell in cells] == ["100", "4.5", "4.5", "7"]


def test_a_split_is_refused_beside_an_amount_and_for_one_account() -> None:
    beside = {0: {"campaign": {"budget": {"amount": "7"}}}}
    assert issues_of(cells_of(["meta", "google"], split(), beside)[0]) == {"accounts.0.campaign.budget": "conflict"}
    single = {0: {"campaign": {"budget": {"split": {"amount": "7"}}}}}
    assert "accounts.0.campaign.budget.split" in issues_of(cells_of(["meta", "google"], split(), single)[0])


@pytest.mark.parametrize(
    ("wrong", "issue"),
    [
        ("100", {"campaign.budget.split": "wrong_type"}),
        ({"amount": "1", "currency": "USD", "period": "daily"}, {"campaign.budget.split.by": "required"}),
        (split(by="halves")["budget"]["split"], {"campaign.budget.split.by": "not_a_choice"}),
    ],
)
def test_a_split_of_another_form_is_refused(wrong: Any, issue: dict[str, str]) -> None:
    assert refusals_of(["meta"], BRIEF | {"budget": {"split": wrong}}) == issue
