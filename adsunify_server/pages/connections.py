"""Connections: the list, a hosted consent link or a private form for each network, disconnecting."""

from __future__ import annotations

from aiohttp import web
from pydantic.alias_generators import to_camel

from adsunify.contract import ENDPOINTS_BY_ID
from adsunify.contract.access import authorize
from adsunify.contract.requests import get_credential_sets
from adsunify.errors import AdsunifyError, NotFound
from adsunify.problem_details import to_problem_details
from adsunify_server.pages.request import PageRequest, PageRouter


def add_pages(door: PageRouter) -> None:
    """``/connections`` with ``link``, ``credentials/<network>`` and ``<id>/disconnect``."""
    door.add_get("/connections", show_connections)
    door.add_post("/connections/link", create_link)
    door.add_get("/connections/credentials/{network}", show_credentials_form)
    door.add_post("/connections/credentials/{network}", connect_network)
    door.add_post("/connections/{connectionId}/disconnect", disconnect_network)


async def show_connections(visit: PageRequest) -> web.Response:
    """Every connection, and the networks that can be connected."""
    found, networks = await visit.call_endpoint("get_connections"), await visit.call_endpoint("get_networks")
    offered = [one for one in networks if visit.service.is_connectable(one["network"])]
    others = [one for one in networks if one not in offered]
    return visit.render_page("connections.html", connections=found, networks=offered, unconfigured=others)


async def create_link(visit: PageRequest) -> web.Response:
    """Make a hosted link: to be opened here, or sent to whoever has the account. It is shown this once."""
    network = visit.form.get("network", "")
    made = await visit.call_endpoint("post_connections_authorize", {"network": network})
    return visit.render_page("link.html", 201, network=network, link=made)


async def show_credentials_form(visit: PageRequest) -> web.Response:
    """The private form of a network without a consent page."""
    authorize(visit.actor, ENDPOINTS_BY_ID["post_connections_credentials"])
    return _credentials_page(visit)


async def connect_network(visit: PageRequest) -> web.Response:
    """Connect with what was given; nothing of it is shown again."""
    network = visit.path_parameter("network")
    names = {to_camel(one.name) for members in get_credential_sets(network) for one in members}
    given = {name: value.replace("\r\n", "\n") for name, value in visit.form.items() if name in names and value}
    try:
        made = await visit.call_endpoint("post_connections_credentials", {"network": network, **given})
    except AdsunifyError as problem:
        if problem.status == 403:
            raise
        return _credentials_page(visit, problem)
    return visit.render_page("connected.html", 201, network=network, count=len(made["accounts"]))


def _credentials_page(visit: PageRequest, problem: AdsunifyError | None = None) -> web.Response:
    network = visit.path_parameter("network")
    if not (credentials := get_credential_sets(network)):
        raise NotFound("This network is not connected with credentials of its own.")
    sets = [
        [{"name": to_camel(one.name), "label": one.label, "form": one.form} for one in members]
        for members in credentials
    ]
    status = 200 if problem is None else problem.status
    told = None if problem is None else to_problem_details(problem)
    return visit.render_page("credentials.html", status, network=network, sets=sets, problem=told)


async def disconnect_network(visit: PageRequest) -> web.Response:
    """Forget the credentials; the accounts stay as disconnected."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_connection", connectionId=visit.path_parameter("connectionId"))
    return visit.redirect("/connections")
