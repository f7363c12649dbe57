"""The guides of the Python client: their blocks run in order, with an open client of the simulated networks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from adsunify import Ads, OperationError
from adsunify.cli.files import load_document
from adsunify.events import DATA_MEMBERS, OPTIONAL_DATA_MEMBERS
from adsunify.testing import SimulatedNetworks, sandbox

from .test_pages import ROOT, read_blocks


@pytest.fixture(scope="module")
def networks() -> Iterator[SimulatedNetworks]:
    with sandbox("meta") as networks:
        yield networks


@pytest.fixture
def client(networks: SimulatedNetworks) -> Iterator[Ads]:
    networks.reset()
    with networks.client() as client:
        yield client


def run(codes: list[str], page: str, names: dict[str, Any]) -> dict[str, Any]:
    for code in codes:
        exec(compile(code, page, "exec"), names)
    return names


def test_the_quick_start_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    names = run(read_blocks("docs/start.md", "python"), "start.md", {})
    assert names["operation"].status == "succeeded"
    assert names["insights"].totals.spend > 0
    assert (tmp_path / "ads.db").exists()
    assert "succeeded" in capsys.readouterr().out


def create_first_campaign(client: Ads) -> dict[str, Any]:
    """Run the block of the quick start that prepares a campaign, and execute it. Returns the names of the block."""
    (code,) = (code for code in read_blocks("docs/start.md", "python") if "CampaignBrief(" in code)
    account = client.accounts.list(network="meta").first()
    names = run([code], "start.md", {"client": client, "account": account})
    client.operations.run(names["operation"], confirmed=True)
    return names


def test_the_concepts_run(client: Ads, capsys: Any) -> None:
    brief = create_first_campaign(client)["brief"]
    names = run(read_blocks("docs/concepts.md", "python"), "concepts.md", {"client": client, "brief": brief})
    assert (names["operation"].status, names["operation"].created.campaign_id is None) == ("succeeded", False)
    assert "operation_succeeded applied" in capsys.readouterr().out


def test_a_key_of_an_expired_operation(client: Ads, networks: SimulatedNetworks) -> None:
    """The block of the concepts, in a program that was away for longer than the time for review."""
    names = create_first_campaign(client)
    (code,) = (code for code in read_blocks("docs/concepts.md", "python") if "operation_expired" in code)
    expired = client.campaigns.create(names["account"], names["brief"], idempotency_key="order-17/1")
    networks.clock.advance(minutes=31)
    again = client.campaigns.create(names["account"], names["brief"], idempotency_key="order-17/1")
    assert again.id == expired.id and again.expired
    fresh = run([code], "concepts.md", names)["operation"]
    assert (fresh.id != expired.id, fresh.status, fresh.expired) == (True, "prepared", False)


def test_a_lost_write_is_found_and_the_rest_is_written(client: Ads, networks: SimulatedNetworks, capsys: Any) -> None:
    """The blocks of "Something went wrong", in their order: the rest is written once, and all of it taken back."""
    names = create_first_campaign(client)
    operation = client.campaigns.create(names["account"], names["brief"])
    writes_before = len(networks.writes("meta"))
    networks.fail("meta", "POST", "/adsets", fault="reset_after")
    with pytest.raises(OperationError, match="Inspect the operation"):
        client.operations.run(operation, confirmed=True)
    inspect, resume, undo = read_blocks("docs/something_went_wrong.md", "python")
    names = run([inspect, resume], "something_went_wrong.md", {"client": client, "operation": operation})
    paths = [write.path.rpartition("/")[2] for write in networks.writes("meta")[writes_before:]]
    assert paths == ["campaigns", "adsets", "adcreatives", "ads"]
    output = capsys.readouterr().out
    assert "in_doubt applied" in output and "succeeded True" in output
    run([undo], "something_went_wrong.md", names)
    assert capsys.readouterr().out == "succeeded\n"
    campaign = names["rest"].created.campaign_id
    assert client.campaigns.get(names["rest"].account_id, campaign).status not in ("active", "paused")


@pytest.mark.parametrize("page", ["budgets", "bulk"])
def test_an_edit_runs(page: str, client: Ads, networks: SimulatedNetworks) -> None:
    create_first_campaign(client)
    writes_before = len(networks.writes("meta"))
    names = run(read_blocks(f"docs/{page}.md", "python"), page, {"client": client})
    operation = client.operations.get(names["operation"])
    assert (operation.action, len(networks.writes("meta"))) == ("edit", writes_before + 1)


def test_insights_are_read(client: Ads) -> None:
    create_first_campaign(client)
    names = run(read_blocks("docs/insights.md", "python"), "insights.md", {"client": client})
    assert [day.date for day in names["insights"].rows][-1] == names["today"] - timedelta(days=1)
    frames = names["table"].to_pylist(), names["pandas_frame"].to_dict("records"), names["polars_frame"].to_dicts()
    assert [len(rows) for rows in frames] == [len(names["rows"])] * 3 != [0] * 3


def test_an_alert_is_made(client: Ads, capsys: Any) -> None:
    create_first_campaign(client)
    names = run(read_blocks("docs/alerts.md", "python"), "alerts.md", {"client": client})
    assert (names["alert"].level, list(client.alerts.list())) == ("campaign", [])
    assert "not evaluated: " in capsys.readouterr().out
    (body, data) = map(json.loads, read_blocks("docs/alerts.md", "json"))
    same = {name: value for name, value in names["alert"].to_dict().items() if name in body}
    assert same == body and {*data} <= {*DATA_MEMBERS, *OPTIONAL_DATA_MEMBERS}


def test_an_error_has_a_code(capsys: Any) -> None:
    run(read_blocks("docs/errors.md", "python"), "errors.md", {})
    assert "goal required" in capsys.readouterr().out


def test_launches_run(capsys: Any) -> None:
    """The file, and then the program, on simulated networks. Each cell is created, and the shares add up."""
    (document,), file = read_blocks("docs/launches.md", "yaml"), ROOT / "examples" / "launch.yaml"
    assert document == file.read_text()
    with sandbox("meta", "google", "pinterest", "outbrain", "tiktok") as networks, networks.client() as client:
        body = load_document(file)
        for account in body["accounts"]:
            account["accountId"] = client.accounts.list(network=account["key"]).first().account_id
        launch = client.launches.wait(client.call("post_launches", body=body)["data"]["launchId"])
        assert {cell.state for cell in launch.cells} == {"prepared"}, launch
        budgets = [Decimal(cell.planned.daily) for cell in launch.cells if cell.planned is not None]
        assert budgets == [100, 50, 50, 50, 50]
        client.launches.execute(launch, confirmed=True, digest=launch.change_sets[-1].digest or "")
        assert {cell.state for cell in client.launches.wait(launch).cells} == {"succeeded"}

        names = run(read_blocks("docs/launches.md", "python"), "launches.md", {"client": client})
        assert {cell.state for cell in names["launch"].cells} == {"succeeded"}
        output = capsys.readouterr().out
        assert re.search(r"meta prepared .*daily='30.01'.*platform.boardId", output), output
