"""What the tests of all simulated networks share: a clock, a consent, bodies, and the sandbox's own door."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import httpx

NOTHING = "nothing of this name is sent"


class Clock:
    """The only thing that is not real here."""

    start: ClassVar[datetime]

    def __init__(self) -> None:
        self.instant = self.start

    def __call__(self) -> datetime:
        return self.instant


def make_body(values: Mapping[str, Any], **change: Any) -> dict[str, Any]:
    """The values with changes, without what is NOTHING."""
    return {name: value for name, value in {**values, **change}.items() if value is not NOTHING}


async def give_consent(web: httpx.AsyncClient, page: str, parameters: Mapping[str, str]) -> dict[str, str]:
    """What the callback gets, after a person has pressed the one button of a page."""
    page_answer = await web.get(page, params=parameters)
    action = re.search('action="([^"]*)"', page_answer.text)
    assert page_answer.status_code == 200, page_answer.text
    assert action is not None
    redirect = await web.post(action[1].replace("&amp;", "&"))
    assert redirect.status_code == 302
    callback = dict(parse_qsl(urlsplit(redirect.headers["Location"]).query))
    assert callback["state"] == parameters["state"]
    return callback


async def list_writes(web: httpx.AsyncClient) -> list[tuple[str, str, str]]:
    """Every entity that a native write touched."""
    rows = (await web.get("/_sandbox/writes")).json()["writes"]
    return [(row["method"], row["kind"], row["id"]) for row in rows]


async def inject_fault(network: str, web: httpx.AsyncClient, fault: str, **more: Any) -> None:
    """Tell a network to fail."""
    answer = await web.post("/_sandbox/faults", json={"network": network, "fault": fault, **more})
    assert (answer.status_code, answer.json().get("note")) == (200, None)
