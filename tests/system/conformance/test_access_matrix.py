"""Who may call what: the page in the documentation, the contract's rows, and the running server say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio

from adsunify.contract.access import CALLERS
from tests.pages.browsing import browser, email, set_passwords
from tests.server.served import Served
from tests.server.test_oauth import agent

from .asking import Inventory, address, example, make_query
from .spec import ROWS, Row

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAGE = Path(__file__).parents[3] / "docs" / "access.md"
MAY = {
    "read key, member": {"read"},
    "read key, admin": {"read", "auditor"},
    "write key, viewer": {"read"},
    "write key, member": {"read", "write"},
    "write key, admin": {"read", "write", "admin", "auditor"},
    "OAuth, read": {"read"},
    "OAuth, write, member": {"read", "write"},
    "OAuth, write, admin": {"read", "write", "admin"},
}
"""docs/spec.md, "Access"."""


def cells() -> dict[tuple[str, str], str]:
    """What the page says, by endpoint and caller."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    heads = lines[0][1:]
    return {(line[0].strip("`"), head): cell for line in lines[1:] for head, cell in zip(heads, line[1:], strict=True)}


async def test_the_page_says_what_the_rows_say() -> None:
    """Independently of the code that made it."""
    page_cells = cells()
    assert page_cells == {(row.name, caller): expect_cell(row, caller) for row in ROWS for caller in CALLERS}


def expect_cell(row: Row, caller: str) -> str:
    if caller == "no valid token":
        return "401"
    if caller.startswith("OAuth") and not row.agents:
        return "403 `not_for_agents`"  # "Credentials at the doors"
    if row.access in MAY[caller] | {"owner"}:
        return "403 `person_required`" if row.person else "yes"
    return "403 `write_required`" if row.access == "write" else "403 `admin_required`"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tokens(own: Inventory) -> dict[str, list[tuple[str | None, dict[str, str]]]]:
    """The callers of the page: tokens, and headers besides."""
    server = own.server
    _, expired = await server.key("admin", expires_in=0)
    key_id, revoked = await server.key("admin")
    await own.caller.delete(f"/keys/{key_id}")
    good = server.people["admin"].tokens["write"]
    return {
        "no valid token": [
            (None, {}),
            (None, {"Authorization": f"Basic {good}"}),
            (None, {"Cookie": await sign_in(server)}),
            ("malformed", {}),
            (good[:-1], {}),
            (expired, {}),
            (revoked, {}),
            (await get_ended_token(server), {}),
        ],
        "read key, member": [(server.people[name].tokens["read"], {}) for name in ("viewer", "member")],
        "read key, admin": [(server.people["admin"].tokens["read"], {})],
        **{f"write key, {name}": [(server.people[name].tokens["write"], {})] for name in ("viewer", "member", "admin")},
        "OAuth, read": [(await get_agent_token(server, "admin", write=False), {})],
        **{f"OAuth, write, {name}": [(await get_agent_token(server, name), {})] for name in ("member", "admin")},
    }


async def get_agent_token(server: Served, name: str, *, write: bool = True) -> str:
    """The access token of an agent that this person allowed."""
    return str((await (await agent(server)).tokens(name, write=write))["access_token"])


async def get_ended_token(server: Served) -> str:
    """The access token of an agent whose grant was revoked."""
    token = await get_agent_token(server, "admin")
    for grant in await server.admin.get("/connected-agents"):
        await server.admin.delete(f"/connected-agents/{grant['grantId']}")
    await server.caller(token).problem(401, "GET", "/keys")
    return token


async def sign_in(server: Served) -> str:
    """The cookie of a browser in which the admin has signed in."""
    await set_passwords(server)
    async with browser(server) as person:
        await person.sign_in(email("admin"))
        return "; ".join(f"{name}={value}" for name, value in person.http.cookies.items())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_the_server_answers_as_the_page_says(
    own: Inventory, tokens: dict[str, list[tuple[str | None, dict[str, str]]]], row: Row
) -> None:
    page_cells = cells()
    for caller, known in tokens.items():
        cell = page_cells[row.name, caller]
        for token, headers in known:
            answer = await own.server.caller(token).send(
                row.method, address(row, {}), example(row), query=make_query(row), headers=headers
            )
            problem = answer.json()
            if cell == "yes":
                assert answer.status_code not in (401, 403), (caller, answer.text)
            elif cell == "401":
                assert answer.status_code == 401 and "WWW-Authenticate" in answer.headers, (caller, answer.text)
            else:
                assert f"{answer.status_code} `{problem['code']}`" == cell, (caller, answer.text)
                assert problem["outcome"] == "not_applied"
