"""LinkedIn's ``targetingCriteria``: its valid form, and how an edit changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from adsunify.adapter.edit_members import apply_targeting, to_native_genders
from adsunify.adapter.edits import require_change
from adsunify.adapter.flows import fetch_if_possible
from adsunify.adapter.network import Network
from adsunify.errors import InvalidInput, Issue, ProviderThrottled, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_text, get_value

from . import native as linkedin

PLACE_FACETS = (f"{linkedin.FACET_URN}locations", f"{linkedin.FACET_URN}profileLocations")
INCLUDE_ONLY_FACETS = tuple(
    linkedin.FACET_URN + name for name in ("ageRanges", "genders", "groups", "interfaceLocales")
)
CONFLICTING_FACETS = tuple(
    (linkedin.FACET_URN + facet, linkedin.FACET_URN + conflicting_facet)
    for facet, conflicting_facet in (
        ("jobFunctions", "titles"),
        ("seniorities", "titles"),
        ("industries", "employers"),
        ("staffCountRanges", "employers"),
    )
)


# -- what a brief says --------------------------------------------------------------------------------------------


def find_native_targeting_error(targeting: Json) -> str | None:
    """Return why a ``targetingCriteria`` object is refused; None if it is valid."""
    if not isinstance(targeting, Mapping) or not set(targeting) <= {"include", "exclude"}:
        return "it holds include and exclude only"
    members = get_value(targeting, "/include/and")
    if not _has_single_member(targeting.get("include"), "and") or not isinstance(members, list | tuple) or not members:
        return "include is {and: [...]} with at least one member"
    groups = [member.get("or") if _has_single_member(member, "or") else None for member in members]
    excluded = {}
    if "exclude" in targeting:
        excluded = get_value(targeting, "/exclude/or")
        if not _has_single_member(targeting["exclude"], "or"):
            return "exclude is {or: {...}}"
    for facets in (*groups, *([excluded] if "exclude" in targeting else [])):
        if wrong := _find_facets_error(facets):
            return wrong
    return _find_facet_conflict([group for group in groups if isinstance(group, Mapping)], excluded)


def _has_single_member(value: Json, member: str) -> bool:
    return isinstance(value, Mapping) and set(value) == {member}


def _find_facets_error(facets: Json) -> str | None:
    if not isinstance(facets, Mapping) or not facets:
        return "each member is {or: {facet: [value, ...]}}"
    for facet, values in facets.items():
        if not facet.startswith(linkedin.FACET_URN):
            return f"a facet begins with {linkedin.FACET_URN}"
        if not isinstance(values, list | tuple) or not values:
            return "a facet has a list of at least one value"
        if not all(isinstance(value, str) and value.startswith("urn:li:") for value in values):
            return "a value is a URN, urn:li:..."
    return None


def _find_facet_conflict(groups: Sequence[Mapping[str, Json]], excluded: Mapping[str, Json]) -> str | None:
    if not any(place in group for group in groups for place in PLACE_FACETS):
        return "include names no place (the facet locations or profileLocations)"
    for facet, values in excluded.items():
        if facet in INCLUDE_ONLY_FACETS:
            return f"{linkedin.parse_urn_id(facet)} can be included only"
        included = {value for group in groups for value in group.get(facet, ())}
        if not included.isdisjoint(values):
            return f"a value of {linkedin.parse_urn_id(facet)} is both included and excluded"
    for pair, other in CONFLICTING_FACETS:
        if any(pair in group and other in another for group in groups for another in groups if group is not another):
            return f"{linkedin.parse_urn_id(pair)} and {linkedin.parse_urn_id(other)} cannot be asked for together"
    return None


# -- what is looked up --------------------------------------------------------------------------------------------

UNREADABLE_POST_WARNING = (
    "The post could not be read, so the campaign's format is left out: that is right for image, article and text "
    "posts; a video or carousel post would be refused at the last step."
)
PROCESSING_RETRY_DELAY = 60.0


@frozen
class PostDetails:
    """What a plan needs to know about a post: the campaign's ``format``, and warnings for the reviewer."""

    format: str | None = None
    warnings: tuple[str, ...] = ()


def fetch_post(network: Network, page: str, reference: str) -> Flow[PostDetails]:
    """Read the post, if it can be read. Raises InvalidInput if it is not published or its video failed."""
    response = yield from fetch_if_possible(
        network, linkedin.build_restli_request("posts/{post}", {"post": reference}, {})
    )
    if response is None:
        return PostDetails(warnings=(UNREADABLE_POST_WARNING,))
    state, author = get_text(response.body, "/lifecycleState"), get_text(response.body, "/author")
    if state is not None and state != linkedin.PUBLISHED:
        raise invalid_input("creative.existingId", "ineligible", f"LinkedIn: the post is not published ({state[:60]}).")
    warnings: tuple[str, ...] = ()
    if author is not None and author != page:
        warnings = ("The post's author is another page than the campaign is for.",)
    media = get_text(response.body, "/content/media/id") or ""
    if media.startswith(linkedin.VIDEO_URN):
        yield from _ensure_video_ready(network, media)
        return PostDetails("SINGLE_VIDEO", warnings)
    return PostDetails("CAROUSEL" if get_value(response.body, "/content/carousel") is not None else None, warnings)


def _ensure_video_ready(network: Network, video: str) -> Flow[None]:
    """Raise InvalidInput for a failed video, and ProviderThrottled for one that LinkedIn still processes."""
    # unverified: PROCESSING, PROCESSING_FAILED and WAITING_UPLOAD are the statuses of a video that is not ready.
    response = yield from fetch_if_possible(
        network, linkedin.build_restli_request("videos/{video}", {"video": video}, {})
    )
    status = get_text(response.body, "/status") if response is not None else None
    if status == "PROCESSING":
        message = "LinkedIn is still processing the post's video."
        raise ProviderThrottled(message, code="media_processing", retry_after=PROCESSING_RETRY_DELAY)
    if status in ("PROCESSING_FAILED", "WAITING_UPLOAD"):
        raise invalid_input(
            "creative.existingId", "ineligible", f"LinkedIn: the post's video is not usable ({status})."
        )


# -- what an edit says --------------------------------------------------------------------------------------------

TargetingPartBuilder = Callable[[Json, Mapping[str, Json], str], "list[str]"]
"""Builds the values of a facet from an edit's value and the present criteria. The path is for errors."""
GENDERS: Mapping[str, str] = {"female": "urn:li:gender:FEMALE", "male": "urn:li:gender:MALE"}
MAX_AGE = 65  # the largest ageMax of an edit, which means no upper limit
# unverified: the age ranges, here with their first and last year.
AGE_RANGES: Mapping[tuple[int, int], str] = {
    (18, 24): "urn:li:ageRange:(18,24)",
    (25, 34): "urn:li:ageRange:(25,34)",
    (35, 54): "urn:li:ageRange:(35,54)",
    (55, MAX_AGE): "urn:li:ageRange:(55,2147483647)",
}
AGE_FACET = f"{linkedin.FACET_URN}ageRanges"


def get_urn_type(urn: str) -> str | None:
    """Return the type in a URN: ``geo`` for urn:li:geo:1."""
    names = urn.split(":")
    return names[2] if urn.startswith("urn:li:") and len(names) > 3 else None


def _build_urns(items: Json, criteria: Mapping[str, Json], path: str) -> list[str]:
    for index, item in enumerate(items):
        if not item["id"].startswith("urn:li:"):
            raise invalid_input(f"{path}.{index}.id", "invalid", "LinkedIn names what it targets by URNs, urn:li:...")
    return [item["id"] for item in items]


def _replace_gender_facets(items: Json, criteria: Mapping[str, Json], path: str) -> list[str]:
    return to_native_genders("LinkedIn", GENDERS, items, path)


def _select_age_facets(new_members: Mapping[str, Json], criteria: Mapping[str, Json]) -> list[str]:
    """Return the ranges from ageMin to ageMax. A bound that the edit does not name stays unchanged."""
    included = find_values(criteria, f"/include/and/*/or/{AGE_FACET}/*")
    now = [ages for ages, name in AGE_RANGES.items() if name in included] or list(AGE_RANGES)
    least, most = new_members.get("ageMin", now[0][0]), new_members.get("ageMax", now[-1][1])
    for name, age, position in (("ageMin", least, 0), ("ageMax", most, 1)):
        borders = [ages[position] for ages in AGE_RANGES]
        if age not in borders:
            accepted = ", ".join(map(str, borders))
            raise invalid_input(
                f"targeting.{name}", "choice", f"LinkedIn targets ranges of ages; {name} is one of {accepted}."
            )
    if least > most:
        raise invalid_input("targeting.ageMin", "order", "The least age lies above the greatest.")
    return [name for (first, end), name in AGE_RANGES.items() if least <= first and end <= most]


INCLUDED_FACETS: Mapping[str, tuple[str, TargetingPartBuilder]] = {
    "locations": (f"{linkedin.FACET_URN}locations", _build_urns),
    "languages": (f"{linkedin.FACET_URN}interfaceLocales", _build_urns),
    "interests": (f"{linkedin.FACET_URN}interests", _build_urns),
    "genders": (f"{linkedin.FACET_URN}genders", _replace_gender_facets),
}
EXCLUDED_FACETS: Mapping[str, tuple[str, TargetingPartBuilder]] = {
    "excludedLocations": (f"{linkedin.FACET_URN}locations", _build_urns),
    "excludedInterests": (f"{linkedin.FACET_URN}interests", _build_urns),
}
AGE_MEMBERS = ("ageMin", "ageMax")


def _with_included(criteria: Mapping[str, Json], facet: str, values: Sequence[str]) -> dict[str, Json]:
    """Return the criteria with the included values of a facet replaced. A new facet becomes a further condition."""
    left, members = list(values), []
    for member in get_value(criteria, "/include/and", []):
        facets = dict(get_value(member, "/or", {}))
        if facet in facets:
            del facets[facet]
            if left:
                facets, left = {**facets, facet: left}, []
        if facets:
            members.append({"or": facets})
    if left:
        members.append({"or": {facet: left}})
    return {**criteria, "include": {"and": members}}


def _with_excluded(criteria: Mapping[str, Json], facet: str, values: Sequence[str]) -> dict[str, Json]:
    """Return the criteria with the excluded values of a facet replaced."""
    facets = {name: item for name, item in get_value(criteria, "/exclude/or", {}).items() if name != facet}
    facets |= {facet: list(values)} if values else {}
    rest = {name: item for name, item in criteria.items() if name != "exclude"}
    return {**rest, "exclude": {"or": facets}} if facets else rest


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the criteria. Returns all criteria and each change. Raises InvalidInput with all issues.

    ``current`` has the form that :func:`find_native_targeting_error` accepts.
    """
    native = dict(current)
    changes: list[Change] = []
    issues: list[Issue] = []

    def lay(name: str, row: tuple[str, TargetingPartBuilder], value: Json, path: str) -> Change:
        nonlocal native
        facet, part = row
        values = part(value, native, path)
        if name in INCLUDED_FACETS:
            before, native = find_values(native, f"/include/and/*/or/{facet}/*"), _with_included(native, facet, values)
        else:
            before, native = find_values(native, f"/exclude/or/{facet}/*"), _with_excluded(native, facet, values)
        return Change(name, before, values)

    try:
        changes += apply_targeting({**INCLUDED_FACETS, **EXCLUDED_FACETS}, new_members, lay)
    except InvalidInput as problem:
        issues.extend(problem.issues)
    ages = {name: new_members[name] for name in AGE_MEMBERS if name in new_members}
    if ages:
        try:
            values = _select_age_facets(ages, native)
            change = Change(" and ".join(ages), find_values(native, f"/include/and/*/or/{AGE_FACET}/*"), values)
            changes.append(require_change(change, f"targeting.{next(iter(ages))}"))
            native = _with_included(native, AGE_FACET, values)
        except InvalidInput as problem:
            issues.extend(problem.issues)
    if not issues and (wrong := find_native_targeting_error(native)):
        issues.append(Issue("targeting", "invalid", f"LinkedIn would not take the changed criteria: {wrong}."))
    raise_if_issues(issues)
    return native, changes
