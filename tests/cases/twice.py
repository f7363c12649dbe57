"""The same input gives the same bytes in another process, whatever the seed of its hashes.

``python -m tests.cases.twice DIR`` prints the digest of every plan that the cases below DIR make.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .cases import REPOSITORY, Case, Library, read_cases
from .kinds import run
from .plans import PLANNING

SEEDS = ("1", "2")


def digests(folder: Path) -> dict[str, str]:
    """The digest of each plan, by case; refused cases have none."""
    cases = list(read_cases(folder))
    library, by_case = Library.of(cases), {}
    for case in cases:
        if isinstance(case, Case) and case.kind in PLANNING:
            try:
                plan = run(case, library).plan
            except Exception:  # noqa: BLE001 - whatever is wrong with the case itself, its own run tells
                continue
            assert plan is not None
            by_case[case.id] = plan.digest
    return by_case


def elsewhere(folder: Path) -> list[Mapping[str, str]]:
    """The same of processes with other hash seeds."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder.resolve())],
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": seed},
            text=True,
        )
        for seed in SEEDS
    ]
    printed = [process.communicate()[0] for process in running]
    return [dict(line.split("\t") for line in lines.splitlines()) for lines in printed]


def unequal(folder: Path) -> list[str]:
    """The cases whose plans differ between processes."""
    here = digests(folder)
    elsewhere_digests = elsewhere(folder) if here else []
    return [name for name in here if any(other.get(name) != here[name] for other in elsewhere_digests)]


if __name__ == "__main__":
    for name, digest in digests(Path(sys.argv[1])).items():
        print(f"{name}\t{digest}")
