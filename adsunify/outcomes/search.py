"""Finds the entity that a create made, or shows that the account does not have it. Every request is a read.

An entity is recognised below a parent that the same operation created, or by the members that were sent together with
its time of creation or a unique name. An entity that a receipt names belongs to another step.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from attrs import evolve, field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import MAX_PAGES
from adsunify.adapter.hierarchy import EntityPage, ListQuery, ParsedEntity
from adsunify.adapter.network import Level, Network, read_creation_time
from adsunify.adapter.protocols import Reads
from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Flow
from adsunify.outcomes.comparison import MemberComparison, compare_members, compare_parts, is_match
from adsunify.outcomes.planned import PlannedEntity
from adsunify.outcomes.verdicts import VerdictName
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

CLOCK_TOLERANCE = timedelta(seconds=120)
"""How far the clock of a network may be behind ours."""
PAGE_SIZE = 100
RIVAL_REASON = "Another write may have made it as well, so it is not certain whose it is."
TWIN_WARNING = "If somebody else created exactly the same entity, it cannot be distinguished from this one."
NAME_MEMBER = "resourceName"
"""The member with the id of an object that has no level (Google)."""


@frozen
class CompleteList:
    """All entities of a level, or of one parent, in every status, to the last page.

    ``pages``: how many pages were read.
    """

    entities: tuple[ParsedEntity, ...]
    pages: int


@frozen
class CreationJudgement:
    """The judgement of a complete list about one planned entity.

    Attributes:
        verdict: ``not_applied`` means that the list does not contain the entity. One list without the entity does not
            decide.
        found: a description of the list.
        reason: one sentence that says why.
        entity: the entity of the verdict ``applied``.
    """

    verdict: VerdictName
    found: str
    reason: str
    entity: ParsedEntity | None = field(default=None)


@frozen
class CandidateEntity:
    """An entity that may be the planned one. ``is_match``: whether it agrees in every member that can be compared."""

    entity: ParsedEntity
    created: datetime | None
    comparisons: tuple[MemberComparison, ...]
    is_match: bool


def find_unreadable_reason(network: Network, planned: PlannedEntity) -> str | None:
    """Return why no read can find the planned entity; None if a list can."""
    level = planned.level
    if level is None:
        return f"{network.title} has no list in which a new {planned.kind} could be recognised."
    if level.parent_kind and planned.parent_id is None:
        return f"The parent of the {level.label} is not known, so its list cannot be read."
    if not (planned.is_parent_new or level.created or level.has_unique_name):
        return (
            f"{network.title} shows neither when a {level.label} was created nor a unique name, so a new one cannot be"
            " distinguished from an older one."
        )
    return None


def describe_list(planned: PlannedEntity, pages: int) -> str:
    """Describe the complete list in which a planned entity is looked for."""
    assert planned.level is not None
    place = "the account" if planned.parent_id is None else f"the {planned.level.parent_kind} {planned.parent_id}"
    return f"every {planned.level.label} of {place}, all statuses, to the last page ({pages})"


def fetch_complete_list(reads: Reads, account: Account, level: Level, parent_id: str | None) -> Flow[CompleteList]:
    """Read all entities of a level and a parent.

    Raises:
        ProviderError: a read failed.
        ProviderUnreadable: the list has more than ``MAX_PAGES`` pages.
    """
    entities: dict[str, ParsedEntity] = {}
    pages = 0
    for status in (None, *level.hidden_statuses):
        query = ListQuery(PAGE_SIZE, None, parent_id, status)
        while True:
            page = yield from _fetch_page(reads, account, level, query)
            pages += 1
            entities |= {entity.id: entity for entity in page.entities}
            if page.cursor is None:
                break
            if pages >= MAX_PAGES:
                raise ProviderUnreadable(f"The list of every {level.label} has more than {MAX_PAGES} pages.")
            query = evolve(query, cursor=page.cursor)
    return CompleteList(tuple(entities.values()), pages)


def _fetch_page(reads: Reads, account: Account, level: Level, query: ListQuery) -> Flow[EntityPage]:
    if not level.catalog:
        return (yield from reads.list_entities(account, level.kind, query))
    resource = level.catalog if query.parent_id is None else f"{level.catalog}:{query.parent_id}"
    page = yield from reads.fetch_catalog_page(account, resource, evolve(query, parent_id=None))
    rows = [ParsedEntity(level.kind, row.id, query.parent_id, row.name, None, None, row.native) for row in page.rows]
    return EntityPage(tuple(rows), page.cursor)


def fetch_foreign_children(
    network: Network, reads: Reads, account: Account, entity: ParsedEntity, own: Collection[tuple[str, str]]
) -> Flow[tuple[ParsedEntity, ...]]:
    """Read the children of an entity, and return those that are not in ``own`` (kinds and ids).

    Raises:
        ProviderError: a read failed.
    """
    foreign: list[ParsedEntity] = []
    for level in (*network.levels, *network.beside):
        if level.parent_kind == entity.kind:
            children = yield from fetch_complete_list(reads, account, level, entity.id)
            foreign += [child for child in children.entities if (child.kind, child.id) not in own]
    return tuple(foreign)


def fetch_creation_times(
    network: Network, reads: Reads, account: Account, planned: PlannedEntity, entities: Sequence[ParsedEntity]
) -> Flow[tuple[ParsedEntity, ...]]:
    """Return the entities that may be the planned one, each read with its time of creation if lists leave it out."""
    assert planned.level is not None
    level, candidates = planned.level, []
    for entity in entities:
        if planned.is_parent_new or not level.created or read_creation_time(network, level, entity.native) is not None:
            candidates.append(entity)
        elif has_similar_name(planned, entity):
            candidates.append((yield from reads.fetch_entity(account, level.kind, entity.id)))
    return tuple(candidates)


def list_candidates(
    network: Network, planned: PlannedEntity, entities: Sequence[ParsedEntity], intent_at: int, last_at: int
) -> list[CandidateEntity]:
    """Return the entities of a list that may be the planned one.

    A candidate is a match only if it can be distinguished from older and later entities. An entity with another name is
    a candidate if it was created during the attempt and agrees in everything else: the network or a person may have
    changed its name.

    Args:
        network: the tables of the network.
        planned: the entity; :func:`find_unreadable_reason` returns None for it.
        entities: the entities of the list.
        intent_at: the time of the intent, in milliseconds since 1970.
        last_at: the last time at which the attempt may have reached the network, in milliseconds since 1970.
    """
    assert planned.level is not None
    level, candidates = planned.level, []
    earliest, latest = (datetime.fromtimestamp(at / 1000, UTC) for at in (intent_at, last_at))
    earliest, latest = earliest - CLOCK_TOLERANCE, latest + CLOCK_TOLERANCE
    for entity in entities:
        created = read_creation_time(network, level, entity.native)
        if created is not None and created < earliest and not planned.is_parent_new:
            continue
        comparisons = tuple(compare_members(network, level, planned.members, entity.native))
        is_timely = created is not None and created <= latest
        is_recognisable = planned.is_parent_new or is_timely or (created is None and level.has_unique_name)
        is_same = is_recognisable and _has_planned_name(planned, entity) and is_match(comparisons)
        is_renamed = is_timely and _differs_in_name_only(level, comparisons)
        if planned.is_parent_new or has_similar_name(planned, entity) or is_renamed:
            candidates.append(CandidateEntity(entity, created, comparisons, is_same))
    return candidates


def judge_candidates(planned: PlannedEntity, candidates: Sequence[CandidateEntity]) -> CreationJudgement:
    """Judge whether the planned entity was created. ``candidates``: entities of a complete list without a receipt."""
    assert planned.level is not None
    label = planned.level.label
    matches = [candidate for candidate in candidates if candidate.is_match]
    if len(matches) == 1:
        created = matches[0].created
        at = "" if created is None else f", created {created.astimezone(UTC).isoformat(timespec='seconds')}"
        twin = "" if planned.is_parent_new else f" {TWIN_WARNING}"
        return CreationJudgement(
            "applied",
            f"one {label} that agrees in every member that can be compared{at}",
            f"Exactly one {label} agrees with the plan, and no other write is known to have made it.{twin}",
            matches[0].entity,
        )
    if matches:
        return CreationJudgement(
            "undecided",
            f"{len(matches)} that agree in every member that can be compared",
            f"More than one {label} agrees with the plan.",
        )
    if candidates:
        different = {
            row.member: None for candidate in candidates for row in candidate.comparisons if row.result == "different"
        }
        return CreationJudgement(
            "undecided",
            f"{len(candidates)} that differ from the plan in {', '.join(different) or 'name or time of creation'}",
            f"A new {label} resembles the plan and differs from it: a person or the network may have changed it.",
        )
    return CreationJudgement("not_applied", f"no such {label}", f"The lists do not contain the planned {label}.")


def get_planned_name(planned: PlannedEntity) -> Json:
    """Return the name that is sent for the entity; None if the request has no name."""
    assert planned.level is not None
    return get_value(planned.members, planned.level.name) if planned.level.name else None


def _has_planned_name(planned: PlannedEntity, entity: ParsedEntity) -> bool:
    """Whether the entity has the planned name. Without a planned name every entity has it."""
    name = get_planned_name(planned)
    return name is None or name == entity.name


def has_similar_name(planned: PlannedEntity, entity: ParsedEntity) -> bool:
    """Whether the names differ in spaces, case and Unicode forms only, which a network may normalize."""
    name = get_planned_name(planned)
    return name is None or _normalize_name(name) == _normalize_name(entity.name)


def _normalize_name(name: Json) -> str:
    text = "".join(letter for letter in unicodedata.normalize("NFKC", str(name or "")) if letter.isprintable())
    return "".join(text.casefold().split())


def _differs_in_name_only(level: Level, comparisons: Sequence[MemberComparison]) -> bool:
    others = [row for row in comparisons if row.member != level.name]
    return len(others) < len(comparisons) and is_match(others)


def find_part(network: Network, planned: PlannedEntity, native: Json, used: Collection[str]) -> str | None:
    """Find an object without a level, such as a budget, inside an entity that the same request created.

    Returns:
        The resource name of the only object that agrees with the plan; None if no object agrees, or several do.
    """
    ((_, members),) = planned.members.items()
    names = {
        part[NAME_MEMBER]
        for part in _list_objects(native)
        if isinstance(part.get(NAME_MEMBER), str) and part[NAME_MEMBER] not in used
        if is_match([row for row in compare_parts(network, members, part) if row.member != f"/{NAME_MEMBER}"])
    }
    return names.pop() if len(names) == 1 else None


def _list_objects(value: Json) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, Mapping):
        yield value
    for part in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _list_objects(part)
