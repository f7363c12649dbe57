"""Converts breaches of guardrails to JSON for responses and to sentences."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from adsunify.errors import GuardrailRefused, RuleBreach
from adsunify.plans.exposure import Amount, format_amount
from adsunify.values.money import format_decimal, group_digits

from .evaluation import Breach

ADVICE = "Prepare a change that fits, or ask an admin to change the guardrail."
BULK_NOTE = "All operations of one bulk call count together."
PERIOD_WORDS = {"daily": "a day", "lifetime": "in all"}


def hide_rule_name(breach: Breach) -> Breach:
    """Return a breach with the rule's id in place of its name, for readers that cannot read the rule."""
    return evolve(breach, rule=evolve(breach.rule, name=breach.rule.id))


def make_rule_breach(breach: Breach) -> RuleBreach:
    """Return a breach as errors show it."""
    amounts = (_format(amount, breach.currency) for amount in (breach.limit, breach.used, breach.amount, breach.fits))
    return RuleBreach(breach.rule.id, breach.rule.name, breach.member, breach.currency, *amounts)


def make_refusal(breaches: Sequence[Breach], *, is_bulk: bool = False) -> GuardrailRefused:
    """Make the error of an operation that breaks rules. ``is_bulk``: its call has prepared several operations."""
    code = "guardrail_exceeded" if any(breach.member != "currency" for breach in breaches) else "guardrail_currency"
    sentences = dict.fromkeys(describe_breach(breach) for breach in breaches)
    if is_bulk and any(breach.member.startswith("perOperation") for breach in breaches):
        sentences[BULK_NOTE] = None
    return GuardrailRefused(
        " ".join((*sentences, ADVICE)), breaches=[make_rule_breach(breach) for breach in breaches], code=code
    )


def describe_breach(breach: Breach) -> str:
    """Return a sentence with the amount that the rule allows and the amount of the operation."""
    rule, (member, _, name) = breach.rule, breach.member.partition(".")
    period, currency = PERIOD_WORDS.get(name, ""), breach.currency
    limit, amount_text, fits = (
        _format_words(amount, currency) for amount in (breach.limit, breach.amount, breach.fits)
    )
    start = f'The guardrail "{rule.name}"'
    if member == "perOperation":
        return f"{start} allows one operation {limit} {currency} {period}; this one exposes or plans {amount_text}."
    if member == "perWindow":
        return f'The window of the guardrail "{rule.name}" has {_describe_room(breach, period)}'
    if member == "maxBid":
        return f"{start} allows bids of at most {limit} {currency}; this operation sets {amount_text}."
    if member == "maxIncreasePercent":
        percent = format_decimal(rule.max_increase_percent or 0)
        return (
            f"{start} allows a budget to grow by {percent} % over its lowest value of the last 24 hours, here to "
            f"{fits} {currency}; this operation sets {amount_text}."
        )
    if member == "currency":
        return (
            f"{start} has amounts in {currency} only, which is not the currency of the account; nothing is converted."
        )
    return f"{start} blocks this action: it refuses {', '.join(rule.blocked_actions)}."


def _describe_room(breach: Breach, period: str) -> str:
    rule = breach.rule
    hours = 0 if rule.per_window is None else rule.per_window.hours
    limit, used, amount_text, fits = (
        _format_words(amount, rule.currency) for amount in (breach.limit, breach.used, breach.amount, breach.fits)
    )
    room = f"room for {limit} {rule.currency} {period} in {hours} hours"
    if fits is None:
        return f"{room}; this operation exposes an amount without an end, which never fits."
    return f"{room}, of which {used} is used; this operation exposes {amount_text}, and {fits} would fit."


def describe_approval(reason: RuleBreach) -> str:
    """Return a sentence that says why a person must execute the operation."""
    name = reason.member.partition(".")[2]
    start = f'A signed-in person must execute this, by the guardrail "{reason.rule}":'
    if reason.asked != "unknown":
        amount_text, limit = (group_digits(amount or "") for amount in (reason.asked, reason.limit))
        return (
            f"{start} it exposes or plans {amount_text} {reason.currency} {PERIOD_WORDS[name]}, which is above {limit}."
        )
    if reason.member == "maxIncreasePercent":
        return f"{start} it is not known by how many percent a budget grows."
    return f"{start} what it {'bids' if reason.member == 'maxBid' else 'can spend'} is not known."


def _format(amount: Amount | None, currency: str | None) -> str | None:
    return None if amount is None else format_amount(amount, currency)


def _format_words(amount: Amount | None, currency: str | None) -> str | None:
    return None if amount is None else group_digits(format_amount(amount, currency))
