"""The support matrix: the capabilities of each network, computed from the adapters' tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import frozen

from adsunify.adapter.formats import Format
from adsunify.adapter.network import Level, Network, Sunset
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

LOGIN_NAMES = {"oauth2": "OAuth 2.0", "oauth1": "OAuth 1.0a", "credentials": "credentials"}
LOGIN_TEXT = (
    "How accounts are connected. With OAuth, an application of yours needs these permissions (scopes) at the network;\n"
    "the consent page asks for them."
)
LEVELS_TEXT = "The status of a new entity, and the statuses that can be set; an empty cell means that it cannot be set."
EDITABLE_FIELDS_TEXT = (
    "The `fields` that an edit can change. A field may be locked on some entities: a budget that belongs to the\n"
    "campaign, a start that has passed, an archived entity. The entity's settings show the lock with its reason."
)
LOCKED_FIELDS_TEXT = "Further fields that the settings show and that no edit can change."


@frozen
class MatrixTable:
    """A table of the matrix."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def build_sections() -> Iterator[tuple[str, Sequence[str | MatrixTable]]]:
    """Yield each heading of the matrix with its paragraphs and tables."""
    networks = [get_adapter(code).network for code in ADAPTER_PACKAGES]
    count = sum(_count_combinations(network) for network in networks)

    def grid(rows: Callable[[Iterable[Network]], Iterable[Sequence[str]]], *heads: str) -> MatrixTable:
        return MatrixTable(("network", *heads), list(rows(networks)))

    combinations = f"{count} combinations of format, goal and budget period."
    yield "Formats", (grid(_list_formats, "format", "goals", "budget periods", "required"), combinations)
    yield "Interfaces", (grid(_list_interfaces, "interface", "sunset", "login", "reports", "levels"),)
    yield "Logins", (LOGIN_TEXT, grid(_list_logins, "login", "permissions", "note"))
    yield "Levels", (LEVELS_TEXT, grid(_list_levels, "level", "native", "created", "active", "paused", "note"))
    yield "Editable fields", (EDITABLE_FIELDS_TEXT, grid(_list_editable_fields, "level", "fields"))
    yield "Locked fields", (LOCKED_FIELDS_TEXT, grid(_list_locked_fields, "level", "fields", "reason"))
    yield "Metrics and catalogs", (grid(_list_metrics_and_catalogs, "metrics", "catalogs"),)


def render_capability_matrix() -> str:
    """Render the whole matrix as Markdown."""
    blocks: list[str] = []
    for heading, under in build_sections():
        blocks.append(f"## {heading}")
        blocks += [
            "\n".join(render_markdown_table(part.headings, part.rows)) if isinstance(part, MatrixTable) else part
            for part in under
        ]
    return "\n\n".join(blocks) + "\n"


def render_markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _list_formats(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        for format_ in network.formats:
            yield (
                network.code,
                format_.title,
                ", ".join(format_.goals),
                ", ".join(format_.periods),
                "; ".join(_describe_requirements(format_)),
            )


def _describe_requirements(format_: Format) -> Iterator[str]:
    """Yield the members that a brief of this format needs in addition to the members that every brief needs."""
    groups: dict[str, list[str]] = {}
    named_members = set()
    always = {row.path for row in format_.inputs if row.requirement == "required" and row.is_exempt is None}
    for row in format_.inputs:
        words = row.path + _describe_subset(row.goals, format_.goals) + _describe_subset(row.periods, format_.periods)
        if (
            row.requirement == "required"
            and words not in named_members
            and not any(row.path in paths for paths in groups.values())
        ):
            named_members.add(words)
            yield words if row.path in always else f"{words} ({row.reason})"
        elif row.requirement in ("one", "any") and row.path not in groups.setdefault(row.group, []):
            groups[row.group].append(row.path)
    for paths in groups.values():
        yield " or ".join(paths)


def _describe_subset(some: Sequence[str], every: Sequence[str]) -> str:
    return f" ({', '.join(some)})" if some and set(some) != set(every) else ""


def _count_combinations(network: Network) -> int:
    return sum(len(format_.goals) * len(format_.periods) for format_ in network.formats)


def _list_interfaces(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        yield (
            network.code,
            network.version,
            _describe_sunset(network.sunset),
            LOGIN_NAMES[network.login.kind],
            "asynchronous" if network.has_report_jobs else "at once",
            ", ".join(level.kind for level in network.levels),
        )


def _describe_sunset(sunset: Sunset | None) -> str:
    if sunset is None:
        return ""
    return f"{sunset.day} (projected)" if sunset.is_projected else str(sunset.day)


def _list_logins(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        login = network.login
        scopes = () if login.kind == "credentials" else login.scopes
        yield network.code, LOGIN_NAMES[login.kind], ", ".join(scopes), login.note


def _list_levels(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        for level in network.levels:
            yield (
                network.code,
                level.kind,
                level.native,
                _get_initial_status(level),
                *_get_writable_statuses(level),
                level.note,
            )


def _get_initial_status(level: Level) -> str:
    return level.unified_statuses.get(level.initial_status, level.initial_status)


def _get_writable_statuses(level: Level) -> tuple[str, str]:
    return level.writable_statuses.get("active", ""), level.writable_statuses.get("paused", "")


def _list_editable_fields(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        for level in network.levels:
            rows = (setting for setting in network.settings if setting.level == level.kind)
            fields = [setting.field for setting in rows if not isinstance(setting.lock, str)]
            if fields:
                yield network.code, level.kind, ", ".join(fields)


def _list_locked_fields(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    """Yield a row for each reason. Locks that are functions apply to some entities only and are left out."""
    for network in networks:
        for level in network.levels:
            fields: dict[str, list[str]] = {}
            for setting in network.settings:
                if setting.level == level.kind and isinstance(setting.lock, str):
                    fields.setdefault(setting.lock, []).append(setting.field)
            for reason, names in fields.items():
                yield network.code, level.kind, ", ".join(names), reason


def _list_metrics_and_catalogs(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        metrics = ", ".join(metric.name for metric in network.metrics)
        yield network.code, metrics, ", ".join(catalog.resource for catalog in network.catalogs)
