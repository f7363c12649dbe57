"""The row type of the contract table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from attrs import field, frozen

from adsunify.models.base import ApiModel
from adsunify.models.error_messages import FORM_BY_PATTERN, UUID_REGEX
from adsunify.plans.records import Kind
from adsunify.values.client_ids import MAX_CREDENTIAL_LENGTH

Access = Literal["read", "owner", "write", "admin", "auditor"]
"""Who may call an endpoint.

``read``: any valid credential. ``owner``: any credential of the owner in any role, which the use case checks.
``write``: a write-enabled credential with role member or admin. ``admin``: a write-enabled credential with role admin.
``auditor``: any credential with role admin.
"""

PREFIX = "/api/v1/ads"
ERROR_STATUSES = (400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 429, 500, 503)
"""The error statuses that every endpoint may answer (docs/spec.md, "Errors")."""


@frozen(eq=False)
class PathPattern:
    """The form of a path parameter, as a regular expression and in words."""

    pattern: str
    description: str
    match: Callable[[str], Any] = field(init=False)

    @match.default
    def _compile_pattern(self) -> Callable[[str], Any]:
        return re.compile(self.pattern).fullmatch


UUID_PATTERN = PathPattern(UUID_REGEX, FORM_BY_PATTERN[UUID_REGEX])
"""The form of every path parameter that :data:`PATH_PATTERNS` does not name."""
PATH_PATTERNS = {
    "network": PathPattern(r"^[a-z]{1,20}$", "the code of a network, such as meta"),
    "entityId": PathPattern(r"^[^\x00-\x1f\x7f]{1,250}$", "an id as the network gives it, of 1 to 250 characters"),
    "credential": PathPattern(
        rf"^[^\x00-\x1f\x7f]{{1,{MAX_CREDENTIAL_LENGTH}}}$",
        "the identity of a credential, as the list of frozen credentials shows it",
    ),
    "resource": PathPattern(r"^[A-Za-z_]+(:[A-Za-z0-9_-]+)?$", "letters and underscores, perhaps with :suffix"),
}


@frozen(eq=False)
class Endpoint:
    """One endpoint: its request, its access rule and its response. ``service.dispatch`` has its use case.

    Attributes:
        resource: the namespace of the clients that has the method of this endpoint, such as ``accounts``.
        method_name: the name of that method, such as ``list``.
        ignores_idempotency_key: the endpoint is idempotent, so it accepts an idempotency key and ignores it.
        allows_agents: an agent's access token may call it.
        needs_person: only a signed-in person may call it, or the local user of a store that the program opened.
        allows_frozen: a credential that a guardrail has frozen may call it with its full authority. Other endpoints,
            except GET, treat a frozen credential as read-only, or refuse it.
        is_paged: the response is a list with a cursor.
        is_page_optional: without a query the response is a list without a cursor.
        kind: the level of an endpoint that exists for each level; the use case gets it as an argument.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    section: str
    resource: str
    method_name: str
    summary: str
    answer_type: Any
    access: Access = "read"
    body: type[ApiModel] | None = None
    query: type[ApiModel] | None = None
    status: Literal[200, 201, 202] = 200
    takes_idempotency_key: bool = False
    ignores_idempotency_key: bool = False
    allows_agents: bool = True
    needs_person: bool = False
    allows_frozen: bool = False
    is_paged: bool = False
    is_page_optional: bool = False
    kind: Kind | None = None
    operation_id: str = field(init=False)
    parameters: tuple[str, ...] = field(init=False)
    """The names of the path parameters in the URL template."""

    @property
    def access_description(self) -> str:
        """Who may call the endpoint, in words."""
        limit = " Not with an agent's access token." if not self.allows_agents else ""
        return ACCESS_WORDS[self.access] + (" Only a signed-in person." if self.needs_person else limit)

    @operation_id.default
    def _operation_id(self) -> str:
        return make_operation_id(self.method, self.path)

    @parameters.default
    def _parameters(self) -> tuple[str, ...]:
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def make_operation_id(method: str, path: str) -> str:
    """Make an operation id from the method and the words of the path, in snake case.

    A word that is followed by its id parameter becomes singular. Parameters are left out.
    """
    words = [part for part in path.split("/") if part]
    parts: list[str] = []
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("{"):
            continue
        parts.append((to_singular(word) if after.startswith("{") else word).replace("-", "_"))
    return "_".join((method.lower(), *parts))


def to_singular(word: str) -> str:
    """Return the singular of a path word."""
    if word.endswith("ches"):
        return word.removesuffix("es")
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


ACCESS_WORDS: dict[Access, str] = {
    "read": "Any valid credential of the workspace.",
    "owner": "The owner in any role: with a write-enabled credential, or with the key itself.",
    "write": "A write-enabled credential of a member or admin.",
    "admin": "A write-enabled credential of an admin.",
    "auditor": "Any credential of an admin, also a read-only one.",
}
