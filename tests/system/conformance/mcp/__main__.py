"""``python -m tests.system.conformance.mcp FOLDER``: the suites and the Inspector that npm installed in a folder."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from .building import endpoint
from .inspector import inspect
from .scripted import site
from .suite import Failed, authorization, run, server


async def main(node: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = f"{node / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": programs, "HOME": name, "NO_COLOR": "1"}
        print("node", (await run(environment, "node", "--version")).strip())
        async with endpoint(folder) as url:
            await server(environment, node, url, folder)
        async with site(folder) as whole:
            await authorization(environment, node, whole)
            await inspect(environment, whole)


if __name__ == "__main__":
    try:
        asyncio.run(main(Path(sys.argv[1]).resolve()))
    except Failed as problem:
        sys.exit(str(problem))
