"""Classifies the response to a write, for all networks: applied, rejected, throttled, or ambiguous in case of doubt.

The first rule that matches decides:

1. 408, 460, 499, 5xx and an unreadable 2xx are ambiguous.
2. A refusal that contains a new id is ambiguous.
3. 401 is rejected, with the token to blame.
4. The network's ERRORS rows decide by error code.
5. 429 is throttled; other 4xx are rejected.
6. An error in a 2xx that no row names is ambiguous.
7. A 2xx with every expected value and output is applied.
8. Everything else is ambiguous.
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
    NativeErrorDetails,
)
from adsunify.execution.state import ItemReceipt
from adsunify.http.messages import Request, Response
from adsunify.plans.binding import extract_outputs, has_expected_values
from adsunify.plans.records import Outputs, Step
from adsunify.values.json_pointer import get_value


@frozen
class Applied:
    """The network applied the write."""

    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()


@frozen
class Rejected:
    """The network certainly did not apply the write (of a step with items: certainly not all of them)."""

    error: NativeErrorDetails
    blame: Blame
    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()


@frozen
class Throttled:
    """The network certainly did not apply the write, and it may be sent again later.

    ``retry_after`` is in seconds; None if the network gave no time.
    """

    retry_after: float | None
    error: NativeErrorDetails
    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()


@frozen
class Ambiguous:
    """It is not known whether the write was applied. No code path sends it again."""

    reason: str
    error: NativeErrorDetails = NativeErrorDetails()
    items: tuple[ItemReceipt, ...] = ()


StepOutcome = Applied | Rejected | Throttled | Ambiguous


def classify_write(network: Network, step: Step, request: Request, response: Response) -> StepOutcome:
    """Classify the response to a step. ``request`` is the request as sent; item positions refer to its array."""
    status = response.status
    if status in _TIMEOUT_STATUSES or status >= 500:
        return Ambiguous(f"The network answered {status}.", make_native_error(response, network.parse_error(response)))
    if 200 <= status < 300 and response.state not in ("json", "empty"):
        return Ambiguous(f"The answer is {response.body}.", make_native_error(response, None))
    parsed = network.parse_error(response)
    error = make_native_error(response, parsed)
    good = 200 <= status < 300
    if (parsed is not None or not good) and _has_created_ids(network, step, request, response):
        # a response with an error and a new id: in a batch the items decide; otherwise the outcome is unknown
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
            return _classify_items(network, step, request, response)  # the error codes of the items may be in the table
        return Ambiguous("The network answered success with an error that adsunify does not know.", error)
    if not good:
        return Ambiguous(f"The network answered {status}.", error)
    if response.state == "empty" and not step.can_be_empty:
        return Ambiguous("The answer is empty.", error)
    if step.items is not None:
        return _classify_items(network, step, request, response)
    outputs = extract_outputs(step, response)
    if outputs is None:
        return Ambiguous("The answer does not contain the id of the new entity.", error)
    if not has_expected_values(step, response):
        return Ambiguous("The answer lacks a value that every success has.", error)
    return Applied(outputs)


_CONTRADICTION_MESSAGE = "The answer contains both an error and the id of a new entity."


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
            return Ambiguous(
                "The answer has two results for an item, or a result for an item that was not sent.", error
            )
        by_position[answer.position] = answer
    receipts = tuple(
        _make_item_receipt(network, step, sent_items, by_position.get(index), index) for index in range(len(sent_items))
    )
    states = {receipt.state for receipt in receipts}
    ids = [receipt.id for receipt in receipts if receipt.state == "applied" and receipt.id is not None]
    outputs: Outputs = {step.items.output: ids} if step.items.many else {step.items.output: ids[0]} if ids else {}
    if "ambiguous" in states:
        return Ambiguous("The answer does not tell whether an item was applied.", error, receipts)
    if step.action == "create" and len(set(ids)) < len(ids):
        return Ambiguous("The answer has the same id for several new items.", error)
    blamed = next((receipt.error for receipt in receipts if receipt.error is not None), error)
    if "rejected" in states:
        return Rejected(blamed, "input", outputs, receipts)
    if "throttled" in states:
        return Throttled(read_retry_delay(network, response), blamed, outputs, receipts)
    if not has_expected_values(step, response):
        return Ambiguous("The answer lacks a value that every success has.", error, receipts)
    return Applied(outputs, receipts)


def _make_item_receipt(
    network: Network, step: Step, sent_items: list[object], answer: ItemResult | None, index: int
) -> ItemReceipt:
    if answer is None:
        return ItemReceipt(index, "ambiguous")
    if answer.error is not None:
        error = NativeErrorDetails(_get_first_code(answer.error), answer.error.message, answer.error.request_id, 200)
        rule = match_error_rule(network, answer.error, 200, step.action)
        return ItemReceipt(index, rule.verdict if rule is not None else "ambiguous", None, error)
    assert step.items is not None
    item = sent_items[index]
    expected_id: object = answer.id
    if step.items.sent:  # a list of ids to delete: the item is the id
        expected_id = item.get(step.items.sent) if isinstance(item, Mapping) else item
    if answer.id is None or answer.id != str(expected_id):
        return ItemReceipt(index, "ambiguous")
    return ItemReceipt(index, "applied", answer.id)
