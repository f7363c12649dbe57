"""Connects simulated networks to a store, as a person does: through the consent page, or with credentials."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx

from adsunify.actor import Actor
from adsunify.errors import ProviderUnreadable
from adsunify.service import connections
from adsunify.service.accounts import list_accounts
from adsunify.service.core import Service
from adsunify.values.exact_json import Json


def get_sandbox_credentials(network: str) -> Mapping[str, str]:
    """Return the credentials of a simulated network; empty where it has a consent page."""
    from adsunify.sandbox.networks import load_networks  # commands on real networks must not load the sandbox

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


async def connect_sandbox_network(service: Service, actor: Actor, network: str) -> Mapping[str, Json]:
    """Connect all accounts of a simulated network; returns one of them, in US dollars where there is one.

    A second call connects again, and the accounts keep their ids. Raises ProviderUnreadable where the consent page of
    the network fails.
    """
    if credentials := get_sandbox_credentials(network):
        await connections.connect_with_credentials(service, actor, network=network, **credentials)
    else:
        await _give_consent(service, actor, network)
    accounts = await list_accounts(service, actor, network=network)
    return next((account for account in accounts if account["currency"] == "USD"), accounts[0])


async def _give_consent(service: Service, actor: Actor, network: str) -> None:
    link = await connections.create_consent_link(service, actor, network=network)
    consent = await connections.start_consent(service, urlsplit(link["url"]).path.rpartition("/")[2])
    answer = await submit_consent_page(consent.url)
    await connections.finish_consent(service, network, answer, consent.browser_cookie)


async def submit_consent_page(url: str) -> dict[str, str]:
    """Press the button of the consent page of a simulated network.

    Returns the parameters with which the network redirects the browser. Raises ProviderUnreadable where the page does
    not open, or does not redirect.
    """
    async with httpx.AsyncClient(trust_env=False, timeout=30.0) as browser:
        page = await browser.get(url)
        form = FormParser()
        form.feed(page.text)
        if page.status_code != 200 or form.action is None:
            raise ProviderUnreadable(f"The consent page did not open ({page.status_code}): {page.text[:300]}")
        answer = await browser.request(form.method.upper(), urljoin(str(page.url), form.action), data=form.fields)
        if not answer.has_redirect_location:
            raise ProviderUnreadable(f"The consent was refused ({answer.status_code}): {answer.text[:300]}")
        return dict(parse_qsl(urlsplit(answer.headers["Location"]).query, keep_blank_values=True))
