"""What campaigns and line items are made of: their parameters, what holds between them, and how they are shown."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from adsunify.sandbox.framework import (
    Account,
    Check,
    Entity,
    Problem,
    Request,
    World,
    choice,
    integer_text,
    text,
    visible,
)
from adsunify.sandbox.networks.x.answers import Data, cleared, flag, many, moment, read_moment, stamps, written
from adsunify.sandbox.networks.x.instruments import instrument, usable
from adsunify.sandbox.networks.x.tables import (
    CAMPAIGNS_PER_ACCOUNT,
    CAPPED,
    DAILY_ONLY,
    EVERY_GOAL,
    EVERY_PLACEMENT,
    EXPANSIONS,
    GOALS,
    LINE_ITEMS_PER_CAMPAIGN,
    NO_MAXIMUM,
    PAYING,
    PLACEMENTS,
    STATUSES,
    STRATEGIES,
    denomination,
)

DAILY, TOTAL, BID = "daily_budget_amount_local_micro", "total_budget_amount_local_micro", "bid_amount_local_micro"
_LONG = 2**63 - 1
_MONEY = integer_text(1, _LONG)
_LATER = choice("ACTIVE", "PAUSED")  # DRAFT is for creation only


@frozen
class Resource:
    """A resource that is created, changed and deleted one by one or in batches of 40.

    `settle(world, account, data, before)` fits the parts together and answers what is kept; `before` None: a creation.
    """

    kind: str
    path: str
    id_name: str
    required: Mapping[str, Check]
    optional: Mapping[str, Check]
    changes: Mapping[str, Check]
    filters: Mapping[str, str]
    settle: Callable[[World, Account, Data, Entity | None], Data]
    view: Callable[[Request, Entity], Data]
    parent: str

    @property
    def missing(self) -> str:
        """The code of one that is not there."""
        return f"{self.kind.upper()}_NOT_FOUND"


def alive(world: World, kind: str, entity_id: str, account: Account) -> Entity:
    """An entity of the account that was not deleted."""
    found = world.find(kind, entity_id, account.id)
    if found is None or found.data["deleted"]:
        raise Problem(f"{kind.upper()}_NOT_FOUND", f"{kind}_id", f"no such {kind}", entity_id)
    return found


# -- campaigns ----------------------------------------------------------------------------------------------------


def _campaign(world: World, account: Account, data: Data, before: Entity | None) -> Data:
    paying = instrument(account, data["funding_instrument_id"])
    if before is None:
        usable(paying)
        living = [one for one in world.entities("campaign", account.id) if not one.data["deleted"]]
        if len(living) >= CAMPAIGNS_PER_ACCOUNT:
            raise Problem("TOO_MANY_CAMPAIGNS", "", "the account has as many campaigns as it may")
    _denominated(data, paying.currency, DAILY, TOTAL)
    daily, total = data.get(DAILY), data.get(TOTAL)
    # an instrument type that insists on a daily budget answers 400
    if daily is None and (total is None or paying.type == DAILY_ONLY):
        raise Problem("required", DAILY, f"{DAILY} is required for this funding instrument")
    if daily is not None and total is not None and daily > total:
        raise Problem("value", DAILY, f"must not exceed {TOTAL}", daily)
    for item in world.entities("line_item", account.id, before.id) if before is not None else ():
        if not item.data["deleted"]:
            _within(item.data, data, TOTAL)
    defaults = {"entity_status": "ACTIVE", "budget_optimization": "LINE_ITEM", "standard_delivery": True}
    return {**defaults, **data, "currency": paying.currency}


def _campaign_view(request: Request, entity: Entity) -> Data:
    data = entity.data
    reasons = servability(request.world, entity, request.now)
    return {
        "id": entity.id,
        **{name: data.get(name) for name in (
            "name", "funding_instrument_id", "entity_status", "currency", DAILY, TOTAL, "budget_optimization",
            "standard_delivery", "purchase_order_number", "deleted",
        )},
        "frequency_cap": None,
        "duration_in_days": None,
        "servable": not reasons,
        "effective_status": "PAUSED" if data["entity_status"] == "PAUSED" else "UNKNOWN" if reasons else "RUNNING",
        "reasons_not_servable": reasons,
        **stamps(entity),
    }  # fmt: skip


def servability(world: World, campaign: Entity, now: datetime) -> list[str]:
    """Why a campaign does not serve; nothing where it does."""
    items = [one for one in world.entities("line_item", campaign.account, campaign.id) if not one.data["deleted"]]
    posts = [post for item in items for post in world.entities("promoted_tweet", item.account, item.id)]
    ended = items and all(item.data["end_time"] and read_moment(item.data["end_time"]) <= now for item in items)
    status = campaign.data["entity_status"]
    return [
        *(["PAUSED_BY_ADVERTISER"] if status == "PAUSED" else []),
        *(["INCOMPLETE"] if status == "DRAFT" or not any(not post.data["deleted"] for post in posts) else []),
        *(["EXPIRED"] if ended else []),
    ]


_CAMPAIGN_OPTIONAL: Mapping[str, Check] = {
    "name": visible(1, 255),
    "budget_optimization": choice("LINE_ITEM"),
    DAILY: _MONEY,
    TOTAL: _MONEY,
    "purchase_order_number": text(0, 50),
    "standard_delivery": flag,
}
_INSTRUMENT: Check = text(1, 250)

CAMPAIGNS = Resource(
    kind="campaign",
    path="campaigns",
    id_name="campaign_id",
    required={"funding_instrument_id": _INSTRUMENT, "name": visible(1, 255)},
    optional={**_CAMPAIGN_OPTIONAL, "entity_status": choice(*STATUSES)},
    changes={**_CAMPAIGN_OPTIONAL, "entity_status": _LATER},
    filters={"campaign_ids": "id", "funding_instrument_ids": "funding_instrument_id"},
    settle=_campaign,
    view=_campaign_view,
    parent="",
)


# -- line items ---------------------------------------------------------------------------------------------------


def _line_item(world: World, account: Account, data: Data, before: Entity | None) -> Data:
    campaign = alive(world, "campaign", data["campaign_id"], account)
    currency, objective = campaign.data["currency"], data["objective"]
    siblings = [one for one in world.entities("line_item", account.id, campaign.id) if not one.data["deleted"]]
    if before is None:
        if len(siblings) >= LINE_ITEMS_PER_CAMPAIGN:
            raise Problem("TOO_MANY_LINE_ITEMS", "", "the campaign has as many line items as it may")
        for name in ("objective", "product_type"):  # shared by all line items of a campaign
            if siblings and siblings[0].data[name] != data[name]:
                raise Problem("value", name, f"the campaign's line items have {siblings[0].data[name]}", data[name])
        for placement in data["placements"]:
            if placement not in PLACEMENTS[data["product_type"]]:
                raise Problem("value", "placements", f"not of {data['product_type']}", placement)
    whole = {"entity_status": "ACTIVE", "standard_delivery": True, "end_time": None, **data, "currency": currency}
    _denominated(data, currency, DAILY, TOTAL, BID)
    _within(data, campaign.data, DAILY, TOTAL)
    if whole["end_time"] is not None and whole["end_time"] <= whole["start_time"]:
        raise Problem("INVALID_TIME_WINDOW", "end_time", "must be after start_time", whole["end_time"])
    whole.setdefault("goal", GOALS[objective][0])
    if whole["goal"] not in GOALS[objective]:
        raise Problem("value", "goal", f"goals of {objective}: {', '.join(GOALS[objective])}", whole["goal"])
    if whole["goal"] == "WEBSITE_CONVERSIONS" and "primary_web_event_tag" not in whole:
        raise Problem("INCLUSIVE_PARAMETERS", "primary_web_event_tag", "is required for WEBSITE_CONVERSIONS")
    _bidding(whole)
    if ("frequency_cap" in whole) != ("duration_in_days" in whole):
        raise Problem("INCLUSIVE_PARAMETERS", "frequency_cap", "goes with duration_in_days")
    if "frequency_cap" in whole and objective not in CAPPED:
        raise Problem("value", "frequency_cap", f"not for {objective}", whole["frequency_cap"])
    return whole


def _bidding(whole: Data) -> None:
    """A strategy left out is AUTO without a bid and MAX with one (our choice)."""
    strategy = whole.setdefault("bid_strategy", "AUTO" if whole.get(BID) is None else "MAX")
    if strategy == "MAX" and whole["objective"] in NO_MAXIMUM:
        raise Problem("value", "bid_strategy", f"MAX is not allowed for {whole['objective']}", strategy)
    if strategy == "AUTO":
        whole[BID] = None  # ignored
    elif whole.get(BID) is None:
        raise Problem("required", BID, f"{BID} is required with {strategy}")
    if strategy == "TARGET":
        whole.setdefault("pay_by", "LINK_CLICK" if whole["goal"] == "LINK_CLICKS" else None)
        if whole["pay_by"] == "IMPRESSION":
            raise Problem("value", "pay_by", "IMPRESSION is not allowed with TARGET", "IMPRESSION")
    whole.setdefault("pay_by", "APP_CLICK" if whole["goal"] == "APP_CLICKS" else "IMPRESSION")


def _line_item_view(request: Request, entity: Entity) -> Data:
    data = entity.data
    campaign = request.world.find("campaign", data["campaign_id"])
    assert campaign is not None  # nothing is ever forgotten here, only marked as deleted
    names = (
        "name", "campaign_id", "objective", "goal", "product_type", "placements", "entity_status", "currency",
        "start_time", "end_time", "bid_strategy", BID, "pay_by", DAILY, TOTAL, "standard_delivery",
        "frequency_cap", "duration_in_days", "categories", "advertiser_domain",
        "advertiser_user_id", "android_app_store_identifier", "ios_app_store_identifier", "primary_web_event_tag",
        "deleted",
    )  # fmt: skip
    return {
        "id": entity.id,
        **{name: data.get(name) for name in names},
        "funding_instrument_id": campaign.data["funding_instrument_id"],
        "automatic_tweet_promotion": None,
        "creative_source": "MANUAL",
        "target_cpa_local_micro": None,
        **stamps(entity),
    }


_LINE_ITEM_OPTIONAL: Mapping[str, Check] = {
    "name": visible(1, 255),
    "goal": choice(*EVERY_GOAL),
    "bid_strategy": choice(*STRATEGIES),
    BID: _MONEY,
    DAILY: _MONEY,
    TOTAL: _MONEY,
    "audience_expansion": choice(*EXPANSIONS),
    "frequency_cap": integer_text(1, 20),
    "duration_in_days": lambda value, where: int(choice("1", "7", "30")(value, where)),
    "categories": many(text(), 20),
    "advertiser_domain": text(),
    "advertiser_user_id": text(pattern="[0-9]+"),
    "android_app_store_identifier": text(),
    "ios_app_store_identifier": text(),
}

LINE_ITEMS = Resource(
    kind="line_item",
    path="line_items",
    id_name="line_item_id",
    required={
        "campaign_id": text(pattern="[0-9a-z]+"),
        "objective": choice(*GOALS),
        "product_type": choice(*PLACEMENTS),
        "placements": many(choice(*EVERY_PLACEMENT), len(EVERY_PLACEMENT)),
        "start_time": moment,
    },
    # the parameter table calls end_time required, the documentation's own example leaves it out
    optional={
        **_LINE_ITEM_OPTIONAL,
        "entity_status": choice(*STATUSES),
        "end_time": moment,
        "pay_by": choice(*PAYING),
        "standard_delivery": flag,
        "primary_web_event_tag": text(),
    },
    # campaign, objective, product and placements are not in PUT, pay_by is locked after creation
    changes={
        **_LINE_ITEM_OPTIONAL,
        "entity_status": _LATER,
        "start_time": moment,
        "end_time": cleared(moment),
    },
    filters={
        "line_item_ids": "id",
        "campaign_ids": "campaign_id",
        "funding_instrument_ids": "funding_instrument_id",
    },
    settle=_line_item,
    view=_line_item_view,
    parent="campaign_id",
)


def _denominated(data: Mapping[str, Any], currency: str, *names: str) -> None:
    """No more digits than the currency has."""
    smallest = denomination(currency)
    for name in names:
        if (amount := data.get(name)) is not None and amount % smallest:
            raise Problem("INVALID_DENOMINATION", name, f"must be a multiple of {smallest} in {currency}", amount)


def _within(item: Mapping[str, Any], campaign: Mapping[str, Any], *names: str) -> None:
    """A line item's budget does not exceed its campaign's."""
    for name in names:
        above, own = campaign.get(name), item.get(name)
        if above is not None and own is not None and own > above:
            raise Problem("value", name, "a line item's budget must not exceed its campaign's", own)


def activity(data: Data, now: datetime) -> Data:
    """What is kept about a campaign's past: since when it runs, and until when it ran."""
    if data["entity_status"] == "ACTIVE" and not data["deleted"]:
        return {**data, "ran_from": data.get("ran_from") or written(now), "ran_until": None}
    return {**data, "ran_until": data.get("ran_until") or written(now)}
