"""Targeting criteria of a line item: from a brief, from an edit. Without any, X serves all users worldwide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from attrs import frozen

from adsunify.adapter.edits import require_change
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.network import Account, Network, words
from adsunify.errors import InvalidInput, Issue, refuse, refused
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, rows, text

from . import native as x

LOCATION, AGE, GENDER, LANGUAGE, INTEREST, DEVICE = "LOCATION", "AGE", "GENDER", "LANGUAGE", "INTEREST", "DEVICE"
EQUAL, UNEQUAL = "EQ", "NE"
OPERATORS = (EQUAL, UNEQUAL, "GTE", "LT")
KEYWORDS = {"exact": "EXACT_KEYWORD", "phrase": "PHRASE_KEYWORD", "broad": "BROAD_KEYWORD"}
TYPES = words(
    "AGE APP_LIST APP_STORE_CATEGORY APP_STORE_CATEGORY_LOOKALIKE BROAD_KEYWORD CAMPAIGN_ENGAGEMENT"
    " CAMPAIGN_ENGAGEMENT_LOOKALIKE CONVERSATION CUSTOM_AUDIENCE CUSTOM_AUDIENCE_EXPANDED DEVICE ENGAGEMENT_TYPE EVENT"
    " EXACT_KEYWORD FOLLOWERS_OF_USER GENDER INTEREST LANGUAGE LIVE_TV_EVENT LOCATION NETWORK_ACTIVATION_DURATION"
    " NETWORK_OPERATOR PHRASE_KEYWORD PLATFORM PLATFORM_VERSION SIMILAR_TO_FOLLOWERS_OF_USER TV_SHOW UNORDERED_KEYWORD"
    " USER_ENGAGEMENT USER_ENGAGEMENT_LOOKALIKE WIFI_ONLY"
)
AGES = words(
    "AGE_13_TO_24 AGE_13_TO_34 AGE_13_TO_49 AGE_13_TO_54 AGE_OVER_13 AGE_18_TO_34 AGE_18_TO_49 AGE_18_TO_54 AGE_OVER_18"
    " AGE_21_TO_34 AGE_21_TO_49 AGE_21_TO_54 AGE_OVER_21 AGE_25_TO_49 AGE_25_TO_54 AGE_OVER_25 AGE_35_TO_49"
    " AGE_35_TO_54 AGE_OVER_35 AGE_OVER_50"
)
GENDERS = {"male": "1", "female": "2"}
VALUES: Mapping[str, tuple[str, ...]] = {AGE: AGES, GENDER: tuple(GENDERS.values())}
MOST = {LOCATION: 2_000, INTEREST: 100, AGE: 1, "EVENT": 1}  # criteria of a type on one line item
A_BATCH = 500  # operations; a batch is all or nothing, so that it is never split
WORLDWIDE = "There is no targeting: X serves all users worldwide."
IN_ALL_COUNTRIES = "The targeting names no location: X serves in all countries."
_MEMBERS = ("targeting_type", "targeting_value", "operator_type")


@frozen
class Criterion:
    """One targeting criterion; ``id`` where it exists already."""

    type: str
    value: str
    operator: str = EQUAL
    id: str = ""

    def to_json(self) -> dict[str, Json]:
        """As X is sent it."""
        return {"targeting_type": self.type, "targeting_value": self.value, "operator_type": self.operator}

    @property
    def said(self) -> tuple[str, str, str]:
        """What it says, whether it exists or not."""
        return self.type, self.value, self.operator


def criterion(native: Mapping[str, Json]) -> Criterion:
    """A criterion as X lists it; an answer without operator means EQ."""
    type_, value, operator = (text(native, f"/{name}") for name in _MEMBERS)
    return Criterion(type_ or "", value or "", operator or EQUAL, text(native, "/id") or "")


# -- what a brief says --------------------------------------------------------------------------------------------


def wrong_criteria(native: Mapping[str, Json]) -> str | None:
    """What is wrong with ``targeting.native``; None where nothing is."""
    listed = native.get("criteria")
    if set(native) != {"criteria"} or not isinstance(listed, list | tuple) or not listed:
        return "the native targeting is one list named criteria"
    for number, one in enumerate(listed, 1):
        if not isinstance(one, Mapping) or set(one) != set(_MEMBERS):
            return f"criterion {number} has exactly the members {', '.join(_MEMBERS)}"
        type_, value, operator = (one[name] for name in _MEMBERS)
        if type_ not in TYPES:
            return f"criterion {number} has no targeting_type that X knows"
        if operator not in OPERATORS:
            return f"criterion {number} has an operator_type other than {', '.join(OPERATORS)}"
        if not isinstance(value, str) or not value:
            return f"criterion {number} has a targeting_value that is no text"
        if value not in VALUES.get(type_, (value,)):
            return f"criterion {number} has a value that {type_} does not take"
    counts = Counter(one["targeting_type"] for one in listed)
    over = next((type_ for type_, most in MOST.items() if counts[type_] > most), None)
    return None if over is None else f"a line item takes at most {MOST[over]} criteria of type {over}"


def one_batch(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: all criteria go in one batch."""
    native = (brief.targeting.native or {}).get("criteria", ())
    if len(native) + len(brief.targeting.keywords or ()) > A_BATCH:
        message = f"X takes at most {A_BATCH} criteria at once, keywords among them, and they are never split."
        yield Issue("targeting.native", "too_many", message)


def criteria_of(brief: CampaignBrief, places: Sequence[str]) -> list[Criterion]:
    """The criteria of a brief, its countries found out (``places``); the same one twice counts once."""
    wanted = brief.targeting
    chosen = [Criterion(LOCATION, place) for place in (*places, *(wanted.location_ids or ()))]
    chosen += [criterion(one) for one in (wanted.native or {}).get("criteria", ())]
    chosen += [Criterion(KEYWORDS[keyword.match], keyword.text) for keyword in wanted.keywords or ()]
    return list(dict.fromkeys(chosen))


def creation(line_item: str | None, one: Criterion) -> dict[str, Json]:
    """The operation that makes a criterion; without ``line_item`` a binding supplies it."""
    owner = {} if line_item is None else {"line_item_id": line_item}
    return {"operation_type": x.CREATE, "params": {**owner, **one.to_json()}}


def deletion(one: Criterion) -> dict[str, Json]:
    """The operation that deletes a criterion."""
    return {"operation_type": x.DELETE, "params": {x.CRITERION: one.id}}


# -- what is looked up --------------------------------------------------------------------------------------------


def listed(network: Network, request: Request) -> Flow[list[Mapping[str, Json]]]:
    """All rows of a list, to its last page."""
    answers = yield from pages(network, request, x.following)
    return [row for answer in answers for row in rows(answer.body, "/data")]


def instruments(network: Network, account_id: str, **query: str) -> Flow[list[Mapping[str, Json]]]:
    """The funding instruments of an account, or those that the query names."""
    request = x.call("GET", "/accounts/{account}/funding_instruments", query, account=account_id)
    return (yield from listed(network, request))


def is_promotable(network: Network, account: Account, post: str) -> Flow[bool]:
    """Whether the post is published, by the account's own user or by another one that it may promote."""
    users: list[dict[str, str]] = [{}]
    for user in users:
        if (yield from listed(network, x.posts(account, {"tweet_ids": post, **user}))):
            return True
        if not user:  # the list shows the full user's posts only
            others = yield from listed(network, x.of_account(account, "promotable_users", count=x.PAGE))
            users += [
                {"user_id": ident(one, "/user_id", "promotable user")}
                for one in others
                if text(one, "/promotable_user_type") != x.FULL_USER
            ]
    return False


def places_of(network: Network, countries: Sequence[str]) -> Flow[list[str]]:
    """The location ids of countries, in their order. Raises InvalidInput for one that X does not know."""
    found: list[str] = []
    issues: list[Issue] = []
    for index, country in enumerate(countries):
        response = yield from ask(network, x.locations({"location_type": x.COUNTRIES, "country_code": country}))
        fitting = [one for one in rows(response.body, "/data") if text(one, "/country_code") == country]
        if fitting:
            found.append(ident(fitting[0], "/targeting_value", "location"))
        else:
            message = "X has no location for this country; it is never left out."
            issues.append(Issue(f"targeting.countries.{index}", "not_found", message))
    refuse(issues)
    return found


def standing(network: Network, account: Account, line_item: str) -> Flow[list[Mapping[str, Json]]]:
    """The targeting criteria of a line item as X lists them, all of them."""
    request = x.of_account(account, "targeting_criteria", line_item_ids=line_item, count=x.PAGE)
    return (yield from listed(network, request))


def criteria(network: Network, account: Account, line_item: str) -> Flow[list[Criterion]]:
    """The targeting criteria of a line item, all of them."""
    return [criterion(one) for one in (yield from standing(network, account, line_item))]


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, Sequence[Criterion], str], list[Criterion]]
"""From the wanted value, the criteria of that type as they are, and the path to name, to the criteria wanted."""


def _named(type_: str, operator: str = EQUAL) -> Part:
    def named(items: Json, current: Sequence[Criterion], path: str) -> list[Criterion]:
        return [Criterion(type_, item["id"], operator) for item in items]

    return named


def _genders(items: Json, current: Sequence[Criterion], path: str) -> list[Criterion]:
    if any(one not in GENDERS for one in items):
        raise refused(path, "not_supported", f"X takes these genders: {', '.join(GENDERS)}.")
    return [Criterion(GENDER, GENDERS[one]) for one in items]


PARTS: Mapping[str, tuple[str, str, Part]] = {
    "locations": (LOCATION, EQUAL, _named(LOCATION)),
    "excludedLocations": (LOCATION, UNEQUAL, _named(LOCATION, UNEQUAL)),
    "languages": (LANGUAGE, EQUAL, _named(LANGUAGE)),
    "interests": (INTEREST, EQUAL, _named(INTEREST)),
    "excludedInterests": (INTEREST, UNEQUAL, _named(INTEREST, UNEQUAL)),
    "genders": (GENDER, EQUAL, _genders),
    "devices": (DEVICE, EQUAL, _named(DEVICE)),
}
AGE_MEMBERS = ("ageMin", "ageMax")
_BUCKET = re.compile(r"AGE_(?:OVER_)?([0-9]+)(?:_TO_([0-9]+))?").fullmatch


def _age(wanted: Mapping[str, Json], current: Sequence[Criterion]) -> list[Criterion]:
    """The age bucket; a bound that the edit does not name stays as it is."""
    held = _BUCKET(current[0].value) if current else None
    least, most = held.groups() if held is not None else (None, None)
    least, most = wanted.get("ageMin", least), wanted.get("ageMax", most)
    bucket = f"AGE_OVER_{least}" if most is None else f"AGE_{least}_TO_{most}"
    if bucket not in AGES:
        path = next(f"targeting.{name}" for name in AGE_MEMBERS if name in wanted)
        raise refused(path, "choice", f"X takes these ages: {', '.join(AGES)}.")
    return [Criterion(AGE, bucket)]


@frozen
class Difference:
    """What an edit of the targeting comes to: criteria to make, criteria to delete, each change in words."""

    made: tuple[Criterion, ...]
    deleted: tuple[Criterion, ...]
    changes: tuple[Change, ...]


def difference(current: Sequence[Criterion], wanted: Mapping[str, Json]) -> Difference:
    """Only the kinds that the edit names are compared; all others stay. Raises InvalidInput with all issues."""
    made: list[Criterion] = []
    deleted: list[Criterion] = []
    changes: list[Change] = []
    issues: list[Issue] = []

    def compare(name: str, path: str, held: Sequence[Criterion], aimed: Sequence[Criterion]) -> None:
        before, after = {one.said for one in held}, {one.said: one for one in aimed}
        made.extend(one for said, one in after.items() if said not in before)
        deleted.extend(one for one in held if one.said not in after)
        change = Change(name, [one.value for one in held], [one.value for one in after.values()])
        changes.append(require_change(change, path))

    for name, value in wanted.items():
        try:
            if name in PARTS:
                type_, operator, part = PARTS[name]
                held = [one for one in current if one.type == type_ and one.operator == operator]
                compare(name, f"targeting.{name}", held, part(value, held, f"targeting.{name}"))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    ages = {name: wanted[name] for name in AGE_MEMBERS if wanted.get(name) is not None}
    if ages:
        held = [one for one in current if one.type == AGE]
        try:
            compare("age", f"targeting.{next(iter(ages))}", held, _age(ages, held))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    if not issues and len(made) + len(deleted) > A_BATCH:
        issues.append(Issue("targeting", "too_many", f"X takes at most {A_BATCH} changes of criteria at once."))
    refuse(issues)
    return Difference(tuple(made), tuple(deleted), tuple(changes))
