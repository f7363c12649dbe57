"""Checks a brief against the tables of a network, before anything is planned or stored.

Each issue names the network, the member, the reason and what would be accepted. All issues are reported at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from attrs import frozen
from pydantic.alias_generators import to_camel

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.formats import Format, Input
from adsunify.adapter.native_money import to_native_units
from adsunify.adapter.network import Network
from adsunify.errors import InvalidInput, Issue
from adsunify.models.brief import INHERITED_MESSAGE, CampaignBrief, Creative, Platform, Targeting, read_brief
from adsunify.values.countries import parse_country_code, require_country_code
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import parse_start_day
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import split_pointer

_PATHS_BY_PART: Mapping[str, Mapping[str, str]] = {
    part: {name: f"{part}.{to_camel(name)}" for name in model.model_fields}
    for part, model in (("targeting", Targeting), ("creative", Creative), ("platform", Platform))
}
"""Part of a brief whose members are all optional -> its members -> the path of each member."""
OPTIONAL_MEMBERS = ("bid", "schedule.endAt", *(path for paths in _PATHS_BY_PART.values() for path in paths.values()))
"""The paths of the optional members of a brief, to which a format's ``inputs`` refer. All others are required."""

EXISTING_CREATIVE_PATH, NATIVE_TARGETING_PATH = "creative.existingId", "targeting.native"


def deny_political_ads(reason: str = "it has no such declaration") -> Input:
    """Return the row for networks without a declaration of political ads. It accepts ``false`` and refuses ``true``."""
    return Input("platform.euPoliticalAdvertising", "optional", choices=(False,), reason=f"true is refused: {reason}")


def collect_given_members(brief: CampaignBrief) -> dict[str, Any]:
    """Return the optional members that the brief has, by path. Empty lists and objects count as absent."""
    members: dict[str, Any] = {}
    if brief.bid is not None:
        members["bid"] = brief.bid
    if brief.schedule.end_at is not None:
        members["schedule.endAt"] = brief.schedule.end_at
    for part, paths in _PATHS_BY_PART.items():
        for name, value in vars(getattr(brief, part)).items():
            if value or value is False:
                members[paths[name]] = value
    return members


def check_brief(network: Network, account: Account, brief: CampaignBrief, now: datetime | None = None) -> Format:
    """Check a brief and return its format. If ``now`` is None its times are not compared with the present.

    Raises:
        InvalidInput: the network cannot carry out the brief; the error holds all issues.
    """
    members = collect_given_members(brief)
    chosen = select_format(network, members)
    issues = [
        *_check_goal_and_period(network, chosen, brief),
        *_check_inputs(network, chosen, account, brief, members),
        *_check_money(network, chosen, account, brief),
        *_check_dates(network, brief, now),
        *_check_countries(network, brief),
    ]
    if not issues:
        for rule in chosen.rules:
            issues.extend(rule(account, brief, now))
    elif not any(issue.code == "required" or issue.path.startswith(_PREFIXES_READ_BY_RULES) for issue in issues):
        reported_paths = {issue.path for issue in issues}
        issues += [
            rule_issue
            for rule_issue in _check_rules(chosen, account, brief, now)
            if rule_issue.path not in reported_paths
        ]
    if issues:
        raise InvalidInput(issues)
    return chosen


_PREFIXES_READ_BY_RULES = ("goal", "budget", "account")
"""The first names of the members that the rules of formats read without a check."""


def _check_rules(chosen: Format, account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """Yield the issues of the rules for a brief that already has issues.

    A rule that fails because of a refused member is skipped.
    """
    for rule in chosen.rules:
        try:
            yield from rule(account, brief, now)
        except InvalidInput as problem:
            yield from problem.issues
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            continue


def check_partial_brief(
    network: Network, account: Account, campaign: Mapping[str, Any], issue_paths: Iterable[str], now: datetime | None
) -> list[Issue]:
    """Return a network's issues for the valid members of a refused brief.

    ``issue_paths`` are the paths of the invalid members.
    """
    members = {_truncate_path(path) for path in issue_paths}
    if "" in members or "goal" in members:
        return []
    period = network.formats[0].periods[0]
    stand_in: dict[str, Any] = {
        "name": "Campaign",
        "budget": {"amount": "1", "currency": account.currency or "XXX", "period": period},
        "schedule": {"startAt": "2030-01-01T00:00:00Z"},
        "targeting": {},
        "creative": {},
    }
    accepted_parts: dict[str, Any] = {}
    for part, value in campaign.items():
        if part in members:
            continue
        if isinstance(value, Mapping):
            value = {name: member_value for name, member_value in value.items() if f"{part}.{name}" not in members}
            value = {**stand_in[part], **value} if part in ("budget", "schedule") else value
        accepted_parts[part] = value
    try:
        check_brief(network, account, read_brief(stand_in | accepted_parts), now)
    except InvalidInput as problem:
        parts = {member.partition(".")[0] for member in members}
        return [
            issue
            for issue in problem.issues
            if not {_truncate_path(issue.path), issue.path.partition(".")[0]} & members
            and not (issue.path.partition(".")[0] in parts and issue.code in ("required", "order", "too_short"))
        ]
    return []


def _truncate_path(path: str) -> str:
    """Return the first two names of a path, which name a member of the brief."""
    return ".".join(path.split(".")[:2])


def select_format(network: Network, members: Mapping[str, Any]) -> Format:
    """Return the only format that matches the members. If none matches, the first format is used to report issues.

    Raises:
        ValueError: two formats match, which is a defect of the tables.
    """
    fitting = [candidate for candidate in network.formats if candidate.is_match(members)]
    if len(fitting) > 1:
        raise ValueError(f"{network.code}: a brief is {fitting[0].code} and {fitting[1].code} at once")
    return fitting[0] if fitting else network.formats[0]


def _check_goal_and_period(network: Network, chosen: Format, brief: CampaignBrief) -> Iterator[Issue]:
    if brief.goal not in chosen.goals:
        goals = ", ".join(chosen.goals)
        yield Issue("goal", "not_supported", f"{network.title} ({chosen.title}) takes these goals: {goals}.")
    if brief.budget.period not in chosen.periods:
        periods = ", ".join(chosen.periods)
        yield Issue("budget.period", "not_supported", f"{network.title} takes these budget periods: {periods}.")


@frozen
class ApplicableInputs:
    """The rows of a format that apply to a goal, a period and a kind of account: one row for each path."""

    inputs_by_path: Mapping[str, Input]
    required_paths: tuple[str, ...]
    path_groups: tuple[tuple[str, ...], ...]


def select_applicable_inputs(chosen: Format, goal: str, period: str, account: Account) -> ApplicableInputs:
    """Return the rows that apply to this goal, period and account: the first one of each path."""
    return _select_applicable_inputs(
        chosen, goal, period, tuple([unless(account) for unless in _list_exemptions(chosen)])
    )


@lru_cache(1024)
def _list_exemptions(chosen: Format) -> tuple[Callable[[Account], bool], ...]:
    return tuple(dict.fromkeys(row.is_exempt for row in chosen.inputs if row.is_exempt is not None))


@lru_cache(1024)
def _select_applicable_inputs(chosen: Format, goal: str, period: str, hold: tuple[bool, ...]) -> ApplicableInputs:
    """Select the rows. ``hold``: for each exemption of the format, whether it applies. The result is cached."""
    true = dict(zip(_list_exemptions(chosen), hold, strict=True))
    rows: dict[str, Input] = {}
    for row in chosen.inputs:
        fits = (not row.goals or goal in row.goals) and (not row.periods or period in row.periods)
        if fits and (row.is_exempt is None or not true[row.is_exempt]):
            rows.setdefault(row.path, row)
    groups: dict[str, list[str]] = {}
    for path, row in rows.items():
        if row.requirement in ("one", "any"):
            groups.setdefault(row.group, []).append(path)
    required = tuple(path for path, row in rows.items() if row.requirement == "required")
    return ApplicableInputs(rows, required, tuple(map(tuple, groups.values())))


def _check_inputs(
    network: Network, chosen: Format, account: Account, brief: CampaignBrief, members: Mapping[str, Any]
) -> Iterator[Issue]:
    table = select_applicable_inputs(chosen, brief.goal, brief.budget.period, account)
    rows = table.inputs_by_path
    for path in table.required_paths:
        if path not in members:
            yield Issue(
                path, "required", _format_sentence(f"{network.title} ({chosen.title}) needs {path}", rows[path])
            )
    for paths in table.path_groups:
        given_paths = [path for path in paths if path in members]
        row = rows[paths[0]]
        if not given_paths:
            quantity = "exactly one of" if row.requirement == "one" and len(paths) > 1 else "at least one of"
            needed = paths[0] if len(paths) == 1 else f"{quantity} {', '.join(paths)}"
            yield Issue(paths[0], "required", _format_sentence(f"{network.title} ({chosen.title}) needs {needed}", row))
        elif row.requirement == "one" and len(given_paths) > 1:
            yield Issue(given_paths[1], "conflict", f"{network.title} takes exactly one of {', '.join(paths)}.")
    for path, value in members.items():
        input_row = rows.get(path)
        if input_row is None or input_row.requirement == "refused":
            if path.startswith("creative.") and EXISTING_CREATIVE_PATH in members and path != EXISTING_CREATIVE_PATH:
                yield Issue(path, "conflict", INHERITED_MESSAGE)
                continue
            reason = (
                input_row.reason
                if input_row is not None and input_row.reason
                else _describe_accepted_members(rows, path)
            )
            yield Issue(path, "not_supported", f"{network.title} ({chosen.title}) does not take {path}: {reason}.")
        elif input_row.choices and any(
            choice not in input_row.choices for choice in (value if _is_list(value) else (value,))
        ):
            accepted = ", ".join(
                choice if isinstance(choice, str) else str(choice).lower() for choice in input_row.choices
            )
            explanation = f" ({input_row.reason})" if input_row.reason else ""
            code = "not_supported" if input_row.reason else "choice"
            yield Issue(path, code, f"{network.title} takes these values for {path}: {accepted}{explanation}.")
        elif path == NATIVE_TARGETING_PATH and (empty := list(_check_native_geography(network, value))):
            yield from empty
        elif input_row.find_error is not None and (wrong := input_row.find_error(value)) is not None:
            yield Issue(path, "invalid", _format_sentence(f"{network.title}: {wrong}", input_row))


def _check_native_geography(network: Network, native: Json) -> Iterator[Issue]:
    """Yield an issue for each empty value in the geographic members of a native targeting."""
    paths: list[str] = []
    for pointer in network.geographies:
        _collect_empty_paths(native, split_pointer(pointer), NATIVE_TARGETING_PATH, paths)
    for path in paths:
        message = (
            f"must not be empty: {network.title} would serve everywhere, or refuse a later step after the campaign"
            " exists. Name at least one place."
        )
        yield Issue(path, "too_few", message)


def _collect_empty_paths(value: Json, names: Sequence[str], path: str, paths: list[str]) -> None:
    """Append the paths of the empty values at and below the pointer ``names`` to ``paths``."""
    if not names and (value is None or value in ("", [], {})):
        paths.append(path)
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        is_text = isinstance(member, str) and member != ""  # most values are such texts, and need no search
        if not is_text and (not names or names[0] in (name, "*")):
            _collect_empty_paths(member, names[1:], f"{path}.{name}", paths)


def _describe_accepted_members(rows: Mapping[str, Input], path: str) -> str:
    """Describe what the network accepts instead of a member that no row mentions."""
    part = path.partition(".")[0]
    if part not in _PATHS_BY_PART:
        return "it has no member for it"
    part_rows = {other: row for other, row in rows.items() if other.startswith(f"{part}.")}
    accepted_paths = [
        other for other, row in part_rows.items() if row.requirement != "refused" and row.choices != (False,)
    ]
    return f"it takes {', '.join(accepted_paths)}" if accepted_paths else f"it takes nothing of {part}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _format_sentence(start: str, row: Input) -> str:
    return start + (f" ({row.accepted_form})" if row.accepted_form else "") + "."


def _check_money(network: Network, chosen: Format, account: Account, brief: CampaignBrief) -> Iterator[Issue]:
    try:
        currency = require_currency(account)
        unit = network.get_money_unit(account)
    except InvalidInput as problem:
        yield from problem.issues
        return
    if brief.budget.currency != currency:
        yield Issue("budget.currency", "currency_mismatch", f"The account counts in {currency}; no conversion is made.")
        return
    amounts = [("budget.amount", brief.budget.amount)]
    if brief.bid is not None and (brief.goal in chosen.bid_meanings or brief.goal not in chosen.goals):
        amounts.append(("bid", brief.bid))
    for path, amount in amounts:
        try:
            to_native_units(unit, amount, path)
        except InvalidInput as problem:
            yield from (
                Issue(path, issue.code, f"{network.title}, {currency}: {issue.message}") for issue in problem.issues
            )


def check_start_is_midnight(network: str, brief: CampaignBrief, timezone: str) -> Iterator[Issue]:
    """Yield an issue if the start is not a midnight, for networks that store whole local days.

    A campaign that started at the midnight before would spend money too early.
    """
    try:
        parse_start_day(brief.schedule.start_at, "schedule.startAt", network, timezone)
    except InvalidInput as problem:
        yield from problem.issues


def _check_countries(network: Network, brief: CampaignBrief) -> Iterator[Issue]:
    codes = [(f"targeting.countries.{at}", code) for at, code in enumerate(brief.targeting.countries or ())]
    if brief.targeting.location_ids:
        types = _list_location_types(network)
        for at, location in enumerate(brief.targeting.location_ids):
            if types and all(type_of(location) == "country" for type_of in types):
                codes.append((f"targeting.locationIds.{at}", parse_country_code(location)))
    for path, code in codes:
        try:
            require_country_code(code, path, network.other_countries)
        except InvalidInput as problem:
            yield from problem.issues


@cache
def _list_location_types(network: Network) -> tuple[Callable[[str], str | None], ...]:
    """Return the functions that read the type of a location from its id."""
    return tuple(
        [
            editable.parse_type
            for editable in network.edits
            if editable.path == "targeting.locations" and editable.parse_type is not None
        ]
    )


def collect_minor_unit_warnings(network: str, account: Account, brief: CampaignBrief) -> Iterator[str]:
    """Yield a warning for each amount with more digits than its currency has, if the network can store the amount."""
    currency = require_currency(account)
    digits = get_exponent(currency, "account.currency")
    for name, amount in (("budget", brief.budget.amount), ("bid", brief.bid or "")):
        if len(amount.partition(".")[2].rstrip("0")) > digits:
            yield f"The {name} is finer than the smallest coin of {currency}; {network} may refuse it."


def _check_dates(network: Network, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    schedule = brief.schedule
    if network.time is not None:
        for path, text, moment in (
            ("schedule.startAt", schedule.start_at, schedule.start),
            ("schedule.endAt", schedule.end_at, schedule.end),
        ):
            try:
                if text is not None and moment is not None:
                    network.time.check_moment(moment, text, path, network.title)
            except InvalidInput as problem:
                yield from problem.issues
    if schedule.end is not None and now is not None and schedule.end <= now:
        yield Issue("schedule.endAt", "past", "The end lies in the past.")
