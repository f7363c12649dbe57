"""A told 401 has the shape in which each network refuses a token, as its documentation shows it."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from adsunify.sandbox import sandbox

# network: a native path, the status of the answer, members of its body by place, a header
REFUSED: Mapping[str, tuple[str, int, Mapping[str, Any], str]] = {
    "amazon": ("/advertising-api.amazon.com/sp/campaigns/list", 401, {"code": "UNAUTHORIZED"}, ""),
    "apple": ("/api.ads.apple.com/v1/me", 401, {"error.code": "unauthorized", "error.details": []}, ""),
    "chatgpt": (
        "/api.ads.openai.com/v1/ad_account",
        401,
        {"error.type": "invalid_request_error", "error.code": "invalid_api_key", "error.param": None},
        "",
    ),
    "google": (
        "/googleads.googleapis.com/v26/customers:listAccessibleCustomers",
        401,
        {"error.code": 401, "error.status": "UNAUTHENTICATED"},
        "",
    ),
    "linkedin": ("/api.linkedin.com/rest/adAccounts", 401, {"serviceErrorCode": 65602, "status": 401}, ""),
    "meta": ("/graph.facebook.com/v26.0/me", 401, {"error.code": 190, "error.type": "OAuthException"}, ""),
    "outbrain": ("/api.outbrain.com/amplify/v0.1/marketers", 401, {"errorMessage": "HTTP 401"}, ""),
    "pinterest": ("/api.pinterest.com/v5/ad_accounts", 401, {"code": 2, "message": "Authentication failed."}, ""),
    "reddit": (
        "/ads-api.reddit.com/api/v3/me/businesses",
        401,
        {"error.code": 401, "error.message": "Unauthorized"},
        "",
    ),
    "snapchat": (
        "/adsapi.snapchat.com/v1/me/organizations",
        401,
        {"request_status": "ERROR", "error_code": "E1101"},
        'Bearer error="invalid_token"',
    ),
    "tiktok": ("/business-api.tiktok.com/open_api/v1.3/campaign/get/", 200, {"code": 40105, "data": {}}, ""),
    "x": ("/ads-api.x.com/12/accounts", 401, {"errors": [{"code": "UNAUTHORIZED_ACCESS", "message": "HTTP 401"}]}, ""),
}


@pytest.mark.parametrize("network", REFUSED)
async def test_a_told_401_is_the_refusal_of_a_token(network: str) -> None:
    path, status, members, challenge = REFUSED[network]
    method = "POST" if network == "amazon" else "GET"
    async with sandbox() as running, httpx.AsyncClient(base_url=running.url) as web:
        told = {"network": network, "fault": "status", "value": 401}
        assert (await web.post("/_sandbox/faults", json=told)).status_code == 200
        answer = await web.request(method, path)
    assert answer.status_code == status
    assert answer.headers.get("WWW-Authenticate", "") == challenge
    for place, value in members.items():
        found = answer.json()
        for name in place.split("."):
            found = found[name]
        assert found == value, (place, answer.text)
