"""The simulated Google Ads API v26: resources and their fields, operations, and the fields of queries.

Fields of Google Ads that a Search campaign does not use are missing here, and refused as unknown.
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
    FieldType,
    MessageField,
    MessageFields,
    enum,
    list_type,
    message,
)

API_VERSION = "v26"
HOST, LOGIN_HOST, TOKEN_HOST = "googleads.googleapis.com", "accounts.google.com", "oauth2.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/adwords"
PAGE_SIZE = 10_000  # rows; a request cannot change it
MAX_OPERATIONS = 10_000
MAX_AMOUNT_MICROS = 10**17  # micros; the documentation names the error (MONEY_AMOUNT_TOO_LARGE, BID_TOO_BIG), no limit

# Enums (as sent; reads and queries also know UNSPECIFIED and UNKNOWN) ----------------------------------------------
STATUS = enum("ENABLED PAUSED REMOVED")
PRIMARY_STATUS = enum("ELIGIBLE PAUSED REMOVED ENDED PENDING MISCONFIGURED LIMITED LEARNING NOT_ELIGIBLE")
CHANNEL = enum("""
    SEARCH DISPLAY SHOPPING HOTEL VIDEO MULTI_CHANNEL LOCAL SMART PERFORMANCE_MAX LOCAL_SERVICES TRAVEL DEMAND_GEN
""")
AD_GROUP_TYPE = enum("""
    SEARCH_STANDARD DISPLAY_STANDARD SHOPPING_PRODUCT_ADS SEARCH_DYNAMIC_ADS VIDEO_RESPONSIVE SMART_CAMPAIGN_ADS
""")
BIDDING_TYPE = enum("""
    MANUAL_CPC TARGET_SPEND MAXIMIZE_CONVERSIONS MAXIMIZE_CONVERSION_VALUE TARGET_CPA TARGET_ROAS
    TARGET_IMPRESSION_SHARE
""")
EU_POLITICAL = enum("CONTAINS_EU_POLITICAL_ADVERTISING DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING")
CRITERION_TYPE = enum("KEYWORD LOCATION LANGUAGE PROXIMITY DEVICE AD_SCHEDULE AGE_RANGE GENDER IP_BLOCK")
MATCH_TYPE = enum("EXACT PHRASE BROAD")
CUSTOMER_STATUS = enum("ENABLED CANCELED SUSPENDED CLOSED")
GOAL_CATEGORY = enum("""
    DEFAULT PAGE_VIEW PURCHASE SIGNUP DOWNLOAD ADD_TO_CART BEGIN_CHECKOUT SUBSCRIBE_PAID PHONE_CALL_LEAD
    SUBMIT_LEAD_FORM CONTACT
""")
GOAL_ORIGIN = enum("WEBSITE GOOGLE_HOSTED APP CALL_FROM_ADS STORE YOUTUBE_HOSTED")
MINUTE_OF_HOUR = enum("ZERO FIFTEEN THIRTY FORTY_FIVE")
DAY_OF_WEEK = enum("MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY")
AGE_RANGE = enum("""
    AGE_RANGE_18_24 AGE_RANGE_25_34 AGE_RANGE_35_44 AGE_RANGE_45_54 AGE_RANGE_55_64 AGE_RANGE_65_UP
    AGE_RANGE_UNDETERMINED
""")


def _output_field(kind: FieldType) -> MessageField:
    return MessageField(kind, "never")


def _immutable_field(
    kind: FieldType, default: object = None, *, required: bool = False, oneof: str = ""
) -> MessageField:
    return MessageField(kind, "create", required, default, oneof)


# output only: `operations` takes the resourceName out of a request before the fields are checked
NAME_FIELD = _output_field(TEXT)
ID_FIELD = _output_field(INT64)
STATUS_FIELD = MessageField(STATUS, required=True, default="ENABLED")  # ENABLED if a request leaves it out

# Messages and resources -------------------------------------------------------------------------------------------
BIDDING_ONEOF = "campaign_bidding_strategy"
CAMPAIGN_BUDGET_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "name": MessageField(TEXT),
    "amountMicros": MessageField(INT64),
    "totalAmountMicros": MessageField(INT64),
    "status": _output_field(enum("ENABLED REMOVED")),
    "deliveryMethod": MessageField(enum("STANDARD ACCELERATED"), default="STANDARD"),
    "explicitlyShared": _immutable_field(BOOL, True),  # native default true
    "referenceCount": _output_field(INT64),
    "period": _immutable_field(enum("DAILY CUSTOM_PERIOD"), "DAILY"),
}
CAMPAIGN_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "name": MessageField(TEXT, required=True),
    "status": STATUS_FIELD,
    "primaryStatus": _output_field(PRIMARY_STATUS),
    "advertisingChannelType": _immutable_field(CHANNEL, required=True),
    "campaignBudget": MessageField(TEXT, required=True),
    "biddingStrategyType": _output_field(BIDDING_TYPE),
    "networkSettings": MessageField(
        message(
            targetGoogleSearch=MessageField(BOOL, default=True),
            targetSearchNetwork=MessageField(BOOL, default=True),
            targetContentNetwork=MessageField(BOOL, default=True),
            targetPartnerSearchNetwork=MessageField(BOOL, default=False),
        ),
        default={},
    ),
    "geoTargetTypeSetting": MessageField(
        message(
            positiveGeoTargetType=MessageField(
                enum("PRESENCE_OR_INTEREST SEARCH_INTEREST PRESENCE"), default="PRESENCE_OR_INTEREST"
            ),
            negativeGeoTargetType=MessageField(enum("PRESENCE_OR_INTEREST PRESENCE"), default="PRESENCE"),
        ),
        default={},
    ),
    "startDateTime": MessageField(TEXT),
    "endDateTime": MessageField(TEXT),
    "containsEuPoliticalAdvertising": MessageField(EU_POLITICAL, required=True),
    "trackingUrlTemplate": MessageField(TEXT),
    "finalUrlSuffix": MessageField(TEXT),
    "biddingStrategy": MessageField(TEXT, oneof=BIDDING_ONEOF),
    "manualCpc": MessageField(message(enhancedCpcEnabled=MessageField(BOOL)), oneof=BIDDING_ONEOF),
    "targetSpend": MessageField(
        message(targetSpendMicros=MessageField(MONEY), cpcBidCeilingMicros=MessageField(MONEY)), oneof=BIDDING_ONEOF
    ),
    "maximizeConversions": MessageField(message(targetCpaMicros=MessageField(MONEY)), oneof=BIDDING_ONEOF),
    "maximizeConversionValue": MessageField(message(targetRoas=MessageField(DOUBLE)), oneof=BIDDING_ONEOF),
    "targetCpa": MessageField(message(targetCpaMicros=MessageField(MONEY)), oneof=BIDDING_ONEOF),
    "targetRoas": MessageField(message(targetRoas=MessageField(DOUBLE)), oneof=BIDDING_ONEOF),
    "targetImpressionShare": MessageField(
        message(
            location=MessageField(enum("ANYWHERE_ON_PAGE TOP_OF_PAGE ABSOLUTE_TOP_OF_PAGE"), required=True),
            locationFractionMicros=MessageField(INT64, required=True),
            cpcBidCeilingMicros=MessageField(MONEY, required=True),
        ),
        oneof=BIDDING_ONEOF,
    ),
}
CAMPAIGN_CRITERION_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "criterionId": ID_FIELD,
    "campaign": _immutable_field(TEXT, required=True),
    "negative": _immutable_field(BOOL, False),
    "bidModifier": MessageField(DOUBLE),
    "type": _output_field(CRITERION_TYPE),
    "status": _output_field(STATUS),
    "location": _immutable_field(message(geoTargetConstant=_immutable_field(TEXT, required=True)), oneof="criterion"),
    "language": _immutable_field(message(languageConstant=_immutable_field(TEXT, required=True)), oneof="criterion"),
    "proximity": _immutable_field(
        message(
            geoPoint=_immutable_field(
                message(
                    longitudeInMicroDegrees=_immutable_field(INT32, required=True),
                    latitudeInMicroDegrees=_immutable_field(INT32, required=True),
                ),
                required=True,
            ),
            radius=_immutable_field(DOUBLE, required=True),
            radiusUnits=_immutable_field(enum("MILES KILOMETERS"), "MILES"),
        ),
        oneof="criterion",
    ),
    "device": _immutable_field(
        message(type=_immutable_field(enum("MOBILE TABLET DESKTOP CONNECTED_TV OTHER"), required=True)),
        oneof="criterion",
    ),
    "adSchedule": _immutable_field(
        message(
            startMinute=_immutable_field(MINUTE_OF_HOUR, required=True),
            endMinute=_immutable_field(MINUTE_OF_HOUR, required=True),
            startHour=_immutable_field(INT32),
            endHour=_immutable_field(INT32, required=True),
            dayOfWeek=_immutable_field(DAY_OF_WEEK, required=True),
        ),
        oneof="criterion",
    ),
    "ageRange": _immutable_field(message(type=_immutable_field(AGE_RANGE, required=True)), oneof="criterion"),
    "gender": _immutable_field(
        message(type=_immutable_field(enum("MALE FEMALE UNDETERMINED"), required=True)), oneof="criterion"
    ),
    "ipBlock": _immutable_field(message(ipAddress=_immutable_field(TEXT, required=True)), oneof="criterion"),
}
AD_GROUP_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "campaign": _immutable_field(TEXT, required=True),
    "name": MessageField(TEXT, required=True),
    "status": STATUS_FIELD,
    "type": _immutable_field(AD_GROUP_TYPE, "SEARCH_STANDARD"),
    "cpcBidMicros": MessageField(MONEY),
    "trackingUrlTemplate": MessageField(TEXT),
    "finalUrlSuffix": MessageField(TEXT),
}
AD_GROUP_CRITERION_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "criterionId": ID_FIELD,
    "adGroup": _immutable_field(TEXT, required=True),
    "status": STATUS_FIELD,
    "negative": _immutable_field(BOOL, False),
    "type": _output_field(CRITERION_TYPE),
    "cpcBidMicros": MessageField(MONEY),
    "finalUrls": MessageField(list_type(TEXT)),
    "keyword": _immutable_field(
        message(text=_immutable_field(TEXT, required=True), matchType=_immutable_field(MATCH_TYPE, required=True)),
        required=True,
        oneof="criterion",
    ),
}
ASSETS_TYPE = list_type(
    message(
        text=MessageField(TEXT, required=True),
        pinnedField=MessageField(enum("HEADLINE_1 HEADLINE_2 HEADLINE_3 DESCRIPTION_1 DESCRIPTION_2")),
    )
)
AD_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "type": _output_field(enum("RESPONSIVE_SEARCH_AD")),
    "name": _output_field(TEXT),  # a responsive search ad has no name
    "finalUrls": MessageField(list_type(TEXT), required=True),
    "trackingUrlTemplate": MessageField(TEXT),
    "finalUrlSuffix": MessageField(TEXT),
    "responsiveSearchAd": MessageField(
        message(
            headlines=MessageField(ASSETS_TYPE, required=True),
            descriptions=MessageField(ASSETS_TYPE, required=True),
            path1=MessageField(TEXT),
            path2=MessageField(TEXT),
        ),
        required=True,
        oneof="ad_data",
    ),
}
AD_GROUP_AD_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "adGroup": _immutable_field(TEXT, required=True),
    "status": STATUS_FIELD,
    "ad": _immutable_field(
        message(AD_FIELDS), required=True
    ),  # the content of an ad is edited through the resource `ad`
    "policySummary": _output_field(
        message(
            approvalStatus=_output_field(enum("DISAPPROVED APPROVED_LIMITED APPROVED AREA_OF_INTEREST_ONLY")),
            reviewStatus=_output_field(enum("REVIEW_IN_PROGRESS REVIEWED UNDER_APPEAL ELIGIBLE_MAY_SERVE")),
        )
    ),
}
CONVERSION_GOAL_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "campaign": _output_field(TEXT),
    "category": _output_field(GOAL_CATEGORY),
    "origin": _output_field(GOAL_ORIGIN),
    "biddable": MessageField(BOOL),
}
CUSTOMER_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "descriptiveName": _output_field(TEXT),
    "currencyCode": _output_field(TEXT),
    "timeZone": _output_field(TEXT),
    "manager": _output_field(BOOL),
    "testAccount": _output_field(BOOL),
    "status": _output_field(CUSTOMER_STATUS),
}
CUSTOMER_CLIENT_FIELDS: MessageFields = {
    **CUSTOMER_FIELDS,
    "clientCustomer": _output_field(TEXT),
    "hidden": _output_field(BOOL),
    "level": _output_field(INT64),
}
GEO_TARGET_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "name": _output_field(TEXT),
    "countryCode": _output_field(TEXT),
    "targetType": _output_field(TEXT),
    "status": _output_field(enum("ENABLED REMOVAL_PLANNED")),
    "canonicalName": _output_field(TEXT),
    "parentGeoTarget": _output_field(TEXT),
    "requireEuPoliticalAdvertisingDeclaration": _output_field(BOOL),
}
LANGUAGE_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "code": _output_field(TEXT),
    "name": _output_field(TEXT),
    "targetable": _output_field(BOOL),
}
CURRENCY_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "code": _output_field(TEXT),
    "name": _output_field(TEXT),
    "symbol": _output_field(TEXT),
    "billableUnitMicros": _output_field(INT64),
}
CONVERSION_ACTION_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "name": _output_field(TEXT),
    "category": _output_field(GOAL_CATEGORY),
    "origin": _output_field(GOAL_ORIGIN),
    "status": _output_field(enum("ENABLED REMOVED HIDDEN")),
    "type": _output_field(enum("WEBPAGE UPLOAD_CLICKS AD_CALL")),
}
USER_LIST_FIELDS: MessageFields = {
    "resourceName": NAME_FIELD,
    "id": ID_FIELD,
    "name": _output_field(TEXT),
    "sizeForSearch": _output_field(INT64),
    "membershipStatus": _output_field(enum("OPEN CLOSED")),
}
METRIC_FIELDS: MessageFields = {
    "impressions": _output_field(INT64),
    "clicks": _output_field(INT64),
    "costMicros": _output_field(INT64),
    "conversions": _output_field(DOUBLE),
    "conversionsValue": _output_field(DOUBLE),
    "videoTrueviewViews": _output_field(INT64),
}
SEGMENT_FIELDS: MessageFields = {"date": _output_field(TEXT)}


# Operations -------------------------------------------------------------------------------------------------------
@frozen
class MutableResource:
    """The operations of `googleAds:mutate` on one resource: `<name>Operation` in, `<name>Result` out.

    `kind` is its name in the log of writes. `parent`: the field that holds the parent's resource name, and its kind;
    the own id is then `parent~own`, except where `nested` is false. `temporary`: a create may carry a negative name.
    """

    name: str
    kind: str
    collection: str
    fields: MessageFields
    actions: tuple[str, ...] = ("create", "update", "remove")
    parent: tuple[str, str] | None = None
    nested: bool = True
    temporary: bool = False

    @property
    def operation_message(self) -> FieldType:
        """`{"create" | "update" | "remove": ..., "updateMask": ...}`."""
        messages = {"create": message(self.fields), "update": message(self.fields), "remove": TEXT}
        actions = {action: MessageField(messages[action], oneof="operation") for action in self.actions}
        return message(updateMask=MessageField(TEXT), **actions)


RESOURCES = (
    MutableResource("campaignBudget", "budget", "campaignBudgets", CAMPAIGN_BUDGET_FIELDS, temporary=True),
    MutableResource("campaign", "campaign", "campaigns", CAMPAIGN_FIELDS, temporary=True),
    MutableResource(
        "campaignCriterion", "criterion", "campaignCriteria", CAMPAIGN_CRITERION_FIELDS, parent=("campaign", "campaign")
    ),
    MutableResource(
        "adGroup", "adGroup", "adGroups", AD_GROUP_FIELDS, parent=("campaign", "campaign"), nested=False, temporary=True
    ),
    MutableResource(
        "adGroupCriterion", "keyword", "adGroupCriteria", AD_GROUP_CRITERION_FIELDS, parent=("adGroup", "adGroup")
    ),
    MutableResource("adGroupAd", "ad", "adGroupAds", AD_GROUP_AD_FIELDS, parent=("adGroup", "adGroup")),
    MutableResource("ad", "ad", "ads", AD_FIELDS, ("update",)),
    MutableResource(
        "campaignConversionGoal", "conversionGoal", "campaignConversionGoals", CONVERSION_GOAL_FIELDS, ("update",)
    ),
)
RESOURCE_BY_NAME: Mapping[str, MutableResource] = {resource.name: resource for resource in RESOURCES}
RESOURCE_BY_KIND: Mapping[str, MutableResource] = {
    resource.kind: resource for resource in reversed(RESOURCES)
}  # reversed, because the kind `ad` means the resource adGroupAd
MUTATE_OPTIONS: MessageFields = {"partialFailure": MessageField(BOOL), "validateOnly": MessageField(BOOL)}
OPERATION_MESSAGE = message(
    {f"{resource.name}Operation": MessageField(resource.operation_message, oneof="operation") for resource in RESOURCES}
)
MUTATE_MESSAGE = message(mutateOperations=MessageField(list_type(OPERATION_MESSAGE)), **MUTATE_OPTIONS)
MUTATE_MESSAGE_BY_COLLECTION: Mapping[str, FieldType] = {
    resource.collection: message(operations=MessageField(list_type(resource.operation_message)), **MUTATE_OPTIONS)
    for resource in RESOURCES
}
SEARCH_MESSAGE = message(
    query=MessageField(TEXT),
    pageToken=MessageField(TEXT),
    pageSize=MessageField(INT32),
    searchSettings=MessageField(message(returnTotalResultsCount=MessageField(BOOL))),
)
SUGGEST_MESSAGE = message(
    locale=MessageField(TEXT),
    countryCode=MessageField(TEXT),
    locationNames=MessageField(message(names=MessageField(list_type(TEXT))), oneof="query"),
    geoTargets=MessageField(message(geoTargetConstants=MessageField(list_type(TEXT))), oneof="query"),
)

# Queries ----------------------------------------------------------------------------------------------------------
QUERY_FIELDS: Mapping[str, MessageFields] = {
    "campaign_budget": CAMPAIGN_BUDGET_FIELDS,
    "campaign": CAMPAIGN_FIELDS,
    "campaign_criterion": CAMPAIGN_CRITERION_FIELDS,
    "ad_group": AD_GROUP_FIELDS,
    "ad_group_criterion": AD_GROUP_CRITERION_FIELDS,
    "ad_group_ad": AD_GROUP_AD_FIELDS,
    "campaign_conversion_goal": CONVERSION_GOAL_FIELDS,
    "customer": CUSTOMER_FIELDS,
    "customer_client": CUSTOMER_CLIENT_FIELDS,
    "geo_target_constant": GEO_TARGET_FIELDS,
    "language_constant": LANGUAGE_FIELDS,
    "currency_constant": CURRENCY_FIELDS,
    "conversion_action": CONVERSION_ACTION_FIELDS,
    "user_list": USER_LIST_FIELDS,
    "metrics": METRIC_FIELDS,
    "segments": SEGMENT_FIELDS,
}
# FROM -> other resources that SELECT and WHERE may use
JOINED_RESOURCES: Mapping[str, tuple[str, ...]] = {
    "campaign_budget": ("customer",),
    "campaign": ("campaign_budget", "customer", "metrics", "segments"),
    "campaign_criterion": ("campaign", "campaign_budget", "customer"),
    "ad_group": ("campaign", "campaign_budget", "customer", "metrics", "segments"),
    "ad_group_criterion": ("ad_group", "campaign", "campaign_budget", "customer"),
    "ad_group_ad": ("ad_group", "campaign", "campaign_budget", "customer", "metrics", "segments"),
    "campaign_conversion_goal": ("campaign", "customer"),
    "customer": ("metrics", "segments"),
    "customer_client": ("customer",),
    "geo_target_constant": (),
    "language_constant": (),
    "currency_constant": (),
    "conversion_action": ("customer",),
    "user_list": ("customer",),
}
