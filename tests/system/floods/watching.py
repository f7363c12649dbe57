"""``python -m tests.system.floods.watching HOST:PORT``: good requests, one after the other, until standard input ends.

The first line of standard input is the token. Says a line when it has begun, and at the end how many seconds each took,
as one JSON list. A process of its own, because the sender of the flood is busy.
"""

from __future__ import annotations

import json
import select
import sys
import time
from http.client import HTTPConnection

PAUSE_SECONDS = 0.02


def main() -> None:
    """Ask until nobody wants to know any more."""
    headers = {"Authorization": f"Bearer {sys.stdin.readline().strip()}"}
    connection = HTTPConnection(sys.argv[1])
    waits: list[float] = []
    while not select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
        begun = time.perf_counter()
        connection.request("GET", "/api/v1/ads/auth/verify", headers=headers)
        answer = connection.getresponse()
        answer.read()
        waits.append(time.perf_counter() - begun)
        if answer.status != 200:
            sys.exit(f"a good request was answered {answer.status}")
        if len(waits) == 1:
            print("asking", flush=True)
    print(json.dumps(waits))


if __name__ == "__main__":
    main()
