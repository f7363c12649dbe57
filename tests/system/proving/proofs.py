"""Runs one proof against a simulated network, and looks afterwards at what is true there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from attrs import evolve, frozen

from adsunify.actor import Actor
from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ListQuery
from adsunify.errors import ProviderNotFound
from adsunify.http.transport import HttpTransport
from adsunify.networks.samples import make_brief
from adsunify.plans.records import ENTITY_KINDS
from adsunify.proving.findings import ProofReport
from adsunify.proving.run import prove_network
from adsunify.sandbox import RunningSandbox, sandbox
from adsunify.service.core import Service
from adsunify.service.factory import open_service
from adsunify.service.network_session import NetworkSession
from adsunify.service.users import find_local_actor
from adsunify.testing.connecting import connect_sandbox_network
from tests.guardrails.holdings import get_levels

from .liar import Liar, run_liar
from .lies import NAME, Lie

ACTIVATION = re.compile(r"(?:status|state)[\"']?\s*[:=]\s*[\"']?(?:ACTIVE|ENABLED?|active)\b", re.I)
"""A write that sets something to active, as a reader of the log sees it, on most networks."""


def find_activation(network: str, text: str) -> re.Match[str] | None:
    """Find what sets something to active: the words of most networks, or those of the network's own levels."""
    own = [
        rf"\b{name}[\"']?\s*[:=]\s*[\"']?{str(value).lower() if value is True else value}\b"
        for name, value in (level.status for level in get_levels(network))
    ]
    return ACTIVATION.search(text) or next(filter(None, (re.search(pattern, text) for pattern in own)), None)


@frozen(eq=False)
class World:
    """An open service whose account is connected to a simulated network, with a liar between them."""

    network: str
    running: RunningSandbox
    liar: Liar
    service: Service
    actor: Actor
    account_id: str
    folder: Path

    def make_brief(self, account: Account) -> Mapping[str, Any]:
        """The example brief of the network with the name of the proof."""
        brief = make_brief(self.network, account.currency or "", account.timezone or "", self.service.now())
        return {**brief, "name": NAME}

    async def prove(self, lie: Lie | None = None) -> ProofReport:
        """Run the proof while the liar tells a lie."""
        self.liar.lie, self.liar.phase = lie, ""
        self.running.state.writes.clear()
        self.running.state.write_requests.clear()
        return await prove_network(
            self.service,
            self.actor,
            self.account_id,
            self.folder,
            make_brief=self.make_brief,
            show=self.liar.enter_phase,
        )

    def list_activations(self) -> list[str]:
        """The writes of the log that activate. LinkedIn's new groups are active, because they cannot be paused."""
        return [
            f"{request.method} {request.path} {text}"
            for request in self.running.state.write_requests.values()
            for text in [unquote_plus(f"{request.raw_query} {request.body.decode('utf-8', 'replace')}")]
            if (find_activation(self.network, text) or request.path.endswith("/activate"))
            and not (request.method == "POST" and request.path.endswith("/adCampaignGroups"))
        ]

    async def list_leftovers(self, name: str = NAME) -> set[tuple[str, str]]:
        """The entities of the proof that the network really still has, read without the liar."""
        self.liar.lie = None
        self.service.transport = HttpTransport(self.running.url)
        session = await NetworkSession.load(self.service, self.actor, self.account_id)
        reads, account = session.adapter.reads, session.native_account
        leftovers: set[tuple[str, str]] = set()
        for kind in ENTITY_KINDS:
            if not any(level.kind == kind and not level.catalog for level in session.adapter.network.levels):
                continue
            query = ListQuery(100)
            while True:
                try:
                    page = await session.run_flow(reads.list_entities(account, kind, query))
                except ProviderNotFound:
                    break
                leftovers |= {
                    (kind, entity.id)
                    for entity in page.entities
                    if (entity.name or "").startswith(name) and entity.status not in ("archived", "deleted")
                }
                if page.cursor is None:
                    break
                query = evolve(query, cursor=page.cursor)
        return leftovers

    def find_secrets(self) -> list[str]:
        """The tokens and secrets of the network that a file of the proof contains."""
        tokens = [token for token in self.running.state.worlds[self.network].tokens if len(token) >= 8]
        texts = [path.read_text() for path in self.folder.rglob("*.json")]
        return [secret for secret in [*tokens, "sandbox-secret"] if any(secret in text for text in texts)]


@asynccontextmanager
async def open_world(network: str, folder: Path) -> AsyncIterator[World]:
    """Connect a new store to a new simulation of a network."""
    async with sandbox() as running, run_liar(running, network) as liar:
        opened = await open_service(f"sqlite:///{folder / 'proof.db'}", {}, sandbox_url=liar.url)
        service = opened.service
        try:
            actor = await find_local_actor(service, None)
            account = await connect_sandbox_network(service, actor, network)
            while service.background_tasks:
                await asyncio.wait(service.background_tasks)
            yield World(network, running, liar, service, actor, str(account["accountId"]), folder / "proof")
        finally:
            await service.close()
