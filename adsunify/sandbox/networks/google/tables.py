"""What the simulated Google Ads API v26 knows: resources and their fields, operations, and what a query may ask for.

Written from the documentation; fields that exist in Google Ads and are of no use to a Search campaign are left out,
and refused as unknown.
"""

from collections.abc import Mapping

from attrs import frozen

from adsunify.sandbox.networks.google.messages import (
    BOOL,
    DOUBLE,
    INT32,
    INT64,
    MONEY,
    TEXT,
    Field,
    Fields,
    Kind,
    enum,
    many,
    message,
)

VERSION = "v26"
HOST, LOGIN_HOST, TOKEN_HOST = "googleads.googleapis.com", "accounts.google.com", "oauth2.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/adwords"
PAGE_SIZE = 10_000  # rows, fixed
MOST_OPERATIONS = 10_000
LARGEST_AMOUNT = 10**17  # micros; the documentation names the error (MONEY_AMOUNT_TOO_LARGE, BID_TOO_BIG), no limit

# Enums (as sent; reads and queries also know UNSPECIFIED and UNKNOWN) ----------------------------------------------
STATUS = enum("ENABLED", "PAUSED", "REMOVED")
PRIMARY_STATUS = enum("ELIGIBLE", "PAUSED", "REMOVED", "ENDED", "PENDING", "MISCONFIGURED", "LIMITED", "LEARNING",
                      "NOT_ELIGIBLE")  # fmt: skip
CHANNEL = enum("SEARCH", "DISPLAY", "SHOPPING", "HOTEL", "VIDEO", "MULTI_CHANNEL", "LOCAL", "SMART", "PERFORMANCE_MAX",
               "LOCAL_SERVICES", "TRAVEL", "DEMAND_GEN")  # fmt: skip
AD_GROUP_TYPE = enum("SEARCH_STANDARD", "DISPLAY_STANDARD", "SHOPPING_PRODUCT_ADS", "SEARCH_DYNAMIC_ADS",
                     "VIDEO_RESPONSIVE", "SMART_CAMPAIGN_ADS")  # fmt: skip
BIDDING_TYPE = enum("MANUAL_CPC", "TARGET_SPEND", "MAXIMIZE_CONVERSIONS", "MAXIMIZE_CONVERSION_VALUE", "TARGET_CPA",
                    "TARGET_ROAS", "TARGET_IMPRESSION_SHARE")  # fmt: skip
EU_POLITICAL = enum("CONTAINS_EU_POLITICAL_ADVERTISING", "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING")
CRITERION_TYPE = enum("KEYWORD", "LOCATION", "LANGUAGE", "PROXIMITY", "DEVICE", "AD_SCHEDULE", "AGE_RANGE", "GENDER",
                      "IP_BLOCK")  # fmt: skip
MATCH_TYPE = enum("EXACT", "PHRASE", "BROAD")
CUSTOMER_STATUS = enum("ENABLED", "CANCELED", "SUSPENDED", "CLOSED")
GOAL_CATEGORY = enum("DEFAULT", "PAGE_VIEW", "PURCHASE", "SIGNUP", "DOWNLOAD", "ADD_TO_CART", "BEGIN_CHECKOUT",
                     "SUBSCRIBE_PAID", "PHONE_CALL_LEAD", "SUBMIT_LEAD_FORM", "CONTACT")  # fmt: skip
GOAL_ORIGIN = enum("WEBSITE", "GOOGLE_HOSTED", "APP", "CALL_FROM_ADS", "STORE", "YOUTUBE_HOSTED")
MINUTE = enum("ZERO", "FIFTEEN", "THIRTY", "FORTY_FIVE")
DAY = enum("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
AGE_RANGE = enum("AGE_RANGE_18_24", "AGE_RANGE_25_34", "AGE_RANGE_35_44", "AGE_RANGE_45_54", "AGE_RANGE_55_64",
                 "AGE_RANGE_65_UP", "AGE_RANGE_UNDETERMINED")  # fmt: skip


def _output(kind: Kind) -> Field:
    return Field(kind, "never")


def _fixed(kind: Kind, default: object = None, *, required: bool = False, oneof: str = "") -> Field:
    return Field(kind, "create", required, default, oneof)


NAME = _output(TEXT)  # the resourceName of an operation is taken out first, by `operations`
ID = _output(INT64)
STATUS_FIELD = Field(STATUS, required=True, default="ENABLED")  # left out means ENABLED

# Messages and resources -------------------------------------------------------------------------------------------
BIDDING = "campaign_bidding_strategy"
CAMPAIGN_BUDGET: Fields = {
    "resourceName": NAME, "id": ID,
    "name": Field(TEXT),
    "amountMicros": Field(INT64),
    "totalAmountMicros": Field(INT64),
    "status": _output(enum("ENABLED", "REMOVED")),
    "deliveryMethod": Field(enum("STANDARD", "ACCELERATED"), default="STANDARD"),
    "explicitlyShared": _fixed(BOOL, True),  # native default true
    "referenceCount": _output(INT64),
    "period": _fixed(enum("DAILY", "CUSTOM_PERIOD"), "DAILY"),
}  # fmt: skip
CAMPAIGN: Fields = {
    "resourceName": NAME, "id": ID,
    "name": Field(TEXT, required=True),
    "status": STATUS_FIELD,
    "primaryStatus": _output(PRIMARY_STATUS),
    "advertisingChannelType": _fixed(CHANNEL, required=True),
    "campaignBudget": Field(TEXT, required=True),
    "biddingStrategyType": _output(BIDDING_TYPE),
    "networkSettings": Field(message({  # where left out: wide (values unverified; the examples send all four)
        "targetGoogleSearch": Field(BOOL, default=True),
        "targetSearchNetwork": Field(BOOL, default=True),
        "targetContentNetwork": Field(BOOL, default=True),
        "targetPartnerSearchNetwork": Field(BOOL, default=False),
    }), default={}),
    "geoTargetTypeSetting": Field(message({
        "positiveGeoTargetType": Field(
            enum("PRESENCE_OR_INTEREST", "SEARCH_INTEREST", "PRESENCE"), default="PRESENCE_OR_INTEREST"),
        "negativeGeoTargetType": Field(enum("PRESENCE_OR_INTEREST", "PRESENCE"), default="PRESENCE"),
    }), default={}),
    "startDateTime": Field(TEXT),
    "endDateTime": Field(TEXT),
    "containsEuPoliticalAdvertising": Field(EU_POLITICAL, required=True),
    "trackingUrlTemplate": Field(TEXT),
    "finalUrlSuffix": Field(TEXT),
    "biddingStrategy": Field(TEXT, oneof=BIDDING),
    "manualCpc": Field(message({"enhancedCpcEnabled": Field(BOOL)}), oneof=BIDDING),
    "targetSpend": Field(
        message({"targetSpendMicros": Field(MONEY), "cpcBidCeilingMicros": Field(MONEY)}), oneof=BIDDING),
    "maximizeConversions": Field(message({"targetCpaMicros": Field(MONEY)}), oneof=BIDDING),
    "maximizeConversionValue": Field(message({"targetRoas": Field(DOUBLE)}), oneof=BIDDING),
    "targetCpa": Field(message({"targetCpaMicros": Field(MONEY)}), oneof=BIDDING),
    "targetRoas": Field(message({"targetRoas": Field(DOUBLE)}), oneof=BIDDING),
    "targetImpressionShare": Field(message({
        "location": Field(
            enum("ANYWHERE_ON_PAGE", "TOP_OF_PAGE", "ABSOLUTE_TOP_OF_PAGE"), required=True),
        "locationFractionMicros": Field(INT64, required=True),
        "cpcBidCeilingMicros": Field(MONEY, required=True),
    }), oneof=BIDDING),
}  # fmt: skip
CAMPAIGN_CRITERION: Fields = {
    "resourceName": NAME, "criterionId": ID,
    "campaign": _fixed(TEXT, required=True),
    "negative": _fixed(BOOL, False),
    "bidModifier": Field(DOUBLE),
    "type": _output(CRITERION_TYPE),
    "status": _output(STATUS),
    "location": _fixed(message({"geoTargetConstant": _fixed(TEXT, required=True)}), oneof="criterion"),
    "language": _fixed(message({"languageConstant": _fixed(TEXT, required=True)}), oneof="criterion"),
    "proximity": _fixed(message({
        "geoPoint": _fixed(message({
            "longitudeInMicroDegrees": _fixed(INT32, required=True),
            "latitudeInMicroDegrees": _fixed(INT32, required=True),
        }), required=True),
        "radius": _fixed(DOUBLE, required=True),
        "radiusUnits": _fixed(enum("MILES", "KILOMETERS"), "MILES"),
    }), oneof="criterion"),
    "device": _fixed(message({
        "type": _fixed(enum("MOBILE", "TABLET", "DESKTOP", "CONNECTED_TV", "OTHER"), required=True),
    }), oneof="criterion"),
    "adSchedule": _fixed(message({
        "startMinute": _fixed(MINUTE, required=True), "endMinute": _fixed(MINUTE, required=True),
        "startHour": _fixed(INT32), "endHour": _fixed(INT32, required=True), "dayOfWeek": _fixed(DAY, required=True),
    }), oneof="criterion"),
    "ageRange": _fixed(message({"type": _fixed(AGE_RANGE, required=True)}), oneof="criterion"),
    "gender": _fixed(message({"type": _fixed(enum("MALE", "FEMALE", "UNDETERMINED"), required=True)}),
                     oneof="criterion"),
    "ipBlock": _fixed(message({"ipAddress": _fixed(TEXT, required=True)}), oneof="criterion"),
}  # fmt: skip
AD_GROUP: Fields = {
    "resourceName": NAME, "id": ID,
    "campaign": _fixed(TEXT, required=True),
    "name": Field(TEXT, required=True),
    "status": STATUS_FIELD,
    "type": _fixed(AD_GROUP_TYPE, "SEARCH_STANDARD"),
    "cpcBidMicros": Field(MONEY),
    "trackingUrlTemplate": Field(TEXT),
    "finalUrlSuffix": Field(TEXT),
}  # fmt: skip
AD_GROUP_CRITERION: Fields = {
    "resourceName": NAME, "criterionId": ID,
    "adGroup": _fixed(TEXT, required=True),
    "status": STATUS_FIELD,
    "negative": _fixed(BOOL, False),
    "type": _output(CRITERION_TYPE),
    "cpcBidMicros": Field(MONEY),
    "finalUrls": Field(many(TEXT)),
    "keyword": _fixed(message({"text": _fixed(TEXT, required=True), "matchType": _fixed(MATCH_TYPE, required=True)}),
                      required=True, oneof="criterion"),
}  # fmt: skip
ASSETS = many(message({
    "text": Field(TEXT, required=True),
    "pinnedField": Field(enum("HEADLINE_1", "HEADLINE_2", "HEADLINE_3", "DESCRIPTION_1", "DESCRIPTION_2")),
}))  # fmt: skip
AD: Fields = {
    "resourceName": NAME, "id": ID,
    "type": _output(enum("RESPONSIVE_SEARCH_AD")),
    "finalUrls": Field(many(TEXT), required=True),
    "trackingUrlTemplate": Field(TEXT),
    "finalUrlSuffix": Field(TEXT),
    "responsiveSearchAd": Field(message({
        "headlines": Field(ASSETS, required=True), "descriptions": Field(ASSETS, required=True),
        "path1": Field(TEXT), "path2": Field(TEXT),
    }), required=True, oneof="ad_data"),
}  # fmt: skip
AD_GROUP_AD: Fields = {
    "resourceName": NAME,
    "adGroup": _fixed(TEXT, required=True),
    "status": STATUS_FIELD,
    "ad": _fixed(message(AD), required=True),  # its content is edited through the ad itself
    "policySummary": _output(message({
        "approvalStatus": _output(enum("DISAPPROVED", "APPROVED_LIMITED", "APPROVED", "AREA_OF_INTEREST_ONLY")),
        "reviewStatus": _output(enum("REVIEW_IN_PROGRESS", "REVIEWED", "UNDER_APPEAL", "ELIGIBLE_MAY_SERVE")),
    })),
}  # fmt: skip
CONVERSION_GOAL: Fields = {
    "resourceName": NAME,
    "campaign": _output(TEXT),
    "category": _output(GOAL_CATEGORY),
    "origin": _output(GOAL_ORIGIN),
    "biddable": Field(BOOL),
}  # fmt: skip
CUSTOMER: Fields = {
    "resourceName": NAME, "id": ID, "descriptiveName": _output(TEXT), "currencyCode": _output(TEXT),
    "timeZone": _output(TEXT), "manager": _output(BOOL), "testAccount": _output(BOOL),
    "status": _output(CUSTOMER_STATUS),
}  # fmt: skip
CUSTOMER_CLIENT: Fields = {
    **CUSTOMER, "clientCustomer": _output(TEXT), "hidden": _output(BOOL), "level": _output(INT64),
}  # fmt: skip
GEO_TARGET: Fields = {
    "resourceName": NAME, "id": ID, "name": _output(TEXT), "countryCode": _output(TEXT), "targetType": _output(TEXT),
    "status": _output(enum("ENABLED", "REMOVAL_PLANNED")), "canonicalName": _output(TEXT),
    "parentGeoTarget": _output(TEXT), "requireEuPoliticalAdvertisingDeclaration": _output(BOOL),
}  # fmt: skip
LANGUAGE: Fields = {
    "resourceName": NAME, "id": ID, "code": _output(TEXT), "name": _output(TEXT), "targetable": _output(BOOL),
}  # fmt: skip
CURRENCY: Fields = {
    "resourceName": NAME, "code": _output(TEXT), "name": _output(TEXT), "symbol": _output(TEXT),
    "billableUnitMicros": _output(INT64),
}  # fmt: skip
CONVERSION_ACTION: Fields = {
    "resourceName": NAME, "id": ID, "name": _output(TEXT), "category": _output(GOAL_CATEGORY),
    "origin": _output(GOAL_ORIGIN), "status": _output(enum("ENABLED", "REMOVED", "HIDDEN")),
    "type": _output(enum("WEBPAGE", "UPLOAD_CLICKS", "AD_CALL")),
}  # fmt: skip
USER_LIST: Fields = {
    "resourceName": NAME, "id": ID, "name": _output(TEXT), "sizeForSearch": _output(INT64),
    "membershipStatus": _output(enum("OPEN", "CLOSED")),
}  # fmt: skip
METRICS: Fields = {
    "impressions": _output(INT64), "clicks": _output(INT64), "costMicros": _output(INT64),
    "conversions": _output(DOUBLE), "conversionsValue": _output(DOUBLE), "videoTrueviewViews": _output(INT64),
}  # fmt: skip
SEGMENTS: Fields = {"date": _output(TEXT)}


# Operations -------------------------------------------------------------------------------------------------------
@frozen
class Resource:
    """What `googleAds:mutate` can do with one resource: `<name>Operation` in, `<name>Result` out.

    `kind` names it in the writes log. `parent`: the field that holds the parent's resource name, and its kind; the
    own id is then `parent~own`, except where `nested` is false. `temporary`: a create may carry a negative name.
    """

    name: str
    kind: str
    collection: str
    fields: Fields
    actions: tuple[str, ...] = ("create", "update", "remove")
    parent: tuple[str, str] | None = None
    nested: bool = True
    temporary: bool = False

    @property
    def operation(self) -> Kind:
        """`{"create" | "update" | "remove": ..., "updateMask": ...}`."""
        held = {"create": message(self.fields), "update": message(self.fields), "remove": TEXT}
        actions = {action: Field(held[action], oneof="operation") for action in self.actions}
        return message({"updateMask": Field(TEXT), **actions})


RESOURCES = (
    Resource("campaignBudget", "budget", "campaignBudgets", CAMPAIGN_BUDGET, temporary=True),
    Resource("campaign", "campaign", "campaigns", CAMPAIGN, temporary=True),
    Resource("campaignCriterion", "criterion", "campaignCriteria", CAMPAIGN_CRITERION, parent=("campaign", "campaign")),
    Resource("adGroup", "adGroup", "adGroups", AD_GROUP, parent=("campaign", "campaign"), nested=False, temporary=True),
    Resource("adGroupCriterion", "keyword", "adGroupCriteria", AD_GROUP_CRITERION, parent=("adGroup", "adGroup")),
    Resource("adGroupAd", "ad", "adGroupAds", AD_GROUP_AD, parent=("adGroup", "adGroup")),
    Resource("ad", "ad", "ads", AD, ("update",)),
    Resource("campaignConversionGoal", "conversionGoal", "campaignConversionGoals", CONVERSION_GOAL, ("update",)),
)
BY_NAME: Mapping[str, Resource] = {one.name: one for one in RESOURCES}
BY_KIND: Mapping[str, Resource] = {one.kind: one for one in reversed(RESOURCES)}  # `ad` is the adGroupAd
OPTIONS: Fields = {"partialFailure": Field(BOOL), "validateOnly": Field(BOOL)}
ONE_OPERATION = message({f"{one.name}Operation": Field(one.operation, oneof="operation") for one in RESOURCES})
MUTATE = message({"mutateOperations": Field(many(ONE_OPERATION)), **OPTIONS})
MUTATE_ONE: Mapping[str, Kind] = {
    one.collection: message({"operations": Field(many(one.operation)), **OPTIONS}) for one in RESOURCES
}
SEARCH = message({
    "query": Field(TEXT), "pageToken": Field(TEXT), "pageSize": Field(INT32),
    "searchSettings": Field(message({"returnTotalResultsCount": Field(BOOL)})),
})  # fmt: skip
SUGGEST = message({
    "locale": Field(TEXT), "countryCode": Field(TEXT),
    "locationNames": Field(message({"names": Field(many(TEXT))}), oneof="query"),
    "geoTargets": Field(message({"geoTargetConstants": Field(many(TEXT))}), oneof="query"),
})  # fmt: skip

# Queries ----------------------------------------------------------------------------------------------------------
QUERIED: Mapping[str, Fields] = {
    "campaign_budget": CAMPAIGN_BUDGET, "campaign": CAMPAIGN, "campaign_criterion": CAMPAIGN_CRITERION,
    "ad_group": AD_GROUP, "ad_group_criterion": AD_GROUP_CRITERION, "ad_group_ad": AD_GROUP_AD,
    "campaign_conversion_goal": CONVERSION_GOAL, "customer": CUSTOMER, "customer_client": CUSTOMER_CLIENT,
    "geo_target_constant": GEO_TARGET, "language_constant": LANGUAGE, "currency_constant": CURRENCY,
    "conversion_action": CONVERSION_ACTION, "user_list": USER_LIST, "metrics": METRICS, "segments": SEGMENTS,
}  # fmt: skip
# FROM -> what else may stand in SELECT and WHERE
JOINED: Mapping[str, tuple[str, ...]] = {
    "campaign_budget": ("customer",),
    "campaign": ("campaign_budget", "customer"),
    "campaign_criterion": ("campaign", "campaign_budget", "customer"),
    "ad_group": ("campaign", "campaign_budget", "customer"),
    "ad_group_criterion": ("ad_group", "campaign", "campaign_budget", "customer"),
    "ad_group_ad": ("ad_group", "campaign", "campaign_budget", "customer"),
    "campaign_conversion_goal": ("campaign", "customer"),
    "customer": ("metrics", "segments"),
    "customer_client": ("customer",),
    "geo_target_constant": (), "language_constant": (), "currency_constant": (),
    "conversion_action": ("customer",), "user_list": ("customer",),
}  # fmt: skip
