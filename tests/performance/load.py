"""Load on a server of this machine: connections that are kept open, each with one request in flight.

A process of its own, pinned by whoever starts it: reads one JSON line per round, ``{"port", "requests", "seconds",
"connections"}``, and answers each with ``{"count", "seconds", "wrong", "p99"}``. ``requests`` are whole HTTP/1.1
requests as text, taken in turn; ``{COUNT}`` in them becomes a number that no other request of this process has.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import count, cycle
from typing import Any

from attrs import define, field

PLACE = "{COUNT}"
_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


@define
class Line:
    """One connection: what has arrived of the answer, and when its request went out."""

    connection: socket.socket
    sent_at: float = 0.0
    received: bytearray = field(factory=bytearray)

    def answered(self) -> int | None:
        """The status, once the whole answer is here."""
        head = self.received.find(_END)
        if head < 0:
            return None
        at = self.received.lower().find(_LENGTH, 0, head)
        stop = self.received.find(b"\r\n", at)
        length = int(self.received[at + len(_LENGTH) : stop]) if at >= 0 else 0
        if len(self.received) < head + len(_END) + length:
            return None
        return int(self.received[9:12])


class Requests:
    """The requests in turn, each with its number where it wants one."""

    def __init__(self, texts: Sequence[str], numbers: count[int]) -> None:
        self._texts = cycle(texts)
        self._numbers = numbers

    def __next__(self) -> bytes:
        text = next(self._texts)
        return (text.replace(PLACE, f"{os.getpid()}-{next(self._numbers):010d}") if PLACE in text else text).encode()


def round_(asked: Mapping[str, Any], numbers: count[int]) -> dict[str, Any]:
    """Load for so many seconds; requests in flight at the end are waited for and not counted."""
    requests = Requests(asked["requests"], numbers)
    poll = select.epoll()
    lines: dict[int, Line] = {}
    for _ in range(asked["connections"]):
        connection = socket.create_connection(("127.0.0.1", asked["port"]))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines[connection.fileno()] = Line(connection)
        poll.register(connection, select.EPOLLIN)
    times: list[float] = []
    wrong = 0
    began = time.perf_counter()
    until = began + asked["seconds"]
    for line in lines.values():
        line.sent_at = time.perf_counter()
        line.connection.sendall(next(requests))
    in_flight = len(lines)
    ended = began
    while in_flight:
        for number, _ in poll.poll():
            line = lines[number]
            arrived = line.connection.recv(1 << 18)
            if not arrived:
                raise ConnectionError("the server hung up")
            line.received += arrived
            status = line.answered()
            if status is None:
                continue
            now = time.perf_counter()
            if now < until:
                times.append(now - line.sent_at)
                wrong += not 200 <= status < 300
                ended = now
            line.received.clear()
            if now < until:
                line.sent_at = now
                line.connection.sendall(next(requests))
            else:
                in_flight -= 1
    for line in lines.values():
        line.connection.close()
    times.sort()
    return {
        "count": len(times),
        "seconds": ended - began,
        "wrong": wrong,
        "p99": times[int(len(times) * 0.99)] if times else None,
    }


def main() -> None:
    numbers = count()
    for line in sys.stdin:
        print(json.dumps(round_(json.loads(line), numbers)), flush=True)


if __name__ == "__main__":
    main()
