"""The networks' capabilities, from the same tables that the checks use."""

from __future__ import annotations

from adsunify.actor import Actor
from adsunify.adapter.formats import Format, Input
from adsunify.adapter.network import Network
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.exact_json import Json

from .core import Service


async def list_networks(service: Service, actor: Actor) -> list[Json]:
    """List the enabled networks and how each is connected."""
    return [network_summary_to_json(get_adapter(code).network) for code in ADAPTER_PACKAGES]


async def get_network(service: Service, actor: Actor, *, network: str) -> Json:
    """Return everything that one network's tables declare."""
    return network_detail_to_json(get_adapter(network).network)


async def list_workflows(service: Service, actor: Actor) -> list[Json]:
    """List the unified formats with their goals, budget periods and inputs."""
    return [workflow for code in ADAPTER_PACKAGES for workflow in workflows_to_json(get_adapter(code).network)]


def network_summary_to_json(network: Network) -> dict[str, Json]:
    """Return a summary of a network."""
    sunset = network.sunset
    return {
        "network": network.code,
        "title": network.title,
        "version": network.version,
        "sunset": sunset.day.isoformat() if sunset is not None else None,
        "sunsetIsProjected": sunset is not None and sunset.is_projected,
        "sunsetBasis": sunset.basis if sunset is not None else None,
        "login": {
            "kind": network.login.kind,
            "scopes": list(network.login.scopes),
            "pkce": network.login.has_pkce,
            "note": network.login.note,
        },
        "formats": [format_.code for format_ in network.formats],
        "extras": [
            {
                "name": extra.name,
                "meaning": extra.meaning,
                "choices": list(extra.choices),
                "settable": extra.is_settable,
            }
            for extra in network.extras
        ],
        "notes": list(network.notes),
    }


def network_detail_to_json(network: Network) -> dict[str, Json]:
    """Return a whole network: formats, levels, settings, catalogs, metrics, templates, units."""
    return network_summary_to_json(network) | {
        "workflows": workflows_to_json(network),
        "levels": [
            {
                "kind": level.kind,
                "native": level.native,
                "parentKind": level.parent_kind or None,
                "states": dict(level.unified_statuses),
                "settable": dict(level.writable_statuses),
                "filters": list(level.status_filters),
                "born": level.initial_status or None,
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
        "reportLevels": [
            {"level": level.kind, "addsUp": level.adds_up, "note": level.note or None}
            for level in network.report_levels
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
        "units": network.money_note,
    }


def workflows_to_json(network: Network) -> list[Json]:
    """Return the network's formats as workflow rows."""
    return [_workflow_to_json(network, format_) for format_ in network.formats]


def _workflow_to_json(network: Network, format_: Format) -> dict[str, Json]:
    return {
        "network": network.code,
        "format": format_.code,
        "title": format_.title,
        "goals": list(format_.goals),
        "periods": list(format_.periods),
        "inputs": [_requirement_to_json(row) for row in format_.inputs],
        "bid": dict(format_.bid_meanings),
        "notes": list(format_.notes),
    }


def _requirement_to_json(requirement: Input) -> dict[str, Json]:
    return {
        "path": requirement.path,
        "need": requirement.requirement,
        "goals": list(requirement.goals),
        "periods": list(requirement.periods),
        "group": requirement.group or None,
        "choices": list(requirement.choices),
        "reason": requirement.reason or None,
        "accepts": requirement.accepted_form or None,
    }
