"""A launch: one brief for many accounts and networks, as callers write it.

The parts of a brief are free JSON objects here. A brief is validated after its parts are merged
(:mod:`adsunify.launches.cells`). docs/spec.md, "Launches", defines lengths, limits and defaults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from adsunify.models.base import VISIBLE, ApiModel, CrossFieldModel, FreeForm, Items, Omittable
from adsunify.models.brief import Amount, Uuid
from adsunify.models.edit import convert_integral
from adsunify.models.error_messages import CELL_KEY_REGEX, CURRENCY_REGEX, Violation, find_similar

MAX_LAUNCH_ACCOUNTS = 600
MAX_WEIGHT = 10_000
MAX_URL_PARAMETERS = 30
NAME_PLACEHOLDERS = ("launch", "network", "account", "country")
URL_PLACEHOLDERS = (*NAME_PLACEHOLDERS, "key")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""A placeholder of a template. Its group is the name."""


def _check_template(template: str, names: Sequence[str]) -> str:
    """Return the template if all its placeholders are in ``names`` and it has no other braces."""
    accepted = ", ".join(f"{{{name}}}" for name in names)
    for name in PLACEHOLDER.findall(template):
        if name not in names:
            similar = find_similar(name, names)
            hint = "" if similar is None else f" Did you mean {{{similar}}}?"
            raise PydanticCustomError("unknown_placeholder", f"must have no placeholders but {accepted}.{hint}")
    if set(PLACEHOLDER.sub("", template)) & set("{}"):
        raise PydanticCustomError("malformed", f"must have no braces but those of the placeholders {accepted}.")
    return template


def _check_name_template(template: str) -> str:
    return _check_template(template, NAME_PLACEHOLDERS)


def _check_url_template(template: str) -> str:
    return _check_template(template, URL_PLACEHOLDERS)


CellKey = Annotated[str, Field(pattern=CELL_KEY_REGEX)]
LaunchName = Annotated[str, Field(min_length=3, max_length=100), VISIBLE]
NetworkCode = Annotated[str, Field(min_length=1, max_length=20)]
Weight = Annotated[int, Field(ge=1, le=MAX_WEIGHT), BeforeValidator(convert_integral)]
NameTemplate = Annotated[str, Field(min_length=1, max_length=200), VISIBLE, AfterValidator(_check_name_template)]
UrlParameterName = Annotated[str, Field(min_length=1, max_length=100)]
UrlTemplate = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_check_url_template)]


class BudgetSplit(ApiModel):
    """An amount that is divided among the cells of a launch. ``amount`` is in major units of ``currency``."""

    amount: Amount
    currency: Annotated[str, Field(pattern=CURRENCY_REGEX)]
    period: Literal["daily", "lifetime"]
    by: Literal["even", "weights"]


class LaunchAccount(ApiModel):
    """One cell of a launch: an account, and the part of the brief that holds for this cell only (RFC 7396).

    ``key`` names the cell in the launch; by default it is the account's id. ``weight`` is the cell's part of a budget
    that is split by weights.
    """

    account_id: Uuid
    key: Omittable[CellKey] = None
    weight: Omittable[Weight] = None
    campaign: Omittable[FreeForm] = None

    @property
    def cell_key(self) -> str:
        """The key of the cell."""
        return self.key or self.account_id


class NewLaunch(CrossFieldModel):
    """One brief for many accounts and networks.

    The brief of a cell is ``campaign``, with the part of its network in ``networks`` laid over it, then the part of its
    account (RFC 7396: lists are replaced, null removes a member).
    """

    name: LaunchName
    campaign: FreeForm
    accounts: Annotated[Items[LaunchAccount], Field(min_length=1, max_length=MAX_LAUNCH_ACCOUNTS)]
    networks: Omittable[dict[NetworkCode, FreeForm]] = None
    name_template: Omittable[NameTemplate] = None
    url_parameters: Omittable[
        Annotated[dict[UrlParameterName, UrlTemplate], Field(min_length=1, max_length=MAX_URL_PARAMETERS)]
    ] = None
    skip_invalid: bool = False

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that each cell has a key that no earlier cell has."""
        return list(find_repeated_keys(members.accounts))

    def to_arguments(self) -> dict[str, Any]:
        """Return the launch as one argument."""
        return {"launch": self}


def find_repeated_keys(accounts: Any) -> Iterator[Violation]:
    """Yield a violation for each key that an earlier cell has. ``accounts`` may be unchecked input."""
    keys: set[str] = set()
    for position, account in enumerate(accounts if isinstance(accounts, list | tuple) else ()):
        if position >= MAX_LAUNCH_ACCOUNTS:
            return
        key = _read_cell_key(account)
        if key is not None and key in keys:
            message = "must differ from the keys of the other cells; without a key it is the account's id."
            yield Violation(("accounts", position, "key"), "duplicate", message)
        elif key is not None:
            keys.add(key)


def _read_cell_key(account: Any) -> str | None:
    """Return the key of a cell, perhaps of unchecked input; None if it has no key that can be compared."""
    if isinstance(account, LaunchAccount):
        return account.cell_key
    if not isinstance(account, Mapping):
        return None
    key, account_id = account.get("key"), account.get("accountId")
    if key is None and isinstance(account_id, str):
        return account_id.lower()
    return key if isinstance(key, str) else None
