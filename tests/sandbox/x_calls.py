"""Calls to the simulated X Ads network over real HTTP, with the tests' own OAuth 1.0a signatures."""

import base64
import gzip
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.x import NETWORK

from . import calls

HOST, LOGIN, FILES = "ads-api.x.com", "api.x.com", "ton.twimg.com"
DOLLARS, YEN, EUROS, ANALYST = "18ce54d4x5t", "18ce55gkc1j", "18ce55pq2eu", "18ce55vw9gb"
INSTRUMENT = {DOLLARS: "k9x2", YEN: "m4jp7", EUROS: "e2ur5"}
CALLBACK = "https://app.example/connect/callback/x"
POST = "1880000000000000001"

# the documented steps
CAMPAIGN = {
    "budget_optimization": "LINE_ITEM",
    "daily_budget_amount_local_micro": "42500000",
    "entity_status": "PAUSED",
    "funding_instrument_id": "k9x2",
    "name": "Winter sale",
}
LINE_ITEM = {
    "objective": "WEBSITE_CLICKS",
    "product_type": "PROMOTED_TWEETS",
    "placements": "ALL_ON_TWITTER",
    "start_time": "2026-12-01T08:00:00Z",
    "end_time": "2026-12-21T08:00:00Z",
    "goal": "LINK_CLICKS",
    "bid_strategy": "MAX",
    "bid_amount_local_micro": "1500000",
    "entity_status": "PAUSED",
    "name": "Winter sale",
}
FRANCE = {"targeting_type": "LOCATION", "targeting_value": "0a1b2c3d4e5f6071", "operator_type": "EQ"}
BOOTS = {"targeting_type": "PHRASE_KEYWORD", "targeting_value": "ski boots", "operator_type": "EQ"}


class Clock(calls.Clock):
    start = datetime(2026, 11, 20, 12, tzinfo=UTC)


def encode_query(parameters: Mapping[str, Any]) -> str:
    return "&".join(f"{name}={quote(str(value), safe='')}" for name, value in parameters.items())


def sign_request(method: str, url: str, values: Mapping[str, str], body: str, secret: str, token_secret: str) -> str:
    """The documented signature: of the OAuth values, the query and a form body."""
    address, _, query = url.partition("?")
    pairs = [*values.items(), *parse_qsl(query, keep_blank_values=True), *parse_qsl(body, keep_blank_values=True)]
    escaped = sorted((quote(name, safe=""), quote(value, safe="")) for name, value in pairs)
    parameters = "&".join(f"{name}={value}" for name, value in escaped)
    base = "&".join(quote(part, safe="") for part in (method, address, parameters))
    key = f"{quote(secret, safe='')}&{quote(token_secret, safe='')}"
    return base64.b64encode(hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()).decode()


class X:
    """A connected client."""

    def __init__(self, http: httpx.AsyncClient, clock: Clock) -> None:
        self.http = http
        self.clock = clock
        self.token: dict[str, str] = {}
        self.nonces = 0

    def build_authorization(self, method: str, url: str, token: Mapping[str, str], body: str = "", **more: str) -> str:
        """The header of a request; `more` overrides or adds OAuth values, and the secrets."""
        self.nonces += 1
        values = {
            "oauth_consumer_key": "sandbox-x",
            "oauth_nonce": f"nonce{self.nonces}",
            "oauth_signature_method": "HMAC-SHA1",
            "oauth_timestamp": str(int(self.clock().timestamp())),
            **({"oauth_token": token["oauth_token"]} if token else {}),
            "oauth_version": "1.0",
            **{name: value for name, value in more.items() if name.startswith("oauth_")},
        }
        secrets = (
            more.get("client_secret", "sandbox-secret"),
            more.get("token_secret", token.get("oauth_token_secret", "")),
        )
        values["oauth_signature"] = sign_request(method, url, values, body, *secrets)
        return "OAuth " + ", ".join(f'{name}="{quote(value, safe="")}"' for name, value in values.items())

    async def send(self, method: str, address: str, header: str | None, **more: Any) -> httpx.Response:
        headers = {**more.pop("headers", {}), **({} if header is None else {"Authorization": header})}
        return await self.http.request(method, f"/{address.removeprefix('https://')}", headers=headers, **more)

    async def call(self, method: str, path: str, body: Any = None, /, **parameters: Any) -> httpx.Response:
        query = encode_query(parameters)
        url = f"https://{HOST}/12/{path}" + (f"?{query}" if query else "")
        header = self.build_authorization(method, url, self.token)
        return await self.send(method, url, header, **({} if body is None else {"json": body}))

    async def fetch_data(self, method: str, path: str, body: Any = None, /, **parameters: Any) -> Any:
        answer = await self.call(method, path, body, **parameters)
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-current-api-version"] == "12"
        return answer.json()["data"]

    async def get_refusal(self, method: str, path: str, body: Any = None, /, **parameters: Any) -> tuple[int, str, str]:
        """Status, code and parameter of the first error."""
        answer = await self.call(method, path, body, **parameters)
        error = answer.json()["errors"][0]
        assert error["message"]
        return answer.status_code, error["code"], error.get("parameter", "")

    async def create_campaign(self, account: str = DOLLARS, **more: Any) -> str:
        parameters = {**CAMPAIGN, "funding_instrument_id": INSTRUMENT[account], **more}
        return str((await self.fetch_data("POST", f"accounts/{account}/campaigns", **parameters))["id"])

    async def create_line_item(self, account: str = DOLLARS, **more: Any) -> str:
        parameters = {
            **LINE_ITEM,
            "campaign_id": more.pop("campaign_id", None) or await self.create_campaign(account),
            **more,
        }
        return str((await self.fetch_data("POST", f"accounts/{account}/line_items", **parameters))["id"])

    async def list_writes(self) -> list[tuple[str, str, str]]:
        rows = (await self.http.get("/_sandbox/writes?network=x")).json()["writes"]
        return [(row["method"], row["kind"], row["id"]) for row in rows]

    async def inject_fault(self, fault: str, **more: Any) -> None:
        answer = await self.http.post("/_sandbox/faults", json={"network": "x", "fault": fault, **more})
        assert answer.status_code == 200

    # -- the three legs

    async def fetch_request_token(self, callback: str = CALLBACK, **more: str) -> httpx.Response:
        url = f"https://{LOGIN}/oauth/request_token"
        return await self.send("POST", url, self.build_authorization("POST", url, {}, oauth_callback=callback, **more))

    async def give_consent(self, token: str) -> dict[str, str]:
        page = await self.http.get(f"/{LOGIN}/oauth/authorize?oauth_token={token}")
        assert page.text.count("<form") == page.text.count("<button") == 1
        answer = await self.http.post(f"/{LOGIN}/oauth/authorize?oauth_token={token}")
        assert answer.status_code == 302, answer.text
        callback = urlsplit(answer.headers["Location"])
        assert f"{callback.scheme}://{callback.netloc}{callback.path}" == CALLBACK
        return {name: values[0] for name, values in parse_qs(callback.query).items()}

    async def fetch_access_token(self, token: Mapping[str, str], verifier: str, **more: str) -> httpx.Response:
        url = f"https://{LOGIN}/oauth/access_token"
        return await self.send(
            "POST", url, self.build_authorization("POST", url, token, oauth_verifier=verifier, **more)
        )

    async def connect(self) -> dict[str, str]:
        request_token = read_form(await self.fetch_request_token())
        callback = await self.give_consent(request_token["oauth_token"])
        self.token = read_form(await self.fetch_access_token(request_token, callback["oauth_verifier"]))
        return self.token

    async def download(self, url: str, **headers: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.http.base_url, verify=False) as stranger:
            return await stranger.get("/" + url.removeprefix("https://"), headers=headers)


def read_form(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/x-www-form-urlencoded")
    return dict(parse_qsl(answer.text, strict_parsing=True))


def unpack_rows(content: bytes) -> Any:
    return json.loads(gzip.decompress(content))


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[X]:
    """A sandbox with this network alone, and a client that has consented."""
    # without certificates: there is only http here, and reading them takes longer than a test
    async with (
        sandbox(networks=[NETWORK], clock=clock) as running,
        httpx.AsyncClient(base_url=running.url, verify=False) as http,
    ):
        x = X(http, clock)
        await x.connect()
        yield x
