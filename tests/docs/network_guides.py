"""Writes the guide of each network, ``docs/networks/CODE.md``, from its tables.

The sections that no table knows are in ``guide.md`` of the adapter. They are written by hand, from the sources that
``native.py`` of the adapter or the section itself names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.resources import files

from adsunify.adapter.network import Network
from adsunify.contract.requests import get_credential_sets
from adsunify.networks.registry import ADAPTER_PACKAGES, find_built_in_packages, get_adapter
from adsunify.proving.unverified import list_facts
from adsunify.review.capabilities import LOGIN_NAMES, MatrixTable, build_sections, render_markdown_table

FROM_MATRIX = ("Formats", "Levels", "Editable fields", "Locked fields")
"""The sections of docs/networks.md of which a guide shows the rows of its network."""
FIRST_HEADINGS = ("Review by the network", "What a token can do", "Limits of the network")
"""The sections of ``guide.md`` that follow "Connecting"."""
FIGURES_HEADING = "Figures by level"
"""The section of ``guide.md`` for a network that reports below the account."""
LAST_HEADINGS = (FIGURES_HEADING, "Finding a write again")
"""The sections of ``guide.md`` that end the guide."""
EVERY_GOAL = ("traffic", "awareness", "conversions", "app_installs")


def get_guide_writers() -> Mapping[str, Callable[[str], str]]:
    """Return the path of each guide, and the function that writes it."""
    return {f"docs/networks/{code}.md": partial(write_guide, code) for code in find_built_in_packages()}


def write_guide(code: str, text: str) -> str:
    """Return the guide of a network. ``text``, its present text, has nothing that is written by hand."""
    network = get_adapter(code).network
    sections = read_sections(code)
    parts = [
        f"# {network.title}",
        f"The adapter `{code}` uses version {network.version} of the network's interface{describe_end(network)}.",
        "## Connecting",
        *describe_login(network),
        *(sections[heading] for heading in FIRST_HEADINGS if heading in sections),
        *list_matrix_sections(code),
        "## What the adapter cannot do",
        "\n".join(f"- {sentence}" for sentence in list_limits(network)),
        *describe_notes(network),
        "## Money",
        network.money_note or "Native amounts are in major units of the account's currency.",
        "## Reports",
        *describe_reports(network),
        *describe_catalogs(network),
        *describe_extras(network),
        *describe_unverified(code),
        "## Sources",
        describe_sources(code),
        *(sections[heading] for heading in LAST_HEADINGS if heading in sections),
    ]
    return "\n\n".join(parts) + "\n"


def read_sections(code: str) -> Mapping[str, str]:
    """Return the sections of ``guide.md`` of an adapter by their headings; none if the file is missing."""
    path = files(ADAPTER_PACKAGES[code]) / "guide.md"
    text = path.read_text() if path.is_file() else ""
    sections = [section.strip() for section in re.split(r"^(?=## )", text, flags=re.MULTILINE) if section.strip()]
    return {section.partition("\n")[0].removeprefix("## "): section for section in sections}


def list_required_headings(network: Network) -> list[str]:
    """Return the headings that ``guide.md`` of a network must have."""
    return [name for name in (*FIRST_HEADINGS, *LAST_HEADINGS) if name != FIGURES_HEADING or network.report_levels]


def describe_end(network: Network) -> str:
    if network.sunset is None:
        return ""
    kind = "projected" if network.sunset.is_projected else "announced"
    return f". Its {kind} sunset is {network.sunset.day}. {network.sunset.basis.removesuffix('.')}"


def describe_login(network: Network) -> Iterator[str]:
    login, code = network.login, network.code
    if login.kind == "credentials":
        sets = [
            " and ".join(f"`{member.name}` ({member.label})" for member in members)
            for members in get_credential_sets(code)
        ]
        yield (
            f"{network.title} has no consent page. `adsunify connect {code}` asks for {', or '.join(sets)}. "
            "[Connecting networks](../connecting.md#without-a-server) shows how a program gives them."
        )
    else:
        yield (
            f"The login is {LOGIN_NAMES[login.kind]}. Register an application at the network, and set "
            f"`ADSUNIFY_{code.upper()}_CLIENT_ID` and `ADSUNIFY_{code.upper()}_CLIENT_SECRET`. Register the redirect "
            f"address `BASE_URL/connect/callback/{code}` for a server, or "
            f"`http://127.0.0.1:PORT/connect/callback/{code}` for your own machine "
            "([Connecting networks](../connecting.md))."
        )
        scopes = ", ".join(f"`{scope}`" for scope in login.scopes)
        yield (
            f"The consent page asks for these permissions: {scopes}."
            if scopes
            else "No permission is requested by name."
        )
    if login.note:
        yield login.note


def list_matrix_sections(code: str) -> Iterator[str]:
    for heading, under in build_sections():
        for part in under if heading in FROM_MATRIX else ():
            if isinstance(part, MatrixTable) and (
                rows := [[*map(escape, row[1:])] for row in part.rows if row[0] == code]
            ):
                yield f"## {heading}"
                yield "\n".join(render_markdown_table(part.headings[1:], rows))


def list_limits(network: Network) -> Iterator[str]:
    goals = {goal for format_ in network.formats for goal in format_.goals}
    if missing := [goal for goal in EVERY_GOAL if goal not in goals]:
        yield (
            f"A brief cannot have the goals {', '.join(missing)}."
            if missing[1:]
            else f"A brief cannot have the goal {missing[0]}."
        )
    if len({period for format_ in network.formats for period in format_.periods}) == 1:
        yield f"A brief can only have a {network.formats[0].periods[0]} budget."
    refused: dict[str, list[str]] = {}
    for row in (row for format_ in network.formats for row in format_.inputs):
        if row.requirement == "refused" and row.reason and row.path not in refused.setdefault(row.reason, []):
            refused[row.reason].append(row.path)
    for reason, paths in refused.items():
        yield f"{', '.join(f'`{path}`' for path in paths)}: refused, because {escape(reason.rstrip('.'))}."
    if network.has_whole_days:
        yield "A schedule has whole days: a start must be a midnight in the account's time zone."


def escape(text: str) -> str:
    """Return a text of the tables, in which a placeholder such as ``<facet>`` is no HTML."""
    return text.replace("<", "\\<")


def describe_notes(network: Network) -> Iterator[str]:
    if network.notes:
        yield "## Notes"
        yield "\n".join(f"- {escape(note)}" for note in network.notes)


def describe_reports(network: Network) -> Iterator[str]:
    yield (
        "The network prepares a report first, and `client.insights.daily` waits for it."
        if network.has_report_jobs
        else "The network answers a report at once."
    )
    if (history := network.history) is not None:
        length = f"{history.days} days" if history.days else f"{history.months} months"
        yield f"It reports by days for the last {length}."
    rows = [(f"`{metric.name}`", f"`{metric.native}`", escape(metric.note)) for metric in network.metrics]
    yield "\n".join(render_markdown_table(("metric", "native", "note"), rows))


def describe_catalogs(network: Network) -> Iterator[str]:
    if network.catalogs:
        yield "## Catalogs"
        yield "`client.accounts.catalog(account, NAME)` lists their rows."
        rows = [(f"`{catalog.resource}`", escape(catalog.note)) for catalog in network.catalogs]
        yield "\n".join(render_markdown_table(("catalog", "note"), rows))


def describe_extras(network: Network) -> Iterator[str]:
    if network.extras:
        yield "## Facts of an account"
        yield "They are read when the account is connected. An admin can set those that are marked."
        rows = [
            (f"`{extra.name}`", "yes" if extra.is_settable else "no", escape(extra.meaning)) for extra in network.extras
        ]
        yield "\n".join(render_markdown_table(("fact", "can be set", "meaning"), rows))


def describe_unverified(code: str) -> Iterator[str]:
    facts = [fact for network, _, fact in list_facts() if network == code]
    if facts:
        yield "## Unverified facts"
        yield "No source of the network confirms these facts, which the adapter assumes."
        yield "\n".join(f"- {fact}" for fact in facts)


def describe_sources(code: str) -> str:
    """Return the paragraph of the adapter's ``native.py`` that names the sources with their dates."""
    description = inspect.getdoc(import_module(f"{find_built_in_packages()[code]}.native")) or ""
    paragraph = next((part for part in description.split("\n\n") if part.startswith("Sources")), None)
    if paragraph is None:
        raise ValueError(f"{code}/native.py: its docstring needs a paragraph that begins with Sources")
    return paragraph.replace("``", "`")
