"""The native facts that no source confirms, from the comments ``# unverified: ...`` of the adapters.

A proof confirms some of them: :data:`EVIDENCE` names the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from importlib import import_module
from io import StringIO
from itertools import takewhile
from pathlib import Path
from tokenize import COMMENT, generate_tokens

from attrs import frozen

from adsunify.networks.registry import discover_packages, find_built_in_packages

from .findings import Finding, ProofReport

MARK = "# unverified: "
_match_constant = re.compile(r"_?[A-Z][A-Z0-9_, ]* = .+").fullmatch
NOT_READ = "No check of the proof shows it. A person has to compare it with the network."


@frozen
class FactEvidence:
    """The evidence that confirms an unverified fact.

    Attributes:
        network: the code of the network.
        words: a part of the fact's text.
        fact: the beginning of the names of findings; empty if a header is the evidence.
        header: the name of a header that responses must have.
    """

    network: str
    words: str
    fact: str = ""
    header: str = ""


EVIDENCE: tuple[FactEvidence, ...] = (
    FactEvidence("x", "REQUEST_ID_HEADER", header="x-transaction-id"),
    FactEvidence("apple", "REQUEST_ID_HEADER", header="x-request-id"),
    FactEvidence("pinterest", "REQUEST_ID_HEADER", header="x-pinterest-rid"),
    FactEvidence("amazon", "REQUEST_ID_HEADERS", header="x-amzn-requestid"),
    FactEvidence("linkedin", "INITIAL_CAMPAIGN_STATUS", fact="created.adGroup.status"),
    FactEvidence("apple", "which of several members the rows of a catalog have", fact="catalog.creatives.rows"),
    FactEvidence("tiktok", "the members of the lists of pixels and apps", fact="catalog.pixels.rows"),
    FactEvidence("outbrain", "the path of segments", fact="catalog.segments.rows"),
    FactEvidence("snapchat", "a row of a targeting list may be nested", fact="catalog.countries.rows"),
)


def judge_unverified_facts(report: ProofReport, headers: Collection[str]) -> list[Finding]:
    """Return a finding for each unverified fact of the network.

    Args:
        report: the findings of the proof.
        headers: the names of the headers of all responses, in lower case.
    """
    return [_judge(report, headers, f"{module}: {fact}", fact) for _, module, fact in list_facts([report.network])]


def _judge(report: ProofReport, headers: Collection[str], name: str, fact: str) -> Finding:
    rows = (row for row in EVIDENCE if row.network == report.network and row.words in fact)
    row = next(rows, None)
    if row is None:
        return Finding(name, "not_tested", reason=NOT_READ)
    if row.header:
        if row.header in headers:
            return Finding(name, "confirmed", row.header, row.header)
        return Finding(name, "contradicted", row.header, None, "No response has this header.")
    evidence = [finding for finding in report.findings if finding.fact == row.fact]
    for verdict in ("contradicted", "confirmed"):
        if any(finding.verdict == verdict for finding in evidence):
            return Finding(name, verdict, reason=f"The check {row.fact} shows it.")
    return Finding(name, "not_tested", reason=f"The check {row.fact} was not made.")


def list_facts(networks: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield the network, the module and the text of each unverified fact, of these networks or of all built-in ones."""
    packages = find_built_in_packages() if networks is None else discover_packages()
    for code in packages if networks is None else networks:
        (folder,) = import_module(packages[code]).__path__
        for path in sorted(Path(folder).glob("*.py")):
            for fact in parse_facts(path.read_text(), f"{code}/{path.name}"):
                yield code, path.stem, fact


def parse_facts(source: str, name: str) -> Iterator[str]:
    """Yield the unverified facts of the module ``name``. Raises ValueError for a comment that marks one otherwise."""
    if "unverified" not in source.lower():
        return
    lines = source.splitlines()
    for token in generate_tokens(StringIO(source).readline):
        if token.type != COMMENT or "unverified" not in token.string.lower():
            continue
        if not token.string.startswith(MARK):
            raise ValueError(f"{name}, line {token.start[0]}: a comment about an unverified fact begins with {MARK!r}")
        number, column = token.start
        code, fact = lines[number - 1][:column].strip(), token.string.removeprefix(MARK)
        if not code:
            comment_lines = takewhile(lambda line: line.lstrip().startswith("#"), lines[number:])
            fact = " ".join([fact, *(line.strip(" #") for line in comment_lines)])
        yield f"`{code}`: {fact}" if _match_constant(code) else fact.removesuffix(".")
