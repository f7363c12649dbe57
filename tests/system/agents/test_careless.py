"""Careless agents for a while: nothing is written twice, nothing is shown to others, every error says what was written.

The session ``agents`` plays 10,000 calls; ``ADSUNIFY_TEST_SEED`` plays one script again.
"""

from __future__ import annotations

import os

import pytest

from tests.databases import LONG_RUN
from tests.server.served import Served

from .careless import audit_books, start_run

pytestmark = pytest.mark.asyncio(loop_scope="module")
CALLS = int(os.environ.get("ADSUNIFY_TEST_CALLS", "300"))
SEED = int(os.environ.get("ADSUNIFY_TEST_SEED", "2026"))


@pytest.mark.timeout(60 + CALLS)
@pytest.mark.parametrize("database", LONG_RUN, indirect=True)
async def test_careless_agents(both: Served) -> None:
    run = await start_run(both, SEED)
    before = len(both.networks.state.writes)
    await run.play(CALLS)
    books = await audit_books(both, before)
    print(
        f"seed {SEED}: {run.calls} calls, {run.dropped} dropped; {books.operations} operations, {books.written} writes"
    )
    print(f"{books.applied} applied, {books.doubtful} doubtful; errors: {dict(sorted(run.errors.items()))}")
    assert books.applied and run.dropped and run.errors["not_found"] and run.errors["invalid_input"]
    if CALLS >= 10_000:
        assert books.doubtful and {"idempotency_conflict", "outcome_unknown", "operation_expired"} <= set(run.errors)
