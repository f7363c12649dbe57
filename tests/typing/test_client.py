"""mypy --strict refuses each wrong use of the public client, and no right one. ``nox -s pyright`` asks pyright."""

from __future__ import annotations

from pathlib import Path

from .refusals import find_differences, list_wrong_lines, run_mypy


def test_mypy_refuses_the_wrong_uses_alone(tmp_path: Path) -> None:
    assert len(list_wrong_lines()) >= 40
    assert not find_differences(run_mypy(tmp_path / "mypy.ini"))
