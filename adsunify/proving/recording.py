"""Makes cases of recorded exchanges, in the form of :mod:`adsunify.testing.contract`, and writes the passing ones."""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path

from attrs import define, evolve, field

from adsunify.adapter.account import Account
from adsunify.errors import AdsunifyError
from adsunify.http.messages import Response, build_request_url
from adsunify.testing.contract.cases import Case, Library
from adsunify.testing.contract.checks import check_case
from adsunify.testing.contract.conversation import Conversation, UnexpectedRequest
from adsunify.testing.contract.kinds import run_case
from adsunify.values.exact_json import Json, dumps, loads

from .findings import ProofReport
from .redaction import Redactor, find_secret
from .transport import Exchange

UNRECORDED_HEADERS = frozenset(
    ["connection", "content-encoding", "content-length", "date", "server", "set-cookie", "transfer-encoding", "vary"]
)
"""Headers that say nothing about the network's API, or that hold a session."""


@define
class CaseWriter:
    """Writes the cases of one proof below ``folder/<network>``.

    Attributes:
        folder: the folder of cases.
        account: the account of the proof.
        redactor: removes the values that must not be recorded.
        read_secrets: reads the present secrets of the connection.
        recorded_on: the day of the proof.
        report: gets the paths, and the reasons of recordings that were not written.
        library: the cases that were written so far.
    """

    folder: Path
    account: Account
    redactor: Redactor
    read_secrets: Callable[[], Awaitable[Collection[str]]]
    recorded_on: date
    report: ProofReport
    library: list[Case] = field(factory=list)

    async def add(self, name: str, kind: str, members: Mapping[str, Json], exchanges: Sequence[Exchange]) -> None:
        """Write a case of these exchanges, unless the runner refuses it or it contains a secret."""
        whole = {
            "case": name,
            "source": f"recorded by adsunify prove on {self.recorded_on}, {self.report.version}",
            "kind": kind,
            "account": {
                "nativeId": self.account.native_id,
                "currency": self.account.currency,
                "timezone": self.account.timezone,
                "extras": dict(self.account.extras),
            },
            "input": dict(members),
            "exchange": [_exchange_to_json(exchange) for exchange in exchanges],
        }
        self.redactor.secrets |= {*await self.read_secrets()}
        redacted = self.redactor.redact(loads(dumps(whole)), hides_names=kind != "outcome")
        try:
            path, case = self._complete(name, redacted)
        except (AdsunifyError, ValueError, LookupError) as problem:
            difference = f": {problem.difference}" if isinstance(problem, UnexpectedRequest) else f": {problem}"
            self.report.withheld.append(f"{name}: the runner of cases does not accept it{difference}")
            return
        if (secret := find_secret(redacted, self.redactor.secrets)) is not None:
            self.report.withheld.append(f"{name}: it contains {secret}")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(format_json(redacted) + "\n")
        self.library.append(case)
        self.report.cases.append(str(path.relative_to(self.folder)))

    def _complete(self, name: str, value: dict[str, Json]) -> tuple[Path, Case]:
        """Add the adapter's result for the redacted exchange as the expected result.

        Raises the exceptions of the runner.
        """
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        path = self.folder / self.account.network / "exemplary" / f"{stem}.json"
        account = Account(
            self.account.network,
            value["account"]["nativeId"],
            self.account.currency,
            self.account.timezone,
            value["account"]["extras"],
        )
        case = Case(path, account.network, True, name, value["kind"], account, value["input"], tuple(value["exchange"]))
        library = Library(self.library)
        conversation = Conversation(account.network, case.exchange)
        result = loads(dumps(run_case(case, library, conversation).value))
        unused = conversation.unused_positions  # the service also reads exposures
        value["exchange"] = [entry for position, entry in enumerate(value["exchange"]) if position not in unused]
        if value["kind"] == "outcome" and result["outcome"] != "applied":
            path = path.parent.parent / "supplemental" / path.name
        value["expect"] = result
        whole = evolve(case, path=path, is_exemplary=False, exchange=tuple(value["exchange"]), expect=result)
        failures = check_case(whole, library, strict=True, try_hostile_responses=False).failures
        if failures:
            raise ValueError(str(failures[0]))
        return path, whole


def _exchange_to_json(exchange: Exchange) -> dict[str, Json]:
    request = exchange.request
    sent: dict[str, Json] = {"method": request.method, "url": build_request_url(request)}
    if request.headers:
        sent["headers"] = dict(request.headers)
    if request.body is not None:
        sent["body"] = request.body
    headers = {
        name: value for name, value in exchange.response.headers.items() if name.lower() not in UNRECORDED_HEADERS
    }
    return {
        "request": sent,
        "response": {"status": exchange.response.status, "headers": headers, "body": _body_to_json(exchange.response)},
    }


def _body_to_json(response: Response) -> Json:
    """Return the body as a case has it: JSON, or the text of a file."""
    if response.state != "bytes":
        return response.body
    content = gzip.decompress(response.body) if response.body[:2] == b"\x1f\x8b" else response.body
    text = content.decode("utf-8", "replace")
    try:
        return loads(text)
    except ValueError:
        return text


def format_json(value: Json, indent: int = 0) -> str:
    """Return JSON for people: one member or element per line, unless all of them fit into one line."""
    line = dumps(value)
    blank = " " * indent
    if len(line) + indent <= 100 or not isinstance(value, Mapping | list) or not value:
        return line
    if isinstance(value, Mapping):
        rows = [f"{blank}  {dumps(name)}: {format_json(member, indent + 2)}" for name, member in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{blank}}}"
    rows = [f"{blank}  {format_json(member, indent + 2)}" for member in value]
    return "[\n" + ",\n".join(rows) + f"\n{blank}]"


def collect_texts(value: Json) -> Collection[str]:
    """Return every text in a value."""
    if isinstance(value, Mapping):
        return {text for member in value.values() for text in collect_texts(member)}
    if isinstance(value, list | tuple):
        return {text for member in value for text in collect_texts(member)}
    return {value} if isinstance(value, str) else set()
