"""The framework of the simulated networks, over real HTTP, with a tiny network of two hosts."""

import base64
import hashlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.sandbox import RunningSandbox, sandbox, sandbox_thread
from adsunify.sandbox.checks import (
    array,
    choice,
    country_code,
    external_id,
    integer_text,
    json_text,
    nullable,
    number,
    record,
    text,
    visible_text,
)
from adsunify.sandbox.network import AbortRequest, Network, Request, Response, Route
from adsunify.sandbox.oauth import (
    OAuthConfig,
    check_client,
    consent_routes,
    exchange_code,
    extend_token,
    issue_grant,
    parse_basic_auth,
    refresh_tokens,
    require_bearer_token,
    revoke_grant,
)
from adsunify.sandbox.parsing import InvalidRequest, parse_json, serialize_json
from adsunify.sandbox.world import Account

from . import calls

HOST, LOGIN_HOST, FILES = "ads.example", "login.example", "files.example"
LOGIN = OAuthConfig(
    consent_pages=((LOGIN_HOST, "/oauth"),),
    required_scopes=("ads",),
    optional_scopes=("read",),
    access_seconds=60,
    access_prefix="Tiny|",
)
CAMPAIGN = record(
    required={"name": text(1, 20), "budget": number(1, 1000, places=2)},
    optional={"status": choice("ACTIVE", "PAUSED"), "page": external_id("[0-9]+"), "end": nullable(text())},
)


class Clock(calls.Clock):
    start = datetime(2027, 1, 1, tzinfo=UTC)


def render_problem(request: Request, problem: InvalidRequest) -> Response:
    status = {"media_type": 415, "accept": 406}.get(problem.code, 401 if problem.code.startswith("token_") else 400)
    if request.route.role == "login":
        return Response(status, {"error": problem.code})
    return Response(status, {"tiny": {"code": problem.code, "where": problem.where}})


def render_failure(request: Request, status: int) -> Response:
    return Response(status, {"tiny": status, "path": request.path}, {"Retry-After": "7"} if status == 429 else {})


def create_campaigns(request: Request) -> Response:
    if request.find_account(request.path_parameters["account"]) is None:
        raise AbortRequest(render_failure(request, 404))
    items = request.parse_json(record(required={"campaigns": array(record(optional=ANY_CAMPAIGN), 1, 10)}))["campaigns"]
    if request.get_fault("error_in_200"):
        raise AbortRequest(Response(200, {"error": "no"}))
    media = request.get_fault("slow_media")
    if media is not None:
        raise AbortRequest(Response(200, {"wait": media.value}))
    success: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        try:
            with request.world.savepoint():
                entity = request.world.create(
                    "campaign", request.path_parameters["account"], {"status": "ACTIVE", **item}
                )
                CAMPAIGN(item, "")  # after the change, so that the savepoint has something to undo
                if request.get_fault("partial") and index == len(items) - 1:
                    raise InvalidRequest("fault", "", "this write fails by request")
                success.append({"index": index, "id": entity.id})
        except InvalidRequest as problem:
            errors.append({"index": index, "code": problem.code})
    return Response(207, {"success": success, "error": errors})


def create_all_or_none(request: Request) -> Response:
    """Every item or none."""
    items = request.parse_form(record(required={"items": json_text(array(CAMPAIGN, 1))}))["items"]
    entities = [request.world.create("ad", "act_1", item) for item in items]
    if request.query_pairs == (("validate_only", "true"),):
        raise AbortRequest(Response(200, {"valid": True}))
    if len(entities) > 2:
        raise InvalidRequest("too_many", "/items", "two at most")
    return Response(200, {"ids": [entity.id for entity in entities]})


def change_campaign(request: Request) -> Response:
    entity = request.world.find("campaign", request.path_parameters["id"])
    if entity is None:
        raise AbortRequest(render_failure(request, 404))
    if request.method == "DELETE":
        request.world.remove(entity)
    else:
        request.world.replace(entity, {**entity.data, **request.parse_json(record(optional=ANY_CAMPAIGN))})
    return Response(204)


def list_campaigns(request: Request) -> Response:
    request.parse_query(optional={"limit": integer_text(1, 100)})
    rows = [
        {"id": entity.id, **entity.data}
        for entity in request.world.list_entities("campaign", request.path_parameters["account"])
    ]
    return Response(200, {"data": rows})


def fail_after_write(request: Request) -> Response:
    request.world.create("campaign", "act_1", {})
    raise LookupError("a defect of a network")


def create_report(request: Request) -> Response:
    job = request.world.create("report", "act_1", {}, logged=False)
    return Response(200, {"id": job.id, "url": f"https://{FILES}/{job.id}"})


def download_report(request: Request) -> Response:
    request.headers.get("Authorization") is None or pytest.fail("a download carries no credentials")
    return Response(200, b"\x1f\x8bdata", media_type="application/octet-stream")


def issue_tokens(request: Request) -> Response:
    form = request.parse_form()
    in_body = "client_id" in form
    name, secret = (form["client_id"], form["client_secret"]) if in_body else parse_basic_auth(request)
    match form["grant_type"]:
        case "authorization_code":
            verifier = form.get("code_verifier")
            issued = exchange_code(request, LOGIN, name, secret, form["code"], form["redirect_uri"], verifier)
        case "refresh_token":
            issued = refresh_tokens(request, LOGIN, name, secret, form["refresh_token"])
        case "longer":
            check_client(request, name, secret)
            return Response(200, {"access_token": extend_token(request, form["token"], 3600).text})
        case _:
            issued = issue_grant(request, LOGIN, ("ads",))
    assert issued.refresh is not None
    return Response(200, {"access_token": issued.access.text, "refresh_token": issued.refresh.text})


def revoke_token(request: Request) -> Response:
    return Response(200 if revoke_grant(request, request.parse_form()["token"]) else 400)


def check_headers(request: Request) -> None:
    require_bearer_token(request)
    request.require_header("X-Version", choice("3"))


ANY_CAMPAIGN = dict.fromkeys(("name", "budget", "status", "page", "end"), lambda value, where: value)
TINY = Network(
    code="tiny",
    first_id=100,
    accounts=(Account("act_1", "Demo", "USD", "America/New_York"), Account("act_2", "Demo", "JPY", "Asia/Tokyo")),
    routes=(
        *consent_routes(LOGIN),
        Route("POST", (LOGIN_HOST,), "/token", issue_tokens, role="login"),
        Route("POST", (LOGIN_HOST,), "/revoke", revoke_token, role="login"),
        Route("POST", (HOST,), "/v1/things:atomic", create_all_or_none),
        Route("POST", (HOST,), "/v1/broken", fail_after_write),
        Route("POST", (HOST,), "/v1/reports", create_report),
        Route("GET", (FILES,), "/{id:[0-9]{1,5}}", download_report, role="download"),
        Route(
            "POST",
            (HOST,),
            "/v1/{account}/campaigns",
            create_campaigns,
            faults=frozenset({"partial", "error_in_200", "slow_media"}),
        ),
        Route("GET", (HOST,), "/v1/{account}/campaigns", list_campaigns),
        Route("PUT", (HOST,), "/v1/{id}", change_campaign),
        Route("DELETE", (HOST,), "/v1/{id}", change_campaign),
    ),
    format_error=render_problem,
    format_status_error=render_failure,
    authorize_request=check_headers,
)
ONE = {"campaigns": [{"name": "Tea", "budget": 1}]}
CREATE = f"/{HOST}/v1/act_1/campaigns"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def running_sandbox(clock: Clock) -> AsyncIterator[RunningSandbox]:
    async with sandbox(networks=[TINY], clock=clock) as running_sandbox:
        yield running_sandbox


@pytest.fixture
async def web(running_sandbox: RunningSandbox) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in."""
    async with httpx.AsyncClient(base_url=running_sandbox.url, headers={"X-Version": "3"}) as web:
        tokens = await web.post(f"/{LOGIN_HOST}/token", data={"grant_type": "none", **APP})
        web.headers["Authorization"] = f"Bearer {tokens.json()['access_token']}"
        yield web


APP = {"client_id": "sandbox-tiny", "client_secret": "sandbox-secret"}


async def list_writes(web: httpx.AsyncClient) -> list[dict[str, str]]:
    answer = await web.get("/_sandbox/writes", params={"network": "tiny"})
    assert answer.status_code == 200
    rows: list[dict[str, str]] = answer.json()["writes"]
    return rows


async def inject_fault(web: httpx.AsyncClient, fault: str, **more: Any) -> httpx.Response:
    return await web.post("/_sandbox/faults", json={"network": "tiny", "fault": fault, **more})


async def test_a_write_is_kept_and_logged_once(web: httpx.AsyncClient) -> None:
    two = {"campaigns": [{"name": "Tea", "budget": 12.5}, {"name": "Cup", "budget": 3, "status": "PAUSED"}]}
    answer = await web.post(CREATE, json=two)
    assert answer.status_code == 207
    assert answer.json() == {"success": [{"index": 0, "id": "100"}, {"index": 1, "id": "101"}], "error": []}
    rows = (await web.get(CREATE)).json()["data"]
    assert [(row["id"], row["status"], row["budget"]) for row in rows] == [
        ("100", "ACTIVE", 12.5),
        ("101", "PAUSED", 3),
    ]
    assert (await web.get(f"/{HOST}/v1/act_2/campaigns")).json() == {"data": []}
    assert (await web.put(f"/{HOST}/v1/100", json={"name": "New"})).status_code == 204
    assert (await web.delete(f"/{HOST}/v1/101")).status_code == 204
    assert [(row["request"], row["method"], row["path"], row["kind"], row["id"]) for row in await list_writes(web)] == [
        ("1", "POST", "/v1/act_1/campaigns", "campaign", "100"),
        ("1", "POST", "/v1/act_1/campaigns", "campaign", "101"),
        ("2", "PUT", "/v1/100", "campaign", "100"),
        ("3", "DELETE", "/v1/101", "campaign", "101"),
    ]
    assert {tuple(row) for row in await list_writes(web)} == {
        ("network", "request", "method", "path", "kind", "id", "at")
    }


async def test_a_refused_item_leaves_no_trace(web: httpx.AsyncClient) -> None:
    mixed = {"campaigns": [{"name": "", "budget": 1}, {"name": "Cup", "budget": 2.001}, {"name": "Tea", "budget": 1}]}
    answer = (await web.post(CREATE, json=mixed)).json()
    assert [success["index"] for success in answer["success"]] == [2]
    assert [(failure["index"], failure["code"]) for failure in answer["error"]] == [(0, "value"), (1, "value")]
    assert [row["id"] for row in await list_writes(web)] == [answer["success"][0]["id"]]
    assert len((await web.get(CREATE)).json()["data"]) == 1


async def test_a_refused_request_leaves_no_trace(web: httpx.AsyncClient, running_sandbox: RunningSandbox) -> None:
    three = {"items": json.dumps([{"name": "Tea", "budget": 1}] * 3)}
    assert (await web.post(f"/{HOST}/v1/things:atomic", data=three)).json()["tiny"]["code"] == "too_many"
    checked = await web.post(
        f"/{HOST}/v1/things:atomic?validate_only=true", data={"items": '[{"name":"a","budget":1}]'}
    )
    assert checked.json() == {"valid": True}
    assert (await web.post(f"/{HOST}/v1/broken")).status_code == 500
    assert running_sandbox.state.worlds["tiny"].list_entities("ad") == []
    assert running_sandbox.state.worlds["tiny"].list_entities("campaign") == []
    assert await list_writes(web) == []


async def test_report_jobs_are_not_in_the_writes_log_and_downloads_need_no_token(web: httpx.AsyncClient) -> None:
    job = (await web.post(f"/{HOST}/v1/reports")).json()
    assert job["url"] == f"https://{FILES}/{job['id']}"
    async with httpx.AsyncClient(base_url=web.base_url) as stranger:
        assert (await stranger.get(f"/{FILES}/{job['id']}")).content == b"\x1f\x8bdata"
        assert (await stranger.get(f"/{FILES}/123456")).status_code == 404
    assert await list_writes(web) == []


@pytest.mark.parametrize(
    ("body", "code", "where"),
    [
        ('{"campaigns":[],"campaigns":[]}', "duplicate", "/campaigns"),
        ('{"campaigns":[{}],"x":1}', "unknown", "/x"),
        ("{}", "required", "/campaigns"),
        ('{"campaigns":{}}', "type", "/campaigns"),
        ('{"campaigns":[]}', "value", "/campaigns"),
        ('{"campaigns":[{"budget":NaN}]}', "unreadable", ""),
        ("", "unreadable", ""),
        ("[" * 100_000, "unreadable", ""),
        (b'{"campaigns":["\xff"]}', "unreadable", ""),
    ],
)
async def test_bodies_are_read_strictly(web: httpx.AsyncClient, body: str | bytes, code: str, where: str) -> None:
    answer = await web.post(CREATE, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["tiny"]) == (400, {"code": code, "where": where})


async def test_headers_queries_paths_and_methods_are_checked(web: httpx.AsyncClient) -> None:
    assert (await web.post(CREATE, content="{}", headers={"Content-Type": "text/plain"})).status_code == 415
    assert (await web.get(CREATE, headers={"X-Version": "2"})).json()["tiny"] == {
        "code": "header",
        "where": "X-Version",
    }
    assert (await web.get(f"{CREATE}?limit=5")).status_code == 200
    for query, code in (
        ("limit=0", "value"),
        ("x=1", "unknown"),
        ("limit=1&limit=2", "duplicate"),
        ("l", "unreadable"),
    ):
        assert (await web.get(f"{CREATE}?{query}")).json()["tiny"]["code"] == code, query
    assert (await web.post(f"/{HOST}/v1/act_9/campaigns", json=ONE)).status_code == 404
    assert (await web.get(f"/{HOST}/v2/nothing")).json() == {"tiny": 404, "path": "/v2/nothing"}
    assert (await web.patch(CREATE)).json()["tiny"] == 405
    unknown = await web.get("/elsewhere.example/v1")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_host")


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"page": "12"}, None),
        ({"page": "x12"}, "value"),
        ({"page": "page-missing"}, "missing"),
        ({"page": "ineligible1"}, "ineligible"),
        ({"page": "processing"}, "processing"),
        ({"end": None}, None),
        ({"budget": True}, "type"),
        ({"budget": "5"}, "type"),
        ({"status": "OFF"}, "value"),
    ],
)
async def test_items_are_checked_by_their_table(web: httpx.AsyncClient, item: dict[str, Any], code: str | None) -> None:
    answer = (await web.post(CREATE, json={"campaigns": [{"name": "Tea", "budget": 1, **item}]})).json()
    assert [failure["code"] for failure in answer["error"]] == ([] if code is None else [code])


@pytest.mark.parametrize("fault", ["reset_after", "truncate", "html", "empty", "latency"])
async def test_after_these_faults_the_write_stands(web: httpx.AsyncClient, fault: str) -> None:
    assert (await inject_fault(web, fault, **({"value": 50} if fault == "latency" else {}))).status_code == 200
    try:
        answer = await web.post(CREATE, json=ONE)
    except httpx.RemoteProtocolError:
        assert fault in ("reset_after", "truncate")
    else:
        assert fault in ("html", "empty", "latency")
        assert answer.status_code == 207
        assert answer.content[:1] == {"html": b"<", "empty": b"", "latency": b"{"}[fault]
        assert fault != "latency" or answer.elapsed > timedelta(milliseconds=45)
    assert len(await list_writes(web)) == 1
    assert (await web.post(CREATE, json=ONE)).json()["success"]  # told once, happens once


@pytest.mark.parametrize("fault", ["reset_before", "status", "error_in_200", "slow_media"])
async def test_after_these_faults_nothing_was_written(web: httpx.AsyncClient, fault: str) -> None:
    value = {"status": {"value": 429}, "slow_media": {"value": 1500}}.get(fault, {})
    await inject_fault(web, fault, **value, method="POST", times=2)
    for _ in range(2):
        if fault == "reset_before":
            with pytest.raises(httpx.RemoteProtocolError):
                await web.post(CREATE, json=ONE)
            continue
        answer = await web.post(CREATE, json=ONE)
        assert answer.status_code == (429 if fault == "status" else 200)
        assert fault != "status" or (answer.headers["Retry-After"] == "7" and answer.json()["tiny"] == 429)
        assert fault != "slow_media" or answer.json() == {"wait": 1500}
    assert await list_writes(web) == []
    assert (await web.post(CREATE, json=ONE)).json()["success"]


async def test_partial_fails_the_last_item_only(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "partial")
    assert (await web.get(CREATE)).status_code == 200  # a call that cannot fail so does not use the fault up
    answer = (
        await web.post(CREATE, json={"campaigns": [{"name": "a", "budget": 1}, {"name": "b", "budget": 1}]})
    ).json()
    assert ([success["index"] for success in answer["success"]], answer["error"]) == (
        [0],
        [{"index": 1, "code": "fault"}],
    )
    assert len(await list_writes(web)) == 1


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("/v1/act_1", True),
        ("/v1/*/campaigns", True),
        (f"/{HOST}/v1", True),
        (f"/{HOST}/*/act_[12]/*", True),
        ("/v2", False),
        ("/*/ads", False),
        (f"/{LOGIN_HOST}", False),
    ],
)
async def test_a_path_is_a_prefix_or_a_glob(web: httpx.AsyncClient, path: str, fits: bool) -> None:
    await inject_fault(web, "status", value=503, path=path)
    assert (await web.get(CREATE)).status_code == (503 if fits else 200)


async def test_a_limit_names_the_wait_that_was_asked_for(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429, retryAfter=9)
    await inject_fault(web, "status", value=429)
    waits = [(await web.get(CREATE)).headers["Retry-After"] for _ in range(2)]
    assert waits == ["9", "7"]


async def test_first_fault_wins_and_log_in_is_met_only_by_path(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=500)
    await inject_fault(web, "status", value=502, path="/token")
    await inject_fault(web, "status", value=501)
    login = {"grant_type": "none", **APP}
    assert (await web.post(f"/{LOGIN_HOST}/token", data=login)).status_code == 502
    assert (await web.post(f"/{LOGIN_HOST}/token", data=login)).status_code == 200
    assert [(await web.get(CREATE)).status_code for _ in range(3)] == [500, 501, 200]
    await inject_fault(web, "status", value=500, times=9)
    assert (await web.delete("/_sandbox/faults")).status_code == 200
    assert (await web.get(CREATE)).status_code == 200


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        ({"network": "tiny"}, "/fault"),
        ({"network": "other", "fault": "html"}, "/network"),
        ({"network": "tiny", "fault": "flood"}, "/fault"),
        ({"network": "tiny", "fault": "html", "x": 1}, "/x"),
        ({"network": "tiny", "fault": "html", "value": 1}, "/value"),
        ({"network": "tiny", "fault": "status"}, "/value"),
        ({"network": "tiny", "fault": "status", "value": 99}, "/value"),
        ({"network": "tiny", "fault": "latency", "value": "5"}, "/value"),
        ({"network": "tiny", "fault": "html", "times": 0}, "/times"),
        ({"network": "tiny", "fault": "html", "method": "get"}, "/method"),
        ({"network": "tiny", "fault": "html", "path": "v1"}, "/path"),
        ({"network": "tiny", "fault": "html", "retryAfter": 9}, "/retryAfter"),
        ({"network": "tiny", "fault": "status", "value": 429, "retryAfter": 0}, "/retryAfter"),
        ([], ""),
    ],
)
async def test_the_control_door_refuses_what_it_does_not_know(web: httpx.AsyncClient, fault: Any, where: str) -> None:
    answer = await web.post("/_sandbox/faults", json=fault)
    assert (answer.status_code, answer.json()["error"]["where"]) == (422, where)
    assert (await web.get(CREATE)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example"},
        {"Host": "rebound.example:8000"},
        {"Origin": "https://page.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
    ],
    ids=str,
)
async def test_the_control_door_refuses_pages_of_others(web: httpx.AsyncClient, headers: dict[str, str]) -> None:
    fault = {"network": "tiny", "fault": "empty"}
    refused = await web.post("/_sandbox/faults", json=fault, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "foreign_origin")
    own = str(web.base_url).rstrip("/")
    assert (await web.post("/_sandbox/faults", json=fault, headers={"Origin": own})).json() == {"faults": 1}


async def test_the_rest_of_the_control_door(web: httpx.AsyncClient) -> None:
    assert (await web.post("/_sandbox/faults", content="{")).status_code == 422
    assert (await web.get("/_sandbox/writes?network=other")).status_code == 422
    assert (await web.get("/_sandbox/nothing")).status_code == 404
    quiet = {"network": "tiny", "days": ["2026-11-02", "2026-11-04"]}
    assert (await web.post("/_sandbox/quiet", json=quiet)).json() == {"quiet": 2}
    assert (await web.post("/_sandbox/quiet", json={**quiet, "days": ["2026-11-31"]})).status_code == 422
    assert (await web.post("/_sandbox/quiet", json={**quiet, "network": "other"})).status_code == 422
    refuse = {"network": "tiny", "ids": ["100"]}
    assert (await web.post("/_sandbox/refuse", json=refuse)).json() == {"refused": 1}
    assert (await web.post("/_sandbox/refuse", json={**refuse, "network": "other"})).status_code == 422
    await web.post(CREATE, json=ONE)
    await inject_fault(web, "html")
    assert (await web.post("/_sandbox/reset")).status_code == 200
    assert await list_writes(web) == []
    assert (await web.get(CREATE)).json() == {"data": []}  # and the token still holds
    assert (await web.post(CREATE, json=ONE)).json()["success"][0]["id"] == "100"


VERIFIER = "v" * 50
CONSENT = {
    "client_id": "sandbox-tiny",
    "redirect_uri": "https://app.example/back?a=1",
    "state": "s&1",
    "response_type": "code",
    "scope": "ads read",
    "code_challenge": base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("="),
    "code_challenge_method": "S256",
}


async def give_consent(web: httpx.AsyncClient) -> dict[str, str]:
    """What the token call needs, after a person has pressed the one button."""
    page = await web.get(f"/{LOGIN_HOST}/oauth", params=CONSENT)
    assert page.status_code == 200
    assert len(re.findall("<button|<input", page.text)) == 1
    action = re.search('action="([^"]*)"', page.text)
    assert action is not None
    redirect = await web.post(action[1].replace("&amp;", "&"))
    assert redirect.status_code == 302
    target = urlsplit(redirect.headers["Location"])
    callback = parse_qs(target.query)
    assert (target.netloc, callback["a"], callback["state"]) == ("app.example", ["1"], ["s&1"])
    return {
        "grant_type": "authorization_code",
        "code": callback["code"][0],
        "redirect_uri": CONSENT["redirect_uri"],
        "code_verifier": VERIFIER,
        **APP,
    }


async def test_consent_to_tokens_to_revocation(web: httpx.AsyncClient, clock: Clock) -> None:
    form = await give_consent(web)
    for wrong in (
        {"client_secret": "no"},
        {"redirect_uri": "https://app.example/"},
        {"code_verifier": "w" * 50},
        {"code": "unknown"},
    ):
        refused = await web.post(f"/{LOGIN_HOST}/token", data={**form, **wrong})
        code = "invalid_client" if "client_secret" in wrong else "invalid_grant"
        assert (refused.status_code, refused.json()) == (400, {"error": code})
    tokens = (await web.post(f"/{LOGIN_HOST}/token", data=form)).json()
    assert tokens["access_token"].startswith("Tiny|")
    assert (await web.post(f"/{LOGIN_HOST}/token", data=form)).json() == {"error": "invalid_grant"}  # single use

    async def reads_with(access: str) -> tuple[int, str]:
        answer = await web.get(CREATE, headers={"Authorization": f"Bearer {access}"})
        return answer.status_code, answer.json().get("tiny", {}).get("code", "")

    assert await reads_with(tokens["access_token"]) == (200, "")
    longer = {"grant_type": "longer", "token": tokens["access_token"], **APP}
    lasting = (await web.post(f"/{LOGIN_HOST}/token", data=longer)).json()["access_token"]
    clock.instant += timedelta(seconds=61)
    assert await reads_with(tokens["access_token"]) == (401, "token_expired")
    assert await reads_with(lasting) == (200, "")
    assert await reads_with("Tiny|other") == (401, "token_invalid")
    assert await reads_with(tokens["refresh_token"]) == (401, "token_invalid")
    again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    secret = httpx.BasicAuth("sandbox-tiny", "sandbox-secret")
    fresh = (await web.post(f"/{LOGIN_HOST}/token", data=again, auth=secret)).json()
    assert fresh["refresh_token"] == tokens["refresh_token"]
    assert await reads_with(fresh["access_token"]) == (200, "")
    wrong_secret = httpx.BasicAuth("sandbox-tiny", "other")
    assert (await web.post(f"/{LOGIN_HOST}/token", data=again, auth=wrong_secret)).json() == {"error": "invalid_client"}
    assert (await web.post(f"/{LOGIN_HOST}/revoke", data={"token": fresh["access_token"]})).status_code == 200
    assert await reads_with(fresh["access_token"]) == (401, "token_invalid")
    assert (await web.post(f"/{LOGIN_HOST}/token", data={**again, **APP})).json() == {"error": "invalid_grant"}
    assert (await web.post(f"/{LOGIN_HOST}/revoke", data={"token": fresh["access_token"]})).status_code == 400


async def test_a_code_expires(web: httpx.AsyncClient, clock: Clock) -> None:
    form = await give_consent(web)
    clock.instant += timedelta(minutes=11)
    assert (await web.post(f"/{LOGIN_HOST}/token", data=form)).json() == {"error": "invalid_grant"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"client_id": "other"},
        {"redirect_uri": "http://app.example/"},
        {"redirect_uri": "/back"},
        {"redirect_uri": "https://app.example/#x"},
        {"state": ""},
        {"response_type": "token"},
        {"scope": "read"},
        {"scope": "ads everything"},
        {"code_challenge_method": "plain"},
        {"code_challenge": "short"},
        {"prompt": "consent"},
    ],
)
async def test_consent_is_refused(web: httpx.AsyncClient, wrong: dict[str, str]) -> None:
    for method in ("GET", "POST"):
        answer = await web.request(method, f"/{LOGIN_HOST}/oauth", params={**CONSENT, **wrong})
        assert answer.status_code == 400
        assert "<button" not in answer.text


@pytest.mark.parametrize("code", ["UK", "XX", "ZZ", "EU", "us", "USA", ""])
def test_a_country_that_does_not_exist_is_refused(code: str) -> None:
    assert (country_code("GB", "/at"), country_code("TW", "/at")) == ("GB", "TW")
    with pytest.raises(InvalidRequest):
        country_code(code, "/at")


@pytest.mark.parametrize("name", ["", " ", "\t \n", "\u200b", "\u2060\ufeff \u00a0"])
def test_a_name_that_nobody_can_see_is_refused(name: str) -> None:
    assert visible_text()(" \u200ba", "/name") == " \u200ba"
    with pytest.raises(InvalidRequest):
        visible_text()(name, "/name")


def test_in_a_thread_and_a_port_that_is_taken() -> None:
    with sandbox_thread(networks=[TINY]) as running:
        assert httpx.get(f"{running.url}/_sandbox/writes").json() == {"writes": []}
        port = urlsplit(running.url).port
        assert port is not None
        with pytest.raises(OSError), sandbox_thread(port, networks=[TINY]):
            pass
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running.url}/_sandbox/writes")


@contextmanager
def process() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "adsunify.sandbox", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def test_in_a_process_of_its_own() -> None:
    with process() as started:
        assert started.stdout is not None
        url = json.loads(started.stdout.readline())["sandboxUrl"]
        assert urlsplit(url).hostname == "127.0.0.1"
        assert httpx.get(f"{url}/_sandbox/writes").json() == {"writes": []}
        started.send_signal(signal.SIGTERM)
        assert started.wait(10) == 0


NUMBERS = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.text() | NUMBERS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES)
def test_json_is_written_and_read_exactly(value: Any) -> None:
    assert parse_json(serialize_json(value).encode("utf-8", "surrogatepass")) == value


def test_numbers_keep_their_digits() -> None:
    assert parse_json("[0.1, 12345678901234567890.10, 1e2]") == [
        Decimal("0.1"),
        Decimal("12345678901234567890.10"),
        Decimal("1e2"),
    ]
    assert (
        serialize_json({"budget": Decimal("35.50"), "small": Decimal("1E-7")}) == '{"budget":35.50,"small":0.0000001}'
    )
    with pytest.raises(TypeError):
        serialize_json({"budget": 35.5})
