"""Plans for networks whose requests write one entity each, made from :class:`~adsunify.adapter.network.Level`.

The ``plans.py`` of the adapter builds the steps, because each network has its own requests. The functions here check
the caller's input against the tables of the level, choose the risk, and put the steps into a plan. If one action of an
API differs (a batch, a call for each status, an update that needs a read), its adapter has its own function for that
action.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache, partial

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import EditPart, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit
from adsunify.adapter.flows import completed_flow
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import (
    REMOVED_STATUSES,
    Level,
    NativeEntity,
    Network,
    get_level,
    read_native_status,
    unify_status,
)
from adsunify.adapter.settings import find_closed_reason
from adsunify.errors import Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    ENTITY_KINDS,
    Action,
    Binding,
    Change,
    Kind,
    Outputs,
    Plan,
    Risk,
    Step,
    make_plan,
)
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import parse_id
from adsunify.values.time_formats import TimeFormat

ID_OUTPUT = "id"
"""The output of a step that creates: the native id, or the ids in the order of the items."""
MAX_NAMED_MEMBERS = 30
"""The message about an unknown member lists the accepted members only if there are at most this many."""


# -- the steps of an adapter --------------------------------------------------------------------------------------

UpdateStep = Callable[[Account, Level, str, str, Mapping[str, Json]], Step]
"""``_build_update_step(account, level, entity_id, does, members)`` of an adapter.

It builds a step that changes members of one entity. The key of the step is its kind.
"""


StatusStep = Callable[[Account, Level, str, str], Step]
"""``_build_status_step(account, level, entity_id, status)`` of an adapter.

It builds a step that sets one entity to a unified status. The key of the step is its kind.
"""


# -- plans --------------------------------------------------------------------------------------------------------


def build_plan(
    network: Network,
    account: Account,
    action: Action,
    *steps: Step,
    risk: Risk = "low",
    warnings: Sequence[str] = (),
) -> Plan:
    """Build the plan of these steps for an account."""
    return make_plan(network.code, action, account.native_id, steps, warnings, risk)


def completed_plan(
    network: Network,
    account: Account,
    action: Action,
    *steps: Step,
    risk: Risk = "low",
    warnings: Sequence[str] = (),
) -> Flow[Plan]:
    """Return a flow that reads nothing and returns the plan of :func:`build_plan`."""
    return completed_flow(build_plan(network, account, action, *steps, risk=risk, warnings=warnings))


# -- status -------------------------------------------------------------------------------------------------------


def get_status_members(level: Level, native_status: str) -> Mapping[str, Json]:
    """Return the members that a write sends to set this native status."""
    if native_status in level.status_members:
        return level.status_members[native_status]
    return {get_status_member(level): native_status}


def get_status_member(level: Level) -> str:
    """Return the member that holds the native status; empty if several members hold it."""
    return level.status.removeprefix("/") if isinstance(level.status, str) else ""


def ensure_writable_status(network: Network, level: Level, status: str) -> None:
    """Raise InvalidInput for a unified status that the level cannot be set to."""
    if status not in level.writable_statuses:
        accepted = " or ".join(level.writable_statuses) or "nothing"
        raise invalid_input("status", "choice", f"{network.title} sets the status of the {level.label} to {accepted}.")


def build_status_step(
    build_update_step: UpdateStep, account: Account, level: Level, entity_id: str, status: str
) -> Step:
    """Build a step that sets one entity to a unified status by an update of its members."""
    does = f"Set the {level.label} {entity_id} to {status}."
    return build_update_step(
        account, level, entity_id, does, get_status_members(level, level.writable_statuses[status])
    )


def plan_status(
    network: Network,
    build_step: StatusStep,
    account: Account,
    kind: Kind,
    entity_id: str,
    status: str,
) -> Flow[Plan]:
    """Plan one write that sets one entity to active or paused."""
    level = get_level(network, kind)
    ensure_writable_status(network, level, status)
    step = build_step(account, level, entity_id, status)
    return (yield from completed_plan(network, account, "status", step, risk=assess_status_risk(status)))


def assess_status_risk(status: str) -> Risk:
    """Return the risk of setting an entity to a unified status."""
    return "spend" if status == "active" else "low"


def build_activation_steps(
    network: Network, build_step: StatusStep, account: Account, outputs: Mapping[str, Outputs]
) -> list[Step]:
    """Build the steps that activate the ad, the ad group and the campaign of a create operation, in this order.

    Levels without a writable status are skipped. ``outputs`` are the outputs of the create operation by step key, which
    is the kind.
    """
    levels = [
        level
        for kind in reversed(ENTITY_KINDS)
        for level in network.levels
        if level.kind == kind and level.writable_statuses
    ]
    return [
        evolve(build_step(account, level, str(outputs[level.kind][ID_OUTPUT]), "active"), key=f"activate_{level.kind}")
        for level in levels
    ]


def plan_activate(
    network: Network, build_step: StatusStep, account: Account, source: Plan, outputs: Mapping[str, Outputs]
) -> Flow[Plan]:
    """Plan the steps of :func:`build_activation_steps`."""
    steps = build_activation_steps(network, build_step, account, outputs)
    return (yield from completed_plan(network, account, "activate", *steps, risk="spend"))


def build_deletion_step(build_update_step: UpdateStep, account: Account, level: Level, entity: ParsedEntity) -> Step:
    """Build a step that deletes an entity by setting a status of ``Level.deletion_statuses``."""
    before = entity.native_status
    status = level.deletion_statuses.get(before or "") or level.deletion_statuses[""]
    does = f"Set the {level.label} {entity.id} to {status}, for good."
    step = build_update_step(account, level, entity.id, does, get_status_members(level, status))
    return evolve(step, action="delete", changes=(Change("status", before, status),))


# -- native payloads ----------------------------------------------------------------------------------------------


@frozen
class NativeCreate:
    """A native create that passed its checks. ``members`` are sent; they include the parent and a status."""

    members: dict[str, Json]
    parent_id: str | None
    is_active: bool

    @property
    def risk(self) -> Risk:
        """The risk of the plan: an entity that is created active can spend money."""
        return "spend" if self.is_active else "low"


def prepare_native_create(
    network: Network, level: Level, payload: Mapping[str, Json], parent_id: str | None, issues: Iterable[Issue] = ()
) -> NativeCreate:
    """Check a native create, and add its parent and, if the payload names no status, the initial status.

    Raises:
        InvalidInput: the ``issues`` of the adapter's own checks and the issues of these checks, all at once.
    """
    raise_if_issues(
        [
            *check_members(network, level, payload, level.payload.create),
            *check_status(network, level, payload, level.payload.create_statuses),
            *issues,
            *check_parent(network, level, payload, parent_id),
        ]
    )
    parent_id = find_parent_id(level, payload, parent_id)
    owner = {} if parent_id is None else {get_parent_member(level): parent_id}
    status = get_status_members(level, level.initial_status) if level.initial_status else {}
    members = {**status, **payload, **owner}
    return NativeCreate(members, parent_id, unify_status(level, read_native_status(level, members)) == "active")


def check_native_update(
    network: Network, level: Level, payload: Mapping[str, Json], parent_id: str | None
) -> Iterator[Issue]:
    """Yield what is wrong with a native payload that changes an entity."""
    yield from check_members(network, level, payload, level.payload.update)
    yield from check_status(network, level, payload, level.payload.update_statuses)
    yield from check_fixed_members(network, level, payload)
    if not payload:
        yield Issue("payload", "required", "There is nothing to change: name at least one member.")
    if parent_id is not None:
        yield from check_parent(network, level, payload, parent_id)


def plan_update(
    network: Network,
    build_update_step: UpdateStep,
    account: Account,
    kind: Kind,
    entity_id: str,
    payload: Mapping[str, Json],
    parent_id: str | None,
    issues: Iterable[Issue] = (),
) -> Flow[Plan]:
    """Plan one write that changes native members of one entity. Nothing is read.

    Raises:
        InvalidInput: the ``issues`` of the adapter's own checks and the issues of these checks, all at once.
    """
    level = get_level(network, kind)
    raise_if_issues([*check_native_update(network, level, payload, parent_id), *issues])
    does = describe_update(level, entity_id, payload)
    step = evolve(build_update_step(account, level, entity_id, does, payload), parent=parent_id)
    return (yield from completed_plan(network, account, "update", step, risk=assess_payload_risk(level, payload)))


def describe_update(level: Level, entity_id: str, names: Iterable[str]) -> str:
    """Describe a step that changes these members or fields."""
    return f"Change {', '.join(names)} of the {level.label} {entity_id}."


def assess_payload_risk(level: Level, payload: Mapping[str, Json]) -> Risk:
    """Return the risk of the status that a native update sets. The plan's exposure covers the risk of its amounts."""
    status = unify_status(level, read_native_status(level, payload))
    if status in REMOVED_STATUSES:
        return "destructive"
    return "spend" if status == "active" else "low"


def check_members(
    network: Network, level: Level, payload: Mapping[str, Json], accepted: Collection[str]
) -> Iterator[Issue]:
    """Yield an issue for each member that only the network writes, or that is not one of ``accepted``.

    If ``accepted`` is empty, the network decides about the other members.
    """
    for name in payload:
        path = f"payload.{name[:60]}"
        if name in level.payload.read_only:
            yield Issue(path, "read_only", f"{network.title} sets this member itself.")
        elif accepted and name not in accepted:
            message = f"{network.title} does not accept this member for the {level.label} here."
            if similar := get_close_matches(name[:60], accepted, 1):
                message += f" Did you mean {similar[0]}?"
            elif len(accepted) <= MAX_NAMED_MEMBERS:
                message += f" It accepts {', '.join(sorted(accepted))}."
            yield Issue(path, "not_supported", message)


def check_fixed_members(network: Network, level: Level, payload: Mapping[str, Json]) -> Iterator[Issue]:
    """Yield an issue for each member that no update changes, with the reason of its locked setting."""
    locks = {setting.native: setting.lock for setting in network.settings if setting.level == level.kind}
    for name in payload:
        if name in level.payload.fixed:
            lock = locks.get(f"/{name}")
            reason = lock if isinstance(lock, str) else f"it is fixed when the {level.label} is created"
            yield Issue(f"payload.{name}", "locked", f"{network.title}: {reason}.")


def check_status(
    network: Network, level: Level, payload: Mapping[str, Json], accepted: Sequence[str]
) -> Iterator[Issue]:
    """Yield an issue if the payload names a native status that is not one of ``accepted``.

    If ``accepted`` is empty, the values of ``Level.writable_statuses`` are accepted.
    """
    member = get_status_member(level)
    accepted = accepted or tuple(level.writable_statuses.values())
    if member and member in payload and payload[member] not in accepted:
        yield Issue(
            f"payload.{member}", "choice", f"{network.title} accepts these statuses here: {', '.join(accepted)}."
        )


# -- the steps of a create ----------------------------------------------------------------------------------------


def build_schedule(
    time: TimeFormat, brief: CampaignBrief, members: tuple[str, str] = ("start_time", "end_time")
) -> dict[str, Json]:
    """Return the members for the start of a brief and, if it has one, its end."""
    instants = zip(members, (brief.schedule.start, brief.schedule.end), strict=True)
    return {member: time.format(instant) for member, instant in instants if instant is not None}


@cache
def bind_parent(level: Level, entity: str = "/body") -> Binding:
    """Bind the ID of a parent that an earlier step creates. ``entity``: the pointer to the entity in the request."""
    return Binding(f"{entity}{level.parent}", level.parent_kind, ID_OUTPUT)


# -- parents ------------------------------------------------------------------------------------------------------


def get_parent_member(level: Level) -> str:
    """Return the member of a native payload that names the parent; empty if the level has no parent."""
    return level.parent.removeprefix("/")


def find_parent_id(level: Level, payload: Mapping[str, Json], parent_id: str | None) -> str | None:
    """Return the parent that ``parentId`` or the payload names; None if the level has no parent."""
    return parent_id or parse_id(payload.get(get_parent_member(level))) if level.parent else None


def check_parent(network: Network, level: Level, payload: Mapping[str, Json], parent_id: str | None) -> Iterator[Issue]:
    """Yield what is wrong with the parent that ``parentId`` and the payload name."""
    if not level.parent:
        if parent_id is not None:
            yield Issue("parentId", "not_supported", f"A {level.label} of {network.title} has no parent.")
        return
    member, parent = get_parent_member(level), get_level(network, level.parent_kind).label
    named = parse_id(payload.get(member))
    if named is None and payload.get(member) is not None:
        yield Issue(f"payload.{member}", "type", f"{member} is the ID of the {parent}.")
    elif named is None and parent_id is None:
        yield Issue("parentId", "required", f"Name the {parent} that the {level.label} belongs to.")
    elif None not in (named, parent_id) and named != parent_id:
        yield Issue("parentId", "conflict", f"payload.{member} names another {parent}; give only one of them.")


def check_same_id(payload: Mapping[str, Json], member: str, id_: str, source: str) -> Iterator[Issue]:
    """Yield an issue if a member of the payload differs from ``id_``.

    ``source`` describes in the message where that id comes from.
    """
    if member in payload and parse_id(payload[member]) != id_:
        yield Issue(f"payload.{member}", "conflict", f"{member} differs from {source}; leave it out.")


# -- edits --------------------------------------------------------------------------------------------------------

CheckConflicts = Callable[[Account, Kind, NativeEntity, Mapping[str, Json], Edit, datetime | None], Iterator[Issue]]
"""``check_conflicts`` of an adapter's ``settings.py``."""
MergePart = Callable[[Kind, NativeEntity, Edit], EditPart]
"""Returns the native members and the changes that one part of an edit (targeting, creative) makes to an entity."""


def merge_edit(
    network: Network,
    account: Account,
    kind: Kind,
    entity: NativeEntity,
    edit: Edit,
    now: datetime | None,
    check_conflicts: CheckConflicts,
    *,
    merge_targeting: MergePart | None = None,
    merge_creative: MergePart | None = None,
) -> tuple[dict[str, Json], list[Change]]:
    """Return the native members that one write sends for an edit, and every change.

    ``merge_targeting`` and ``merge_creative`` are called only if the edit has the part.

    Raises:
        InvalidInput: the issues of all parts at once.
    """

    def merge_fields() -> EditPart:
        result = apply_edit(network, account, kind, entity, edit, now)
        members = result.native_object
        raise_if_issues(check_conflicts(account, kind, entity, members, edit, now))
        return members, result.changes

    def merge_part(path: str, merge: MergePart) -> EditPart:
        if reason := find_closed_reason(get_level(network, kind), entity):
            raise invalid_input(path, "locked", f"{network.title}: {reason}.")
        return merge(kind, entity, edit)

    parts = [merge_fields]
    if merge_targeting is not None and edit.targeting:
        parts.append(partial(merge_part, "targeting", merge_targeting))
    if merge_creative is not None and edit.creative:
        parts.append(partial(merge_part, "creative", merge_creative))
    return merge_edit_parts(parts)


def build_edit_step(
    build_update_step: UpdateStep,
    account: Account,
    level: Level,
    entity_id: str,
    members: Mapping[str, Json],
    changes: Sequence[Change],
) -> Step:
    """Build the write of an edit, with its changes."""
    does = describe_update(level, entity_id, [change.field for change in changes])
    return evolve(build_update_step(account, level, entity_id, does, members), changes=tuple(changes))
