"""The findings of a proof: facts that the network confirmed or contradicted, and facts that could not be tested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import define, field, frozen

from adsunify.values.exact_json import Json

Verdict = Literal["confirmed", "contradicted", "not_tested"]


@frozen
class Finding:
    """One fact of the adapter, with the verdict of the network.

    Attributes:
        fact: the name of the fact, such as ``campaign.daily_budget``.
        verdict: whether the network confirmed it.
        expected: the value that the adapter expects.
        found: the value that the network showed.
        reason: one sentence. For a fact that was not tested, it says why, and how the fact can be tested.
    """

    fact: str
    verdict: Verdict
    expected: Json = None
    found: Json = None
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the finding as the report shows it."""
        return {
            "fact": self.fact,
            "verdict": self.verdict,
            "expected": self.expected,
            "found": self.found,
            "reason": self.reason,
        }


@frozen
class Leftover:
    """An entity that the proof created and that may still exist.

    Attributes:
        kind: its kind.
        id: its id; None if it is not known.
        reason: why it was not deleted.
    """

    kind: str
    id: str | None
    reason: str


@define
class ProofReport:
    """The result of one proof.

    Attributes:
        network: the code of the network.
        version: the version of its API.
        account_id: the id of the account in the store.
        findings: in the order of the checks.
        unverified: the findings about the adapter's unverified facts.
        refusals: the requests that the guard refused, in words. Each of them would have activated something.
        operations: the ids of the operations that the proof executed.
        leftovers: created entities that still exist, or may exist.
        objects: created objects that the adapter cannot delete and that have no effect by themselves.
        cases: the paths of the recorded cases.
        withheld: recordings that were not written, with the reason.
    """

    network: str
    version: str
    account_id: str
    findings: list[Finding] = field(factory=list)
    unverified: list[Finding] = field(factory=list)
    refusals: list[str] = field(factory=list)
    operations: list[str] = field(factory=list)
    leftovers: list[Leftover] = field(factory=list)
    objects: list[str] = field(factory=list)
    cases: list[str] = field(factory=list)
    withheld: list[str] = field(factory=list)

    def confirm(self, fact: str, value: Json = None) -> None:
        """Record a fact that the network confirmed, with the value that it showed."""
        self.findings.append(Finding(fact, "confirmed", value, value))

    def contradict(self, fact: str, expected: Json, actual: Json, reason: str = "") -> None:
        """Record a fact that the network contradicted."""
        self.findings.append(Finding(fact, "contradicted", expected, actual, reason))

    def skip(self, fact: str, reason: str) -> None:
        """Record a fact that could not be tested."""
        self.findings.append(Finding(fact, "not_tested", reason=reason))

    def compare(self, fact: str, expected: Json, actual: Json, reason: str = "") -> bool:
        """Record whether the network showed the expected value, and return it."""
        is_same: bool = expected == actual
        if is_same:
            self.confirm(fact, actual)
        else:
            self.contradict(fact, expected, actual, reason)
        return is_same

    def select(self, verdict: Verdict) -> list[Finding]:
        """Return the findings with this verdict."""
        return [finding for finding in self.findings if finding.verdict == verdict]

    @property
    def is_good(self) -> bool:
        """Whether a campaign was created, and nothing was contradicted, refused by the guard, or left over."""
        has_campaign = not any(finding.fact == "create" for finding in self.select("not_tested"))
        return has_campaign and not (self.select("contradicted") or self.refusals or self.leftovers)

    def to_json(self) -> dict[str, Json]:
        """Return the report as ``report.json`` holds it."""
        return {
            "network": self.network,
            "version": self.version,
            "accountId": self.account_id,
            "findings": _list_json(self.findings),
            "unverified": _list_json(self.unverified),
            "refusals": list(self.refusals),
            "operations": list(self.operations),
            "cases": list(self.cases),
            "withheld": list(self.withheld),
            "objects": list(self.objects),
            "leftovers": [
                {"kind": leftover.kind, "id": leftover.id, "reason": leftover.reason} for leftover in self.leftovers
            ],
        }


def _list_json(findings: Iterable[Finding]) -> list[Json]:
    return [finding.to_json() for finding in findings]
