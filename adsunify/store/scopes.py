"""The condition that an account is in the scope of a credential, in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Text, and_, bindparam, literal, or_, type_coerce

from adsunify.actor import Actor
from adsunify.values.exact_json import dumps

ACTOR_SCOPE = bindparam("of_scope", type_=Text)
"""The scope of the actor, whose value is :func:`dump_scope`."""


def dump_scope(actor: Actor) -> str | None:
    """Return the value of :data:`ACTOR_SCOPE`: the text that the database would hold."""
    return None if actor.scope is None else dumps(actor.scope.to_json())


def is_in_scope(scope: ColumnElement[Any], account: ColumnElement[str], network: ColumnElement[str]) -> Any:
    """Return the condition that a scope has an account; NULL has all.

    The text of a scope contains only quoted ids and codes, so a search for one of them cannot match a part of another.
    """
    text = scope if isinstance(scope.type, Text) else type_coerce(scope, Text)
    is_restricted = {member: text.like(f'%"{member}"%') for member in ("accountIds", "networks")}
    quote = literal('"', Text)
    return or_(
        text.is_(None),
        and_(
            or_(~is_restricted["accountIds"], text.contains(quote + account + quote)),
            or_(~is_restricted["networks"], text.contains(quote + network + quote)),
        ),
    )
