"""The command line.

Exit codes: 0 done; 1 failed, the network refused, or nobody knows whether a native write was done (the last line on
stderr says so); 2 the input was refused, and nothing was done.
"""

from __future__ import annotations

import sys

EXTRAS = {"click": "cli", "rich": "cli", "aiohttp": "server", "jinja2": "server", "prometheus_client": "server"}
"""What a command may lack: a package, and the extra of ours that brings it."""


def main() -> None:
    """Run the command line; what is not installed is told like every other error."""
    try:
        from .commands import run_command_line  # click itself may be missing

        run_command_line()
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        sys.stderr.write(f"{package} is not installed, and this needs it: install adsunify[{EXTRAS[package]}].\n")
        sys.exit(1)
