"""The members that an edit can change, by level, and why others are locked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.formats import Period
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import start_lock
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value
from adsunify.values.money import from_units

from . import native as northway
from .targeting import EDITABLE_TARGETING, get_location_type

# -- locks -----------------------------------------------------------------------------------------------------------

BUDGET_PERIODS: Mapping[str, Period] = {northway.DAILY_BUDGET: "daily", northway.TOTAL_BUDGET: "lifetime"}


def get_budget_member(campaign: NativeEntity) -> str:
    """Return the member that holds the budget of a campaign, which has exactly one of the two."""
    return northway.TOTAL_BUDGET if campaign.get(northway.TOTAL_BUDGET) is not None else northway.DAILY_BUDGET


def _get_budget_period(campaign: NativeEntity) -> Period:
    return BUDGET_PERIODS[get_budget_member(campaign)]


def _get_budget_pointer(campaign: NativeEntity) -> str:
    return f"/{get_budget_member(campaign)}"


def _lock_bid(ad_set: NativeEntity, now: datetime | None) -> str | None:
    if get_value(ad_set, "/bid/mode") == northway.CAP:
        return None
    return "only CAP has a bid; set bidStrategy to CAP as well"


# -- values ----------------------------------------------------------------------------------------------------------


def get_minimum_budget(member: str, account: Account) -> str:
    """Return the minimum of a budget member in major units of the account's currency."""
    return from_units(northway.MIN_BUDGETS[member], northway.get_money_unit(account).offset)


def _get_minimum_budget(campaign: NativeEntity, account: Account) -> str:
    return get_minimum_budget(get_budget_member(campaign), account)


def find_image_url_error(address: str) -> str | None:
    """Return why the address of an image is refused; None if it is valid."""
    return None if address.lower().startswith("https://") else "an address must begin with https://"


def find_url_error(address: str) -> str | None:
    """Return why the address of a page is refused; None if it is valid."""
    if len(address) > northway.MAX_URL_LENGTH:
        return f"an address must have at most {northway.MAX_URL_LENGTH} characters"
    return find_image_url_error(address)


def _make_url_writer(
    field: str, member: str, find_error: Callable[[str], str | None]
) -> Callable[[Json, NativeEntity, Account], Mapping[str, Json]]:
    def write(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
        if error := find_error(value):
            raise invalid_input(f"fields.{field}", "invalid", f"Northway: {error}.")
        return {f"/{member}": value}

    return write


def _write_mode(value: Json, ad_set: NativeEntity, account: Account) -> Mapping[str, Json]:
    """Return the whole bid: CAP keeps the amount, AUTO has no amount."""
    cap = get_value(ad_set, "/bid/cap_minor")
    amount = {"cap_minor": cap} if value == northway.CAP and cap is not None else {}
    return {"/bid": {"mode": value, **amount}}


def _write_cap(value: Json, ad_set: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/bid": {"mode": northway.CAP, "cap_minor": value}}


# -- the table -------------------------------------------------------------------------------------------------------

FIXED_REASON = "Northway fixes it at the creation"
SETTINGS = (
    Setting("campaign", "name", "/name", max_length=northway.MAX_NAME_LENGTH),
    Setting(
        *("campaign", "budget", _get_budget_pointer, "money", _get_budget_period),
        native_names=northway.BUDGET_MEMBERS,
        minimum=_get_minimum_budget,
        note="A daily budget cannot become a total one, or the reverse.",
    ),
    Setting("campaign", "startAt", "/starts_at", "instant", lock=start_lock(northway.TIME, "starts_at")),
    Setting("campaign", "endAt", "/ends_at", "instant"),
    Setting("campaign", "objective", "/objective", lock=FIXED_REASON),
    Setting("adGroup", "name", "/name", max_length=northway.MAX_NAME_LENGTH),
    Setting(
        *("adGroup", "bidStrategy", "/bid/mode", "choice"),
        choices=northway.BID_MODES,
        write=_write_mode,
        note="CAP requires a bid.",
    ),
    Setting(
        *("adGroup", "bid", "/bid/cap_minor", "money"),
        lock=_lock_bid,
        write=_write_cap,
    ),
    Setting("adGroup", "pixelId", "/pixel_id", lock=FIXED_REASON),
    Setting("ad", "name", "/name", max_length=northway.MAX_NAME_LENGTH),
    Setting("ad", "headline", "/headline", max_length=northway.MAX_HEADLINE_LENGTH),
    Setting("ad", "body", "/body", max_length=northway.MAX_BODY_LENGTH),
    Setting("ad", "url", "/url", write=_make_url_writer("url", "url", find_url_error)),
    Setting("ad", "imageUrl", "/image_url", write=_make_url_writer("imageUrl", "image_url", find_image_url_error)),
    Setting("ad", "cta", "/cta", "choice", choices=northway.CALLS_TO_ACTION),
)
EDITS = (
    EditMember("adGroup", "targeting.locations", parse_type=get_location_type),
    *(EditMember("adGroup", f"targeting.{name}") for name in EDITABLE_TARGETING if name != "locations"),
    *(EditMember("ad", f"creative.{name}", name) for name in ("headline", "body", "url", "imageUrl")),
)


# -- what the changes contradict -------------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    yield from check_start_end(northway.TIME, before, changed, ("starts_at", "ends_at"), now)
    start = northway.TIME.parse(changed.get("starts_at"))
    if start is not None and now is not None and start < now:
        yield Issue("fields.startAt", "past", "The start must not be in the past.")
    bid = changed.get("bid", {})
    if bid.get("mode") == northway.CAP and bid.get("cap_minor") is None:
        yield Issue("fields.bid", "required", "CAP requires a bid; set both in one edit.")
