"""A proof that is interrupted or killed leaves nothing: it cleans up itself, or the next one does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest
from attrs import evolve

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.proving.proof import OPERATIONS_FILE, Proof
from adsunify.service.guardrails import list_guardrails

from .lies import CLEANING, EDITING, UNDOING, Answer, Lie
from .proofs import World, open_world

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[3]


async def start_proof(world: World, folder: Path) -> Process:
    """Start the command on the world's store, until it has created a campaign."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "ADSUNIFY_SANDBOX_URL": world.liar.url, "PYTHONPATH": path}
    database = f"sqlite:///{folder / 'proof.db'}"
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "adsunify", "prove", world.network, "--account", world.account_id),
        *("--database", database, "--folder", str(world.folder), "--json"),
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
        preexec_fn=_accept_interrupts,
    )


def _accept_interrupts() -> None:
    """Let SIGINT end the process: it is ignored where the tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


async def wait_for_phase(process: Process, words: str) -> None:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if words in line.decode():
            return
    raise AssertionError("the proof ended early")


def count_entities(world: World) -> int:
    """How many entities the log of the network has."""
    return len({(row["kind"], row["id"]) for row in world.running.state.writes})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_proof_that_is_interrupted_deletes_what_it_created(number: signal.Signals, tmp_path: Path) -> None:
    async with open_world("reddit", tmp_path) as world:
        rows = world.running.state.writes
        world.liar.holds = lambda is_write: is_write and len(rows) == 4  # the first edit
        process = await start_proof(world, tmp_path)
        await wait_for_phase(process, EDITING)
        await world.liar.is_holding.wait()
        process.send_signal(number)
        world.liar.released.set()
        out, err = await process.communicate()
        assert process.returncode == 1, err.decode()
        report = json.loads(out)
        assert report["leftovers"] == [] and report["operations"]
        assert "interrupted" in str([finding["reason"] for finding in report["findings"] if finding["fact"] == "proof"])
        assert count_entities(world) >= 3
        assert await list_all(world) == [] and await list_guardrails(world.service, world.actor) == []


async def test_an_interruption_does_not_end_the_cleanup(tmp_path: Path) -> None:
    """The campaign is created, edited and, as the last write, deleted. The cleanup reads whether it is gone."""
    async with open_world("reddit", tmp_path) as world:
        rows = world.running.state.writes
        world.liar.holds = lambda is_write: not is_write and [row["kind"] for row in rows].count("campaign") == 3
        process = await start_proof(world, tmp_path)
        await wait_for_phase(process, CLEANING)
        await world.liar.is_holding.wait()
        process.send_signal(signal.SIGINT)
        world.liar.released.set()
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert json.loads(out)["leftovers"] == [] and await list_all(world) == []
        assert (world.folder / "report.json").exists()


async def test_the_next_proof_deletes_what_a_killed_one_left(tmp_path: Path) -> None:
    async with open_world("reddit", tmp_path) as world:
        rows = world.running.state.writes
        world.liar.holds = lambda is_write: not is_write and len(rows) == 3  # the first read after the creation
        process = await start_proof(world, tmp_path)
        await world.liar.is_holding.wait()
        process.kill()
        await process.wait()
        world.liar.released.set()
        assert await list_all(world) != [] and len(await list_guardrails(world.service, world.actor)) == 1
        assert (world.folder / "operations.json").exists()
        process = await start_proof(world, tmp_path)
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert b"Deleting what an earlier proof left" in err
        assert json.loads(out)["leftovers"] == []
        assert await list_all(world) == [] and await list_guardrails(world.service, world.actor) == []
        assert not (world.folder / "operations.json").exists()


async def test_a_creation_in_flight_is_not_forgotten(tmp_path: Path) -> None:
    """The next proof begins at once: it waits until the killed process does not hold the operation any more."""
    async with open_world("reddit", tmp_path) as world:
        world.liar.holds = lambda is_write: is_write
        process = await start_proof(world, tmp_path)
        await world.liar.is_holding.wait()
        process.kill()
        await process.wait()
        world.liar.released.set()
        assert len(await list_all(world)) == 1
        process = await start_proof(world, tmp_path)
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode() + out.decode()
        assert json.loads(out)["leftovers"] == [] and await list_all(world) == []
        assert not (world.folder / "operations.json").exists()


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_what_a_killed_proof_has_deleted_is_not_left(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed after the undo, before it removes its list of operations. The next proof creates again."""
    async with open_world(network, tmp_path) as world:
        with monkeypatch.context() as killed:
            killed.setattr(Proof, "forget_operations", lambda proof: None)
            first = await world.prove()
        assert first.is_good and (world.folder / OPERATIONS_FILE).exists()
        second = await world.prove()
        assert second.leftovers == []
        assert any(finding.fact.startswith("create.") for finding in second.select("confirmed"))
        assert [finding for finding in second.select("contradicted") if finding.fact.startswith("deleted.")] == []
        assert not (world.folder / OPERATIONS_FILE).exists() and await list_all(world) == []


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_deletions_whose_responses_are_lost_are_inspected_by_the_next_proof(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network applies each deletion, and answers that its gateway had no response in time."""

    def lose_response(lie: Lie, answer: Answer) -> Answer | None:
        return evolve(answer, status=504, body=None)

    async with open_world(network, tmp_path) as world:
        with monkeypatch.context() as killed:
            killed.setattr(Proof, "forget_operations", lambda proof: None)
            first = await world.prove(Lie("lost responses", UNDOING, whole=lose_response, writes_only=True))
        assert any(finding.fact.startswith("undo.") for finding in first.select("contradicted"))
        second = await world.prove()
        assert second.leftovers == []
        assert any(finding.fact.startswith("create.") for finding in second.select("confirmed"))
        assert not (world.folder / OPERATIONS_FILE).exists() and await list_all(world) == []


async def list_all(world: World) -> list[tuple[str, str]]:
    """The entities of the example brief that the network has."""
    return sorted(await world.list_leftovers("Garden chairs"))
