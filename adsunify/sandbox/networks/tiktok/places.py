"""Places (GeoNames ids) with their parents, and the calls for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from adsunify.sandbox.checks import array, json_text, one_of, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER_CHECK
from adsunify.sandbox.parsing import InvalidRequest, parse_names, split_words

OBJECTIVES = (
    "APP_INSTALL APP_PROMOTION BRAND_CONSIDERATION CATALOG_SALES CONVERSIONS ENGAGEMENT LEAD_GENERATION PRODUCT_SALES"
    " REACH RF_APP_INSTALL RF_ENGAGEMENT RF_REACH RF_TRAFFIC RF_VIDEO_VIEW SHOP_PURCHASES TOPVIEW_REACH TRAFFIC"
    " VIDEO_VIEWS WEB_CONVERSIONS"
)
PROMOTIONS = (
    "APP_ANDROID APP_IOS EXTERNAL_OR_DISPLAY GAME LEAD_GENERATION LEAD_GEN_CLICK_TO_CALL"
    " LEAD_GEN_CLICK_TO_SOCIAL_MEDIA_APP_MESSAGE LEAD_GEN_CLICK_TO_TT_DIRECT_MESSAGE LIVE_SHOPPING PSA_PRODUCT"
    " TIKTOK_SHOP VIDEO_SHOPPING WEBSITE WEBSITE_OR_DISPLAY"
)
PLACEMENTS = "PLACEMENT_TIKTOK PLACEMENT_PANGLE PLACEMENT_GLOBAL_APP_BUNDLE"
LOCATION_LEVELS = ("COUNTRY", "PROVINCE", "CITY", "DISTRICT")


@frozen
class Location:
    """One place; `parent` is "0" for a country."""

    id: str
    name: str
    country: str
    level: str = "COUNTRY"
    parent: str = "0"


# Country code and id. Ads cannot be delivered to other countries.
_COUNTRIES = split_words("""
    US 6252001 CA 6251999 MX 3996063 BR 3469034 AR 3865483 CL 3895114 CO 3686110 PE 3932488 EC 3658394 UY 3439705
    PY 3437598 BO 3923057 CR 3624060 PA 3703430 GT 3595528 DO 3508796 GB 2635167 IE 2963597 FR 3017382 DE 2921044
    AT 2782113 CH 2658434 IT 3175395 ES 2510769 PT 2264397 NL 2750405 BE 2802361 LU 2960313 DK 2623032 SE 2661886
    NO 3144096 FI 660013 IS 2629691 PL 798544 CZ 3077311 SK 3057568 HU 719819 RO 798549 BG 732800 GR 390903
    HR 3202326 SI 3190538 EE 453733 LV 458258 LT 597427 CY 146669 MT 2562770 UA 690791 TR 298795 IL 294640
    AE 290557 SA 102358 QA 289688 KW 285570 BH 290291 OM 286963 JO 248816 EG 357994 MA 2542007 ZA 953987
    NG 2328926 KE 192950 JP 1861060 KR 1835841 TW 1668284 SG 1880251 MY 1733045 TH 1605651 VN 1562822 PH 1694008
    ID 1643084 AU 2077456 NZ 2186224
""")
_NAMES = parse_names("""
    US United States, CA Canada, GB United Kingdom, DE Germany, FR France, NO Norway, JP Japan, AU Australia, BR Brazil,
    MX Mexico, ES Spain, IT Italy, SE Sweden
""")
LOCATIONS: Mapping[str, Location] = {
    place.id: place
    for place in (
        *(
            Location(place, _NAMES.get(country, country), country)
            for country, place in zip(_COUNTRIES[::2], _COUNTRIES[1::2], strict=True)
        ),
        Location("5332921", "California", "US", "PROVINCE", "6252001"),
        Location("5128638", "New York", "US", "PROVINCE", "6252001"),
        Location("5368361", "Los Angeles", "US", "CITY", "5332921"),
        Location("5391959", "San Francisco", "US", "CITY", "5332921"),
        Location("5128581", "New York City", "US", "CITY", "5128638"),
        Location("5110302", "Brooklyn", "US", "DISTRICT", "5128581"),
        Location("6269131", "England", "GB", "PROVINCE", "2635167"),
        Location("2638360", "Scotland", "GB", "PROVINCE", "2635167"),
        Location("2643743", "London", "GB", "CITY", "6269131"),
        Location("3333138", "Camden", "GB", "DISTRICT", "2643743"),
        Location("2950157", "Berlin", "DE", "PROVINCE", "2921044"),
        Location("2951839", "Bavaria", "DE", "PROVINCE", "2921044"),
        Location("2867714", "Munich", "DE", "CITY", "2951839"),
        Location("1850144", "Tokyo", "JP", "PROVINCE", "1861060"),
        Location("1853904", "Osaka", "JP", "PROVINCE", "1861060"),
        Location("1850147", "Shibuya", "JP", "CITY", "1850144"),
    )
}
EEA = {
    *split_words("""
    AT BE BG HR CY CZ DK EE FI FR DE GR HU IS IE IT LV LT LU MT NL NO PL PT RO SK SI ES SE
""")
}
LATIN_AMERICA = {
    *split_words("""
    MX BR AR CL CO PE EC UY PY BO CR PA GT DO
""")
}
COUNTRIES_WITHOUT_MINORS = {"US", "CA", "GB", "CH", *EEA, *LATIN_AMERICA}  # ads must not target ages 13 to 17

_LEVEL_RANGES = {"TO_COUNTRY": 1, "TO_PROVINCE": 2, "TO_CITY": 3, "TO_DISTRICT": 4, "ALL": 4}
_REGION_CHECKS = {
    "advertiser_id": ADVERTISER_CHECK,
    "placements": json_text(array(one_of(PLACEMENTS), 1)),
    "objective_type": one_of(OBJECTIVES),
}
_OPTIONAL_REGION_CHECKS = {
    "level_range": one_of(" ".join(_LEVEL_RANGES)),
    "language": text(),
    "promotion_type": one_of(PROMOTIONS),
    "operating_system": one_of("ANDROID IOS"),
}
_SETTING_CHECKS = {
    "brand_safety_partner": one_of("IAS OPEN_SLATE"),
    "brand_safety_type": one_of("EXPANDED_INVENTORY LIMITED_INVENTORY NO_BRAND_SAFETY STANDARD_INVENTORY THIRD_PARTY"),
    "operating_system": one_of("ANDROID IOS"),
    "promotion_type": one_of(PROMOTIONS),
}
_SEARCH_CHECK = record(
    {
        "advertiser_id": ADVERTISER_CHECK,
        "keywords": array(text(), 1, 1000),
        "objective_type": one_of(OBJECTIVES),
        "placements": array(one_of(PLACEMENTS), 1),
        "search_type": one_of("BATCH_REGION_SEARCH BATCH_ZIPCODE_SEARCH FUZZY_SEARCH"),
    },
    {
        **_SETTING_CHECKS,
        "geo_types": array(one_of("CITY COUNTRY DISTRICT DMA POST_TOWN PROVINCE TOWN ZIP_CODE")),
        "region_codes": array(text(2, 2)),
    },
)
_INFO_CHECK = record(
    {"advertiser_id": ADVERTISER_CHECK, "targeting_ids": array(text(), 1, 1000)},
    {
        **_SETTING_CHECKS,
        "objective_type": one_of(OBJECTIVES),
        "placements": array(one_of(PLACEMENTS)),
        "scene": one_of("GEO ISP"),
    },
)


def iterate_ancestors(place: Location) -> Iterator[Location]:
    """The parents of a place, the nearest first."""
    while place.parent != "0":
        place = LOCATIONS[place.parent]
        yield place


def check_locations(ids: Sequence[str], where: str) -> None:
    """Check that places are known, unique and not inside each other. Raises InvalidRequest."""
    for position, location_id in enumerate(ids):
        if location_id not in LOCATIONS:
            raise InvalidRequest(
                "value", f"{where}/{position}", f"location {location_id} does not exist or cannot be delivered to"
            )
        over = next((place.id for place in iterate_ancestors(LOCATIONS[location_id]) if place.id in ids), None)
        if over is not None or location_id in ids[:position]:
            raise InvalidRequest(
                "value", f"{where}/{position}", f"locations overlap: {location_id} and {over or location_id}"
            )


def list_regions(request: Request) -> Response:
    """GET /tool/region/. Without `level_range` down to provinces (our choice)."""
    query = request.parse_query(_REGION_CHECKS, _OPTIONAL_REGION_CHECKS)
    require_account_by_id(request, query["advertiser_id"])
    levels = LOCATION_LEVELS[: _LEVEL_RANGES[query.get("level_range", "TO_PROVINCE")]]
    rows = [_render_region(place, levels) for place in LOCATIONS.values() if place.level in levels]
    return build_response({"region_info": rows})


def search_locations(request: Request) -> Response:
    """POST /tool/targeting/search/: by name; a fuzzy search accepts one keyword. Post codes are not simulated."""
    request.parse_query()
    body = request.parse_json(_SEARCH_CHECK)
    require_account_by_id(request, body["advertiser_id"])
    if body["search_type"] == "FUZZY_SEARCH" and len(body["keywords"]) > 1:
        raise InvalidRequest("value", "/keywords", "FUZZY_SEARCH takes one keyword")
    if body["search_type"] != "FUZZY_SEARCH" and not body.get("region_codes"):
        raise InvalidRequest("required", "/region_codes", f"{body['search_type']} needs region_codes")
    kinds, countries = body.get("geo_types", LOCATION_LEVELS), body.get("region_codes")
    rows = [
        _render_tag(place, keyword)
        for keyword in body["keywords"]
        for place in LOCATIONS.values()
        if keyword.lower() in place.name.lower()
        and place.level in kinds
        and (countries is None or place.country in countries)
        and body["search_type"] != "BATCH_ZIPCODE_SEARCH"
    ]
    return build_response({"targeting_tag_list": rows[:100]})


def get_location_info(request: Request) -> Response:
    """POST /tool/targeting/info/: the places of known ids; unknown ids are left out."""
    request.parse_query()
    body = request.parse_json(_INFO_CHECK)
    require_account_by_id(request, body["advertiser_id"])
    places = [LOCATIONS[location_id] for location_id in body["targeting_ids"] if location_id in LOCATIONS]
    return build_response({"targeting_tag_list": [_render_tag(place, None) for place in places]})


def _render_region(place: Location, levels: Sequence[str]) -> dict[str, Any]:
    below = [location.id for location in LOCATIONS.values() if location.parent == place.id and location.level in levels]
    return {
        "location_id": place.id,
        "name": place.name,
        "parent_id": place.parent,
        "region_code": place.country,
        "level": place.level,
        "area_type": "ADMIN",
        "next_level_ids": below,
    }


def _render_tag(place: Location, keyword: str | None) -> dict[str, Any]:
    geo = {"geo_id": place.id, "geo_type": place.level, "region_code": place.country, "parent_id": place.parent}
    path = ", ".join(location.name for location in (place, *iterate_ancestors(place)))
    row = {"targeting_type": "GEO", "name": place.name, "status_info": {"status": "ENABLED"}}
    return {**row, "geo": {**geo, "description": path}, **({} if keyword is None else {"keyword": keyword})}
