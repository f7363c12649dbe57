"""Load on a server of this machine, over connections that are kept open, each with one request in flight.

A process that the benchmark starts and pins to a core. It reads one JSON line per round, ``{"port", "requests",
"seconds", "connections", "rate"}``, and answers each with ``{"count", "seconds", "wrong", "p99"}``. ``requests`` are
whole HTTP/1.1 requests as text, taken in turn; ``{COUNT}`` in them becomes a number that no other request of this
process has. Without ``rate`` each connection sends its next request when it has its answer, and a wait begins when the
request is sent. With ``rate``, so many requests a second are due at fixed moments, whether or not earlier ones are
answered, and a wait begins when the request is due.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle
from typing import Any

from attrs import define, field

PLACE = "{COUNT}"
_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


@define
class Line:
    """One connection: what has arrived of the answer, and when the wait for it began."""

    connection: socket.socket
    began_at: float = 0.0
    received: bytearray = field(factory=bytearray)

    def send(self, request: bytes, began_at: float) -> None:
        """Send a request whose wait began at ``began_at``."""
        self.began_at = began_at
        self.connection.sendall(request)

    def receive(self) -> int | None:
        """Read what has arrived; the status, once the whole answer is here."""
        arrived = self.connection.recv(1 << 18)
        if not arrived:
            raise ConnectionError("the server closed a connection")
        self.received += arrived
        head = self.received.find(_END)
        if head < 0:
            return None
        at = self.received.lower().find(_LENGTH, 0, head)
        stop = self.received.find(b"\r\n", at)
        length = int(self.received[at + len(_LENGTH) : stop]) if at >= 0 else 0
        if len(self.received) < head + len(_END) + length:
            return None
        status = int(self.received[9:12])
        self.received.clear()
        return status


class Requests:
    """The requests in turn, each with its number where it wants one."""

    def __init__(self, texts: Sequence[str], numbers: count[int]) -> None:
        self._texts = cycle(texts)
        self._numbers = numbers

    def __next__(self) -> bytes:
        text = next(self._texts)
        return (text.replace(PLACE, f"{os.getpid()}-{next(self._numbers):010d}") if PLACE in text else text).encode()


def run_round(question: Mapping[str, Any], numbers: count[int]) -> dict[str, Any]:
    """Load for so many seconds. Requests in flight at the end are waited for; without ``rate`` they are not counted."""
    requests = Requests(question["requests"], numbers)
    poll = select.epoll()
    lines: dict[int, Line] = {}
    for _ in range(question["connections"]):
        connection = socket.create_connection(("127.0.0.1", question["port"]))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines[connection.fileno()] = Line(connection)
        poll.register(connection, select.EPOLLIN)
    send = _send_at_rate if question.get("rate") else _send_in_turn
    began = time.perf_counter()
    waits: list[float] = []
    wrong, ended = 0, began
    for now, wait, status in send(question, requests, poll, lines):
        waits.append(wait)
        wrong += not 200 <= status < 300
        ended = now
    for line in lines.values():
        line.connection.close()
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)] if waits else None
    return {"count": len(waits), "seconds": ended - began, "wrong": wrong, "p99": p99}


Answer = tuple[float, float, int]
"""When an answer was complete, how long it took, and its status."""


def _send_in_turn(
    question: Mapping[str, Any], requests: Requests, poll: select.epoll, lines: Mapping[int, Line]
) -> Iterator[Answer]:
    """Each connection sends its next request when it has its answer."""
    until = time.perf_counter() + question["seconds"]
    for line in lines.values():
        line.send(next(requests), time.perf_counter())
    in_flight = len(lines)
    while in_flight:
        for number, _ in poll.poll():
            line = lines[number]
            status = line.receive()
            if status is None:
                continue
            now = time.perf_counter()
            if now < until:
                yield now, now - line.began_at, status
                line.send(next(requests), now)
            else:
                in_flight -= 1


def _send_at_rate(
    question: Mapping[str, Any], requests: Requests, poll: select.epoll, lines: Mapping[int, Line]
) -> Iterator[Answer]:
    """Requests are due at a fixed rate; one that finds no idle connection waits for one, and that counts."""
    interval = 1 / question["rate"]
    due = time.perf_counter()
    until = due + question["seconds"]
    idle = deque(lines.values())
    while due < until or len(idle) < len(lines):
        now = time.perf_counter()
        while idle and due <= now and due < until:
            idle.popleft().send(next(requests), due)
            due += interval
        pause = max(0.0, due - time.perf_counter()) if due < until and idle else None
        for number, _ in poll.poll(pause):
            line = lines[number]
            status = line.receive()
            if status is None:
                continue
            now = time.perf_counter()
            yield now, now - line.began_at, status
            idle.append(line)


def main() -> None:
    numbers = count()
    for line in sys.stdin:
        print(json.dumps(run_round(json.loads(line), numbers)), flush=True)


if __name__ == "__main__":
    main()
