"""The schedule of kills: a seed gives the same victims, signals and pauses each time."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator

from attrs import frozen

SERVERS, WORKERS = ("server 1", "server 2", "server 3"), ("worker 1", "worker 2")
DATABASE = "database"
VICTIMS = (*SERVERS, *WORKERS, DATABASE)
PAUSE_SECONDS = (5.0, 40.0)
DOWN_SECONDS = (0.2, 4.0)


@frozen
class Kill:
    """One kill. ``pause``: the seconds before it; ``down``: the seconds until the victim is started again."""

    pause: float
    victim: str
    signal: signal.Signals
    down: float


def plan_kills(seed: int) -> Iterator[Kill]:
    """Yield kills without end: each victim once in each round, by SIGKILL and by a polite signal in turn.

    The polite signal of PostgreSQL is SIGINT: it ends the sessions. SIGTERM would wait for all clients to leave.
    """
    chance = random.Random(seed)
    polite = dict.fromkeys(VICTIMS, False)
    while True:
        for victim in chance.sample(VICTIMS, len(VICTIMS)):
            chosen = signal.SIGKILL
            if polite[victim]:
                chosen = signal.SIGINT if victim == DATABASE else signal.SIGTERM
            polite[victim] = not polite[victim]
            yield Kill(chance.uniform(*PAUSE_SECONDS), victim, chosen, chance.uniform(*DOWN_SECONDS))
