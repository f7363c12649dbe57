"""Targeting and texts of a campaign: places, languages, keywords and texts, from a brief and from an edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unicodedata import east_asian_width

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, require_change
from adsunify.adapter.native_money import is_number
from adsunify.errors import InvalidInput, Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.models.brief import CampaignBrief, Keyword
from adsunify.models.error_messages import find_web_url_error
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, set_value

from . import native as google

# Geo target constant = 2000 + ISO 3166-1 numeric. ISO lists more countries than Google Ads can target.
_COUNTRY_CODES_TEXT = """
    AD020 AE784 AF004 AG028 AI660 AL008 AM051 AO024 AQ010 AR032 AS016 AT040 AU036 AW533 AX248 AZ031 BA070 BB052
    BD050 BE056 BF854 BG100 BH048 BI108 BJ204 BL652 BM060 BN096 BO068 BQ535 BR076 BS044 BT064 BV074 BW072 BY112
    BZ084 CA124 CC166 CD180 CF140 CG178 CH756 CI384 CK184 CL152 CM120 CN156 CO170 CR188 CU192 CV132 CW531 CX162
    CY196 CZ203 DE276 DJ262 DK208 DM212 DO214 DZ012 EC218 EE233 EG818 EH732 ER232 ES724 ET231 FI246 FJ242 FK238
    FM583 FO234 FR250 GA266 GB826 GD308 GE268 GF254 GG831 GH288 GI292 GL304 GM270 GN324 GP312 GQ226 GR300 GS239
    GT320 GU316 GW624 GY328 HK344 HM334 HN340 HR191 HT332 HU348 ID360 IE372 IL376 IM833 IN356 IO086 IQ368 IR364
    IS352 IT380 JE832 JM388 JO400 JP392 KE404 KG417 KH116 KI296 KM174 KN659 KP408 KR410 KW414 KY136 KZ398 LA418
    LB422 LC662 LI438 LK144 LR430 LS426 LT440 LU442 LV428 LY434 MA504 MC492 MD498 ME499 MF663 MG450 MH584 MK807
    ML466 MM104 MN496 MO446 MP580 MQ474 MR478 MS500 MT470 MU480 MV462 MW454 MX484 MY458 MZ508 NA516 NC540 NE562
    NF574 NG566 NI558 NL528 NO578 NP524 NR520 NU570 NZ554 OM512 PA591 PE604 PF258 PG598 PH608 PK586 PL616 PM666
    PN612 PR630 PS275 PT620 PW585 PY600 QA634 RE638 RO642 RS688 RU643 RW646 SA682 SB090 SC690 SD729 SE752 SG702
    SH654 SI705 SJ744 SK703 SL694 SM674 SN686 SO706 SR740 SS728 ST678 SV222 SX534 SY760 SZ748 TC796 TD148 TF260
    TG768 TH764 TJ762 TK772 TL626 TM795 TN788 TO776 TR792 TT780 TV798 TW158 TZ834 UA804 UG800 UM581 US840 UY858
    UZ860 VA336 VC670 VE862 VG092 VI850 VN704 VU548 WF876 WS882 XK900 YE887 YT175 ZA710 ZM894 ZW716
"""
COUNTRY_CRITERION_IDS: Mapping[str, str] = {code[:2]: f"2{code[2:]}" for code in _COUNTRY_CODES_TEXT.split()}


# -- what a brief says --------------------------------------------------------------------------------------------


def count_columns(value: str) -> int:
    """Return the width of a text: a double-width character counts as two."""
    return (
        len(value) if value.isascii() else sum(2 if east_asian_width(character) in "WF" else 1 for character in value)
    )


def _find_texts_error(values: Sequence[str], widest: int, counts: tuple[int, int]) -> str | None:
    least, most = counts
    if not least <= len(values) <= most:
        return f"an ad has {least} to {most} of them"
    for index, value in enumerate(values):
        if value in values[:index]:
            return f"text {index + 1} is a duplicate"
        if not value.strip() or google.has_control_characters(value):
            return f"text {index + 1} is blank or has control characters"
        if count_columns(value) > widest:
            return f"text {index + 1} is longer than {widest} characters (double-width ones count twice)"
    return None


def find_headlines_error(values: Sequence[str]) -> str | None:
    """Return why the headlines of an ad are refused; None if they are valid."""
    return _find_texts_error(values, google.MAX_HEADLINE_WIDTH, google.HEADLINE_COUNTS)


def find_descriptions_error(values: Sequence[str]) -> str | None:
    """Return why the descriptions of an ad are refused; None if they are valid."""
    return _find_texts_error(values, google.MAX_DESCRIPTION_WIDTH, google.DESCRIPTION_COUNTS)


def find_url_error(value: str) -> str | None:
    """Return why a final URL is refused; None if it is valid."""
    if len(value) > google.MAX_URL_LENGTH:
        return f"an address has at most {google.MAX_URL_LENGTH} characters"
    return find_web_url_error(value)


def find_keywords_error(keywords: Sequence[Keyword]) -> str | None:
    """Return why the keywords are refused; None if they are valid."""
    seen_keys: set[tuple[str, str]] = set()
    for number, keyword in enumerate(keywords, 1):
        words = keyword.text.split()
        key = (" ".join(words).casefold(), keyword.match)
        if key in seen_keys:
            return f"keyword {number} is a duplicate: the same text with the same match"
        seen_keys.add(key)
        if not words or google.has_control_characters(keyword.text):
            return f"keyword {number} is blank or has control characters"
        if not set(keyword.text).isdisjoint(google.INVALID_KEYWORD_CHARACTERS):
            return f"keyword {number} has a character that keywords cannot have ({google.INVALID_KEYWORD_CHARACTERS})"
        if len(words) > google.MAX_KEYWORD_WORDS:
            return f"keyword {number} has more than {google.MAX_KEYWORD_WORDS} words"
    return None


def find_countries_error(countries: Sequence[str]) -> str | None:
    """Return which country is unknown; None if all are known."""
    return next(
        (f"there is no country {country}" for country in countries if country not in COUNTRY_CRITERION_IDS), None
    )


def find_locations_error(locations: Sequence[str]) -> str | None:
    """Return why IDs of geo targets are refused; None if they are valid."""
    good = all(google.is_digits(location.removeprefix(google.LOCATION_PREFIX)) for location in locations)
    return None if good else f"a location is the number of a geo target, with or without {google.LOCATION_PREFIX}"


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting is refused; None if it is valid."""
    unknown = next((name for name in targeting if name not in ("campaignCriteria", "geoTargetTypeSetting")), None)
    if unknown is not None:
        return f"it has campaignCriteria and geoTargetTypeSetting, and no {unknown[:60]}"
    geo = targeting.get("geoTargetTypeSetting", {})
    if not isinstance(geo, Mapping) or any(
        value not in google.GEO_TARGET_TYPES.get(name, ()) for name, value in geo.items()
    ):
        choices = "; ".join(f"{name}: {', '.join(values)}" for name, values in google.GEO_TARGET_TYPES.items())
        return f"geoTargetTypeSetting takes {choices}"
    criteria = targeting.get("campaignCriteria", [])
    if not isinstance(criteria, list | tuple):
        return "campaignCriteria is a list"
    for criterion in criteria:
        wrong = _find_criterion_error(criterion)
        if wrong is not None:
            return wrong
    if not any(
        ("location" in criterion or "proximity" in criterion) and not criterion.get("negative")
        for criterion in criteria
    ):
        return "it names no location or proximity, so that it would serve worldwide"
    return None


def _find_criterion_error(criterion: Json) -> str | None:
    if not isinstance(criterion, Mapping):
        return "a criterion is an object"
    unknown = next(
        (name for name in criterion if name not in (*google.CRITERION_TYPES, *google.CRITERION_OPTIONS)), None
    )
    if unknown is not None:
        return f"a criterion cannot have {unknown[:60]}; it has one of {', '.join(google.CRITERION_TYPES)}"
    contents = [criterion[name] for name in google.CRITERION_TYPES if name in criterion]
    if len(contents) != 1 or not isinstance(contents[0], Mapping) or not contents[0]:
        return f"a criterion has exactly one object of {', '.join(google.CRITERION_TYPES)}"
    if not isinstance(criterion.get("negative", False), bool) or not is_number(criterion.get("bidModifier", 1)):
        return "negative is true or false, and bidModifier a number"
    return None


def get_geo_targets(brief: CampaignBrief) -> dict[str, str]:
    """Return the distinct geo targets of a brief, each with the path of the member that names it."""
    targets: dict[str, str] = {}
    for index, country in enumerate(brief.targeting.countries or ()):
        targets.setdefault(COUNTRY_CRITERION_IDS[country], f"targeting.countries.{index}")
    for index, location in enumerate(brief.targeting.location_ids or ()):
        targets.setdefault(location.removeprefix(google.LOCATION_PREFIX), f"targeting.locationIds.{index}")
    return targets


def build_criteria(brief: CampaignBrief) -> list[Mapping[str, Json]]:
    """Build the criteria of a brief, without the campaign that they belong to."""
    if brief.targeting.native is not None:
        return list(brief.targeting.native.get("campaignCriteria", ()))
    return [
        {"location": {"geoTargetConstant": f"{google.LOCATION_PREFIX}{target}"}} for target in get_geo_targets(brief)
    ]


# -- what an edit says --------------------------------------------------------------------------------------------

EDITABLE_TARGETING: Mapping[str, tuple[str, bool, str]] = {
    "locations": (google.LOCATION, False, "/location/geoTargetConstant"),
    "excludedLocations": (google.LOCATION, True, "/location/geoTargetConstant"),
    "languages": (google.LANGUAGE, False, "/language/languageConstant"),
}
"""The members of an edit's targeting -> the type of their criteria, whether these exclude, the constant's pointer."""


def _get_wanted_ids(items: Sequence[Mapping[str, Json]], prefix: str, path: str) -> list[str]:
    """Return the IDs of an edit without their prefix. Raises InvalidInput for a malformed or repeated one."""
    ids: list[str] = []
    for index, item in enumerate(items):
        identifier = str(item["id"]).removeprefix(prefix)
        if not google.is_digits(identifier):
            raise invalid_input(f"{path}.{index}.id", "malformed", f"An id is digits, with or without {prefix}.")
        if identifier in ids:
            message = f"The list has an item with this id already, with or without {prefix}; name each id once."
            raise invalid_input(f"{path}.{index}", "duplicate", message)
        ids.append(identifier)
    return ids


def _get_current_criteria(native: Mapping[str, Json], name: str) -> dict[str, str]:
    """Return the campaign's criteria for a member of an edit's targeting: ID of the constant -> ID of the criterion."""
    kind, negative, place = EDITABLE_TARGETING[name]
    return {
        google.parse_resource_id(get_text(criterion, place) or ""): get_text(criterion, "/criterionId") or ""
        for criterion in get_objects(native, "/campaignCriteria", "campaign")
        if get_text(criterion, "/type") == kind and (get_value(criterion, "/negative") is True) == negative
    }


def _collect_wanted_ids(native: Mapping[str, Json], edit: Edit) -> dict[str, list[str]]:
    """Return the wanted IDs of each member of the edit's targeting. Raises InvalidInput with all issues."""
    declared = get_text(native, "/campaign/containsEuPoliticalAdvertising") in google.POLITICAL_ADVERTISING.values()
    declared = declared or "euPoliticalAdvertising" in edit.fields
    ids: dict[str, list[str]] = {}
    issues: list[Issue] = []
    for name, items in edit.targeting.items():
        kind, path = EDITABLE_TARGETING[name][0], f"targeting.{name}"
        try:
            ids[name] = _get_wanted_ids(items, google.CONSTANT_PREFIXES[kind], path)
        except InvalidInput as problem:
            issues.extend(problem.issues)
            continue
        if kind == google.LOCATION and not declared:
            # Google would refuse the edit: CriterionError.MISSING_EU_POLITICAL_ADVERTISING_SELF_DECLARATION.
            message = "Locations are locked until euPoliticalAdvertising is declared; declare it in the same edit."
            issues.append(Issue(path, "locked", message))
    # MutateError.ID_EXISTS_IN_MULTIPLE_MUTATES: a place has one criterion, which includes or excludes it.
    for name, other in (("locations", "excludedLocations"), ("excludedLocations", "locations")):
        present_ids = {*_get_current_criteria(native, other), *ids.get(other, ())} if name in ids else set()
        if not present_ids.isdisjoint(ids.get(name, ())):
            message = f"Remove the place from {other} first, in a separate edit."
            issues.append(Issue(f"targeting.{name}", "conflict", message))
    raise_if_issues(issues)
    return ids


def build_targeting_operations(
    account: Account, campaign_id: str, native: Mapping[str, Json], edit: Edit
) -> tuple[list[Mapping[str, Json]], list[Change]]:
    """Build the operations of an edit's targeting. Criteria are created and removed, never changed."""
    operations: list[Mapping[str, Json]] = []
    removed: list[Mapping[str, Json]] = []
    changes: list[Change] = []
    issues: list[Issue] = []
    campaign = google.build_resource_name(account, "campaign", campaign_id)
    for name, ids in _collect_wanted_ids(native, edit).items():
        kind, negative, place = EDITABLE_TARGETING[name]
        now = _get_current_criteria(native, name)
        for constant in ids:
            if constant not in now:
                criterion: dict[str, Json] = {"campaign": campaign} | ({"negative": True} if negative else {})
                set_value(criterion, place, f"{google.CONSTANT_PREFIXES[kind]}{constant}")
                operations.append(google.build_operation("campaignCriterion", create=criterion))
        for constant, own in now.items():
            if constant not in ids:
                if not google.is_digits(own):
                    raise ProviderUnreadable("A criterion of the campaign has no id.")
                gone = google.build_resource_name(account, "campaignCriterion", campaign_id, own)
                removed.append(google.build_operation("campaignCriterion", remove=gone))
        try:
            changes.append(require_change(Change(name, list(now), ids), f"targeting.{name}"))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    raise_if_issues(issues)
    return [*operations, *removed], changes
