"""TikTok's targeting: from a brief, from the list of regions, and from an edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import PartBuilder, list_item_ids, replace_members
from adsunify.adapter.edits import require_change
from adsunify.adapter.flows import fetch_pages, fetch_response, fetch_rows
from adsunify.adapter.network import Network, split_words
from adsunify.errors import InvalidInput, Issue, ProviderThrottled, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id

from . import native as tiktok

GEOGRAPHY_MEMBERS = ("location_ids", "zipcode_ids")
TARGETING_MEMBERS = split_words(
    "location_ids zipcode_ids languages gender age_groups spending_power household_income audience_ids"
    " excluded_audience_ids interest_category_ids interest_keyword_ids purchase_intention_keyword_ids actions"
    " operating_systems min_android_version min_ios_version device_model_ids device_price_ranges network_types"
    " carrier_ids isp_ids saved_audience_id smart_audience_enabled smart_interest_behavior_enabled brand_safety_type"
    " category_exclusion_ids contextual_tag_ids"
)
# The members that a targeting_spec of Smart+ does not have.
MANUAL_ONLY_MEMBERS = ("brand_safety_type", "category_exclusion_ids", "contextual_tag_ids")
ANY_GENDER = "GENDER_UNLIMITED"
GENDERS = {"male": "GENDER_MALE", "female": "GENDER_FEMALE"}
OPERATING_SYSTEMS = ("ANDROID", "IOS")
MAX_AGE = 65  # the largest ageMax of an edit, which means no upper limit
# First and last year of each group. The last group has no upper limit, which is written as 100.
AGE_RANGES = {
    "AGE_13_17": (13, 17),
    "AGE_18_24": (18, 24),
    "AGE_25_34": (25, 34),
    "AGE_35_44": (35, 44),
    "AGE_45_54": (45, 54),
    "AGE_55_100": (55, 100),
}


# -- what a brief says --------------------------------------------------------------------------------------------


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting is refused; None if it is valid."""
    unknown = sorted(set(targeting) - set(TARGETING_MEMBERS))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it takes {', '.join(TARGETING_MEMBERS)}"
    ids: list[Json] = []
    for name in GEOGRAPHY_MEMBERS:
        items = targeting.get(name, [])
        if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
            return f"{name} is a list of ids, as text"
        ids += items
    if not ids:
        return "the targeting names no geography (location_ids or zipcode_ids)"
    return f"it takes at most {tiktok.MAX_LOCATIONS} locations" if len(ids) > tiktok.MAX_LOCATIONS else None


def resolve_locations(brief: CampaignBrief, regions: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return the location IDs of the brief's countries and locations. Raises InvalidInput with all issues."""
    countries = {
        get_text(region, "/region_code"): region for region in regions if get_value(region, "/level") == "COUNTRY"
    }
    known = {parse_id(get_value(region, "/location_id")): region for region in regions}
    issues: list[Issue] = []
    chosen: dict[str, str] = {}
    for index, country in enumerate(brief.targeting.countries or ()):
        place = f"targeting.countries.{index}"
        location_id = parse_id(get_value(countries.get(country), "/location_id"))
        if location_id is None:
            issues.append(Issue(place, "not_deliverable", f"TikTok does not deliver to {country} for this account."))
        else:
            chosen.setdefault(location_id, place)
    for index, location in enumerate(brief.targeting.location_ids or ()):
        place = f"targeting.locationIds.{index}"
        if location not in known:
            issues.append(Issue(place, "not_found", "TikTok has no such location, or does not deliver to it."))
        elif location in chosen:
            issues.append(Issue(place, "conflict", "TikTok takes each location once."))
        else:
            chosen[location] = place
    for location, place in chosen.items():
        if chosen.keys() & _get_containing_locations(location, known):
            message = "It lies inside another location of the brief; TikTok takes one of the two."
            issues.append(Issue(place, "conflict", message))
    raise_if_issues(issues)
    return list(chosen)


def _get_containing_locations(location: str, known: Mapping[str | None, Mapping[str, Json]]) -> set[str]:
    """Return the locations that contain this one."""
    containing: set[str] = set()
    parent = parse_id(get_value(known.get(location), "/parent_id"))
    while parent is not None and parent not in containing and parent != location:
        containing.add(parent)
        parent = parse_id(get_value(known.get(parent), "/parent_id"))
    return containing


# -- what is looked up --------------------------------------------------------------------------------------------

VIDEO_PATH, IDENTITY_PATH = "creative.existingId", "platform.identityId"


@frozen
class BriefLookups:
    """The results of a brief's look-ups: business centre of a BC_AUTH_TT identity, ID of the cover, location IDs."""

    business_center: str | None
    cover: str | None
    locations: list[str] | None


def fetch_brief_lookups(network: Network, account: Account, brief: CampaignBrief) -> Flow[BriefLookups]:
    """Do all look-ups of a brief. Raises InvalidInput for objects that do not exist or may not be used."""
    content, targeting = brief.creative, brief.targeting
    video = content.existing_id or ""
    yield from ensure_video_usable(network, account, video)
    centre = yield from fetch_identity_center(
        network, account, brief.platform.identity_id or "", brief.platform.identity_type or ""
    )
    cover = content.image_hash
    if cover is None and content.image_url is None:
        cover = yield from fetch_suggested_cover(network, account, video)
    locations = None
    if targeting.native is None:
        extent = "ALL" if targeting.location_ids else "TO_COUNTRY"
        answer = yield from fetch_response(network, tiktok.build_regions_request(account, extent))
        locations = resolve_locations(brief, tiktok.parse_named_rows(answer, "region_info"))
    return BriefLookups(centre, cover, locations)


def ensure_video_usable(network: Network, account: Account, video_id: str, path: str = VIDEO_PATH) -> Flow[None]:
    """Check that the video can be an ad on TikTok. Raises ProviderThrottled while TikTok processes it."""
    answer = yield from fetch_response(
        network, tiktok.build_account_get_request(account, "/file/video/ad/info/", video_ids=[video_id])
    )
    videos = tiktok.parse_rows(answer)
    if not videos:  # API for Business: unknown and unusable IDs are left out of the response
        raise invalid_input(path, "not_found", "TikTok has no such video for ads in this account.")
    if get_value(videos[0], "/displayable") is not True:
        message = "TikTok is still processing the video; it can be used once it is displayable."
        raise ProviderThrottled(message, code="media_processing", retry_after=tiktok.PROCESSING_RETRY_DELAY)
    allowed = get_value(videos[0], "/allowed_placements")
    if isinstance(allowed, list) and allowed and tiktok.TIKTOK_PLACEMENT not in allowed:
        raise invalid_input(path, "not_eligible", "The video may not be placed on TikTok itself.")


def fetch_suggested_cover(
    network: Network, account: Account, video_id: str, path: str = "creative.imageHash"
) -> Flow[str]:
    """Return the ID of the first cover that TikTok suggests."""
    # unverified: an ad may use the ID of a suggested cover.
    answer = yield from fetch_response(network, tiktok.build_covers_request(account, video_id, 1))
    for row in tiktok.parse_rows(answer):
        cover = parse_id(get_value(row, "/id"))
        if cover is not None:
            return cover
    raise invalid_input(path, "required", "TikTok suggests no cover for the video; name one as imageHash or imageUrl.")


def _find_identity(
    network: Network, account: Account, identity_id: str, kind: str, **query: str
) -> Flow[Mapping[str, Json] | None]:
    request = tiktok.build_account_get_request(
        account, "/identity/get/", **query, page="1", page_size=str(tiktok.IDENTITY_PAGE_SIZE)
    )
    answers = yield from fetch_pages(network, request, tiktok.build_next_request)
    for answer in answers:
        for row in tiktok.parse_named_rows(answer, "identity_list"):
            if get_text(row, "/identity_id") == identity_id and get_text(row, "/identity_type", kind) == kind:
                return row
    return None


def fetch_identity_center(network: Network, account: Account, identity_id: str, kind: str) -> Flow[str | None]:
    """Check that the identity may be used for ads. Returns its business centre, or None if it has none."""
    centre = None
    if kind == tiktok.BUSINESS_CENTER_USER:
        # API for Business: a request with this type must name the centre, so the first request names no type.
        identity = yield from _find_identity(network, account, identity_id, kind)
        centre = get_text(identity, "/identity_authorized_bc_id")
        if centre is None:
            identity, centre = yield from _find_identity_in_centers(network, account, identity_id)
    else:
        identity = yield from _find_identity(network, account, identity_id, kind, identity_type=kind)
    if identity is None:
        raise invalid_input(IDENTITY_PATH, "not_found", f"The account has no identity of the type {kind} with this id.")
    if kind in tiktok.TIKTOK_ACCOUNTS:
        state = get_text(identity, "/available_status") or tiktok.AVAILABLE
        if state != tiktok.AVAILABLE:
            raise invalid_input(
                IDENTITY_PATH, "not_eligible", f"TikTok says that the identity is not available: {state[:60]}."
            )
        if get_value(identity, "/can_push_video") is False:
            raise invalid_input(IDENTITY_PATH, "not_eligible", "The identity does not let ads push videos.")
        if get_value(identity, "/is_gpppa") is True:
            raise invalid_input(IDENTITY_PATH, "not_eligible", "The identity is of a government, politician or party.")
    return centre


def _find_identity_in_centers(
    network: Network, account: Account, identity_id: str
) -> Flow[tuple[Mapping[str, Json] | None, str | None]]:
    """Find the identity in the business centres that the token reaches. Returns it with its centre."""
    query = {"page": "1", "page_size": str(tiktok.BUSINESS_CENTER_PAGE_SIZE)}
    request = Request("GET", f"{tiktok.API_URL}/bc/get/", query=query)
    for row in (yield from fetch_rows(network, request, tiktok.build_next_request, tiktok.parse_rows)):
        centre = parse_id(get_value(row, "/bc_info/bc_id"))  # unverified: bc_info.bc_id is the ID
        if centre is None:
            continue
        kind = tiktok.BUSINESS_CENTER_USER
        identity = yield from _find_identity(
            network, account, identity_id, kind, identity_type=kind, identity_authorized_bc_id=centre
        )
        if identity is not None:
            return identity, get_text(identity, "/identity_authorized_bc_id") or centre
    return None, None


# -- what an edit says --------------------------------------------------------------------------------------------


def _invalid_targeting(path: str, code: str, message: str) -> InvalidInput:
    return invalid_input(path, code, f"TikTok: {message}")


def _build_ids(items: Json, path: str) -> Json:
    return list_item_ids(items)


def _build_genders(items: Json, path: str) -> Json:
    if any(gender not in GENDERS for gender in items):
        raise _invalid_targeting(path, "not_supported", f"takes these genders: {', '.join(GENDERS)}.")
    return GENDERS[items[0]] if len(set(items)) == 1 else ANY_GENDER


def _build_operating_systems(items: Json, path: str) -> Json:
    names = [item["id"] for item in items]
    if any(name not in OPERATING_SYSTEMS for name in names):
        raise _invalid_targeting(path, "choice", f"takes these: {', '.join(OPERATING_SYSTEMS)}.")
    return names


EDITABLE_TARGETING: Mapping[str, tuple[str, PartBuilder]] = {
    "locations": ("location_ids", _build_ids),
    "genders": ("gender", _build_genders),
    "languages": ("languages", _build_ids),
    "interests": ("interest_category_ids", _build_ids),
    "devices": ("operating_systems", _build_operating_systems),
}
LOCKED_REASONS = {
    "excludedLocations": "it excludes no locations",
    "excludedInterests": "it excludes no interests",
    "placements": "they are fixed when the ad group is made",
}
AGE_MEMBERS = ("ageMin", "ageMax")


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns changed members, and each change. Raises InvalidInput with all issues."""
    members: dict[str, Json] = {}
    changes: list[Change] = []
    issues: list[Issue] = []
    try:
        members, changes = replace_members(EDITABLE_TARGETING, current, new_members)
    except InvalidInput as problem:
        issues.extend(problem.issues)
    if not new_members.keys().isdisjoint(AGE_MEMBERS):
        try:
            members["age_groups"] = _select_age_ranges(current, new_members)
            change = Change("age", current.get("age_groups"), members["age_groups"])
            changes.append(
                require_change(change, next(f"targeting.{name}" for name in AGE_MEMBERS if name in new_members))
            )
        except InvalidInput as problem:
            issues.extend(problem.issues)
    raise_if_issues(issues)
    return members, changes


def _select_age_ranges(current: Mapping[str, Json], new_members: Mapping[str, Json]) -> list[str]:
    """Return the age groups from ``ageMin`` to ``ageMax``. A bound that the edit does not name stays unchanged."""
    groups = current.get("age_groups")
    had = (
        [AGE_RANGES[group] for group in groups if isinstance(group, str) and group in AGE_RANGES]
        if isinstance(groups, list)
        else []
    )
    least = new_members.get("ageMin", min((low for low, _ in had), default=18))
    most = new_members.get("ageMax", max((high for _, high in had), default=100))
    most = 100 if most == MAX_AGE else most
    if least not in [low for low, _ in AGE_RANGES.values()]:
        borders = ", ".join(str(low) for low, _ in AGE_RANGES.values())
        raise _invalid_targeting("targeting.ageMin", "choice", f"ages begin at one of {borders}.")
    if most not in [high for _, high in AGE_RANGES.values()]:
        borders = ", ".join(str(high) for _, high in AGE_RANGES.values() if high < MAX_AGE)
        raise _invalid_targeting(
            "targeting.ageMax", "choice", f"ages end at one of {borders}, or {MAX_AGE} for no end."
        )
    if most < least:
        raise _invalid_targeting("targeting.ageMin", "order", "the least age lies above the greatest.")
    return [name for name, (low, high) in AGE_RANGES.items() if least <= low and high <= most]
