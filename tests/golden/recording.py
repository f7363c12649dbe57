"""Reads the interfaces that are held: the REST API, the command line, and the plans of all cases and example briefs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any

import click

import tests.networks
from adsunify.cli.commands import adsunify as root_command
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.testing.contract.determinism import compute_digests
from adsunify_server.openapi import make_document

FOLDER = Path(__file__).parent


def read_openapi() -> Any:
    """The OpenAPI document without the texts for people."""
    return drop_texts(make_document("http://127.0.0.1"))


def drop_texts(value: Any, in_properties: bool = False) -> Any:
    """A copy without ``description`` and ``summary``; a property that has such a name stays."""
    if isinstance(value, list):
        return [drop_texts(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    texts = () if in_properties else ("description", "summary")
    return {
        name: drop_texts(member, in_properties=name == "properties" and not in_properties)
        for name, member in value.items()
        if not (name in texts and isinstance(member, str))
    }


def read_commands() -> Any:
    """Every command with its arguments and options, without help texts."""
    return dict(sorted(walk_commands(root_command, "adsunify")))


def walk_commands(command: click.Command, name: str) -> list[tuple[str, Any]]:
    """The command and all commands below it, each with its parameters."""
    commands = [(name, {parameter.name: describe_parameter(parameter) for parameter in command.params})]
    for child, inner in getattr(command, "subcommands", {}).items():
        commands += walk_commands(inner, f"{name} {child}")
    if isinstance(command, click.Group):
        for child in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), child)
            assert inner is not None
            commands += walk_commands(inner, f"{name} {child}")
    return commands


def describe_parameter(parameter: click.Parameter) -> Any:
    """What a script that gives the parameter relies on."""
    kind = parameter.type
    return {
        "spellings": sorted([*parameter.opts, *parameter.secondary_opts]),
        "type": kind.name,
        "choices": list(kind.choices) if isinstance(kind, click.Choice) else None,
        "required": parameter.required,
        "count": parameter.nargs,
        "repeatable": getattr(parameter, "multiple", False),
        "variable": parameter.envvar,
    }


def read_plans() -> Any:
    """The digest of the plan of every case; the digest covers every byte of a stored plan."""
    return compute_digests(Path(tests.networks.__path__[0]))


HELD: Mapping[str, Callable[[], Any]] = {
    "openapi.json": read_openapi,
    "commands.json": read_commands,
    "plans.json": read_plans,
}
"""The recorded files, and what reads the interface as it is now."""


def list_new_networks() -> set[str]:
    """The networks that the recorded command line does not know."""
    recorded = json.loads((FOLDER / "commands.json").read_text())
    return set(ADAPTER_PACKAGES).difference(recorded["adsunify accounts"]["network"]["choices"])


def drop_networks(value: Any, codes: Set[str]) -> Any:
    """A copy without some networks: neither their choices, nor what only they take, nor the plans of their cases."""
    if isinstance(value, list):
        return [drop_networks(item, codes) for item in value if not is_of_network(item, codes)]
    if not isinstance(value, Mapping):
        return value
    return {name: drop_networks(member, codes) for name, member in value.items() if name.partition("/")[0] not in codes}


def is_of_network(item: Any, codes: Set[str]) -> bool:
    """Whether a choice is one of the codes, or an alternative of a schema is for one of them alone."""
    if isinstance(item, Mapping):
        item = item.get("properties", {}).get("network", {}).get("const")
    return isinstance(item, str) and item in codes


def as_text(value: Any) -> str:
    """JSON with sorted members, one value a line."""
    return json.dumps(value, indent=1, sort_keys=True, default=str) + "\n"
