"""Checks that the same input gives the same bytes in another process, with any seed of Python's hashes.

``python -m adsunify.testing.contract.determinism FOLDER`` prints the digest of every plan of the cases below FOLDER.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .cases import Case, Library, read_cases
from .exceptions import ExceptionRecorder
from .kinds import run_case
from .plans import PLANNING

HASH_SEEDS = ("1", "2")
"""Values of ``PYTHONHASHSEED``, one process each."""


def compute_digests(folder: Path) -> dict[str, str]:
    """Return the digest of each plan by the case's id. Cases that are refused or fail are left out."""
    cases = list(read_cases(folder))
    library, digests = Library.from_files(cases), {}
    for case in cases:
        if isinstance(case, Case) and case.kind in PLANNING:
            with ExceptionRecorder():  # the run of the case itself reports what is wrong with it
                plan = run_case(case, library).plan
                assert plan is not None
                digests[case.id] = plan.digest
    return digests


def compute_digests_elsewhere(folder: Path) -> list[Mapping[str, str]]:
    """Return the digests that processes with other hash seeds compute, one mapping for each process."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder.resolve())],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed},
            text=True,
        )
        for seed in HASH_SEEDS
    ]
    outputs = [process.communicate()[0] for process in processes]
    return [dict(line.split("\t") for line in output.splitlines()) for output in outputs]


def find_unequal_plans(folder: Path) -> list[str]:
    """Return the ids of the cases whose plans differ between processes."""
    digests = compute_digests(folder)
    others = compute_digests_elsewhere(folder) if digests else []
    return [name for name, digest in digests.items() if any(other.get(name) != digest for other in others)]


if __name__ == "__main__":
    for name, digest in compute_digests(Path(sys.argv[1])).items():
        print(f"{name}\t{digest}")
