"""Fills the bindings of a step with earlier outputs, and reads outputs and expected values from its response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any
from urllib.parse import unquote

from attrs import evolve

from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Expectation, Outputs, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_value, parse_id, set_value, split_pointer

# -- requests from earlier outputs, outputs from responses --------------------------------------------------------


def fill_bindings(step: Step, outputs: Mapping[str, Outputs], only: Sequence[int] | None = None) -> Request:
    """Return the step's request with its bindings filled.

    Args:
        step: the step, with the mark values of its operation.
        outputs: the outputs of earlier steps, by step key.
        only: the items to send, as positions in the planned array; None sends all items.

    Raises:
        LookupError: an output is missing.
        ValueError: an output does not fit its binding, or the step has no mark values. Without them the network could
            not recognise a repeated request.
    """
    request = step.request
    marked = {"body": request.body, "headers": request.headers}
    if any(get_value(marked, mark.to) is None for mark in step.marks):
        raise ValueError(f"{step.key} has no marks yet: no operation was assigned to the plan")
    body, path, query = deepcopy(request.body), dict(request.path), dict(request.query)
    target = {"body": body, "path": path, "query": query}
    for binding in step.bindings:
        value = outputs[binding.step][binding.output]
        if not isinstance(value, str):
            raise ValueError(f"{binding.step}.{binding.output} holds several ids; a binding needs one")
        text_ = binding.prefix + value
        if binding.cast == "integer" and not (text_.isascii() and text_.isdigit()):  # int() also accepts " 1_0 "
            raise ValueError(f"{binding.step}.{binding.output} must be sent as a whole number, and is not one")
        set_value(target, binding.to, int(text_) if binding.cast == "integer" else text_)
    if only is not None and step.items is not None:
        items = get_value(target, step.items.at)
        set_value(target, step.items.at, [items[index] for index in only])
    return evolve(request, body=target["body"], path=path, query=query)


def apply_overlay(step: Step, request: Request, response: Response) -> Request:
    """Return the step's request with the object that was read and the changes of the plan.

    Raises:
        ProviderUnreadable: the response does not contain the object.
    """
    overlay = step.overlay
    assert overlay is not None
    current = get_value(response.body, overlay.at) if response.is_ok else None
    if not isinstance(current, Mapping):
        raise ProviderUnreadable(f"The current object could not be read before the change ({response.status}).")
    whole = {name: deepcopy(value) for name, value in current.items() if name not in overlay.drop}
    for pointer, value in overlay.changes.items():
        set_value(whole, pointer, deepcopy(value))
    for pointer in overlay.remove:
        *way, last = split_pointer(pointer)
        holder = get_value(whole, "".join(f"/{part}" for part in way))
        if isinstance(holder, dict):
            holder.pop(last, None)
    target = {"body": deepcopy(request.body)}
    set_value(target, overlay.into, whole)
    return evolve(request, body=target["body"])


def extract_outputs(step: Step, response: Response) -> dict[str, str | list[str]] | None:
    """Read the step's outputs from a response; None if one is missing."""
    answer: dict[str, Any] = {"body": response.body if response.state == "json" else None, "headers": response.headers}
    outputs: dict[str, str | list[str]] = {}
    for output in step.outputs:
        ids: list[str] = []
        many = False
        for pointer in output.at:
            candidates = find_values(answer, pointer)
            values = [
                parse_id(value) if isinstance(value, str) or not output.is_text_only else None for value in candidates
            ]
            plain = [unquote(value) if output.is_percent_encoded else value for value in values if value]
            ids = [value.rsplit(output.separator, 1)[-1] if output.separator else value for value in plain]
            many = "*" in split_pointer(pointer)
            if ids and len(ids) == len(values):
                break
            ids = []
        if not ids or not all(ids):
            return None
        ids = [output.prefix + value for value in ids]
        outputs[output.name] = ids if many else ids[0]
    return outputs


def has_expected_values(step: Step, response: Response) -> bool:
    """Whether the response has every value that the step expects."""
    answer: dict[str, Any] = {"body": response.body if response.state == "json" else None, "headers": response.headers}
    return all(_is_met(promise, get_value(answer, promise.at)) for promise in step.expectations)


def _is_met(promise: Expectation, actual: Json) -> bool:
    if promise.is_case_insensitive and isinstance(actual, str):
        return bool(actual.casefold() == promise.equals.casefold())
    return _is_equal(actual, promise.equals)


def _is_equal(actual: Json, expected: Json) -> bool:
    return type(actual) is type(expected) and bool(actual == expected)
