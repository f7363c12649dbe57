"""The form of a launch: its fields for the chosen networks, and the document that it makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, frozen

from adsunify.adapter.network import Network
from adsunify.errors import Issue
from adsunify.launches.cells import IDS_OF_ONE_NETWORK
from adsunify.values.exact_json import Json
from adsunify_server.pages.brief_fields import BriefField, build_brief, list_fields, sort_issues

SHARED, OWN = "campaign.", "networks."
"""The prefixes of field names: for the shared brief, and for the parts of single networks."""
NEVER_SHARED = {".".join(path) for path in IDS_OF_ONE_NETWORK}
NEVER_LEFT_OUT = ("platform.specialAdCategories",)
"""A cell is refused if its network does not accept this member, so only a network's own part has it."""
NAME_TEMPLATE = "{launch}"
SPLITS = (("each", "for each account"), ("even", "in total, divided evenly among the accounts"))


@frozen
class LaunchFields:
    """The fields of the form. ``own`` has the fields of single networks, by code."""

    shared: Sequence[BriefField]
    own: Mapping[str, Sequence[BriefField]]


def list_launch_fields(networks: Sequence[Network], now: datetime) -> LaunchFields:
    """List the fields for networks.

    Shared fields are accepted by all networks, or are left out for the networks that do not accept them.
    """
    by_network = {network.code: {field.path: field for field in list_fields(network, now)} for network in networks}
    titles = {network.code: network.title for network in networks}
    shared: list[BriefField] = []
    own: dict[str, list[BriefField]] = {network.code: [] for network in networks}
    for path in dict.fromkeys(path for fields in by_network.values() for path in fields if path != "name"):
        takers = {code: fields[path] for code, fields in by_network.items() if path in fields}
        if _is_shared(path, len(takers), len(networks)):
            shared.append(_merge_fields(takers, titles))
        else:
            for code, field in takers.items():
                own[code].append(field)
    return LaunchFields(shared, {code: fields for code, fields in own.items() if fields})


def _is_shared(path: str, takers: int, networks: int) -> bool:
    if networks == 1:
        return True
    if path in NEVER_SHARED:
        return False
    is_left_out = path.startswith(("creative.", "platform.")) and path not in NEVER_LEFT_OUT
    return takers == networks or (is_left_out and takers > 1)


def _merge_fields(takers: Mapping[str, BriefField], titles: Mapping[str, str]) -> BriefField:
    """Merge the fields of several networks for one path."""
    fields = [*takers.values()]
    is_free = any(not field.choices for field in fields)
    choices = dict.fromkeys(choice for field in fields for choice in field.choices)
    only = "" if len(takers) == len(titles) else f"only {', '.join(titles[code] for code in takers)}"
    hint = "; ".join(filter(None, (fields[0].hint, only)))
    is_required = len(takers) == len(titles) and all(field.is_required for field in fields)
    return evolve(fields[0], choices=() if is_free else tuple(choices), hint=hint, is_required=is_required)


def build_document(form: Mapping[str, str], accounts: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Build a launch from the form. ``accounts`` are the ticked accounts."""
    shared = build_brief(_select(form, SHARED))
    budget = shared.get("budget")
    if form.get("split") == "even" and budget:
        shared["budget"] = {"split": {**budget, "by": "even"}}
    codes = dict.fromkeys(account["network"] for account in accounts)
    own = {code: part for code in codes if (part := build_brief(_select(form, f"{OWN}{code}.")))}
    document: dict[str, Json] = {"name": form.get("name", "").strip()}
    if template := form.get("nameTemplate", "").strip():
        document["nameTemplate"] = template
    if parameters := _parse_parameters(form.get("urlParameters", "")):
        document["urlParameters"] = parameters
    document["campaign"] = {"targeting": {}, "creative": {}, **shared}
    if own:
        document["networks"] = own
    document["accounts"] = [{"accountId": account["accountId"]} for account in accounts]
    return document


def _select(form: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}


def _parse_parameters(text: str) -> dict[str, Json]:
    pairs = [line.partition("=") for line in text.splitlines() if line.strip()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def place_issues(
    issues: Iterable[Issue], fields: LaunchFields, accounts: Sequence[Mapping[str, Any]], titles: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return messages by the name of the field that shows them. Messages without a field have an empty name."""
    placed: dict[str, list[str]] = {}
    for issue in issues:
        code, path = _find_place(issue.path, accounts)
        name, message = _find_field(issue._replace(path=path), code, fields)
        text = f"{titles[code]}: {message}" if code is not None and not name.startswith(OWN) else message
        texts = placed.setdefault(name, [])
        if text not in texts:
            texts.append(text)
    return placed


def _find_place(path: str, accounts: Sequence[Mapping[str, Any]]) -> tuple[str | None, str]:
    """Return the network whose brief contains the member at a path of a launch, and its path in the brief."""
    parts = path.split(".")
    if parts[0] == "accounts" and len(parts) > 3 and parts[2] == "campaign":
        return accounts[int(parts[1])]["network"], ".".join(parts[3:])
    if parts[0] == "networks" and len(parts) > 2:
        return parts[1], ".".join(parts[2:])
    return None, path.removeprefix(SHARED).replace("budget.split.", "budget.")


def _find_field(issue: Issue, code: str | None, fields: LaunchFields) -> tuple[str, str]:
    """Return the name of the field that shows an issue, and the message; the name is empty if no field does."""
    for prefix, form_fields in ((f"{OWN}{code}.", fields.own.get(code or "", ())), (SHARED, fields.shared)):
        ((owner, (message,)),) = sort_issues([issue], form_fields).items()
        if owner:
            return f"{prefix}{owner}", message
    whole = issue.path.partition(".")[0]
    if whole in ("name", "nameTemplate", "urlParameters"):
        return whole, issue.message
    return "", f"{issue.path} {issue.message}".strip()
