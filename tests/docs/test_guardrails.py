"""The page on guardrails: its examples are accepted, and its tables have every member."""

from __future__ import annotations

import json
import re
from pathlib import Path

from adsunify.answers.operations import BrokenGuardrail
from adsunify.models.guardrail import NewGuardrail, RuleScope, SpendLimits, SpendWindow
from adsunify.models.parsing import parse_model
from adsunify.problem_details import PROBLEM_CODES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guardrails.md").read_text()
RULE, PROBLEM, _ = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_example_is_a_rule_and_a_file() -> None:
    rule = parse_model(NewGuardrail, RULE)
    assert (ROOT / "examples" / "guardrail.json").read_text() == RULE
    assert rule.scope == RuleScope(networks=["meta", "google"])
    assert rule.per_operation == SpendLimits(daily="50.00", lifetime=None)
    assert rule.per_window == SpendWindow(hours=24, daily="200.00", lifetime="5000.00")


def test_each_member_of_a_rule_is_explained() -> None:
    names = {field.alias for field in NewGuardrail.model_fields.values()}
    table = PAGE.partition("| member | what it means |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == names


def test_the_refusal_is_of_the_documented_form() -> None:
    problem = json.loads(PROBLEM)
    assert problem["code"] in PROBLEM_CODES
    (breach,) = problem["guardrails"]
    assert set(breach) == {field.alias or name for name, field in BrokenGuardrail.model_fields.items()}
    assert BrokenGuardrail.model_validate(breach).to_dict() == breach
