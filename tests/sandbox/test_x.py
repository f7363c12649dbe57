"""The simulated X Ads network: the three legs of OAuth 1.0a, signatures, accounts, and faults."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import inject_fault
from tests.sandbox.x_calls import (
    ANALYST,
    CALLBACK,
    CAMPAIGN,
    DOLLARS,
    EUROS,
    HOST,
    LOGIN,
    Clock,
    X,
    read_form,
    sign_request,
)


async def test_three_legs_bring_a_token_of_the_user(x: X) -> None:
    request_token = read_form(await x.fetch_request_token())
    assert request_token["oauth_callback_confirmed"] == "true"
    callback = await x.give_consent(request_token["oauth_token"])
    assert callback["oauth_token"] == request_token["oauth_token"]
    access_token = read_form(await x.fetch_access_token(request_token, callback["oauth_verifier"]))
    assert set(access_token) == {"oauth_token", "oauth_token_secret", "user_id", "screen_name"}
    assert access_token["oauth_token"].startswith(f"{access_token['user_id']}-")


async def test_a_request_token_serves_once_and_ten_minutes(x: X, clock: Clock) -> None:
    request_token = read_form(await x.fetch_request_token())
    verifier = (await x.give_consent(request_token["oauth_token"]))["oauth_verifier"]
    assert (await x.fetch_access_token(request_token, "wrong")).status_code == 401
    assert (await x.fetch_access_token(request_token, verifier)).status_code == 200
    assert (await x.fetch_access_token(request_token, verifier)).json()["errors"][0]["code"] == 89
    late = read_form(await x.fetch_request_token())
    clock.instant += timedelta(minutes=11)
    page = await x.http.get(f"/{LOGIN}/oauth/authorize?oauth_token={late['oauth_token']}")
    assert page.status_code == 400
    assert "<form" not in page.text


async def test_without_consent_there_is_no_access(x: X) -> None:
    request_token = read_form(await x.fetch_request_token())
    assert (await x.fetch_access_token(request_token, "verifier")).status_code == 401


@pytest.mark.parametrize(
    "callback", ["http://app.example/back", "https://app.example/back#x", f"{CALLBACK}?state=s", "oob"]
)
async def test_callbacks_are_https_addresses_without_a_query(x: X, callback: str) -> None:
    assert (await x.fetch_request_token(callback)).status_code == 400


async def test_request_tokens_need_the_secret_of_the_app(x: X) -> None:
    assert (await x.fetch_request_token(client_secret="other")).status_code == 401
    assert (await x.fetch_request_token(oauth_consumer_key="sandbox-meta")).status_code == 401
    assert (await x.http.post(f"/{LOGIN}/oauth/request_token")).status_code == 401


async def test_a_read_only_token_writes_nothing(x: X) -> None:
    url = f"https://{LOGIN}/oauth/request_token?x_auth_access_type=read"
    request_token = read_form(
        await x.send("POST", url, x.build_authorization("POST", url, {}, oauth_callback=CALLBACK))
    )
    callback = await x.give_consent(request_token["oauth_token"])
    x.token = read_form(await x.fetch_access_token(request_token, callback["oauth_verifier"]))
    assert await x.fetch_data("GET", "accounts")
    refused = await x.get_refusal("POST", f"accounts/{DOLLARS}/campaigns", **CAMPAIGN)
    assert refused[:2] == (403, "READONLY_CLIENT_APPLICATION")


async def test_a_revoked_token_is_refused_by_both_hosts(x: X) -> None:
    url = f"https://{LOGIN}/1.1/oauth/invalidate_token.json"
    revoked = await x.send("POST", url, x.build_authorization("POST", url, x.token))
    assert revoked.json() == {"access_token": x.token["oauth_token"]}
    again = await x.send("POST", url, x.build_authorization("POST", url, x.token))
    assert (again.status_code, again.json()["errors"][0]["code"]) == (401, 89)
    assert (await x.get_refusal("GET", "accounts"))[:2] == (401, "UNAUTHORIZED_ACCESS")


URL = f"https://{HOST}/12/accounts?sort_by=name-asc&q=Demo%20Outdoor%2C%20JP%3A"


@pytest.mark.parametrize(
    "wrong",
    [
        {"oauth_consumer_key": "sandbox-meta"},
        {"client_secret": "other"},
        {"token_secret": "other"},
        {"oauth_token": "1730999-nobody"},
        {"oauth_timestamp": "1795175000"},
        {"oauth_timestamp": "yesterday"},
        {"oauth_signature_method": "PLAINTEXT"},
        {"oauth_signature_method": "HMAC-SHA256"},
        {"oauth_nonce": "with blank"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_every_part_of_a_signature_counts(x: X, wrong: dict[str, str]) -> None:
    assert (await x.send("GET", URL, x.build_authorization("GET", URL, x.token))).status_code == 200
    answer = await x.send("GET", URL, x.build_authorization("GET", URL, x.token, **wrong))
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (401, "UNAUTHORIZED_ACCESS")


@pytest.mark.parametrize(
    "url",
    [
        URL.replace("%2C", ","),
        URL.replace("%3A", ":"),
        URL.replace("%20", "+"),
        URL.replace("%2C", "%2c"),
        URL + "&count=1",
        URL.replace("accounts?", "bidding_rules?"),
        URL.replace(HOST, "ton.twimg.com"),
    ],
)
async def test_what_is_sent_is_what_was_signed(x: X, url: str) -> None:
    header = x.build_authorization("GET", URL, x.token)
    assert (await x.send("GET", url, header)).status_code in (401, 404)
    assert (await x.send("PUT", URL, header)).status_code == 405


async def test_a_nonce_serves_once(x: X, clock: Clock) -> None:
    header = x.build_authorization("GET", URL, x.token)
    assert (await x.send("GET", URL, header)).status_code == 200
    assert (await x.send("GET", URL, header)).status_code == 401
    clock.instant += timedelta(minutes=4)
    assert (await x.send("GET", URL, header)).status_code == 401
    clock.instant += timedelta(minutes=20)
    assert (await x.send("GET", URL, header)).status_code == 401  # now the timestamp is out of bounds
    assert (
        await x.send("GET", URL, x.build_authorization("GET", URL, x.token, oauth_nonce="nonce1"))
    ).status_code == 200


@pytest.mark.parametrize("fault", [{"fault": "status", "value": 503}, {"fault": "reset_before"}], ids=str)
async def test_a_nonce_is_used_up_by_a_call_that_fails(x: X, fault: dict[str, Any]) -> None:
    header = x.build_authorization("GET", URL, x.token)
    await inject_fault("x", x.http, **fault)
    with suppress(httpx.RemoteProtocolError):
        assert (await x.send("GET", URL, header)).status_code == 503
    assert (await x.send("GET", URL, header)).status_code == 401
    assert (await x.send("GET", URL, x.build_authorization("GET", URL, x.token))).status_code == 200


async def test_form_bodies_are_signed_and_json_is_not(x: X) -> None:
    url = f"https://{HOST}/12/accounts/{DOLLARS}/campaigns"
    body = "&".join(f"{name}={value}" for name, value in CAMPAIGN.items()).replace(" ", "+")
    header = x.build_authorization("POST", url, x.token, body)
    media = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await x.send("POST", url, header, content=body, headers=media)
    assert answer.json()["data"]["name"] == "Winter sale"
    forged = await x.send(
        "POST",
        url,
        x.build_authorization("POST", url, x.token, body),
        content=body.replace("PAUSED", "ACTIVE"),
        headers=media,
    )
    assert forged.status_code == 401
    twice = f"{url}?name=Other"
    header = x.build_authorization("POST", twice, x.token, body)
    assert (await x.send("POST", twice, header, content=body, headers=media)).status_code == 401


@pytest.mark.parametrize("header", [None, "Bearer abc", "OAuth", 'OAuth oauth_token="1"', "OAuth oauth_token=1"])
async def test_other_authorizations_are_refused(x: X, header: str | None) -> None:
    answer = await x.send("GET", URL, header)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (401, "UNAUTHORIZED_ACCESS")


async def test_accounts_have_no_currency_and_instruments_have(x: X) -> None:
    accounts = await x.fetch_data("GET", "accounts", count=1000)
    assert [(account["timezone"], "currency" in account) for account in accounts[:2]] == [
        ("America/New_York", False),
        ("Asia/Tokyo", False),
    ]
    instruments = await x.fetch_data("GET", f"accounts/{EUROS}/funding_instruments")
    assert [(instrument["currency"], instrument["able_to_fund"]) for instrument in instruments] == [
        ("GBP", False),
        ("EUR", True),
        ("EUR", True),
    ]
    other = await x.fetch_data("GET", f"accounts/{DOLLARS}/funding_instruments", funding_instrument_ids="zz9,missing1")
    assert [(instrument["id"], instrument["currency"], instrument["able_to_fund"]) for instrument in other] == [
        ("zz9", "USD", True)
    ]
    broken = await x.fetch_data("GET", f"accounts/{DOLLARS}/funding_instruments/ineligible1")
    assert (broken["able_to_fund"], broken["reasons_not_able_to_fund"]) == (False, ["INELIGIBLE"])


async def test_who_may_write(x: X) -> None:
    access = await x.fetch_data("GET", f"accounts/{ANALYST}/authenticated_user_access")
    assert access["permissions"] == ["CAMPAIGN_ANALYST"]
    refused = await x.get_refusal(
        "POST", f"accounts/{ANALYST}/campaigns", **{**CAMPAIGN, "funding_instrument_id": "l5gb3"}
    )
    assert refused[:2] == (403, "ACTION_NOT_ALLOWED")
    assert (await x.get_refusal("GET", "accounts/nobody/campaigns"))[:2] == (403, "ACCOUNT_NOT_FOUND")
    assert await x.list_writes() == []


async def test_accounts_are_paged(x: X) -> None:
    first = (await x.call("GET", "accounts", count=3)).json()
    second = (await x.call("GET", "accounts", count=3, cursor=first["next_cursor"])).json()
    assert (len(first["data"]), len(second["data"]), second["next_cursor"]) == (3, 1, None)
    for wrong in ({"count": 0}, {"count": 1001}, {"cursor": "x"}, {"status": "ACTIVE"}):
        assert (await x.get_refusal("GET", "accounts", **wrong)) == (400, "INVALID_PARAMETER", next(iter(wrong)))
    refused = await x.get_refusal("GET", "accounts", with_total_count="true", cursor=first["next_cursor"])
    assert refused[:2] == (400, "EXCLUSIVE_PARAMETERS")


FAULTS: list[tuple[int, str, dict[str, str]]] = [
    (401, "UNAUTHORIZED_ACCESS", {}),
    (403, "ACTION_NOT_ALLOWED", {}),
    (408, "CANCELLED_REQUEST", {}),
    (423, "LOCK_ACQUISITION_TIMEOUT", {}),
    (500, "INTERNAL_ERROR", {}),
    (503, "SERVICE_UNAVAILABLE", {"retry-after": "7"}),
    (504, "INTERNAL_ERROR", {}),
]


@pytest.mark.parametrize(("status", "code", "headers"), FAULTS)
async def test_told_statuses_have_their_codes(x: X, status: int, code: str, headers: dict[str, Any]) -> None:
    await x.inject_fault("status", value=status)
    answer = await x.call("POST", f"accounts/{DOLLARS}/campaigns", **CAMPAIGN)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (status, code)
    assert headers.items() <= answer.headers.items()
    assert await x.list_writes() == []


async def test_too_many_requests_say_until_when(x: X, clock: Clock) -> None:
    await x.inject_fault("status", value=429)
    answer = await x.call("POST", f"accounts/{DOLLARS}/campaigns", **CAMPAIGN)
    assert answer.json()["errors"][0]["code"] == "TOO_MANY_REQUESTS"
    assert int(answer.headers["x-account-rate-limit-reset"]) == int(clock().timestamp()) + 7
    assert int(answer.headers["x-rate-limit-reset"]) == int(clock().timestamp()) + 900
    assert answer.headers["Date"] == "Fri, 20 Nov 2026 12:00:00 GMT"


async def test_unknown_ways(x: X) -> None:
    assert (await x.get_refusal("GET", "nowhere"))[:2] == (404, "ROUTE_NOT_FOUND")
    assert (await x.get_refusal("PUT", f"accounts/{DOLLARS}/promoted_tweets/1"))[:2] == (405, "METHOD_NOT_ALLOWED")


def test_the_tests_sign_as_the_published_example() -> None:
    parameters = {
        "oauth_consumer_key": "xvz1evFS4wEEPTGEFPHBog",
        "oauth_nonce": "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": "1318622958",
        "oauth_token": "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        "oauth_version": "1.0",
    }
    url = "https://api.twitter.com/1.1/statuses/update.json?include_entities=true"
    body = "status=Hello%20Ladies%20%2b%20Gentlemen%2c%20a%20signed%20OAuth%20request%21"
    secrets = "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw", "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"
    assert sign_request("POST", url, parameters, body, *secrets) == "hCtSmYh+iHYCEqBWrE7C7hYmtUk="
