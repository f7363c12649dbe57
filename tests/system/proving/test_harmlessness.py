"""A proof touches nothing but what it created, creates nothing active, and looks for the tokens of the present."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.errors import InvalidInput
from adsunify.http.messages import Flow
from adsunify.models.brief import read_brief
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Plan, Step
from adsunify.proving import lifecycle
from adsunify.proving.proof import OPERATIONS_FILE
from adsunify.service import campaigns
from adsunify.service.factory import open_service
from adsunify.service.network_session import CREDENTIALS_FIELD, NetworkSession, encrypt_credentials
from adsunify.service.operations import execute_operation
from adsunify.service.users import find_local_actor
from adsunify.store import connections
from adsunify.testing.connecting import connect_sandbox_network
from adsunify.values.exact_json import dumps

from .lies import CREATING, READING, Answer, Lie
from .proofs import World, open_world


async def create_other_campaign(world: World, folder: Path) -> str:
    """Create a campaign of the user with a store that the proof does not know; its id."""
    opened = await open_service(f"sqlite:///{folder / 'other.db'}", {}, sandbox_url=world.liar.url)
    service = opened.service
    try:
        actor = await find_local_actor(service, None)
        account = await connect_sandbox_network(service, actor, world.network)
        session = await NetworkSession.load(service, actor, str(account["accountId"]))
        brief = {**world.make_brief(session.native_account), "name": "A campaign of the user"}
        campaign = read_brief(dumps(brief))
        prepared = await campaigns.prepare_campaign(
            service, actor, account_id=session.account.id, campaign=campaign, idempotency=None
        )
        done = await execute_operation(service, actor, operation_id=prepared.data["id"], confirmed=True)
        assert done["status"] == "succeeded", done
        return str(next(entity["entityId"] for entity in done["created"] if entity["kind"] == "campaign"))
    finally:
        await service.close()


async def read_campaign(world: World, campaign_id: str) -> Any:
    session = await NetworkSession.load(world.service, world.actor, world.account_id)
    return await session.run_flow(session.adapter.reads.fetch_entity(session.native_account, "campaign", campaign_id))


async def test_an_entity_that_was_there_before_is_not_touched(tmp_path: Path) -> None:
    """The network answers the id of another campaign: a wrong pointer to the id of an adapter looks like this."""
    async with open_world("meta", tmp_path) as world:
        other = await create_other_campaign(world, tmp_path)
        before = await read_campaign(world, other)

        def name_other(lie: Lie, answer: Answer) -> Answer | None:
            if not answer.path.partition("?")[0].endswith("/campaigns") or "id" not in answer.body:
                return None
            return evolve(answer, body={**answer.body, "id": other})

        report = await world.prove(Lie("another id", CREATING, whole=name_other, writes_only=True))
        assert await read_campaign(world, other) == before
        found_ids = [
            finding.found for finding in report.select("contradicted") if finding.fact == "created.campaign.id"
        ]
        assert found_ids == [other] and not report.is_good
        assert [(leftover.kind, leftover.id) for leftover in report.leftovers] == [("campaign", None)]
        assert world.list_activations() == [] and world.find_secrets() == []


@pytest.mark.parametrize("network", ["reddit", "x"])
async def test_a_plan_without_a_status_is_not_executed(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a status, a network decides, and many create an active entity."""
    plans = get_adapter(network).plans
    plan_create = plans.plan_create

    def plan_without_status(*arguments: Any) -> Flow[Plan]:
        plan = yield from plan_create(*arguments)
        return evolve(plan, steps=tuple(drop_status(plan)))

    async with open_world(network, tmp_path) as world:
        monkeypatch.setattr(plans, "plan_create", plan_without_status)
        report = await world.prove()
        assert len(report.refusals) == 1 and "may be active" in report.refusals[0]
        assert not report.is_good and world.running.state.writes == []


def drop_status(plan: Plan) -> Iterator[Step]:
    for step in plan.steps:
        request = step.request
        yield evolve(step, request=evolve(request, body=drop_members(request.body), query=drop_members(request.query)))


def drop_members(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: drop_members(member)
            for name, member in value.items()
            if name not in ("configured_status", "entity_status")
        }
    return value


async def test_a_token_that_is_renewed_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is renewed for a read that is not recorded, and the next write shows it."""
    undo = lifecycle.delete_by_undo

    async def undo_with_new_token(*arguments: Any) -> None:
        await let_token_end(world)
        await undo(*arguments)

    monkeypatch.setattr(lifecycle, "delete_by_undo", undo_with_new_token)
    async with open_world("reddit", tmp_path) as world:
        tokens = world.running.state.worlds["reddit"].tokens
        known = len(tokens)

        def quote_tokens(lie: Lie, answer: Answer) -> Answer | None:
            return evolve(answer, body={**answer.body, "debug": " ".join(tokens)}) if answer.body else None

        report = await world.prove(Lie("tokens are shown", READING, whole=quote_tokens))
        assert len(tokens) > known and any("undo" in case for case in report.cases)
        assert world.find_secrets() == []


async def let_token_end(world: World) -> None:
    """Let the access token of the account end so soon that the next request renews it."""
    session = await NetworkSession.load(world.service, world.actor, world.account_id)
    store, connection_id = world.service.store, session.account.connection_id
    ends = store.clock.wall() + 1_000
    credentials = evolve(await session._get_credentials(), expires_at=ends)
    text = encrypt_credentials(world.service, session.account.workspace_id, connection_id, credentials)
    await store.write(connections.finish_refresh, connection_id, {CREDENTIALS_FIELD: text}, ends, store.clock)


async def test_what_another_account_has_left_is_not_forgotten(tmp_path: Path) -> None:
    async with open_world("reddit", tmp_path) as world:
        world.folder.mkdir()
        text = json.dumps({"accountId": "another", "operations": ["one"], "existing": []})
        (world.folder / OPERATIONS_FILE).write_text(text)
        with pytest.raises(InvalidInput, match="has not cleaned up"):
            await world.prove()
        assert (world.folder / OPERATIONS_FILE).read_text() == text and world.running.state.writes == []


async def test_names_in_what_a_plan_reads_are_not_recorded(tmp_path: Path) -> None:
    async with open_world("pinterest", tmp_path) as world:
        report = await world.prove()
        path = next(path for path in report.cases if path.endswith("/create.json"))
        text = (world.folder / "cases" / path).read_text()
        assert report.withheld == [] and "Argentina" not in text and '"Name ' in text
