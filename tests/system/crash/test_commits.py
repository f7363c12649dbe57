"""N steps cost N + 1 durable commits, one more for each overlay after the first; for every example."""

from __future__ import annotations

from pathlib import Path

import pytest

from adsunify.networks.registry import get_adapter
from adsunify.service import accounts, bulk
from adsunify.service.core import Service

from .stage import FORMATS, Stage, alternate_engines, collect_ids, has_overlay

TURNS = alternate_engines([(path,) for paths in FORMATS.values() for path in paths])


async def _check_commits(stage: Stage, service: Service, operation_id: str) -> None:
    before = service.store.commit_count
    operation_data = await stage.execute(service, operation_id)
    assert operation_data["status"] == "succeeded"
    steps = len(operation_data["plan"]["steps"])
    assert len(operation_data["receipt"]["steps"]) == steps
    more = steps - 1 if has_overlay(operation_data["network"], operation_data["action"]) else 0
    assert service.store.commit_count - before == steps + 1 + more


@pytest.mark.parametrize(("engine", "path"), [pytest.param(*turn, id=f"{turn[0]}-{turn[1].stem}") for turn in TURNS])
async def test_commits(stage: Stage, path: Path) -> None:
    network = path.stem.split("-")[0]
    account_id = stage.accounts[network]["accountId"]
    async with stage.service() as service:
        source = await stage.create(service, path)
        await _check_commits(stage, service, source)
        await _check_commits(stage, service, await stage.activate(service, source))
        created_ids = {
            id_
            for step in (await stage.read_operation(service, source))["receipt"]["steps"]
            for id_ in collect_ids(step)
        }
        tree = await accounts.read_account_tree(service, stage.actor, account_id=account_id)
        settable = {
            level.kind for level in get_adapter(network).network.levels if level.writable_statuses
        }  # X cannot pause its posts
        for kind in [level_kind for level_kind in ("campaign", "adGroup", "ad") if level_kind in settable]:
            entities = [node["id"] for node in tree["nodes"] if node["kind"] == kind and node["id"] in created_ids]
            prepared = await bulk.bulk_status(
                service,
                stage.actor,
                account_id=account_id,
                kind=kind,
                entity_ids=entities[-1:],
                status="paused",
                idempotency=None,
            )
            for operation in prepared.data["operations"]:
                await _check_commits(stage, service, operation["id"])
