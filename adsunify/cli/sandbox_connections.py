"""Connects a simulated network as a person does: through its consent page, or with credentials."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx

from adsunify.actor import Actor
from adsunify.errors import ProviderUnreadable
from adsunify.service import connections
from adsunify.service.core import Service


def get_sandbox_credentials(network: str) -> Mapping[str, str]:
    """Return the credentials of a simulated network; empty where it has a consent page."""
    from adsunify.sandbox.networks import load_networks  # only a sandbox needs it

    return load_networks()[network].credentials


class FormParser(HTMLParser):
    """Parses the first form of a page: its address and its hidden fields."""

    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self.method = "get"
        self.fields: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read a tag of the form."""
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form" and self.action is None:
            self.action, self.method = attributes.get("action", ""), attributes.get("method", "get").lower()
        if tag in ("input", "button") and attributes.get("name"):
            self.fields[attributes["name"]] = attributes.get("value", "")


async def give_consent(service: Service, actor: Actor, network: str) -> None:
    """Connect a simulated network. Raises ProviderUnreadable where its consent page fails."""
    if credentials := get_sandbox_credentials(network):
        await connections.connect_with_credentials(service, actor, network=network, **credentials)
        return
    link = await connections.create_consent_link(service, actor, network=network)
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False, timeout=30.0) as browser:
        page = await _submit_form(browser, network, await browser.get(link["url"]))  # our own page, then the network's
        await _submit_form(browser, network, page)


async def _submit_form(browser: httpx.AsyncClient, network: str, page: httpx.Response) -> httpx.Response:
    """Send the form of a page; returns the next page."""
    form = FormParser()
    form.feed(page.text)
    if page.status_code != 200 or form.action is None:
        raise ProviderUnreadable(f"{network}: the consent page did not open ({page.status_code}): {page.text[:300]}")
    response = await browser.request(form.method.upper(), urljoin(str(page.url), form.action), data=form.fields)
    if response.status_code != 200:
        raise ProviderUnreadable(f"{network}: the consent was refused ({response.status_code}): {response.text[:300]}")
    return response
