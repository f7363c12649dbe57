"""Over TLS, as at every real network: an answer that came twice is not the answer to the next write."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from adsunify.http.egress import Egress
from adsunify.http.transport import HttpTransport
from tests.unit.http.certificates import Authority
from tests.unit.http.server import HOST, WRITE, answer


@pytest.mark.parametrize(
    ("records", "pause", "idle"),
    [(1, 0.0, 0.0), (1, 0.0, 0.3), (2, 0.0, 0.0), (2, 0.0, 0.3), (2, 0.05, 0.3)],
)
async def test_an_answer_that_came_twice(tmp_path: Path, records: int, pause: float, idle: float) -> None:
    authority, numbers = Authority(tmp_path), itertools.count(1)

    async def handle_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await reader.readuntil(b'{"name":"x"}')
                response = answer(200, b'{"id":"%d"}' % next(numbers))
                writer.write(response if records == 2 else response + response)
                if records == 2:
                    if pause:
                        await asyncio.sleep(pause)
                    writer.write(response)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(handle_connection, "127.0.0.1", 0, ssl=authority.server("localhost"))
    url = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        sending = HttpTransport(url, egress=Egress(authority.make_client_context()))
        assert (await sending.send(WRITE, hosts=(HOST,), timeout=5)).body == {"id": "1"}
        await asyncio.sleep(idle)
        assert (await sending.send(WRITE, hosts=(HOST,), timeout=5)).body == {"id": "2"}
