"""Writes the generated parts of the documents, from the adapters' tables and the contract table.

``nox -s tables`` runs it; ``tests/docs/test_tables.py`` fails where a document is not as it would be written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Any

from adsunify.answers.tables import DAILY_COLUMNS, DECIMAL_DIGITS, DECIMAL_SCALE, ENTITY_COLUMNS, ColumnKind
from adsunify.contract.access import render_access_matrix
from adsunify.contract.requests import get_credential_sets, list_credential_networks
from adsunify.models.brief import CampaignBrief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.capabilities import render_capability_matrix, render_markdown_table
from adsunify.service.networks import workflows_to_json
from adsunify.testing.faults import FAULTS, find_simulated_networks
from tests.cases.discovery import list_cells, make_minimal_brief

from .errors import write_errors
from .exposures import render_computed_members
from .network_guides import get_guide_writers
from .unverified import render_unverified_facts

ROOT = Path(__file__).parents[2]
BRIEFS = ROOT / "examples" / "briefs"
WIDTH = 120
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
"""Members that no format has a row for, since every brief has them."""
COLUMN_TYPES: Mapping[ColumnKind, tuple[str, str]] = {
    "day": ("`date32`", "`2027-03-01`"),
    "text": ("`utf8`", "text"),
    "count": ("`int64`", "a number"),
    "decimal": (f"`decimal128({DECIMAL_DIGITS}, {DECIMAL_SCALE})`", "text, such as `20.5`"),
}
"""What a column is in Arrow, and in CSV and JSON lines."""
SCHEMA: Mapping[str, Any] = CampaignBrief.model_json_schema()


def replace_block(text: str, name: str, content: str) -> str:
    """Replace the text between ``<!-- name -->`` and ``<!-- end -->``."""
    before, begin, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not (begin and end):
        raise ValueError(f"the document has no block {name!r}")
    return f"{before}{begin}{content}\n{end}{after}"


# -- networks and access ------------------------------------------------------------------------------------------


def write_networks(text: str) -> str:
    """The page of the networks, below its first paragraph."""
    return text[: text.index("\n## ") + 1] + render_capability_matrix() + render_unverified_facts()


def write_access(text: str) -> str:
    """The page of access, from its table on."""
    return text[: text.index("\n| ") + 1] + render_access_matrix()


def write_guardrails(text: str) -> str:
    """The native members from which exposures are computed."""
    return replace_block(text, "native members", f"\n{render_computed_members()}\n")


def write_readme(text: str) -> str:
    """The names of the networks in the README."""
    titles = join_words([get_adapter(code).network.title for code in ADAPTER_PACKAGES])
    sentence = f"Supported networks: {titles}. `adsunify networks` prints what each can do."
    return replace_block(text, "networks", fill(sentence, WIDTH, break_on_hyphens=False))


def write_connecting(text: str) -> str:
    """The credentials of the networks without a consent page."""
    heads = ("network", "`connections.create` takes", "from the environment")
    rows = []
    for network in list_credential_networks():
        sets = [[member.name for member in members] for members in get_credential_sets(network)]
        variables = [[f"ADSUNIFY_{network}_{name}".upper() for name in names] for names in sets]
        rows.append((network, join_alternatives(sets), join_alternatives(variables)))
    return replace_block(text, "credentials", "\n" + "\n".join(render_markdown_table(heads, rows)) + "\n")


def write_deploying(text: str) -> str:
    """The hosts of the networks, which a proxy on the way out must allow."""
    rows = [(code, ", ".join(f"`{host}`" for host in get_adapter(code).network.hosts)) for code in ADAPTER_PACKAGES]
    table = render_markdown_table(("network", "hosts"), rows)
    return replace_block(text, "hosts", "\n" + "\n".join(table) + "\n")


def write_testing(text: str) -> str:
    """The faults of the test kit."""
    heads = ("fault", "arguments", "the network", "executing a write gives", "networks")
    rows = [
        (
            f"`{name}`",
            ", ".join(f"`{argument}` ({least} to {most})" for argument, (least, most) in fault.arguments.items()),
            fault.behaviour,
            fault.result,
            ", ".join(code for code, names in find_simulated_networks().items() if name in names) or "all",
        )
        for name, fault in FAULTS.items()
    ]
    return replace_block(text, "faults", "\n" + "\n".join(render_markdown_table(heads, rows)) + "\n")


def write_insights(text: str) -> str:
    """The columns of tables of figures."""
    heads = ("column", "tables of", "Arrow and Parquet", "CSV and JSON lines")
    rows = [
        (f"`{name}`", "`daily`, `report`" if name in DAILY_COLUMNS else "`report`", *COLUMN_TYPES[kind])
        for name, kind in ENTITY_COLUMNS.items()
    ]
    return replace_block(text, "columns", "\n" + "\n".join(render_markdown_table(heads, rows)) + "\n")


def join_alternatives(sets: Sequence[Sequence[str]]) -> str:
    """``a``, or ``b`` and ``c``."""
    return ", or ".join(join_words([f"`{name}`" for name in names]) for names in sets)


def join_words(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# -- the brief ----------------------------------------------------------------------------------------------------


def write_brief(text: str) -> str:
    """The members of a brief; the last cell of each row is written by hand and stays, and is empty in a new row."""
    explanations = dict(re.findall(r"^\| `([^`]+)` \|.*\| (.*) \|$", text, re.MULTILINE))
    heads = ("member", "required", "form", "networks", "what it is")
    rows = [
        (
            f"`{path}`",
            "yes" if required else "no",
            describe_form(member),
            describe_networks(path),
            explanations.get(path, ""),
        )
        for path, member, required in list_members(SCHEMA)
    ]
    table = re.compile(r"^\| member \|.*?\n(?=\n)", re.MULTILINE | re.DOTALL)
    return table.sub(lambda match: "\n".join(render_markdown_table(heads, rows)) + "\n", text)


def list_members(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Path, schema, and whether it is required within its object."""
    for name, property_schema in schema["properties"].items():
        member, required = resolve(property_schema), name in schema.get("required", ())
        if "properties" in member:
            yield from list_members(member, f"{prefix}{name}.")
            continue
        yield f"{prefix}{name}", member, required
        if member.get("type") == "array" and "properties" in (item := resolve(member["items"])):
            yield from list_members(item, f"{prefix}{name}[].")


def resolve(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def describe_form(schema: Mapping[str, Any]) -> str:
    """The limits of a member in words."""
    if schema["type"] == "array":
        item, least, most = resolve(schema["items"]), schema.get("minItems"), schema["maxItems"]
        each = f", each {describe_form(item)}" if "properties" not in item else ""
        return f"list of {least} to {most}{each}" if least else f"list of at most {most}{each}"
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if "pattern" in schema:
        return next(form for example, form in FORMS.items() if re.search(schema["pattern"], example))
    if "maxLength" in schema:
        return f"{schema['minLength']} to {schema['maxLength']} characters"
    return "text" if schema["type"] == "string" else str(schema["type"])


def describe_networks(path: str) -> str:
    """Which networks take a member; the tables name a list or an object as a whole."""
    wholes = {path, path.partition("[]")[0], path.rpartition(".")[0]}
    taking = [
        code
        for code in ADAPTER_PACKAGES
        if any(
            row.path in wholes and row.requirement != "refused"
            for form in get_adapter(code).network.formats
            for row in form.inputs
        )
    ]
    return "all" if path in ALWAYS or len(taking) == len(ADAPTER_PACKAGES) else ", ".join(taking)


# -- all of them --------------------------------------------------------------------------------------------------

DOCUMENTS: Mapping[str, Callable[[str], str]] = {
    "README.md": write_readme,
    "docs/access.md": write_access,
    "docs/brief.md": write_brief,
    "docs/connecting.md": write_connecting,
    "docs/deploying.md": write_deploying,
    "docs/errors.md": write_errors,
    "docs/guardrails.md": write_guardrails,
    "docs/insights.md": write_insights,
    "docs/networks.md": write_networks,
    **get_guide_writers(),
    "docs/testing.md": write_testing,
}
"""Each document with generated parts, and what writes it again from its text."""


def list_missing_briefs() -> Iterator[tuple[Path, dict[str, Any]]]:
    """The example briefs that are not there, each with the least that its format requires. Others stay as they are."""
    workflows = [row for code in ADAPTER_PACKAGES for row in workflows_to_json(get_adapter(code).network)]
    for cell in chain.from_iterable(map(list_cells, workflows)):
        path = BRIEFS / f"{cell.id}.json"
        if not path.exists():
            yield path, make_minimal_brief(cell, "USD")


def main() -> None:
    """Write all documents and the missing example briefs, and say which changed."""
    for name, write in DOCUMENTS.items():
        path = ROOT / name
        before = path.read_text() if path.exists() else ""
        if (after := write(before)) != before:
            path.write_text(after)
            print(f"wrote {name}")
    for path, example in list_missing_briefs():
        path.write_text(json.dumps(example, indent=2) + "\n")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
