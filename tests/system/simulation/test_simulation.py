"""The simulation finds nothing in the executor, and finds what is broken on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from attrs import evolve

from adsunify.errors import RequestNotSent, ResponseLost
from adsunify.execution import executor, outcomes
from adsunify.execution.outcomes import Ambiguous, Applied, Throttled
from adsunify.execution.state import ExecutionProgress, Intent, ItemReceipt
from adsunify.plans.records import Step
from tests.system.simulation import world
from tests.system.simulation.__main__ import main
from tests.system.simulation.work import make_scenario, plans, work

EXECUTES = 6_000


def test_nothing_breaks() -> None:
    passed, failed, broken = work(1, 1, EXECUTES)
    assert (failed, broken) == (0, [])
    assert passed >= EXECUTES


def test_it_reaches_every_end() -> None:
    """Otherwise the run above would prove little."""
    ends: Counter[str] = Counter()
    pool = plans()
    for seed in range(1_500):
        scenario = make_scenario(seed, pool)
        scenario.run()
        stalled = scenario.store.is_stalled(scenario.clock.now())
        ends["stalled" if stalled else scenario.store.status] += 1
        ends["several"] += any(attempt > 1 for _, attempt in scenario.store.attempts)
        ends["partly"] += any(row.receipt and row.receipt.items for row in scenario.store.attempts.values())
    assert min(ends[what] for what in ("succeeded", "unknown", "stalled", "several", "partly")) > 50, ends


def test_a_seed_is_the_whole_story() -> None:
    pool = plans()
    traces = []
    for _ in range(2):
        scenario = make_scenario(42, pool, traced=True)
        scenario.run()
        traces.append(scenario.trace)
    assert traces[0] == traces[1]
    assert traces[0]


Break = Callable[[pytest.MonkeyPatch], None]


def _lost_is_sent_again(patch: pytest.MonkeyPatch) -> None:
    real = executor._make_receipt

    def receipt(network, step, request, intent, answer, progress):  # type: ignore[no-untyped-def] # as the original
        answer = RequestNotSent(answer.message) if isinstance(answer, ResponseLost) else answer
        return real(network, step, request, intent, answer, progress)

    patch.setattr(executor, "_make_receipt", receipt)


def _ambiguous_is_throttled(patch: pytest.MonkeyPatch) -> None:
    real = outcomes.classify_write

    def outcome(*arguments: object) -> object:
        original = real(*arguments)  # type: ignore[arg-type] # as the original
        return Throttled(1.0, original.error) if isinstance(original, Ambiguous) else original

    patch.setattr(executor, "classify_write", outcome)


def _open_intents_are_overlooked(patch: pytest.MonkeyPatch) -> None:
    real = world.Store.progress

    def progress(self: world.Store) -> ExecutionProgress:
        return evolve(real(self), doubtful_steps=())

    patch.setattr(world.Store, "progress", progress)
    patch.setattr(world.Store, "open", lambda self: [])


def _all_items_are_sent_again(patch: pytest.MonkeyPatch) -> None:
    def list_all_items(step: Step, progress: ExecutionProgress) -> tuple[int, ...] | None:
        return None if step.items is None else tuple(range(len(step.request.body["rows"])))

    patch.setattr(executor, "_list_remaining_items", list_all_items)


def _positions_count_in_the_array_as_sent(patch: pytest.MonkeyPatch) -> None:
    def keep_position(item: ItemReceipt, intent: Intent) -> ItemReceipt:
        return item

    patch.setattr(executor, "_to_planned_position", keep_position)


def _only_the_last_attempt_counts(patch: pytest.MonkeyPatch) -> None:
    real = executor._make_receipt

    def receipt(network, step, request, intent, answer, progress):  # type: ignore[no-untyped-def] # as the original
        return real(network, step, request, intent, answer, evolve(progress, applied_items={}))

    patch.setattr(executor, "_make_receipt", receipt)


def _unreadable_answers_are_fine(patch: pytest.MonkeyPatch) -> None:
    real = outcomes.classify_write

    def outcome(*arguments: object) -> object:
        try:
            return real(*arguments)  # type: ignore[arg-type] # as the original
        except executor.RESPONSE_READ_ERRORS:
            return Applied({"id": "1"})

    patch.setattr(executor, "classify_write", outcome)


@pytest.mark.parametrize(
    "breaks",
    [
        _lost_is_sent_again,
        _ambiguous_is_throttled,
        _open_intents_are_overlooked,
        _all_items_are_sent_again,
        _positions_count_in_the_array_as_sent,
        _only_the_last_attempt_counts,
        _unreadable_answers_are_fine,
    ],
)
def test_a_defect_is_found(breaks: Break, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch)
    _, failed, broken = work(1, 1, EXECUTES)
    assert failed
    assert broken


def test_the_command_says_how_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--executes", "200", "--seed", "5", "--processes", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(" passed, 0 failed")


def test_a_failing_seed_is_printed_and_replays(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _all_items_are_sent_again(monkeypatch)
    assert main(["--executes", "2000", "--processes", "1"]) == 1
    seed = capsys.readouterr().out.split("failing seed ")[1].split(":")[0]
    assert main(["--replay", seed]) == 1
    assert f"failing seed {seed}" in capsys.readouterr().out
