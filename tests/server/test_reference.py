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


async def read_page(server: Served) -> str:
    answer = await server.http.get("/docs")
    assert answer.status_code == 200
    return answer.text


def find_article(text: str, endpoint: Endpoint) -> str:
    """What the page says of an endpoint, without its tags."""
    articles = re.findall(rf'<article class="endpoint" id="{endpoint.operation_id}">(.*?)</article>', text, re.DOTALL)
    assert len(articles) == 1, endpoint.operation_id
    return unescape(" ".join(re.sub("<[^>]+>", " ", articles[0]).split()))


async def test_every_endpoint_stands_there(empty: Served) -> None:
    text = await read_page(empty)
    document = Page(text)
    for endpoint in ENDPOINTS:
        article_text = find_article(text, endpoint)
        operation = empty.schemas.document["paths"][PREFIX + endpoint.path][endpoint.method.lower()]
        assert f"{endpoint.method} {PREFIX}{endpoint.path}" in article_text
        assert endpoint.summary in article_text and endpoint.access_description in article_text
        assert f"Status {endpoint.status}; errors: {', '.join(map(str, ERROR_STATUSES))}" in article_text.replace(
            " ,", ","
        )
        for parameter in operation["parameters"]:
            assert f"{parameter['name']} {parameter['in']} {'yes' if parameter['required'] else 'no'}" in article_text
        for name in () if endpoint.body is None else endpoint.body.model_fields:
            assert f"{to_camel(name)} body" in article_text, (endpoint.operation_id, name)
        assert f"curl -X {endpoint.method}" in article_text and '"data":' in article_text
        assert f"#{endpoint.operation_id}" in {
            attributes.get("href") for tag, attributes in document.elements if tag == "a"
        }
    assert text.count('<article class="endpoint"') == len(ENDPOINTS)


async def test_every_code_and_status_stands_there(empty: Served) -> None:
    text = await read_page(empty)
    document = Page(text)
    ids = {attributes["id"] for _, attributes in document.elements if "id" in attributes}
    assert {f"code-{code}" for code in PROBLEM_CODES} | {f"status-{status}" for status in ERROR_STATUSES} <= ids
    for code, (status, meaning) in PROBLEM_CODES.items():
        assert f"{code} {status} {' '.join(meaning.split())}" in document.text


async def test_its_links_lead_somewhere(empty: Served) -> None:
    document = Page(await read_page(empty))
    ids = [attributes["id"] for _, attributes in document.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for tag, attributes in document.elements if tag in ("a", "link")}
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
    document = Page(answer.text)
    assert document.open == []
    assert not [
        tag for tag, attributes in document.elements if tag in ("script", "iframe", "form") or "style" in attributes
    ]
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))
    again = await empty.http.get("/docs")
    assert again.text == answer.text and again.headers["X-Request-Id"] != answer.headers["X-Request-Id"]


async def test_every_page_links_it(empty: Served) -> None:
    document = Page((await empty.http.get("/sign-in")).text)
    assert document.links["API reference"] == "/docs"


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.operation_id)
async def test_examples_are_good(empty: Served, endpoint: Endpoint) -> None:
    """What is asked in an example is taken, and what is answered is what the document allows."""
    document: dict[str, Any] = empty.schemas.document
    operation = document["paths"][PREFIX + endpoint.path][endpoint.method.lower()]
    path, query = (
        {
            parameter["name"]: parameter["example"]
            for parameter in operation["parameters"]
            if parameter["in"] == place and "example" in parameter
        }
        for place in ("path", "query")
    )
    body = operation["requestBody"]["content"]["application/json"]["example"] if endpoint.body is not None else {}
    try:
        parse_request(
            endpoint,
            ApiRequest(path, query, dumps(body).encode("ascii"), "a key" if endpoint.takes_idempotency_key else None),
        )
    except InvalidInput as refusal:
        pytest.fail(str(refusal))
    pointer = f"/paths/{(PREFIX + endpoint.path).replace('/', '~1')}/{endpoint.method.lower()}"
    schema = operation["responses"][str(endpoint.status)]
    example = make_example(schema["content"]["application/json"]["schema"], document["components"]["schemas"])
    empty.schemas.validator(f"{pointer}/responses/{endpoint.status}/content/application~1json/schema").validate(example)
