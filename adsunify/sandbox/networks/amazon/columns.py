"""Report types of Sponsored Products: columns, groupBy and filters (reporting-v3.columns)."""

from collections.abc import Mapping

from attrs import frozen


@frozen
class Group:
    """One groupBy of a report type: the columns it adds and the fields it may be filtered by."""

    columns: frozenset[str]
    filters: frozenset[str]


@frozen
class ReportType:
    """Columns that every groupBy has, and the groupBys."""

    columns: frozenset[str]
    groups: Mapping[str, Group]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EVERYWHERE = _names("""
    date startDate endDate impressions clicks cost costPerClick clickThroughRate
    addToList qualifiedBorrows royaltyQualifiedBorrows
    kindleEditionNormalizedPagesRead14d kindleEditionNormalizedPagesRoyalties14d
    purchases1d purchases7d purchases14d purchases30d
    purchasesSameSku1d purchasesSameSku7d purchasesSameSku14d purchasesSameSku30d
    unitsSoldClicks1d unitsSoldClicks7d unitsSoldClicks14d unitsSoldClicks30d
    unitsSoldSameSku1d unitsSoldSameSku7d unitsSoldSameSku14d unitsSoldSameSku30d
    sales1d sales7d sales14d sales30d
    attributedSalesSameSku1d attributedSalesSameSku7d attributedSalesSameSku14d attributedSalesSameSku30d
""")
_DETAILED = _EVERYWHERE | _names("""
    salesOtherSku7d unitsSoldOtherSku7d acosClicks7d acosClicks14d roasClicks7d roasClicks14d
    portfolioId campaignName campaignId campaignStatus
    campaignBudgetType campaignBudgetAmount campaignBudgetCurrencyCode adGroupName adGroupId
""")
_CAMPAIGN = _names("""
    campaignName campaignId campaignStatus campaignBudgetAmount campaignBudgetType campaignBudgetCurrencyCode
    campaignRuleBasedBudgetAmount campaignApplicableBudgetRuleId campaignApplicableBudgetRuleName
    topOfSearchImpressionShare
""")

REPORT_TYPES: Mapping[str, ReportType] = {
    "spCampaigns": ReportType(
        _EVERYWHERE | _names("spend campaignBiddingStrategy"),
        {
            "campaign": Group(_CAMPAIGN, _names("campaignStatus")),
            "adGroup": Group(_names("adGroupName adGroupId adStatus"), _names("adStatus")),
            "campaignPlacement": Group(_CAMPAIGN | _names("placementClassification"), _names("campaignSite")),
        },
    ),
    "spAdvertisedProduct": ReportType(
        _DETAILED | _names("spend adId advertisedAsin advertisedSku"),
        {"advertiser": Group(frozenset(), _names("adCreativeStatus"))},
    ),
    "spTargeting": ReportType(
        _DETAILED | _names("keywordId keyword keywordBid keywordType matchType targeting topOfSearchImpressionShare"),
        {"targeting": Group(_names("adKeywordStatus"), _names("adKeywordStatus keywordType"))},
    ),
}
