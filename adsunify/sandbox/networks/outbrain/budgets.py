"""Budgets: amount, dates and pacing of the campaigns that share them."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    World,
    boolean,
    choice,
    number,
    record,
    text,
)
from adsunify.sandbox.networks.outbrain.answers import answered, day, found, marketer, refused, today, truth, written
from adsunify.sandbox.networks.outbrain.tables import (
    BUDGET_TYPES,
    CURRENCIES,
    LEAST_MONTHLY_DAYS,
    LONGEST_NAME,
    PACINGS,
    PLACES,
)

_AMOUNT = number(Decimal("0.01"), places=2)
_CHANGEABLE: Mapping[str, Check] = {
    "amount": _AMOUNT,
    "startDate": day,
    "endDate": day,
    "runForever": boolean,
    "type": choice(*BUDGET_TYPES),
    "pacing": choice(*PACINGS),
    "dailyTarget": _AMOUNT,
}
# Which members are mandatory is not said: what every sample has (chosen).
CREATE = record(
    required={"name": text(1, LONGEST_NAME),
              **{name: _CHANGEABLE[name] for name in ("amount", "startDate", "runForever", "type", "pacing")}},
    optional={name: _CHANGEABLE[name] for name in ("endDate", "dailyTarget")},
)  # fmt: skip
UPDATE = record(optional=_CHANGEABLE)


def create(request: Request) -> Answer:
    """POST /marketers/{marketer}/budgets."""
    request.query()
    account = marketer(request, request.slots["marketer"])
    given = request.json(CREATE)
    for other in request.world.entities("budget", account.id):
        if other.data["name"].lower() == given["name"].lower():
            raise refused("/name", "a budget of this name exists")
    if date.fromisoformat(given["startDate"]) < today(request.now):
        raise refused("/startDate", "lies in the past")
    _check(given, account)
    made = request.world.create("budget", account.id, given, id=native_id(request.world, "01"))
    return answered(request, view(request.world, made))


def update(request: Request) -> Answer:
    """PUT /budgets/{id}: what is absent stays."""
    request.query()
    entity = found(request, "budget", request.slots["id"])
    given = request.json(UPDATE)
    present, old = today(request.now), entity.data
    if given.get("startDate", old["startDate"]) != old["startDate"]:
        if date.fromisoformat(old["startDate"]) < present:
            raise refused("/startDate", "cannot be changed once it has passed")
        if date.fromisoformat(given["startDate"]) < present:
            raise refused("/startDate", "lies in the past")
    if "endDate" in given and given["endDate"] != old.get("endDate") and date.fromisoformat(given["endDate"]) < present:
        raise refused("/endDate", "lies in the past")
    if given.get("runForever") is False and "endDate" not in given and "endDate" not in old:
        raise refused("/endDate", "is required where runForever becomes false")
    if "maximumAmount" in old and given.get("amount", old["amount"]) > old["maximumAmount"]:
        raise refused("/amount", "is above maximumAmount")
    after = {**old, **given}
    if given.get("runForever") is True and "endDate" not in given:
        after.pop("endDate", None)
    if given.get("pacing", "DAILY_TARGET") != "DAILY_TARGET" and "dailyTarget" not in given:
        after.pop("dailyTarget", None)
    _check(after, request.world.accounts[entity.account])
    return answered(request, view(request.world, request.world.put(entity, after)))


def _check(given: Mapping[str, Any], account: Account) -> None:
    """What holds of a budget as a whole. Problem."""
    if given["runForever"] == ("endDate" in given):  # chosen for a budget without end: no endDate at all
        raise refused("/endDate", "goes with runForever false, and only with it")
    days = 1
    if "endDate" in given:
        days = (date.fromisoformat(given["endDate"]) - date.fromisoformat(given["startDate"])).days + 1
        if days < 1:
            raise refused("/endDate", "lies before startDate")
    elif given["type"] == "CAMPAIGN":
        raise refused("/endDate", "a CAMPAIGN budget needs an end")  # chosen: its floor is per day
    if given["type"] == "DAILY" and given["pacing"] != "SPEND_ASAP":
        raise refused("/pacing", "DAILY supports only SPEND_ASAP")
    if (given["pacing"] == "DAILY_TARGET") != ("dailyTarget" in given):
        raise refused("/dailyTarget", "goes with the pacing DAILY_TARGET, and only with it")
    for name in ("amount", "dailyTarget"):
        if name in given:
            number(places=PLACES[account.currency])(given[name], f"/{name}")
    times = {"DAILY": 1, "MONTHLY": LEAST_MONTHLY_DAYS, "CAMPAIGN": days}[given["type"]]
    least = CURRENCIES[account.currency][3] * times
    if given["amount"] < least:
        raise refused("/amount", f"must be at least {least} {account.currency}")


def show(request: Request) -> Answer:
    """GET /budgets/{id}."""
    request.query()
    return answered(request, view(request.world, found(request, "budget", request.slots["id"])))


def list_all(request: Request) -> Answer:
    """GET /marketers/{marketer}/budgets: all at once; `detachedOnly` leaves those that no campaign uses."""
    wanted = request.query({}, {"detachedOnly": truth})
    account = marketer(request, request.slots["marketer"])
    kept = [one for one in request.world.entities("budget", account.id)
            if not (wanted.get("detachedOnly") and users(request.world, one.id))]  # fmt: skip
    return answered(request, {"count": len(kept), "budgets": [view(request.world, one) for one in kept]})


def delete(request: Request) -> Answer:
    """DELETE /budgets/{id}: only what no campaign uses and nothing was spent of."""
    request.query()
    entity = found(request, "budget", request.slots["id"])
    if users(request.world, entity.id) or entity.data.get("_spent"):
        raise Problem("rule", "", "the budget is attached to campaigns or was spent from")
    request.world.remove(entity)
    return answered(request, None)


def users(world: World, budget: str) -> int:
    """How many campaigns a budget pays for."""
    return len(world.entities("campaign", parent=budget))


def view(world: World, entity: Entity) -> dict[str, Any]:
    """A budget as it is answered: it carries the marketer's currency."""
    account = world.accounts[entity.account]
    data = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    spent = entity.data.get("_spent", Decimal(0))
    return {
        "id": entity.id,
        **data,
        "currency": account.currency,
        "shared": users(world, entity.id) > 1,
        "amountSpent": spent,
        "amountRemaining": max(entity.data["amount"] - spent, Decimal(0)),
        "creationTime": written(entity.created_at),
        "lastModified": written(entity.updated_at),
    }


def native_id(world: World, first: str) -> str:
    """A new opaque id of 34 hex characters; `first` tells the kinds apart."""
    return f"{first}{int(world.allocate()) * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128:032x}"
