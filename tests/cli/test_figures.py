"""Daily figures on a terminal: charts, sums and days without a row, at each width and in each encoding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from io import BytesIO, TextIOWrapper
from threading import Event
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from adsunify import Ads
from adsunify.cli.charts import ASCII, BLOCKS, Charts
from adsunify.cli.figures import report_parts
from adsunify.cli.output import print_parts
from tests.client.test_reports import FIRST, LAST, make_page, make_row

from .conftest import Place
from .test_insights import Answer, serve_answers
from .test_terminal import STEERING, WIDTHS, at_terminal, read_until

DAYS = ("--from", str(FIRST), "--to", str(LAST))
COLOURS = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|38|48|9[0-7])(?:;[0-9]+)*m")


# -- charts -------------------------------------------------------------------------------------------------------


def test_sparklines() -> None:
    charts = Charts(80, BLOCKS)
    assert charts.draw_sparkline([0, 1, 50, None, Decimal("99.5"), 100]) == "▁▂▅·██"
    assert charts.draw_sparkline([0, 0, None]) == "▁▁·"
    assert charts.draw_sparkline([Decimal(-3), 7]) == "▁█"
    assert Charts(80, ASCII).draw_sparkline([0, None, 100]) == "_?#"


@pytest.mark.parametrize("spend", ["1", "0.07", "19.99", "366.040092", "1e-9"])
def test_means_of_several_days_are_not_higher_than_the_highest(spend: str) -> None:
    """A mean has as many digits as fit; a quotient of two of them may be rounded up."""
    for number in range(1, 60):
        values = [Decimal(spend) * number, Decimal(0), Decimal(spend)] * 7
        assert set(Charts(28, BLOCKS).draw_sparkline(values)) == {"█"}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("days", [7, 20, 21, 365, 1100])
def test_a_sparkline_of_many_days_fits(width: int, days: int) -> None:
    line = Charts(width, BLOCKS).draw_sparkline([*range(days - 1), None])
    assert len(line) == days if days <= width // 4 else width // 8 <= len(line) <= width // 4
    assert line[0] in "▁▂" and "█" in line[-2:] and [*line[:-1]] == sorted(line[:-1])


def test_bars() -> None:
    charts = Charts(80, BLOCKS)
    shares = [Decimal(share) for share in ("0", "0.0001", "0.5", "0.99", "1")]
    assert [charts.draw_bar(share) for share in shares] == ["", "▏", "████", "███████▉", "████████"]
    assert [Charts(80, ASCII).draw_bar(share) for share in shares] == ["", "#", "####", "########", "########"]


# -- a report -----------------------------------------------------------------------------------------------------


ENTITIES = {
    "120210000000000001": ("Autumn boots | DE | remarketing of the last thirty days", "20.5"),
    "120210000000000002": ("Chairs \u6905\u5b50 and tables", "1000000.25"),
    "120210000000000003": (None, "0"),
}
ALL_DAYS = [FIRST + timedelta(days=number) for number in range((LAST - FIRST).days + 1)]
GAP = ALL_DAYS[3]


def make_rows() -> Iterator[dict[str, Any]]:
    """Rows of three entities; none of them has a row on the fourth day."""
    for day in ALL_DAYS:
        for entity_id, (name, spend) in ENTITIES.items():
            if day != GAP:
                figures = {"impressions": 1000 * day.day, "clicks": day.day, "spend": spend}
                yield {**make_row(entity_id, day, **figures), "entityName": name, "parentId": "120210000000000099"}


def show(page: Mapping[str, Any], width: int, encoding: str = "utf-8") -> list[str]:
    """The lines that a terminal shows."""
    file = TextIOWrapper(BytesIO(), encoding)
    screen = Console(file=file, force_terminal=True, width=width, highlight=False, _environ={"TERM": "xterm"})
    print_parts(screen, report_parts(page, screen))
    file.seek(0)
    return STEERING.sub("", file.read()).splitlines()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_level_has_a_row_for_each_entity(width: int, encoding: str) -> None:
    lines = show(make_page(list(make_rows()), level="campaign"), width, encoding)
    output = "\n".join(lines)
    assert [line for line in lines if cell_len(line) > width] == []
    ids = sorted(ENTITIES, key=lambda entity_id: Decimal(ENTITIES[entity_id][1]), reverse=True)
    assert re.findall(r"^12\d{16}|^total", output, re.MULTILINE) == [*ids, "total"]
    spends = [re.search(rf"^{id_} .*?([\d,]+\.\d\d)\b", output, re.MULTILINE) for id_ in (*ids, "total")]
    assert [spend and spend[1] for spend in spends] == ["6,000,001.50", "123.00", "0.00", "6,000,124.50"]
    assert ("·" in output and "█" in output and "\u6905" in output) is (encoding == "utf-8")
    assert re.search(r"^reach +- +- +-$", output, re.MULTILINE)


def test_days_without_a_row_and_provisional_days_are_marked() -> None:
    rows = [{**make_row(spend="1.5", impressions=0), "date": str(day)} for day in ALL_DAYS if day != GAP]
    rows[1]["spend"] = None
    lines = show(make_page(rows, level="account"), 80)
    days = {line.split()[0]: line.split()[1:] for line in lines if re.match(r"20\d\d-\d\d-\d\d  ", line)}
    assert [*days] == [str(day) for day in ALL_DAYS]
    assert days[str(GAP)] == ["no", "row", "-", "-", "-"]
    assert days[str(ALL_DAYS[1])] == ["0", "-", "-"] and days[str(ALL_DAYS[2])] == ["0", "-", "1.50"]
    assert days[str(LAST)][0] == "provisional"
    assert ["total", "0", "-", "-"] in [line.split() for line in lines]
    assert "· a day without a figure" in lines


# -- many accounts ------------------------------------------------------------------------------------------------


ACCOUNTS = {
    f"8d7a1f0e-6d7f-4b8e-9a55-0f6f8a4c1f1{number}": (network, currency)
    for number, (network, currency) in enumerate(
        [("google", "EUR"), ("meta", "EUR"), ("tiktok", "USD"), ("x", "USD"), ("reddit", None)]
    )
}
TIKTOK, X = [*ACCOUNTS][2:4]
NO_TOKEN = {"type": "about:blank", "title": "Refused", "status": 400, "code": "provider_auth", "outcome": "not_applied"}


def make_account(account_id: str) -> dict[str, Any]:
    """An account of ``GET /insights``: TikTok fails, the report of X is not ready, and the others have rows."""
    network, currency = ACCOUNTS[account_id]
    rows = [{**make_row(spend="10.25", impressions=5), "date": str(day)} for day in ALL_DAYS]
    for row in rows:
        del row["entityId"], row["entityName"], row["parentId"]
    sums = {"impressions": 35, "spend": "71.75"}
    totals = {**{name: None for name in rows[0] if name != "date"}, **sums}
    report = {"rows": rows, "totals": totals, "coverage": make_page([])["coverage"], "pending": None, "error": None}
    if account_id in (TIKTOK, X):
        report |= {"rows": [], "totals": None, "coverage": None}
    state = "complete"
    if account_id == TIKTOK:
        state, report["error"] = "failed", {**NO_TOKEN, "detail": "The network refuses the token."}
    if account_id == X:
        state, report["pending"] = "pending", {"job": "j1", "status": "running", "retryAfterMs": 10**9}
    facts = {"network": network, "name": f"Shop {network}", "currency": currency, "timezone": "UTC"}
    return {"accountId": account_id, **facts, "state": state, "nextCursor": None, **report}


def answer_accounts(path: str, query: Mapping[str, str]) -> Answer:
    """Answer ``GET /accounts`` and ``GET /insights``."""
    if path.endswith("/accounts"):
        facts: dict[str, Any] = {
            "status": "active",
            "nativeStatus": None,
            "connectionId": None,
            "extras": {},
            "timezone": "UTC",
        }
        accounts = [
            {"accountId": id_, "network": network, "nativeId": "1", "name": f"Shop {network}", "currency": currency}
            for id_, (network, currency) in ACCOUNTS.items()
        ]
        return [{**account, **facts} for account in accounts], None
    accounts = [make_account(query["accountIds"])]
    return {"startDate": str(FIRST), "endDate": str(LAST), "level": "account", "accounts": accounts, "totals": []}, None


@pytest.mark.exhaustive  # some reports are ready only after half a minute
def test_the_overview_is_that_of_the_api(api_server: Mapping[str, Any]) -> None:
    """The command reads the accounts one by one; the answer is that of one call of ``GET /insights``."""
    place = Place("server", {"ADSUNIFY_SERVER": api_server["baseUrl"], "ADSUNIFY_TOKEN": api_server["apiKey"]})
    days = {"startDate": "2026-01-01", "endDate": "2026-01-03"}
    accounts = [row["accountId"] for row in api_server["accounts"] if row["network"] not in ("amazon", "x")]
    overview = place.ads("insights", *accounts, "--from", days["startDate"], "--to", days["endDate"], "--json")
    with Ads(api_server["baseUrl"], token=api_server["apiKey"]) as client:
        answer = client.call("get_insights", query={**days, "accountIds": ",".join(accounts)})["data"]
    states = {account["network"]: account["state"] for account in answer["accounts"]}
    assert json.loads(overview.out) == answer, states
    assert overview.code == (set(states.values()) != {"complete"}), states


def test_the_overview_in_a_pipe() -> None:
    with serve_answers(answer_accounts) as place:
        plain = place.ads("insights", *DAYS)
        data = json.loads(place.ads("insights", *DAYS, "--json").out)
    assert plain.code == 1 and plain.err == ""
    assert [row["state"] for row in data["accounts"]] == ["complete", "complete", "failed", "pending", "complete"]
    assert data["accounts"] == [make_account(account_id) for account_id in ACCOUNTS]
    (total,) = data["totals"]
    assert (total["currency"], total["accounts"], total["complete"]) == ("EUR", 2, True)
    assert (total["spend"], total["impressions"], total["clicks"], total["reach"]) == ("143.5", 70, None, None)
    rows = [line.split() for line in plain.out.splitlines()]
    assert ["total", "EUR", "2", "accounts", "70", "-", "143.50", "EUR"] in rows
    assert ["tiktok", "Shop", "tiktok", TIKTOK, "failed", "-", "-", "-"] in rows
    assert f"tiktok Shop tiktok ({TIKTOK}): The network refuses the token." in plain.out
    assert f"x Shop x ({X}): the network has not prepared the report. Run the command again." in plain.out
    assert not set(BLOCKS.heights + BLOCKS.parts) & set(plain.out)


def test_a_failed_request_ends_the_overview() -> None:
    def respond(path: str, query: Mapping[str, str]) -> Answer:
        return (None, None) if "accountIds" in query else answer_accounts(path, query)

    with serve_answers(respond) as place:
        ran = place.ads("insights", *DAYS)
    assert (ran.code, ran.out, len(ran.lines)) == (1, "", 1) and "HTTP 500" in ran.err, ran.err


DRIVER = """
from adsunify.cli import main, progress
progress.DELAY_SECONDS = 0
main()
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_the_overview_on_a_terminal(width: int) -> None:
    """Accounts that have answered are shown while others are read; then the table takes the place of the progress."""
    is_shown = Event()

    def respond(path: str, query: Mapping[str, str]) -> Answer:
        if query.get("accountIds") == TIKTOK:
            is_shown.wait(60)
        return answer_accounts(path, query)

    with (
        serve_answers(respond) as place,
        at_terminal(width, "-c", DRIVER, "insights", *DAYS, **place.environment) as (_, ours),
    ):
        progress = read_until(ours, "(4 of 5 done)") + read_until(ours, "\x1b[2K")
        is_shown.set()
        rest = read_until(ours)
    assert re.search(r"\d:\d\d:\d\d +tiktok Shop tiktok +reading", progress)
    assert "x Shop x            pending" in progress + rest
    table = STEERING.sub("", rest.rpartition("\x1b[2K")[2])
    assert [line for line in table.splitlines() if cell_len(line) > width] == []
    assert "▂" not in table and "███████" in table and "100.0 %" not in table and " 50.0 %" in table
    assert re.search(r"^total EUR +2 accounts .*143\.50", table, re.MULTILINE)
    assert set(re.findall(r"8d7a1f0e[-0-9a-f]*", table)) >= {TIKTOK, X}
    assert all(len(id_) == 36 for id_ in re.findall(r"8d7a1f0e[-0-9a-f]*", table))


@pytest.mark.parametrize(
    ("environment", "has_colours", "has_blocks"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, False, True),
        ({"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}, True, False),
    ],
)
def test_terminals_that_can_show_less(environment: Mapping[str, str], has_colours: bool, has_blocks: bool) -> None:
    with (
        serve_answers(answer_accounts) as place,
        at_terminal(100, "-c", DRIVER, "insights", *DAYS, **{**place.environment, **environment}) as (_, ours),
    ):
        output = read_until(ours)
    table = output.rpartition("\x1b[2K")[2]
    assert re.search(r"^total EUR +2 accounts .*143\.50", STEERING.sub("", table), re.MULTILINE), output
    assert (COLOURS.search(table) is not None) is has_colours
    assert ("█" in table) is has_blocks and ("########" in table) is not has_blocks
    if environment.get("TERM") == "dumb":
        assert "\x1b" not in output
