"""Money, all currencies x all networks: what can be held converts and comes back identical, all else is refused."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.adapter.flows import replay_flow
from adsunify.adapter.native_money import parse_native_amount, to_native_amount
from adsunify.errors import InvalidInput
from adsunify.http.messages import Request
from adsunify.models.brief import read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.planning import plan
from adsunify.values.currencies import EXPONENTS
from adsunify.values.exact_json import dumps, loads
from adsunify.values.money import from_units
from tests.networks.samples import get_samples

AMOUNTS = st.builds(
    lambda whole, fraction: f"{whole}.{fraction}" if fraction else str(whole),
    st.integers(1, 10**9),
    st.text("0123456789", max_size=6),
)


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
@given(st.sampled_from(sorted(EXPONENTS)), AMOUNTS)
def test_what_can_be_held_comes_back_and_all_else_is_refused(network: str, currency: str, amount: str) -> None:
    account = Account(network, "1", currency, "UTC")
    try:
        unit = get_adapter(network).network.get_money_unit(account)
    except InvalidInput:
        return  # the network has no such currency
    exact = Decimal(amount) * unit.offset
    try:
        native = to_native_amount(unit, amount)
    except InvalidInput as refusal:
        assert refusal.issues[0].code in ("over_precision", "too_large")
        assert exact % unit.step or exact > 2**63 - 1
        return
    assert exact == exact.to_integral_value()
    assert exact % unit.step == 0
    read_back = loads(dumps(native))
    count = parse_native_amount(unit, read_back)
    assert count == exact
    assert Decimal(from_units(count, unit.offset)) == Decimal(amount)
    assert not isinstance(read_back, float)


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_every_currency_has_a_unit_or_a_refusal_with_a_reason(network: str) -> None:
    for currency in EXPONENTS:
        try:
            unit = get_adapter(network).network.get_money_unit(Account(network, "1", currency, "UTC"))
        except InvalidInput as refusal:
            assert refusal.issues[0].message, currency
        else:
            assert unit.offset > 0 and unit.step > 0, currency


@pytest.mark.parametrize(
    "network", [code for code in ADAPTER_PACKAGES if not get_samples(code).takes_micros_of_every_currency]
)
def test_yen_take_no_fraction_elsewhere(network: str) -> None:
    unit = get_adapter(network).network.get_money_unit(Account(network, "1", "JPY", "Asia/Tokyo"))
    with pytest.raises(InvalidInput):
        to_native_amount(unit, "100.5")
    assert parse_native_amount(unit, to_native_amount(unit, "100")) == 100 * unit.offset


@pytest.mark.parametrize("network", ["pinterest", "reddit"])
def test_an_amount_finer_than_the_coin_warns(network: str) -> None:
    path = sorted(Path("examples/briefs").glob(f"{network}-*-daily.json"))[0]
    brief = json.loads(path.read_text())
    brief["budget"] |= {"amount": "9000.000001", "currency": "JPY"}
    account = Account(network, "1", "JPY", "Asia/Tokyo")
    warning = "The budget is finer than the smallest coin of JPY"
    assert any(warning in text for text in plan(read_brief(brief), account).warnings)
    brief["budget"]["amount"] = "9000.0"
    assert not any(warning in text for text in plan(read_brief(brief), account).warnings)


def test_linkedin_warns_that_its_group_is_active() -> None:
    payload = {"name": "Autumn", "status": "ACTIVE"}
    flow = get_adapter("linkedin").plans.plan_native_create(Account("linkedin", "1", "EUR"), "campaign", payload, None)
    (warning,) = replay_flow(flow, []).warnings
    assert "the group is ACTIVE from its creation" in warning


def test_a_recorded_look_up_is_found_whatever_the_order_of_its_query() -> None:
    def flow() -> Any:
        return (yield Request("GET", "https://api.example/x", query={"b": "2", "a": "1"}))

    recorded = {"request": {"method": "GET", "url": "https://api.example/x?a=1&b=2"}, "response": {"body": {"id": "7"}}}
    assert replay_flow(flow(), [recorded]).body == {"id": "7"}
