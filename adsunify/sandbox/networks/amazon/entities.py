"""The four write resources as tables: their members, and the rules between them.

A member has a shape and a rule. A wrong shape refuses the whole request with 400; a broken rule fails only that item of
a 207. The documentation does not say which is which: JSON types are shapes, and presence, enums and limits are rules
(our choice).
"""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from attrs import field, frozen

from adsunify.sandbox.checks import Check, array, integer, nullable, number, record, text
from adsunify.sandbox.networks.amazon import rules
from adsunify.sandbox.networks.amazon.answers import ItemError
from adsunify.sandbox.networks.amazon.rules import Rule, WriteItem
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity

Data = dict[str, Any]
ARCHIVED = "ARCHIVED"
CREATE_CALL, UPDATE_CALL = "create", "update"
BOTH_CALLS = frozenset({CREATE_CALL, UPDATE_CALL})
ANY_TEXT_CHECK = text(0)


@frozen
class Member:
    """One member of an entity: JSON shape, rule, and the calls in which it is allowed, required or nullable."""

    value_check: Check
    rule: Rule = rules.accept_any
    accepted_calls: frozenset[str] = BOTH_CALLS
    required: bool = False
    nullable_calls: frozenset[str] = frozenset()

    def get_check(self, call: str) -> Check:
        """The check of the member's shape in one kind of call."""
        return nullable(self.value_check) if call in self.nullable_calls else self.value_check


@frozen
class Resource:
    """One write resource.

    `parents`: (member that names the parent, kind of the parent), the nearest parent last. `settle` checks the members
    together. `filters`: the list filters other than stateFilter and the filters by id. `single`: the name of the entity
    in a full answer.
    """

    kind: str
    entity_type: str
    collection: str
    singular: str
    id_name: str
    media_type: str
    members: Mapping[str, Member]
    parents: tuple[tuple[str, str], ...]
    settle_data: Callable[[WriteItem, Data], None]
    filters: tuple[str, ...] = ()
    path: str = field(init=False)

    @path.default
    def _build_path(self) -> str:
        return f"/sp/{self.collection}"

    @property
    def id_filter(self) -> str:
        """The name of the list filter by id."""
        return f"{self.id_name}Filter"

    def build_item_check(self, call: str) -> Check:
        """The shape of one item of a request. Required members are a rule, not a shape."""
        members = {
            name: member.get_check(call) for name, member in self.members.items() if call in member.accepted_calls
        }
        return record(optional={**members, self.id_name: ANY_TEXT_CHECK} if call == UPDATE_CALL else members)

    def render_entity(self, entity: StoredEntity) -> Data:
        """The entity as Amazon shows it, without extended data."""
        return {self.id_name: entity.id, **entity.data}


def _settle_campaign(item: WriteItem, data: Data) -> None:
    """Fill in defaults, and check dates, name and budget of a campaign."""
    before = None if item.before is None else item.before.data
    # native default of an absent startDate: today; of dynamicBidding: down only (both our choice, the documentation is
    # silent)
    data.setdefault("startDate", item.today.isoformat())
    data.setdefault("dynamicBidding", {"strategy": "LEGACY_FOR_SALES", "placementBidding": []})
    _check_dates(item, data, before)
    if before is not None and data["targetingType"] != before["targetingType"]:  # cannot change
        raise ItemError("otherError", "OTHER_ERROR", f"{item.where}/targetingType", "cannot be changed")
    if item.is_seller:  # for sellers, a name is unique in the account; vendors may repeat it
        _check_unique(item, data, "name", item.world.list_entities("campaign", item.account.id))
    if item.before is not None:
        amount = data["budget"]["budget"]
        for group in _list_unarchived(item, "adGroup", item.before.id):
            _check_bid_affordable(item, amount, group.data["defaultBid"], "BUDGET_LT_DEFAULT_BIDS")
            for keyword in _list_unarchived(item, "keyword", group.id):
                _check_bid_affordable(item, amount, keyword.data.get("bid"), "BUDGET_LT_KEYWORD_BIDS")


def _list_unarchived(item: WriteItem, kind: str, parent: str) -> list[StoredEntity]:
    entities = item.world.list_entities(kind, item.account.id, parent)
    return [entity for entity in entities if entity.data["state"] != ARCHIVED]


def _check_dates(item: WriteItem, data: Data, before: Mapping[str, Any] | None) -> None:
    start, today = date.fromisoformat(data["startDate"]), item.today
    if before is None or before["startDate"] != data["startDate"]:
        if before is not None and date.fromisoformat(before["startDate"]) <= today:
            raise _date_error(item, "UPDATING_READ_ONLY_START_DATE", "startDate")
        if start < today:
            raise _date_error(item, "START_DATE_EARLIER_THAN_TODAY", "startDate")
    if "endDate" in data:
        end, moved = date.fromisoformat(data["endDate"]), before is None or before.get("endDate") != data["endDate"]
        if moved and end < today:
            raise _date_error(item, "END_DATE_EARLIER_THAN_TODAY", "endDate")
        if end < start:
            raise _date_error(item, "START_DATE_AFTER_END_DATE", "endDate")


def _date_error(item: WriteItem, reason: str, name: str) -> ItemError:
    return ItemError("dateError", reason, f"{item.where}/{name}", f"today is {item.today} in the profile's time zone")


def _check_bid_affordable(item: WriteItem, amount: Decimal, bid: Decimal | None, reason: str) -> None:
    if bid is not None and bid > amount:
        raise ItemError("budgetError", reason, f"{item.where}/budget/budget", f"a bid is {bid}", amount)


def _settle_ad_group(item: WriteItem, data: Data) -> None:
    _check_unique(item, data, "name", item.world.list_entities("adGroup", item.account.id, data["campaignId"]))
    _check_within_budget(item, data["campaignId"], data["defaultBid"], "defaultBid")


def _settle_ad(item: WriteItem, data: Data) -> None:
    """Check that there is one of sku (sellers) and asin (vendors), unique in the ad group."""
    names = [name for name in ("sku", "asin") if name in data]
    if not names:
        raise rules.missing_value_error(f"{item.where}/{'sku' if item.is_seller else 'asin'}")
    # the rules of the members have already refused an ad with both
    _check_unique(item, data, names[0], item.world.list_entities("productAd", item.account.id, data["adGroupId"]))


def _settle_keyword(item: WriteItem, data: Data) -> None:
    campaign = item.world.find("campaign", data["campaignId"], item.account.id)
    if campaign is not None and campaign.data["targetingType"] == "AUTO":
        reason = "TARGETING_TYPE_NOT_ALLOWED_FOR_AUTO_TARGETING_CAMPAIGN"
        raise ItemError("targetingClauseSetupError", reason, item.where, "the campaign targets automatically")
    siblings = item.world.list_entities("keyword", item.account.id, data["adGroupId"])
    _check_unique(
        item, data, "keywordText", [sibling for sibling in siblings if sibling.data["matchType"] == data["matchType"]]
    )
    if "bid" in data:
        _check_within_budget(item, data["campaignId"], data["bid"], "bid")


def _check_within_budget(item: WriteItem, campaign_id: str, bid: Decimal, name: str) -> None:
    """Check that a bid does not exceed the campaign's budget."""
    campaign = item.world.find("campaign", campaign_id, item.account.id)
    if campaign is not None and bid > campaign.data["budget"]["budget"]:
        limit = {"upperLimit": str(campaign.data["budget"]["budget"])}
        raise ItemError("biddingError", "BID_GT_BUDGET", f"{item.where}/{name}", "above the budget", bid, limit)


def _check_unique(item: WriteItem, data: Data, name: str, siblings: list[StoredEntity]) -> None:
    """Check that a value is unique among entities that are not archived, compared exactly (both our choice)."""
    own = None if item.before is None else item.before.id
    for other in siblings:
        if other.id != own and other.data["state"] != ARCHIVED and other.data.get(name) == data[name]:
            reason = "NAME_NOT_UNIQUE" if name == "name" else "DUPLICATE_VALUE"
            raise ItemError("duplicateValueError", reason, f"{item.where}/{name}", "exists already", data[name])


def _check_tags(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(tag, str) for tag in value.values()):
        raise InvalidRequest("type", where, "must be an object of strings", value)
    if len(value) > 50:
        raise InvalidRequest("value", where, "at most 50 tags", len(value))
    return value


# ARCHIVED cannot be written: the delete call sets it
_STATE_MEMBER = Member(ANY_TEXT_CHECK, rules.one_of("ENABLED", "PAUSED"), required=True)
_CREATE_ONLY = frozenset({CREATE_CALL})
_PARENT_MEMBER = Member(ANY_TEXT_CHECK, accepted_calls=_CREATE_ONLY, required=True)

CAMPAIGN_RESOURCE = Resource(
    kind="campaign",
    entity_type="CAMPAIGN",
    collection="campaigns",
    singular="campaign",
    id_name="campaignId",
    media_type="application/vnd.spCampaign.v3+json",
    members={
        "name": Member(ANY_TEXT_CHECK, rules.check_campaign_name, required=True),
        "targetingType": Member(ANY_TEXT_CHECK, rules.one_of("AUTO", "MANUAL"), required=True),
        "state": _STATE_MEMBER,
        "budget": Member(
            record(optional={"budgetType": ANY_TEXT_CHECK, "budget": number()}), rules.check_budget, required=True
        ),
        "startDate": Member(ANY_TEXT_CHECK, rules.check_calendar_date),
        "endDate": Member(ANY_TEXT_CHECK, rules.check_calendar_date, nullable_calls=BOTH_CALLS),
        "dynamicBidding": Member(
            record(
                optional={
                    "strategy": ANY_TEXT_CHECK,
                    "placementBidding": array(record(optional={"placement": ANY_TEXT_CHECK, "percentage": integer()})),
                }
            ),
            rules.check_dynamic_bidding,
        ),
        "portfolioId": Member(ANY_TEXT_CHECK, rules.check_portfolio, nullable_calls=frozenset({UPDATE_CALL})),
        "tags": Member(_check_tags),
    },
    parents=(),
    settle_data=_settle_campaign,
    filters=("portfolioIdFilter", "nameFilter"),
)
AD_GROUP_RESOURCE = Resource(
    kind="adGroup",
    entity_type="AD_GROUP",
    collection="adGroups",
    singular="adGroup",
    id_name="adGroupId",
    media_type="application/vnd.spAdGroup.v3+json",
    members={
        "campaignId": _PARENT_MEMBER,
        "name": Member(ANY_TEXT_CHECK, rules.check_ad_group_name, required=True),
        "state": _STATE_MEMBER,
        "defaultBid": Member(number(), rules.check_default_bid, required=True),
    },
    parents=(("campaignId", "campaign"),),
    settle_data=_settle_ad_group,
    filters=("campaignIdFilter", "campaignTargetingTypeFilter", "nameFilter"),
)
PRODUCT_AD_RESOURCE = Resource(
    kind="productAd",
    entity_type="PRODUCT_AD",
    collection="productAds",
    singular="productAd",
    id_name="adId",
    media_type="application/vnd.spProductAd.v3+json",
    members={
        "campaignId": _PARENT_MEMBER,
        "adGroupId": _PARENT_MEMBER,
        "state": _STATE_MEMBER,
        "sku": Member(ANY_TEXT_CHECK, rules.check_sku, _CREATE_ONLY),
        "asin": Member(ANY_TEXT_CHECK, rules.check_asin, _CREATE_ONLY),
        "customText": Member(text(50, 150, "[^a-z<>^][^<>^]+"), rules.refuse_custom_text, _CREATE_ONLY),
    },
    parents=(("campaignId", "campaign"), ("adGroupId", "adGroup")),
    settle_data=_settle_ad,
    filters=("campaignIdFilter", "adGroupIdFilter"),
)
KEYWORD_RESOURCE = Resource(
    kind="keyword",
    entity_type="KEYWORD",
    collection="keywords",
    singular="keyword",
    id_name="keywordId",
    media_type="application/vnd.spKeyword.v3+json",
    members={
        "campaignId": _PARENT_MEMBER,
        "adGroupId": _PARENT_MEMBER,
        "state": _STATE_MEMBER,
        "keywordText": Member(ANY_TEXT_CHECK, rules.check_keyword_text, _CREATE_ONLY, required=True),
        "matchType": Member(ANY_TEXT_CHECK, rules.one_of("EXACT", "PHRASE", "BROAD"), _CREATE_ONLY, required=True),
        "bid": Member(
            number(), rules.check_keyword_bid, nullable_calls=BOTH_CALLS
        ),  # null or absent: the ad group's default bid
        "nativeLanguageKeyword": Member(ANY_TEXT_CHECK, accepted_calls=_CREATE_ONLY),
        "nativeLanguageLocale": Member(ANY_TEXT_CHECK, rules.check_locale, _CREATE_ONLY),
    },
    parents=(("campaignId", "campaign"), ("adGroupId", "adGroup")),
    settle_data=_settle_keyword,
    filters=("campaignIdFilter", "adGroupIdFilter", "keywordTextFilter", "matchTypeFilter", "locale"),
)
RESOURCES = (CAMPAIGN_RESOURCE, AD_GROUP_RESOURCE, PRODUCT_AD_RESOURCE, KEYWORD_RESOURCE)
