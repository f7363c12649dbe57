"""Funding instruments: those of the tables, and any other well-formed id."""

import re

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x.answers import Data, build_response, require_account
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.networks.x.tables import FundingInstrument
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

_CREATED_AT = "2019-03-01T00:00:00Z"


def require_instrument(account: Account, instrument_id: str) -> FundingInstrument:
    """The account's funding instrument. Raises InvalidRequest FUNDING_INSTRUMENT_NOT_FOUND."""
    for candidate in account.extra["instruments"]:
        if candidate.id == instrument_id:
            instrument: FundingInstrument = candidate
            return instrument
    word = re.search("missing|ineligible|processing", instrument_id.lower())
    if (word and word[0] == "missing") or not (word or re.fullmatch("[0-9a-z]{2,20}", instrument_id)):
        raise InvalidRequest(
            "FUNDING_INSTRUMENT_NOT_FOUND", "funding_instrument_id", "no such instrument", instrument_id
        )
    currency = account.currency
    return FundingInstrument(
        instrument_id, "CREDIT_CARD", f"Card {instrument_id}", currency, word[0].upper() if word else None
    )


def check_instrument_usable(instrument: FundingInstrument) -> None:
    """Raises InvalidRequest INVALID_FUNDING_INSTRUMENT if the instrument cannot fund (code: our choice)."""
    if instrument.problem is not None:
        raise InvalidRequest(
            "INVALID_FUNDING_INSTRUMENT", "funding_instrument_id", "is not able to fund", instrument.id
        )


def list_instruments(request: Request) -> Response:
    """`GET accounts/:a/funding_instruments`: a filter by id also finds instruments that the tables do not list."""
    account = require_account(request)
    by_id: dict[str, FundingInstrument] = {instrument.id: instrument for instrument in account.extra["instruments"]}
    for instrument_id in dict(request.query_pairs).get("funding_instrument_ids", "").split(","):
        try:
            by_id[instrument_id] = require_instrument(account, instrument_id)
        except InvalidRequest:
            continue  # a filter ignores unknown ids
    return build_page_response(
        request,
        [_render_instrument(account, instrument) for instrument in by_id.values()],
        {"funding_instrument_ids": "id"},
    )


def get_instrument(request: Request) -> Response:
    """`GET accounts/:a/funding_instruments/:id`."""
    account = require_account(request)
    return build_response(
        request, _render_instrument(account, require_instrument(account, request.path_parameters["id"]))
    )


def _render_instrument(account: Account, instrument: FundingInstrument) -> Data:
    return {
        "id": instrument.id,
        "account_id": account.id,
        "type": instrument.type,
        "description": instrument.description,
        "currency": instrument.currency,
        "able_to_fund": instrument.problem is None,
        "reasons_not_able_to_fund": [] if instrument.problem is None else [instrument.problem],
        "entity_status": "ACTIVE" if instrument.problem is None else "PAUSED",
        "credit_limit_local_micro": None,
        "credit_remaining_local_micro": None,
        "funded_amount_local_micro": None,
        "io_header": None,
        "start_time": _CREATED_AT,
        "end_time": None,
        "created_at": _CREATED_AT,
        "updated_at": _CREATED_AT,
        "deleted": False,
    }
