"""Lies about a network: functions that change one fact in the responses of a simulated network."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from attrs import define, frozen

NAME = "Proof of a lie"
"""The beginning of the names of all entities of a proof."""
MONEY_MEMBERS = frozenset(
    """
    amount amountMicros bid bid_amount bid_amount_local_micro bid_in_micro_currency bid_micro bid_price bid_value budget
    cpc cpcBidMicros daily_budget daily_budget_amount_local_micro daily_budget_micro daily_spend_cap defaultBid
    goal_value lifetime_spend_limit_micros max_bid_micros
    """.split()  # noqa: SIM905 - a table of words
)
STATUS_MEMBERS = frozenset(
    "status state entity_status operation_status configured_status intendedStatus".split()  # noqa: SIM905
)
ACTIVE = {"PAUSED": "ACTIVE", "paused": "active", "DISABLE": "ENABLE"}
ENABLED_NETWORKS = ("google", "amazon", "apple")
CURRENCY_MEMBERS = frozenset(["currency", "currencyCode", "currency_code"])
TIMEZONE_MEMBERS = frozenset(["display_timezone", "timezone", "timezone_name", "time_zone", "timeZone", "time_zone_id"])
START_MEMBER = re.compile(r"start", re.I)
ID_MEMBER = re.compile(r"(^|_)ids?$|[a-z]Id$|resourceName$")
OWN_ID_MEMBERS = ("id", "ad_id", "adgroup_id", "campaign_id", "adId", "adGroupId", "campaignId")
READING = "Reading the account"
CREATING = "Creating a paused campaign"
EDITING = "Reading and editing it"
REFUSING = "Sending a request that must be refused"
UNDOING = "Undoing the creation"
CLEANING = "Deleting what was created"
PHASES = (READING, CREATING, EDITING, REFUSING, UNDOING, CLEANING)


@frozen
class Answer:
    """A response of the network: what was requested, and what it answers."""

    network: str
    method: str
    path: str
    is_write: bool
    status: int
    headers: Mapping[str, str]
    body: Any


@define
class Lie:
    """One lie. ``changes`` counts what it changed: a lie that changed nothing told nothing.

    ``spared``: so many changes are not made at first, so that the lie begins in the middle.
    ``change(lie, answer, value, name)`` returns a member with another value, or the same; ``whole(lie, answer)``
    returns another answer. ``since``: the phase in which the lie begins.
    """

    name: str
    since: str
    change: Callable[[Lie, Answer, Any, str], Any] | None = None
    whole: Callable[[Lie, Answer], Answer | None] | None = None
    writes_only: bool = False
    reads_only: bool = False
    is_stale: bool = False
    may_begin_late: bool = False
    spared: int = 0
    changes: int = 0

    def tell(self, answer: Answer) -> Answer:
        """Return the answer with the lie in it."""
        if (self.writes_only and not answer.is_write) or (self.reads_only and answer.is_write):
            return answer
        if self.whole is not None:
            other = self.whole(self, answer)
            self.changes += other is not None
            return answer if other is None else other
        if self.change is None:
            return answer
        return Answer(
            answer.network,
            answer.method,
            answer.path,
            answer.is_write,
            answer.status,
            answer.headers,
            self._walk(answer, answer.body, ""),
        )

    def _walk(self, answer: Answer, value: Any, name: str) -> Any:
        assert self.change is not None
        changed = self.change(self, answer, value, name)
        if changed is not value and self.spared > 0:
            self.spared -= 1
        elif changed is not value:
            self.changes += 1
            return changed
        if isinstance(value, Mapping):
            return {key: self._walk(answer, member, key) for key, member in value.items()}
        return [self._walk(answer, entry, name) for entry in value] if isinstance(value, list) else value


# -- members ------------------------------------------------------------------------------------------------------


def to_number(value: Any) -> Decimal | None:
    """The number in a value, also in a text of digits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    text = str(value)
    return Decimal(text) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else None


def like(value: Any, number: Decimal) -> Any:
    """The number in the form of the value."""
    plain = number.normalize()
    whole = int(plain) if plain == plain.to_integral_value() else plain
    return format(Decimal(whole), "f") if isinstance(value, str) else whole


def scale_money(factor: str) -> Callable[[Lie, Answer, Any, str], Any]:
    def change(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
        number = to_number(value) if name in MONEY_MEMBERS else None
        return value if not number else like(value, number * Decimal(factor))

    return change


def show_active(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    if name == "enabled" and answer.network == "outbrain" and value is False:
        return True
    if name not in STATUS_MEMBERS or value not in ACTIVE:
        return value
    return "ENABLED" if answer.network in ENABLED_NETWORKS else ACTIVE[value]


def change_name(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    return value[:-1] if isinstance(value, str) and value.startswith(NAME) else value


def drop_name(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    remaining = {
        key: member for key, member in value.items() if not (isinstance(member, str) and member.startswith(NAME))
    }
    return value if len(remaining) == len(value) else remaining


def move_start(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    if START_MEMBER.search(name) is None:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value > 10**9:
        return value + 86400 * (1000 if value > 10**11 else 1)
    if isinstance(value, str) and (match := re.match(r"(\d{4})-?(\d{2})-?(\d{2})", value)):
        day = datetime(*map(int, match.groups())) + timedelta(days=1)  # type: ignore[arg-type]
        form = "%Y-%m-%d" if "-" in value[:10] else "%Y%m%d"
        return day.strftime(form) + value[match.end() :]
    return value


def other_currency(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    return "EUR" if name in CURRENCY_MEMBERS and value == "USD" else value


def other_timezone(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    if name not in TIMEZONE_MEMBERS or not isinstance(value, str) or value == "Pacific/Auckland":
        return value
    return "Pacific/Auckland"


def rename_ids(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    if isinstance(value, Mapping) and any(ID_MEMBER.search(key) for key in value):
        return _rename(value)
    return value


def _rename(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {f"{key}_v2" if ID_MEMBER.search(key) else key: _rename(member) for key, member in value.items()}
    return [_rename(member) for member in value] if isinstance(value, list) else value


def other_id(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    """Another id in the objects of the proof."""
    if not isinstance(value, Mapping) or not any(_is_own_name(member) for member in value.values()):
        return value
    keys = [key for key in OWN_ID_MEMBERS if key in value][:1]
    return {**value, **{key: _other_digits(value[key]) for key in keys}} if keys else value


def _other_digits(value: Any) -> Any:
    text = re.sub(r"[0-9]$", lambda digit: str((int(digit[0]) + 1) % 10), str(value))
    return text if isinstance(value, str) else int(text)


def round_edit(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    """The budget of the edit, 31 or 901, is shown as 30 or 900."""
    number = to_number(value) if name in MONEY_MEMBERS else None
    for before, after in ((31, 30), (901, 900)):
        if (number and number % before == 0) or (number and number / before in (Decimal(1), Decimal("0.01"))):
            return like(value, number * after / before)
    return value


# -- lists --------------------------------------------------------------------------------------------------------


def repeat_row(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    """A list of objects has its first row twice."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping) and _has_id(value[0]):
        return [*value, value[0]]
    return value


def _has_id(row: Mapping[str, Any], depth: int = 0) -> bool:
    return any(ID_MEMBER.search(key) for key in row) or (
        depth < 1 and any(isinstance(member, Mapping) and _has_id(member, depth + 1) for member in row.values())
    )


def drop_row(lie: Lie, answer: Answer, value: Any, name: str) -> Any:
    """A list lacks the new entity."""
    if not isinstance(value, list):
        return value
    remaining = [row for row in value if not _has_own_name(row)]
    return value if len(remaining) == len(value) else remaining


def _has_own_name(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_own_name(member) for member in value.values())
    if isinstance(value, list):
        return any(_has_own_name(member) for member in value)
    return _is_own_name(value)


def _is_own_name(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(NAME)


# -- whole answers ------------------------------------------------------------------------------------------------


def move_ids(lie: Lie, answer: Answer) -> Answer | None:
    """The response to a write is one object deeper, and ids in headers have other names."""
    headers = {
        f"{key}-v2" if key.lower() in ("x-restli-id", "x-linkedin-id") else key: header
        for key, header in answer.headers.items()
    }
    if headers == dict(answer.headers) and not isinstance(answer.body, Mapping | list):
        return None
    return _with(answer, body={"wrapped": answer.body}, headers=headers)


def move_error(lie: Lie, answer: Answer) -> Answer | None:
    if not _is_error(answer):
        return None
    return _with(answer, body={"problem": {"detail": [answer.body]}})


def text_error(lie: Lie, answer: Answer) -> Answer | None:
    return _with(answer, body="<html>Bad Request</html>") if _is_error(answer) else None


def _is_error(answer: Answer) -> bool:
    """Whether the answer is a refusal of a request, as this network says it."""
    text = str(answer.body)
    if answer.network == "tiktok":
        return isinstance(answer.body, Mapping) and answer.body.get("code") not in (0, None)
    if answer.network == "snapchat":
        return "request_status': 'ERROR" in text
    if answer.network == "amazon" and answer.status == 207:
        return "'error': [{" in text
    return answer.status in (400, 422)


def _with(answer: Answer, **changes: Any) -> Answer:
    members = {name: getattr(answer, name) for name in Answer.__slots__ if not name.startswith("__")}
    return Answer(**{**members, **changes})


# -- the lies -----------------------------------------------------------------------------------------------------


def _lie_in_reads(kind: str, change: Callable[[Lie, Answer, Any, str], Any], *, may_begin_late: bool = False) -> Lie:
    """A lie in what reads show after the creation."""
    return Lie(kind, CREATING, change, reads_only=True, may_begin_late=may_begin_late)


LIES: Mapping[str, Callable[[], Lie]] = {
    "amounts are 100 times as large": lambda: _lie_in_reads("unit", scale_money("100"), may_begin_late=True),
    "amounts are 1,000 times as large": lambda: _lie_in_reads("unit", scale_money("1000"), may_begin_late=True),
    "amounts are a tenth": lambda: _lie_in_reads("unit", scale_money("0.1"), may_begin_late=True),
    "ids are one object deeper": lambda: Lie("id path", CREATING, whole=move_ids, writes_only=True),
    "ids have another name": lambda: _lie_in_reads("id path", rename_ids),
    "a read shows another entity": lambda: _lie_in_reads("id path", other_id),
    "a new entity is active": lambda: _lie_in_reads("default status", show_active, may_begin_late=True),
    "the name is cut": lambda: _lie_in_reads("member", change_name, may_begin_late=True),
    "the name is not shown": lambda: _lie_in_reads("member", drop_name, may_begin_late=True),
    "the start is a day later": lambda: _lie_in_reads("member", move_start, may_begin_late=True),
    "an error is elsewhere": lambda: Lie("error shape", REFUSING, whole=move_error),
    "an error is a page": lambda: Lie("error shape", REFUSING, whole=text_error),
    "a list repeats a row": lambda: Lie("pages", READING, repeat_row, reads_only=True),
    "a list lacks a row": lambda: _lie_in_reads("pages", drop_row),
    "the account has another currency": lambda: Lie("account", READING, other_currency),
    "the account has another time zone": lambda: Lie("account", READING, other_timezone),
    "an edit changes nothing": lambda: Lie("edit", EDITING, is_stale=True),
    "an edit is rounded": lambda: Lie("edit", EDITING, round_edit, reads_only=True),
    "a deletion deletes nothing": lambda: Lie("deletion", UNDOING, is_stale=True),
}


def choose_lies(network: str, seed: int) -> list[Lie]:
    """The lies in an order that the seed decides: the first one that changes something is used.

    The seeds of a network go round the lies, so that each of them is used.
    """
    names = sorted(LIES)
    Random(network).shuffle(names)
    start = seed % len(names)
    lies = [LIES[name]() for name in [*names[start:], *names[:start]]]
    for lie, name in zip(lies, [*names[start:], *names[:start]], strict=True):
        lie.name = name
        lie.spared = Random(f"{network} {seed}").choice((0, 0, 1)) if lie.may_begin_late else 0
    return lies
