"""Cells of a launch, grouped by network. A note that several cells share is shown once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from adsunify.networks.registry import get_adapter
from adsunify.review.exposure import UNKNOWN_TEXT, describe_spend, sum_spends

MAX_NAMED = 3
"""The most cells that a note names."""
MAX_NOTES = 25
"""The most notes of a network on a page of all networks."""


@frozen
class CellRow:
    """A cell in its table. ``money`` is what it can spend, in words."""

    key: str
    name: str
    state: str
    money: str
    operation_id: str | None


@define
class NetworkCells:
    """The cells of one network. ``notes``: kind of note -> text -> keys of its cells."""

    network: str
    rows: list[CellRow] = field(factory=list)
    notes: dict[str, dict[str, list[str]]] = field(factory=dict)

    def add_note(self, word: str, text: str, key: str) -> None:
        """Add a note to a cell."""
        keys = self.notes.setdefault(word, {}).setdefault(text, [])
        if key not in keys:
            keys.append(key)

    def describe_notes(self, word: str, is_whole: bool) -> tuple[list[tuple[str, str]], int]:
        """Return the notes of a kind with the cells that they concern, and how many notes are left out."""
        notes = [(text, self._describe_keys(keys)) for text, keys in self.notes.get(word, {}).items()]
        return (notes, 0) if is_whole else (notes[:MAX_NOTES], max(0, len(notes) - MAX_NOTES))

    def _describe_keys(self, keys: Sequence[str]) -> str:
        if len(keys) == len(self.rows):
            return "" if len(keys) == 1 else f"all {len(keys)} accounts"
        names = {row.key: row.name for row in self.rows}
        named = ", ".join(names.get(key, key) for key in keys[:MAX_NAMED])
        return named if len(keys) <= MAX_NAMED else f"{named} and {len(keys) - MAX_NAMED} more"


def group_cells(
    cells: Iterable[Mapping[str, Any]], accounts: Mapping[str, Mapping[str, Any]], action: str
) -> list[NetworkCells]:
    """Group cells of a launch or operations of a change set by their network."""
    groups: dict[str, NetworkCells] = {}
    for cell in cells:
        group = groups.setdefault(cell["network"], NetworkCells(cell["network"]))
        key = cell["key"]
        group.rows.append(
            CellRow(
                key, _name_cell(cell, accounts), cell["state"], describe_money(cell, action), cell.get("operationId")
            )
        )
        for issue in cell.get("issues", ()):
            group.add_note("issues", format_issue(issue), key)
        for warning in cell.get("warnings", ()):
            group.add_note("warnings", warning, key)
        for path in cell.get("leftOut", ()):
            group.add_note("leftOut", path, key)
        if cell.get("error"):
            group.add_note("issues", cell["error"]["message"], key)
    return list(groups.values())


def _name_cell(cell: Mapping[str, Any], accounts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the key of a cell, with the name of its account in place of the account's id."""
    account = accounts.get(cell["accountId"])
    if account is None:
        return str(cell["key"])
    return str(cell["key"]).replace(cell["accountId"], account["name"] or account["nativeId"])


def format_issue(issue: Mapping[str, Any]) -> str:
    """Format an issue without the position of its account in the list."""
    parts = str(issue["path"]).split(".")
    path = ".".join(parts[3:] if parts[0] == "accounts" and len(parts) > 3 else parts[2:])
    return f"{path}: {issue['message']}" if path else str(issue["message"])


def describe_money(cell: Mapping[str, Any], action: str) -> str:
    """Describe what a cell can spend; for a creation, once it is active. Empty if the cell spends nothing.

    The cells of a file can be creations and changes, so their texts say which of the two they are.
    """
    planned, exposure = (cell.get(name) for name in ("planned", "exposure"))
    if action != "apply":
        spend = planned if action == "create" else exposure
        return "" if spend is None else describe_amounts(spend)
    if exposure is None or planned is None:
        return ""
    once_active = describe_amounts(planned)
    return describe_amounts(exposure, " more") or (f"{once_active}, once active" if once_active else "")


def describe_amounts(spend: Mapping[str, Any], more: str = "") -> str:
    """Describe amounts in words; empty if they are 0."""
    if spend["daily"] == "unknown":
        return UNKNOWN_TEXT
    return describe_spend(spend, more) or ""


# -- sums ---------------------------------------------------------------------------------------------------------


@frozen
class TotalRow:
    """The sums of one network in one currency. ``network`` is None for the sums of all networks."""

    network: str | None
    currency: str | None
    cells: int
    exposure: str
    planned: str


def list_totals(totals: Sequence[Mapping[str, Any]]) -> list[TotalRow]:
    """List the sums by network and currency, then the sums of each currency that several networks have."""
    rows = [
        TotalRow(
            get_adapter(row["network"]).network.title,
            row["currency"],
            row["cells"],
            describe_amounts(row["exposure"]),
            describe_amounts(row["planned"]),
        )
        for row in totals
    ]
    for currency, count in Counter(row["currency"] for row in totals).items():
        parts = [row for row in totals if row["currency"] == currency]
        if count > 1:
            exposure, planned = (sum_spends((row[name] for row in parts), currency) for name in ("exposure", "planned"))
            cells = sum(row["cells"] for row in parts)
            rows.append(TotalRow(None, currency, cells, describe_amounts(exposure), describe_amounts(planned)))
    return rows


def count_states(states: Iterable[str]) -> list[tuple[str, int]]:
    """Return each state with the number of its cells, the most frequent first."""
    return Counter(states).most_common()
