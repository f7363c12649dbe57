"""Lists of the four resources and of portfolios: filters, pages, extended data with the serving status."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    World,
    boolean,
    choice,
    integer,
    listing,
    record,
    text,
    write_json,
)
from adsunify.sandbox.networks.amazon.answers import profile, today
from adsunify.sandbox.networks.amazon.entities import ARCHIVED, Data, Resource
from adsunify.sandbox.networks.amazon.tables import ITEMS, PORTFOLIO_MEDIA
from adsunify.sandbox.networks.amazon.writes import Handler, body_of

_STATES = ("ENABLED", "PAUSED", "ARCHIVED", "ENABLING", "USER_DELETED", "OTHER")
_MATCHED = record(
    optional={"queryTermMatchType": choice("BROAD_MATCH", "EXACT_MATCH"), "include": listing(text(0), 0, 100)}
)


def _ids(most: int) -> Check:
    return record(required={"include": listing(text(0), 0, most)})


# own ids up to 1000, parents up to 100; matchTypeFilter is a plain array in the schema
_COMMON: Mapping[str, Check] = {
    "stateFilter": record(required={"include": listing(choice(*_STATES), 0, 10)}),
    "maxResults": integer(1, ITEMS),  # the schema has no minimum, and a page holds at most 1000
    "nextToken": text(),
    "includeExtendedDataFields": boolean,
}
_FILTERS: Mapping[str, Check] = {
    "campaignIdFilter": _ids(100),
    "adGroupIdFilter": _ids(100),
    "portfolioIdFilter": _ids(100),
    "nameFilter": _MATCHED,
    "keywordTextFilter": _MATCHED,
    "matchTypeFilter": listing(choice("EXACT", "PHRASE", "BROAD", "OTHER")),
    "campaignTargetingTypeFilter": choice("AUTO", "MANUAL"),
    "locale": text(),
}
_PORTFOLIO_BODY = record(
    optional={
        "portfolioIdFilter": _ids(100),
        "nameFilter": _MATCHED,
        "stateFilter": record(required={"include": listing(choice("ENABLED", "PAUSED", "ARCHIVED"))}),
        "includeExtendedDataFields": boolean,
        "nextToken": text(),
        "maxResults": integer(1, ITEMS),
    }
)


def listed(resource: Resource) -> Handler:
    """`POST /sp/<collection>/list`."""
    body = record(
        optional={
            **_COMMON,
            **{name: _FILTERS[name] for name in resource.filters},
            resource.id_filter: _ids(ITEMS),
        }
    )

    def handle(request: Request) -> Answer:
        asked, account = body_of(request, resource.media, body), profile(request)
        found = [
            entity
            for entity in request.world.entities(resource.kind, account.id)
            if _fits(request.world, resource, entity, asked)
        ]
        page, paging = _page(request, account, found, asked)
        rows = [resource.view(entity) for entity in page]
        if asked.get("includeExtendedDataFields"):
            day = today(request, account)
            rows = [{**row, "extendedData": _extended(request.world, entity, day)}
                    for row, entity in zip(rows, page, strict=True)]  # fmt: skip
        return Answer(200, {resource.collection: rows, **paging}, media_type=resource.media)

    return handle


def portfolios(request: Request) -> Answer:
    """`POST /portfolios/list`. Its filters are ours by analogy: the documentation gives path, media type, id and
    name."""
    asked, account = body_of(request, PORTFOLIO_MEDIA, _PORTFOLIO_BODY), profile(request)
    states = asked.get("stateFilter", {}).get("include", ["ENABLED"])
    found = [
        entity
        for entity in request.world.entities("portfolio", account.id)
        if entity.data["state"] in states
        and _among(entity.id, asked.get("portfolioIdFilter"))
        and _matches(entity.data["name"], asked.get("nameFilter"))
    ]
    page, paging = _page(request, account, found, asked)
    rows = [{"portfolioId": entity.id, **entity.data} for entity in page]
    return Answer(200, {"portfolios": rows, **paging}, media_type=PORTFOLIO_MEDIA)


def _fits(world: World, resource: Resource, entity: Entity, asked: Data) -> bool:
    """Every filter that was sent. Without stateFilter: what is not archived (default unverified, our choice)."""
    data = entity.data
    states = asked["stateFilter"]["include"] if "stateFilter" in asked else ("ENABLED", "PAUSED")
    if data["state"] not in states or not _among(entity.id, asked.get(resource.id_filter)):
        return False
    for name in ("campaignId", "adGroupId", "portfolioId"):
        if name != resource.id_name and not _among(data.get(name), asked.get(f"{name}Filter")):
            return False
    if (targeting := asked.get("campaignTargetingTypeFilter")) is not None:
        campaign = world.find("campaign", data["campaignId"])
        if campaign is None or campaign.data["targetingType"] != targeting:
            return False
    if "matchTypeFilter" in asked and data["matchType"] not in asked["matchTypeFilter"]:
        return False
    if "locale" in asked and data.get("nativeLanguageLocale") != asked["locale"]:
        return False
    return _matches(data.get("name"), asked.get("nameFilter")) and _matches(
        data.get("keywordText"), asked.get("keywordTextFilter")
    )


def _among(value: str | None, wanted: Mapping[str, Any] | None) -> bool:
    return wanted is None or value in wanted["include"]


def _matches(value: str | None, wanted: Mapping[str, Any] | None) -> bool:
    """BROAD_MATCH is "contains" (the default, and its ignoring of case, are our choice); EXACT_MATCH is the whole."""
    if not wanted or "include" not in wanted or value is None:
        return True
    if wanted.get("queryTermMatchType", "BROAD_MATCH") == "EXACT_MATCH":
        return value in wanted["include"]
    return any(term.casefold() in value.casefold() for term in wanted["include"])


def _page(request: Request, account: Account, found: list[Entity], asked: Data) -> tuple[list[Entity], Data]:
    """One page and its `nextToken` / `totalResults`. A token goes with the path, profile and filters it came from."""
    filters = {name: value for name, value in asked.items() if name not in ("nextToken", "maxResults")}
    sealed = hashlib.sha256(write_json([request.path, account.id, filters]).encode()).hexdigest()[:16]
    start = 0
    if (token := asked.get("nextToken")) is not None:
        offset, _, seal = token.partition(".")
        if seal != sealed or not (offset.isascii() and offset.isdigit()):
            raise Problem("token", "/nextToken", "is not one of this list with these filters")
        start = int(offset)
    end = start + asked.get("maxResults", ITEMS)
    more = {"nextToken": f"{end}.{sealed}"} if end < len(found) else {}
    return found[start:end], {**more, "totalResults": len(found)}


def _extended(world: World, entity: Entity, day: date) -> Data:
    status = next(_statuses(world, entity, day))
    return {
        "creationDateTime": entity.created_at.isoformat(),
        "lastUpdateDateTime": entity.updated_at.isoformat(),
        "servingStatus": status,
        "servingStatusDetails": [{"name": f"{status}_DETAIL", "message": status.replace("_", " ").capitalize()}],
    }


# own state per kind: the prefix of _ARCHIVED and _PAUSED, and what it is called when nothing stands in the way
_SERVING = {
    "campaign": ("CAMPAIGN", "CAMPAIGN_STATUS_ENABLED"),
    "adGroup": ("AD_GROUP", "AD_GROUP_STATUS_ENABLED"),
    "productAd": ("AD", "AD_STATUS_LIVE"),
    "keyword": ("TARGETING_CLAUSE", "TARGETING_CLAUSE_STATUS_LIVE"),
}


def _statuses(world: World, entity: Entity, day: date) -> Iterator[str]:
    """Everything that keeps the entity from serving, the own state first, the campaign's last; then that it serves."""
    chain: list[Entity | None] = [entity]
    if entity.kind in ("productAd", "keyword"):
        chain.append(world.find("adGroup", entity.data["adGroupId"]))
    if entity.kind != "campaign":
        chain.append(world.find("campaign", entity.data["campaignId"]))
    for one in chain:
        if one is None:
            continue
        prefix = _SERVING[one.kind][0]
        if one.data["state"] != "ENABLED":
            yield f"{prefix}_{one.data['state']}"
        if one.kind == "campaign":
            if one.data["startDate"] > day.isoformat():
                yield "PENDING_START_DATE"
            if one.data.get("endDate", "9999") < day.isoformat():
                yield "ENDED"
        if one.kind in ("campaign", "adGroup"):
            name = "campaignId" if one.kind == "campaign" else "adGroupId"
            ads = [ad for ad in world.entities("productAd", one.account) if ad.data[name] == one.id]
            if not any(ad.data["state"] != ARCHIVED for ad in ads):
                yield f"{prefix}_INCOMPLETE"
    yield _SERVING[entity.kind][1]
