"""Facets and their entities, audience sizes, bid limits, pages, conversions."""

import re
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, choice, integer_text, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin import tables
from adsunify.sandbox.networks.linkedin.answers import build_list_response
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT_PREFIX, check_targeting, get_urn_number, urn
from adsunify.sandbox.networks.linkedin.posts import build_offset_page
from adsunify.sandbox.networks.linkedin.restli import is_finder, parse_query
from adsunify.sandbox.parsing import InvalidRequest

_OFFSET_CHECKS: dict[str, Check] = {"start": integer_text(0), "count": integer_text(1, 1000)}
_LOCALE_CHECK = record({"language": text(2, 2, "[a-z]{2}"), "country": text(2, 2, "[A-Z]{2}")})


def list_facets(request: Request) -> Response:
    """GET /adTargetingFacets."""
    parse_query(request)
    return build_list_response(
        [
            {
                "$URN": tables.FACET_PREFIX + name,
                "adTargetingFacetUrn": tables.FACET_PREFIX + name,
                "facetName": name,
                "availableEntityFinders": ["AD_TARGETING_FACET", "TYPEAHEAD"] if entities else ["TYPEAHEAD"],
                "entityTypes": [re.sub("(?<!^)([A-Z])", r"_\1", kind).upper()] if kind else [],
            }
            for name, (kind, entities) in tables.FACETS.items()
        ]
    )


def find_targeting_entities(request: Request) -> Response:
    """GET /adTargetingEntities by q=adTargetingFacet or q=typeahead."""
    typed = is_finder(request, "typeahead")
    required: dict[str, Check] = {
        "q": choice("typeahead" if typed else "adTargetingFacet"),
        "facet": text(pattern=re.escape(tables.FACET_PREFIX) + "[A-Za-z]+"),
        "queryVersion": choice("QUERY_USES_URNS"),
        **({"query": text()} if typed else {}),
    }
    query = parse_query(request, required, locale=_LOCALE_CHECK, **_OFFSET_CHECKS)
    name = query["facet"].removeprefix(tables.FACET_PREFIX)
    if name not in tables.FACETS:
        raise InvalidRequest("FIELD_VALUE_DOES_NOT_EXIST", "/facet", "is not a targeting facet", name)
    kind, entities = tables.FACETS[name]
    if not typed and not entities:
        raise InvalidRequest("value", "/facet", "can be found by typeahead only", name)
    rows = [(f"urn:li:{kind}:{key}", label) for key, label in entities]
    if typed:
        rows += [(urn_text, label) for facet, urn_text, label in tables.FINDABLE_ENTITIES if facet == name]
        rows = [row for row in rows if query["query"].lower() in row[1].lower()]
    return build_offset_page(
        query, [{"urn": urn_text, "name": label, "facetUrn": tables.FACET_PREFIX + name} for urn_text, label in rows]
    )


def count_audience(request: Request) -> Response:
    """GET /audienceCounts."""
    query = parse_query(request, {"q": choice("targetingCriteriaV2"), "targetingCriteria": check_targeting})
    clauses = len(query["targetingCriteria"]["include"]["and"])
    return build_list_response([{"active": 0, "total": 25312600 // 10 ** (clauses - 1)}])


def get_budget_pricing(request: Request) -> Response:
    """GET /adBudgetPricing: limits and suggestions in the account's currency."""
    query = parse_query(
        request,
        {
            "q": choice("criteriaV2"),
            "account": urn(ACCOUNT_PREFIX),
            "campaignType": choice(*tables.CAMPAIGN_TYPES),
            "bidType": choice("CPC", "CPM", "CPV"),
            "matchType": choice("EXACT"),
            "targetingCriteria": check_targeting,
        },
        objectiveType=choice(*tables.OBJECTIVES),
    )
    account = request.find_account(get_urn_number(query["account"]))
    if account is None:
        raise InvalidRequest("scope", "", "the ad account is not visible")

    def money(dollars: str) -> dict[str, str]:
        whole = account.currency in tables.ZERO_DECIMAL_CURRENCIES
        amount = str(int(Decimal(dollars) * 150)) if whole else dollars
        return {"amount": amount, "currencyCode": account.currency}

    return build_list_response(
        [
            {
                "bidLimits": {"min": money("2.00"), "max": money("300.00")},
                "suggestedBid": {"min": money("4.10"), "max": money("9.80"), "default": money("6.20")},
                "dailyBudgetLimits": {"min": money("10.00"), "max": money("5000.00"), "default": money("50.00")},
            }
        ]
    )


def list_pages(request: Request) -> Response:
    """GET /organizationAcls: the pages on which the member has a role."""
    query = parse_query(
        request, {"q": choice("roleAssignee")}, state=choice("APPROVED"), role=choice("ADMINISTRATOR"), **_OFFSET_CHECKS
    )
    row = {
        "organization": tables.ORGANIZATION_PAGE,
        "role": "ADMINISTRATOR",
        "state": "APPROVED",
        "roleAssignee": "urn:li:person:a1B2c3",
    }
    return build_offset_page(query, [row])


def list_conversions(request: Request) -> Response:
    """GET /conversions of an account."""
    query = parse_query(request, {"q": choice("account"), "account": urn(ACCOUNT_PREFIX)}, **_OFFSET_CHECKS)
    if request.find_account(get_urn_number(query["account"])) is None:
        raise InvalidRequest("scope", "", "the ad account is not visible")
    rows: list[dict[str, Any]] = [
        {"id": 104012, "name": "Sign-up", "type": "SIGN_UP", "enabled": True, "account": query["account"]},
        {"id": 104013, "name": "Download", "type": "DOWNLOAD", "enabled": True, "account": query["account"]},
    ]
    return build_offset_page(query, rows)
