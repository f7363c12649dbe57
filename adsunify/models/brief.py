"""The unified campaign brief: the campaign that a caller wants, in terms that all networks share.

docs/spec.md, "Unified campaign brief", defines lengths, patterns and defaults. The tables of a network define how the
network uses a brief. A brief is copied when it is parsed and never changes. Omitted members are None.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from adsunify.errors import InvalidInput, invalid_input
from adsunify.models.base import (
    VISIBLE,
    ApiModel,
    CrossFieldModel,
    Items,
    NonEmptyFreeForm,
    Omittable,
    PythonValues,
    find_duplicates,
)
from adsunify.models.error_messages import (
    COUNTRY_REGEX,
    CURRENCY_REGEX,
    LANGUAGE_REGEX,
    URI_REGEX,
    UUID_REGEX,
    Violation,
)
from adsunify.models.parsing import parse_model
from adsunify.values.countries import KOSOVO, require_country_code
from adsunify.values.dates import INSTANT_FORM, INSTANT_REGEX, parse_instant
from adsunify.values.money import AMOUNT_FORM, AMOUNT_REGEX, MAX_FRACTION_DIGITS


def _validate_country(code: str, others: Collection[str] = ()) -> str:
    try:
        return require_country_code(code, "", others)
    except InvalidInput as refusal:
        raise PydanticCustomError(refusal.issues[0].code, refusal.issues[0].message) from None


Amount = Annotated[str, Field(pattern=AMOUNT_REGEX)]
Country = Annotated[str, Field(pattern=COUNTRY_REGEX), AfterValidator(_validate_country)]
TargetCountry = Annotated[
    str, Field(pattern=COUNTRY_REGEX), AfterValidator(partial(_validate_country, others=(KOSOVO,)))
]
Identifier = Annotated[str, Field(min_length=1, max_length=250), VISIBLE]
Instant = Annotated[str, Field(pattern=INSTANT_REGEX, json_schema_extra={"format": "date-time"})]
Uuid = Annotated[
    str, Field(pattern=UUID_REGEX), AfterValidator(str.lower), WithJsonSchema({"type": "string", "format": "uuid"})
]
"""An id of this API, in lower case."""
_MAX_DECIMAL_DIGITS = 100
"""A Decimal with more digits, or that many zeros, is not written out: its text could be of any length."""
Uri = Annotated[str, Field(pattern=URI_REGEX, json_schema_extra={"format": "uri"})]


def write_amount(value: object) -> str:
    """Write an amount as the text of a brief. Zeros beyond the longest fraction are left out; nothing is rounded."""
    if not isinstance(value, Decimal):
        inexact = " A float is not exact." if isinstance(value, float) else ""
        raise PydanticCustomError("wrong_type", f'must be text such as "12.50", or a Decimal.{inexact}')
    if not value.is_finite() or max(abs(value.adjusted()), len(value.as_tuple().digits)) > _MAX_DECIMAL_DIGITS:
        raise PydanticCustomError("malformed", f"must be {AMOUNT_FORM}.")
    whole, point, fraction = f"{value:f}".partition(".")
    return whole + point + fraction[:MAX_FRACTION_DIGITS] + fraction[MAX_FRACTION_DIGITS:].rstrip("0")


def _write_instant(value: object) -> str:
    """Write an instant as the text of a brief, with its offset."""
    if not isinstance(value, datetime):
        raise PydanticCustomError("wrong_type", f"must be text: {INSTANT_FORM}; or a datetime with a time zone.")
    offset = value.utcoffset()
    if offset is None:
        raise PydanticCustomError("wrong_type", "must have a time zone, such as datetime(2027, 3, 1, 8, tzinfo=UTC).")
    if offset % timedelta(minutes=1):  # the offsets of a brief have whole minutes
        value = value.astimezone(UTC)
    return value.isoformat().replace("+00:00", "Z")


class Budget(ApiModel):
    """The budget. ``amount`` is in major units of ``currency``, which must be the account's currency.

    The constructor takes the amount as text or as a Decimal, never as a float.
    """

    python_values: ClassVar[PythonValues] = {"amount": write_amount}

    amount: Amount
    currency: Annotated[str, Field(pattern=CURRENCY_REGEX)]
    period: Literal["daily", "lifetime"]

    if TYPE_CHECKING:

        def __init__(self, *, amount: str | Decimal, currency: str, period: Literal["daily", "lifetime"]) -> None: ...


class Schedule(ApiModel):
    """Start and end. ``start_at`` and ``end_at`` are the texts of the brief; ``start`` and ``end`` are in UTC.

    The constructor takes texts, or datetimes with a time zone.
    """

    python_values: ClassVar[PythonValues] = {"start_at": _write_instant, "end_at": _write_instant}

    start_at: Instant
    end_at: Omittable[Instant] = None

    if TYPE_CHECKING:

        def __init__(self, *, start_at: str | datetime, end_at: str | datetime | None = None) -> None: ...

    @cached_property
    def start(self) -> datetime:
        """The start in UTC."""
        return parse_instant(self.start_at)

    @cached_property
    def end(self) -> datetime | None:
        """The end in UTC; None if the campaign has no end."""
        return None if self.end_at is None else parse_instant(self.end_at)


class Keyword(ApiModel):
    """A keyword with its match type."""

    text: Annotated[str, Field(min_length=1, max_length=80)]
    match: Literal["exact", "phrase", "broad"] = "exact"


class Targeting(ApiModel):
    """The audience. ``native`` replaces ``countries`` and ``location_ids``; its numbers are int or Decimal."""

    countries: Omittable[Annotated[Items[TargetCountry], Field(min_length=1, max_length=50)]] = None
    location_ids: Omittable[Annotated[Items[Identifier], Field(min_length=1, max_length=50)]] = None
    keywords: Omittable[Annotated[Items[Keyword], Field(max_length=50)]] = None
    native: Omittable[NonEmptyFreeForm] = None


class Creative(ApiModel):
    """The content of the ad: either new content, or ``existing_id`` of content that exists at the network."""

    existing_id: Omittable[Identifier] = None
    headline: Omittable[Annotated[str, Field(min_length=1, max_length=300), VISIBLE]] = None
    body: Omittable[Annotated[str, Field(min_length=1, max_length=3000), VISIBLE]] = None
    url: Omittable[Uri] = None
    image_url: Omittable[Uri] = None
    image_hash: Omittable[Identifier] = None
    headlines: Omittable[
        Annotated[
            Items[Annotated[str, Field(min_length=1, max_length=30), VISIBLE]],
            Field(min_length=3, max_length=15),
        ]
    ] = None
    descriptions: Omittable[
        Annotated[
            Items[Annotated[str, Field(min_length=1, max_length=90), VISIBLE]],
            Field(min_length=2, max_length=4),
        ]
    ] = None


class Locale(ApiModel):
    """A country and a language."""

    country: Country
    language: Annotated[str, Field(pattern=LANGUAGE_REGEX)]


class Platform(ApiModel):
    """Members that only some networks need."""

    eu_political_advertising: Omittable[bool] = None
    page_id: Omittable[Identifier] = None
    board_id: Omittable[Identifier] = None
    identity_id: Omittable[Identifier] = None
    identity_type: Omittable[Identifier] = None
    funding_instrument_id: Omittable[Identifier] = None
    pixel_id: Omittable[Identifier] = None
    conversion_event: Omittable[Identifier] = None
    app_id: Omittable[Identifier] = None
    sku: Omittable[Identifier] = None
    asin: Omittable[Identifier] = None
    brand_name: Omittable[Annotated[str, Field(min_length=1, max_length=100), VISIBLE]] = None
    locale: Omittable[Locale] = None
    special_ad_categories: Omittable[Annotated[Items[Annotated[str, Field(min_length=1)]], Field(max_length=10)]] = None


class CampaignBrief(CrossFieldModel):
    """A campaign with one ad group and one ad, as the caller wants it.

    The constructor takes the bid as text or as a Decimal, in major units of the account's currency.
    """

    python_values: ClassVar[PythonValues] = {"bid": write_amount}

    name: Annotated[str, Field(min_length=3, max_length=100), VISIBLE]
    goal: Literal["traffic", "awareness", "conversions", "app_installs"]
    budget: Budget
    bid: Omittable[Amount] = None
    schedule: Schedule
    targeting: Targeting
    creative: Creative
    platform: Platform = Platform()

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            name: str,
            goal: Literal["traffic", "awareness", "conversions", "app_installs"],
            budget: Budget,
            bid: str | Decimal | None = None,
            schedule: Schedule,
            targeting: Targeting,
            creative: Creative,
            platform: Platform = ...,
        ) -> None: ...

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check amounts above 0, the order of start and end, duplicates, and members that exclude each other."""
        problems = []
        amount, bid = members.budget.amount, members.bid
        if isinstance(amount, str) and amount and not amount.strip("0."):
            problems.append(Violation(("budget", "amount"), *_NOT_POSITIVE))
        if isinstance(bid, str) and bid and not bid.strip("0."):
            problems.append(Violation(("bid",), *_NOT_POSITIVE))
        if members.schedule.end_at and _is_end_too_early(members.schedule):
            problems.append(Violation(("schedule", "endAt"), "out_of_range", "must be later than schedule.startAt."))
        for name, location in _UNIQUE_LISTS.items():
            if values := getattr(members.targeting, name):
                problems += find_duplicates(location, values)
        if members.targeting.native is not None:
            problems += _find_conflicts(
                "targeting", members.targeting, _REPLACED_BY_NATIVE, "cannot be combined with targeting.native."
            )
        if members.creative.existing_id is not None:
            problems += _find_conflicts("creative", members.creative, _INHERITED_MEMBERS, INHERITED_MESSAGE)
        return problems


_NOT_POSITIVE = ("out_of_range", "must be greater than 0.")
_UNIQUE_LISTS = {"countries": ("targeting", "countries"), "location_ids": ("targeting", "locationIds")}
_REPLACED_BY_NATIVE = ("countries", "location_ids")
_INHERITED_MEMBERS = ("headlines", "descriptions")
"""Members that every existing creative already has. A network's tables name further members.

An existing file has none of them: a video (TikTok) has no text, address or cover, an image (ChatGPT) has no headline.
"""
INHERITED_MESSAGE = "cannot be combined with creative.existingId, whose content is inherited."


def _is_end_too_early(schedule: Any) -> bool:
    start, end = schedule.start_at, schedule.end_at
    if type(schedule) is Schedule and len(start) == len(end) and start[-1] == end[-1] == "Z":
        return bool(end <= start)  # two UTC texts of the same length sort like their instants
    try:
        return bool(start) and parse_instant(end) <= parse_instant(start)
    except InvalidInput:  # a malformed instant has a separate issue
        return False


def _find_conflicts(part: str, members: Any, names: Items[str], message: str) -> Iterator[Violation]:
    for name in names:
        if getattr(members, name) is not None:
            yield Violation((part, to_camel(name)), "conflict", message)


def read_brief(data: bytes | str | Mapping[str, Any]) -> CampaignBrief:
    """Parse a brief from JSON text or from a JSON object.

    Raises:
        InvalidInput: the brief is refused; the error holds all issues. Paths are dotted JSON names
            ("targeting.countries.0").
    """
    if not isinstance(data, (bytes, str, Mapping)):
        raise invalid_input("", "type", "A brief is read from JSON text, or from an object that was parsed already.")
    return parse_model(CampaignBrief, data)
