"""Lists of the four resources and of portfolios: filters, pages, extended data with the serving status."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from adsunify.sandbox.checks import Check, array, boolean, choice, integer, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.amazon.answers import require_account
from adsunify.sandbox.networks.amazon.entities import ARCHIVED, Data, Resource
from adsunify.sandbox.networks.amazon.tables import MAX_ITEMS, PORTFOLIO_MEDIA_TYPE
from adsunify.sandbox.networks.amazon.writes import Handler, parse_body
from adsunify.sandbox.parsing import InvalidRequest, serialize_json
from adsunify.sandbox.world import Account, StoredEntity, World

_STATES = ("ENABLED", "PAUSED", "ARCHIVED", "ENABLING", "USER_DELETED", "OTHER")
_NAME_FILTER_CHECK = record(
    optional={"queryTermMatchType": choice("BROAD_MATCH", "EXACT_MATCH"), "include": array(text(0), 0, 100)}
)


def _ids_filter(most: int) -> Check:
    return record(required={"include": array(text(0), 0, most)})


# A filter takes up to 1000 ids of the listed kind, or up to 100 of parents. matchTypeFilter is a plain array in the
# schema.
_COMMON_CHECKS: Mapping[str, Check] = {
    "stateFilter": record(required={"include": array(choice(*_STATES), 0, 10)}),
    "maxResults": integer(1, MAX_ITEMS),  # the schema has no minimum, and a page holds at most 1000
    "nextToken": text(),
    "includeExtendedDataFields": boolean,
}
_FILTER_CHECKS: Mapping[str, Check] = {
    "campaignIdFilter": _ids_filter(100),
    "adGroupIdFilter": _ids_filter(100),
    "portfolioIdFilter": _ids_filter(100),
    "nameFilter": _NAME_FILTER_CHECK,
    "keywordTextFilter": _NAME_FILTER_CHECK,
    "matchTypeFilter": array(choice("EXACT", "PHRASE", "BROAD", "OTHER")),
    "campaignTargetingTypeFilter": choice("AUTO", "MANUAL"),
    "locale": text(),
}
_PORTFOLIO_BODY_CHECK = record(
    optional={
        "portfolioIdFilter": _ids_filter(100),
        "nameFilter": _NAME_FILTER_CHECK,
        "stateFilter": record(required={"include": array(choice("ENABLED", "PAUSED", "ARCHIVED"))}),
        "includeExtendedDataFields": boolean,
        "nextToken": text(),
        "maxResults": integer(1, MAX_ITEMS),
    }
)


def make_list_handler(resource: Resource) -> Handler:
    """`POST /sp/<collection>/list`."""
    body = record(
        optional={
            **_COMMON_CHECKS,
            **{name: _FILTER_CHECKS[name] for name in resource.filters},
            resource.id_filter: _ids_filter(MAX_ITEMS),
        }
    )

    def handle(request: Request) -> Response:
        query, account = parse_body(request, resource.media_type, body), require_account(request)
        entities = [
            entity
            for entity in request.world.list_entities(resource.kind, account.id)
            if _matches_filter(request.world, resource, entity, query)
        ]
        page, paging = _paginate(request, account, entities, query)
        rows = [resource.render_entity(entity) for entity in page]
        if query.get("includeExtendedDataFields"):
            day = request.get_local_date(account)
            rows = [
                {**row, "extendedData": _build_extended_data(request.world, entity, day)}
                for row, entity in zip(rows, page, strict=True)
            ]
        return Response(200, {resource.collection: rows, **paging}, media_type=resource.media_type)

    return handle


def list_portfolios(request: Request) -> Response:
    """`POST /portfolios/list`.

    The filters are as in the other lists (our choice): the documentation gives only path, media type, id and name.
    """
    query, account = parse_body(request, PORTFOLIO_MEDIA_TYPE, _PORTFOLIO_BODY_CHECK), require_account(request)
    states = query.get("stateFilter", {}).get("include", ["ENABLED"])
    entities = [
        entity
        for entity in request.world.list_entities("portfolio", account.id)
        if entity.data["state"] in states
        and _is_allowed(entity.id, query.get("portfolioIdFilter"))
        and _matches_filters(entity.data["name"], query.get("nameFilter"))
    ]
    page, paging = _paginate(request, account, entities, query)
    rows = [{"portfolioId": entity.id, **entity.data} for entity in page]
    return Response(200, {"portfolios": rows, **paging}, media_type=PORTFOLIO_MEDIA_TYPE)


def _matches_filter(world: World, resource: Resource, entity: StoredEntity, filters: Data) -> bool:
    """Whether an entity passes every filter.

    Without stateFilter: entities that are not archived (default unverified, our choice).
    """
    data = entity.data
    states = filters["stateFilter"]["include"] if "stateFilter" in filters else ("ENABLED", "PAUSED")
    if data["state"] not in states or not _is_allowed(entity.id, filters.get(resource.id_filter)):
        return False
    for name in ("campaignId", "adGroupId", "portfolioId"):
        if name != resource.id_name and not _is_allowed(data.get(name), filters.get(f"{name}Filter")):
            return False
    if (targeting := filters.get("campaignTargetingTypeFilter")) is not None:
        campaign = world.find("campaign", data["campaignId"])
        if campaign is None or campaign.data["targetingType"] != targeting:
            return False
    if "matchTypeFilter" in filters and data["matchType"] not in filters["matchTypeFilter"]:
        return False
    if "locale" in filters and data.get("nativeLanguageLocale") != filters["locale"]:
        return False
    return _matches_filters(data.get("name"), filters.get("nameFilter")) and _matches_filters(
        data.get("keywordText"), filters.get("keywordTextFilter")
    )


def _is_allowed(value: str | None, condition: Mapping[str, Any] | None) -> bool:
    return condition is None or value in condition["include"]


def _matches_filters(value: str | None, condition: Mapping[str, Any] | None) -> bool:
    """Whether a text matches a filter.

    BROAD_MATCH, the default, finds parts of the text and ignores case (both our choice). EXACT_MATCH compares the whole
    text.
    """
    if not condition or "include" not in condition or value is None:
        return True
    if condition.get("queryTermMatchType", "BROAD_MATCH") == "EXACT_MATCH":
        return value in condition["include"]
    return any(term.casefold() in value.casefold() for term in condition["include"])


def _paginate(
    request: Request, account: Account, entities: list[StoredEntity], query: Data
) -> tuple[list[StoredEntity], Data]:
    """One page and its `nextToken` / `totalResults`. A token is valid only for the same path, profile and filters."""
    filters = {name: value for name, value in query.items() if name not in ("nextToken", "maxResults")}
    sealed = hashlib.sha256(serialize_json([request.path, account.id, filters]).encode()).hexdigest()[:16]
    start = 0
    if (token := query.get("nextToken")) is not None:
        offset, _, seal = token.partition(".")
        if seal != sealed or not (offset.isascii() and offset.isdigit()):
            raise InvalidRequest("token", "/nextToken", "is not one of this list with these filters")
        start = int(offset)
    end = start + query.get("maxResults", MAX_ITEMS)
    next_page = {"nextToken": f"{end}.{sealed}"} if end < len(entities) else {}
    return entities[start:end], {**next_page, "totalResults": len(entities)}


def _build_extended_data(world: World, entity: StoredEntity, day: date) -> Data:
    status = next(_iterate_serving_statuses(world, entity, day))
    return {
        "creationDateTime": entity.created_at.isoformat(),
        "lastUpdateDateTime": entity.updated_at.isoformat(),
        "servingStatus": status,
        "servingStatusDetails": [{"name": f"{status}_DETAIL", "message": status.replace("_", " ").capitalize()}],
    }


# by kind: the prefix of _ARCHIVED and _PAUSED, and the status of an entity that serves
_SERVING_STATUSES = {
    "campaign": ("CAMPAIGN", "CAMPAIGN_STATUS_ENABLED"),
    "adGroup": ("AD_GROUP", "AD_GROUP_STATUS_ENABLED"),
    "productAd": ("AD", "AD_STATUS_LIVE"),
    "keyword": ("TARGETING_CLAUSE", "TARGETING_CLAUSE_STATUS_LIVE"),
}


def _iterate_serving_statuses(world: World, entity: StoredEntity, day: date) -> Iterator[str]:
    """Yield the reasons why the entity does not serve (from the entity up to the campaign), then its "live" status."""
    chain: list[StoredEntity | None] = [entity]
    if entity.kind in ("productAd", "keyword"):
        chain.append(world.find("adGroup", entity.data["adGroupId"]))
    if entity.kind != "campaign":
        chain.append(world.find("campaign", entity.data["campaignId"]))
    for member in chain:
        if member is None:
            continue
        prefix = _SERVING_STATUSES[member.kind][0]
        if member.data["state"] != "ENABLED":
            yield f"{prefix}_{member.data['state']}"
        if member.kind == "campaign":
            if member.data["startDate"] > day.isoformat():
                yield "PENDING_START_DATE"
            if member.data.get("endDate", "9999") < day.isoformat():
                yield "ENDED"
        if member.kind in ("campaign", "adGroup"):
            name = "campaignId" if member.kind == "campaign" else "adGroupId"
            ads = [ad for ad in world.list_entities("productAd", member.account) if ad.data[name] == member.id]
            if not any(ad.data["state"] != ARCHIVED for ad in ads):
                yield f"{prefix}_INCOMPLETE"
    yield _SERVING_STATUSES[entity.kind][1]
