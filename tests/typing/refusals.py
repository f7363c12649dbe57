"""Which lines type checkers refuse, and which they must refuse. ``nox -s pyright`` runs it with pyright."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRONG, RIGHT = Path(__file__).with_name("wrong_uses.py"), Path(__file__).with_name("public_client.py")


def list_wrong_lines() -> set[int]:
    """The numbers of the lines that must be refused."""
    lines = enumerate(WRONG.read_text().splitlines(), 1)
    return {number for number, line in lines if line.endswith("# wrong")}


def run_mypy(config: Path) -> set[tuple[str, int]]:
    """The files and lines that ``mypy --strict`` refuses, with the defaults of a program of somebody else."""
    config.write_text("[mypy]\nstrict = True\nfollow_imports = silent\n")
    command = (sys.executable, "-m", "mypy", "--config-file", str(config), str(WRONG), str(RIGHT))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return {(Path(name).name, int(line)) for name, line in re.findall(r"^(\S+):(\d+): error:", done.stdout, re.M)}


def run_pyright(folder: Path) -> set[tuple[str, int]]:
    """The files and lines that pyright refuses in its mode ``strict``."""
    config = folder / "pyrightconfig.json"
    included = [os.path.relpath(path, folder.resolve()) for path in (WRONG, RIGHT)]  # pyright ignores absolute paths
    settings = {"include": included, "extraPaths": [str(ROOT)], "typeCheckingMode": "strict", "pythonVersion": "3.11"}
    config.write_text(json.dumps(settings))
    command = ("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(config))
    done = subprocess.run(command, capture_output=True, text=True)
    diagnostics = json.loads(done.stdout)["generalDiagnostics"]
    return {
        (Path(diagnostic["file"]).name, diagnostic["range"]["start"]["line"] + 1)
        for diagnostic in diagnostics
        if diagnostic["severity"] == "error"
    }


def find_differences(refused: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """The lines that are refused and must not be, and the other way round."""
    return refused ^ {(WRONG.name, line) for line in list_wrong_lines()}
