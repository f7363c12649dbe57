"""Pages of connections: the list, consent links, credential forms, disconnecting."""

from __future__ import annotations

from aiohttp import web
from pydantic.alias_generators import to_camel

from adsunify.contract import ENDPOINTS_BY_ID
from adsunify.contract.access import authorize
from adsunify.contract.requests import get_credential_sets
from adsunify.errors import AdsunifyError, NotFound
from adsunify.problem_details import to_problem_details
from adsunify_server.pages.request import PageRequest, PageRouter


def add_pages(router: PageRouter) -> None:
    """Add ``/connections`` with ``link``, ``credentials/<network>`` and ``<id>/disconnect``."""
    router.add_get("/connections", show_connections)
    router.add_post("/connections/link", create_link)
    router.add_get("/connections/credentials/{network}", show_credentials_form)
    router.add_post("/connections/credentials/{network}", connect_network)
    router.add_post("/connections/{connectionId}/disconnect", disconnect_network)


async def show_connections(visit: PageRequest) -> web.Response:
    """Show the connections, and the networks that can be connected."""
    connections, networks = await visit.call_endpoint("get_connections"), await visit.call_endpoint("get_networks")
    connectable = [network for network in networks if visit.service.is_connectable(network["network"])]
    unconfigured = [network for network in networks if network not in connectable]
    return visit.render_page(
        "connections.html", connections=connections, networks=connectable, unconfigured=unconfigured
    )


async def create_link(visit: PageRequest) -> web.Response:
    """Create a consent link and show it once; the person opens it or sends it to the account's owner."""
    network = visit.form.get("network", "")
    link = await visit.call_endpoint("post_connections_authorize", {"network": network})
    return visit.render_page("link.html", 201, network=network, link=link)


async def show_credentials_form(visit: PageRequest) -> web.Response:
    """Show the credentials form of a network without a consent page."""
    authorize(visit.actor, ENDPOINTS_BY_ID["post_connections_credentials"])
    return _credentials_page(visit)


async def connect_network(visit: PageRequest) -> web.Response:
    """Connect a network with the form's credentials, which are never shown again."""
    network = visit.path_parameter("network")
    names = {to_camel(credential.name) for members in get_credential_sets(network) for credential in members}
    values = {name: value.replace("\r\n", "\n") for name, value in visit.form.items() if name in names and value}
    try:
        connection = await visit.call_endpoint("post_connections_credentials", {"network": network, **values})
    except AdsunifyError as problem:
        if problem.status == 403:
            raise
        return _credentials_page(visit, problem)
    return visit.render_page("connected.html", 201, network=network, count=len(connection["accounts"]))


def _credentials_page(visit: PageRequest, problem: AdsunifyError | None = None) -> web.Response:
    network = visit.path_parameter("network")
    if not (credentials := get_credential_sets(network)):
        raise NotFound("This network has a consent page. Connect it with a link.")
    sets = [
        [
            {"name": to_camel(credential.name), "label": credential.label, "form": credential.form}
            for credential in members
        ]
        for members in credentials
    ]
    status = 200 if problem is None else problem.status
    details = None if problem is None else to_problem_details(problem)
    return visit.render_page("credentials.html", status, network=network, sets=sets, problem=details)


async def disconnect_network(visit: PageRequest) -> web.Response:
    """Delete the credentials; the accounts stay in lists as disconnected."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_connection", connectionId=visit.path_parameter("connectionId"))
    return visit.redirect("/connections")
