"""Catalogs: targeting options, bidding rules, placements, audiences, tags."""

import hashlib
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from adsunify.sandbox.checks import Check, choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x import answers
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.networks.x.tables import MAX_FILTER_IDS, MICROS, PLACEMENTS, get_smallest_amount
from adsunify.sandbox.parsing import make_rows, parse_names

_COUNTRY_CHECK: Check = text(2, 2, "[A-Z]{2}")


def _hash_hex(word: str) -> str:
    return hashlib.sha256(word.encode()).hexdigest()[:16]


def _make_location(location_type: str, country: str, name: str, value: str | None = None) -> answers.Data:
    return {
        "name": name,
        "country_code": country,
        "location_type": location_type,
        "targeting_type": "LOCATION",
        "targeting_value": value or _hash_hex(f"{location_type} {country} {name}"),
    }


# the documentation gives the ids of the United States and, in an example, of France; all others derive from the name
_COUNTRIES: Mapping[str, str] = parse_names("""
    AT Austria, AU Australia, BE Belgium, BR Brazil, CA Canada, CH Switzerland, DE Germany, DK Denmark, ES Spain,
    FI Finland, FR France, GB United Kingdom, IE Ireland, IN India, IT Italy, JP Japan, KR Korea, MX Mexico,
    NL Netherlands, NO Norway, NZ New Zealand, PL Poland, PT Portugal, SE Sweden, SG Singapore, US United States
""")
_KNOWN_COUNTRY_IDS = {"US": "96683cc9126741d1", "FR": "0a1b2c3d4e5f6071"}
LOCATIONS: tuple[answers.Data, ...] = (
    *(_make_location("COUNTRIES", code, name, _KNOWN_COUNTRY_IDS.get(code)) for code, name in _COUNTRIES.items()),
    *(_make_location("REGIONS", "US", name) for name in ("California", "New York", "Texas", "Washington")),
    *(_make_location("REGIONS", "FR", name) for name in ("Bretagne", "Ile-de-France")),
    *(_make_location("METROS", "US", name) for name in ("New York NY", "San Francisco-Oakland-San Jose CA")),
    *(
        _make_location("CITIES", "US", name)
        for name in ("Austin, TX", "New York, NY", "San Francisco, CA", "Seattle, WA")
    ),
    *(_make_location("CITIES", "JP", name) for name in ("Osaka", "Tokyo")),
    *(_make_location("POSTAL_CODES", "US", name) for name in ("10001", "94103")),
)


def _make_options(targeting_type: str, names: Mapping[str, str], **beside: object) -> tuple[answers.Data, ...]:
    return tuple(
        {"name": name, "targeting_type": targeting_type, "targeting_value": value, **beside}
        for value, name in names.items()
    )


@frozen
class TargetingOptions:
    """A list of targeting options: its rows and parameters.

    `member_by_parameter`: the member that a parameter selects by.
    """

    rows: Sequence[answers.Data]
    search: bool = True
    required: Mapping[str, Check] = field(factory=dict)
    optional: Mapping[str, Check] = field(factory=dict)
    member_by_parameter: Mapping[str, str] = field(factory=dict)
    max_page_size: int = 1000


_EVENT_TYPES = ("CONFERENCE", "HOLIDAY", "MUSIC_AND_ENTERTAINMENT", "OTHER", "POLITICS", "RECURRING", "SPORTS")
_EVENTS: tuple[answers.Data, ...] = tuple(
    {
        "name": name,
        "event_type": kind,
        "targeting_value": value,
        "country_code": None,
        "is_global": True,
        "start_time": start,
        "end_time": end,
        "reach": None,
        "top_hashtags": [],
        "top_tweets": [],
        "top_users": [],
        "country_breakdown_percentage": None,
        "device_breakdown_percentage": None,
        "gender_breakdown_percentage": None,
    }
    for value, kind, name, start, end in (
        ("1s", "SPORTS", "Four Hills Tournament", "2026-12-29T00:00:00Z", "2027-01-06T23:59:59Z"),
        ("2h", "HOLIDAY", "New Year", "2026-12-31T00:00:00Z", "2027-01-01T23:59:59Z"),
        ("3m", "MUSIC_AND_ENTERTAINMENT", "Song contest", "2027-05-11T00:00:00Z", "2027-05-15T23:59:59Z"),
    )
)
_LOCALES = ("en-US", "en-GB", "fr-FR", "ja-JP")
_SHOWS = (
    {"name": "Alpine Rescue", "genre": "Drama", "locales": ["en-US", "en-GB"], "targeting_value": "10027243420"},
    {"name": "Cook the Hut", "genre": "Reality", "locales": ["en-US"], "targeting_value": "10027243421"},
    {"name": "Ski Jumping Tonight", "genre": "Sports", "locales": ["en-US", "ja-JP"], "targeting_value": "10027243422"},
)

TARGETING_OPTIONS: Mapping[str, TargetingOptions] = {
    "locations": TargetingOptions(
        LOCATIONS,
        optional={
            "location_type": choice("COUNTRIES", "REGIONS", "METROS", "CITIES", "POSTAL_CODES"),
            "country_code": _COUNTRY_CHECK,
        },
        member_by_parameter={"location_type": "location_type", "country_code": "country_code"},
    ),
    "interests": TargetingOptions(
        _make_options(
            "INTEREST", {"12011": "Sports/Skiing", "12012": "Sports/Snowboarding", "6007": "Home and garden/Gardening"}
        )
    ),
    "languages": TargetingOptions(
        _make_options("LANGUAGE", {"de": "German", "en": "English", "fr": "French", "ja": "Japanese"})
    ),
    "platforms": TargetingOptions(
        _make_options(
            "PLATFORM",
            {
                "0": "iOS",
                "1": "Android",
                "2": "BlackBerry phones and tablets",
                "3": "Mobile web on other devices",
                "4": "Desktop and laptop computers",
            },
        ),
        optional={"lang": text()},
    ),
    "devices": TargetingOptions(
        (
            *_make_options("DEVICE", {"1a": "iPhone 15", "1b": "iPhone 16"}, manufacturer="Apple", os_type="IOS"),
            *_make_options("DEVICE", {"2a": "Pixel 9"}, manufacturer="Google", os_type="ANDROID"),
        )
    ),
    "platform_versions": TargetingOptions(
        (
            *_make_options(
                "PLATFORM_VERSION", {"1hu": "18.0", "1hv": "18.1"}, number="18", os_type="IOS", platform="iOS"
            ),
            *_make_options("PLATFORM_VERSION", {"2hu": "15"}, number="15", os_type="ANDROID", platform="Android"),
        )
    ),
    "conversations": TargetingOptions(
        (
            *_make_options("CONVERSATION", {"7k1": "Alpine skiing", "7k2": "Ski jumping"}, conversation_type="SPORTS"),
            *_make_options("CONVERSATION", {"7k3": "Camping"}, conversation_type="LIFESTYLES"),
        ),
        search=False,
        optional={"conversation_type": text(pattern="[A-Z_]+")},
        member_by_parameter={"conversation_type": "conversation_type"},
    ),
    "network_operators": TargetingOptions(
        (
            *_make_options("NETWORK_OPERATOR", {"1t": "Cell Alpha", "2t": "Cell Beta"}, country_code="US"),
            *_make_options("NETWORK_OPERATOR", {"3t": "Mobile Gamma"}, country_code="FR"),
        ),
        optional={"country_code": _COUNTRY_CHECK},
        member_by_parameter={"country_code": "country_code"},
    ),
    "app_store_categories": TargetingOptions(
        (
            *_make_options("APP_STORE_CATEGORY", {"q8v": "Games"}, os_type="IOS"),
            *_make_options("APP_STORE_CATEGORY", {"q8w": "Shopping"}, os_type="ANDROID"),
        ),
        optional={"os_type": choice("ANDROID", "IOS")},
        member_by_parameter={"os_type": "os_type"},
    ),
    "events": TargetingOptions(
        _EVENTS,
        search=False,
        required={"event_types": answers.comma_separated(choice(*_EVENT_TYPES), len(_EVENT_TYPES))},
        optional={
            "country_codes": answers.comma_separated(_COUNTRY_CHECK, MAX_FILTER_IDS),
            "start_time": answers.check_instant,
            "end_time": answers.check_instant,
        },
        member_by_parameter={"event_types": "event_type"},
    ),
    "tv_markets": TargetingOptions(
        tuple({"name": locale[3:], "country_code": locale[3:], "locale": locale} for locale in _LOCALES), search=False
    ),
    "tv_shows": TargetingOptions(
        _SHOWS, required={"locale": choice(*_LOCALES)}, member_by_parameter={"locale": "locales"}, max_page_size=50
    ),
}
_TARGETING_NAMES = {
    (row["targeting_type"], row["targeting_value"]): row["name"]
    for options in TARGETING_OPTIONS.values()
    for row in options.rows
    if "targeting_type" in row
}


def get_targeting_name(targeting_type: str, value: str) -> str:
    """The display name of a targeting value."""
    return str(_TARGETING_NAMES.get((targeting_type, value), value))


def list_targeting_options(request: Request) -> Response:
    """`GET /12/targeting_criteria/<resource>`."""
    table = TARGETING_OPTIONS[request.path_parameters["resource"]]
    query = dict(request.query_pairs)
    values_by_member = {
        member: query[name].split(",") for name, member in table.member_by_parameter.items() if name in query
    }
    if request.path_parameters["resource"] == "network_operators":
        values_by_member.setdefault("country_code", ["US"])  # the parameter's default
    rows = [
        row
        for row in table.rows
        if all(set(values) & set(_to_texts(row[member])) for member, values in values_by_member.items())
    ]
    search = "name" if table.search else None
    return build_page_response(request, rows, {}, table.required, table.optional, search, table.max_page_size)


def _to_texts(value: object) -> list[str]:
    return [str(member) for member in value] if isinstance(value, list) else [str(value)]


def list_bidding_rules(request: Request) -> Response:
    """`GET /12/bidding_rules`: of one currency, or of the currencies of the accounts."""
    query = answers.parse_parameters(request, optional={"currency": text(3, 3, "[A-Z]{3}")})
    currencies = (
        [query["currency"]] if query else sorted({currency.currency for currency in request.world.accounts.values()})
    )
    rows = [
        {
            "currency": currency,
            "minimum_cpe_bid_local_micro": get_smallest_amount(currency),
            "maximum_cpe_bid_local_micro": 1_000 * MICROS
            if get_smallest_amount(currency) < MICROS
            else 100_000 * MICROS,
            "minimum_denomination": get_smallest_amount(currency),
        }
        for currency in currencies
    ]
    return answers.build_response(request, rows)


def list_placements(request: Request) -> Response:
    """`GET /12/line_items/placements`."""
    query = answers.parse_parameters(request, optional={"product_type": choice(*PLACEMENTS)})
    rows = [
        {"product_type": product, "placements": list(names)}
        for product, names in PLACEMENTS.items()
        if product == query.get("product_type", product)
    ]
    return answers.build_response(request, rows)


def list_audiences(request: Request) -> Response:
    """`GET accounts/:a/custom_audiences`."""
    answers.require_account(request)
    rows = make_rows(
        "id name audience_type audience_size targetable reasons_not_targetable deleted",
        ("2906h", "Newsletter readers", "CRM", 41_000, True, [], False),
        ("2906i", "Too small", "WEB", None, False, ["TOO_SMALL"], False),
    )
    return build_page_response(request, rows, {"custom_audience_ids": "id"}, search="name")


def list_tracking_tags(request: Request) -> Response:
    """`GET accounts/:a/tracking_tags`."""
    account = answers.require_account(request)
    rows: list[answers.Data] = [
        {
            "id": "6thp",
            "line_item_id": line_item.id,
            "tracking_tag_type": "IMPRESSION_TAG",
            "deleted": False,
            "tracking_tag_url": "https://tags.example/pixel?line=1",
            "created_at": "2020-01-01T00:00:00Z",
            "updated_at": "2020-01-01T00:00:00Z",
        }
        for line_item in request.world.list_entities("line_item", account.id)[:1]
    ]
    return build_page_response(request, rows, {"line_item_ids": "line_item_id", "tracking_tag_ids": "id"})
