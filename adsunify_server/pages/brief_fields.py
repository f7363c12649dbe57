"""The fields of a brief in forms. The networks' tables name them, with their choices and their help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from attrs import frozen

from adsunify.adapter.network import Network
from adsunify.errors import InvalidInput, Issue
from adsunify.values.dates import get_midnight, get_timezone
from adsunify.values.exact_json import Json, dumps, loads

LIST_MEMBERS = (
    *("targeting.countries", "targeting.locationIds", "creative.headlines", "creative.descriptions"),
    "platform.specialAdCategories",
)
"""Members that are lists of texts: the form has one text per line."""
KEYWORDS, MATCHES = "targeting.keywords", ("exact", "phrase", "broad")
JSON_MEMBERS = ("targeting.native", "platform.locale")
"""Members that are objects: the form has them as JSON."""
FLAGS: Mapping[str, Json] = {"true": True, "false": False}
LONG_MEMBERS = (*LIST_MEMBERS, KEYWORDS, *JSON_MEMBERS, "creative.body")
LABELS: Mapping[str, str] = {
    "name": "Name of the campaign",
    "budget.amount": "Budget",
    "budget.period": "Budget is",
    "schedule.startAt": "Start",
    "schedule.endAt": "End",
    "creative.url": "Link",
    "creative.imageUrl": "Address of the picture",
    "creative.existingId": "Id of an existing creative",
    "platform.sku": "SKU",
    "platform.asin": "ASIN",
    "targeting.native": "Targeting in the network's own terms",
    "platform.euPoliticalAdvertising": "EU political advertising",
}
"""The labels of members whose name is not a clear label."""
EXAMPLE_START = timedelta(days=7)
"""The time from now to the example of a start. Some networks accept no start that is years away."""
CHOICE_WORDS: Mapping[str, str] = {"daily": "per day", "lifetime": "in total", "true": "yes", "false": "no"}


@frozen
class BriefField:
    """A field of a form: the path of its member, its choices (empty: free text), its help, and its form."""

    path: str
    choices: tuple[str, ...] = ()
    hint: str = ""
    is_required: bool = False

    @property
    def is_long(self) -> bool:
        """Whether the field has several lines."""
        return self.path in LONG_MEMBERS

    @property
    def label(self) -> str:
        """The words for the member."""
        name = self.path.rpartition(".")[2]
        spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
        return LABELS.get(self.path) or spaced.capitalize()

    def describe_choice(self, choice: str) -> str:
        """Return the words for a choice; codes of networks in capitals stay as they are."""
        return CHOICE_WORDS.get(choice) or (choice if choice == choice.upper() else choice.replace("_", " "))


def list_fields(network: Network, now: datetime, timezone: str | None = None) -> Iterator[BriefField]:
    """Yield the members that a brief of this network may have, as its tables declare them.

    ``timezone``: the time zone of the account, for the example of a start; None if there are several accounts.
    """
    formats = network.formats
    goals = tuple(dict.fromkeys(goal for brief_format in formats for goal in brief_format.goals))
    periods = tuple(dict.fromkeys(period for brief_format in formats for period in brief_format.periods))
    yield BriefField("name", hint="3 to 100 characters", is_required=True)
    yield BriefField("goal", goals, is_required=True)
    yield BriefField("budget.amount", is_required=True)
    yield BriefField("budget.currency", is_required=True)
    yield BriefField("budget.period", periods, is_required=True)
    yield BriefField("schedule.startAt", hint=_describe_start(network, now, timezone), is_required=True)
    rows = [row for brief_format in formats for row in brief_format.inputs if row.requirement != "refused"]
    for path in dict.fromkeys(row.path for row in rows):
        choices = tuple(
            dict.fromkeys(
                choice if isinstance(choice, str) else str(choice).lower()
                for row in rows
                if row.path == path
                for choice in row.choices
            )
        )
        hints = dict.fromkeys(row.accepted_form for row in rows if row.path == path and row.accepted_form)
        form = "one in a line" if path in LIST_MEMBERS else "JSON" if path in JSON_MEMBERS else ""
        form = "one in a line, such as: garden chair | phrase" if path == KEYWORDS else form
        required = [
            row.requirement == "required" for brief_format in formats for row in brief_format.inputs if row.path == path
        ]
        is_required = len(required) >= len(formats) and all(required)
        yield BriefField(
            path, () if path in LONG_MEMBERS else choices, "; ".join(filter(None, (form, *hints))), is_required
        )


def _describe_start(network: Network, now: datetime, timezone: str | None) -> str:
    """Describe an accepted start. Networks that store whole days accept only midnight in the account's zone."""
    day = now.date() + EXAMPLE_START
    if not network.has_whole_days:
        return f"such as {day}T08:00:00Z"
    try:
        zone = get_timezone(timezone or "")
    except InvalidInput:  # accounts keep the time zone that the network sends, which may be unknown here
        return "midnight in the time zone of the account"
    return f"midnight in {zone.key}, such as {get_midnight(day, zone.key).astimezone(zone).isoformat()}"


# -- forms and briefs ---------------------------------------------------------------------------------------------


def build_brief(form: Mapping[str, str]) -> dict[str, Json]:
    """Build a brief from the fields that have a value. ``form`` has only fields of the brief, by path."""
    brief: dict[str, Any] = {}
    for path, text in form.items():
        part, _, member = path.partition(".")
        if not text.strip():
            continue
        if member:
            brief.setdefault(part, {})[member] = _parse_value(path, text.strip())
        else:
            brief[part] = text.strip()
    return brief


def _parse_value(path: str, text: str) -> Json:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if path in LIST_MEMBERS:
        return lines
    if path == KEYWORDS:
        return [_parse_keyword(line) for line in lines]
    if path in JSON_MEMBERS:
        try:
            return loads(text)
        except ValueError:
            return text  # the model reports this text at its path
    return FLAGS.get(text, text) if path == "platform.euPoliticalAdvertising" else text


def _parse_keyword(line: str) -> dict[str, Json]:
    text, bar, match = line.rpartition("|")
    return {"text": text.strip(), "match": match.strip()} if bar and match.strip() in MATCHES else {"text": line}


def format_brief(brief: Mapping[str, Json]) -> dict[str, str]:
    """Return the fields of a form for a brief, by path: what :func:`build_brief` reads."""
    fields: dict[str, str] = {}
    for part, value in brief.items():
        members = (
            {f"{part}.{name}": member for name, member in value.items()} if isinstance(value, dict) else {part: value}
        )
        fields |= {path: _format_value(path, member) for path, member in members.items() if member is not None}
    return fields


def _format_value(path: str, value: Json) -> str:
    if path == KEYWORDS and isinstance(value, list):
        return "\n".join(_format_keyword(keyword) for keyword in value)
    if path in LIST_MEMBERS and isinstance(value, list):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else dumps(value)


def _format_keyword(value: Json) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    text, match = str(value.get("text", "")), value.get("match")
    return text if match is None else f"{text} | {match}"


def sort_issues(issues: Iterable[Issue], fields: Sequence[BriefField]) -> dict[str, list[str]]:
    """Return messages by the path of the field that shows them. Messages without a field have an empty path."""
    sorted_: dict[str, list[str]] = {}
    for issue in issues:
        owner = next((field.path for field in fields if f"{issue.path}.".startswith(f"{field.path}.")), "")
        sorted_.setdefault(owner, []).append(issue.message if owner else f"{issue.path} {issue.message}".strip())
    return sorted_
