"""A commit that was made but not learned of comes again, and by then the next write is not permitted any more."""

from __future__ import annotations

import pytest

from adsunify.execution.state import REVIEW_MILLISECONDS, StateCommit, read_progress
from adsunify.store import connections
from adsunify.store.attempts import list_receipts
from tests.unit.store.world import LEASE, World, make_intent, make_receipt


@pytest.mark.parametrize("why", ["fenced", "expired", "access"])
async def test_an_intent_that_is_refused_when_it_comes_again_was_surely_not_sent(world: World, why: str) -> None:
    operation = await world.prepare()
    claimed = await world.claim(operation)
    if why == "expired":  # a long execution: the lease is renewed up to the end of the review time
        while world.clock.now() + LEASE < (await world.get(operation)).expires_at:
            world.hands.pass_(LEASE - 1)
            await world.advance(StateCommit(operation, claimed.fence, is_renewal=True))
    change = StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
    assert (await world.advance(change)).refusal is None  # the executor does not learn of it: nothing is sent
    if why == "fenced":
        world.hands.pass_(LEASE + 1)
    elif why == "expired":
        world.hands.pass_((await world.get(operation)).expires_at - world.clock.now())
    else:
        await world.store.write(connections.disconnect, world.admin, world.account.connection_id, world.clock)
    assert (await world.advance(change)).refusal == why
    receipts, in_flight = await world.store.read(list_receipts, operation)
    record = await world.get(operation)
    assert (record.status, in_flight, read_progress(receipts).doubtful_steps) == ("prepared", [], ())
    assert [(receipt.step_index, receipt.state) for receipt in receipts] == [(0, "applied"), (1, "throttled")]
    if why == "fenced":
        assert (await world.claim(operation, n=1, attempt=2)).refusal is None


async def test_a_claim_that_comes_again_leaves_its_intent_open(world: World) -> None:
    """Two processes may have read the same receipts: only the holder of the claim knows that it did not send."""
    operation = await world.prepare()
    await world.claim(operation)
    assert (await world.claim(operation)).refusal == "claimed"
    _, in_flight = await world.store.read(list_receipts, operation)
    assert in_flight == [make_intent(0).key]
    assert REVIEW_MILLISECONDS > LEASE
