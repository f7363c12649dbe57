"""Generated documents are as the tables say; ``nox -s tables`` writes them."""

from __future__ import annotations

import pytest

from .tables import DOCUMENTS, ROOT


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_generated_document_is_current(name: str) -> None:
    text = (ROOT / name).read_text()
    assert DOCUMENTS[name](text) == text, f"{name} is not current: run `nox -s tables`"
