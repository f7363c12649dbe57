"""The command line.

Exit codes: 0 success; 1 failure, a refusal by the network, or an unknown outcome of a native write (the last line on
stderr says which); 2 refused input, and nothing was done.
"""

from __future__ import annotations

import sys

EXTRAS = {"click": "cli", "rich": "cli", "aiohttp": "server", "jinja2": "server", "prometheus_client": "server"}
"""Packages that commands need, and our extra that installs each."""


def main() -> None:
    """Run the command line. A missing package is reported like any other error."""
    try:
        from .commands import run_command_line  # click itself may be missing

        run_command_line()
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        sys.stderr.write(
            f"This command needs {package}, which is not installed: install adsunify[{EXTRAS[package]}].\n"
        )
        sys.exit(1)
