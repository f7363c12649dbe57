"""The command line.

Exit codes: 0 success; 1 failure, a refusal by the network, or an unknown outcome of a native write (the last line on
stderr says which); 2 refused input, and nothing was done; 3 ``diff --exit-code`` found a difference.
"""

from __future__ import annotations

import sys

from adsunify.errors import MissingExtra, explain_missing_packages


def main() -> None:
    """Run the command line. A missing package is reported like any other error."""
    try:
        with explain_missing_packages():
            from .commands import run_command_line  # click itself may be missing

            run_command_line()
    except MissingExtra as problem:
        sys.stderr.write(f"{problem}\n")
        sys.exit(1)
