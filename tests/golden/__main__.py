"""Records all held interfaces; with ``--new-networks`` only those in which nothing changed but for new networks."""

from __future__ import annotations

import json
import sys

from .recording import FOLDER, HELD, as_text, drop_networks, list_new_networks

unexplained = []
new = list_new_networks() if "--new-networks" in sys.argv else None
for name, read in HELD.items():
    text, file = as_text(read()), FOLDER / name
    if new is None or drop_networks(json.loads(text), new) == json.loads(file.read_text()):
        file.write_text(text)
    else:
        unexplained.append(name)
for name in unexplained:
    print(
        f"{name} is not recorded: more changed than new networks explain. `python -m tests.golden` records all of it."
    )
sys.exit(1 if unexplained else 0)
