"""The public functions without a store name a wrong argument: a brief, an account, a time, recorded answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from adsunify import EditTargeting, InvalidInput, LaunchAccount, NativeAccount, SpendWindow, Targeting, plan, read_brief
from adsunify.testing import SimulatedClock, sandbox

FILE = Path(__file__).parents[2] / "examples" / "briefs" / "meta-page_link_ad-traffic-daily.json"
BRIEF = read_brief(FILE.read_bytes())
ACCOUNT = NativeAccount("meta", "act_1", "USD", "America/New_York")
LOST: Any = Decimal("NaN")
ASKED: list[tuple[str, Callable[[Any], Any], tuple[Any, ...]]] = [
    ("campaign", lambda value: plan(value, ACCOUNT), (None, json.loads(FILE.read_text()), "brief.json", 5)),
    ("account", lambda value: plan(BRIEF, value), (None, "act_1", {"network": "meta"}, BRIEF)),
    ("account.network", lambda value: plan(BRIEF, NativeAccount(value, "act_1")), (None, 5, ["meta"])),
    ("account.native_id", lambda value: plan(BRIEF, NativeAccount("meta", value)), (None, 5, b"act_1")),
    ("account.currency", lambda value: plan(BRIEF, NativeAccount("meta", "act_1", value)), (5, ["USD"])),
    ("account.timezone", lambda value: plan(BRIEF, NativeAccount("meta", "act_1", "USD", value)), (5, ["UTC"])),
    ("account.extras", lambda value: plan(BRIEF, NativeAccount("meta", "1", "USD", "UTC", value)), (None, "x", [1])),
    ("lookups", lambda value: plan(BRIEF, ACCOUNT, lookups=value), (None, 5, {"request": {}}, "x")),
    ("lookups.0", lambda value: plan(BRIEF, ACCOUNT, lookups=[value]), (None, {}, {"request": {}, "response": {}})),
    ("now", lambda value: plan(BRIEF, ACCOUNT, now=value), ("2030-01-01", date(2030, 1, 1), datetime(2030, 1, 1), 5)),
    ("operation", lambda value: plan(BRIEF, ACCOUNT, operation=value), (None, 5, b"x")),
    ("", read_brief, (None, 5, FILE, ["x"], BRIEF, object())),
    ("age_min", lambda value: EditTargeting(age_min=value), (LOST, Decimal("sNaN"), Decimal("Infinity"))),
    ("hours", lambda value: SpendWindow(hours=value), (LOST,)),
    ("weight", lambda value: LaunchAccount(account_id="x", weight=value), (LOST,)),
    ("countries.0", lambda value: Targeting(countries=value), ((name for name in ("usa",)), ["usa"])),
    ("start", lambda value: sandbox(start=value), (5, "2030-01-01", date(2030, 1, 1), datetime(2030, 1, 1))),
    ("clock", lambda value: SimulatedClock().advance(days=value), (None, "3", float("nan"), 10**400, -1)),
]


@pytest.mark.parametrize(
    ("path", "ask", "values"), ASKED, ids=[f"{path}-{number}" for number, (path, *_) in enumerate(ASKED)]
)
def test_a_wrong_value_is_named(path: str, ask: Callable[[Any], Any], values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(InvalidInput) as error:
            ask(value)
        assert path in [issue.path for issue in error.value.issues], (value, error.value)


def test_a_list_may_be_any_iterable() -> None:
    assert Targeting(countries=(name for name in ("US", "GB"))).countries == ("US", "GB")
