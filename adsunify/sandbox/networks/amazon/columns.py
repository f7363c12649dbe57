"""Report types of Sponsored Products: columns, groupBy and filters (reporting-v3.columns)."""

from collections.abc import Mapping, Sequence

from attrs import frozen


@frozen
class ReportGroup:
    """One groupBy of a report type: the columns that it adds, and the values of each field that can filter it."""

    columns: frozenset[str]
    filters: Mapping[str, Sequence[str]]


@frozen
class ReportType:
    """Columns that every groupBy has, and the groupBys."""

    columns: frozenset[str]
    groups: Mapping[str, ReportGroup]


def _split_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON_COLUMNS = _split_names("""
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
_DETAILED_COLUMNS = _COMMON_COLUMNS | _split_names("""
    salesOtherSku7d unitsSoldOtherSku7d acosClicks7d acosClicks14d roasClicks7d roasClicks14d
    portfolioId campaignName campaignId campaignStatus
    campaignBudgetType campaignBudgetAmount campaignBudgetCurrencyCode adGroupName adGroupId
""")
_CAMPAIGN_COLUMNS = _split_names("""
    campaignName campaignId campaignStatus campaignBudgetAmount campaignBudgetType campaignBudgetCurrencyCode
    campaignRuleBasedBudgetAmount campaignApplicableBudgetRuleId campaignApplicableBudgetRuleName
    topOfSearchImpressionShare
""")
_STATES = ("ENABLED", "PAUSED", "ARCHIVED")
_KEYWORD_TYPES = ("BROAD", "PHRASE", "EXACT", "TARGETING_EXPRESSION", "TARGETING_EXPRESSION_PREDEFINED")

REPORT_TYPES: Mapping[str, ReportType] = {
    "spCampaigns": ReportType(
        _COMMON_COLUMNS | _split_names("spend campaignBiddingStrategy"),
        {
            "campaign": ReportGroup(_CAMPAIGN_COLUMNS, {"campaignStatus": _STATES}),
            "adGroup": ReportGroup(_split_names("adGroupName adGroupId adStatus"), {"adStatus": _STATES}),
            "campaignPlacement": ReportGroup(
                _CAMPAIGN_COLUMNS | _split_names("placementClassification"), {"campaignSite": ("AmazonBusiness",)}
            ),
        },
    ),
    "spAdvertisedProduct": ReportType(
        _DETAILED_COLUMNS | _split_names("spend adId advertisedAsin advertisedSku"),
        {"advertiser": ReportGroup(frozenset(), {"adCreativeStatus": _STATES})},
    ),
    "spTargeting": ReportType(
        _DETAILED_COLUMNS
        | _split_names("keywordId keyword keywordBid keywordType matchType targeting topOfSearchImpressionShare"),
        {
            "targeting": ReportGroup(
                _split_names("adKeywordStatus"), {"adKeywordStatus": _STATES, "keywordType": _KEYWORD_TYPES}
            )
        },
    ),
}
