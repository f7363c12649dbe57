"""`python -m adsunify.sandbox [--port P] [--json]`: run the simulated networks in this process."""

import argparse
import json
import sys

from adsunify.sandbox.server import run_sandbox


def main() -> None:
    """Parse the command line and run until SIGINT or SIGTERM. Exit code 1 if the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m adsunify.sandbox", description="Simulated ad networks.")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--json", action="store_true", help='print {"sandboxUrl"} as JSON')
    arguments = parser.parse_args()
    if not 0 <= arguments.port <= 65535:
        parser.error("--port must be from 0 to 65535")
    try:
        run_sandbox(
            arguments.port, lambda url: print(json.dumps({"sandboxUrl": url}) if arguments.json else url, flush=True)
        )
    except OSError as error:
        sys.exit(f"cannot listen on 127.0.0.1:{arguments.port}: {error.strerror}")


if __name__ == "__main__":
    main()
