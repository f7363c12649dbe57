"""Which budgets are spent too fast, to the last digit, and what cannot be compared."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.alerts.evaluation import evaluate_pace, list_spend_windows, read_paced_budgets
from adsunify.alerts.rules import Alert, AlertEvaluation, AlertScope
from adsunify.alerts.windows import DayWindow, FigureState, WindowSums, read_spend
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json

ALERT = Alert(
    id="a",
    workspace_id="w",
    version=1,
    begun_at=0,
    name="Fast",
    kind="paceAbove",
    scope=AlertScope(),
    level="campaign",
)
NOON = datetime(2027, 3, 11, 12, tzinfo=UTC)
STATE = FigureState(NOON, date(2027, 3, 11))
ACCOUNT = Account("outbrain", "1", "USD", "UTC")


@frozen
class Row:
    """A row of figures."""

    date: str
    entity_id: str
    spend: str | None
    impressions: int | None = None


def campaign(kind: str, amount: Json, status: str = "active", **more: Json) -> ParsedEntity:
    """A campaign of Outbrain, of which the budget has the dates."""
    native: dict[str, Any] = {"id": "c", "budget": {"type": kind, "amount": amount, **more}}
    return ParsedEntity("campaign", "c", None, None, status, status, native)


def evaluate(
    entity: ParsedEntity, spend: dict[str, str | None], percent: int, state: FigureState = STATE
) -> AlertEvaluation:
    paced = read_paced_budgets(get_adapter("outbrain").network, ACCOUNT, "campaign", [entity], state)
    sums = WindowSums(lambda _: [budget.window for budget in paced.budgets], read_spend)
    sums.add_rows(Row(day, "c", value) for day, value in spend.items())
    return evaluate_pace(evolve(ALERT, percent=Decimal(percent)), paced, sums, state)


WHOLE = campaign("CAMPAIGN", 100, startDate="2027-03-01", endDate="2027-03-20")
"""20 days, of which 10.5 have passed: its share is 52.5."""


def test_a_lifetime_budget_is_compared_with_the_share_of_its_time() -> None:
    spent = {"2027-03-01": "30", "2027-03-11": "33", "2027-02-28": "1000"}
    assert evaluate(WHOLE, spent, 120).breaches == {}, "63 of 52.5 are 120 %, which is not more than 120 %"
    more = {**spent, "2027-03-11": "33.0000001"}
    (breach,) = evaluate(WHOLE, more, 120).breaches.items()
    assert breach[0] == ("c", "2027-03-01T00:00:00Z")
    assert (breach[1].day, breach[1].allowed, breach[1].actual) == ("2027-03-11", "120", "120.1")


def test_a_daily_budget_is_compared_with_the_part_of_the_day() -> None:
    daily = campaign("DAILY", "50", startDate="2027-03-01")
    assert evaluate(daily, {"2027-03-11": "30", "2027-03-10": "50"}, 120).breaches == {}
    (breach,) = evaluate(daily, {"2027-03-11": "30.01"}, 120).breaches.items()
    assert (breach[0], breach[1].actual) == (("c", "2027-03-11T00:00:00Z"), "120.1")
    early = evaluate(daily, {"2027-03-11": "30.01"}, 120, evolve(STATE, read_at=NOON - timedelta(hours=7)))
    assert (early.breaches, early.unknown_entities, len(early.gaps)) == ({}, {"c"}, 1)


@pytest.mark.parametrize(
    ("entity", "words"),
    [
        (campaign("MONTHLY", 100, startDate="2027-03-01"), "not a daily or lifetime amount"),
        (campaign("CAMPAIGN", 100, startDate="2027-03-01"), "without a start and an end"),
        (campaign("CAMPAIGN", "much", startDate="2027-03-01", endDate="2027-03-20"), "that can be read"),
        (campaign("DAILY", None), "No active entity of this level has a budget"),
    ],
)
def test_what_cannot_be_compared_is_said(entity: ParsedEntity, words: str) -> None:
    evaluation = evaluate(entity, {"2027-03-11": "100000"}, 120)
    (gap,) = evaluation.gaps
    assert words in gap.reason and evaluation.breaches == {}
    assert evaluation.is_unknown(("c", "")) == bool(gap.entity_ids)


def test_a_paused_campaign_has_no_pace() -> None:
    evaluation = evaluate(campaign("DAILY", "50", "paused"), {"2027-03-11": "100000"}, 120)
    assert (evaluation.breaches, evaluation.gaps) == ({}, ())


@pytest.mark.parametrize(("spent", "breaches", "unknown"), [("10", 0, {"c"}), ("63.01", 1, set())])
def test_what_is_missing_is_not_zero(spent: str, breaches: int, unknown: set[str]) -> None:
    null = evaluate(WHOLE, {"2027-03-01": spent, "2027-03-02": None}, 120)
    unread = evaluate(WHOLE, {"2027-03-01": spent}, 120, evolve(STATE, incomplete_days=frozenset([date(2027, 3, 2)])))
    for evaluation in (null, unread):
        assert (len(evaluation.breaches), evaluation.unknown_entities, len(evaluation.gaps)) == (
            breaches,
            unknown,
            1 - breaches,
        )


def test_windows_end_on_one_of_the_last_days_and_not_before_the_alert() -> None:
    alert, today = evolve(ALERT, kind="spendAbove", days=3), date(2027, 3, 11)
    windows = list_spend_windows(alert, today, date(2027, 1, 1))
    assert [window.last for window in windows] == [today - timedelta(days=number) for number in range(7)]
    assert {(window.last - window.first).days for window in windows} == {2}
    assert list_spend_windows(alert, today, today) == (DayWindow(date(2027, 3, 9), today),)
