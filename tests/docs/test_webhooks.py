"""The page on webhooks says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from adsunify.events import DEFAULT_EVENTS, EVENT_DESCRIPTIONS
from adsunify.service.webhook_worker import JITTER, MAX_RESPONSE_BYTES, RETRY_SCHEDULE, TIMEOUT_SECONDS
from adsunify.store.deliveries import LEASE_MILLISECONDS, MAX_TRIES
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, TOLERANCE_SECONDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "webhooks.md").read_text()
TEXT = " ".join(PAGE.split())


def test_the_events_are_all_there_in_the_words_of_the_table() -> None:
    assert dict(re.findall(r"^\| `([a-z_.]+)` \| (.+) \|$", PAGE, re.M)) == EVENT_DESCRIPTIONS
    assert f"The default of a subscription is the {['five'][len(DEFAULT_EVENTS) - 5]} `operation.*` events" in TEXT


def test_the_figures_are_those_of_the_worker() -> None:
    units = ((3600, "h"), (60, "min"), (1, "s"))
    words = [next(f"{wait // size} {unit}" for size, unit in units if wait % size == 0) for wait in RETRY_SCHEDULE]
    assert f"The waits are {', '.join(words[:-1])} and {words[-1]}, each {JITTER:.0%}".replace("%", " %") in TEXT
    assert f"An attempt ends after {TIMEOUT_SECONDS:.0f} seconds; at most {MAX_RESPONSE_BYTES // 1024} KiB" in TEXT
    assert f"the next attempt, {MAX_TRIES} in all" in TEXT
    assert f"a lease of {LEASE_MILLISECONDS // 60_000} minutes" in TEXT
    assert f"more than {TOLERANCE_SECONDS // 60} minutes from now" in TEXT
    assert f"`{EVENT_ID_HEADER}`" in TEXT and f"`{SIGNATURE_HEADER}`" in TEXT


def test_the_example_receivers_are_named() -> None:
    included = re.findall(r"{literalinclude} (\S+)", PAGE)
    assert included and all((ROOT / "docs" / path).is_file() for path in included)
