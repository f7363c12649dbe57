"""A network that does nothing but take its time: every request is answered with a new id after the same delay.

Prints ``{"url"}`` when it answers; each line of its input is the delay in seconds from now on, answered with
``{"requests"}``, how many came since the line before. Ends when its input ends.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
import threading

from attrs import define

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


@define
class Network:
    delay: float = 0.05
    request_count: int = 0
    reported_count: int = 0

    def set_delay(self, delay: float) -> None:
        print(json.dumps({"requests": self.request_count - self.reported_count}), flush=True)
        self.delay, self.reported_count = delay, self.request_count


class Line(asyncio.Protocol):
    """One connection."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head = self.received.find(_END)
        if head < 0:
            return
        at = self.received.lower().find(_LENGTH, 0, head)
        stop = self.received.find(b"\r\n", at)
        length = int(self.received[at + len(_LENGTH) : stop]) if at >= 0 else 0
        if len(self.received) < head + len(_END) + length:
            return
        self.received = self.received[head + len(_END) + length :]
        self.network.request_count += 1
        body = b'{"id":"%d"}' % (1200000000 + self.network.request_count)
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
            len(body),
            body,
        )
        asyncio.get_running_loop().call_later(self.network.delay, self.transport.write, answer)


async def _serve() -> None:
    loop, network, ended = asyncio.get_running_loop(), Network(), asyncio.Event()
    server = await loop.create_server(lambda: Line(network), "127.0.0.1", 0, backlog=256)

    def read_input() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(network.set_delay, json.loads(line))
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read_input, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}), flush=True)
    await ended.wait()


def main() -> None:
    # epoll waits in whole milliseconds: a fifth of a delay of five
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        runner.run(_serve())


if __name__ == "__main__":
    main()
