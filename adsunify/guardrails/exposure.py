"""Computes the exposure of a plan: the additional amount that can be spent after its execution.

The figures come from the SETTINGS tables and from entities that are read, never from texts. docs/guardrails.md, "What a
plan can spend", has the rules. An amount that cannot be computed is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

import attrs
from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit
from adsunify.adapter.hierarchy import ParsedEntity, fetch_listed_parent, get_last_part
from adsunify.adapter.lifecycle import find_parent_id, get_status_members
from adsunify.adapter.network import Level, NativeEntity, Network, get_level
from adsunify.adapter.protocols import Adapter
from adsunify.adapter.settings import BID_FIELDS, get_setting_pointer, list_settings
from adsunify.adapter.spend import (
    BUDGET_FIELDS,
    CAP_FIELDS,
    DATE_FIELDS,
    EntityBudget,
    SpendSettings,
    apply_changes,
    compute_spend,
    count_days,
    find_common_run,
    find_widest_run,
    is_cap_lifted,
    parse_major_amount,
    read_spend_settings,
)
from adsunify.errors import (
    InvalidInput,
    LookupNeeded,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.guardrails.bids import (
    BidChange,
    BidChanges,
    compare_edited_bids,
    compare_native_bids,
    list_bid_settings,
    read_bids,
)
from adsunify.guardrails.children import ChildReader
from adsunify.guardrails.guards import STATUS_FIELD, list_budget_changes, list_named_guards
from adsunify.guardrails.payloads import (
    find_edited_status,
    find_payload_status,
    find_status,
    get_path,
    is_neutral,
    lay_over,
    list_leaves,
    list_status_pointers,
    may_activate,
    place_payload,
)
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.exposure import CHILDREN_FIELDS, NO_SPEND, UNKNOWN_SPEND, Amount, Exposure, Guard, Spend
from adsunify.plans.records import Kind, Plan, to_kind
from adsunify.values.exact_json import Json

CURRENCY_MEMBERS = ("currency", "currencyCode")
"""Members of an amount that name its currency."""


# -- briefs -------------------------------------------------------------------------------------------------------


def compute_brief_exposure(account: Account, brief: CampaignBrief, now: datetime | None) -> Exposure:
    """Return the exposure of a create from a brief. Its entities are paused, so only ``planned`` is above 0."""
    budget = EntityBudget(brief.budget.period, parse_major_amount(brief.budget.amount))
    settings = SpendSettings({"budget": budget}, start=brief.schedule.start, end=brief.schedule.end)
    planned = compute_spend(settings, account.timezone, now)
    bid = None if brief.bid is None else parse_major_amount(brief.bid)
    return finish_exposure(Exposure(account.currency, planned=planned, highest_bid=bid))


def finish_exposure(exposure: Exposure) -> Exposure:
    """Return the exposure; without the account's currency its amounts are unknown."""
    if exposure.currency is not None:
        return exposure
    spend, planned = (
        NO_SPEND if amount == NO_SPEND else UNKNOWN_SPEND for amount in (exposure.exposure, exposure.planned)
    )
    bid: Amount | None = None if exposure.highest_bid is None else "unknown"
    return Exposure(None, spend, planned, bid, activates=exposure.activates)


# -- plans --------------------------------------------------------------------------------------------------------


@frozen
class Holder:
    """An entity whose budgets count. ``settings`` has the start and the end that apply to them."""

    kind: Kind
    entity_id: str
    settings: SpendSettings


@frozen
class ExposureReader:
    """Flows that read what the exposure of a plan needs, for one account. A reader serves one plan.

    If a read fails, the result is an unknown exposure and no error, unless the network throttles or refuses the token.
    ``settings_by_entity`` has the settings of each entity that was read, by kind and id. ``children_guards`` has the
    numbers of children of entities whose children decide how much they can spend.
    """

    child_reader: ChildReader
    now: datetime | None
    settings_by_entity: dict[tuple[str, str], SpendSettings] = attrs.field(factory=dict, init=False, eq=False)
    children_guards: dict[Guard, None] = attrs.field(factory=dict, init=False, eq=False)

    @property
    def adapter(self) -> Adapter:
        """The adapter of the account's network."""
        return self.child_reader.adapter

    @property
    def account(self) -> Account:
        """The account."""
        return self.child_reader.account

    @property
    def network(self) -> Network:
        """The tables of the network."""
        return self.adapter.network

    def fetch_activation(self, kind: Kind, entity_id: str, *, is_status_guarded: bool = False) -> Flow[Exposure]:
        """Compute the exposure of setting an entity to active: the full budget that it can spend afterwards.

        This is its own budget, else the budget of its nearest ancestor with one, else the budgets of all its
        descendants.
        ``is_status_guarded``: the present status must be the same when the plan is executed.
        """
        unknown = Exposure(self.account.currency, UNKNOWN_SPEND, activates=True)
        compute = partial(self._fetch_activation, kind, entity_id, is_status_guarded)
        return (yield from self._catch_failed_reads(compute, unknown))

    def fetch_edit(self, kind: Kind, entity_id: str, edit: Edit, plan: Plan) -> Flow[Exposure]:
        """Compute the exposure of an edit: the additional amount that the new budgets and the new end allow."""
        level, settings = get_level(self.network, kind), list_settings(self.network, kind)
        status = find_edited_status(level, settings, edit.fields)
        unknown = self._make_unknown(status)
        compute = partial(self._fetch_edit, kind, entity_id, edit, plan, status)
        return (yield from self._catch_failed_reads(compute, unknown))

    def fetch_update(self, kind: Kind, entity_id: str, payload: Mapping[str, Json]) -> Flow[Exposure]:
        """Compute the exposure of a native update, as for an edit. An active status counts as an activation."""
        unknown = self._make_unknown(find_payload_status(get_level(self.network, kind), payload))
        return (yield from self._catch_failed_reads(partial(self._fetch_update, kind, entity_id, payload), unknown))

    def fetch_native_create(self, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Exposure]:
        """Compute the exposure of a native create: 0 for a paused entity, else as for an activation."""
        level = get_level(self.network, kind)
        members = {**(get_status_members(level, level.initial_status) if level.initial_status else {}), **payload}
        native = place_payload(level, members, True)
        unknown = evolve(self._make_unknown(find_status(level, native)), planned=UNKNOWN_SPEND)
        compute = partial(self._fetch_native_create, kind, payload, native, parent_id)
        return (yield from self._catch_failed_reads(compute, unknown))

    def find_entity(self, kind: Kind, entity_id: str) -> Flow[ParsedEntity | None]:
        """Read an entity; None if the read fails."""
        try:
            return (yield from self._fetch_entity(kind, entity_id))
        except (ProviderThrottled, TokenRefused):
            raise
        except (ProviderError, LookupNeeded, InvalidInput):
            return None

    # -- actions --------------------------------------------------------------------------------------------------

    def _make_unknown(self, status: str | None) -> Exposure:
        """Make the exposure of a change to this unified status whose amounts cannot be computed."""
        return Exposure(self.account.currency, UNKNOWN_SPEND, highest_bid="unknown", activates=may_activate(status))

    def _catch_failed_reads(self, compute: Callable[[], Flow[Exposure]], unknown: Exposure) -> Flow[Exposure]:
        """Return the computed exposure, or ``unknown`` if a read fails. ``activates`` is as in ``unknown``."""
        try:
            exposure = yield from compute()
            return finish_exposure(evolve(exposure, activates=unknown.activates))
        except (ProviderThrottled, TokenRefused):
            raise
        except (ProviderError, LookupNeeded, InvalidInput):
            return unknown

    def _fetch_activation(self, kind: Kind, entity_id: str, is_status_guarded: bool) -> Flow[Exposure]:
        entity = yield from self._fetch_entity(kind, entity_id)
        holders = yield from self._fetch_holders(entity, self._read(entity))
        status = (Guard(kind, entity.id, STATUS_FIELD, entity.status),) if is_status_guarded else ()
        return Exposure(self.account.currency, self._add_up(holders), guards=(*status, *self._list_guards()))

    def _fetch_edit(self, kind: Kind, entity_id: str, edit: Edit, plan: Plan, status: str | None) -> Flow[Exposure]:
        entity = yield from self._fetch_entity(kind, entity_id)
        level = get_level(self.network, kind)
        before = self._read(entity)
        changes = [change for step in plan.steps for change in step.changes]
        is_known = status != "unknown"
        choices: dict[str, Json] = {}
        named: list[str] = []
        for setting in list_settings(self.network, kind):
            if setting.field not in edit.fields:
                continue
            named.append(setting.field)
            pointer = get_setting_pointer(setting, entity.native)
            if pointer in list_status_pointers(level):
                continue
            if get_path(level, pointer) in level.payload.bidding:
                choices[get_path(level, pointer)] = edit.fields[setting.field]
            elif setting.field not in (*BUDGET_FIELDS, *CAP_FIELDS, *DATE_FIELDS, *BID_FIELDS):
                is_known = is_known and is_neutral(level, pointer)
        after = apply_changes(before, changes)
        present = read_bids(self.network, self.account, kind, entity.native)
        bids = compare_edited_bids(level, present, changes, choices)
        return (yield from self._compare(entity, before, after, named, bids, is_known, status == "active"))

    def _fetch_update(self, kind: Kind, entity_id: str, payload: Mapping[str, Json]) -> Flow[Exposure]:
        level = get_level(self.network, kind)
        placed = place_payload(level, payload, False)
        leaves = list(list_leaves(placed))
        # A neutral member may be the period of a budget, so an entity that can have budgets is read in any case.
        has_budgets = any(setting.field in BUDGET_FIELDS for setting in list_settings(self.network, kind))
        if not has_budgets and all(is_neutral(level, pointer, value) for pointer, value in leaves):
            return Exposure(self.account.currency)
        entity = yield from self._fetch_entity(kind, entity_id)
        native = lay_over(level, entity.native, placed)
        before, after = self._read(entity), read_spend_settings(self.network, self.account, kind, native)
        pointers = {pointer for pointer, _ in leaves}
        bids = compare_native_bids(self.network, self.account, level, entity.native, native, pointers)
        status = find_status(level, native) if find_payload_status(level, payload) else None
        is_known = status != "unknown" and self._is_covered(level, native, after, leaves)
        named = [
            setting.field
            for setting in list_settings(self.network, kind)
            if get_setting_pointer(setting, native) in pointers
        ]
        return (yield from self._compare(entity, before, after, named, bids, is_known, status == "active"))

    def _fetch_native_create(
        self, kind: Kind, payload: Mapping[str, Json], native: NativeEntity, parent_id: str | None
    ) -> Flow[Exposure]:
        level = get_level(self.network, kind)
        leaves = list(list_leaves(place_payload(level, payload, True)))
        after = read_spend_settings(self.network, self.account, kind, native)
        bids = tuple(
            BidChange(name, None, amount)
            for name, amount in read_bids(self.network, self.account, kind, native).items()
            if amount is not None
        )
        parent = find_parent_id(level, payload, parent_id)
        parent = None if parent is None else get_last_part(parent)
        entity = ParsedEntity(kind, "", parent, None, None, None, native)
        is_active = may_activate(find_status(level, native))
        names = {get_path(level, pointer) for pointer, _ in leaves} & set(level.payload.budget_names)
        others = [(pointer, value) for pointer, value in leaves if get_path(level, pointer) not in names]
        if not self._is_covered(level, native, after, others, self._list_parent_pointers(kind)):
            return Exposure(self.account.currency, UNKNOWN_SPEND, UNKNOWN_SPEND, "unknown")
        bid = BidChanges(bids).highest
        if names:  # a paused entity spends nothing, even with a budget
            return Exposure(self.account.currency, UNKNOWN_SPEND if is_active else NO_SPEND, UNKNOWN_SPEND, bid)
        holders = (
            yield from self._fetch_holders(entity, after) if is_active or after.has_budget else _return_no_holders()
        )
        total = self._add_up(holders)
        exposure = Exposure(self.account.currency, planned=total if after.has_budget else NO_SPEND, highest_bid=bid)
        if is_active:
            exposure = evolve(exposure, exposure=total, guards=self._list_guards())
        return exposure

    def _compare(
        self,
        entity: ParsedEntity,
        before: SpendSettings,
        after: SpendSettings,
        named: Iterable[str],
        bids: BidChanges,
        is_known: bool,
        is_active: bool,
    ) -> Flow[Exposure]:
        """Return the exposure of a change of an entity. ``named``: the settings that the change names."""
        exposure = Exposure(
            self.account.currency,
            highest_bid=bids.highest,
            budgets=tuple(list_budget_changes(entity, before, after)),
        )
        values = dict(after.list_values())
        if not is_known:
            exposure = evolve(exposure, exposure=UNKNOWN_SPEND, highest_bid="unknown")
        elif any(values.get(name) == "unknown" for name in named):
            exposure = evolve(exposure, exposure=UNKNOWN_SPEND)
        else:
            exposure = evolve(exposure, exposure=(yield from self._fetch_added(entity, before, after, is_active)))
        own = (*list_named_guards(entity, before, after, named), *bids.list_guards(entity.kind, entity.id))
        if exposure.exposure == NO_SPEND and not is_active and after.only_reduces(before):
            # guarded: if somebody lowers the budget first, the change would raise it
            return evolve(exposure, guards=own, reduces=bids.highest is None)
        places = {(guard.kind, guard.entity_id, guard.field) for guard in own}
        others = (guard for guard in self._list_guards() if (guard.kind, guard.entity_id, guard.field) not in places)
        return evolve(exposure, guards=(*own, *others))

    def _fetch_added(
        self, entity: ParsedEntity, before: SpendSettings, after: SpendSettings, is_active: bool
    ) -> Flow[Spend]:
        """Return the additional amount that an entity can spend after a change."""
        if not is_active and after.only_reduces(before):  # so a failed read stops no decrease
            return NO_SPEND
        if is_cap_lifted(before, after) or (before.has_budget and not after.has_budget):
            return UNKNOWN_SPEND
        if is_active:
            return self._add_up((yield from self._fetch_holders(entity, after)))
        holders_after = yield from self._fetch_holders(entity, after)
        if after.has_budget and not before.has_budget:
            return self._add_up(holders_after)
        holders_before = yield from self._fetch_holders(entity, before)
        if not all(map(self._is_over, holders_after or ())):  # an ended entity spends nothing before it starts again
            holders_before = holders_before and tuple(holder for holder in holders_before if not self._is_over(holder))
        return self._add_up(holders_after) - self._add_up(holders_before)

    # -- entities -------------------------------------------------------------------------------------------------

    def _read(self, entity: ParsedEntity) -> SpendSettings:
        settings = read_spend_settings(self.network, self.account, to_kind(entity.kind), entity.native)
        self.settings_by_entity[entity.kind, entity.id] = settings
        return settings

    def _list_guards(self) -> tuple[Guard, ...]:
        """Return a guard for each value of all entities that were read, and for the numbers of their children."""
        values = (
            Guard(kind, entity_id, name, value)
            for (kind, entity_id), settings in self.settings_by_entity.items()
            for name, value in settings.list_values()
        )
        return (*values, *self.children_guards)

    def _fetch_entity(self, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
        return (yield from self.adapter.reads.fetch_editable_entity(self.account, kind, entity_id))

    def _add_up(self, holders: Sequence[Holder] | None) -> Spend:
        if holders is None:
            return UNKNOWN_SPEND
        return sum((compute_spend(holder.settings, self.account.timezone, self.now) for holder in holders), NO_SPEND)

    def _is_over(self, holder: Holder) -> bool:
        """Whether the entity has ended."""
        return count_days(holder.settings.start, holder.settings.end, self.account.timezone, self.now) == 0

    def _fetch_holders(self, entity: ParsedEntity, settings: SpendSettings) -> Flow[tuple[Holder, ...] | None]:
        """Return the entities whose budgets the entity can spend; None if they are not known.

        An entity without an ID is a new one: it has no descendants.
        """
        line = [settings]
        ancestor = entity
        while not line[-1].has_budget and self._has_setting_above(ancestor.kind, "budget"):
            ancestor = yield from self._fetch_parent(ancestor)
            line.append(self._read(ancestor))
        if line[-1].has_budget:
            run = find_common_run(line, self.account.timezone)
            if run.end is None and run.has_daily_budget:
                run = yield from self._fetch_run(ancestor, run, ancestor is entity)
            return (Holder(to_kind(ancestor.kind), ancestor.id, run),)
        below = self._find_kind_below(entity.kind, "budget")
        if below is None:
            return None
        children = (yield from self._fetch_children(entity, below)) if entity.id else ()
        children_settings = [(child, self._read(child)) for child in children or ()]
        if entity.id and not children_settings:  # too many, or the list does not show a new entity yet
            return None
        if not all(own.has_budget for _, own in children_settings):
            return None
        return tuple(
            Holder(to_kind(child.kind), child.id, find_common_run([settings, own], self.account.timezone))
            for child, own in children_settings
        )

    def _fetch_run(self, entity: ParsedEntity, settings: SpendSettings, is_whole: bool) -> Flow[SpendSettings]:
        """Return the settings of a daily budget without an end, with the end of the nearest other level that has one.

        The entities above all apply. The entities below spend the budget, and any of them may end last. They count if
        the change concerns all of them (``is_whole``).
        """
        ancestor = entity
        while settings.end is None and self._has_setting_above(ancestor.kind, "endAt"):
            ancestor = yield from self._fetch_parent(ancestor)
            settings = evolve(settings, end=self._read(ancestor).end)
        below = self._find_kind_below(entity.kind, "endAt")
        if settings.end is not None or below is None or not entity.id or not is_whole:
            return settings
        children = [self._read(child) for child in (yield from self._fetch_children(entity, below)) or ()]
        return find_widest_run(settings, children, self.account.timezone)

    def _fetch_parent(self, entity: ParsedEntity) -> Flow[ParsedEntity]:
        """Read the parent of an entity. Some networks name it in lists only."""
        parent_id = entity.parent_id
        if parent_id is None and entity.id:
            list_entities = partial(self.adapter.reads.list_entities, self.account)
            parent_id = yield from fetch_listed_parent(list_entities, entity.kind, entity.id)
        if parent_id is None:
            raise ProviderUnreadable(f"{self.network.title} does not name the parent of the {entity.kind}.")
        return (yield from self._fetch_entity(to_kind(get_level(self.network, entity.kind).parent_kind), parent_id))

    def _list_parent_pointers(self, kind: str) -> list[str]:
        """Return where an entity of this kind names the entities above it."""
        level = get_level(self.network, kind)
        return [level.parent, *self._list_parent_pointers(level.parent_kind)] if level.parent_kind else []

    def _has_setting_above(self, kind: str, field: str) -> bool:
        above = get_level(self.network, kind).parent_kind
        return bool(above) and (self._has_setting(above, field) or self._has_setting_above(above, field))

    def _has_setting(self, kind: str, field: str) -> bool:
        return any(
            setting.level == kind and setting.field == field and not isinstance(setting.lock, str)
            for setting in self.network.settings
        )

    def _find_kind_below(self, kind: str, field: str) -> str | None:
        """Return the kind of the level below that has this setting; None if it has none."""
        levels = [level for level in self.network.levels if level.parent_kind == kind]
        kinds = [level.kind for level in levels if level.kind in CHILDREN_FIELDS]
        return next((below for below in kinds if self._has_setting(below, field)), None)

    def _fetch_children(self, entity: ParsedEntity, kind: str) -> Flow[tuple[ParsedEntity, ...] | None]:
        """Return the entities of a kind below ``entity``, and guard their number; None if they are not all known."""
        children = yield from self.child_reader.fetch_children(entity, kind)
        if children.entities is not None:
            self.children_guards[Guard(entity.kind, entity.id, CHILDREN_FIELDS[kind], children.number)] = None
        return children.entities

    # -- payloads -------------------------------------------------------------------------------------------------

    def _is_covered(
        self,
        level: Level,
        native: NativeEntity,
        after: SpendSettings,
        leaves: Iterable[tuple[str, Json]],
        others: Iterable[str] = (),
    ) -> bool:
        """Whether each value of a payload is covered by a setting or does not change how much may be spent.

        ``others``: pointers of further values that do not change it.
        """
        bids = {get_setting_pointer(setting, native) for setting in list_bid_settings(self.network, level.kind)}
        computed = {*others, *bids, *list_status_pointers(level)}
        for setting in list_settings(self.network, to_kind(level.kind)):
            budget = after.budgets.get(setting.field)
            is_counted = budget is not None and budget.amount is not None
            if is_counted or setting.field in after.caps or setting.field in DATE_FIELDS:
                computed.add(get_setting_pointer(setting, native))
        return all(
            pointer in computed
            or get_path(level, pointer) in level.payload.bidding
            or is_neutral(level, pointer, value)
            or (pointer.rpartition("/")[2] in CURRENCY_MEMBERS and value == self.account.currency)
            or (value == {} and any(bid.startswith(f"{pointer}/") for bid in bids))
            for pointer, value in leaves
        )


def _return_no_holders() -> Flow[tuple[Holder, ...] | None]:
    yield from ()
    return ()
