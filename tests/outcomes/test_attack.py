"""What could make an inspection take another write for the one in doubt, or miss it. No verdict may be wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adsunify import Ads
from adsunify.answers import InspectedStep, Operation
from adsunify.errors import InvalidInput
from adsunify.testing import SimulatedNetworks, sandbox
from adsunify.values.network_codes import NetworkCode

from .matrix import WAIT_SECONDS, advance_to, list_briefs, load_brief, lose_answer, make_likeness

SAMPLE: tuple[NetworkCode, ...] = ("meta", "google", "tiktok", "snapchat", "apple", "x")
BRIEFS = {path.stem.split("-")[0]: path for path in list_briefs(False)}


@pytest.fixture(scope="module")
def networks() -> Iterator[SimulatedNetworks]:
    with sandbox(*SAMPLE, "chatgpt", "outbrain", "linkedin") as simulated:
        yield simulated


@pytest.fixture
def ads(networks: SimulatedNetworks) -> Iterator[Ads]:
    networks.reset()
    with networks.client() as client:
        yield client


def inspect_twice(networks: SimulatedNetworks, ads: Ads, operation: Operation, position: int = 0) -> InspectedStep:
    """What an inspection says after the lists show everything; there was one before."""
    key = operation.plan.steps[position].key
    advance_to(networks, ads, operation, key, 0)
    return advance_to(networks, ads, operation, key, WAIT_SECONDS)


def test_an_entity_of_one_of_two_attempts_in_doubt_is_nobodys(networks: SimulatedNetworks, ads: Ads) -> None:
    """Both send the same campaign and one creates it: each could take it, and the other would be sent again."""
    account = networks.account("meta")
    brief = load_brief(BRIEFS["meta"], account)
    lost, applied = (ads.campaigns.create(account, brief) for _ in range(2))
    lose_answer(networks, ads, lost, 0, "before")
    lose_answer(networks, ads, applied, 0, "after")
    key = lost.plan.steps[0].key
    for operation in (lost, applied):
        assert inspect_twice(networks, ads, operation).verdict == "undecided"
    campaign = networks.writes("meta")[-1].entities[0][1]
    ads.operations.settle(applied.id, step=key, verdict="applied", entity=campaign)
    assert inspect_twice(networks, ads, lost).verdict == "not_applied"


def test_a_campaign_of_another_attempt_in_doubt_does_not_resemble(networks: SimulatedNetworks, ads: Ads) -> None:
    """It was created at the same time and differs in its name only, which the other attempt has sent."""
    account = networks.account("meta")
    lost, applied = (ads.campaigns.create(account, load_brief(BRIEFS["meta"], account)) for _ in range(2))
    lose_answer(networks, ads, lost, 0, "before")
    lose_answer(networks, ads, applied, 0, "after")
    assert inspect_twice(networks, ads, lost).verdict == "not_applied"
    assert inspect_twice(networks, ads, applied).verdict == "applied"


@pytest.mark.parametrize("network", ["meta", "tiktok", "snapchat", "apple"])  # Google creates all with one step
def test_a_resumed_operation_keeps_its_own_entity(networks: SimulatedNetworks, ads: Ads, network: NetworkCode) -> None:
    """The entity counts as created by the step since the resumption, and is still the step's."""
    account = networks.account(network)
    operation = ads.campaigns.create(account, load_brief(BRIEFS[network], account))
    lose_answer(networks, ads, operation, 0, "after")
    first = inspect_twice(networks, ads, operation)
    ads.operations.resume(operation.id)
    again = inspect_twice(networks, ads, operation)
    assert (first.verdict, again.verdict, again.entity_id) == ("applied", "applied", first.entity_id)


@pytest.mark.parametrize("name", ["{}  ", "{} (checked)", "Something else"])
def test_an_entity_with_a_changed_name_is_not_missing(networks: SimulatedNetworks, ads: Ads, name: str) -> None:
    account = networks.account("meta")
    brief = load_brief(BRIEFS["meta"], account)
    operation = ads.campaigns.create(account, brief)
    lose_answer(networks, ads, operation, 0, "after")
    campaign = networks.writes("meta")[-1].entities[0][1]
    with networks.client() as stranger:
        renaming = stranger.campaigns.edit(account, campaign, fields={"name": name.format(brief.name)})
        stranger.operations.execute(renaming, confirmed=True)
    assert inspect_twice(networks, ads, operation).verdict == "undecided"


@pytest.mark.parametrize("network", SAMPLE)
def test_an_entity_that_was_deleted_is_not_created_again(
    networks: SimulatedNetworks, ads: Ads, network: NetworkCode
) -> None:
    account = networks.account(network)
    operation = ads.campaigns.create(account, load_brief(BRIEFS[network], account))
    lose_answer(networks, ads, operation, 0, "after")
    campaign = next(id_ for kind, id_ in networks.writes(network)[-1].entities if kind == "campaign")
    with networks.client() as stranger:
        stranger.operations.execute(stranger.campaigns.delete(account, campaign), confirmed=True)
    assert inspect_twice(networks, ads, operation).verdict != "not_applied"


@pytest.mark.parametrize("network", [*SAMPLE, "linkedin"])
def test_a_campaign_that_differs_only_below_is_not_taken(
    networks: SimulatedNetworks, ads: Ads, network: NetworkCode
) -> None:
    """Another program made it at the same time, with another budget. Many networks have that at the ad group."""
    account = networks.account(network)
    brief = load_brief(BRIEFS[network], account)
    operation = ads.campaigns.create(account, brief)
    with networks.client() as stranger:
        other = stranger.campaigns.create(account, make_likeness(brief, "differs below"))
        stranger.operations.run(other, confirmed=True)
    lose_answer(networks, ads, operation, 0, "before")
    assert inspect_twice(networks, ads, operation).verdict == "undecided"


@pytest.mark.parametrize("count", [-1, 1])
def test_a_request_that_creates_a_tree_is_not_completed_in_a_tree_of_others(
    networks: SimulatedNetworks, ads: Ads, count: int
) -> None:
    """The campaign of others agrees but for one keyword, which it has too few or too many."""
    account = networks.account("google")
    brief = load_brief(BRIEFS["google"], account)
    keywords = brief.targeting.keywords or ()
    assert len(keywords) > 1
    more = [*keywords, keywords[0].model_copy(update={"text": "another keyword"})]
    targeting = brief.targeting.model_copy(update={"keywords": keywords[:-1] if count < 0 else more})
    operation = ads.campaigns.create(account, brief)
    with networks.client() as stranger:
        other = stranger.campaigns.create(account, brief.model_copy(update={"targeting": targeting}))
        stranger.operations.run(other, confirmed=True)
    lose_answer(networks, ads, operation, 0, "before")
    assert inspect_twice(networks, ads, operation).verdict == "undecided"


def test_a_campaign_that_was_made_after_the_attempt_is_not_taken(networks: SimulatedNetworks, ads: Ads) -> None:
    """A person sees that the outcome is unknown, and creates the same campaign by hand."""
    account = networks.account("meta")
    operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
    lose_answer(networks, ads, operation, 0, "before")
    networks.clock.advance(seconds=300)
    with networks.client() as stranger:
        twin = stranger.campaigns.create_native(account, payload=operation.plan.steps[0].body)
        stranger.operations.execute(twin, confirmed=True)
    assert inspect_twice(networks, ads, operation).verdict == "undecided"


def test_a_verdict_says_that_a_twin_cannot_be_told_apart(networks: SimulatedNetworks, ads: Ads) -> None:
    """Of a campaign, but not of an ad group in a campaign that the operation itself has created."""
    account = networks.account("meta")
    for position, is_said in ((0, True), (1, False)):
        operation = ads.campaigns.create(account, load_brief(BRIEFS["meta"], account))
        lose_answer(networks, ads, operation, position, "after")
        step = inspect_twice(networks, ads, operation, position)
        assert step.verdict == "applied" and ("cannot be distinguished" in str(step.reason)) is is_said


PARENT_LEVELS: list[tuple[NetworkCode, str]] = [
    *(
        (network, kind)
        for network in ("meta", "tiktok", "snapchat", "apple", "x", "chatgpt")
        for kind in ("adGroup", "ad")
    ),
    ("outbrain", "ad"),
]
"""Google creates all levels with one request, which nobody can settle as applied."""


@pytest.mark.parametrize(("network", "kind"), PARENT_LEVELS)
def test_nobody_settles_with_an_entity_of_another_parent(
    networks: SimulatedNetworks, ads: Ads, network: NetworkCode, kind: str
) -> None:
    """A person mistypes the id: the next steps would be created below a campaign that nobody has reviewed."""
    account = networks.account(network)
    with networks.client() as stranger:
        other = stranger.campaigns.create(account, load_brief(BRIEFS[network], account))
        foreign_entities = stranger.operations.run(other, confirmed=True).created
    operation = ads.campaigns.create(account, load_brief(BRIEFS[network], account))
    (position,) = [at for at, step in enumerate(operation.plan.steps) if step.kind == kind]
    lose_answer(networks, ads, operation, position, "after")
    key = operation.plan.steps[position].key
    (entity_id,) = [id_ for _, id_ in networks.writes(network)[-1].entities]
    with pytest.raises(InvalidInput) as refusal:
        foreign = next(entity.entity_id for entity in foreign_entities if entity.kind == kind)
        ads.operations.settle(operation.id, step=key, verdict="applied", entity=foreign)
    (issue,) = refusal.value.issues
    assert (issue.path, issue.code) == ("entityId", "conflict") and foreign not in issue.message
    assert ads.operations.settle(operation.id, step=key, verdict="applied", entity=entity_id).entity_id == entity_id
    later = [step.key for step in operation.plan.steps[position + 1 :]]
    if later:
        resumed = ads.operations.run(ads.operations.resume(operation.id), confirmed=True)
        assert entity_id in {entity.entity_id for entity in resumed.created}
        assert [step_receipt.key for step_receipt in resumed.receipt.steps] == later
