"""What a receipt keeps of a network's response: bounded, without secrets, and storable in every database.

Responses are hostile input. At most ``RESPONSE_BYTES`` of JSON text are kept of a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from adsunify.execution.state import RESPONSE_BYTES, ItemReceipt
from adsunify.http.messages import Response
from adsunify.http.redaction import _SECRET_NAME, _UNKEPT, REDACTED, text_kept
from adsunify.plans.records import Outputs
from adsunify.values.exact_json import Json, dumps, quoted

LONGEST_ID = 1_000
DEEPEST = 32
FIRST_WAIT = 2_000
LONGEST_WAIT = 24 * 60 * 60 * 1000
"""Milliseconds: the wait after a first throttled attempt where the network does not say (doubled for each further one,
up to a minute), and the longest wait that is believed."""
CUT = "[cut]"
_RESERVE = 1024


def sound(outputs: Outputs, items: Sequence[ItemReceipt]) -> bool:
    """Whether every id is one: printable text of at most 1,000 characters."""
    ids = [item.id for item in items if item.id is not None]
    for value in outputs.values():
        ids += [value] if isinstance(value, str) else value
    return all(isinstance(one, str) and len(one) <= LONGEST_ID and one.isprintable() for one in ids)


def milliseconds(seconds: float | None, attempt: int) -> int:
    """How long to wait, from what a network said (hostile: anything) or did not say."""
    if seconds is None or not 0 <= seconds < float("inf"):
        return min(60_000, FIRST_WAIT << min(attempt - 1, 5))
    return int(min(seconds * 1000, LONGEST_WAIT))


def response_kept(response: Response) -> Json:
    """What a receipt keeps of the body: secrets redacted by member name, cut to ``RESPONSE_BYTES`` of JSON text."""
    if response.state in ("empty", "bytes"):
        return None
    return _Keeping(RESPONSE_BYTES - _RESERVE).kept(response.body, 0)


class _Keeping:
    """One walk over a body with a budget of characters: whatever does not fit is left out, and says so."""

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def kept(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, list):
            return self._list(value, depth)
        if value is None or isinstance(value, bool | int | Decimal):
            self.budget -= len(dumps(value)) + 1
            return value
        return CUT

    def _text(self, value: str) -> str:
        left = max(0, self.budget)
        text, cut = text_kept(value, left), len(value) > left
        if len(quoted(text)) > left:  # one character may be written as twelve
            text, cut = text[: left // 12], True
        self.budget -= len(quoted(text)) + 1
        return text + CUT if cut else text

    def _object(self, value: Mapping[str, Json], depth: int) -> Json:
        if depth >= DEEPEST:
            self.budget -= 8
            return CUT
        kept: dict[str, Json] = {}
        self.budget -= 3
        for name, member in value.items():
            name = _UNKEPT.sub("\ufffd", name[:LONGEST_ID])
            self.budget -= len(quoted(name)) + 2
            if self.budget <= 0:
                kept[CUT] = True
                break
            secret = isinstance(member, str | Mapping | list) and _SECRET_NAME.search(name) is not None
            self.budget -= len(REDACTED) + 3 if secret else 0
            kept[name] = REDACTED if secret else self.kept(member, depth + 1)
        return kept

    def _list(self, value: list[Json], depth: int) -> Json:
        if depth >= DEEPEST:
            self.budget -= 8
            return CUT
        kept: list[Json] = []
        self.budget -= 3
        for member in value:
            if self.budget <= 0:
                kept.append(CUT)
                break
            kept.append(self.kept(member, depth + 1))
        return kept
