"""Reading the answer to a write, once for all networks: four outcomes, and doubt is ``Ambiguous``.

The order is the rule: 408, 460, 499, 5xx and unreadable 2xx are ambiguous before any code is looked at, and so is a
refusal that names something new; 401 is the token's fault; then the network's ERRORS rows by code; 429 is throttled;
other 4xx are rejected; an error inside a 2xx counts only through a row; a 2xx with every promise and output is applied;
whatever is left is ambiguous.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from adsunify.adapter.error_rules import (
    _TIMEOUT_STATUSES,
    _get_first_code,
    make_native_error,
    match_error_rule,
    read_retry_delay,
)
from adsunify.adapter.network import Blame, ItemResult, Network
from adsunify.errors import (
    NativeError,
)
from adsunify.execution.state import ItemReceipt
from adsunify.http.messages import Request, Response
from adsunify.plans.binding import extract_outputs, has_expected_values
from adsunify.plans.records import Outputs, Step
from adsunify.values.json_pointer import get_value


@frozen
class Applied:
    """The network did it."""

    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()


@frozen
class Rejected:
    """The network surely did not do it (with items: did not do some of them, and surely not)."""

    error: NativeError
    blame: Blame
    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()


@frozen
class Throttled:
    """Surely not done; the same write may go later. ``retry_after``: seconds, None where the network does not say."""

    retry_after: float | None
    error: NativeError
    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()


@frozen
class Ambiguous:
    """Nobody knows. Never sent again by any code path."""

    reason: str
    error: NativeError = NativeError()
    items: tuple[ItemReceipt, ...] = ()


StepOutcome = Applied | Rejected | Throttled | Ambiguous


def classify_write(network: Network, step: Step, request: Request, response: Response) -> StepOutcome:
    """What an answer to a step says. ``request`` is the request as sent; item positions count in its array."""
    status = response.status
    if status in _TIMEOUT_STATUSES or status >= 500:
        return Ambiguous(f"The network answered {status}.", make_native_error(response, network.parse_error(response)))
    if 200 <= status < 300 and response.state not in ("json", "empty"):
        return Ambiguous(f"The answer is {response.body}.", make_native_error(response, None))
    parsed = network.parse_error(response)
    error = make_native_error(response, parsed)
    good = 200 <= status < 300
    if (parsed is not None or not good) and _has_created_ids(network, step, request, response):
        # a refusal and an id in one answer: inside a success the items tell (a batch), else nobody knows
        has_items = good and step.items is not None
        return (
            _classify_items(network, step, request, response) if has_items else Ambiguous(_CONTRADICTION_MESSAGE, error)
        )
    if status == 401:
        return Rejected(error, "token")
    rule = match_error_rule(network, parsed, status, step.action)
    if rule is not None:
        if rule.verdict == "rejected":
            return Rejected(error, rule.blame)
        if rule.verdict == "throttled":
            return Throttled(read_retry_delay(network, response), error)
        return Ambiguous(rule.meaning, error)
    if status == 429:
        return Throttled(read_retry_delay(network, response), error)
    if 400 <= status < 500:
        return Rejected(error, "permission" if status == 403 else "not_found" if status == 404 else "input")
    if parsed is not None:
        if good and step.items is not None and network.parse_item_results(step, request, response):
            return _classify_items(network, step, request, response)  # the table may know how its items were refused
        return Ambiguous("The network reported an error that is in no table inside a success.", error)
    if not good:
        return Ambiguous(f"The network answered {status}.", error)
    if response.state == "empty" and not step.can_be_empty:
        return Ambiguous("The answer is empty.", error)
    if step.items is not None:
        return _classify_items(network, step, request, response)
    outputs = extract_outputs(step, response)
    if outputs is None:
        return Ambiguous("The answer does not hold the id of what was made.", error)
    if not has_expected_values(step, response):
        return Ambiguous("The answer does not say what a success says.", error)
    return Applied(outputs)


_CONTRADICTION_MESSAGE = "The answer is a refusal and holds the id of something new."


def _has_created_ids(network: Network, step: Step, request: Request, response: Response) -> bool:
    if step.items is not None:
        return any(answer.id is not None for answer in network.parse_item_results(step, request, response) or ())
    return step.action == "create" and bool(step.outputs) and extract_outputs(step, response) is not None


def _classify_items(network: Network, step: Step, request: Request, response: Response) -> StepOutcome:
    assert step.items is not None
    error = make_native_error(response, None)
    sent_items = get_value({"body": request.body}, step.items.at) or []
    answers = network.parse_item_results(step, request, response)
    if answers is None:
        return Ambiguous("The answer cannot be read item by item.", error)
    by_position: dict[int, ItemResult] = {}
    for answer in answers:
        if answer.position in by_position or not 0 <= answer.position < len(sent_items):
            return Ambiguous("The answer speaks twice of an item, or of one that was not sent.", error)
        by_position[answer.position] = answer
    receipts = tuple(
        _make_item_receipt(network, step, sent_items, by_position.get(index), index) for index in range(len(sent_items))
    )
    states = {receipt.state for receipt in receipts}
    ids = [receipt.id for receipt in receipts if receipt.state == "applied" and receipt.id is not None]
    outputs: Outputs = {step.items.output: ids} if step.items.many else {step.items.output: ids[0]} if ids else {}
    if "ambiguous" in states:
        return Ambiguous("The answer leaves the outcome of an item open.", error, receipts)
    if step.action == "create" and len(set(ids)) < len(ids):
        return Ambiguous("The answer gives several new items one id.", error)
    blamed = next((receipt.error for receipt in receipts if receipt.error is not None), error)
    if "rejected" in states:
        return Rejected(blamed, "input", outputs, receipts)
    if "throttled" in states:
        return Throttled(read_retry_delay(network, response), blamed, outputs, receipts)
    if not has_expected_values(step, response):
        return Ambiguous("The answer does not say what a success says.", error, receipts)
    return Applied(outputs, receipts)


def _make_item_receipt(
    network: Network, step: Step, sent_items: list[object], answer: ItemResult | None, index: int
) -> ItemReceipt:
    if answer is None:
        return ItemReceipt(index, "ambiguous")
    if answer.error is not None:
        error = NativeError(_get_first_code(answer.error), answer.error.message, answer.error.request_id, 200)
        rule = match_error_rule(network, answer.error, 200, step.action)
        return ItemReceipt(index, rule.verdict if rule is not None else "ambiguous", None, error)
    assert step.items is not None
    item = sent_items[index]
    expected_id: object = answer.id
    if step.items.sent:  # an item that is not an object is the id itself, as in a list of ids to delete
        expected_id = item.get(step.items.sent) if isinstance(item, Mapping) else item
    if answer.id is None or answer.id != str(expected_id):
        return ItemReceipt(index, "ambiguous")
    return ItemReceipt(index, "applied", answer.id)
