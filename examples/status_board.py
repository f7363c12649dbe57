"""A page with the state of operations and accounts, which signed webhooks keep up to date.

The board starts with the latest operations. Each delivery then updates one line. Deliveries may arrive twice and in
another order than their events, so the newest event of a line counts.

Needs: the extra ``server`` (aiohttp); the signing secret of a subscription in ``WEBHOOK_SECRET``. Subscribe with
``client.webhooks.create(url="https://board.example/hook")`` and let your proxy pass ``/hook`` to the board.
Prints: the address of the board. A delivery without a valid signature is refused with 400 and changes nothing.
"""

import argparse
import json
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from html import escape
from typing import NamedTuple

from aiohttp import web

from adsunify import AsyncAds
from adsunify.webhooks import WebhookVerificationError, verify


class Line(NamedTuple):
    at: datetime
    network: str
    what: str
    status: str


class Board:
    """The lines of the board, each by the id of its operation, entity or account."""

    def __init__(self, secret: str) -> None:
        self._secret, self._lines = secret, dict[str, Line]()

    def update(self, subject: str, line: Line) -> None:
        """Set the line of a subject, unless a newer one is known."""
        if subject not in self._lines or self._lines[subject].at <= line.at:
            self._lines[subject] = line

    async def receive(self, request: web.Request) -> web.Response:
        """Receive a delivery."""
        body = await request.read()
        try:
            verify(body, request.headers, self._secret)  # the signature covers the bytes as sent
        except WebhookVerificationError as error:
            return web.Response(status=400, text=str(error))
        event = json.loads(body)
        data = event["data"]
        subject = data["operationId"] or data.get("entityId") or data["accountId"]
        if subject is not None:
            texts = (data["network"] or "", event["type"], data["status"] or "")
            self.update(subject, Line(datetime.fromisoformat(event["createdAt"]), *texts))
        return web.Response(status=204)

    async def show(self, _: web.Request) -> web.Response:
        """Show the board, the newest lines first."""
        page = "<!doctype html><title>Ads</title><meta http-equiv=refresh content=5><table>"
        for subject, line in sorted(self._lines.items(), key=lambda item: item[1].at, reverse=True):
            cells = (f"{line.at:%Y-%m-%d %H:%M:%S}", *line[1:], subject)
            page += "<tr><td>" + "<td>".join(map(escape, cells))
        return web.Response(text=page, content_type="text/html")


def main(client: AsyncAds, secret: str) -> web.Application:
    """Make the application: ``GET /`` is the board, ``POST /hook`` receives deliveries."""
    board = Board(secret)

    async def run(_: web.Application) -> AsyncIterator[None]:
        async with client:
            async for operation in client.operations.list():
                line = Line(datetime.now(UTC), operation.network, operation.action, operation.status)
                board.update(operation.id, line)
        yield

    app = web.Application(client_max_size=2**16)
    app.cleanup_ctx.append(run)
    app.add_routes([web.get("/", board.show), web.post("/hook", board.receive)])
    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    web.run_app(main(AsyncAds.from_environment(), os.environ["WEBHOOK_SECRET"]), host="127.0.0.1", port=options.port)
