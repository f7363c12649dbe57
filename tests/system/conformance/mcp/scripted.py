"""A server to try, and a person whose browser is a script: signs in, reads the consent page, allows with write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.pages.browsing import PASSWORD, browser, email, set_passwords
from tests.server.served import Served, connect, serve_api


@asynccontextmanager
async def site(folder: Path) -> AsyncIterator[Served]:
    """The whole server over a database of its own, with people who can sign in, and meta connected."""
    async with serve_api(f"sqlite:///{folder / 'agents.db'}") as server:
        await set_passwords(server)
        await connect(server, "meta")
        yield server


async def execute_on_page(server: Served, address: str, name: str = "admin") -> None:
    """Open a review page as a person who signs in, read the plan, and execute it."""
    async with browser(server) as person:
        await person.sign_in(email(name))
        await person.open(address)
        await person.send({"confirmed": "true"}, action="/execute")


async def follow_consent(server: Served, address: str, name: str = "admin") -> str:
    """Follow an address of consent; where the server sends the browser then, with the code."""
    async with browser(server) as person:
        await person.open(address)
        await person.send({"email": email(name), "password": PASSWORD})
        assert person.path == "/oauth/authorize", person.at
        sent = {**person.page.forms[-1].fields, "decision": "allow", "access": "write"}
        answer = await person.http.post(person.at, data=sent, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]
