"""Funding instruments: those of the tables, and any other that is named and well-formed."""

import re

from adsunify.sandbox.framework import Account, Answer, Problem, Request
from adsunify.sandbox.networks.x.answers import Data, account_of, answered
from adsunify.sandbox.networks.x.lists import listed
from adsunify.sandbox.networks.x.tables import Instrument

_STARTED = "2019-03-01T00:00:00Z"


def instrument(account: Account, instrument_id: str) -> Instrument:
    """The account's funding instrument. Problem FUNDING_INSTRUMENT_NOT_FOUND."""
    for one in account.extra["instruments"]:
        if one.id == instrument_id:
            found: Instrument = one
            return found
    word = re.search("missing|ineligible|processing", instrument_id.lower())
    if (word and word[0] == "missing") or not (word or re.fullmatch("[0-9a-z]{2,20}", instrument_id)):
        raise Problem("FUNDING_INSTRUMENT_NOT_FOUND", "funding_instrument_id", "no such instrument", instrument_id)
    currency = account.currency
    return Instrument(
        instrument_id, "CREDIT_CARD", f"Card {instrument_id}", currency, word[0].upper() if word else None
    )


def usable(one: Instrument) -> None:
    """Problem INVALID_FUNDING_INSTRUMENT where the instrument cannot fund (code: our choice)."""
    if one.problem is not None:
        raise Problem("INVALID_FUNDING_INSTRUMENT", "funding_instrument_id", "is not able to fund", one.id)


def instruments(request: Request) -> Answer:
    """`GET accounts/:a/funding_instruments`: asked for by id, instruments of other people's tests are found as well."""
    account = account_of(request)
    by_id: dict[str, Instrument] = {one.id: one for one in account.extra["instruments"]}
    for asked in dict(request.pairs).get("funding_instrument_ids", "").split(","):
        try:
            by_id[asked] = instrument(account, asked)
        except Problem:
            continue  # a filter finds what there is
    return listed(request, [_view(account, one) for one in by_id.values()], {"funding_instrument_ids": "id"})


def one_instrument(request: Request) -> Answer:
    """`GET accounts/:a/funding_instruments/:id`."""
    account = account_of(request)
    return answered(request, _view(account, instrument(account, request.slots["id"])))


def _view(account: Account, one: Instrument) -> Data:
    return {
        "id": one.id,
        "account_id": account.id,
        "type": one.type,
        "description": one.description,
        "currency": one.currency,
        "able_to_fund": one.problem is None,
        "reasons_not_able_to_fund": [] if one.problem is None else [one.problem],
        "entity_status": "ACTIVE" if one.problem is None else "PAUSED",
        "credit_limit_local_micro": None,
        "credit_remaining_local_micro": None,
        "funded_amount_local_micro": None,
        "io_header": None,
        "start_time": _STARTED,
        "end_time": None,
        "created_at": _STARTED,
        "updated_at": _STARTED,
        "deleted": False,
    }
