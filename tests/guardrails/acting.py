"""Prepare and execute changes as the cases name them; the exposures of the networks and the hostile calls share it.

A step is an object with one of these members: ``create`` (changes of the network's example brief), ``activate``,
``status`` with ``to``, ``edit`` with ``fields``, ``bulk`` with ``field``, ``mode`` and ``value``, ``native`` (a kind)
with ``payload`` (changes of the network's published template; null removes a member) and ``parent``, ``update`` with
``payload``, ``delete``. An entity is ``<name>.<kind>`` of a step that was given ``as`` a name, ``<name>`` if the step
made one entity, or ``{"seeded": kind, "name": ...}``. Two more steps only prepare the ground: ``at`` sets the clock,
and ``copies`` with ``count`` puts copies of an entity beside it into the simulated network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import httpx
from attrs import define, field

from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import dumps
from tests.server.served import Served, brief, data

PATHS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}
Entity = tuple[str, str]
"""A kind and an id."""


def set_clock(server: Served, at: str) -> None:
    """Set the clocks of the server and the networks."""
    server.hands.ahead = datetime.fromisoformat(at) - datetime.now(UTC)


@define
class Stage:
    """One account of a network, and the entities that the steps made, by name and kind."""

    server: Served
    network: str
    account: str
    entities: dict[str, dict[str, str]] = field(factory=dict)
    operations: dict[str, str] = field(factory=dict)
    """The ids of the operations that made them, by name."""

    async def prepare(self, step: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the prepared operations of a step."""
        answer = await self.send(step)
        prepared = data(answer, 201)
        operations: list[dict[str, Any]] = prepared["operations"] if "bulk" in step or "status" in step else [prepared]
        return operations

    async def send(self, step: Mapping[str, Any]) -> httpx.Response:
        """Return the answer to the call that prepares a step."""
        method, path, body = await self.build_call(step)
        return await self.server.admin.send(method, path, body)

    async def perform(self, step: Mapping[str, Any]) -> None:
        """Execute a step of the ground."""
        if "at" in step:
            set_clock(self.server, step["at"])
            return
        if "copies" in step:
            self._copy((await self.find(step["copies"]))[1], step["count"])
            return
        for operation in await self.prepare(step):
            done = await self.server.admin.execute(operation["id"])
            assert done["status"] == "succeeded", done
            if "as" in step:
                self.operations[step["as"]] = done["id"]
                self.entities[step["as"]] = {created["kind"]: created["entityId"] for created in done["created"]}

    async def build_call(self, step: Mapping[str, Any]) -> tuple[str, str, Any]:
        """Return method, path and body of the call that prepares a step."""
        if "create" in step:
            return "POST", "/create", {"accountId": self.account, "campaign": brief(self.network, **step["create"])}
        if "activate" in step:
            source = self.operations[step["activate"]]
            return "POST", "/activate", {"accountId": self.account, "sourceOperationId": source}
        if "status" in step or "bulk" in step:
            entities = [await self.find(entity) for entity in step.get("bulk", [step.get("status")])]
            body = {
                "accountId": self.account,
                "kind": entities[0][0],
                "entityIds": [entity_id for _, entity_id in entities],
            }
            if "status" in step:
                return "POST", "/bulk-status", {**body, "status": step["to"]}
            return "POST", "/bulk-edit", {**body, **{name: step[name] for name in ("field", "mode", "value")}}
        if "native" in step:
            body = {"payload": self.fill_template(step["native"], step["payload"])}
            if "parent" in step:
                body["parentId"] = (await self.find(step["parent"]))[1]
            return "POST", f"/accounts/{self.account}/{PATHS[step['native']]}", body
        (action,) = {"edit", "update", "delete"} & set(step)
        kind, entity_id = await self.find(step[action])
        path = f"/accounts/{self.account}/{PATHS[kind]}/{entity_id}"
        if action == "edit":
            return "POST", f"{path}/edit", {"fields": step["fields"]}
        return ("PATCH", path, {"payload": step["payload"]}) if action == "update" else ("DELETE", path, None)

    def fill_template(self, kind: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the network's published template of a kind with these members; null removes one."""
        templates = {template.kind: template.payload for template in get_adapter(self.network).network.templates}
        payload = json.loads(dumps(dict(templates[kind]))) | dict(changes)
        return {name: value for name, value in payload.items() if value is not None}

    async def find(self, entity: Any) -> Entity:
        """Return the kind and the id of an entity as a step names it."""
        if isinstance(entity, Mapping):
            nodes = (await self.server.admin.get(f"/accounts/{self.account}/tree"))["nodes"]
            (entity_id,) = [
                node["id"] for node in nodes if (node["kind"], node["name"]) == (entity["seeded"], entity["name"])
            ]
            return entity["seeded"], entity_id
        name, _, kind = entity.partition(".")
        ids = self.entities[name]
        if not kind:
            (kind,) = ids
        return kind, ids[kind]

    def _copy(self, entity_id: str, count: int) -> None:
        world = self.server.networks.state.worlds[self.network]
        (first,) = [stored for stored in world._stored_entities.values() if stored.id == entity_id]
        for _ in range(count):
            world.create(first.kind, first.account, first.data, parent=first.parent, logged=False)
