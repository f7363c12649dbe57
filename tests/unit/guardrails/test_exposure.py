"""The exposure of native payloads, without a network: what no table knows is unknown, in every place and form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.adapter.edits import list_native_names
from adsunify.adapter.flows import run_flow
from adsunify.adapter.network import Template
from adsunify.adapter.spend import BUDGET_FIELDS
from adsunify.guardrails.children import ChildReader
from adsunify.guardrails.exposure import ExposureReader
from adsunify.guardrails.plans import attach_exposure
from adsunify.http.messages import Request, Response
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.exposure import NO_SPEND, UNKNOWN_SPEND, BudgetChange, Exposure, Spend
from adsunify.plans.records import Plan
from adsunify.values.exact_json import Json

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
TEMPLATES = [
    pytest.param(code, template, id=f"{code}-{template.kind}")
    for code in ADAPTER_PACKAGES
    for template in get_adapter(code).network.templates
    if (code, template.kind) != ("x", "ad")  # a post is active at once, so the budget above it is read
]


def fail(request: Request) -> Response:
    raise AssertionError(f"the payload alone decides: {request.url}")


def compute(code: str, template: Template, payload: Mapping[str, Json], currency: str | None = "USD") -> Exposure:
    account = Account(code, "1", currency, "America/New_York", {})
    reader = ExposureReader(ChildReader(get_adapter(code), account), NOW)
    if (code, template.kind) == ("snapchat", "adGroup"):  # without an end, that of its campaign is read
        payload = {"end_time": "2031-01-15T09:00:00.000Z", **payload}
    return run_flow(reader.fetch_native_create(template.kind, payload, "5"), fail)


def is_unknown(exposure: Exposure) -> bool:
    return exposure.exposure == exposure.planned == UNKNOWN_SPEND and exposure.highest_bid == "unknown"


@pytest.mark.parametrize(("code", "template"), TEMPLATES)
def test_a_template_is_paused_and_known(code: str, template: Template) -> None:
    exposure = compute(code, template, template.payload)
    assert exposure.exposure == NO_SPEND
    assert exposure.planned.is_unknown == ((code, template.kind) == ("outbrain", "campaign"))  # it names a budget


@pytest.mark.parametrize(("code", "template"), TEMPLATES)
def test_without_the_currency_of_the_account_every_amount_is_unknown(code: str, template: Template) -> None:
    known, exposure = compute(code, template, template.payload), compute(code, template, template.payload, None)
    assert exposure.currency is None and not exposure.budgets and not exposure.guards
    if known.planned != NO_SPEND:
        assert exposure.planned == UNKNOWN_SPEND
    assert known.highest_bid is None or exposure.highest_bid == "unknown"


@pytest.mark.parametrize(("code", "template"), TEMPLATES)
def test_a_member_that_no_table_knows_makes_it_unknown(code: str, template: Template) -> None:
    for name in ("adsunify_unknown", "Budget", "BUDGET", "budget ", "daily-budget", "adset_spec", "", "a/b", "~0"):
        for value in (None, 0, "", {}, [], {"budget": 5}, [{"status": "ACTIVE"}], True):
            assert is_unknown(compute(code, template, {**template.payload, name: value})), (name, value)


def list_objects(payload: Mapping[str, Json], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of the objects in a payload whose members are looked at one by one."""
    for name, value in payload.items():
        if isinstance(value, Mapping) and value:
            yield (*path, name)
            yield from list_objects(value, (*path, name))


def set_member(payload: Mapping[str, Json], path: tuple[str, ...], name: str, value: Json) -> dict[str, Json]:
    if not path:
        return {**payload, name: value}
    return {**payload, path[0]: set_member(payload[path[0]], path[1:], name, value)}


BUDGET_OBJECTS = {"google": "campaignBudget", "linkedin": "dailyBudget", "amazon": "budget", "chatgpt": "budget"} | {
    "apple": "dailyBudget"
}


@pytest.mark.parametrize(("code", "member"), BUDGET_OBJECTS.items())
def test_an_unknown_member_inside_of_a_budget_makes_it_unknown(code: str, member: str) -> None:
    (template,) = (candidate for candidate in get_adapter(code).network.templates if member in candidate.payload)
    for path in list_objects({member: template.payload[member]}):
        for name in ("adsunify_unknown", "amount2", "period", "hourly"):
            assert is_unknown(compute(code, template, set_member(template.payload, path, name, 5))), path
    for value in (None, {}, [], [5], "5", 5, True, {"amount": {"amount": "5"}}, {"value": None}):
        exposure = compute(code, template, {**template.payload, member: value})
        assert exposure.planned.is_unknown or (value is None and exposure.planned == NO_SPEND), value


FLAT_BUDGETS = {
    code: (template.kind, name)
    for code in ADAPTER_PACKAGES
    for setting in get_adapter(code).network.settings
    if setting.field in BUDGET_FIELDS
    for template in get_adapter(code).network.templates
    if template.kind == setting.level
    for name in sorted(list_native_names(setting))
    if name in template.payload and not isinstance(template.payload[name], dict)
}
"""The networks whose templates have a budget as a plain member: its kind and its name."""
HOSTILE = st.one_of(
    st.sampled_from(
        ["NaN", "Infinity", "-Infinity", "1e400", "1E9", "-5", "+5", "0x5", "1_000", " 5", "5 ", "5,0", "٥"]
    ),
    st.text(min_size=1).filter(lambda text: not (text.isascii() and text.replace(".", "", 1).strip("0").isdigit())),
    st.sampled_from(
        [Decimal("NaN"), Decimal("Infinity"), Decimal("-1"), Decimal("1E-7"), -1, True, False, [5], {"a": 5}]
    ),
    st.integers(max_value=-1),
)


@pytest.mark.parametrize(("code", "kind", "member"), [(code, *place) for code, place in FLAT_BUDGETS.items()])
@given(HOSTILE)
def test_an_amount_in_another_form_is_never_less_than_it_says(code: str, kind: str, member: str, value: Any) -> None:
    (template,) = (candidate for candidate in get_adapter(code).network.templates if candidate.kind == kind)
    exposure = compute(code, template, {**template.payload, member: value})
    is_zero = isinstance(value, str) and not value.strip("0.")  # no amount, and then no budget
    assert exposure.planned.is_unknown or is_zero or (value == Decimal("1E-7") and exposure.planned.daily == 1)


@pytest.mark.parametrize("code", FLAT_BUDGETS)
@given(st.integers(10**31, 10**400))
def test_a_huge_amount_has_no_bound_or_is_unknown(code: str, amount: int) -> None:
    kind, member = FLAT_BUDGETS[code]
    (template,) = (candidate for candidate in get_adapter(code).network.templates if candidate.kind == kind)
    exposure = compute(code, template, {**template.payload, member: amount})
    assert exposure.planned.daily in ("unbounded", "unknown")


def test_risk_and_warnings_follow_from_the_exposure() -> None:
    plan = Plan("meta", "edit", "act_1", ())
    assert attach_exposure(plan, Exposure("USD")).risk == "low"
    change = BudgetChange("campaign", "1", "budget", 10, 25)
    raised = attach_exposure(plan, Exposure("USD", Spend(15, "unbounded"), budgets=(change,)))
    assert (raised.risk, raised.warnings) == ("spend", ("budget rises by 150 %: it more than doubles.",))
    twice = attach_exposure(plan, Exposure("USD", Spend(10, 10), budgets=(BudgetChange("ad", "1", "budget", 10, 20),)))
    assert twice.warnings == ()
    assert attach_exposure(
        Plan("meta", "delete", "act_1", (), risk="destructive"), raised.exposure or Exposure(None)
    ).risk == ("destructive")
    assert attach_exposure(plan, Exposure(None, UNKNOWN_SPEND)).risk == "spend"
