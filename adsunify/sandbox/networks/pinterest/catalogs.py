"""What can be targeted and referred to: a few plausible rows of each."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Request, choice, listing, record, text
from adsunify.sandbox.networks.pinterest.answers import DIGITS, PAGING, absent, account_of, asked, page, truth
from adsunify.sandbox.networks.pinterest.rules import floor
from adsunify.sandbox.networks.pinterest.tables import COUNTRIES, CREATIVE_TYPES, OBJECTIVES
from adsunify.sandbox.networks.pinterest.targeting import AGE_BUCKETS, APP_TYPES, GENDERS, LOCALES, TARGETING

# Id: name, level, child interests.
INTERESTS: Mapping[str, tuple[str, int, tuple[str, ...]]] = {
    "925056443165": ("food and drinks", 0, ("955147773988", "902065567321")),
    "955147773988": ("drinks", 1, ()),
    "902065567321": ("baking", 1, ()),
    "918105274631": ("sport", 0, ("908182459161",)),
    "908182459161": ("camping and hiking", 1, ()),
}
# Each type in parts, because the answer is an ARRAY of maps.
TARGETS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "LOCATION": (
        {code: name for code, name, _ in COUNTRIES},
        {"501": "U.S.: New York", "803": "U.S.: Los Angeles", "807": "U.S.: San Francisco-Oakland-San Jose",
         "36113": "Australia: Sydney"},
    ),
    "GEO": ({"US-CA": "U.S.: California", "US-NY": "U.S.: New York", "BE-VOV": "Belgium: East Flanders"},
            {"JP-13": "Japan: Tokyo"}),
    "INTEREST": ({native: name for native, (name, _, _) in INTERESTS.items()},),
    "LOCALE": (LOCALES,),
    "AGE_BUCKET": ({bucket: bucket for bucket in AGE_BUCKETS},),
    "GENDER": ({gender: gender.title() for gender in GENDERS},),
    "APPTYPE": ({kind: kind.replace("_", " ").title() for kind in APP_TYPES},),
    "KEYWORD": (),
    "AUDIENCE_INCLUDE": (),
    "AUDIENCE_EXCLUDE": (),
}  # fmt: skip
_FLOORS = record(
    {
        "bid_floor_specs": listing(
            record(
                {"currency": text(3, 3, "[A-Z]{3}"),
                 "billable_event": choice("CLICKTHROUGH", "IMPRESSION", "VIDEO_V_50_MRC")},
                {"countries": listing(text(2, 2, "[A-Z]{2}")), "objective_type": choice(*OBJECTIVES),
                 "creative_type": choice(*CREATIVE_TYPES)},
            ),
            1,
        )
    },
    {"targeting_spec": TARGETING},
)  # fmt: skip


def targets(request: Request) -> Answer:
    """GET /resources/targeting/{type}."""
    asked(request, ad_account_id=DIGITS)
    return Answer(200, TARGETS[request.slots["type"]])


def interest(request: Request) -> Answer:
    """GET /resources/targeting/interests/{id}."""
    asked(request)
    native = request.slots["id"]
    if native not in INTERESTS:
        raise absent("Interest")
    name, level, children = INTERESTS[native]
    return Answer(200, {"id": native, "name": name, "level": level, "child_interests": children})


def countries(request: Request) -> Answer:
    """GET /resources/ad_account_countries."""
    asked(request)
    rows = [
        {"code": code, "name": name, "currency": currency, "index": index}
        for index, (code, name, currency) in enumerate(COUNTRIES, 1)
    ]
    return Answer(200, {"items": rows})


def audiences(request: Request) -> Answer:
    """GET /ad_accounts/{account}/audiences."""
    account = account_of(request)
    wanted = asked(
        request, **PAGING, order=choice("ASCENDING", "DESCENDING"), ownership_type=choice("OWNED", "RECEIVED")
    )
    rows: list[dict[str, Any]] = [
        {"id": native, "ad_account_id": account.id, "name": name, "audience_type": kind, "size": size,
         "status": state, "type": "audience", "description": None, "created_by_company_name": None,
         "created_timestamp": 1_700_000_000, "updated_timestamp": 1_700_000_000, "rule": {}}
        for native, name, kind, size, state in (
            ("2542620905473", "Newsletter readers", "CUSTOMER_LIST", 4200, "READY"),
            ("2542620905475", "Visitors, 30 days", "VISITOR", 12000, "READY"),
            ("2542620905477", "Very few", "VISITOR", 40, "TOO_SMALL"),
        )
    ]  # fmt: skip
    return page(rows[::-1] if wanted.get("order") == "DESCENDING" else rows, wanted)


def conversion_tags(request: Request) -> Answer:
    """GET /ad_accounts/{account}/conversion_tags: not paged."""
    account = account_of(request)
    wanted = asked(request, filter_deleted=truth)
    rows: list[dict[str, Any]] = [
        {"id": native, "ad_account_id": account.id, "name": name, "status": status, "version": "3",
         "enhanced_match_status": None, "last_fired_time_ms": None, "code_snippet": "", "configs": {}}
        for native, name, status in (("2617998078212", "Tea checkout", "ACTIVE"), ("2617998078214", "Old", "ARCHIVED"))
    ]  # fmt: skip
    return Answer(200, {"items": rows[:1] if wanted.get("filter_deleted") else rows})


def bid_floor(request: Request) -> Answer:
    """POST /ad_accounts/{account}/bid_floor: one floor for each specification."""
    request.query()
    account_of(request)
    specifications = request.json(_FLOORS)["bid_floor_specs"]
    return Answer(200, {"bid_floors": [floor(one["currency"]) for one in specifications], "type": "bidfloor"})
