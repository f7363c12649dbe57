"""Tries hostile responses in a case: a doubtful write must be Ambiguous, and a read must raise only our errors."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from attrs import evolve

from adsunify.adapter.network import Network
from adsunify.errors import AdsunifyError
from adsunify.execution.outcomes import Ambiguous, Applied, classify_write
from adsunify.http.messages import Request, Response, ResponseFormat
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Step
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import split_pointer

from .cases import Case, Library
from .conversation import Conversation, make_response
from .exceptions import ExceptionRecorder
from .kinds import run_case
from .matching import Difference
from .plans import PLANNING
from .writes import find_answered_step

JUNK: Mapping[str, bytes] = {
    "an empty answer": b"",
    "blanks": b" \r\n",
    "HTML": b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>",
    "JSON cut off": b'{"id": "6101", "data": [{"id": "61',
    "NaN": b'{"id": NaN, "data": [NaN]}',
    "a number of 500 digits": b'{"id": ' + b"9" * 500 + b"}",
    "a huge exponent": b'{"id": 1e999999999, "data": [{"id": 1e999999999}]}',
    "bytes that are no text": b'{"id": "\xff\xfe"}',
    "bottomless nesting": b"[" * 100_000,
    "two answers": b'{"id": "1"}{"id": "2"}',
}
"""Bodies that are no answer of a network, with any status."""

ODD_VALUES: Mapping[str, Json] = {
    "null": None,
    "true": True,
    "an empty text": "",
    "a text": "x",
    "0": 0,
    "a negative fraction": Decimal("-0.5"),
    "a number of 300 digits": 10**299 + 1,
    "a huge number": Decimal("1e399"),
    "an empty list": [],
    "a list of null": [None],
    "an empty object": {},
    "an object": {"x": {"y": [1]}},
    "a half surrogate pair": "\ud800",
}
"""Values that replace each member in turn."""

_ABSENT = "nothing"
"""The change that removes a member of an object, and puts an item of a list into a list."""
MOST_MUTATIONS = 500
"""The number of mutated responses around one case; longer lists are thinned out evenly."""
MOST_REQUESTS = 3_000
"""A flow that makes more requests than this does not end."""


def check_case_with_hostile_responses(case: Case, library: Library) -> list[Difference]:
    """Return the failures that hostile responses cause in a case that passes otherwise."""
    network = get_adapter(case.network).network
    failures: list[Difference] = []
    if case.kind in PLANNING:
        plan = run_case(case, library).plan
        assert plan is not None
        for index, step in enumerate(plan.steps):
            failures += check_hostile_write(network, step, f"/steps/{index}")
    if case.kind == "outcome":
        failures += _check_recorded_write(case, library, network)
    elif case.exchange:
        failures += _check_reads(case, library)
    return failures


def _find_deepest_json() -> Json:
    """Return the most deeply nested body that the adapter's HTTP layer still parses as JSON."""
    for depth in (900, 400, 200, 100, 60, 30):
        response = Response.from_bytes(200, {}, b'{"a":' * depth + b"1" + b"}" * depth)
        if response.state == "json":
            return response.body
    return {}


DEEPEST_JSON = _find_deepest_json()


# -- writes -------------------------------------------------------------------------------------------------------


def check_hostile_write(network: Network, step: Step, place: str) -> Iterator[Difference]:
    """Check that a write is Ambiguous after a junk body, and after a 5xx or 408 with any body."""
    for status in (200, 201, 207):
        for description, content in JUNK.items():
            if step.can_be_empty and not content.strip():
                continue
            outcome = _classify(network, step, step.request, Response.from_bytes(status, {}, content))
            if not isinstance(outcome, Ambiguous):
                yield Difference(place, f"ambiguous after {status} with {description}", _describe(outcome))
    bodies = [*JUNK.values(), b'{"id": "1", "success": true}', b'{"error": {"code": 100, "message": "no"}}']
    for status in (408, 500, 502, 503, 504, 599):
        for content in bodies:
            outcome = _classify(network, step, step.request, Response.from_bytes(status, {"retry-after": "3"}, content))
            if not isinstance(outcome, Ambiguous):
                yield Difference(place, f"ambiguous after {status}", _describe(outcome))


def _classify(network: Network, step: Step, request: Request, response: Response) -> object:
    """The outcome of a write, or the exception that its classification raised, which is always a failure."""
    with ExceptionRecorder() as recorder:
        return classify_write(network, step, request, response)
    return recorder.exception


def _describe(outcome: object) -> str:
    return f"{type(outcome).__name__}: {outcome}"[:300]


def _check_recorded_write(case: Case, library: Library, network: Network) -> Iterator[Difference]:
    """Mutations of the recorded answer to a write: never an exception, and Ambiguous if the answer is cut off."""
    step, _ = find_answered_step(case, library)
    good = make_response(case.exchange[0]["response"], step.request)
    if good.state == "json" and good.is_ok:
        content = dumps(good.body).encode()
        for end in sorted({1, len(content) // 3, len(content) // 2, len(content) - 1} - {0}):
            cut = Response.from_bytes(good.status, good.headers, content[:end])
            outcome = _classify(network, step, step.request, cut)
            if isinstance(outcome, Applied | Exception):
                yield Difference("", f"no success after {end} of {len(content)} bytes", _describe(outcome))
    for description, response in mutate_response(good):
        outcome = _classify(network, step, step.request, response)
        if isinstance(outcome, Exception):
            yield Difference("", f"an outcome of an answer with {description}", _describe(outcome))


# -- mutations ----------------------------------------------------------------------------------------------------


def mutate_response(good: Response) -> Iterator[tuple[str, Response]]:
    """Yield the response with other statuses and bodies, and with each member in turn missing or of another type."""
    response_format: ResponseFormat = "bytes" if good.state == "bytes" else "json"
    for description, content in JUNK.items():
        yield description, Response.from_bytes(good.status, good.headers, content, response_format)
    yield "nesting", evolve(good, body=DEEPEST_JSON, state="json")
    for status in (301, 400, 401, 403, 404, 429, 500, 503):
        yield f"status {status}", evolve(good, status=status)
    for value in ODD_VALUES.values():
        yield "another body", evolve(good, body=value, state="json")
    body = _parse_file(good.body) if good.state == "bytes" else good.body if good.state == "json" else None
    values = {**ODD_VALUES, "nesting": DEEPEST_JSON, _ABSENT: None}
    changes = [(place, description) for place in _list_places(body) for description in values]
    for place, description in changes[:: max(1, len(changes) // MOST_MUTATIONS)]:
        mutated = _change_member(body, split_pointer(place), values[description], is_absent=description == _ABSENT)
        content_or_body = dumps(mutated).encode() if good.state == "bytes" else mutated
        yield f"{description} at {place}", evolve(good, body=content_or_body)


def _parse_file(content: bytes) -> Json:
    """The content of a JSON file, which may be compressed; None for any other file."""
    try:
        return loads(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    except ValueError:
        return None


def _list_places(value: Json, place: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            inner = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
            yield inner
            yield from _list_places(member, inner)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield f"{place}/{index}"
            yield from _list_places(member, f"{place}/{index}")


def _change_member(value: Json, path: Sequence[str], new: Json, *, is_absent: bool) -> Json:
    """A copy of the value with another member at the path. Only the containers on the path are copied."""
    name, *inner_path = path
    changed = value.copy()
    key: Json = int(name) if isinstance(changed, list) else name
    if inner_path:
        changed[key] = _change_member(changed[key], inner_path, new, is_absent=is_absent)
    elif not is_absent:
        changed[key] = new
    elif isinstance(changed, list):
        changed[key] = [changed[key]]
    else:
        del changed[key]
    return changed


# -- reads --------------------------------------------------------------------------------------------------------


class EndlessFlow(Exception):
    """A flow makes more requests than any honest one."""


class HostileConversation(Conversation):
    """Repeats a good conversation with a bad response at one position and to every further request.

    Args:
        good: a conversation that has taken place.
        position: the number of the request that gets the bad response.
        bad: the response.
        always: answer every request with the bad response.
    """

    def __init__(self, good: Conversation, position: int, bad: Response, *, always: bool = False) -> None:
        super().__init__(good.network, good.exchange)
        self.good, self.position, self.bad, self.always = good, position, bad, always

    def answer(self, request: Request) -> Response:
        """Return the response of the good conversation, or the bad one. Raises EndlessFlow after 3,000 requests."""
        number = len(self.answered)
        if number >= MOST_REQUESTS:
            raise EndlessFlow
        if self.always or number == self.position or number >= len(self.good.answered):
            self.answered.append((request, 0))
            return self.bad
        position = self.good.answered[number][1]
        self.answered.append((request, position))
        return self.good.get_response(position, request)


def _check_reads(case: Case, library: Library) -> Iterator[Difference]:
    """Hostile responses replace each recorded one in turn: the adapter may raise our errors only."""
    good_conversation = Conversation(case.network, case.exchange)
    run_case(case, library, good_conversation)
    for position, (request, recorded) in enumerate(good_conversation.answered):
        good = make_response(case.exchange[recorded]["response"], request)
        place = f"/exchange/{recorded}"
        for description, bad in mutate_response(good):
            error = find_foreign_error(case, library, HostileConversation(good_conversation, position, bad))
            if error is not None:
                yield Difference(place, f"an error of ours after {description}", error)
        endless = HostileConversation(good_conversation, position, good, always=True)
        error = find_foreign_error(case, library, endless)
        if error is not None:
            yield Difference(place, "an end, though every answer is this one", error)


def find_foreign_error(case: Case, library: Library, conversation: Conversation) -> str | None:
    """Run a case, and describe an exception that is not an AdsunifyError, or a flow that does not end."""
    with ExceptionRecorder() as recorder:
        run_case(case, library, conversation)
    if recorder.exception is None or isinstance(recorder.exception, AdsunifyError):
        return None
    if isinstance(recorder.exception, EndlessFlow):
        return f"more than {MOST_REQUESTS} requests"
    return _describe(recorder.exception)
