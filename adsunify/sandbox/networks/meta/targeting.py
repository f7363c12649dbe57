"""`targeting`: its names and shapes (from the published descriptions), and the geography for the rules of ad sets."""

from collections.abc import Iterator, Mapping
from typing import Any

from adsunify.sandbox.checks import Check, any_value, array, choice, country_code, integer, record, text
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, parse_names, split_words

# Countries, regions, cities, zips and markets that the search knows: (type, key, name, country, region, region key).
LOCATIONS: tuple[tuple[str, str, str, str, str | None, str | None], ...] = (
    ("country", "US", "United States", "US", None, None),
    ("country", "NO", "Norway", "NO", None, None),
    ("country", "SE", "Sweden", "SE", None, None),
    ("country", "DE", "Germany", "DE", None, None),
    ("country", "FR", "France", "FR", None, None),
    ("country", "GB", "United Kingdom", "GB", None, None),
    ("country", "JP", "Japan", "JP", None, None),
    ("country", "CA", "Canada", "CA", None, None),
    ("country", "AU", "Australia", "AU", None, None),
    ("country_group", "worldwide", "Worldwide", "", None, None),
    ("region", "3847", "California", "US", None, None),
    ("region", "3875", "New York", "US", None, None),
    ("region", "1264", "Bavaria", "DE", None, None),
    ("region", "1835", "Tokyo", "JP", None, None),
    ("city", "2490299", "New York", "US", "New York", "3875"),
    ("city", "2421836", "San Francisco", "US", "California", "3847"),
    ("city", "624477", "Munich", "DE", "Bavaria", "1264"),
    ("city", "1590653", "Oslo", "NO", "Oslo", "2746"),
    ("city", "1190660", "Tokyo", "JP", "Tokyo", "1835"),
    ("city", "815422", "London", "GB", "England", "1095"),
    ("zip", "US:94304", "94304", "US", "California", "3847"),
    ("zip", "US:10001", "10001", "US", "New York", "3875"),
    ("zip", "DE:10115", "10115", "DE", "Berlin", "1265"),
    ("geo_market", "DMA:807", "San Francisco-Oakland-San Jose", "US", None, None),
    ("geo_market", "DMA:501", "New York", "US", None, None),
)
# Members of geo_locations whose items are {"key": ...}, and their type of place.
KEYED_LOCATION_TYPES: Mapping[str, str] = parse_names("""
    regions region, cities city, zips zip, geo_markets geo_market, neighborhoods neighborhood, subcities subcity,
    subneighborhoods subneighborhood, metro_areas metro_area, small_geo_areas small_geo_area,
    medium_geo_areas medium_geo_area, large_geo_areas large_geo_area, electoral_districts electoral_district
""")
# EU and associated territories (the territories that the documentation names; its list is unverified).
EU_COUNTRIES = frozenset(
    split_words("""
    AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE  AX GF GP MQ RE YT MF
""")
)
_COUNTRY_BY_KEY = {(kind, key): country for kind, key, _, country, _, _ in LOCATIONS}
_RADIUS_LIMITS = {"kilometer": (17, 80), "mile": (10, 50)}  # documented in kilometres; miles accordingly (our choice)

_WORD_CHECK, _ID_CHECK = text(), text(pattern="[0-9]+")
_KEYED_ITEM_CHECK = record(
    {"key": _WORD_CHECK}, fill_keys(any_value, "name country region region_id primary_city_id market_type")
)
_CITY_ITEM_CHECK = record(
    {"key": _WORD_CHECK},
    {
        **fill_keys(any_value, "name country region region_id"),
        "radius": integer(1),
        "distance_unit": choice(*_RADIUS_LIMITS),
    },
)


def _check_city(value: Any, where: str) -> Any:
    city = _CITY_ITEM_CHECK(value, where)
    if ("radius" in city) != ("distance_unit" in city):
        raise InvalidRequest("required", f"{where}/distance_unit", "radius and distance_unit go together")
    if "radius" in city:
        integer(*_RADIUS_LIMITS[city["distance_unit"]])(city["radius"], f"{where}/radius")
    return city


def _positions_check(*removed_positions: str) -> Check:
    def check(value: Any, where: str) -> Any:
        positions = array(_WORD_CHECK)(value, where)
        for position in positions:
            if position in removed_positions:  # removed in v26
                raise InvalidRequest("value", where, f"placement {position} is no longer available", position)
        return positions

    return check


GEOGRAPHY_CHECK = record(
    optional={
        **dict.fromkeys(KEYED_LOCATION_TYPES, array(_KEYED_ITEM_CHECK, 1)),
        "cities": array(_check_city, 1),
        "countries": array(country_code, 1),
        "country_groups": array(_WORD_CHECK, 1),
        "location_types": array(choice("home", "recent", "travel_in"), 1),
        **fill_keys(any_value, "custom_locations location_cluster_ids places political_districts"),
    }
)
_NAMED_ITEMS_CHECK = array(record({"id": _ID_CHECK}, {"name": _WORD_CHECK}))
_FLEXIBLE_MEMBERS: Mapping[str, Check] = {
    **fill_keys(
        _NAMED_ITEMS_CHECK,
        """
        behaviors education_majors education_schools ethnic_affinity family_statuses generation home_ownership
        home_type home_value household_composition income industries interests life_events moms net_worth
        office_type politics work_employers work_positions
    """,
    ),
    **fill_keys(
        array(integer(0)),
        """
        college_years education_statuses interested_in political_views relationship_statuses user_event
    """,
    ),
}
TARGETING_CHECK = record(
    optional={
        **_FLEXIBLE_MEMBERS,
        **fill_keys(
            any_value,
            """
            adgroup_id age_range alternate_auto_targeting_option app_install_state
            brand_safety_content_filter_levels catalog_based_targeting cities connections
            contextual_targeting_categories countries country country_groups direct_install_devices
            dynamic_audience_ids effective_audience_network_positions effective_brand_safety_content_filter_levels
            effective_device_platforms effective_facebook_positions effective_instagram_positions
            effective_messenger_positions effective_publisher_platforms effective_threads_positions
            effective_whatsapp_positions engagement_specs exclude_reached_since
            excluded_brand_safety_content_types excluded_connections excluded_dynamic_audience_ids
            excluded_engagement_specs excluded_mobile_device_model excluded_product_audience_specs
            excluded_publisher_categories excluded_publisher_list_ids excluded_user_device fb_deal_id
            friends_of_connections install_state_application instream_video_skippable_excluded
            is_whatsapp_destination_ad keywords place_page_set_ids product_audience_specs prospecting_audience
            radius regions site_category subscriber_universe targeting_optimization targeting_relaxation_types
            user_adclusters user_age_unknown user_device user_os wireless_carrier zips
        """,
        ),
        **fill_keys(GEOGRAPHY_CHECK, "geo_locations excluded_geo_locations"),
        **fill_keys(_NAMED_ITEMS_CHECK, "custom_audiences excluded_custom_audiences"),
        "flexible_spec": array(record(optional=_FLEXIBLE_MEMBERS)),
        "exclusions": record(optional=_FLEXIBLE_MEMBERS),
        **fill_keys(integer(13, 65), "age_min age_max"),
        "genders": array(integer(1, 2), 0, 2),
        "locales": array(integer(0)),
        "device_platforms": array(choice("mobile", "desktop"), 1),
        "publisher_platforms": array(choice("facebook", "instagram", "audience_network", "messenger", "threads"), 1),
        "instagram_positions": _positions_check("explore"),
        "messenger_positions": _positions_check("story"),
        **fill_keys(
            _positions_check(), "audience_network_positions facebook_positions threads_positions whatsapp_positions"
        ),
        "targeting_automation": record(
            optional={
                **fill_keys(
                    integer(0, 1), "advantage_audience creative_audience_pairing shared_audiences value_expression"
                ),
                "individual_setting": any_value,
            }
        ),
    }
)


def check_targeting(targeting: Mapping[str, Any]) -> None:
    """Check the rules across members. Raises InvalidRequest."""
    if "advantage_audience" not in targeting.get("targeting_automation", {}):
        where = "/targeting/targeting_automation/advantage_audience"
        raise InvalidRequest("required", where, "must be set to 0 or 1 explicitly")
    geography = targeting.get("geo_locations", {})
    if not {*geography} - {"location_types"} and not targeting.get("custom_audiences"):
        raise InvalidRequest("required", "/targeting/geo_locations", "a location or a custom audience is required")
    if targeting.get("age_min", 13) > targeting.get("age_max", 65):
        raise InvalidRequest("combination", "/targeting/age_min", "must not be over age_max")
    for name in ("geo_locations", "excluded_geo_locations"):
        _check_location_types(targeting.get(name, {}), f"/targeting/{name}")
    for member, key, country in _iterate_keyed_locations(geography):
        if country in geography.get("countries", ()):
            message = f"locations overlap: {key} lies in {country}, which is in countries"
            raise InvalidRequest("combination", f"/targeting/geo_locations/{member}", message)


def _check_location_types(geography: Mapping[str, Any], where: str) -> None:
    """Refuse a key that is another kind of place, or a place in another country. Raises InvalidRequest."""
    for member, kind in KEYED_LOCATION_TYPES.items():
        for position, item in enumerate(geography.get(member, ())):
            key, country = item["key"], _COUNTRY_BY_KEY.get((kind, item["key"]))
            if country is None and any(country_key == key for _, country_key in _COUNTRY_BY_KEY):
                raise InvalidRequest("value", f"{where}/{member}/{position}/key", f"is not a {kind}", key)
            if country is not None and item.get("country", country) != country:
                raise InvalidRequest("combination", f"{where}/{member}/{position}/country", f"{key} lies in {country}")


def reaches_eu(targeting: Mapping[str, Any]) -> bool:
    """Whether the ads can be shown in the EU or associated territories.

    True for country groups (the documentation does not list their members) and without any geography (custom
    audiences); an unknown key counts as outside.
    """
    geography = targeting.get("geo_locations", {})
    places = {*geography.get("countries", ()), *(country for _, _, country in _iterate_keyed_locations(geography))}
    return bool(places & EU_COUNTRIES) or "country_groups" in geography or not {*geography} - {"location_types"}


def _iterate_keyed_locations(geography: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """Member, key and country (if known) of each item with a key."""
    for member, kind in KEYED_LOCATION_TYPES.items():
        for item in geography.get(member, ()):
            key = item["key"]
            prefix = key.partition(":")[0] if kind == "zip" else "US" if key.startswith("DMA:") else None
            yield member, key, item.get("country") or prefix or _COUNTRY_BY_KEY.get((kind, key))
