"""Proofs of every network: an honest simulation is confirmed, and 300 seeded lies are found.

``nox -s proving`` runs all networks and seeds; the ordinary tests run a few. Whatever a simulation says, a proof
activates nothing, leaves nothing, and writes no secret.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import frozen

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.proving.findings import ProofReport
from adsunify.testing.contract.__main__ import run_folder

from .lies import Lie, choose_lies
from .proofs import World, open_world

IS_LONG = os.environ.get("ADSUNIFY_PROVING") == "long"
NETWORKS = tuple(ADAPTER_PACKAGES)
SEEDS = range(25) if IS_LONG else range(1)
HONEST = NETWORKS if IS_LONG else ("pinterest",)
LYING = NETWORKS if IS_LONG else ("meta", "google")
FOUND_SHARE = 0.95


@frozen
class ToldLie:
    """A lie that was told, and whether the proof found it."""

    seed: int
    lie: Lie
    is_found: bool
    findings: str

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.lie.name}, {self.lie.changes} changes: {self.findings}"


@pytest.mark.parametrize("network", HONEST)
async def test_an_honest_network_is_confirmed(network: str, tmp_path: Path) -> None:
    async with open_world(network, tmp_path) as world:
        report = await world.prove()
        assert [
            (finding.fact, finding.expected, finding.found, finding.reason) for finding in report.select("contradicted")
        ] == []
        assert report.is_good
        assert len(report.select("confirmed")) > 50
        await check_harmlessness(world, report)
    assert report.withheld == []
    assert run_folder(world.folder / "cases", strict=True) == 0


@pytest.mark.parametrize("network", LYING)
@pytest.mark.timeout(3600)
async def test_lies_are_found(network: str, tmp_path: Path) -> None:
    lies_told = [await tell_lie(network, seed, tmp_path / str(seed)) for seed in SEEDS]
    missed = [str(lie) for lie in lies_told if not lie.is_found]
    print(f"{network}: {len(lies_told) - len(missed)} of {len(lies_told)} lies found", *missed, sep="\n")
    assert len(lies_told) - len(missed) >= FOUND_SHARE * len(lies_told), "\n".join(missed)


async def tell_lie(network: str, seed: int, folder: Path) -> ToldLie:
    """Tell the first lie of a seed that changes something, and check that the proof harmed nothing."""
    for number, lie in enumerate(choose_lies(network, seed)):
        place = folder / str(number)
        place.mkdir(parents=True)
        async with open_world(network, place) as world:
            report = await world.prove(lie)
            await check_harmlessness(world, report)
        if lie.changes:
            facts = ", ".join(finding.fact for finding in report.select("contradicted")[:5])
            return ToldLie(seed, lie, not report.is_good, facts or "nothing was contradicted")
    raise AssertionError(f"{network}: no lie changes anything")


async def check_harmlessness(world: World, report: ProofReport) -> None:
    """Nothing was activated, no secret was written, and what exists is listed."""
    assert world.list_activations() == []
    assert world.find_secrets() == []
    left = await world.list_leftovers()
    assert left <= {(leftover.kind, leftover.id) for leftover in report.leftovers}
