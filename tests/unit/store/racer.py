"""A second process races for the same operations: ``python -m tests.unit.store.racer URL WORKSPACE USER OPERATION...``

It says ``ready``, waits for a line, then tries to claim each operation 5 times at once and to cancel every third, and
prints what it got as JSON: ``{operation: [fences, refusals, cancelled]}``.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from adsunify.actor import Actor
from adsunify.errors import OperationError
from adsunify.execution.state import StateCommit
from adsunify.store import Store, cancellation, open_store
from adsunify.store.state_commits import commit_state
from adsunify.values.exact_json import dumps

from .world import make_intent


async def race(store: Store, actor: Actor, ids: list[str]) -> dict[str, Any]:
    async def claim(id_: str) -> tuple[int, str | None]:
        change = StateCommit(id_, None, intent=make_intent(), trigger="claim")
        advanced = await store.write(commit_state, change, actor, store.clock)
        return advanced.fence, advanced.refusal

    async def cancel(id_: str) -> bool:
        try:
            await store.write(cancellation.cancel_operation, actor, id_, store.clock)
        except OperationError:
            return False
        return True

    async def race_operation(n: int, id_: str) -> tuple[str, list[Any]]:
        cancelling = asyncio.ensure_future(cancel(id_)) if n % 3 == 0 else None
        claims = await asyncio.gather(*(claim(id_) for _ in range(5)))
        cancelled = cancelling is not None and await cancelling
        return id_, [[fence for fence, _ in claims if fence], [why for _, why in claims if why], cancelled]

    return dict(await asyncio.gather(*(race_operation(n, id_) for n, id_ in enumerate(ids))))


async def main(url: str, workspace_id: str, user_id: str, *ids: str) -> None:
    store = await open_store(url, allow_wrong_times=True)  # the tests have made their world at a time of their own
    print("ready", flush=True)
    sys.stdin.readline()
    actor = Actor(workspace_id, user_id, "session", "admin", True, "session")
    print(dumps(await race(store, actor, list(ids))), flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
