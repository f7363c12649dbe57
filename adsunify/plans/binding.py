"""Fills the bindings of a step from earlier outputs, and reads outputs and promises from its response."""

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

# -- a step meets the receipts before it --------------------------------------------------------------------------


def fill_bindings(step: Step, outputs: Mapping[str, Outputs], only: Sequence[int] | None = None) -> Request:
    """The step's request with its bindings filled from earlier steps' outputs (by step key).

    ``only``: the items to send (positions in the planned array), when others were applied before. Raises ValueError
    for a binding that does not fit, and for a step without its marks: a repeat could not be known as one.
    """
    request = step.request
    marked = {"body": request.body, "headers": request.headers}
    if any(get_value(marked, mark.to) is None for mark in step.marks):
        raise ValueError(f"{step.key} is not an operation's: it has no marks yet")
    body, path, query = deepcopy(request.body), dict(request.path), dict(request.query)
    target = {"body": body, "path": path, "query": query}
    for binding in step.bindings:
        value = outputs[binding.step][binding.output]
        if not isinstance(value, str):
            raise ValueError(f"{binding.step}.{binding.output} holds several ids; a binding needs one")
        text_ = binding.prefix + value
        if binding.cast == "integer" and not (text_.isascii() and text_.isdigit()):  # int() takes " 1_0 " too
            raise ValueError(f"{binding.step}.{binding.output} is not a whole number, and is sent as one")
        set_value(target, binding.to, int(text_) if binding.cast == "integer" else text_)
    if only is not None and step.items is not None:
        items = get_value(target, step.items.at)
        set_value(target, step.items.at, [items[index] for index in only])
    return evolve(request, body=target["body"], path=path, query=query)


def apply_overlay(step: Step, request: Request, response: Response) -> Request:
    """The step's request with what was read and the planned changes laid together.

    Raises ProviderUnreadable where the object is not in the answer.
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
    """The step's outputs from an answer, or None where one is missing."""
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
    """Whether every promise of the step holds in the answer."""
    answer: dict[str, Any] = {"body": response.body if response.state == "json" else None, "headers": response.headers}
    return all(_is_met(promise, get_value(answer, promise.at)) for promise in step.expectations)


def _is_met(promise: Expectation, actual: Json) -> bool:
    if promise.is_case_insensitive and isinstance(actual, str):
        return bool(actual.casefold() == promise.equals.casefold())
    return _is_equal(actual, promise.equals)


def _is_equal(actual: Json, expected: Json) -> bool:
    return type(actual) is type(expected) and bool(actual == expected)
