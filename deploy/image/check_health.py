"""The image's health check: exit code 0 if the process of this container answers 200.

usage: check_health.py PORT PATH
"""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException

TIMEOUT_SECONDS = 3.0


def main() -> int:
    """Request the path once, and return the exit code."""
    port, path = sys.argv[1:]
    connection = HTTPConnection("127.0.0.1", int(port), timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path)
        return int(connection.getresponse().status != 200)
    except (OSError, HTTPException):
        return 1
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
