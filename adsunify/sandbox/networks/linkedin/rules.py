"""Rules between members, and with parents, dates and states."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adsunify.sandbox.network import Request
from adsunify.sandbox.networks.linkedin import tables
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT_PREFIX, get_amount, get_urn_number
from adsunify.sandbox.networks.linkedin.posts import make_post
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

Data = Mapping[str, Any]
_MONEY_MEMBERS = ("dailyBudget", "totalBudget", "unitCost")
_DRAFT_ONLY = "ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS"
# The native code for a change of a member that is fixed once set, by kind and member. A draft may change the members
# that have the code of non-drafts.
_IMMUTABLE_NON_DRAFT = "FIELD_IMMUTABLE_FOR_NON_DRAFT_CAMPAIGNS"
_IMMUTABLE_ERRORS: Mapping[str, Mapping[str, str]] = {
    "campaignGroup": dict.fromkeys(("account", "objectiveType", "budgetOptimization"), "FIELD_NOT_ALLOWED"),
    "campaign": {
        "account": "FIELD_NOT_ALLOWED",
        "objectiveType": "IMMUTABLE_CAMPAIGN_OBJECTIVE_TYPE",
        "associatedEntity": "IMMUTABLE_ASSOCIATED_ENTITY",
        "pacingStrategy": "FIELD_NOT_ALLOWED",  # accepted on create only
        **dict.fromkeys(("type", "format", "locale", "campaignGroup"), _IMMUTABLE_NON_DRAFT),
    },
    "creative": {
        **dict.fromkeys(("campaign", "content", "inlineContent"), "FIELD_NOT_ALLOWED"),
        "leadgenCallToAction": _IMMUTABLE_NON_DRAFT,
    },
}


def get_status_member(kind: str) -> str:
    """The member that holds the status of a kind."""
    return "intendedStatus" if kind == "creative" else "status"


def check_entity(request: Request, kind: str, account: Account, data: Data, old: StoredEntity | None) -> None:
    """Check an entity against all rules; `old` is its data before the change, None on creation.

    Raises InvalidRequest.
    """
    before: Data = {} if old is None else old.data
    if old is not None:
        _check_changeable(kind, account, data, before)
    if get_urn_number(data.get("account", account.id)) != account.id:
        raise InvalidRequest(
            "ACCOUNT_ID_MISMATCH_IN_PARAM_AND_BODY", "/account", f"must be {ACCOUNT_PREFIX}{account.id}"
        )
    _check_status(kind, data, before, created=old is None)
    if kind == "creative":
        _check_creative(request, account, data, before)
        return
    for name in _MONEY_MEMBERS:
        if data.get(name) != before.get(name) and name in data:
            _check_money(data[name], account.currency, name)
    _check_dates(data["runSchedule"], before.get("runSchedule", {}), request.now)
    if kind == "campaign":
        _check_campaign(request, account, data, before)
    else:
        _check_group(request, account, data, old)


def _check_changeable(kind: str, account: Account, data: Data, before: Data) -> None:
    changed = {name for name in {*data, *before} if data.get(name) != before.get(name)}
    if before.get("backfilled"):
        raise InvalidRequest(
            "CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS", "", "the default campaign group is not editable"
        )
    if before[get_status_member(kind)] in tables.FINAL_STATUSES:
        raise InvalidRequest(
            "ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS", "", f"UPDATE of {before[get_status_member(kind)]}"
        )
    draft = before[get_status_member(kind)] == "DRAFT"
    for name, code in _IMMUTABLE_ERRORS[kind].items():
        new = name not in before and code != "FIELD_NOT_ALLOWED"
        if name in changed and not new and not (draft and code == _IMMUTABLE_NON_DRAFT):
            raise InvalidRequest(code, f"/{name}", "cannot be changed")
    if kind == "campaignGroup" and account.extra["native"]["type"] == "ENTERPRISE":
        if data["status"] == "PENDING_DELETION":
            raise InvalidRequest("NO_DELETE_ON_LMS_ENTERPRISE_CAMPAIGN_GROUPS", "/status", "must be ARCHIVED instead")
        if locked := sorted(changed - {"name", "status"}):
            raise InvalidRequest("FIELD_NOT_ALLOWED_FOR_ENTERPRISE_LMS_ACCOUNTS", f"/{locked[0]}", "cannot be changed")


def _check_status(kind: str, data: Data, before: Data, *, created: bool) -> None:
    name = get_status_member(kind)
    status, old = data[name], before.get(name)
    if created:
        allowed = status in tables.CREATION_STATUSES[kind]
    else:  # a draft is really deleted, and an entity never becomes a draft again (both our choice)
        draft_marked = old == "DRAFT" and status == "PENDING_DELETION"
        allowed = status == old or not (status in (*tables.READ_ONLY_STATUSES, "DRAFT") or draft_marked)
    if not allowed:
        raise InvalidRequest("STATUS_CHANGE_NOT_ALLOWED", f"/{name}", f"from {old or 'nothing'} to {status}")


def _check_money(money: Data, currency: str, name: str) -> None:
    if money["currencyCode"] != currency:
        raise InvalidRequest("CURRENCY_MISMATCH", f"/{name}/currencyCode", f"the account is in {currency}")
    places = 0 if currency in tables.ZERO_DECIMAL_CURRENCIES else 2
    if len(money["amount"].partition(".")[2]) > places:
        raise InvalidRequest(
            "value", f"/{name}/amount", f"has at most {places} digits after the point", money["amount"]
        )
    if name != "unitCost" and not get_amount(money):
        raise InvalidRequest("FIELD_VALUE_TOO_LOW", f"/{name}/amount", "must be more than 0")


def _check_dates(schedule: Data, before: Data, now: datetime) -> None:
    present = int(now.timestamp() * 1000)
    for name in ("start", "end"):
        old, new = before.get(name), schedule.get(name)
        if new == old:
            continue
        if old is not None and old <= present:
            raise InvalidRequest("DATE_IMMUTABLE_WHEN_PASSED", f"/runSchedule/{name}", "has passed")
        if new is not None and new < present:
            raise InvalidRequest("DATE_TOO_EARLY", f"/runSchedule/{name}", "lies in the past", new)
    if "end" in schedule and schedule["end"] <= schedule["start"]:
        raise InvalidRequest("START_DATE_AFTER_END_DATE", "/runSchedule", "end must be after start")


def _check_group(request: Request, account: Account, data: Data, old: StoredEntity | None) -> None:
    if old is None and account.extra["native"]["type"] == "ENTERPRISE":
        raise InvalidRequest("CAMPAIGN_GROUP_CREATION_NOT_ALLOWED", "", "enterprise accounts create no groups here")
    end = data["runSchedule"].get("end")
    if "totalBudget" in data and end is None:
        raise InvalidRequest("CONDITIONAL_MISSING_FIELD", "/runSchedule/end", "is required with totalBudget")
    for campaign in request.world.list_entities("campaign", account.id, old.id) if old else ():
        _check_window(campaign.data["runSchedule"], data["runSchedule"])


def _check_window(inner: Data, outer: Data) -> None:
    last = outer.get("end")
    if inner["start"] < outer["start"]:
        raise InvalidRequest(
            "CONDITIONAL_VALUE_TOO_LOW", "/runSchedule/start", "before the start of the campaign group"
        )
    if last is not None and inner.get("end", last + 1) > last:
        raise InvalidRequest("CONDITIONAL_VALUE_TOO_HIGH", "/runSchedule/end", "after the end of the campaign group")


def _check_campaign(request: Request, account: Account, data: Data, before: Data) -> None:
    group = request.world.find("campaignGroup", get_urn_number(data["campaignGroup"]), account.id)
    if group is None or group.data["status"] in tables.FINAL_STATUSES:
        raise InvalidRequest("FIELD_VALUE_DOES_NOT_EXIST", "/campaignGroup", "is no campaign group of this account")
    if group.data["status"] == "DRAFT" and data["status"] != "DRAFT":
        raise InvalidRequest(_DRAFT_ONLY, "/status", "the campaign group is DRAFT")
    if group.data.get("objectiveType", data["objectiveType"]) != data["objectiveType"]:
        raise InvalidRequest("IMMUTABLE_CAMPAIGN_OBJECTIVE_TYPE", "/objectiveType", "differs from the campaign group's")
    if data["type"] == "SPONSORED_UPDATES" and "associatedEntity" not in data:
        raise InvalidRequest("CONDITIONAL_MISSING_FIELD", "/associatedEntity", "is required for sponsored content")
    _check_budget(data)
    _check_bidding(data)
    if data["runSchedule"] != before.get("runSchedule"):
        _check_window(data["runSchedule"], group.data["runSchedule"])


def _check_budget(data: Data) -> None:
    daily, total = data.get("dailyBudget"), data.get("totalBudget")
    if daily is None and total is None:
        raise InvalidRequest("MISSING_FIELD", "/dailyBudget", "dailyBudget or totalBudget is required")
    if total is not None and "end" not in data["runSchedule"]:
        raise InvalidRequest("CONDITIONAL_MISSING_FIELD", "/runSchedule/end", "is required with totalBudget")
    lifetime = data.get("pacingStrategy") == "LIFETIME"
    if lifetime and (total is None or daily is not None):
        raise InvalidRequest(
            "CONDITIONAL_FIELD_NOT_ALLOWED", "/dailyBudget", "LIFETIME pacing goes with totalBudget alone"
        )
    if daily is None and not lifetime:  # deprecated in the LinkedIn Marketing API: refused
        raise InvalidRequest(
            "CONDITIONAL_MISSING_FIELD", "/pacingStrategy", "LIFETIME is required with totalBudget alone"
        )
    if daily is not None and total is not None and get_amount(total) < get_amount(daily):
        raise InvalidRequest("CONDITIONAL_VALUE_TOO_LOW", "/totalBudget", "is less than dailyBudget")


def _check_bidding(data: Data) -> None:
    target, cost = data["optimizationTargetType"], data["costType"]
    if cost not in tables.COST_TYPES_BY_TARGET.get(data["objectiveType"], {target: (cost,)}).get(target, ()):
        chosen = f"{data['objectiveType']}, {target}, {cost}"
        raise InvalidRequest("INVALID_CAMPAIGN_CONFIGURATION", "", f"is no valid combination: {chosen}")
    if target.startswith(("CAP_COST_", "TARGET_COST_")) and not get_amount(data["unitCost"]):
        raise InvalidRequest("FIELD_VALUE_TOO_LOW", "/unitCost/amount", "must be more than 0")


def _check_creative(request: Request, account: Account, data: Data, before: Data) -> None:
    campaign = request.world.find("campaign", get_urn_number(data["campaign"]), account.id)
    if campaign is None or campaign.data["status"] in tables.FINAL_STATUSES:
        raise InvalidRequest("FIELD_VALUE_DOES_NOT_EXIST", "/campaign", "is no campaign of this account")
    if data["intendedStatus"] == "ACTIVE" and campaign.data["status"] == "DRAFT":
        raise InvalidRequest("STATUS_CHANGE_NOT_ALLOWED", "/intendedStatus", "the campaign is DRAFT")
    if before or "content" not in data:
        return
    where = "/content/reference"
    post, campaign_data = make_post(data["content"]["reference"]), campaign.data
    if post["lifecycleState"] != "PUBLISHED":
        raise InvalidRequest("FIELD_VALUE_NOT_ACTIVE", where, "the post is not published")
    if post["author"] != campaign_data.get("associatedEntity"):
        raise InvalidRequest("MISMATCH_FIELDS", where, "the post is not one of the campaign's associatedEntity")
    if "PROCESSING" in post.get("content", {}).get("media", {}).get("id", ""):
        raise InvalidRequest("FIELD_VALUE_NOT_ACTIVE", where, "the video is still PROCESSING")
    if post["format"] != campaign_data.get("format", post["format"]) or (
        post["format"] in tables.CREATION_ONLY_FORMATS and "format" not in campaign_data
    ):
        raise InvalidRequest(
            "INVALID_CAMPAIGN_CONFIGURATION", where, f"{post['format']} is not the format of the campaign"
        )
