"""Finds the entities that other writes created, or may have created. An inspection never takes one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen
from sqlalchemy import Connection

from adsunify.adapter.hierarchy import ParsedEntity, get_last_part
from adsunify.adapter.network import Network
from adsunify.outcomes.planned import PlannedEntity
from adsunify.outcomes.search import get_planned_name, has_similar_name
from adsunify.outcomes.verdicts import StepVerdict
from adsunify.store import created, verdicts
from adsunify.values.exact_json import Json


@frozen
class Claims:
    """The entities of an account that belong to other writes, from all workspaces.

    Attributes:
        ids: the last parts of the ids of entities of the kind that other receipts or verdicts name.
        recorded: the last parts of the ids that a resumption has recorded as created by the step.
        has_rival: another attempt in doubt or in flight sends the same name, so it may have created an entity with this
            name.
        names: all values that other attempts in doubt or in flight send to this kind, including the names.
    """

    ids: frozenset[str]
    recorded: frozenset[str]
    has_rival: bool
    names: frozenset[str]

    def has_claim(self, planned: PlannedEntity, entity: ParsedEntity) -> bool:
        """Whether an entity belongs to another write.

        An entity with another name does if an attempt sends that name.
        """
        is_of_other_name = not planned.is_parent_new and not has_similar_name(planned, entity)
        return get_last_part(entity.id) in self.ids or (is_of_other_name and entity.name in self.names)


def read_claims(
    connection: Connection,
    network: Network,
    native_account: str,
    planned: PlannedEntity,
    maker: tuple[str, int],
    own_ids: Iterable[str],
) -> Claims:
    """Read the claims of all writes other than one item.

    Call it after the read of the list: by then every write of this database that the list shows has an intent.

    Args:
        connection: the connection.
        network: the tables of the network.
        native_account: the native id of the account.
        planned: the entity that is looked for; its level is known.
        maker: the operation and the position of the step that sends it.
        own_ids: the ids of this item in receipts and in its last verdict.
    """
    assert planned.level is not None
    kind, own = planned.level.kind, {get_last_part(id_) for id_ in own_ids}
    attempts = verdicts.list_open_attempts(connection, network.code, native_account, maker[0])
    created_ids = created.list_created(connection, network.code, native_account, kind)
    ids = {get_last_part(id_) for id_, by in created_ids if by != maker or get_last_part(id_) not in own}
    for attempt in attempts:
        if attempt.verdict is not None:
            ids |= {get_last_part(id_) for id_ in _list_ids(network, attempt.step, attempt.verdict, kind)}
    rivals = [
        rival
        for rival in attempts
        if rival.step["kind"] == planned.kind and (rival.verdict is None or rival.verdict.verdict == "undecided")
    ]
    names = frozenset(value for rival in rivals for value in _list_values(rival.request) if isinstance(value, str))
    name = get_planned_name(planned)
    has_rival = not planned.is_parent_new and (bool(rivals) if name is None else name in names)
    recorded = frozenset(get_last_part(id_) for id_, by in created_ids if by == maker)
    return Claims(frozenset(ids), recorded, has_rival, names)


def _list_ids(network: Network, step: Mapping[str, Json], verdict: StepVerdict, kind: str) -> Iterator[str]:
    """Yield the ids of a kind that a verdict names as created. An id that is a path contains its collection."""
    collections = {f"{level.native}s": level.kind for level in network.levels}
    outputs = verdict.outputs.values() if verdict.verdict == "applied" else ()
    ids = [id_ for output in outputs for id_ in ([output] if isinstance(output, str) else output)]
    for id_ in [*ids, *(item.id for item in verdict.items if item.verdict == "applied" and item.id is not None)]:
        collection, slash, _ = id_.rpartition("/")
        if (collections.get(collection.rpartition("/")[2]) if slash else step["kind"]) == kind:
            yield id_


def _list_values(value: Json) -> Iterator[Json]:
    """Yield every value of a JSON document that is not an object or a list."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else None
    if parts is None:
        yield value
    for part in parts or ():
        yield from _list_values(part)
