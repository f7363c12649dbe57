"""The reference page: every row of the contract table stands there, and what it shows is true."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from adsunify.contract import ENDPOINTS, ApiRequest, Endpoint
from adsunify.contract.endpoint import ERROR_STATUSES
from adsunify.contract.messages import parse_request
from adsunify.errors import InvalidInput
from adsunify.problem_details import PROBLEM_CODES
from adsunify.values.exact_json import dumps
from adsunify_server.examples import make_example
from tests.pages.browsing import Page

from .served import PREFIX, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def page(one: Served) -> str:
    answer = await one.http.get("/docs")
    assert answer.status_code == 200
    return answer.text


def article(text: str, endpoint: Endpoint) -> str:
    """What the page says of an endpoint, without its tags."""
    found = re.findall(rf'<article class="endpoint" id="{endpoint.operation_id}">(.*?)</article>', text, re.DOTALL)
    assert len(found) == 1, endpoint.operation_id
    return unescape(" ".join(re.sub("<[^>]+>", " ", found[0]).split()))


async def test_every_endpoint_stands_there(empty: Served) -> None:
    text = await page(empty)
    shown = Page(text)
    for endpoint in ENDPOINTS:
        said = article(text, endpoint)
        operation = empty.schemas.document["paths"][PREFIX + endpoint.path][endpoint.method.lower()]
        assert f"{endpoint.method} {PREFIX}{endpoint.path}" in said
        assert endpoint.summary in said and endpoint.access_description in said
        assert f"Status {endpoint.status}; errors: {', '.join(map(str, ERROR_STATUSES))}" in said.replace(" ,", ",")
        for parameter in operation["parameters"]:
            assert f"{parameter['name']} {parameter['in']} {'yes' if parameter['required'] else 'no'}" in said
        for name in () if endpoint.body is None else endpoint.body.model_fields:
            assert f"{to_camel(name)} body" in said, (endpoint.operation_id, name)
        assert f"curl -X {endpoint.method}" in said and '"data":' in said
        assert f"#{endpoint.operation_id}" in {one.get("href") for tag, one in shown.elements if tag == "a"}
    assert text.count('<article class="endpoint"') == len(ENDPOINTS)


async def test_every_code_and_status_stands_there(empty: Served) -> None:
    text = await page(empty)
    shown = Page(text)
    ids = {one["id"] for _, one in shown.elements if "id" in one}
    assert {f"code-{code}" for code in PROBLEM_CODES} | {f"status-{status}" for status in ERROR_STATUSES} <= ids
    for code, (status, meaning) in PROBLEM_CODES.items():
        assert f"{code} {status} {' '.join(meaning.split())}" in shown.text


async def test_its_links_lead_somewhere(empty: Served) -> None:
    shown = Page(await page(empty))
    ids = [one["id"] for _, one in shown.elements if "id" in one]
    assert len(ids) == len(set(ids))
    links = {one["href"] for tag, one in shown.elements if tag in ("a", "link")}
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= set(ids)
    for link in links:
        if not link.startswith("#"):
            assert link.startswith("/"), link  # works without a network
            assert (await empty.http.get(link, follow_redirects=True)).status_code == 200, link


async def test_it_is_a_page_without_script(empty: Served) -> None:
    answer = await empty.http.get("/docs")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])
    shown = Page(answer.text)
    assert shown.open == []
    assert not [tag for tag, given in shown.elements if tag in ("script", "iframe", "form") or "style" in given]
    levels = [int(tag[1]) for tag, _ in shown.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))
    again = await empty.http.get("/docs")
    assert again.text == answer.text and again.headers["X-Request-Id"] != answer.headers["X-Request-Id"]


async def test_every_page_links_it(empty: Served) -> None:
    shown = Page((await empty.http.get("/sign-in")).text)
    assert shown.links["API reference"] == "/docs"


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: one.operation_id)
async def test_examples_are_good(empty: Served, endpoint: Endpoint) -> None:
    """What is asked in an example is taken, and what is answered is what the document allows."""
    document: dict[str, Any] = empty.schemas.document
    operation = document["paths"][PREFIX + endpoint.path][endpoint.method.lower()]
    path, query = (
        {one["name"]: one["example"] for one in operation["parameters"] if one["in"] == place and "example" in one}
        for place in ("path", "query")
    )
    given = operation["requestBody"]["content"]["application/json"]["example"] if endpoint.body is not None else {}
    try:
        parse_request(
            endpoint,
            ApiRequest(path, query, dumps(given).encode("ascii"), "a key" if endpoint.takes_idempotency_key else None),
        )
    except InvalidInput as refusal:
        pytest.fail(str(refusal))
    pointer = f"/paths/{(PREFIX + endpoint.path).replace('/', '~1')}/{endpoint.method.lower()}"
    schema = operation["responses"][str(endpoint.status)]
    shown = make_example(schema["content"]["application/json"]["schema"], document["components"]["schemas"])
    empty.schemas.validator(f"{pointer}/responses/{endpoint.status}/content/application~1json/schema").validate(shown)
