"""Guardrails as callers write them: rules that limit spend (docs/guardrails.md).

Amounts are decimal strings in major units of the rule's currency; null is no limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from adsunify.errors import InvalidInput
from adsunify.models.base import (
    VISIBLE,
    ApiModel,
    CrossFieldModel,
    Items,
    Number,
    Omittable,
    PythonValues,
    find_duplicates,
    number_schema,
)
from adsunify.models.brief import Amount, Uuid, write_amount
from adsunify.models.edit import convert_integral
from adsunify.models.error_messages import CLIENT_ID_REGEX, CURRENCY_REGEX, Violation
from adsunify.values.currencies import EXPONENTS, get_exponent
from adsunify.values.money import MICROS, to_units

GuardedAction = Literal["create", "activate", "status", "edit", "update", "delete"]
MAX_WINDOW_HOURS = 744
"""The longest window: 31 days."""
MAX_AMOUNT = 10**12
"""The largest limit, in major units."""
MAX_PERCENT = 1_000_000
MAX_SCOPE_ITEMS = 100


def _check_amount(amount: str) -> str:
    if to_units(amount, MICROS, "") > MAX_AMOUNT * MICROS:
        raise PydanticCustomError("too_large", f"must be at most {MAX_AMOUNT}; null is no limit.")
    return amount


def _check_currency(code: str) -> str:
    try:
        get_exponent(code, "")
    except InvalidInput as refusal:
        similar = [known for known, digits in EXPONENTS.items() if digits is not None and known[:2] == code[:2]]
        hint = f" Did you mean {similar[0]}?" if similar else ""  # a code begins with the code of a country
        raise PydanticCustomError(refusal.issues[0].code, refusal.issues[0].message + hint) from None
    return code


LimitAmount = Annotated[Amount, AfterValidator(_check_amount)]
Currency = Annotated[str, Field(pattern=CURRENCY_REGEX), AfterValidator(_check_currency)]
Percent = Annotated[Number, Field(ge=0, le=MAX_PERCENT), number_schema(minimum=0, maximum=MAX_PERCENT)]
Code = Annotated[str, Field(min_length=1, max_length=20)]
Name = Annotated[str, Field(min_length=1, max_length=100), VISIBLE]


class SpendLimits(ApiModel):
    """The limits of one day and in all, in major units of the rule's currency. Both must be given; null is no limit.

    The constructor takes amounts as text or as a Decimal, never as a float; None is no limit.
    """

    python_values: ClassVar[PythonValues] = {"daily": write_amount, "lifetime": write_amount}

    daily: LimitAmount | None
    lifetime: LimitAmount | None

    if TYPE_CHECKING:

        def __init__(self, *, daily: str | Decimal | None, lifetime: str | Decimal | None) -> None: ...

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, in which no limit is null."""
        return self.model_dump()


class SpendWindow(SpendLimits):
    """The limits of the current UTC hour and so many whole hours before it."""

    hours: Annotated[int, Field(ge=1, le=MAX_WINDOW_HOURS), BeforeValidator(convert_integral)]

    if TYPE_CHECKING:

        def __init__(self, *, hours: int, daily: str | Decimal | None, lifetime: str | Decimal | None) -> None: ...


def _convert_client_id(text: str) -> str:
    """Return a UUID in lower case, and an address as it is."""
    return text if text.startswith("https://") else text.lower()


ClientId = Annotated[str, Field(pattern=CLIENT_ID_REGEX), AfterValidator(_convert_client_id)]


class RuleClient(ApiModel):
    """An agent's client together with the user who connected it."""

    client_id: ClientId
    user_id: Uuid


class RuleScope(CrossFieldModel):
    """The scope of a rule. A member that is left out does not restrict.

    ``keyIds``, ``clients`` and ``userIds`` are credentials: one of them must be the one that prepares or executes.
    """

    networks: Omittable[Annotated[Items[Code], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None
    account_ids: Omittable[Annotated[Items[Uuid], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None
    key_ids: Omittable[Annotated[Items[Uuid], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None
    clients: Omittable[Annotated[Items[RuleClient], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None
    user_ids: Omittable[Annotated[Items[Uuid], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that no list has an item twice."""
        return [
            violation
            for name in cls.model_fields
            for violation in find_duplicates((to_camel(name),), getattr(members, name))
        ]


class NewGuardrail(CrossFieldModel):
    """A rule that bounds what may be spent.

    ``perOperation`` limits the exposure and the planned budgets of one operation, ``perWindow`` the exposure of all
    operations together in a number of hours. A signed-in person must execute operations above ``approvalAbove``.
    ``maxIncreasePercent`` limits a budget by its lowest value of the last 24 hours. ``freeze`` also freezes the
    credential that breaks the rule.
    """

    name: Name
    scope: RuleScope = RuleScope()
    currency: Currency | None = None
    per_operation: SpendLimits | None = None
    per_window: SpendWindow | None = None
    approval_above: SpendLimits | None = None
    max_increase_percent: Percent | None = None
    max_bid: LimitAmount | None = None
    blocked_actions: Annotated[Items[GuardedAction], Field(max_length=6)] = ()
    on_breach: Literal["refuse", "freeze"] = "refuse"
    other_currencies: Literal["refuse", "allow"] = "refuse"
    active: bool = True

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that the rule limits something, and that its amounts have a currency."""
        problems = [*find_duplicates(("blockedActions",), members.blocked_actions)]
        amounts = [to_camel(name) for name in MONEY_MEMBERS if _has_amount(getattr(members, name))]
        if amounts and members.currency is None:
            problems.append(Violation(("currency",), "required", f"is required with {' and '.join(amounts)}."))
        if not amounts and members.max_increase_percent is None and not members.blocked_actions:
            limiting = ", ".join(map(to_camel, MONEY_MEMBERS))
            message = f"must limit something: {limiting}, maxIncreasePercent or blockedActions."
            problems.append(Violation((), "required", message))
        return problems

    def to_arguments(self) -> dict[str, Any]:
        """Return the rule as one argument."""
        return {"rule": self}


MONEY_MEMBERS = ("per_operation", "per_window", "approval_above", "max_bid")


def _has_amount(value: Any) -> bool:
    """Whether a money member, perhaps unchecked, has an amount."""
    if isinstance(value, SpendLimits):
        return value.daily is not None or value.lifetime is not None
    if isinstance(value, Mapping):
        return value.get("daily") is not None or value.get("lifetime") is not None
    return value is not None


class GuardrailChange(ApiModel):
    """Changes of a rule. Each member that is given replaces the present one; null removes a limit.

    The changed rule must be valid. A window keeps its counts.
    """

    name: Omittable[Name] = None
    scope: Omittable[RuleScope] = None
    currency: Currency | None = None
    per_operation: SpendLimits | None = None
    per_window: SpendWindow | None = None
    approval_above: SpendLimits | None = None
    max_increase_percent: Percent | None = None
    max_bid: LimitAmount | None = None
    blocked_actions: Omittable[Annotated[Items[GuardedAction], Field(max_length=6)]] = None
    on_breach: Omittable[Literal["refuse", "freeze"]] = None
    other_currencies: Omittable[Literal["refuse", "allow"]] = None
    active: Omittable[bool] = None

    def to_arguments(self) -> dict[str, Any]:
        """Return the changes as one argument: the members that are given, null included, by their JSON names."""
        members = {to_camel(name): getattr(self, name) for name in self.model_fields_set}
        return {
            "changes": {
                name: value.to_json() if isinstance(value, ApiModel) else value for name, value in members.items()
            }
        }
