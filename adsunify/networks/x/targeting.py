"""Targeting criteria of a line item: from a brief, from an edit. Without any, X serves all users worldwide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from attrs import frozen

from adsunify.adapter import flows
from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import to_native_genders
from adsunify.adapter.edits import require_change
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.network import Network, split_words
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, require_id

from . import native as x

LOCATION, AGE, GENDER, LANGUAGE, INTEREST, DEVICE = "LOCATION", "AGE", "GENDER", "LANGUAGE", "INTEREST", "DEVICE"
EQUAL, UNEQUAL = "EQ", "NE"
OPERATORS = (EQUAL, UNEQUAL, "GTE", "LT")
KEYWORD_TYPES = {"exact": "EXACT_KEYWORD", "phrase": "PHRASE_KEYWORD", "broad": "BROAD_KEYWORD"}
CRITERION_TYPES = split_words(
    "AGE APP_LIST APP_STORE_CATEGORY APP_STORE_CATEGORY_LOOKALIKE BROAD_KEYWORD CAMPAIGN_ENGAGEMENT"
    " CAMPAIGN_ENGAGEMENT_LOOKALIKE CONVERSATION CUSTOM_AUDIENCE CUSTOM_AUDIENCE_EXPANDED DEVICE ENGAGEMENT_TYPE EVENT"
    " EXACT_KEYWORD FOLLOWERS_OF_USER GENDER INTEREST LANGUAGE LIVE_TV_EVENT LOCATION NETWORK_ACTIVATION_DURATION"
    " NETWORK_OPERATOR PHRASE_KEYWORD PLATFORM PLATFORM_VERSION SIMILAR_TO_FOLLOWERS_OF_USER TV_SHOW UNORDERED_KEYWORD"
    " USER_ENGAGEMENT USER_ENGAGEMENT_LOOKALIKE WIFI_ONLY"
)
AGE_BUCKETS = split_words(
    "AGE_13_TO_24 AGE_13_TO_34 AGE_13_TO_49 AGE_13_TO_54 AGE_OVER_13 AGE_18_TO_34 AGE_18_TO_49 AGE_18_TO_54 AGE_OVER_18"
    " AGE_21_TO_34 AGE_21_TO_49 AGE_21_TO_54 AGE_OVER_21 AGE_25_TO_49 AGE_25_TO_54 AGE_OVER_25 AGE_35_TO_49"
    " AGE_35_TO_54 AGE_OVER_35 AGE_OVER_50"
)
GENDERS = {"male": "1", "female": "2"}
CRITERION_VALUES: Mapping[str, tuple[str, ...]] = {AGE: AGE_BUCKETS, GENDER: tuple(GENDERS.values())}
MAX_CRITERIA = {LOCATION: 2_000, INTEREST: 100, AGE: 1, "EVENT": 1}  # the most criteria of a type on one line item
MAX_BATCH_SIZE = 500  # operations; a batch is never split, because X applies a batch as a whole or not at all
WORLDWIDE_WARNING = "There is no targeting: X serves all users worldwide."
ALL_COUNTRIES_WARNING = "The targeting names no location: X serves in all countries."
_CRITERION_MEMBERS = ("targeting_type", "targeting_value", "operator_type")


@frozen
class Criterion:
    """A targeting criterion. ``id`` is empty for a new one."""

    type: str
    value: str
    operator: str = EQUAL
    id: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the native form of the criterion."""
        return {"targeting_type": self.type, "targeting_value": self.value, "operator_type": self.operator}

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the criterion without its ID, to compare it with another one."""
        return self.type, self.value, self.operator


def parse_criterion(native: Mapping[str, Json]) -> Criterion:
    """Parse a criterion of a response; one without an operator has EQ."""
    type_, value, operator = (get_text(native, f"/{name}") for name in _CRITERION_MEMBERS)
    return Criterion(type_ or "", value or "", operator or EQUAL, get_text(native, "/id") or "")


# -- what a brief says --------------------------------------------------------------------------------------------


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why ``targeting.native`` is refused; None if it is valid."""
    criteria = targeting.get("criteria")
    if set(targeting) != {"criteria"} or not isinstance(criteria, list | tuple) or not criteria:
        return "the native targeting is one list named criteria"
    for number, criterion in enumerate(criteria, 1):
        if not isinstance(criterion, Mapping) or set(criterion) != set(_CRITERION_MEMBERS):
            return f"criterion {number} has exactly the members {', '.join(_CRITERION_MEMBERS)}"
        type_, value, operator = (criterion[name] for name in _CRITERION_MEMBERS)
        if type_ not in CRITERION_TYPES:
            return f"criterion {number} has no targeting_type that X knows"
        if operator not in OPERATORS:
            return f"criterion {number} has an operator_type other than {', '.join(OPERATORS)}"
        if not isinstance(value, str) or not value:
            return f"criterion {number} has a targeting_value that is no text"
        if value not in CRITERION_VALUES.get(type_, (value,)):
            return f"criterion {number} has a value that {type_} does not take"
    counts = Counter(criterion["targeting_type"] for criterion in criteria)
    over = next((type_ for type_, most in MAX_CRITERIA.items() if counts[type_] > most), None)
    return None if over is None else f"a line item takes at most {MAX_CRITERIA[over]} criteria of type {over}"


def check_batch_size(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: all criteria go in one batch."""
    native = (brief.targeting.native or {}).get("criteria", ())
    if len(native) + len(brief.targeting.keywords or ()) > MAX_BATCH_SIZE:
        message = f"X takes at most {MAX_BATCH_SIZE} criteria at once, keywords among them, and they are never split."
        yield Issue("targeting.native", "too_many", message)


def build_targeting_criteria(brief: CampaignBrief, places: Sequence[str]) -> list[Criterion]:
    """Return the distinct criteria of a brief. ``places``: the location IDs of its countries."""
    targeting = brief.targeting
    chosen = [Criterion(LOCATION, place) for place in (*places, *(targeting.location_ids or ()))]
    chosen += [parse_criterion(criterion) for criterion in (targeting.native or {}).get("criteria", ())]
    chosen += [Criterion(KEYWORD_TYPES[keyword.match], keyword.text) for keyword in targeting.keywords or ()]
    return list(dict.fromkeys(chosen))


def build_create_operation(line_item: str | None, criterion: Criterion) -> dict[str, Json]:
    """Build the operation that creates a criterion. Without ``line_item`` a binding supplies it."""
    owner = {} if line_item is None else {"line_item_id": line_item}
    return {"operation_type": x.CREATE, "params": {**owner, **criterion.to_json()}}


def build_delete_operation(criterion: Criterion) -> dict[str, Json]:
    """Build the operation that deletes a criterion."""
    return {"operation_type": x.DELETE, "params": {x.CRITERION_ID_MEMBER: criterion.id}}


# -- what is looked up --------------------------------------------------------------------------------------------


fetch_rows = partial(flows.fetch_rows, following=x.build_next_request, parse=x.parse_rows)


def fetch_funding_instruments(network: Network, account_id: str, **query: str) -> Flow[list[Mapping[str, Json]]]:
    """Read the funding instruments of an account, or only those that the query names."""
    request = x.build_request("GET", "/accounts/{account}/funding_instruments", query, account=account_id)
    return (yield from fetch_rows(network, request))


def is_promotable(network: Network, account: Account, post: str) -> Flow[bool]:
    """Return whether the post was published by the account's user or by another user that it may promote."""
    users: list[dict[str, str]] = [{}]
    for user in users:
        if (yield from fetch_rows(network, x.build_posts_request(account, {"tweet_ids": post, **user}))):
            return True
        if not user:  # without a user_id, X lists only posts of the full promotable user
            others = yield from fetch_rows(
                network, x.build_account_get_request(account, "promotable_users", count=x.PAGE_SIZE)
            )
            users += [
                {"user_id": require_id(other, "/user_id", "promotable user")}
                for other in others
                if get_text(other, "/promotable_user_type") != x.FULL_PROMOTABLE_USER
            ]
    return False


def fetch_country_ids(network: Network, countries: Sequence[str]) -> Flow[list[str]]:
    """Return the location IDs of countries in their order. Raises InvalidInput for unknown ones."""
    ids: list[str] = []
    issues: list[Issue] = []
    for index, country in enumerate(countries):
        response = yield from fetch_response(
            network, x.build_locations_request({"location_type": x.COUNTRIES, "country_code": country})
        )
        matches = [row for row in get_objects(response.body, "/data") if get_text(row, "/country_code") == country]
        if matches:
            ids.append(require_id(matches[0], "/targeting_value", "location"))
        else:
            message = "X has no location for this country; it is never left out."
            issues.append(Issue(f"targeting.countries.{index}", "not_found", message))
    raise_if_issues(issues)
    return ids


def fetch_native_criteria(network: Network, account: Account, line_item: str) -> Flow[list[Mapping[str, Json]]]:
    """Read all targeting criteria of a line item in their native form."""
    request = x.build_account_get_request(account, "targeting_criteria", line_item_ids=line_item, count=x.PAGE_SIZE)
    return (yield from fetch_rows(network, request))


def fetch_criteria(network: Network, account: Account, line_item: str) -> Flow[list[Criterion]]:
    """Read all targeting criteria of a line item."""
    return [parse_criterion(row) for row in (yield from fetch_native_criteria(network, account, line_item))]


# -- what an edit says --------------------------------------------------------------------------------------------

TargetingPartBuilder = Callable[[Json, Sequence[Criterion], str], list[Criterion]]
"""Builds the new criteria of a type from an edit's value and the present criteria. The path is for errors."""


def _criteria_builder(type_: str, operator: str = EQUAL) -> TargetingPartBuilder:
    def build_targeting_criteria(items: Json, current: Sequence[Criterion], path: str) -> list[Criterion]:
        return [Criterion(type_, item["id"], operator) for item in items]

    return build_targeting_criteria


def _build_gender_criteria(items: Json, current: Sequence[Criterion], path: str) -> list[Criterion]:
    return [Criterion(GENDER, native) for native in to_native_genders("X", GENDERS, items, path)]


EDITABLE_TARGETING: Mapping[str, tuple[str, str, TargetingPartBuilder]] = {
    "locations": (LOCATION, EQUAL, _criteria_builder(LOCATION)),
    "excludedLocations": (LOCATION, UNEQUAL, _criteria_builder(LOCATION, UNEQUAL)),
    "languages": (LANGUAGE, EQUAL, _criteria_builder(LANGUAGE)),
    "interests": (INTEREST, EQUAL, _criteria_builder(INTEREST)),
    "excludedInterests": (INTEREST, UNEQUAL, _criteria_builder(INTEREST, UNEQUAL)),
    "genders": (GENDER, EQUAL, _build_gender_criteria),
    "devices": (DEVICE, EQUAL, _criteria_builder(DEVICE)),
}
AGE_MEMBERS = ("ageMin", "ageMax")
MAX_AGE = 65  # the greatest age of an edit; as ageMax it means no upper limit
_match_age_bucket = re.compile(r"AGE_(?:OVER_)?([0-9]+)(?:_TO_([0-9]+))?").fullmatch


def _replace_age(new_members: Mapping[str, Json], current: Sequence[Criterion]) -> list[Criterion]:
    """Return the age bucket. A bound that the edit does not name stays unchanged."""
    current_bucket = _match_age_bucket(current[0].value) if current else None
    least, most = current_bucket.groups() if current_bucket is not None else (None, None)
    least, most = new_members.get("ageMin", least), new_members.get("ageMax", most)
    bucket = f"AGE_OVER_{least}" if most in (None, MAX_AGE) else f"AGE_{least}_TO_{most}"
    if bucket not in AGE_BUCKETS:
        path = next(f"targeting.{name}" for name in AGE_MEMBERS if name in new_members)
        raise invalid_input(path, "choice", f"X takes these ages: {', '.join(AGE_BUCKETS)}.")
    return [Criterion(AGE, bucket)]


@frozen
class CriteriaDiff:
    """The result of an edit of the targeting: criteria to create, criteria to delete, and each change."""

    created: tuple[Criterion, ...]
    deleted: tuple[Criterion, ...]
    changes: tuple[Change, ...]


def diff_criteria(current: Sequence[Criterion], new_members: Mapping[str, Json]) -> CriteriaDiff:
    """Compare the types that the edit names; all others stay unchanged. Raises InvalidInput with all issues."""
    created: list[Criterion] = []
    deleted: list[Criterion] = []
    changes: list[Change] = []
    issues: list[Issue] = []

    def compare(name: str, path: str, existing: Sequence[Criterion], aimed: Sequence[Criterion]) -> None:
        before, after = {criterion.key for criterion in existing}, {criterion.key: criterion for criterion in aimed}
        created.extend(criterion for item, criterion in after.items() if item not in before)
        deleted.extend(criterion for criterion in existing if criterion.key not in after)
        change = Change(
            name, [criterion.value for criterion in existing], [criterion.value for criterion in after.values()]
        )
        changes.append(require_change(change, path))

    for name, value in new_members.items():
        try:
            if name in EDITABLE_TARGETING:
                type_, operator, part = EDITABLE_TARGETING[name]
                current_ages = [
                    criterion for criterion in current if criterion.type == type_ and criterion.operator == operator
                ]
                compare(name, f"targeting.{name}", current_ages, part(value, current_ages, f"targeting.{name}"))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    ages = {name: new_members[name] for name in AGE_MEMBERS if new_members.get(name) is not None}
    if ages:
        current_ages = [criterion for criterion in current if criterion.type == AGE]
        try:
            compare("age", f"targeting.{next(iter(ages))}", current_ages, _replace_age(ages, current_ages))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    if not issues and len(created) + len(deleted) > MAX_BATCH_SIZE:
        issues.append(Issue("targeting", "too_many", f"X takes at most {MAX_BATCH_SIZE} changes of criteria at once."))
    raise_if_issues(issues)
    return CriteriaDiff(tuple(created), tuple(deleted), tuple(changes))
