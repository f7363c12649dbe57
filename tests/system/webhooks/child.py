"""A worker process that kills itself at a named point, after it has passed that point ``after`` times.

``python -m tests.system.webhooks.child {"database", "target", "lease", "point", "after"}``; without ``point`` it lives
until SIGTERM. The product knows nothing of this: its functions are wrapped here.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any

from adsunify.http.backend import NetworkStream
from adsunify.service import webhook_worker
from adsunify.service.factory import open_service
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import Store, deliveries
from adsunify.store.deliveries import ClaimedDelivery

from .world import RING

POINTS = ("claimed", "sent", "answered", "saving", "saved")
"""After the claim is durable; after the request is out; after the answer is in; before and after it is kept."""


class Fate:
    """Ends the process at ``point`` when it was passed ``after`` times."""

    def __init__(self, point: str | None, after: int) -> None:
        self.point, self.left = point, after

    def passes(self, point: str) -> None:
        if point == self.point:
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def make_doomed_worker(fate: Fate, store: Store) -> type[WebhookWorker]:
    """The worker, its points in the hands of fate."""
    read, fetch, write = NetworkStream.read, webhook_worker.fetch_url, store.write

    async def read_and_pass(stream: NetworkStream, *args: Any, **more: Any) -> bytes:
        fate.passes("sent")  # the answer is read after the whole request was written
        return await read(stream, *args, **more)

    async def fetch_and_pass(*args: Any, **more: Any) -> Any:
        answer = await fetch(*args, **more)
        fate.passes("answered")
        return answer

    async def write_and_pass(function: Any, *args: Any) -> Any:
        settles = function is deliveries.record_results
        if settles:
            fate.passes("saving")
        result = await write(function, *args)
        if settles:
            fate.passes("saved")
        return result

    store.write = write_and_pass  # type: ignore[method-assign, assignment] # a point to die at
    NetworkStream.read = read_and_pass  # type: ignore[method-assign] # a point to die at
    webhook_worker.fetch_url = fetch_and_pass  # type: ignore[assignment] # a point to die at

    class Doomed(WebhookWorker):
        def _start_delivery(self, claimed: ClaimedDelivery) -> None:
            fate.passes("claimed")
            super()._start_delivery(claimed)

    return Doomed


async def main() -> None:
    job = json.loads(sys.argv[1])
    service = (await open_service(job["database"], RING, webhook_dev_targets=[job["target"]])).service
    worker = make_doomed_worker(Fate(job["point"], job["after"]), service.store)(service, lease=job["lease"])
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()
    await service.close()


if __name__ == "__main__":
    asyncio.run(main())
