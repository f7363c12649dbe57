"""The rows of a report: one per entity of the grouping and day, only where there was activity."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any

from attrs import frozen

from adsunify.sandbox.figures import get_share, sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.networks.amazon import figures
from adsunify.sandbox.networks.amazon.tables import MARKETPLACES
from adsunify.sandbox.world import Account, StoredEntity, World

Row = dict[str, Any]
_MONEY_COLUMNS = (
    "cost",
    *(f"{name}{window}" for name in ("sales", "attributedSalesSameSku") for window in figures.ATTRIBUTION_WINDOWS),
)
_PLACEMENTS = ("Top of Search on-Amazon", "Detail Page on-Amazon", "Other on-Amazon")
# the simulated campaigns sell no books, and have no budget rules and no site filters
_EMPTY_COLUMNS: Mapping[str, Any] = {
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
class CampaignPart:
    """One row's share of a campaign: its name columns, and the divisions `first` to `last` of `parts`.

    A product ad has one division. An ad group has the divisions of its ads, so the rows of all levels add up.
    """

    name_columns: Mapping[str, Any]
    first: int = 0
    last: int = 1
    parts: int = 1

    def get_share(self, days: Sequence[figures.Figures]) -> figures.Figures:
        """Return this part of the campaign's figures, summed over the days."""
        return sum_figures(get_share(day, self.first, self.last, self.parts) for day in days)


def build_rows(world: World, account: Account, request: Mapping[str, Any]) -> list[Row]:
    """The rows of a checked report request, with the requested columns in the requested order."""
    configuration = request["configuration"]
    start, end = date.fromisoformat(request["startDate"]), date.fromisoformat(request["endDate"])
    days = list(iterate_days(start, min(end, world.get_local_date(account))))
    daily = configuration["timeUnit"] == "DAILY"
    rows: list[Row] = []
    for span in [[day] for day in days] if daily else [days]:
        dates = (
            {"date": span[0].isoformat()}
            if daily
            else {"startDate": request["startDate"], "endDate": request["endDate"]}
        )
        for campaign in world.list_entities("campaign", account.id):
            active = [
                figures.generate_daily_figures(account, campaign, day)
                for day in span
                if figures.is_serving(world, campaign, day)
            ]
            if active:
                rows += [
                    {**dates, **part.name_columns, **_render_metrics(account, part.get_share(active))}
                    for part in _split_campaign(world, account, campaign, configuration)
                ]
    filters = configuration.get("filters", [])
    selected_rows = [
        row for row in rows if all(row.get(condition["field"]) in condition["values"] for condition in filters)
    ]
    return [{name: row[name] for name in configuration["columns"]} for row in selected_rows]


def _split_campaign(
    world: World, account: Account, campaign: StoredEntity, configuration: Mapping[str, Any]
) -> Iterator[CampaignPart]:
    """The parts of a campaign by report type and groupBy."""
    name_columns = {**_EMPTY_COLUMNS, **_render_campaign(account, campaign)}
    groups = configuration["groupBy"]
    match configuration["reportTypeId"]:
        case "spAdvertisedProduct":
            ads = figures.list_enabled_leaves(world, campaign, "productAd")
            for position, (group, ad) in enumerate(ads):
                sold = {
                    "adId": int(ad.id),
                    "advertisedSku": ad.data.get("sku"),
                    "advertisedAsin": ad.data.get("asin"),
                    "adCreativeStatus": ad.data["state"],
                }
                columns = {**name_columns, **_render_ad_group(group), **sold}
                yield CampaignPart(columns, position, position + 1, len(ads))
        case "spTargeting":
            keywords = figures.list_enabled_leaves(world, campaign, "keyword")
            for position, (group, keyword) in enumerate(keywords):
                columns = {**name_columns, **_render_ad_group(group), **_render_keyword(group, keyword)}
                yield CampaignPart(columns, position, position + 1, len(keywords))
        case _:
            parts = [CampaignPart(name_columns)]
            if "adGroup" in groups:
                parts = list(
                    _split_by_ad_group(name_columns, figures.list_enabled_leaves(world, campaign, "productAd"))
                )
            yield from _split_by_placement(parts) if "campaignPlacement" in groups else parts


def _split_by_ad_group(
    name_columns: Mapping[str, Any], ads: Sequence[tuple[StoredEntity, StoredEntity]]
) -> Iterator[CampaignPart]:
    """The part of each ad group; the ads of an ad group follow one another."""
    first = 0
    for group, several in groupby(group for group, _ in ads):
        last = first + len(list(several))
        yield CampaignPart({**name_columns, **_render_ad_group(group)}, first, last, len(ads))
        first = last


def _split_by_placement(parts: Sequence[CampaignPart]) -> Iterator[CampaignPart]:
    """Divide each part into one row per placement."""
    count = len(_PLACEMENTS)
    for part in parts:
        for position, place in enumerate(_PLACEMENTS):
            first = part.first * count + position * (part.last - part.first)
            columns = {**part.name_columns, "placementClassification": place}
            yield CampaignPart(columns, first, first + part.last - part.first, part.parts * count)


def _render_campaign(account: Account, campaign: StoredEntity) -> Row:
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


def _render_ad_group(group: StoredEntity) -> Row:
    return {"adGroupId": int(group.id), "adGroupName": group.data["name"], "adStatus": group.data["state"]}


def _render_keyword(group: StoredEntity, keyword: StoredEntity) -> Row:
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


def _render_metrics(account: Account, part: figures.Figures) -> Row:
    """Figures as columns: money in major units, and the ratios."""
    places = MARKETPLACES[account.extra["country"]].decimals
    row: Row = {
        name: Decimal(value).scaleb(-places) if name in _MONEY_COLUMNS else value for name, value in part.items()
    }
    row["spend"] = row["cost"]  # two names of one figure
    row["salesOtherSku7d"] = row["sales7d"] - row["attributedSalesSameSku7d"]
    row["unitsSoldOtherSku7d"] = row["unitsSoldClicks7d"] - row["unitsSoldSameSku7d"]
    row["costPerClick"] = _compute_ratio(row["cost"], row["clicks"])
    row["clickThroughRate"] = _compute_ratio(100 * row["clicks"], row["impressions"])
    for window in ("7d", "14d"):
        row[f"acosClicks{window}"] = _compute_ratio(100 * row["cost"], row[f"sales{window}"])
        row[f"roasClicks{window}"] = _compute_ratio(row[f"sales{window}"], row["cost"])
    return row


def _compute_ratio(above: Decimal | int, below: Decimal | int) -> Decimal | None:
    return (Decimal(above) / below).quantize(Decimal("0.0001")) if below else None
