"""Writes the tables of ``docs/guardrails.md`` about native members, from the adapters' tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from textwrap import fill

from adsunify.adapter.network import Level, Network, Setting
from adsunify.adapter.settings import BID_FIELDS
from adsunify.adapter.spend import BUDGET_FIELDS, CAP_FIELDS, DATE_FIELDS
from adsunify.guardrails.payloads import get_path
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.capabilities import render_markdown_table

COLUMNS: Sequence[tuple[str, Sequence[str]]] = (
    ("budgets", tuple(BUDGET_FIELDS)),
    ("caps", CAP_FIELDS),
    ("start and end", DATE_FIELDS),
    ("bids", BID_FIELDS),
)
"""The heading of each column, and its fields."""


def render_computed_members() -> str:
    """For each network: the native members that are computed, and those that change nothing."""
    parts = []
    for code in ADAPTER_PACKAGES:
        network = get_adapter(code).network
        table = render_markdown_table(["level", *(heading for heading, _ in COLUMNS)], _list_rows(network))
        neutral = sorted({name for level in network.levels for name in level.payload.neutral})
        bidding = {member: values for level in network.levels for member, values in level.payload.bidding.items()}
        sentences = (
            f"Members that decide about bids: {', '.join(starmap(_describe_bidding, bidding.items())) or 'none'}.",
            f"Members that change nothing: {', '.join(f'`{name}`' for name in neutral)}.",
        )
        text = "\n\n".join(
            fill(sentence, 120, break_on_hyphens=False, break_long_words=False) for sentence in sentences
        )
        parts.append(f"### {network.title}\n\n" + "\n".join(table) + f"\n\n{text}")
    return "\n\n".join(parts)


def _describe_bidding(member: str, values: Sequence[str]) -> str:
    return f"`{member}` ({', '.join(f'`{value}`' for value in values)})" if values else f"`{member}`"


def _list_rows(network: Network) -> Iterator[Sequence[str]]:
    for level in network.levels:
        settings = [setting for setting in network.settings if setting.level == level.kind]
        cells = [", ".join(_list_members(level, settings, fields)) for _, fields in COLUMNS]
        if any(cells):
            yield (level.native, *cells)


def _list_members(level: Level, settings: Sequence[Setting], fields: Sequence[str]) -> list[str]:
    """Return the members of these fields in a payload. A field in two places has the names of both."""
    members: list[str] = []
    for setting in settings:
        if setting.field not in fields or setting.unit not in ("money", "day", "instant"):
            continue
        if isinstance(setting.lock, str):
            continue
        pointer = setting.native({}) if callable(setting.native) else setting.native
        path = get_path(level, pointer)
        above = path.rpartition("/")[0]
        is_flat = callable(setting.native) and setting.native_names
        members += [f"{above}/{name}" if above else name for name in setting.native_names] if is_flat else [path]
    return [f"`{name}`" for name in dict.fromkeys(members)]
