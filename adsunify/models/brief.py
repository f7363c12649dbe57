"""The unified campaign brief: what a caller wants, in words that all networks share.

Lengths, patterns and defaults are those of the contract; what a network makes of the brief stands in its tables.
A brief is copied when it is read and never changes. Members that were left out are None.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cached_property, partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from adsunify.errors import InvalidInput
from adsunify.models.base import VISIBLE, Maybe, NonEmptyFreeForm, RuledModel, WireModel, read, repeated
from adsunify.models.error_messages import COUNTRY, CURRENCY, LANGUAGE, URI, Problem
from adsunify.values.countries import KOSOVO, known
from adsunify.values.dates import INSTANT, instant
from adsunify.values.money import AMOUNT


def _known_country(code: str, others: Collection[str] = ()) -> str:
    try:
        return known(code, "", others)
    except InvalidInput as refusal:
        raise PydanticCustomError(refusal.issues[0].code, refusal.issues[0].message) from None


Amount = Annotated[str, Field(pattern=AMOUNT)]
Country = Annotated[str, Field(pattern=COUNTRY), AfterValidator(_known_country)]
Target = Annotated[str, Field(pattern=COUNTRY), AfterValidator(partial(_known_country, others=(KOSOVO,)))]
Identifier = Annotated[str, Field(min_length=1, max_length=250), VISIBLE]
Instant = Annotated[str, Field(pattern=INSTANT, json_schema_extra={"format": "date-time"})]
Uri = Annotated[str, Field(pattern=URI, json_schema_extra={"format": "uri"})]


class Budget(WireModel):
    """``amount``: major units of ``currency``, which is the account's."""

    amount: Amount
    currency: Annotated[str, Field(pattern=CURRENCY)]
    period: Literal["daily", "lifetime"]


class Schedule(WireModel):
    """Instants as they were written; :attr:`start` and :attr:`end` are the same in UTC."""

    start_at: Instant
    end_at: Maybe[Instant] = None

    @cached_property
    def start(self) -> datetime:
        return instant(self.start_at)

    @cached_property
    def end(self) -> datetime | None:
        return None if self.end_at is None else instant(self.end_at)


class Keyword(WireModel):
    text: Annotated[str, Field(min_length=1, max_length=80)]
    match: Literal["exact", "phrase", "broad"] = "exact"


class Targeting(WireModel):
    """``native`` replaces ``countries`` and ``location_ids``; its numbers are exact (int and Decimal)."""

    countries: Maybe[Annotated[tuple[Target, ...], Field(strict=False, min_length=1, max_length=50)]] = None
    location_ids: Maybe[Annotated[tuple[Identifier, ...], Field(strict=False, min_length=1, max_length=50)]] = None
    keywords: Maybe[Annotated[tuple[Keyword, ...], Field(strict=False, max_length=50)]] = None
    native: Maybe[NonEmptyFreeForm] = None


class Creative(WireModel):
    """Content, or ``existing_id`` of content, which is inherited."""

    existing_id: Maybe[Identifier] = None
    headline: Maybe[Annotated[str, Field(min_length=1, max_length=300), VISIBLE]] = None
    body: Maybe[Annotated[str, Field(min_length=1, max_length=3000), VISIBLE]] = None
    url: Maybe[Uri] = None
    image_url: Maybe[Uri] = None
    image_hash: Maybe[Identifier] = None
    headlines: Maybe[
        Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=30), VISIBLE], ...],
            Field(strict=False, min_length=3, max_length=15),
        ]
    ] = None
    descriptions: Maybe[
        Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=90), VISIBLE], ...],
            Field(strict=False, min_length=2, max_length=4),
        ]
    ] = None


class Locale(WireModel):
    country: Country
    language: Annotated[str, Field(pattern=LANGUAGE)]


class Platform(WireModel):
    """What some networks need besides."""

    eu_political_advertising: Maybe[bool] = None
    page_id: Maybe[Identifier] = None
    board_id: Maybe[Identifier] = None
    identity_id: Maybe[Identifier] = None
    identity_type: Maybe[Identifier] = None
    funding_instrument_id: Maybe[Identifier] = None
    pixel_id: Maybe[Identifier] = None
    conversion_event: Maybe[Identifier] = None
    app_id: Maybe[Identifier] = None
    sku: Maybe[Identifier] = None
    asin: Maybe[Identifier] = None
    brand_name: Maybe[Annotated[str, Field(min_length=1, max_length=100), VISIBLE]] = None
    locale: Maybe[Locale] = None
    special_ad_categories: Maybe[
        Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False, max_length=10)]
    ] = None


class CampaignBrief(RuledModel):
    """One campaign, as the caller wants it."""

    name: Annotated[str, Field(min_length=3, max_length=100), VISIBLE]
    goal: Literal["traffic", "awareness", "conversions", "app_installs"]
    budget: Budget
    bid: Maybe[Amount] = None
    schedule: Schedule
    targeting: Targeting
    creative: Creative
    platform: Platform = Platform()

    @classmethod
    def broken(cls, members: Any) -> list[Problem]:
        problems = []
        amount, bid = members.budget.amount, members.bid
        if amount and not amount.strip("0."):
            problems.append(Problem(("budget", "amount"), *_ZERO))
        if bid and not bid.strip("0."):
            problems.append(Problem(("bid",), *_ZERO))
        if members.schedule.end_at and _ends_too_early(members.schedule):
            problems.append(Problem(("schedule", "endAt"), "out_of_range", "must be later than schedule.startAt."))
        for name, location in _ONCE.items():
            if values := getattr(members.targeting, name):
                problems += repeated(location, values)
        if members.targeting.native is not None:
            problems += _conflicts(
                "targeting", members.targeting, _REPLACED, "cannot be combined with targeting.native."
            )
        if members.creative.existing_id is not None:
            problems += _conflicts("creative", members.creative, _INHERITED, IS_INHERITED)
        return problems


_ZERO = ("out_of_range", "must be greater than 0.")
_ONCE = {"countries": ("targeting", "countries"), "location_ids": ("targeting", "locationIds")}
_REPLACED = ("countries", "location_ids")
_INHERITED = ("headlines", "descriptions")
"""Copy that every existing creative brings along. A file brings none: a video (TikTok) no text, address or cover, an
image (ChatGPT) no headline either. What else is inherited is said by a network's tables."""
IS_INHERITED = "cannot be combined with creative.existingId, whose content is inherited."


def _ends_too_early(schedule: Any) -> bool:
    start, end = schedule.start_at, schedule.end_at
    if type(schedule) is Schedule and len(start) == len(end) and start[-1] == end[-1] == "Z":
        return bool(end <= start)  # texts of one form, in UTC: their order is that of the instants
    try:
        return bool(start) and instant(end) <= instant(start)
    except InvalidInput:  # one of the two is refused for itself
        return False


def _conflicts(part: str, members: Any, names: tuple[str, ...], message: str) -> Iterator[Problem]:
    for name in names:
        if getattr(members, name) is not None:
            yield Problem((part, to_camel(name)), "conflict", message)


def read_brief(data: bytes | str | Mapping[str, Any]) -> CampaignBrief:
    """Read a brief from JSON or from the object it stands for.

    Raises InvalidInput with all issues at once. Paths are dotted wire names ("targeting.countries.0").
    """
    return read(CampaignBrief, data)
