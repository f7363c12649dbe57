"""Holds pyright against the wrong and the right uses of the public client: ``python -m tests.typing``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .refusals import find_differences, run_pyright

with tempfile.TemporaryDirectory() as folder:
    differences = sorted(find_differences(run_pyright(Path(folder))))
for name, line in differences:
    print(f"{name}:{line}: pyright judges this line the other way")
sys.exit(1 if differences else 0)
