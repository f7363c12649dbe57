"""What every network can do, read off the adapters' own tables: the support matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import frozen

from adsunify.adapter.network import Format, Level, Network
from adsunify.networks import ADAPTERS, adapter

LOGINS = {"oauth2": "OAuth 2.0", "oauth1": "OAuth 1.0a", "credentials": "credentials"}
LOGIN = (
    "How accounts are connected. With OAuth, an application of yours needs these permissions (scopes) at the network;\n"
    "the consent page asks for them."
)
LEVELS = "What a create makes, and what a status can be set to; an empty cell: it cannot."
EDITABLE = (
    "What the `fields` of an edit can change. One of them may be locked on some entities: a budget that stands on the\n"
    "campaign, a start that has passed, an entity that is archived. The entity's settings say so, with the reason."
)
LOCKED = "What the settings show as well, and no edit can change."


@frozen
class Grid:
    """A table of the matrix."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def sections() -> Iterator[tuple[str, Sequence[str | Grid]]]:
    """Each heading of the matrix with what stands under it: paragraphs and tables."""
    networks = [adapter(code).network for code in ADAPTERS]
    count = sum(_combinations(one) for one in networks)

    def grid(rows: Callable[[Iterable[Network]], Iterable[Sequence[str]]], *heads: str) -> Grid:
        return Grid(("network", *heads), list(rows(networks)))

    combinations = f"{count} combinations of format, goal and budget period."
    yield "Formats", (grid(_formats, "format", "goals", "budget periods", "required"), combinations)
    yield "Interfaces", (grid(_interfaces, "interface", "sunset", "login", "reports", "levels"),)
    yield "Logins", (LOGIN, grid(_logins, "login", "permissions", "note"))
    yield "Levels", (LEVELS, grid(_levels, "level", "native", "created", "active", "paused", "note"))
    yield "Editable fields", (EDITABLE, grid(_editable, "level", "fields"))
    yield "Locked fields", (LOCKED, grid(_locked, "level", "fields", "reason"))
    yield "Metrics and catalogs", (grid(_reading, "metrics", "catalogs"),)


def matrix() -> str:
    """The whole matrix, as Markdown."""
    blocks: list[str] = []
    for heading, under in sections():
        blocks.append(f"## {heading}")
        blocks += ["\n".join(table(one.heads, one.rows)) if isinstance(one, Grid) else one for one in under]
    return "\n\n".join(blocks) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _formats(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        for one in network.formats:
            yield network.code, one.title, ", ".join(one.goals), ", ".join(one.periods), "; ".join(_required(one))


def _required(one: Format) -> Iterator[str]:
    """What a brief of this format needs beside what every brief has."""
    groups: dict[str, list[str]] = {}
    seen = set()
    always = {row.path for row in one.inputs if row.need == "required" and row.unless is None}
    for row in one.inputs:
        words = row.path + _only(row.goals, one.goals) + _only(row.periods, one.periods)
        if row.need == "required" and words not in seen and not any(row.path in paths for paths in groups.values()):
            seen.add(words)
            yield words if row.path in always else f"{words} ({row.reason})"
        elif row.need in ("one", "any") and row.path not in groups.setdefault(row.group, []):
            groups[row.group].append(row.path)
    for paths in groups.values():
        yield " or ".join(paths)


def _only(some: Sequence[str], every: Sequence[str]) -> str:
    return f" ({', '.join(some)})" if some and set(some) != set(every) else ""


def _combinations(network: Network) -> int:
    return sum(len(one.goals) * len(one.periods) for one in network.formats)


def _interfaces(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        yield (
            network.code,
            network.version,
            "" if network.sunset is None else network.sunset.isoformat(),
            LOGINS[network.login.kind],
            "asynchronous" if network.reports else "at once",
            ", ".join(level.kind for level in network.levels),
        )


def _logins(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        login = network.login
        scopes = () if login.kind == "credentials" else login.scopes
        yield network.code, LOGINS[login.kind], ", ".join(scopes), login.note


def _levels(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        for level in network.levels:
            yield network.code, level.kind, level.native, _born(level), *_settable(level), level.note


def _born(level: Level) -> str:
    return level.states.get(level.born, level.born)


def _settable(level: Level) -> tuple[str, str]:
    return level.settable.get("active", ""), level.settable.get("paused", "")


def _editable(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        for level in network.levels:
            rows = (setting for setting in network.settings if setting.level == level.kind)
            fields = [setting.field for setting in rows if not isinstance(setting.lock, str)]
            if fields:
                yield network.code, level.kind, ", ".join(fields)


def _locked(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    """One row for each reason; a lock that is a function is one of some entities only."""
    for network in networks:
        for level in network.levels:
            fields: dict[str, list[str]] = {}
            for setting in network.settings:
                if setting.level == level.kind and isinstance(setting.lock, str):
                    fields.setdefault(setting.lock, []).append(setting.field)
            for reason, names in fields.items():
                yield network.code, level.kind, ", ".join(names), reason


def _reading(networks: Iterable[Network]) -> Iterator[Sequence[str]]:
    for network in networks:
        metrics = ", ".join(metric.name for metric in network.metrics)
        yield network.code, metrics, ", ".join(catalog.resource for catalog in network.catalogs)
