"""Facets and their entities, audience sizes, bid limits, pages, conversions."""

import re
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import Answer, Check, Problem, Request, choice, integer_text, record, text
from adsunify.sandbox.networks.linkedin.answers import elements
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT, digits_of, targeting, urn
from adsunify.sandbox.networks.linkedin.posts import paged
from adsunify.sandbox.networks.linkedin.restli import asked, finder
from adsunify.sandbox.networks.linkedin.tables import (
    CAMPAIGN_TYPES,
    FACET,
    FACETS,
    FINDABLE,
    NO_DECIMALS,
    OBJECTIVES,
    PAGE,
)

_OFFSET: dict[str, Check] = {"start": integer_text(0), "count": integer_text(1, 1000)}
_LOCALE = record({"language": text(2, 2, "[a-z]{2}"), "country": text(2, 2, "[A-Z]{2}")})


def list_facets(request: Request) -> Answer:
    """GET /adTargetingFacets."""
    asked(request)
    return elements([
        {
            "$URN": FACET + name,
            "adTargetingFacetUrn": FACET + name,
            "facetName": name,
            "availableEntityFinders": ["AD_TARGETING_FACET", "TYPEAHEAD"] if known else ["TYPEAHEAD"],
            "entityTypes": [re.sub("(?<!^)([A-Z])", r"_\1", kind).upper()] if kind else [],
        }
        for name, (kind, known) in FACETS.items()
    ])  # fmt: skip


def find_entities(request: Request) -> Answer:
    """GET /adTargetingEntities by q=adTargetingFacet or q=typeahead."""
    typed = finder(request, "typeahead")
    needed: dict[str, Check] = {
        "q": choice("typeahead" if typed else "adTargetingFacet"),
        "facet": text(pattern=re.escape(FACET) + "[A-Za-z]+"),
        "queryVersion": choice("QUERY_USES_URNS"),
        **({"query": text()} if typed else {}),
    }
    wanted = asked(request, needed, locale=_LOCALE, **_OFFSET)
    name = wanted["facet"].removeprefix(FACET)
    if name not in FACETS:
        raise Problem("FIELD_VALUE_DOES_NOT_EXIST", "/facet", "is not a targeting facet", name)
    kind, known = FACETS[name]
    if not typed and not known:
        raise Problem("value", "/facet", "can be found by typeahead only", name)
    rows = [(f"urn:li:{kind}:{key}", shown) for key, shown in known]
    if typed:
        rows += [(found, shown) for facet, found, shown in FINDABLE if facet == name]
        rows = [row for row in rows if wanted["query"].lower() in row[1].lower()]
    return paged(wanted, [{"urn": found, "name": shown, "facetUrn": FACET + name} for found, shown in rows])


def count_audience(request: Request) -> Answer:
    """GET /audienceCounts."""
    wanted = asked(request, {"q": choice("targetingCriteriaV2"), "targetingCriteria": targeting})
    clauses = len(wanted["targetingCriteria"]["include"]["and"])
    return elements([{"active": 0, "total": 25312600 // 10 ** (clauses - 1)}])


def price(request: Request) -> Answer:
    """GET /adBudgetPricing: limits and suggestions in the account's currency."""
    wanted = asked(
        request,
        {
            "q": choice("criteriaV2"),
            "account": urn(ACCOUNT),
            "campaignType": choice(*CAMPAIGN_TYPES),
            "bidType": choice("CPC", "CPM", "CPV"),
            "matchType": choice("EXACT"),
            "targetingCriteria": targeting,
        },
        objectiveType=choice(*OBJECTIVES),
    )
    account = request.account(digits_of(wanted["account"]))
    if account is None:
        raise Problem("scope", "", "the ad account is not visible")

    def money(dollars: str) -> dict[str, str]:
        whole = account.currency in NO_DECIMALS
        amount = str(int(Decimal(dollars) * 150)) if whole else dollars
        return {"amount": amount, "currencyCode": account.currency}

    return elements([{
        "bidLimits": {"min": money("2.00"), "max": money("300.00")},
        "suggestedBid": {"min": money("4.10"), "max": money("9.80"), "default": money("6.20")},
        "dailyBudgetLimits": {"min": money("10.00"), "max": money("5000.00"), "default": money("50.00")},
    }])  # fmt: skip


def list_pages(request: Request) -> Answer:
    """GET /organizationAcls: the pages the member has a role on."""
    wanted = asked(
        request, {"q": choice("roleAssignee")}, state=choice("APPROVED"), role=choice("ADMINISTRATOR"), **_OFFSET
    )  # fmt: skip
    row = {"organization": PAGE, "role": "ADMINISTRATOR", "state": "APPROVED", "roleAssignee": "urn:li:person:a1B2c3"}
    return paged(wanted, [row])


def list_conversions(request: Request) -> Answer:
    """GET /conversions of an account."""
    wanted = asked(request, {"q": choice("account"), "account": urn(ACCOUNT)}, **_OFFSET)
    if request.account(digits_of(wanted["account"])) is None:
        raise Problem("scope", "", "the ad account is not visible")
    rows: list[dict[str, Any]] = [
        {"id": 104012, "name": "Sign-up", "type": "SIGN_UP", "enabled": True, "account": wanted["account"]},
        {"id": 104013, "name": "Download", "type": "DOWNLOAD", "enabled": True, "account": wanted["account"]},
    ]
    return paged(wanted, rows)
