"""Writes the files: ``python -m tests.client.generate``."""

from __future__ import annotations

from . import write_files

for path, text in write_files().items():
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
