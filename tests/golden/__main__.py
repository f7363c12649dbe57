"""Records all held interfaces."""

from __future__ import annotations

from .recording import FOLDER, HELD, as_text

for name, read in HELD.items():
    (FOLDER / name).write_text(as_text(read()))
