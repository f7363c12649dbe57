"""Targeting options and other catalogs: a few plausible rows each."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import array, boolean_text, choice, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest import answers
from adsunify.sandbox.networks.pinterest.rules import get_bid_floor
from adsunify.sandbox.networks.pinterest.tables import COUNTRIES, CREATIVE_TYPES, OBJECTIVES
from adsunify.sandbox.networks.pinterest.targeting import AGE_BUCKETS, APP_TYPES, GENDERS, LOCALES, TARGETING_CHECK

# Id: name, level, child interests.
INTERESTS: Mapping[str, tuple[str, int, tuple[str, ...]]] = {
    "925056443165": ("food and drinks", 0, ("955147773988", "902065567321")),
    "955147773988": ("drinks", 1, ()),
    "902065567321": ("baking", 1, ()),
    "918105274631": ("sport", 0, ("908182459161",)),
    "908182459161": ("camping and hiking", 1, ()),
}
# Each type in several maps, because the response is an ARRAY of maps.
TARGETING_OPTIONS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "LOCATION": (
        {code: name for code, name, _ in COUNTRIES},
        {
            "501": "U.S.: New York",
            "803": "U.S.: Los Angeles",
            "807": "U.S.: San Francisco-Oakland-San Jose",
            "36113": "Australia: Sydney",
        },
    ),
    "GEO": (
        {"US-CA": "U.S.: California", "US-NY": "U.S.: New York", "BE-VOV": "Belgium: East Flanders"},
        {"JP-13": "Japan: Tokyo"},
    ),
    "INTEREST": ({native: name for native, (name, _, _) in INTERESTS.items()},),
    "LOCALE": (LOCALES,),
    "AGE_BUCKET": ({bucket: bucket for bucket in AGE_BUCKETS},),
    "GENDER": ({gender: gender.title() for gender in GENDERS},),
    "APPTYPE": ({kind: kind.replace("_", " ").title() for kind in APP_TYPES},),
    "KEYWORD": (),
    "AUDIENCE_INCLUDE": (),
    "AUDIENCE_EXCLUDE": (),
}
_BID_FLOORS_CHECK = record(
    {
        "bid_floor_specs": array(
            record(
                {
                    "currency": text(3, 3, "[A-Z]{3}"),
                    "billable_event": choice("CLICKTHROUGH", "IMPRESSION", "VIDEO_V_50_MRC"),
                },
                {
                    "countries": array(text(2, 2, "[A-Z]{2}")),
                    "objective_type": choice(*OBJECTIVES),
                    "creative_type": choice(*CREATIVE_TYPES),
                },
            ),
            1,
        )
    },
    {"targeting_spec": TARGETING_CHECK},
)


def list_targeting_options(request: Request) -> Response:
    """GET /resources/targeting/{type}."""
    answers.parse_query(request, ad_account_id=answers.DIGITS_CHECK)
    return Response(200, TARGETING_OPTIONS[request.path_parameters["type"]])


def get_interest(request: Request) -> Response:
    """GET /resources/targeting/interests/{id}."""
    answers.parse_query(request)
    native = request.path_parameters["id"]
    if native not in INTERESTS:
        raise answers.not_found_error("Interest")
    name, level, children = INTERESTS[native]
    return Response(200, {"id": native, "name": name, "level": level, "child_interests": children})


def list_countries(request: Request) -> Response:
    """GET /resources/ad_account_countries."""
    answers.parse_query(request)
    rows = [
        {"code": code, "name": name, "currency": currency, "index": index}
        for index, (code, name, currency) in enumerate(COUNTRIES, 1)
    ]
    return Response(200, {"items": rows})


def list_audiences(request: Request) -> Response:
    """GET /ad_accounts/{account}/audiences."""
    account = answers.require_account(request)
    query = answers.parse_query(
        request,
        **answers.PAGING_CHECKS,
        order=choice("ASCENDING", "DESCENDING"),
        ownership_type=choice("OWNED", "RECEIVED"),
    )
    rows: list[dict[str, Any]] = [
        {
            "id": native,
            "ad_account_id": account.id,
            "name": name,
            "audience_type": kind,
            "size": size,
            "status": state,
            "type": "audience",
            "description": None,
            "created_by_company_name": None,
            "created_timestamp": 1_700_000_000,
            "updated_timestamp": 1_700_000_000,
            "rule": {},
        }
        for native, name, kind, size, state in (
            ("2542620905473", "Newsletter readers", "CUSTOMER_LIST", 4200, "READY"),
            ("2542620905475", "Visitors, 30 days", "VISITOR", 12000, "READY"),
            ("2542620905477", "Very few", "VISITOR", 40, "TOO_SMALL"),
        )
    ]
    return answers.build_page_response(rows[::-1] if query.get("order") == "DESCENDING" else rows, query)


def list_conversion_tags(request: Request) -> Response:
    """GET /ad_accounts/{account}/conversion_tags: not paged."""
    account = answers.require_account(request)
    query = answers.parse_query(request, filter_deleted=boolean_text)
    rows: list[dict[str, Any]] = [
        {
            "id": native,
            "ad_account_id": account.id,
            "name": name,
            "status": status,
            "version": "3",
            "enhanced_match_status": None,
            "last_fired_time_ms": None,
            "code_snippet": "",
            "configs": {},
        }
        for native, name, status in (("2617998078212", "Tea checkout", "ACTIVE"), ("2617998078214", "Old", "ARCHIVED"))
    ]
    return Response(200, {"items": rows[:1] if query.get("filter_deleted") else rows})


def get_bid_floors(request: Request) -> Response:
    """POST /ad_accounts/{account}/bid_floor: one floor for each specification."""
    request.parse_query()
    answers.require_account(request)
    specifications = request.parse_json(_BID_FLOORS_CHECK)["bid_floor_specs"]
    return Response(
        200,
        {
            "bid_floors": [get_bid_floor(specification["currency"]) for specification in specifications],
            "type": "bidfloor",
        },
    )
