"""Campaigns and line items: their parameters, rules and responses."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from adsunify.sandbox.checks import Check, choice, integer_text, text, visible_text
from adsunify.sandbox.network import Request
from adsunify.sandbox.networks.x import answers, tables
from adsunify.sandbox.networks.x.instruments import check_instrument_usable, require_instrument
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity, World

DAILY_BUDGET, TOTAL_BUDGET, BID_AMOUNT = (
    "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro",
    "bid_amount_local_micro",
)
_MAX_INT64 = 2**63 - 1
_MONEY_CHECK = integer_text(1, _MAX_INT64)
_UPDATE_STATUS_CHECK = choice("ACTIVE", "PAUSED")  # DRAFT is for creation only


@frozen
class Resource:
    """A resource that is created, changed and deleted one by one or in batches of 40.

    `settle(world, account, data, before)` checks the members together and returns the stored data; `before` is None on
    creation.
    """

    kind: str
    path: str
    id_name: str
    required: Mapping[str, Check]
    optional: Mapping[str, Check]
    update_checks: Mapping[str, Check]
    filters: Mapping[str, str]
    settle_data: Callable[[World, Account, answers.Data, StoredEntity | None], answers.Data]
    render_entity: Callable[[Request, StoredEntity], answers.Data]
    parent: str


def require_live_entity(world: World, kind: str, entity_id: str, account: Account) -> StoredEntity:
    """An entity of the account that is not deleted."""
    entity = world.find(kind, entity_id, account.id)
    if entity is None or entity.data["deleted"]:
        raise InvalidRequest(f"{kind.upper()}_NOT_FOUND", f"{kind}_id", f"no such {kind}", entity_id)
    return entity


# -- campaigns ----------------------------------------------------------------------------------------------------


def _settle_campaign(world: World, account: Account, data: answers.Data, before: StoredEntity | None) -> answers.Data:
    paying = require_instrument(account, data["funding_instrument_id"])
    if before is None:
        check_instrument_usable(paying)
        living = [other for other in world.list_entities("campaign", account.id) if not other.data["deleted"]]
        if len(living) >= tables.MAX_CAMPAIGNS_PER_ACCOUNT:
            raise InvalidRequest("TOO_MANY_CAMPAIGNS", "", "the account has as many campaigns as it may")
    _check_denomination(data, paying.currency, DAILY_BUDGET, TOTAL_BUDGET)
    daily, total = data.get(DAILY_BUDGET), data.get(TOTAL_BUDGET)
    # Some instrument types require a daily budget: without one, the response is a 400.
    if daily is None and (total is None or paying.type == tables.DAILY_BUDGET_ONLY_TYPE):
        raise InvalidRequest("required", DAILY_BUDGET, f"{DAILY_BUDGET} is required for this funding instrument")
    if daily is not None and total is not None and daily > total:
        raise InvalidRequest("value", DAILY_BUDGET, f"must not exceed {TOTAL_BUDGET}", daily)
    for item in world.list_entities("line_item", account.id, before.id) if before is not None else ():
        if not item.data["deleted"]:
            _check_campaign_budget(item.data, data, TOTAL_BUDGET)
    defaults = {"entity_status": "ACTIVE", "budget_optimization": "LINE_ITEM", "standard_delivery": True}
    return {**defaults, **data, "currency": paying.currency}


def _render_campaign(request: Request, entity: StoredEntity) -> answers.Data:
    data = entity.data
    reasons = list_unservable_reasons(request.world, entity, request.now)
    return {
        "id": entity.id,
        **{
            name: data.get(name)
            for name in (
                "name",
                "funding_instrument_id",
                "entity_status",
                "currency",
                DAILY_BUDGET,
                TOTAL_BUDGET,
                "budget_optimization",
                "standard_delivery",
                "purchase_order_number",
                "deleted",
            )
        },
        "frequency_cap": None,
        "duration_in_days": None,
        "servable": not reasons,
        "effective_status": "PAUSED" if data["entity_status"] == "PAUSED" else "UNKNOWN" if reasons else "RUNNING",
        "reasons_not_servable": reasons,
        **answers.render_timestamps(entity),
    }


def list_unservable_reasons(world: World, campaign: StoredEntity, now: datetime) -> list[str]:
    """The reasons why a campaign does not serve; empty if it serves."""
    items = [
        line_item
        for line_item in world.list_entities("line_item", campaign.account, campaign.id)
        if not line_item.data["deleted"]
    ]
    posts = [post for item in items for post in world.list_entities("promoted_tweet", item.account, item.id)]
    ended = items and all(
        item.data["end_time"] and answers.parse_instant(item.data["end_time"]) <= now for item in items
    )
    status = campaign.data["entity_status"]
    return [
        *(["PAUSED_BY_ADVERTISER"] if status == "PAUSED" else []),
        *(["INCOMPLETE"] if status == "DRAFT" or not any(not post.data["deleted"] for post in posts) else []),
        *(["EXPIRED"] if ended else []),
    ]


_OPTIONAL_CAMPAIGN_MEMBERS: Mapping[str, Check] = {
    "name": visible_text(1, 255),
    "budget_optimization": choice("LINE_ITEM"),
    DAILY_BUDGET: _MONEY_CHECK,
    TOTAL_BUDGET: _MONEY_CHECK,
    "purchase_order_number": text(0, 50),
    "standard_delivery": answers.check_flag,
}
_INSTRUMENT_CHECK: Check = text(1, 250)

CAMPAIGN_RESOURCE = Resource(
    kind="campaign",
    path="campaigns",
    id_name="campaign_id",
    required={"funding_instrument_id": _INSTRUMENT_CHECK, "name": visible_text(1, 255)},
    optional={**_OPTIONAL_CAMPAIGN_MEMBERS, "entity_status": choice(*tables.STATUSES)},
    update_checks={**_OPTIONAL_CAMPAIGN_MEMBERS, "entity_status": _UPDATE_STATUS_CHECK},
    filters={"campaign_ids": "id", "funding_instrument_ids": "funding_instrument_id"},
    settle_data=_settle_campaign,
    render_entity=_render_campaign,
    parent="",
)


# -- line items ---------------------------------------------------------------------------------------------------


def _settle_line_item(world: World, account: Account, data: answers.Data, before: StoredEntity | None) -> answers.Data:
    campaign = require_live_entity(world, "campaign", data["campaign_id"], account)
    currency, objective = campaign.data["currency"], data["objective"]
    siblings = [
        other for other in world.list_entities("line_item", account.id, campaign.id) if not other.data["deleted"]
    ]
    if before is None:
        if len(siblings) >= tables.MAX_LINE_ITEMS_PER_CAMPAIGN:
            raise InvalidRequest("TOO_MANY_LINE_ITEMS", "", "the campaign has as many line items as it may")
        for name in ("objective", "product_type"):  # shared by all line items of a campaign
            if siblings and siblings[0].data[name] != data[name]:
                raise InvalidRequest(
                    "value", name, f"the campaign's line items have {siblings[0].data[name]}", data[name]
                )
        for placement in data["placements"]:
            if placement not in tables.PLACEMENTS[data["product_type"]]:
                raise InvalidRequest("value", "placements", f"not of {data['product_type']}", placement)
    whole = {"entity_status": "ACTIVE", "standard_delivery": True, "end_time": None, **data, "currency": currency}
    _check_denomination(data, currency, DAILY_BUDGET, TOTAL_BUDGET, BID_AMOUNT)
    _check_campaign_budget(data, campaign.data, DAILY_BUDGET, TOTAL_BUDGET)
    if whole["end_time"] is not None and whole["end_time"] <= whole["start_time"]:
        raise InvalidRequest("INVALID_TIME_WINDOW", "end_time", "must be after start_time", whole["end_time"])
    whole.setdefault("goal", tables.GOALS[objective][0])
    if whole["goal"] not in tables.GOALS[objective]:
        raise InvalidRequest(
            "value", "goal", f"goals of {objective}: {', '.join(tables.GOALS[objective])}", whole["goal"]
        )
    if whole["goal"] == "WEBSITE_CONVERSIONS" and "primary_web_event_tag" not in whole:
        raise InvalidRequest("INCLUSIVE_PARAMETERS", "primary_web_event_tag", "is required for WEBSITE_CONVERSIONS")
    _settle_bidding(whole)
    if ("frequency_cap" in whole) != ("duration_in_days" in whole):
        raise InvalidRequest("INCLUSIVE_PARAMETERS", "frequency_cap", "goes with duration_in_days")
    if "frequency_cap" in whole and objective not in tables.FREQUENCY_CAP_OBJECTIVES:
        raise InvalidRequest("value", "frequency_cap", f"not for {objective}", whole["frequency_cap"])
    return whole


def _settle_bidding(whole: answers.Data) -> None:
    """The default strategy is AUTO without a bid and MAX with one (our choice)."""
    strategy = whole.setdefault("bid_strategy", "AUTO" if whole.get(BID_AMOUNT) is None else "MAX")
    if strategy == "MAX" and whole["objective"] in tables.OBJECTIVES_WITHOUT_MAX_BID:
        raise InvalidRequest("value", "bid_strategy", f"MAX is not allowed for {whole['objective']}", strategy)
    if strategy == "AUTO":
        whole[BID_AMOUNT] = None  # AUTO ignores the bid
    elif whole.get(BID_AMOUNT) is None:
        raise InvalidRequest("required", BID_AMOUNT, f"{BID_AMOUNT} is required with {strategy}")
    if strategy == "TARGET":
        whole.setdefault("pay_by", "LINK_CLICK" if whole["goal"] == "LINK_CLICKS" else None)
        if whole["pay_by"] == "IMPRESSION":
            raise InvalidRequest("value", "pay_by", "IMPRESSION is not allowed with TARGET", "IMPRESSION")
    whole.setdefault("pay_by", "APP_CLICK" if whole["goal"] == "APP_CLICKS" else "IMPRESSION")


def _render_line_item(request: Request, entity: StoredEntity) -> answers.Data:
    data = entity.data
    campaign = request.world.find("campaign", data["campaign_id"])
    assert campaign is not None  # entities are never removed, only marked as deleted
    names = split_words(f"""
        name campaign_id objective goal product_type placements entity_status currency start_time end_time bid_strategy
        {BID_AMOUNT} pay_by {DAILY_BUDGET} {TOTAL_BUDGET} standard_delivery frequency_cap duration_in_days categories
        advertiser_domain advertiser_user_id android_app_store_identifier ios_app_store_identifier primary_web_event_tag
        deleted
    """)
    return {
        "id": entity.id,
        **{name: data.get(name) for name in names},
        "funding_instrument_id": campaign.data["funding_instrument_id"],
        "automatic_tweet_promotion": None,
        "creative_source": "MANUAL",
        "target_cpa_local_micro": None,
        **answers.render_timestamps(entity),
    }


_OPTIONAL_LINE_ITEM_MEMBERS: Mapping[str, Check] = {
    "name": visible_text(1, 255),
    "goal": choice(*tables.ALL_GOALS),
    "bid_strategy": choice(*tables.BID_STRATEGIES),
    BID_AMOUNT: _MONEY_CHECK,
    DAILY_BUDGET: _MONEY_CHECK,
    TOTAL_BUDGET: _MONEY_CHECK,
    "audience_expansion": choice(*tables.AUDIENCE_EXPANSIONS),
    "frequency_cap": integer_text(1, 20),
    "duration_in_days": lambda value, where: int(choice("1", "7", "30")(value, where)),
    "categories": answers.comma_separated(text(), 20),
    "advertiser_domain": text(),
    "advertiser_user_id": text(pattern="[0-9]+"),
    "android_app_store_identifier": text(),
    "ios_app_store_identifier": text(),
}

LINE_ITEM_RESOURCE = Resource(
    kind="line_item",
    path="line_items",
    id_name="line_item_id",
    required={
        "campaign_id": text(pattern="[0-9a-z]+"),
        "objective": choice(*tables.GOALS),
        "product_type": choice(*tables.PLACEMENTS),
        "placements": answers.comma_separated(choice(*tables.ALL_PLACEMENTS), len(tables.ALL_PLACEMENTS)),
        "start_time": answers.check_instant,
    },
    # the table of parameters requires end_time, the example of the documentation leaves it out
    optional={
        **_OPTIONAL_LINE_ITEM_MEMBERS,
        "entity_status": choice(*tables.STATUSES),
        "end_time": answers.check_instant,
        "pay_by": choice(*tables.PAY_BY_OPTIONS),
        "standard_delivery": answers.check_flag,
        "primary_web_event_tag": text(),
    },
    # PUT has no campaign, objective, product and placements; pay_by is fixed after creation
    update_checks={
        **_OPTIONAL_LINE_ITEM_MEMBERS,
        "entity_status": _UPDATE_STATUS_CHECK,
        "start_time": answers.check_instant,
        "end_time": answers.clearable(answers.check_instant),
    },
    filters={"line_item_ids": "id", "campaign_ids": "campaign_id", "funding_instrument_ids": "funding_instrument_id"},
    settle_data=_settle_line_item,
    render_entity=_render_line_item,
    parent="campaign_id",
)


def _check_denomination(data: Mapping[str, Any], currency: str, *names: str) -> None:
    """Check that an amount has no more digits than the currency."""
    smallest = tables.get_smallest_amount(currency)
    for name in names:
        if (amount := data.get(name)) is not None and amount % smallest:
            raise InvalidRequest(
                "INVALID_DENOMINATION", name, f"must be a multiple of {smallest} in {currency}", amount
            )


def _check_campaign_budget(item: Mapping[str, Any], campaign: Mapping[str, Any], *names: str) -> None:
    """Check that a line item's budget does not exceed its campaign's."""
    for name in names:
        above, own = campaign.get(name), item.get(name)
        if above is not None and own is not None and own > above:
            raise InvalidRequest("value", name, "a line item's budget must not exceed its campaign's", own)


def record_activity(data: answers.Data, now: datetime) -> answers.Data:
    """The history of a campaign: the start and the end of its last run."""
    if data["entity_status"] == "ACTIVE" and not data["deleted"]:
        return {**data, "ran_from": data.get("ran_from") or answers.format_instant(now), "ran_until": None}
    return {**data, "ran_until": data.get("ran_until") or answers.format_instant(now)}
