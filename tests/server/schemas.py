"""The server's OpenAPI document, turned against the server: nothing undocumented is ever answered."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import httpx
from attrs import define, field
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from adsunify.problem_details import PROBLEM_CODES
from adsunify_server.openapi import make_document

PREFIX = "/api/v1/ads"


@cache
def get_schemas() -> Schemas:
    """The schemas of every server's document: documents differ in the server's address only."""
    return Schemas(make_document("http://127.0.0.1"))


@define
class Schemas:
    """Finds the operation of a request in the document, and checks its answer."""

    document: dict[str, Any]
    _templates: list[tuple[re.Pattern[str], str]] = field(init=False)
    _validators: dict[str, Draft202012Validator] = field(factory=dict)

    @_templates.default
    def _of_paths(self) -> list[tuple[re.Pattern[str], str]]:
        # literal words before parameters: /operations/execute is not an operation's id
        paths = sorted(self.document["paths"], key=lambda path: path.count("{"))
        return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in paths]

    def operation(self, method: str, path: str) -> tuple[str, dict[str, Any]] | None:
        """The pointer and the operation behind a request's method and path, if there is one."""
        for pattern, template in self._templates:
            definition = self.document["paths"][template].get(method.lower())
            if definition is not None and pattern.fullmatch(path):
                escaped = template.replace("~", "~0").replace("/", "~1")
                return f"/paths/{escaped}/{method.lower()}", definition
        return None

    def validator(self, pointer: str) -> Draft202012Validator:
        """The validator of the schema at a pointer of the document."""
        if pointer not in self._validators:
            resource = DRAFT202012.create_resource(self.document)
            registry: Registry[Any] = Registry().with_resource("urn:openapi", resource)
            self._validators[pointer] = Draft202012Validator(
                {"$ref": f"urn:openapi#{pointer}"},
                registry=registry,
                format_checker=Draft202012Validator.FORMAT_CHECKER,
            )
        return self._validators[pointer]

    def check(self, method: str, path: str, answer: httpx.Response) -> None:
        """Hold an answer against the contract: status, headers, media type, body."""
        request_id = answer.headers["X-Request-Id"]
        assert re.fullmatch("[0-9a-f]{32}", request_id)
        assert answer.headers["Cache-Control"] == "no-store"
        media_type, body = answer.headers["Content-Type"].split(";")[0], answer.json()
        documented_operation = self.operation(method, PREFIX + path)
        if answer.status_code >= 400:
            assert media_type == "application/problem+json"
            self.validator("/components/schemas/Problem").validate(body)
            assert (body["status"], body["requestId"]) == (answer.status_code, request_id)
            assert PROBLEM_CODES[body["code"]][0] == answer.status_code
            assert body["type"] == f"urn:adsunify:problem:{body['code']}"
            assert documented_operation is None or str(answer.status_code) in documented_operation[1]["responses"]
            return
        assert documented_operation is not None, f"{method} {path} is not documented"
        pointer, operation = documented_operation
        assert media_type == "application/json"
        assert str(answer.status_code) in operation["responses"], answer.status_code
        self.validator(f"{pointer}/responses/{answer.status_code}/content/application~1json/schema").validate(body)
