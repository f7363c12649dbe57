"""Whom TikTok shows ads to: from a brief, from the region list, and from an edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, frozen

from adsunify.adapter.edit_members import targeted
from adsunify.adapter.edits import require_change
from adsunify.adapter.flows import ask, pages
from adsunify.adapter.network import Account, Network, words
from adsunify.errors import InvalidInput, Issue, ProviderThrottled, refuse, refused
from adsunify.http.messages import Flow, Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import identifier, read, text

from . import native as tiktok

GEOGRAPHY = ("location_ids", "zipcode_ids")
NATIVE = words(
    "location_ids zipcode_ids languages gender age_groups spending_power household_income audience_ids"
    " excluded_audience_ids interest_category_ids interest_keyword_ids purchase_intention_keyword_ids actions"
    " operating_systems min_android_version min_ios_version device_model_ids device_price_ranges network_types"
    " carrier_ids isp_ids saved_audience_id smart_audience_enabled smart_interest_behavior_enabled brand_safety_type"
    " category_exclusion_ids contextual_tag_ids"
)
MANUAL_ONLY = ("brand_safety_type", "category_exclusion_ids", "contextual_tag_ids")  # not in a Smart+ targeting_spec
UNLIMITED = "GENDER_UNLIMITED"
GENDERS = {"male": "GENDER_MALE", "female": "GENDER_FEMALE"}
SYSTEMS = ("ANDROID", "IOS")
# From and to, in years; the last group is open, and 100 stands for that.
OLDEST = 65  # what an edit can say at most, and means: no upper end
AGES = {
    "AGE_13_17": (13, 17),
    "AGE_18_24": (18, 24),
    "AGE_25_34": (25, 34),
    "AGE_35_44": (35, 44),
    "AGE_45_54": (45, 54),
    "AGE_55_100": (55, 100),
}


# -- what a brief says --------------------------------------------------------------------------------------------


def wrong_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting in TikTok's own names; None where nothing is."""
    unknown = sorted(set(targeting) - set(NATIVE))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it takes {', '.join(NATIVE)}"
    ids: list[Json] = []
    for name in GEOGRAPHY:
        found = targeting.get(name, [])
        if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
            return f"{name} is a list of ids, as text"
        ids += found
    if not ids:
        return "the targeting names no geography (location_ids or zipcode_ids)"
    return f"it takes at most {tiktok.LOCATIONS} locations" if len(ids) > tiktok.LOCATIONS else None


def resolved(brief: CampaignBrief, regions: Sequence[Mapping[str, Json]]) -> list[str]:
    """The location ids of the brief's countries and locations. Raises InvalidInput with all issues."""
    countries = {text(one, "/region_code"): one for one in regions if read(one, "/level") == "COUNTRY"}
    known = {identifier(read(one, "/location_id")): one for one in regions}
    issues: list[Issue] = []
    chosen: dict[str, str] = {}
    for index, country in enumerate(brief.targeting.countries or ()):
        place = f"targeting.countries.{index}"
        found = identifier(read(countries.get(country), "/location_id"))
        if found is None:
            issues.append(Issue(place, "not_deliverable", f"TikTok does not deliver to {country} for this account."))
        else:
            chosen.setdefault(found, place)
    for index, location in enumerate(brief.targeting.location_ids or ()):
        place = f"targeting.locationIds.{index}"
        if location not in known:
            issues.append(Issue(place, "not_found", "TikTok has no such location, or does not deliver to it."))
        elif location in chosen:
            issues.append(Issue(place, "conflict", "TikTok takes each location once."))
        else:
            chosen[location] = place
    for location, place in chosen.items():
        if chosen.keys() & _around(location, known):
            message = "It lies inside another location of the brief; TikTok takes one of the two."
            issues.append(Issue(place, "conflict", message))
    refuse(issues)
    return list(chosen)


def _around(location: str, known: Mapping[str | None, Mapping[str, Json]]) -> set[str]:
    """The locations that contain this one."""
    found: set[str] = set()
    parent = identifier(read(known.get(location), "/parent_id"))
    while parent is not None and parent not in found and parent != location:
        found.add(parent)
        parent = identifier(read(known.get(parent), "/parent_id"))
    return found


# -- what is looked up --------------------------------------------------------------------------------------------

VIDEO, IDENTITY = "creative.existingId", "platform.identityId"


@frozen
class Found:
    """What the plan holds of it: the business centre of a BC_AUTH_TT identity, the cover's id, the location ids."""

    centre: str | None
    cover: str | None
    locations: list[str] | None


def found_for(network: Network, account: Account, brief: CampaignBrief) -> Flow[Found]:
    """All look-ups of a brief. Raises InvalidInput for what TikTok has not or does not permit."""
    content, targeting = brief.creative, brief.targeting
    video = content.existing_id or ""
    yield from usable(network, account, video)
    centre = yield from sender(network, account, brief.platform.identity_id or "", brief.platform.identity_type or "")
    cover = content.image_hash
    if cover is None and content.image_url is None:
        cover = yield from suggested(network, account, video)
    locations = None
    if targeting.native is None:
        extent = "ALL" if targeting.location_ids else "TO_COUNTRY"
        answer = yield from ask(network, tiktok.regions(account, extent))
        locations = resolved(brief, tiktok.listed(answer, "region_info"))
    return Found(centre, cover, locations)


def usable(network: Network, account: Account, video_id: str, path: str = VIDEO) -> Flow[None]:
    """Whether the video can be an ad on TikTok. Raises ProviderThrottled while it is still being processed."""
    answer = yield from ask(network, tiktok.asked(account, "/file/video/ad/info/", video_ids=[video_id]))
    found = tiktok.listed(answer)
    if not found:  # API for Business: an id that is unknown or of no use is left out without a word
        raise refused(path, "not_found", "TikTok has no such video for ads in this account.")
    if read(found[0], "/displayable") is not True:
        message = "TikTok is still processing the video; it can be used once it is displayable."
        raise ProviderThrottled(message, code="media_processing", retry_after=tiktok.PROCESSING_WAIT)
    allowed = read(found[0], "/allowed_placements")
    if isinstance(allowed, list) and allowed and tiktok.ON_TIKTOK not in allowed:
        raise refused(path, "not_eligible", "The video may not be placed on TikTok itself.")


def suggested(network: Network, account: Account, video_id: str, path: str = "creative.imageHash") -> Flow[str]:
    """The first cover that TikTok suggests; that its id may be used as it is, is (unverified)."""
    answer = yield from ask(network, tiktok.covers(account, video_id, 1))
    for row in tiktok.listed(answer):
        found = identifier(read(row, "/id"))
        if found is not None:
            return found
    raise refused(path, "required", "TikTok suggests no cover for the video; name one as imageHash or imageUrl.")


def _following(request: Request, response: Response) -> Request | None:
    page = tiktok.next_page(response)
    return None if page is None else evolve(request, query={**request.query, "page": str(page)})


def _match(
    network: Network, account: Account, identity_id: str, kind: str, **query: str
) -> Flow[Mapping[str, Json] | None]:
    asked = tiktok.asked(account, "/identity/get/", **query, page="1", page_size=str(tiktok.IDENTITY_PAGE))
    answers = yield from pages(network, asked, _following)
    for answer in answers:
        for row in tiktok.listed(answer, "identity_list"):
            if text(row, "/identity_id") == identity_id and text(row, "/identity_type", kind) == kind:
                return row
    return None


def sender(network: Network, account: Account, identity_id: str, kind: str) -> Flow[str | None]:
    """Whether the identity may send ads; for one of a business centre, which centre that is."""
    centre = None
    if kind == tiktok.CENTRE_USER:
        # API for Business: with this type the call needs the centre, so it is asked without a type first.
        found = yield from _match(network, account, identity_id, kind)
        centre = text(found, "/identity_authorized_bc_id")
        if centre is None:
            found, centre = yield from _in_centres(network, account, identity_id)
    else:
        found = yield from _match(network, account, identity_id, kind, identity_type=kind)
    if found is None:
        raise refused(IDENTITY, "not_found", f"The account has no identity of the type {kind} with this id.")
    if kind in tiktok.TIKTOK_ACCOUNTS:
        state = text(found, "/available_status") or tiktok.AVAILABLE
        if state != tiktok.AVAILABLE:
            raise refused(IDENTITY, "not_eligible", f"TikTok says that the identity is not available: {state[:60]}.")
        if read(found, "/can_push_video") is False:
            raise refused(IDENTITY, "not_eligible", "The identity does not let ads push videos.")
        if read(found, "/is_gpppa") is True:
            raise refused(IDENTITY, "not_eligible", "The identity is of a government, politician or party.")
    return centre


def _in_centres(
    network: Network, account: Account, identity_id: str
) -> Flow[tuple[Mapping[str, Json] | None, str | None]]:
    """The identity in one of the business centres that the token reaches."""
    query = {"page": "1", "page_size": str(tiktok.CENTRE_PAGE)}
    answers = yield from pages(network, Request("GET", f"{tiktok.BASE}/bc/get/", query=query), _following)
    for row in (row for answer in answers for row in tiktok.listed(answer)):
        centre = identifier(read(row, "/bc_info/bc_id"))  # (unverified)
        if centre is None:
            continue
        kind = tiktok.CENTRE_USER
        found = yield from _match(
            network, account, identity_id, kind, identity_type=kind, identity_authorized_bc_id=centre
        )
        if found is not None:
            return found, text(found, "/identity_authorized_bc_id") or centre
    return None, None


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, str], Json]
"""From the wanted value and the path to name, to the native value."""


def _refuse(path: str, code: str, message: str) -> InvalidInput:
    return refused(path, code, f"TikTok: {message}")


def _ids(items: Json, path: str) -> Json:
    return [item["id"] for item in items]


def _genders(items: Json, path: str) -> Json:
    if any(one not in GENDERS for one in items):
        raise _refuse(path, "not_supported", f"takes these genders: {', '.join(GENDERS)}.")
    return GENDERS[items[0]] if len(set(items)) == 1 else UNLIMITED


def _systems(items: Json, path: str) -> Json:
    found = [item["id"] for item in items]
    if any(one not in SYSTEMS for one in found):
        raise _refuse(path, "choice", f"takes these: {', '.join(SYSTEMS)}.")
    return found


PARTS: Mapping[str, tuple[str, Part]] = {
    "locations": ("location_ids", _ids),
    "genders": ("gender", _genders),
    "languages": ("languages", _ids),
    "interests": ("interest_category_ids", _ids),
    "devices": ("operating_systems", _systems),
}
LOCKED = {
    "excludedLocations": "it excludes no locations",
    "excludedInterests": "it excludes no interests",
    "placements": "they are fixed when the ad group is made",
}
AGE = ("ageMin", "ageMax")


def retargeted(current: Mapping[str, Json], wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The changed members, and each change in words. Raises InvalidInput with all issues."""
    members: dict[str, Json] = {}
    issues: list[Issue] = []

    def lay(name: str, row: tuple[str, Part], value: Json, path: str) -> Change:
        member, part = row
        members[member] = part(value, path)
        return Change(name, current.get(member), members[member])

    changes: list[Change] = []
    try:
        changes += targeted(PARTS, wanted, lay)
    except InvalidInput as problem:
        issues.extend(problem.issues)
    if not wanted.keys().isdisjoint(AGE):
        try:
            members["age_groups"] = _ages(current, wanted)
            change = Change("age", current.get("age_groups"), members["age_groups"])
            changes.append(require_change(change, next(f"targeting.{name}" for name in AGE if name in wanted)))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    refuse(issues)
    return members, changes


def _ages(current: Mapping[str, Json], wanted: Mapping[str, Json]) -> list[str]:
    """The age groups from ``ageMin`` to ``ageMax``; what is not named stays at the border that it has."""
    groups = current.get("age_groups")
    had = [AGES[one] for one in groups if isinstance(one, str) and one in AGES] if isinstance(groups, list) else []
    least = wanted.get("ageMin", min((low for low, _ in had), default=18))
    most = wanted.get("ageMax", max((high for _, high in had), default=100))
    most = 100 if most == OLDEST else most
    if least not in [low for low, _ in AGES.values()]:
        borders = ", ".join(str(low) for low, _ in AGES.values())
        raise _refuse("targeting.ageMin", "choice", f"ages begin at one of {borders}.")
    if most not in [high for _, high in AGES.values()]:
        borders = ", ".join(str(high) for _, high in AGES.values() if high < OLDEST)
        raise _refuse("targeting.ageMax", "choice", f"ages end at one of {borders}, or {OLDEST} for no end.")
    if most < least:
        raise _refuse("targeting.ageMin", "order", "the least age lies above the greatest.")
    return [name for name, (low, high) in AGES.items() if least <= low and high <= most]
