"""Hostile answers, tried around every case: doubt about a write is Ambiguous, and a reader raises our errors only."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal

from attrs import evolve

from adsunify.adapter.network import Network
from adsunify.errors import AdsunifyError
from adsunify.execution.outcomes import Ambiguous, Applied, classify_write
from adsunify.http.messages import Request, Response, ResponseFormat
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Step
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import get_value, set_value

from .cases import Case, Library
from .kinds import run
from .matching import Difference
from .plans import PLANNING
from .recorded import Conversation, response_of
from .writes import step_of

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
"""Bodies that are no answer, whatever the status."""

ODD: Mapping[str, Json] = {
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
"""Values put in the place of every member in turn."""

MOST = 500
"""How many mutated answers are tried around one case; more are thinned out evenly."""
REQUESTS = 3_000
"""A flow that asks more often than this does not end."""


def differences_of(case: Case, library: Library) -> list[Difference]:
    """Everything that hostile answers must not do to this case."""
    network = get_adapter(case.network).network
    differences: list[Difference] = []
    if case.kind in PLANNING:
        plan = run(case, library).plan
        assert plan is not None
        for index, step in enumerate(plan.steps):
            differences += write_differences(network, step, f"/steps/{index}")
    if case.kind == "outcome":
        differences += _answer_differences(case, library, network)
    elif case.exchange:
        differences += _reading_differences(case, library)
    return differences


def _deepest() -> Json:
    """The deepest nesting that is read at all."""
    for depth in (900, 400, 200, 100, 60, 30):
        response = Response.from_bytes(200, {}, b'{"a":' * depth + b"1" + b"}" * depth)
        if response.state == "json":
            return response.body
    return {}


DEEP = _deepest()


# -- writes -------------------------------------------------------------------------------------------------------


def write_differences(network: Network, step: Step, at: str) -> Iterator[Difference]:
    """A junk answer to a write, or a 5xx or 408 whatever it says, is Ambiguous."""
    for status in (200, 201, 207):
        for description, content in JUNK.items():
            if step.can_be_empty and not content.strip():
                continue
            outcome = _said(network, step, step.request, Response.from_bytes(status, {}, content))
            if not isinstance(outcome, Ambiguous):
                yield Difference(at, f"ambiguous after {status} with {description}", _named(outcome))
    bodies = [*JUNK.values(), b'{"id": "1", "success": true}', b'{"error": {"code": 100, "message": "no"}}']
    for status in (408, 500, 502, 503, 504, 599):
        for content in bodies:
            outcome = _said(network, step, step.request, Response.from_bytes(status, {"retry-after": "3"}, content))
            if not isinstance(outcome, Ambiguous):
                yield Difference(at, f"ambiguous after {status}", _named(outcome))


def _said(network: Network, step: Step, request: Request, response: Response) -> object:
    """The outcome, or what it raised (it never may)."""
    try:
        return classify_write(network, step, request, response)
    except Exception as problem:  # noqa: BLE001 - any exception at all is the finding
        return problem


def _named(outcome: object) -> str:
    return f"{type(outcome).__name__}: {outcome}"[:300]


def _answer_differences(case: Case, library: Library, network: Network) -> Iterator[Difference]:
    """Mutations of the recorded answer to a write: never an exception, and cut off it is Ambiguous."""
    step, _ = step_of(case, library)
    recorded = case.exchange[0]["response"]
    good = response_of(recorded, step.request)
    if good.state == "json" and good.is_ok:
        content = dumps(good.body).encode()
        for end in sorted({1, len(content) // 3, len(content) // 2, len(content) - 1} - {0}):
            outcome = _said(network, step, step.request, Response.from_bytes(good.status, good.headers, content[:end]))
            if isinstance(outcome, Applied | Exception):
                yield Difference("", f"no success after {end} of {len(content)} bytes", _named(outcome))
    for description, response in mutations(good):
        outcome = _said(network, step, step.request, response)
        if isinstance(outcome, Exception):
            yield Difference("", f"an outcome of an answer with {description}", _named(outcome))


# -- mutations ----------------------------------------------------------------------------------------------------


def mutations(good: Response) -> Iterator[tuple[str, Response]]:
    """The answer with each of its members in turn gone or of another type, and in other states."""
    answer: ResponseFormat = "bytes" if good.state == "bytes" else "json"
    for description, content in JUNK.items():
        yield description, Response.from_bytes(good.status, good.headers, content, answer)
    yield "nesting", evolve(good, body=DEEP, state="json")
    for status in (301, 400, 401, 403, 404, 429, 500, 503):
        yield f"status {status}", evolve(good, status=status)
    for value in ODD.values():
        yield "another body", evolve(good, body=value, state="json")
    whole = _file(good.body) if good.state == "bytes" else good.body if good.state == "json" else None
    places = list(_places(whole))
    every = max(1, len(places) * (len(ODD) + 2) // MOST)
    for number, (place, description, body) in enumerate(_mutated(whole, places)):
        if number % every == 0:
            content_sent = dumps(body).encode() if good.state == "bytes" else body
            yield f"{description} at {place}", evolve(good, body=content_sent)


def _file(content: bytes) -> Json:
    """What is in a file of JSON, packed or not; None in any other."""
    try:
        return loads(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    except ValueError:
        return None


def _places(value: Json, at: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            place = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
            yield place
            yield from _places(member, place)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield f"{at}/{index}"
            yield from _places(member, f"{at}/{index}")


def _mutated(body: Json, places: Sequence[str]) -> Iterator[tuple[str, str, Json]]:
    for place in places:
        parent, _, last = place.rpartition("/")
        for description, value in [*ODD.items(), ("nesting", DEEP)]:
            whole = deepcopy(body)
            set_value(whole, place, value)
            yield place, description, whole
        whole = deepcopy(body)
        holder = get_value(whole, parent) if parent else whole
        if isinstance(holder, list):
            holder[int(last)] = [holder[int(last)]]
        else:
            del holder[last.replace("~1", "/").replace("~0", "~")]
        yield place, "nothing", whole


# -- reads --------------------------------------------------------------------------------------------------------


class Endless(Exception):
    """A flow does not stop asking."""


class Disturbed(Conversation):
    """Says what a good conversation was told, but ``bad`` to one request of it, and to all beyond it (or to all)."""

    def __init__(self, good: Conversation, position: int, bad: Response, *, always: bool = False) -> None:
        super().__init__(good.network, good.exchange)
        self.good, self.position, self.bad, self.always = good, position, bad, always

    def answer(self, request: Request) -> Response:
        number = len(self.served)
        if number >= REQUESTS:
            raise Endless
        if self.always or number == self.position or number >= len(self.good.served):
            self.served.append((request, 0))
            return self.bad
        place = self.good.served[number][1]
        self.served.append((request, place))
        return response_of(self.exchange[place]["response"], request)


def _reading_differences(case: Case, library: Library) -> Iterator[Difference]:
    """Every recorded answer in turn is replaced by hostile ones: only errors of our tree may come of it."""
    talk = Conversation(case.network, case.exchange)
    run(case, library, talk)
    for position, (request, place) in enumerate(talk.served):
        good, at = response_of(talk.exchange[place]["response"], request), f"/exchange/{place}"
        for description, bad in mutations(good):
            wrong = _raised(case, library, Disturbed(talk, position, bad))
            if wrong is not None:
                yield Difference(at, f"an error of ours after {description}", wrong)
        wrong = _raised(case, library, Disturbed(talk, position, good, always=True))
        if wrong is not None:
            yield Difference(at, "an end, though every answer is this one", wrong)


def _raised(case: Case, library: Library, talk: Conversation) -> str | None:
    """What a call raised that is not of our tree, or that it did not end."""
    try:
        run(case, library, talk)
    except AdsunifyError:
        return None
    except Endless:
        return f"more than {REQUESTS} requests"
    except Exception as problem:  # noqa: BLE001 - any other exception at all is the finding
        return _named(problem)
    return None
