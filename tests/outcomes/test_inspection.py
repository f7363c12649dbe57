"""An inspection decides lost answers as the networks' logs say, and writes nothing.

``nox -s outcomes`` runs the whole matrix (``tests/system/outcomes``); here is one brief of some networks.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adsunify import Ads
from adsunify.testing import SimulatedNetworks, sandbox
from adsunify.values.network_codes import NetworkCode

from .matrix import FAULTS, inspect_cell, list_briefs, load_brief, lose_answer, prepare_change

SAMPLE: tuple[NetworkCode, ...] = ("meta", "google", "tiktok", "linkedin", "x")
BRIEFS = {path.stem.split("-")[0]: path for path in list_briefs(False)}


@pytest.fixture(scope="module")
def networks() -> Iterator[SimulatedNetworks]:
    with sandbox(*SAMPLE) as simulated:
        yield simulated


@pytest.fixture
def ads(networks: SimulatedNetworks) -> Iterator[Ads]:
    networks.reset()
    with networks.client() as client:
        yield client


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("network", SAMPLE)
def test_lost_creations_are_decided(networks: SimulatedNetworks, ads: Ads, network: NetworkCode, fault: str) -> None:
    account = networks.account(network)
    for last in (False, True):
        operation = ads.campaigns.create(account, load_brief(BRIEFS[network], account))
        cell = inspect_cell(networks, ads, operation, len(operation.plan.steps) - 1 if last else 0, fault)
        assert cell.is_written is (fault in ("after", "truncated"))
        assert cell.is_decided and not cell.is_wrong, str(cell)
        assert cell.first.verdict == ("applied" if cell.is_written else "undecided")
        assert cell.second.evidence and (cell.second.entity_id is not None) is cell.is_written


def test_the_verdict_has_the_id_that_the_network_gave(networks: SimulatedNetworks, ads: Ads) -> None:
    account = networks.account("meta")
    operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
    lose_answer(networks, ads, operation, 1, "after")
    inspected = ads.operations.inspect(operation.id)
    campaign, group, ad = inspected.steps
    (written_entity,) = networks.writes("meta")[-1].entities
    assert group.entity_id == written_entity[1] and group.state == "in_doubt" and group.verdict == "applied"
    assert campaign.state == "applied" and ad.state == "planned"
    assert {row.result for row in campaign.members} <= {"same", "unreadable"}
    assert inspected.is_decided and "resume" in inspected.advice
    assert ads.operations.get(operation.id).status == "unknown"


@pytest.mark.parametrize("kind", ["differs", "older", "claimed"])
@pytest.mark.parametrize("fault", ["before", "after"])
def test_entities_that_look_alike(networks: SimulatedNetworks, ads: Ads, kind: str, fault: str) -> None:
    """One that differs, one that is older than the attempt, and one that a receipt names."""
    account = networks.account("meta")
    operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
    body = {**operation.plan.steps[0].body, **({"objective": "OUTCOME_LEADS"} if kind == "differs" else {})}
    with networks.client() as stranger:  # its receipts are in another database
        maker = ads if kind == "claimed" else stranger
        maker.operations.execute(maker.campaigns.create_native(account, payload=body), confirmed=True)
    if kind == "older":
        networks.clock.advance(seconds=300)
    cell = inspect_cell(networks, ads, operation, 0, fault)
    assert not cell.is_wrong, str(cell)
    assert cell.is_decided is not (kind == "differs" and fault == "before")


def test_two_that_agree_are_undecided(networks: SimulatedNetworks, ads: Ads) -> None:
    account = networks.account("meta")
    operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
    with networks.client() as stranger:
        twin = stranger.campaigns.create_native(account, payload=operation.plan.steps[0].body)
        stranger.operations.execute(twin, confirmed=True)
    cell = inspect_cell(networks, ads, operation, 0, "after")
    assert cell.second.verdict == "undecided" and "More than one" in str(cell.second.reason)


def test_a_read_that_fails_decides_nothing(networks: SimulatedNetworks, ads: Ads) -> None:
    account = networks.account("meta")
    operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
    lose_answer(networks, ads, operation, 0, "after")
    networks.fail("meta", "GET", "/campaigns", status=500, times=9)
    step = ads.operations.inspect(operation.id).steps[0]
    assert step.verdict == "undecided" and "read failed" in step.evidence[0].found


def test_an_operation_that_was_not_executed_is_planned(networks: SimulatedNetworks, ads: Ads) -> None:
    account = networks.account("meta")
    operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
    inspected = ads.operations.inspect(operation.id)
    assert {step.state for step in inspected.steps} == {"planned"} and inspected.is_decided


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("action", ["status", "edit", "delete"])
@pytest.mark.parametrize("network", SAMPLE)
def test_lost_changes_are_decided(
    networks: SimulatedNetworks, ads: Ads, network: NetworkCode, action: str, fault: str
) -> None:
    account = networks.account(network)
    created = ads.operations.execute(
        ads.campaigns.create(account, load_brief(BRIEFS[network], account)), confirmed=True
    )
    campaign = next(entity.entity_id for entity in created.created if entity.kind == "campaign")
    operation = prepare_change(ads, account, "campaign", campaign, action)
    cell = inspect_cell(networks, ads, operation, 0, fault)
    assert cell.is_decided and not cell.is_wrong, str(cell)
    assert cell.first.verdict == cell.second.verdict
