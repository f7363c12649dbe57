"""Connections: the list, a hosted consent link or a private form for each network, disconnecting."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web
from pydantic.alias_generators import to_camel

from adsunify.contract import BY_ID
from adsunify.contract.access import permit
from adsunify.contract.requests import CREDENTIALS
from adsunify.errors import AdsunifyError, NotFound
from adsunify.problem_details import described

from .visiting import Door, Visit

LABELS: Mapping[str, str] = {
    "api_key": "API key",
    "username": "User name",
    "password": "Password",
    "client_id": "Client ID",
    "team_id": "Team ID",
    "key_id": "Key ID",
    "private_key": "Private key (PEM)",
}
LONG = ("private_key",)


def add_pages(door: Door) -> None:
    """``/connections`` with ``link``, ``credentials/<network>`` and ``<id>/disconnect``."""
    door.get("/connections", show_all)
    door.post("/connections/link", link)
    door.get("/connections/credentials/{network}", show_form)
    door.post("/connections/credentials/{network}", connect)
    door.post("/connections/{connectionId}/disconnect", disconnect)


async def show_all(visit: Visit) -> web.Response:
    """Every connection, and the networks that can be connected."""
    found, networks = await visit.ask("get_connections"), await visit.ask("get_networks")
    offered = [one for one in networks if visit.service.is_connectable(one["network"])]
    others = [one for one in networks if one not in offered]
    return visit.page("connections.html", connections=found, networks=offered, unconfigured=others)


async def link(visit: Visit) -> web.Response:
    """Make a hosted link: to be opened here, or sent to whoever has the account. It is shown this once."""
    network = visit.form.get("network", "")
    made = await visit.ask("post_connections_authorize", {"network": network})
    return visit.page("link.html", 201, network=network, link=made)


async def show_form(visit: Visit) -> web.Response:
    """The private form of a network without a consent page."""
    permit(visit.actor, BY_ID["post_connections_credentials"])
    return _form(visit)


async def connect(visit: Visit) -> web.Response:
    """Connect with what was given; nothing of it is shown again."""
    network = visit.path("network")
    names = {to_camel(name) for fields in CREDENTIALS.get(network, ()) for name in fields}
    given = {name: value.replace("\r\n", "\n") for name, value in visit.form.items() if name in names and value}
    try:
        made = await visit.ask("post_connections_credentials", {"network": network, **given})
    except AdsunifyError as problem:
        if problem.status == 403:
            raise
        return _form(visit, problem)
    return visit.page("connected.html", 201, network=network, count=len(made["accounts"]))


def _form(visit: Visit, problem: AdsunifyError | None = None) -> web.Response:
    network = visit.path("network")
    if network not in CREDENTIALS:
        raise NotFound("This network is not connected with credentials of its own.")
    sets = [
        [{"name": to_camel(name), "label": LABELS[name], "long": name in LONG} for name in fields]
        for fields in CREDENTIALS[network]
    ]
    status = 200 if problem is None else problem.status
    told = None if problem is None else described(problem)
    return visit.page("credentials.html", status, network=network, sets=sets, problem=told)


async def disconnect(visit: Visit) -> web.Response:
    """Forget the credentials; the accounts stay as disconnected."""
    visit.confirmed()
    await visit.ask("delete_connection", connectionId=visit.path("connectionId"))
    return visit.to("/connections")
