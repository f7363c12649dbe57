"""Describes in words the spend that a plan allows, for the review page, the shell and agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adsunify.plans.exposure import NO_SPEND, Spend
from adsunify.values.exact_json import Json
from adsunify.values.money import group_digits

NO_AMOUNT = "0"
UNKNOWN_TEXT = "It is not known how much this can spend."


def sum_spends(spends: Iterable[Mapping[str, Any]], currency: str | None) -> dict[str, Json]:
    """Return the sum of the spend in one currency. ``spends`` are as the API shows them."""
    return sum(map(Spend.from_json, spends), NO_SPEND).to_json(currency)


def describe_exposure(plan: Mapping[str, Any]) -> str | None:
    """Describe the exposure of a plan; None for a plan without one.

    ``plan`` is as the API shows it. Lists show no exposure, and plans of earlier versions have none.
    """
    exposure, planned = plan.get("exposure"), plan.get("planned")
    if exposure is None or planned is None:
        return None
    if exposure["daily"] == "unknown":
        return UNKNOWN_TEXT
    if (words := describe_spend(exposure, " more")) is not None:
        return f"This can spend {words}."
    if planned["daily"] == "unknown":
        return "This spends nothing yet. It is not known how much it can spend once it is active."
    if (words := describe_spend(planned, "")) is not None:
        return f"This spends nothing yet. Once it is active, it can spend {words}."
    return "This cannot spend more than before."


def describe_spend(spend: Mapping[str, Any], more: str) -> str | None:
    """Describe amounts: ``25.00 USD more a day, 1,250.00 USD more in all``; None if they are 0.

    ``daily`` is known. ``more`` follows each amount.
    """
    daily, lifetime, currency = group_digits(spend["daily"]), group_digits(spend["lifetime"]), spend["currency"]
    if lifetime == NO_AMOUNT:
        return None if daily == NO_AMOUNT else f"{daily} {currency}{more} a day"
    each = "" if daily in (NO_AMOUNT, lifetime) else f"{daily} {currency}{more} a day"
    if lifetime == "unknown":
        return f"{each or f'{daily} {currency}{more}'}; how much in all is not known"
    if lifetime == "unbounded":
        return f"{each or more.strip() or 'any amount'}, without an end"
    whole = f"{lifetime} {currency}{more} in all"
    return f"{each}, {whole}" if each else whole
