"""The rules of a workspace with the credentials that they have frozen, as a process caches them."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen
from sqlalchemy import Connection

from adsunify.guardrails.rules import RuleSet
from adsunify.store import guardrails
from adsunify.store.guardrails import FrozenCredential


@frozen
class WorkspaceRules:
    """The rules of a workspace. ``frozen``: the frozen credentials by their identity."""

    rules: RuleSet
    frozen: Mapping[str, FrozenCredential] = field(factory=dict)


NO_RULES = WorkspaceRules(RuleSet(0))
"""Those of a workspace that never had a rule."""


def load_workspace_rules(connection: Connection, workspace_id: str) -> WorkspaceRules:
    """Read the rules of a workspace. Raises NotFound."""
    rules = guardrails.load_rules(connection, workspace_id)  # first, so that the freezes are of this version or newer
    frozen_credentials = guardrails.list_frozen(connection, workspace_id)
    return WorkspaceRules(rules, {freeze.credential: freeze for freeze in frozen_credentials})
