"""Documents in files: YAML by the core schema of YAML 1.2, with exact numbers, and JSON."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adsunify.cli.files import load_document
from adsunify.errors import InvalidInput
from adsunify.models.yaml_text import format_yaml, parse_yaml

DOCUMENT = """
# What the shop wants
name: Tea, spring
campaign:
  budget: {amount: 25.00, currency: EUR, period: daily}
  bid: 0.50
  schedule: {startAt: 2030-01-15T09:00:00Z}
  targeting:
    countries: [NO, SE]
    native: {amount: 5.50, radius: 1e3, on: yes, none: ~, open: true}
accounts:
  - &first {accountId: a, weight: 3}
  - *first
"""


def test_a_document_of_yaml_is_exact(tmp_path: Path) -> None:
    (tmp_path / "wanted.yaml").write_text(DOCUMENT)
    first = {"accountId": "a", "weight": 3}
    assert load_document(tmp_path / "wanted.yaml") == {
        "name": "Tea, spring",
        "campaign": {
            "budget": {"amount": "25.00", "currency": "EUR", "period": "daily"},
            "bid": "0.50",
            "schedule": {"startAt": "2030-01-15T09:00:00Z"},
            "targeting": {
                "countries": ["NO", "SE"],
                "native": {
                    "amount": Decimal("5.50"),
                    "radius": Decimal("1e3"),
                    "on": "yes",
                    "none": None,
                    "open": True,
                },
            },
        },
        "accounts": [first, first],
    }


def test_a_document_of_json_is_exact(tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text('\ufeff {"a": 0.1, "b": "0.10"}')
    assert load_document(tmp_path / "wanted") == {"a": Decimal("0.1"), "b": "0.10"}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: [1", "line 1, column"),
        ("a: 1\na: 2", "line 2, column 1: must be given once"),
        ("1: 2", "line 1, column 1: must be a name"),
        ("NO: 2\nnull: 3", "line 2, column 1: must be a name"),
        ("a: .inf", "line 1, column 4: must be a finite number"),
        ("a: !!python/object:os.system x", "must have no tags"),
        ("a: 1\n---\nb: 2", "line 2"),
        ("a: &a [*a]", "nested"),
        ("a: \x01", "control characters"),
        ("- a", "must be an object"),
        ("", "must be an object"),
        ('{"a": }', "must be valid JSON"),
        ("a: " + "[" * 5000, "nested"),
        ("a: &a [1, 2]\nb: &b [" + "*a, " * 999 + "]\nc: [" + "*b, " * 99 + "]", "50,000 values"),
    ],
)
def test_what_json_lacks_is_refused_with_its_line(tmp_path: Path, text: str, hint: str) -> None:
    (tmp_path / "wanted.yaml").write_text(text)
    with pytest.raises(InvalidInput) as refusal:
        load_document(tmp_path / "wanted.yaml")
    [issue] = refusal.value.issues
    assert issue.path == "FILE" and hint in issue.message


WORDS = st.sampled_from(
    ("NO", "on", "y", "null", "~", "", "1e3", "0x1F", "0o7", "12:30", "2030-01-15", ".nan", "-", "=", "# a")
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ud7ff"), max_size=12) | WORDS
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=4) | TEXTS
)


@example({"\x85": "one\u2028two"})
@given(
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=10,
    )
)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert parse_yaml(format_yaml({"native": value})) == {"native": value}
