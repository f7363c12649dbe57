"""What plans allow to be spent, against figures computed by hand: ``tests/networks/<network>/exposure/cases.json``.

Their author had not read the code that computes exposure. Each case names the steps that lead to its action, the
figures, and in a sentence how they follow from the networks' documentation. A list of figures is a choice where the
documentation leaves one. Figures that are left out are not compared.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.networks.samples import find_case_folder

from .conftest import MakeStage

FILES = [find_case_folder(code) / "exposure" / "cases.json" for code in ADAPTER_PACKAGES]
ORDINARY = 10
"""Each file's every tenth case runs each time; the rest is left to the session ``exhaustive``."""
CASES = [
    pytest.param(
        {"network": content["network"], "clock": content["clock"], "currency": content["currency"], **case},
        id=f"{content['network']}: {case['case']}",
        marks=[] if position % ORDINARY == 0 else [pytest.mark.exhaustive],
    )
    for content in (json.loads(file.read_text()) for file in FILES)
    for position, case in enumerate(content["cases"])
]


def is_expected_amount(amount_of_plan: dict[str, Any], expected: dict[str, Any], currency: str) -> bool:
    """Whether an amount of a plan is the expected one, in the account's currency."""
    return amount_of_plan["currency"] == currency and all(
        amount_of_plan[name] in (amount if isinstance(amount, list) else [amount]) for name, amount in expected.items()
    )


def test_there_are_cases_of_every_network_and_action() -> None:
    assert len(CASES) >= 10 * len(ADAPTER_PACKAGES)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES)
async def test_exposure(make_stage: MakeStage, case: dict[str, Any]) -> None:
    stage = await make_stage(case["network"], case["currency"], case["clock"])
    for step in case.get("given", ()):
        await stage.perform(step)
    operations = await stage.prepare(case["action"])
    expected = case["expect"] if isinstance(case["expect"], list) else [case["expect"]]
    plans = [operation["plan"] for operation in operations]
    assert len(plans) == len(expected)
    for plan, figures in zip(plans, expected, strict=True):
        for name, amounts in figures.items():
            if not is_expected_amount(plan[name], amounts, case["currency"]):
                pytest.fail(f"{name} is {plan[name]}, expected {amounts}: {case['because']}", pytrace=False)
