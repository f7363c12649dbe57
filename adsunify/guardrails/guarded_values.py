"""Reads the present values of guards, before the first write of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.spend import read_spend_settings
from adsunify.errors import ProviderNotFound
from adsunify.guardrails.bids import read_bids
from adsunify.guardrails.children import ChildReader
from adsunify.guardrails.guards import STATUS_FIELD
from adsunify.http.messages import Flow
from adsunify.plans.exposure import CHILDREN_FIELDS, Guard
from adsunify.plans.records import to_kind

GuardedValues = Mapping[tuple[str, str, str], str | int | None]
"""Values by kind, entity and field."""


def fetch_guarded_values(child_reader: ChildReader, guards: Sequence[Guard]) -> Flow[GuardedValues]:
    """Read the present values of guards. An entity that is gone has none."""
    values: dict[tuple[str, str, str], str | int | None] = {}
    numbers: dict[tuple[str, str, str], str] = {}
    listed_kinds: set[str] = set()
    for kind, guard in ((kind, guard) for kind in CHILDREN_FIELDS for guard in guards):
        if guard.field == CHILDREN_FIELDS[kind]:
            listed_kinds.add(kind)
            parent = ParsedEntity(guard.kind, guard.entity_id, None, None, None, None, {})
            with suppress(ProviderNotFound):
                children = yield from child_reader.fetch_children(parent, kind)
                numbers[guard.kind, guard.entity_id, guard.field] = children.number
                if children.entities is None:  # only the numbers of children differ
                    values |= {
                        (child_guard.kind, child_guard.entity_id, child_guard.field): child_guard.value
                        for child_guard in guards
                        if child_guard.kind == kind
                    }
                for child in children.entities or ():
                    values |= _list_present_values(child_reader, child)
    for kind, entity_id in dict.fromkeys(
        (child_guard.kind, child_guard.entity_id) for child_guard in guards if child_guard.kind not in listed_kinds
    ):
        with suppress(ProviderNotFound):
            read = child_reader.adapter.reads.fetch_editable_entity
            values |= _list_present_values(
                child_reader, (yield from read(child_reader.account, to_kind(kind), entity_id))
            )
    present = {place[:2] for place in values}
    return values | {place: number for place, number in numbers.items() if place[:2] in present}


def _list_present_values(
    child_reader: ChildReader, entity: ParsedEntity
) -> dict[tuple[str, str, str], str | int | None]:
    """Return the values of an entity that can be guarded, by kind, entity and field."""
    network, account, kind = child_reader.adapter.network, child_reader.account, to_kind(entity.kind)
    settings = read_spend_settings(network, account, kind, entity.native)
    values: Iterable[tuple[str, str | int | None]] = (
        (STATUS_FIELD, entity.status),
        *settings.list_values(),
        *read_bids(network, account, kind, entity.native).items(),
    )
    return {(entity.kind, entity.id, name): value for name, value in values}
