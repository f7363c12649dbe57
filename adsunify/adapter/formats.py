"""The records of a network's unified formats: what a network does with each member of a brief."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.errors import Issue
from adsunify.values.exact_json import Json

if TYPE_CHECKING:
    from adsunify.models.brief import CampaignBrief

Goal = Literal["traffic", "awareness", "conversions", "app_installs"]
Period = Literal["daily", "lifetime"]


@frozen(eq=False)
class Input:
    """What a format does with one member of the brief. Of the rows with the same path, the first that applies counts.

    A member without a row is refused.

    Attributes:
        requirement: ``required``; ``optional``; ``one`` (exactly one member of ``group``); ``any`` (at least one member
            of ``group``); ``refused`` (``reason`` says why).
        accepted_form: a description of the accepted form.
        choices: the accepted values; empty: all values. ``reason`` may say why other values are refused.
        find_error: returns what is wrong with a value; None if it is valid.
        reason: why the member or a value is refused, or to which accounts a row with ``is_exempt`` applies.
        is_exempt: the row does not apply to accounts for which this function returns True.
    """

    path: str
    requirement: Literal["required", "optional", "one", "any", "refused"]
    accepted_form: str = ""
    goals: tuple[Goal, ...] = ()
    periods: tuple[Period, ...] = ()
    group: str = ""
    choices: tuple[str | bool, ...] = ()
    find_error: Callable[[Json], str | None] | None = None
    reason: str = ""
    is_exempt: Callable[[Account], bool] | None = None


CONTENT_MEMBERS = "headline body url imageUrl imageHash headlines descriptions"
"""The members of ``creative`` with the content of an ad. An existing creative already has its content."""


def refused_inputs(part: str, names: str, reason: str) -> list[Input]:
    """Build the rows that refuse members of a part: ``refused_inputs("targeting", "countries locationIds", "...")``."""
    return [Input(f"{part}.{name}", "refused", reason=reason) for name in names.split()]


FormatRule = Callable[[Account, "CampaignBrief", datetime | None], Iterable[Issue]]
"""A check of several members. If its third argument, the present, is None, no time is compared with the present."""


@frozen(eq=False)
class Format:
    """One unified format.

    Attributes:
        bid_meanings: what ``bid`` means for each goal.
        is_match: whether a brief has this format; the argument has the brief's members by path. If two formats match a
            brief, the tables have a defect.
    """

    code: str
    title: str
    goals: tuple[Goal, ...]
    periods: tuple[Period, ...]
    inputs: tuple[Input, ...]
    bid_meanings: Mapping[Goal, str]
    is_match: Callable[[Mapping[str, Json]], bool] = lambda members: True
    rules: tuple[FormatRule, ...] = ()
    notes: tuple[str, ...] = ()
