"""What the tests of ``adsunify launch`` share: a launch as a file has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .running import BRIEF


def make_document(account: str, name: str, **second: Any) -> dict[str, Any]:
    """Two cells of an account. ``second``: members of the brief of the second one."""
    shared = json.loads(Path(BRIEF).read_text())
    budget = {"split": {"amount": "640.50", "currency": "USD", "period": "lifetime", "by": "even"}}
    accounts = [
        {"accountId": account, "key": key, "campaign": {"name": f"{name} {key}", **part}}
        for key, part in (("first", {}), ("second", second))
    ]
    return {"name": name, "campaign": {**shared, "budget": budget}, "accounts": accounts}
