"""The floors: a module imports only from floors below its own, and the sandbox shares nothing with the product."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
LINTER: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
OUTSIDE = {"adsunify.sandbox", "adsunify.__main__"}
"""The sandbox has contracts of its own; ``__main__`` only calls the command line."""


def find_contract(kind: str, name: str = "") -> dict[str, Any]:
    return next(contract for contract in LINTER["contracts"] if contract["type"] == kind and name in contract["name"])


def list_product_modules() -> set[str]:
    """Every module directly below the three packages' roots that the floors speak of."""
    inside = {f"adsunify.{path.stem}" for path in (ROOT / "adsunify").glob("[!_]*") if path.suffix in ("", ".py")}
    return inside - OUTSIDE | {"adsunify_server", "adsunify_mcp"}


def lint_imports(folder: Path, config: str) -> subprocess.CompletedProcess[str]:
    """Run the linter in a process of its own: it configures logging, which would disable the loggers of other tests."""
    program = (
        "import sys; from importlinter.cli import lint_imports_command; sys.path.insert(0, ''); lint_imports_command()"
    )
    command = [sys.executable, "-c", program, "--config", config, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_no_module_imports_upwards_and_the_sandbox_shares_nothing() -> None:
    done = lint_imports(ROOT, "pyproject.toml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    (tmp_path / "tower").mkdir()
    (tmp_path / "tower" / "__init__.py").touch()
    (tmp_path / "tower" / "roof.py").touch()
    (tmp_path / "tower" / "cellar.py").write_text("from . import roof\n")
    (tmp_path / "setup.toml").write_text(
        '[tool.importlinter]\nroot_package = "tower"\n[[tool.importlinter.contracts]]\nname = "floors"\n'
        'type = "layers"\nlayers = ["tower.roof", "tower.cellar"]\n'
    )
    done = lint_imports(tmp_path, "setup.toml")
    assert done.returncode == 1 and "floors BROKEN" in done.stdout, done.stdout + done.stderr


def test_every_module_stands_on_a_floor() -> None:
    floors = [module.strip() for layer in find_contract("layers")["layers"] for module in layer.split("|")]
    assert len(floors) == len(set(floors))
    assert set(floors) == list_product_modules()


def test_the_guide_shows_the_house_as_it_is() -> None:
    """Every module has one row, and the rows are in the order of the floors."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = [line.split("|")[2] for line in text.splitlines() if re.match(r"\| [0-9, ]+ \|", line)]
    named = [re.findall(r"`(?:adsunify)?([._]\w+)", row) for row in rows]
    module_rows = [[f"adsunify{name}" for name in row] for row in named]
    height = {
        module.strip(): -place
        for place, layer in enumerate(find_contract("layers")["layers"])
        for module in layer.split("|")
    }
    assert sorted(module for row in module_rows for module in row) == sorted(height)
    heights = [[height[module] for module in row] for row in module_rows]
    assert all(max(lower) <= max(upper) for upper, lower in pairwise(heights))


DOORS = ("adsunify/cli", "adsunify/client", "adsunify_mcp", "adsunify_server")
"""Folders that call the service and never query the store."""


@pytest.mark.parametrize("folder", DOORS)
def test_no_door_reaches_for_the_store_of_its_service(folder: str) -> None:
    reaching = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "store"
    ]
    assert not reaching, f"call a function of adsunify.service: {', '.join(reaching)}"


def test_the_sandbox_is_kept_from_every_module() -> None:
    assert set(find_contract("forbidden")["forbidden_modules"]) == list_product_modules()


def test_only_the_kit_and_the_commands_reach_the_sandbox() -> None:
    bound = find_contract("forbidden", "Only the test kit and the commands")
    assert bound["forbidden_modules"] == ["adsunify.sandbox"]
    assert set(bound["source_modules"]) == list_product_modules() - {"adsunify.testing", "adsunify.cli"}
