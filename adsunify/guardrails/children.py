"""Reads the entities below an entity.

A list is incomplete if it does not show an entity that was created shortly before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ListQuery, ParsedEntity, get_last_part
from adsunify.adapter.network import REMOVED_STATUSES
from adsunify.adapter.protocols import Adapter
from adsunify.errors import ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow
from adsunify.plans.records import to_kind

MAX_CHILDREN = 200
"""How many entities are counted below an entity."""
TOO_MANY = f"more than {MAX_CHILDREN}"
NOT_LISTED = "not known, because not all are listed yet"


@frozen
class Creation:
    """An entity that adsunify created.

    ``id`` is the native id as receipts name it. ``parent_id`` is the id of a parent that existed before, as lists show
    it; None if it is not known. ``is_deleted``: whether adsunify knows that the entity is deleted.
    """

    kind: str
    id: str
    parent_id: str | None = None
    is_deleted: bool = False


@frozen
class Children:
    """The entities of one kind below an entity that are not deleted.

    ``number`` is their number as text. If not all of them are known, ``number`` says why, and ``entities`` is None.
    """

    entities: tuple[ParsedEntity, ...] | None
    number: str


@frozen
class ChildReader:
    """Flows that read the entities below an entity, for one account.

    ``creations`` has the entities that adsunify created in the account so recently that lists may not show them yet.
    Each inner collection has the entities of one chain of operations.
    """

    adapter: Adapter
    account: Account
    creations: Collection[Collection[Creation]] = ()

    def fetch_children(self, parent: ParsedEntity, kind: str) -> Flow[Children]:
        """Read the entities of a kind below ``parent``.

        Not all of them are known if the list has more than :data:`MAX_CHILDREN`, or if it lacks an entity that adsunify
        created.
        """
        listed_entities: list[ParsedEntity] = []
        query = ListQuery(100, parent_id=parent.id)
        while True:
            page = yield from self.adapter.reads.list_entities(self.account, kind, query)
            listed_entities += page.entities
            if len(listed_entities) > MAX_CHILDREN:
                return Children(None, TOO_MANY)
            if page.cursor is None:
                break
            query = evolve(query, cursor=page.cursor)
        ids = {child.id for child in listed_entities}
        for entity_id in self._find_possible_children(parent, kind):
            if entity_id not in ids and (yield from self._may_be_below(parent, kind, entity_id)):
                return Children(None, NOT_LISTED)
        present = tuple(child for child in listed_entities if child.status != "deleted")
        return Children(present, str(len(present)))

    def _find_possible_children(self, parent: ParsedEntity, kind: str) -> Iterable[str]:
        """Yield the ids of created entities that may be below ``parent``.

        If the same operations created entities of the parent's kind, the created entity is below one of these entities.
        """
        for chain in self.creations:
            parents = {get_last_part(creation.id) for creation in chain if creation.kind == parent.kind}
            for creation in chain:
                is_possible = parent.id in parents if parents else creation.parent_id in (None, parent.id)
                if creation.kind == kind and is_possible and not creation.is_deleted:
                    yield get_last_part(creation.id)

    def _may_be_below(self, parent: ParsedEntity, kind: str, entity_id: str) -> Flow[bool]:
        """Whether an entity is below ``parent`` and not deleted, or the network does not say."""
        try:
            entity = yield from self.adapter.reads.fetch_entity(self.account, to_kind(kind), entity_id)
        except (ProviderNotFound, ProviderUnreadable):
            return True
        return entity.status not in REMOVED_STATUSES and entity.parent_id in (None, parent.id)
