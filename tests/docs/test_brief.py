"""The page on the brief has every member of it, with the limits that the model holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.networks import ADAPTER_PACKAGES, get_adapter

PAGE = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
SCHEMA: Mapping[str, Any] = CampaignBrief.model_json_schema()
FORMS = {
    "20.50": "decimal text",
    "USD": "three capital letters",
    "US": "two capital letters",
    "en": "two small letters",
    "2030-03-01T08:00:00Z": "ISO 8601 instant",
    "https://shop.example/a": "address",
}
"""An example of each form that a text may have: the first that fits says which form it is."""
ALWAYS = ("name", "goal", "budget.amount", "budget.currency", "budget.period", "schedule.startAt")
"""What the tables say nothing of, since every brief has it."""


def resolved(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return SCHEMA["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one


def members(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Path, schema, and whether it is required within its object."""
    for name, written in schema["properties"].items():
        one, required = resolved(written), name in schema.get("required", ())
        if "properties" in one:
            yield from members(one, f"{prefix}{name}.")
            continue
        yield f"{prefix}{name}", one, required
        if one.get("type") == "array" and "properties" in (item := resolved(one["items"])):
            yield from members(item, f"{prefix}{name}[].")


def words(one: Mapping[str, Any]) -> str:
    """The limits of a member in words."""
    if one["type"] == "array":
        item, least, most = resolved(one["items"]), one.get("minItems"), one["maxItems"]
        each = f", each {words(item)}" if "properties" not in item else ""
        return f"list of {least} to {most}{each}" if least else f"list of at most {most}{each}"
    if "enum" in one:
        return ", ".join(f"`{choice}`" for choice in one["enum"])
    if "pattern" in one:
        return next(form for example, form in FORMS.items() if re.search(one["pattern"], example))
    if "maxLength" in one:
        return f"{one['minLength']} to {one['maxLength']} characters"
    return "text" if one["type"] == "string" else one["type"]


def networks(path: str) -> str:
    """Which networks take a member; the tables name a list or an object as a whole."""
    wholes = {path, path.partition("[]")[0], path.rpartition(".")[0]}
    taking = [
        code
        for code in ADAPTER_PACKAGES
        if any(
            row.path in wholes and row.requirement != "refused"
            for one in get_adapter(code).network.formats
            for row in one.inputs
        )
    ]
    always = path in ALWAYS or len(taking) == len(ADAPTER_PACKAGES)
    return "all" if always else ", ".join(taking)


def test_every_member_stands_with_its_limits() -> None:
    rows = re.findall(r"^\| `([\w.\[\]]+)` \| (yes|no) \| ([^|]+) \| ([^|]+) \|", PAGE, re.MULTILINE)
    wanted = [
        (path, "yes" if required else "no", words(one), networks(path)) for path, one, required in members(SCHEMA)
    ]
    assert rows == wanted


def test_the_example_is_a_brief() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert read_brief(example).name == json.loads(example)["name"]
