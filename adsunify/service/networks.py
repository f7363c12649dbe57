"""What the networks can do, read off their tables: discovery never says more than the checks accept."""

from __future__ import annotations

from adsunify.actor import Actor
from adsunify.adapter.network import Format, Input, Network
from adsunify.networks import ADAPTERS, adapter
from adsunify.values.exact_json import Json

from .core import Service


async def list_networks(service: Service, actor: Actor) -> list[Json]:
    """The enabled networks and how each is connected."""
    return [summary(adapter(code).network) for code in ADAPTERS]


async def get_network(service: Service, actor: Actor, *, network: str) -> Json:
    """Everything one network's tables declare."""
    return detail(adapter(network).network)


async def list_workflows(service: Service, actor: Actor) -> list[Json]:
    """The unified formats with their goals, budget periods and inputs."""
    return [workflow for code in ADAPTERS for workflow in workflows(adapter(code).network)]


def summary(network: Network) -> dict[str, Json]:
    """A network in short."""
    return {
        "network": network.code,
        "title": network.title,
        "version": network.version,
        "sunset": network.sunset.isoformat() if network.sunset is not None else None,
        "login": {
            "kind": network.login.kind,
            "scopes": list(network.login.scopes),
            "pkce": network.login.pkce,
            "note": network.login.note,
        },
        "formats": [one.code for one in network.formats],
        "extras": [
            {"name": extra.name, "meaning": extra.meaning, "choices": list(extra.choices), "settable": extra.settable}
            for extra in network.extras
        ],
        "notes": list(network.notes),
    }


def detail(network: Network) -> dict[str, Json]:
    """A network whole: formats, levels, settings, catalogs, metrics, templates, units."""
    return summary(network) | {
        "workflows": workflows(network),
        "levels": [
            {
                "kind": level.kind,
                "native": level.native,
                "parentKind": level.parent_kind or None,
                "states": dict(level.states),
                "settable": dict(level.settable),
                "filters": list(level.filters),
                "born": level.born or None,
                "note": level.note or None,
            }
            for level in network.levels
        ],
        "settings": [
            {
                "level": setting.level,
                "field": setting.field,
                "unit": setting.unit,
                "choices": list(setting.choices),
                "min": setting.minimum if isinstance(setting.minimum, str) and setting.minimum else None,
                "max": setting.maximum or None,
                "locked": setting.lock if isinstance(setting.lock, str) else None,
                "note": setting.note or None,
            }
            for setting in network.settings
        ],
        "catalogs": [
            {"resource": catalog.resource, "suffix": catalog.suffix, "note": catalog.note or None}
            for catalog in network.catalogs
        ],
        "metrics": [
            {"name": metric.name, "native": metric.native, "note": metric.note or None} for metric in network.metrics
        ],
        "templates": [
            {
                "kind": template.kind,
                "title": template.title,
                "payload": dict(template.payload),
                "note": template.note or None,
            }
            for template in network.templates
        ],
        "units": network.money,
    }


def workflows(network: Network) -> list[Json]:
    """The network's formats as workflow rows."""
    return [_workflow(network, one) for one in network.formats]


def _workflow(network: Network, one: Format) -> dict[str, Json]:
    return {
        "network": network.code,
        "format": one.code,
        "title": one.title,
        "goals": list(one.goals),
        "periods": list(one.periods),
        "inputs": [_requirement(row) for row in one.inputs],
        "bid": dict(one.bid),
        "notes": list(one.notes),
    }


def _requirement(row: Input) -> dict[str, Json]:
    return {
        "path": row.path,
        "need": row.need,
        "goals": list(row.goals),
        "periods": list(row.periods),
        "group": row.group or None,
        "choices": list(row.choices),
        "reason": row.reason or None,
        "accepts": row.accepts or None,
    }
