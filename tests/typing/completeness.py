"""Prints how many of the names that adsunify exports have a known type, and fails below the minimum.

``python -m tests.typing.completeness`` runs pyright over the package that is installed in the environment.
"""

from __future__ import annotations

import json
import subprocess
import sys

MINIMUM_PERCENT = 95


def main() -> None:
    """Run pyright, which exits with 1 where a single type is not known, and compare its score with the minimum."""
    command = ["pyright", "--verifytypes", "adsunify", "--ignoreexternal", "--outputjson"]
    ran = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(ran.stdout)
    for diagnostic in report["generalDiagnostics"]:
        print(diagnostic["message"])
    percent = 100 * report["typeCompleteness"]["completenessScore"]
    print(f"{percent:.1f} % of the exported names have a known type; the minimum is {MINIMUM_PERCENT} %")
    sys.exit(percent < MINIMUM_PERCENT)


if __name__ == "__main__":
    main()
