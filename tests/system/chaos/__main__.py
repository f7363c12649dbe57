"""Mixed work while everything is killed: ``python -m tests.system.chaos [--minutes N] [--seed N]``.

The seed decides which process is killed when, and by which signal. The logs of the processes stay in ``--logs``.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from .run import run_chaos
from .verification import print_summary

PATIENCE_SECONDS = 15 * 60
"""A delivery whose worker was killed waits for the end of its lease, 5 minutes, and may be refused then."""


def main() -> int:
    """Run, print the summary, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.system.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--logs", type=Path, help="a folder that gets the logs of all processes")
    arguments = parser.parse_args()
    print(f"seed: {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="adsunify-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the user of PostgreSQL reads below it
        try:
            result = asyncio.run(run_chaos(folder, arguments.minutes, arguments.seed, PATIENCE_SECONDS))
        finally:
            if arguments.logs is not None:
                arguments.logs.mkdir(parents=True, exist_ok=True)
                for log in folder.glob("*.log"):
                    shutil.copy(log, arguments.logs)
    print_summary(result.summary)
    for failure in result.failures:
        print(f"FAILED: {failure}"[:1000])
    print("nothing failed" if not result.failures else f"{len(result.failures)} failures with seed {arguments.seed}")
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
