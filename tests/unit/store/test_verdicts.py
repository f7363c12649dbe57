"""Verdicts are added and never changed; a settlement wins over every inspection."""

from __future__ import annotations

from adsunify.outcomes.verdicts import Evidence, ItemVerdict, StepVerdict
from adsunify.store.verdicts import list_verdicts, save_verdicts

from .world import World

UNDECIDED = StepVerdict(
    "campaign", 1, "undecided", "One read is not enough.", evidence=(Evidence("campaigns", 5, "nothing", True),)
)
APPLIED = StepVerdict(
    *("campaign", 1, "applied", "One campaign agrees."),
    outputs={"id": "7", "ids": ["8", "9"]},
    items=(ItemVerdict(0, "applied", "8"), ItemVerdict(1, "not_applied")),
)
SETTLED = StepVerdict("campaign", 1, "not_applied", "A person looked.", settled_by={"userId": "u"})
OTHER = StepVerdict("ad", 2, "not_applied", "Two complete reads have no such ad.")


async def test_the_valid_verdict_is_the_settlement_or_the_last_inspection(world: World) -> None:
    operation_id, clock = await world.prepare(), world.clock
    assert await world.store.read(list_verdicts, operation_id) == []
    await world.store.write(save_verdicts, operation_id, [UNDECIDED], clock)
    assert await world.store.read(list_verdicts, operation_id) == [UNDECIDED]
    await world.store.write(save_verdicts, operation_id, [APPLIED, OTHER], clock)
    assert await world.store.read(list_verdicts, operation_id) == [APPLIED, OTHER]
    await world.store.write(save_verdicts, operation_id, [SETTLED], clock)
    await world.store.write(save_verdicts, operation_id, [APPLIED], clock)
    assert await world.store.read(list_verdicts, operation_id) == [SETTLED, OTHER]
    assert await world.store.read(list_verdicts, await world.prepare()) == []
