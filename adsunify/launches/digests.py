"""The digest of a change set, which a person confirms."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from adsunify.values.exact_json import dumps_canonical


def compute_change_set_digest(members: Iterable[tuple[str, str, str]]) -> str:
    """Return the hexadecimal SHA-256 of a change set.

    It is computed over the canonical JSON of ``[[key, operationId, digest of the plan], ...]``, sorted by key.
    """
    return hashlib.sha256(dumps_canonical([list(member) for member in sorted(members)])).hexdigest()
