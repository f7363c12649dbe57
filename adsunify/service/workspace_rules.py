"""The rules of a workspace with the credentials that they have frozen, as a process caches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor, CredentialScope
from adsunify.guardrails.evaluation import Caller, has_caller
from adsunify.guardrails.rules import Guardrail, RuleSet
from adsunify.store import guardrails
from adsunify.store.guardrails import FrozenCredential

MAX_CACHED_CALLERS = 1000


@frozen
class WorkspaceRules:
    """The rules of a workspace. ``frozen``: the frozen credentials by their identity.

    Most rules of a large workspace do not apply to one caller, so the rules of each caller are selected once and
    cached.
    """

    rules: RuleSet
    frozen: Mapping[str, FrozenCredential] = field(factory=dict)
    _by_callers: dict[tuple[Caller, ...], Sequence[Guardrail]] = field(factory=dict, eq=False, repr=False)

    def select_rules(self, callers: tuple[Caller, ...]) -> Sequence[Guardrail]:
        """Return the active rules that apply to one of these callers."""
        selected = self._by_callers.get(callers)
        if selected is None:
            if len(self._by_callers) >= MAX_CACHED_CALLERS:
                self._by_callers.clear()
            selected = self._by_callers[callers] = [
                rule for rule in self.rules.guardrails if rule.is_active and has_caller(rule.scope, callers)
            ]
        return selected


def is_rule_visible(actor: Actor, rule: Guardrail) -> bool:
    """Whether a rule applies only to accounts in the scope of the actor's credential; others are 404 for the actor."""
    scope = CredentialScope(rule.scope.networks or None, rule.scope.account_ids or None)
    return actor.scope is None or actor.scope.has_scope(scope)


NO_RULES = WorkspaceRules(RuleSet(0))
"""The rules of a workspace that never had a rule."""


def load_workspace_rules(connection: Connection, workspace_id: str) -> WorkspaceRules:
    """Read the rules of a workspace. Raises NotFound."""
    rules = guardrails.load_rules(connection, workspace_id)  # first: the freezes must not be older than the rules
    frozen_credentials = guardrails.list_frozen(connection, workspace_id)
    return WorkspaceRules(rules, {freeze.credential: freeze for freeze in frozen_credentials})
