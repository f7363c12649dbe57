"""The rows of a report: one per entity of the grouping and day, only where there was activity."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from attrs import frozen

from adsunify.sandbox.framework import Account, Entity, World
from adsunify.sandbox.networks.amazon.figures import WINDOWS, Figures, figures, leaves, serving, shared, summed
from adsunify.sandbox.networks.amazon.tables import MARKETPLACES

Row = dict[str, Any]
_MONEY = ("cost", *(f"{name}{window}" for name in ("sales", "attributedSalesSameSku") for window in WINDOWS))
_PLACEMENTS = ("Top of Search on-Amazon", "Detail Page on-Amazon", "Other on-Amazon")
# nothing here sells books, has budget rules or filters by site
_EMPTY: Mapping[str, Any] = {
    "qualifiedBorrows": 0,
    "royaltyQualifiedBorrows": 0,
    "kindleEditionNormalizedPagesRead14d": 0,
    "kindleEditionNormalizedPagesRoyalties14d": Decimal(0),
    "campaignRuleBasedBudgetAmount": None,
    "campaignApplicableBudgetRuleId": None,
    "campaignApplicableBudgetRuleName": None,
    "campaignSite": None,
}


@frozen
class Part:
    """One row's share of a campaign: what names it, and which part of how many it is."""

    named: Mapping[str, Any]
    position: int = 0
    parts: int = 1


def rows(world: World, account: Account, request: Mapping[str, Any]) -> list[Row]:
    """The rows of a checked report request, with the asked columns in the asked order."""
    configuration = request["configuration"]
    start, asked_end = date.fromisoformat(request["startDate"]), date.fromisoformat(request["endDate"])
    end = min(asked_end, world.now.astimezone(ZoneInfo(account.timezone)).date())
    days = [start + timedelta(days=number) for number in range((end - start).days + 1)]
    daily = configuration["timeUnit"] == "DAILY"
    found: list[Row] = []
    for span in [[day] for day in days] if daily else [days]:
        dates = {"date": span[0].isoformat()} if daily else {
            "startDate": request["startDate"], "endDate": request["endDate"]}  # fmt: skip
        for campaign in world.entities("campaign", account.id):
            active = [figures(account, campaign, day) for day in span if serving(world, campaign, day)]
            if active:
                whole = summed(active)
                found += [
                    {**dates, **part.named, **_measured(account, shared(whole, part.parts, part.position))}
                    for part in _parts(world, account, campaign, configuration)
                ]
    filters = configuration.get("filters", [])
    kept = [row for row in found if all(row.get(one["field"]) in one["values"] for one in filters)]
    return [{name: row[name] for name in configuration["columns"]} for row in kept]


def _parts(world: World, account: Account, campaign: Entity, configuration: Mapping[str, Any]) -> Iterator[Part]:
    """How a campaign is split by report type and groupBy."""
    named = {**_EMPTY, **_campaign(account, campaign)}
    groups = configuration["groupBy"]
    match configuration["reportTypeId"]:
        case "spAdvertisedProduct":
            ads = leaves(world, campaign, "productAd")
            for position, (group, ad) in enumerate(ads):
                sold = {
                    "adId": int(ad.id),
                    "advertisedSku": ad.data.get("sku"),
                    "advertisedAsin": ad.data.get("asin"),
                    "adCreativeStatus": ad.data["state"],
                }
                yield Part({**named, **_ad_group(group), **sold}, position, len(ads))
        case "spTargeting":
            keywords = leaves(world, campaign, "keyword")
            for position, (group, keyword) in enumerate(keywords):
                yield Part({**named, **_ad_group(group), **_keyword(group, keyword)}, position, len(keywords))
        case _:
            inside: list[Mapping[str, Any]] = [{}]
            if "adGroup" in groups:
                served = {group.id: group for group, _ in leaves(world, campaign, "productAd")}
                inside = [_ad_group(group) for group in served.values()]
            if "campaignPlacement" in groups:
                inside = [{**one, "placementClassification": place} for one in inside for place in _PLACEMENTS]
            for position, more in enumerate(inside):
                yield Part({**named, **more}, position, len(inside))


def _campaign(account: Account, campaign: Entity) -> Row:
    data = campaign.data
    return {
        "campaignId": int(campaign.id),  # ids are JSON integers in report rows
        "campaignName": data["name"],
        "campaignStatus": data["state"],
        "campaignBudgetAmount": data["budget"]["budget"],
        "campaignBudgetType": data["budget"]["budgetType"],
        "campaignBudgetCurrencyCode": account.currency,
        "campaignBiddingStrategy": data["dynamicBidding"]["strategy"],
        "portfolioId": int(data["portfolioId"]) if "portfolioId" in data else None,
        "topOfSearchImpressionShare": Decimal("12.5"),
    }


def _ad_group(group: Entity) -> Row:
    return {"adGroupId": int(group.id), "adGroupName": group.data["name"], "adStatus": group.data["state"]}


def _keyword(group: Entity, keyword: Entity) -> Row:
    data = keyword.data
    return {
        "keywordId": int(keyword.id),
        "keyword": data["keywordText"],
        "targeting": data["keywordText"],
        "keywordBid": data.get("bid", group.data["defaultBid"]),
        "keywordType": data["matchType"],
        "matchType": data["matchType"],
        "adKeywordStatus": data["state"],
    }


def _measured(account: Account, part: Figures) -> Row:
    """Figures as columns: money in major units, and the ratios."""
    places = MARKETPLACES[account.extra["country"]].places
    row: Row = {name: Decimal(value).scaleb(-places) if name in _MONEY else value for name, value in part.items()}
    row["spend"] = row["cost"]  # the same figure
    row["salesOtherSku7d"] = row["sales7d"] - row["attributedSalesSameSku7d"]
    row["unitsSoldOtherSku7d"] = row["unitsSoldClicks7d"] - row["unitsSoldSameSku7d"]
    row["costPerClick"] = _ratio(row["cost"], row["clicks"])
    row["clickThroughRate"] = _ratio(100 * row["clicks"], row["impressions"])
    for window in ("7d", "14d"):
        row[f"acosClicks{window}"] = _ratio(100 * row["cost"], row[f"sales{window}"])
        row[f"roasClicks{window}"] = _ratio(row[f"sales{window}"], row["cost"])
    return row


def _ratio(above: Decimal | int, below: Decimal | int) -> Decimal | None:
    return (Decimal(above) / below).quantize(Decimal("0.0001")) if below else None
