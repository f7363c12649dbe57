"""Generated documents are as the tables say; ``nox -s tables`` writes them."""

from __future__ import annotations

import re

import pytest

from adsunify.networks.registry import find_built_in_packages, get_adapter

from .errors import OUTCOMES, read_handwritten_cells
from .network_guides import list_required_headings, read_sections
from .tables import DOCUMENTS, ROOT


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_generated_document_is_current(name: str) -> None:
    text = (ROOT / name).read_text()
    assert DOCUMENTS[name](text) == text, f"{name} is not current: run `nox -s tables`"


def test_each_code_of_an_error_is_explained() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    cells = read_handwritten_cells(text)
    assert [code for code, explanation in cells.items() if not all(explanation)] == []
    outcomes = {cells[code][0] for code in re.findall(r"^\| `(\w+)` \| \d+ \|", text, re.MULTILINE)}
    assert {word for outcome in outcomes for word in re.findall(r"`(\w+)`", outcome)} == set(OUTCOMES)
    assert [outcome for outcome in outcomes if not outcome.startswith(("`", "as the operation"))] == []


@pytest.mark.parametrize("code", find_built_in_packages())
def test_each_guide_has_what_no_table_knows(code: str) -> None:
    missing = {*list_required_headings(get_adapter(code).network)} - {*read_sections(code)}
    assert not missing, f"adsunify/networks/{code}/guide.md has no section {missing}: CONTRIBUTING.md names them"
