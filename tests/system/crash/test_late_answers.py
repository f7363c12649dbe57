"""A proxy repeats every answer late, on all networks and for two workspaces: each receipt holds its own answer."""

from __future__ import annotations

from pathlib import Path

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.server.repeating import assert_each_receipt_is_its_own
from tests.server.served import connect, serve_api

OPERATIONS = 1_000


async def test_a_thousand_operations_keep_their_own_receipts(tmp_path: Path) -> None:
    async with serve_api(f"sqlite:///{tmp_path / 'late.db'}") as server:
        for name in ("admin", "stranger"):
            for network in ADAPTER_PACKAGES:
                await connect(server, network, name)
        each = -(-OPERATIONS // (2 * len(ADAPTER_PACKAGES)))
        assert await assert_each_receipt_is_its_own(server, each) >= OPERATIONS
