"""Finds the highest bid that a change sets or raises, and whether the change leaves bids without a limit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.network import Level, NativeEntity, Network, Setting
from adsunify.adapter.settings import BID_FIELDS, get_setting_pointer
from adsunify.adapter.spend import find_highest_amount, is_at_most, parse_major_amount, read_amount
from adsunify.plans.exposure import Amount, Guard
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from .payloads import get_pointer


@frozen
class BidChange:
    """A bid before and after a change that names it. None means no bid."""

    field: str
    before: Amount | None
    after: Amount | None

    @property
    def is_raise(self) -> bool:
        """Whether the bid is set or rises."""
        return self.after is not None and not is_at_most(self.after, self.before)


@frozen
class BidChanges:
    """The effect of a change on the bids of an entity.

    Attributes:
        bids: the bids that the change sets, raises, lowers or removes.
        is_unlimited: whether the change selects a bid strategy under which no known bid is a limit.
    """

    bids: tuple[BidChange, ...] = ()
    is_unlimited: bool = False

    @property
    def highest(self) -> Amount | None:
        """The highest bid that is set or rises; None without such bids; ``unknown`` if no bid remains as a limit."""
        is_removed = bool(self.bids) and all(bid.after is None for bid in self.bids)
        if self.is_unlimited or is_removed:
            return "unknown"
        return find_highest_amount(bid.after for bid in self.bids if bid.after is not None and bid.is_raise)

    def list_guards(self, kind: str, entity_id: str) -> tuple[Guard, ...]:
        """Return a guard for each bid that does not rise.

        If somebody lowers the bid first, the change would raise it.
        """
        return tuple(
            Guard(kind, entity_id, bid.field, bid.before, bid.after)
            for bid in self.bids
            if isinstance(bid.after, int) and not bid.is_raise
        )


def list_bid_settings(network: Network, kind: str) -> Iterator[Setting]:
    """Yield the settings of a level that hold bids."""
    for setting in network.settings:
        if setting.level == kind and setting.field in BID_FIELDS and setting.unit == "money":
            yield setting


def read_bids(network: Network, account: Account, kind: str, native: NativeEntity) -> dict[str, Amount | None]:
    """Read the bids of an entity by field."""
    return {
        setting.field: read_amount(network, account, setting, native) for setting in list_bid_settings(network, kind)
    }


def compare_edited_bids(
    level: Level, before: Mapping[str, Amount | None], changes: Iterable[Change], choices: Mapping[str, Json]
) -> BidChanges:
    """Return the effect of an edit on bids.

    Args:
        level: the level of the entity.
        before: the bids of the entity by field.
        changes: the changes of the plan. They name the bids that a new strategy drops.
        choices: the members of ``PayloadRules.bidding`` that the edit sets.
    """
    bids = {
        change.field: BidChange(change.field, _parse_bid(change.before), _parse_bid(change.after))
        for change in changes
        if change.field in BID_FIELDS
    }
    if choices and all(value in level.payload.bidding[member] for member, value in choices.items()):
        bids = {**_list_set_bids(before), **bids}
        return BidChanges(tuple(bids.values()))
    is_set = any(bid.after is not None for bid in bids.values())
    return BidChanges(tuple(bids.values()), is_unlimited=bool(choices) and not is_set)


def compare_native_bids(
    network: Network,
    account: Account,
    level: Level,
    before: NativeEntity,
    after: NativeEntity,
    pointers: Collection[str],
) -> BidChanges:
    """Return the effect of a native update on bids. ``pointers``: the places of the values that it sets."""
    old, new = (read_bids(network, account, level.kind, native) for native in (before, after))
    places = {setting.field: get_setting_pointer(setting, after) for setting in list_bid_settings(network, level.kind)}
    bids = {
        name: BidChange(name, old[name], new[name])
        for name, pointer in places.items()
        if pointer in pointers or old[name] != new[name]
    }
    for member, limiting in level.payload.bidding.items():
        place = get_pointer(level, member)
        present, value = get_value(before, place), get_value(after, place)
        if isinstance(value, Mapping):  # the object of a strategy, which limits bids if it has a bid
            is_changed = present is None
            is_limited = any(
                new[name] is not None for name, pointer in places.items() if pointer.startswith(f"{place}/")
            )
        else:
            is_changed, is_limited = present != value, value in limiting
            if is_changed and is_limited:
                bids = _list_set_bids(new)
        if is_changed and not is_limited:
            return BidChanges(tuple(bids.values()), is_unlimited=True)
    return BidChanges(tuple(bids.values()))


def _list_set_bids(bids: Mapping[str, Amount | None]) -> dict[str, BidChange]:
    """Return the bids as newly set, because existing bids of an entity become a limit under its new strategy."""
    return {name: BidChange(name, None, amount) for name, amount in bids.items() if amount is not None}


def _parse_bid(value: Json) -> Amount | None:
    return None if value is None else parse_major_amount(str(value))
