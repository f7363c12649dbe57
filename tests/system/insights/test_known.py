"""Figures that a network restates: ``asOf`` over REST answers, for any time, exactly what the network said then."""

from __future__ import annotations

import os
import random
from datetime import date
from typing import Any

import pytest

from adsunify.sandbox.networks.meta import insights as meta
from tests.server.served import Served, brief
from tests.server.test_kept_figures import days_of, now, sync
from tests.server.test_levels import read_rows

pytestmark = pytest.mark.asyncio(loop_scope="module")
RESTATEMENTS = 1_000 if os.environ.get("ADSUNIFY_INSIGHTS") == "long" else 20
SYNC_DAYS = 20
"""Each round takes a minute, and syncs are at noon, so some days pass until figures are restated 1,000 times."""
SEED = int(os.environ.get("ADSUNIFY_INSIGHTS_SEED", "15"))


async def test_any_time_answers_what_the_network_said_then(both: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded: in each round the network restates or withdraws some days, and then the ads of the account are synced."""
    print(f"seed {SEED}")
    source = random.Random(SEED)
    account = await _activate(both)
    shares: dict[str, int] = {}
    real = meta._generate_daily_figures

    def restate(subject: Any, entity: str, day: date, today: date) -> dict[str, int] | None:
        """Return the figures of a day, divided by its share; a share of 7 leaves out the actions."""
        figures = real(subject, entity, day, today)
        share = shares.get(day.isoformat(), 1)
        if figures is None:
            return None
        dropped = ("link_click", "video_view", "purchase", "value") if share == 7 else ()
        return {name: value // share for name, value in figures.items() if name not in dropped}

    monkeypatch.setattr(meta, "_generate_daily_figures", restate)
    query = days_of(both)
    days = [date.fromordinal(number).isoformat() for number in _list_ordinals(query)]

    async def read(**more: str) -> list[dict[str, Any]]:
        rows = await read_rows(both, account, **query, level="ad", **more)
        return sorted(rows, key=lambda row: (row["date"], row["entityId"]))

    answers: list[tuple[str, list[dict[str, Any]]]] = []
    restated = 0
    while restated < RESTATEMENTS:
        shares |= {day: source.randrange(1, 9) for day in source.sample(days, 2)}
        await both.networks.quiet("meta", *source.sample(days, source.randrange(3)))
        (result,) = await sync(both, [account], ["ad"], SYNC_DAYS)
        assert result.state == "synced", result
        restated += result.versions
        answers.append((now(both), await read()))
    assert len({str(rows) for _, rows in answers}) > len(answers) // 2
    for as_of, rows in source.sample(answers, len(answers)):
        assert await read(asOf=as_of) == rows, (SEED, as_of)


async def _activate(server: Served) -> str:
    """Return an account whose campaign has been active for some days."""
    account = server.accounts["meta"]
    created = await server.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await server.admin.execute(created["id"])
    body = {"accountId": account, "sourceOperationId": created["id"]}
    activation = await server.admin.post("/activate", body, 201)
    assert (await server.admin.execute(activation["id"]))["status"] == "succeeded"
    server.hands.pass_(days=8)
    await sync(server, [account], ["ad"])
    return account


def _list_ordinals(days: dict[str, str]) -> range:
    first, last = (date.fromisoformat(days[name]).toordinal() for name in ("startDate", "endDate"))
    return range(first, last + 1)
