"""Versions of daily figures: what was known at any time, what a second read adds, and what retention deletes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

import pytest
from attrs import define, evolve, field
from sqlalchemy import Table, func, select

from adsunify.store import kept_figures
from adsunify.store.kept_figures import Days, DaysRead, FigureRead, FigureRow, FigureSubject, KnownDays
from adsunify.store.schema import figure_reads, figures, staged_figures
from tests.databases import LONG_RUN

from .world import MINUTE, World

FIRST = date(2026, 3, 1)
ENTITIES = (*map(str, range(11)), "Ünïcode/4")
Key = tuple[str, str]


def day(number: int) -> str:
    return (FIRST + timedelta(days=number)).isoformat()


def list_days(days: Days) -> list[str]:
    first, last = map(date.fromisoformat, days)
    return [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]


MARCH = (day(0), day(9))


@define
class KeptFigures:
    """The figures of the account of a world."""

    world: World
    subject: FigureSubject = field()

    @subject.default
    def _choose_campaigns(self) -> FigureSubject:
        return FigureSubject(self.world.account.id, "campaign")

    async def begin(self) -> FigureRead:
        return await self.world.store.write(kept_figures.begin_read, self.subject, self.world.clock)

    async def stage(self, read: FigureRead, rows: Iterable[FigureRow]) -> None:
        await self.world.store.write(kept_figures.stage_rows, read, list(rows))

    async def keep(self, read: FigureRead, facts: DaysRead) -> int:
        return await self.world.store.write(kept_figures.keep_days, read, facts, self.world.clock)

    async def sync(self, rows: Iterable[FigureRow], facts: DaysRead | None = None) -> int:
        """Read and keep; a minute later than what was kept before."""
        self.world.hands.pass_(MINUTE)
        read = await self.begin()
        await self.stage(read, rows)
        return await self.keep(read, facts or DaysRead(MARCH))

    async def find(self, as_of: int, days: Days = MARCH) -> KnownDays | None:
        return await self.world.store.read(kept_figures.find_known_days, self.subject, days, as_of)

    async def list(
        self, as_of: int, days: Days = MARCH, limit: int = 50, entity_ids: Sequence[str] = ()
    ) -> list[FigureRow]:
        """All rows as they were known, read in pages."""
        known = await self.find(as_of, days)
        assert known is not None
        rows: list[FigureRow] = []
        after = ("", "")
        while True:
            page = await self.world.store.read(
                kept_figures.list_known_rows, self.subject, days, known.number, limit, after, entity_ids
            )
            rows += page
            if len(page) < limit:
                return rows
            after = (page[-1].date, page[-1].entity_id)

    async def count(self, table: Table = figures) -> int:
        return await self.world.store.read(
            lambda connection: connection.execute(select(func.count()).select_from(table)).scalar_one()
        )

    @property
    def now(self) -> int:
        return self.world.hands.wall


def sort_rows(rows: Iterable[FigureRow]) -> list[FigureRow]:
    """Engines compare texts in different ways."""
    return sorted(rows, key=lambda row: (row.date, row.entity_id))


@pytest.fixture
def figure_store(world: World) -> KeptFigures:
    return KeptFigures(world)


def make_row(date_: str, entity: str, source: random.Random) -> FigureRow:
    amount = source.choice([None, "0", "0.10", "12345678901234567890.123456789"])
    count = source.choice([None, 0, 7, 2**70])
    return FigureRow(
        date=date_, entity_id=entity, entity_name=source.choice([None, "", "a", "\0\ud800"]), clicks=count, spend=amount
    )


@pytest.mark.parametrize("engine", LONG_RUN, indirect=True)
async def test_any_time_answers_what_was_then_known(figure_store: KeptFigures) -> None:
    """Against a model in plain dicts: restated, vanished and returned rows, and days of which some were read again."""
    source = random.Random(14)
    now: dict[Key, FigureRow] = {}
    read_days: dict[str, DaysRead] = {}
    history: list[tuple[int, dict[Key, FigureRow], dict[str, DaysRead]]] = []
    restatements, versions = 0, 0
    while restatements < 1_000:
        first = source.randrange(10)
        days = (day(first), day(source.randrange(first, 10)))
        missing = [(days[1], days[1])] if source.random() < 0.3 else []
        facts = DaysRead(days, source.choice([None, days[1]]), missing, (f"note {restatements}",))
        lost = {days[1]} if missing else set()
        rows = dict(now)
        for date_ in list_days(days):
            for entity in ENTITIES:
                match source.randrange(4):
                    case 0:
                        rows[date_, entity] = make_row(date_, entity, source)
                    case 1:
                        rows.pop((date_, entity), None)
        reported = {key: row for key, row in rows.items() if days[0] <= key[0] <= days[1]}
        after = rows | {key: row for key, row in now.items() if key[0] in lost and key not in reported}
        changes = sum(now.get(key) != after.get(key) for key in now.keys() | after.keys())
        assert await figure_store.sync(reported.values(), facts) == changes
        restatements, versions, now = restatements + changes, versions + changes, after
        read_days = {**read_days, **dict.fromkeys(list_days(days), facts)}
        history.append((figure_store.now, now, read_days))
    assert await figure_store.count() == versions
    assert await figure_store.count(staged_figures) == 0
    assert await figure_store.find(history[0][0] - 1) is None
    for at, known, facts_by_day in history:
        for as_of in (at, at + MINUTE - 1):
            first = source.randrange(10)
            days = (day(first), day(source.randrange(first, 10)))
            known_days = await figure_store.find(as_of, days)
            if not facts_by_day.keys() >= set(list_days(days)):
                assert known_days is None
                continue
            assert known_days is not None
            expected = [row for key, row in sorted(known.items()) if days[0] <= key[0] <= days[1]]
            actual = await figure_store.list(as_of, days)
            assert sort_rows(actual) == expected
            assert [row.date for row in actual] == [row.date for row in expected]
            chosen = source.sample(ENTITIES, 2)
            some = await figure_store.list(as_of, days, entity_ids=chosen)
            assert sort_rows(some) == [row for row in expected if row.entity_id in chosen]
            facts_of_days = {date_: facts_by_day[date_] for date_ in list_days(days)}
            provisional = [date_ for date_, facts in facts_of_days.items() if date_ >= (facts.provisional_from or "9")]
            assert known_days.provisional_from == min(provisional, default=None)
            assert [date_ for lost_days in known_days.missing for date_ in list_days(lost_days)] == [
                date_ for date_, facts in facts_of_days.items() if (date_, date_) in facts.missing
            ]
            assert {*known_days.notes} == {note for facts in facts_of_days.values() for note in facts.notes}


async def test_a_second_read_adds_nothing(figure_store: KeptFigures) -> None:
    rows = [FigureRow(date=day(0), entity_id="1", clicks=0, spend="0.00"), FigureRow(date=day(1), entity_id="1")]
    assert await figure_store.sync(rows) == 2
    assert await figure_store.sync(rows) == 0
    assert await figure_store.list(figure_store.now) == rows
    assert await figure_store.sync([evolve(rows[0], clicks=None), evolve(rows[1], spend="0.00")]) == 2
    assert [(row.clicks, row.spend) for row in await figure_store.list(figure_store.now)] == [
        (None, "0.00"),
        (None, "0.00"),
    ]


async def test_a_read_that_ends_early_changes_nothing(figure_store: KeptFigures) -> None:
    rows = [FigureRow(date=day(0), entity_id=entity, clicks=1) for entity in ENTITIES]
    await figure_store.sync(rows)
    before = figure_store.now
    figure_store.world.hands.pass_(MINUTE)
    await figure_store.stage(await figure_store.begin(), [evolve(rows[0], clicks=2)])
    assert sort_rows(await figure_store.list(figure_store.now)) == sort_rows(rows)
    assert await figure_store.count(figure_reads) == 1
    figure_store.world.hands.pass_(25 * 60 * MINUTE)
    assert await figure_store.sync(rows) == 0
    assert await figure_store.count(staged_figures) == 0
    assert await figure_store.list(before) == await figure_store.list(figure_store.now)


async def test_two_reads_at_once_do_no_harm(figure_store: KeptFigures) -> None:
    """The read that began later has the newer figures: the other one keeps only the days that it alone has read."""
    early = await figure_store.begin()
    figure_store.world.hands.pass_(MINUTE)
    late = await figure_store.begin()
    row = FigureRow(date=day(3), entity_id="1", clicks=1)
    await figure_store.stage(early, [evolve(row, date=day(number)) for number in range(10)])
    await figure_store.stage(late, [evolve(row, clicks=2)])
    await asyncio.gather(figure_store.keep(late, DaysRead((day(3), day(4)))), figure_store.keep(early, DaysRead(MARCH)))
    clicks_by_day = {row.date: row.clicks for row in await figure_store.list(figure_store.now)}
    assert clicks_by_day == {day(number): 1 for number in range(10) if number not in (3, 4)} | {day(3): 2}
    assert await figure_store.count(staged_figures) == 0


async def test_retention_keeps_what_was_known_since(figure_store: KeptFigures) -> None:
    rows = [FigureRow(date=day(number), entity_id="1", clicks=0) for number in range(10)]
    times = []
    for clicks in range(6):
        await figure_store.sync([evolve(row, clicks=clicks) for row in rows[: 10 - clicks]])
        times.append(figure_store.now)
    expected = [await figure_store.list(at) for at in times]
    before = times[3] + 1
    assert await figure_store.world.store.read(kept_figures.find_kept_days, figure_store.subject) == MARCH
    for days in ((day(0), day(4)), (day(5), day(9))):
        await figure_store.world.store.write(kept_figures.delete_old_versions, figure_store.subject, days, before)
    assert await figure_store.count() == 10 + 7 + 6
    assert [await figure_store.find(at) for at in times[:4]] == [None] * 4
    assert await figure_store.find(before - 1) is None
    assert await figure_store.list(before) == expected[3]
    assert [await figure_store.list(at) for at in times[4:]] == expected[4:]
