"""The simulated Pinterest API over real HTTP: logging in, accounts, the documented example, boards and catalogs."""

from datetime import timedelta
from typing import Any

import httpx

from tests.sandbox.calls import list_writes
from tests.sandbox.pinterest_calls import (
    APP,
    CALLBACK,
    CONSENT,
    CONSENT_PAGE,
    LONDON,
    NEW_YORK,
    PIN,
    TOKYO,
    V5,
    Clock,
    create_example,
    get_code,
    inject_fault,
    open_client,
    patch,
    read,
    read_data,
    read_refusal,
    request_token,
)

# The whole way


async def test_the_example_of_the_documentation(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    order = ("pin", "campaign", "ad_group", "keyword", "ad")
    assert await list_writes(web) == [("POST", kind, example[kind]) for kind in order]
    for path, kind, body in (
        ("ads", "ad", {}),
        ("ad_groups", "ad_group", {}),
        ("campaigns", "campaign", {"ad_account_id": NEW_YORK}),
    ):
        entity = await read(web, f"ad_accounts/{NEW_YORK}/{path}/{example[kind]}")
        assert (entity["status"], entity["summary_status"]) == ("PAUSED", "PAUSED")
        activated = read_data(await patch(web, path, [{"id": example[kind], **body, "status": "ACTIVE"}]))
        assert (activated["id"], activated["status"]) == (example[kind], "ACTIVE")
    campaign = await read(web, f"ad_accounts/{NEW_YORK}/campaigns/{example['campaign']}")
    assert campaign["summary_status"] == "NOT_STARTED"
    assert campaign["lifetime_spend_cap"] is None


async def test_an_ad_is_under_review_at_first(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    ad = read_data(await patch(web, "ads", [{"id": example["ad"], "status": "ACTIVE"}]))
    assert (ad["review_status"], ad["summary_status"]) == ("PENDING", "PENDING")
    clock.instant += timedelta(minutes=2)
    ad = await read(web, f"ad_accounts/{NEW_YORK}/ads/{example['ad']}")
    assert (ad["review_status"], ad["summary_status"]) == ("APPROVED", "APPROVED")


# Logging in


async def test_tokens_and_their_rotation(web: httpx.AsyncClient, clock: Clock) -> None:
    first = (await request_token(web, grant_type="authorization_code", code=await get_code(web))).json()
    assert first["response_type"] == "authorization_code"
    assert (first["token_type"], first["expires_in"]) == ("bearer", 2592000)
    assert first["refresh_token_expires_in"] == 5184000
    assert first["refresh_token_expires_at"] == int(clock.instant.timestamp()) + 5184000
    assert set(first["scope"].split()) == set(CONSENT["scope"].split(","))
    second = (await request_token(web, grant_type="refresh_token", refresh_token=first["refresh_token"])).json()
    assert second["response_type"] == "refresh_token"
    assert second["refresh_token"] != first["refresh_token"]
    read_refusal(await request_token(web, grant_type="refresh_token", refresh_token=first["refresh_token"]), 400, 1)
    clock.instant += timedelta(days=60)
    read_refusal(await request_token(web, grant_type="refresh_token", refresh_token=second["refresh_token"]), 400, 1)


async def test_a_code_is_good_once_and_ten_minutes(web: httpx.AsyncClient, clock: Clock) -> None:
    used = await get_code(web)
    assert (await request_token(web, grant_type="authorization_code", code=used)).status_code == 200
    read_refusal(await request_token(web, grant_type="authorization_code", code=used), 400, 1)
    old = await get_code(web)
    clock.instant += timedelta(minutes=10)
    read_refusal(await request_token(web, grant_type="authorization_code", code=old), 400, 1)


async def test_token_calls_that_are_refused(web: httpx.AsyncClient) -> None:
    form = {"grant_type": "authorization_code", "code": await get_code(web), "redirect_uri": CALLBACK}
    read_refusal(await web.post(f"{V5}/oauth/token", data=form, auth=("sandbox-pinterest", "wrong")), 401, 2)
    read_refusal(await web.post(f"{V5}/oauth/token", data=form), 401, 2)
    read_refusal(await web.post(f"{V5}/oauth/token", json=form, auth=APP), 415, 415)
    for change in ({"code_verifier": "v" * 43}, {"client_secret": "sandbox-secret"}, {"grant_type": "password"}):
        read_refusal(await web.post(f"{V5}/oauth/token", data={**form, **change}, auth=APP), 400, 1)
    read_refusal(await request_token(web, **{**form, "redirect_uri": "https://else.example/"}), 400, 1)


CONSENTS_THAT_ARE_REFUSED: list[dict[str, Any]] = [
    {"scope": "ads:read ads:write boards:read boards:write pins:read pins:write user_accounts:read"},
    {"scope": "ads:read"},
    {"response_type": "token"},
    {"client_id": "other"},
    {"code_challenge": "c" * 43, "code_challenge_method": "S256"},
    {"redirect_uri": "http://app.example/"},
    {"state": ""},
]


async def test_consents_that_are_refused(web: httpx.AsyncClient) -> None:
    for change in CONSENTS_THAT_ARE_REFUSED:
        assert (await web.get(CONSENT_PAGE, params={**CONSENT, **change})).status_code == 400


async def test_the_token_of_a_person_cannot_be_revoked(web: httpx.AsyncClient) -> None:
    form = {"token": web.headers["Authorization"][7:], "token_type_hint": "access_token"}
    message = read_refusal(await web.post(f"{V5}/oauth/token/revoke", data=form, auth=APP), 403, 29)
    assert message == "You are not permitted to access that resource."
    read_refusal(await web.post(f"{V5}/oauth/token/revoke", data=form), 401, 2)
    assert (await web.get(f"{V5}/ad_accounts")).status_code == 200


async def test_calls_need_a_valid_token(web: httpx.AsyncClient, clock: Clock) -> None:
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer nobody"}, {"Authorization": "Basic eA=="}):
        message = read_refusal(await web.get(f"{V5}/ad_accounts", headers=headers), 401, 2)
        assert message == "Authentication failed."
    read_refusal(await web.get(f"{V5}/ad_accounts", headers={"Accept": "text/html"}), 406, 406)
    clock.instant += timedelta(days=30)
    read_refusal(await web.get(f"{V5}/ad_accounts"), 401, 2)


async def test_unknown_paths_and_methods(web: httpx.AsyncClient) -> None:
    read_refusal(await web.get(f"{V5}/campaigns"), 404, 404)
    read_refusal(await web.delete(f"{V5}/ad_accounts/{NEW_YORK}/campaigns/1"), 405, 405)
    read_refusal(await web.get("/api.pinterest.com/v4/ad_accounts"), 404, 404)


# Accounts


async def test_accounts_are_paged(web: httpx.AsyncClient) -> None:
    whole = await read(web, "ad_accounts", page_size=250, include_shared_accounts="true")
    assert whole["bookmark"] is None
    first = await read(web, "ad_accounts", page_size=3)
    rest = await read(web, "ad_accounts", page_size=3, bookmark=first["bookmark"])
    assert first["items"] + rest["items"] == whole["items"]
    assert rest["bookmark"] is None
    by_id = {account["id"]: account for account in whole["items"]}
    assert (by_id[NEW_YORK]["currency"], by_id[NEW_YORK]["time_zone"]) == ("USD", "America/New_York")
    assert (by_id[TOKYO]["currency"], by_id[TOKYO]["time_zone"]) == ("JPY", "Asia/Tokyo")
    assert "time_zone" not in by_id[LONDON]
    assert {account["currency"] for account in whole["items"]} == {"USD", "JPY", "EUR", "GBP", "UNK"}
    own = await read(web, "ad_accounts", include_shared_accounts="false")
    assert {account["owner"]["username"] for account in own["items"]} == {"demotea"}
    assert await read(web, f"ad_accounts/{TOKYO}") == by_id[TOKYO]


ACCOUNT_LISTS_THAT_ARE_REFUSED: list[dict[str, Any]] = [
    {"page_size": 0},
    {"page_size": 251},
    {"bookmark": "no"},
    {"limit": 25},
    {"include_shared_accounts": 1},
]


async def test_account_lists_that_are_refused(web: httpx.AsyncClient) -> None:
    for query in ACCOUNT_LISTS_THAT_ARE_REFUSED:
        read_refusal(await web.get(f"{V5}/ad_accounts", params=query), 400, 400)


async def test_access_of_a_person(web: httpx.AsyncClient) -> None:
    read_refusal(await web.get(f"{V5}/ad_accounts/549755880000"), 403, 29)
    read_refusal(await web.get(f"{V5}/ad_accounts/act_1"), 400, 400)
    read_refusal(await web.post(f"{V5}/ad_accounts/{LONDON}/campaigns", json=[{}]), 403, 29)  # an analyst only
    assert (await read(web, f"ad_accounts/{LONDON}/campaigns"))["items"]
    person = await read(web, "user_account")
    assert (person["username"], person["account_type"]) == ("demotea", "BUSINESS")
    assert (await read(web, "user_account", ad_account_id=TOKYO))["username"] == "teatokyo"
    read_refusal(await web.get(f"{V5}/user_account", params={"ad_account_id": "1"}), 403, 403)


# Boards and Pins


async def test_a_pin_is_published_at_once(web: httpx.AsyncClient) -> None:
    answer = await web.post(f"{V5}/pins", params={"ad_account_id": NEW_YORK}, json=PIN)
    assert answer.status_code == 201
    created = answer.json()
    assert {name: created[name] for name in PIN if name != "media_source"} == {
        name: value for name, value in PIN.items() if name != "media_source"
    }
    assert (created["creative_type"], created["is_owner"]) == ("REGULAR", True)
    assert await read(web, f"pins/{created['id']}", ad_account_id=NEW_YORK) == created
    on_board = await read(web, f"boards/{PIN['board_id']}/pins", ad_account_id=NEW_YORK)
    assert created["id"] in [pin["id"] for pin in on_board["items"]]
    assert (await web.delete(f"{V5}/pins/{created['id']}")).status_code == 204
    read_refusal(await web.get(f"{V5}/pins/{created['id']}"), 404, 50)
    read_refusal(await web.delete(f"{V5}/pins/{created['id']}"), 404, 50)


PINS_THAT_ARE_REFUSED: list[tuple[dict[str, Any], int, int]] = [
    ({"title": "t" * 101}, 400, 1),
    ({"description": "d" * 801}, 400, 1),
    ({"link": "https://shop.example/" + "x" * 2048}, 400, 1),
    ({"link": "shop.example"}, 400, 1),
    ({"alt_text": "a" * 501}, 400, 1),
    ({"name": "Autumn"}, 400, 1),
    ({"media_source": {"source_type": "image_url", "url": "https://cdn.example/missing.jpg"}}, 400, 1),
    ({"media_source": {"source_type": "image_url"}}, 400, 1),
    ({"media_source": {"url": "https://cdn.example/kit.jpg"}}, 400, 1),
    ({"board_id": 730146114520000001}, 400, 1),
    ({"board_id": "missing"}, 404, 40),
    ({"board_id": "ineligible"}, 403, 29),
    ({"board_section_id": "missing"}, 404, 2031),
    ({"board_id": "730146114520000011"}, 404, 40),  # of the owner of another account
    ({"board_id": "730146114520000003"}, 404, 40),  # secret
]


async def test_pins_that_are_refused(web: httpx.AsyncClient) -> None:
    for change, status, own in PINS_THAT_ARE_REFUSED:
        query = {"ad_account_id": NEW_YORK}
        read_refusal(await web.post(f"{V5}/pins", params=query, json={**PIN, **change}), status, own)
        assert await list_writes(web) == []


async def test_the_owner_of_the_ad_account_acts(web: httpx.AsyncClient) -> None:
    theirs = {**PIN, "board_id": "730146114520000011"}
    assert (await web.post(f"{V5}/pins", params={"ad_account_id": TOKYO}, json=theirs)).status_code == 201
    read_refusal(await web.post(f"{V5}/pins", json=theirs), 404, 40)
    elsewhere = {**PIN, "board_id": "730146114529999999"}  # made elsewhere, so it exists
    assert (await web.post(f"{V5}/pins", params={"ad_account_id": TOKYO}, json=elsewhere)).status_code == 201
    read_refusal(await web.post(f"{V5}/pins", params={"ad_account_id": LONDON}, json=elsewhere), 403, 29)


async def test_boards_by_privacy(web: httpx.AsyncClient, clock: Clock) -> None:
    async def list_names(web: httpx.AsyncClient, privacy: str) -> list[str]:
        page = await read(web, "boards", ad_account_id=NEW_YORK, privacy=privacy, page_size=250)
        return [board["name"] for board in page["items"]]

    assert await list_names(web, "ALL") == ["Autumn", "Ad-only Pins"]
    assert await list_names(web, "PROTECTED") == ["Ad-only Pins"]
    board = await read(web, "boards/730146114520000002")
    assert (board["is_ads_only"], board["privacy"], board["owner"]) == (True, "PROTECTED", {"username": "demotea"})
    async with open_client(clock, scope=f"{CONSENT['scope']},boards:read_secret") as other:
        assert await list_names(other, "ALL") == ["Autumn", "Ad-only Pins", "Plans"]


async def test_pins_of_every_type(web: httpx.AsyncClient) -> None:
    first = await read(web, "pins", ad_account_id=NEW_YORK, page_size=4)
    rest = await read(web, "pins", ad_account_id=NEW_YORK, page_size=4, bookmark=first["bookmark"])
    kinds = [pin["creative_type"] for pin in first["items"] + rest["items"]]
    assert kinds == ["REGULAR", "VIDEO", "CAROUSEL", "COLLECTION", "IDEA", "SHOPPING", None]
    videos = await read(web, "pins", creative_types=["VIDEO", "IDEA"])
    assert [pin["creative_type"] for pin in videos["items"]] == ["VIDEO", "IDEA"]
    assert (await read(web, "pins/394205773611545007"))["is_owner"] is False
    assert (await read(web, "pins/1234567890123456789012"))["creative_type"] == "REGULAR"  # made elsewhere
    for pin in ("missing-pin", "still-processing"):
        read_refusal(await web.get(f"{V5}/pins/{pin}"), 404, 50)


# Catalogs


async def test_catalogs(web: httpx.AsyncClient) -> None:
    places = await read(web, "resources/targeting/LOCATION")
    assert all(isinstance(part, dict) for part in places)
    assert {name: text for part in places for name, text in part.items()}["807"].startswith("U.S.: San Francisco")
    for kind in ("GEO", "INTEREST", "LOCALE", "AGE_BUCKET", "GENDER", "APPTYPE"):
        assert all((await read(web, f"resources/targeting/{kind}"))[0].values())
    interest = await read(web, "resources/targeting/interests/925056443165")
    assert interest["child_interests"] == ["955147773988", "902065567321"]
    read_refusal(await web.get(f"{V5}/resources/targeting/interests/1"), 404, 404)
    countries = (await read(web, "resources/ad_account_countries"))["items"]
    assert countries[0] == {"code": "US", "name": "United States of America", "currency": "Dollars", "index": 1}
    audiences = await read(web, f"ad_accounts/{NEW_YORK}/audiences", page_size=2)
    assert (len(audiences["items"]), audiences["bookmark"] is None) == (2, False)
    tags = await read(web, f"ad_accounts/{NEW_YORK}/conversion_tags")
    assert list(tags) == ["items"]
    assert await read(web, "resources/metrics_ready_state", date="2026-10-30") == {
        "conversion_metrics_ready": False,
        "non_conversion_metrics_ready": False,
    }


async def test_bid_floors(web: httpx.AsyncClient) -> None:
    body = {
        "bid_floor_specs": [
            {
                "countries": ["US"],
                "currency": "USD",
                "objective_type": "CONSIDERATION",
                "billable_event": "CLICKTHROUGH",
                "creative_type": "REGULAR",
            }
        ],
        "targeting_spec": {"LOCATION": ["US"]},
    }
    answer = await web.post(f"{V5}/ad_accounts/{NEW_YORK}/bid_floor", json=body)
    assert answer.json() == {"bid_floors": [100000], "type": "bidfloor"}


# Faults


async def test_a_told_rate_limit(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429)
    answer = await web.get(f"{V5}/ad_accounts")
    read_refusal(answer, 429, 8)
    assert "Retry-After" not in answer.headers
    assert answer.headers["x-ratelimit-reset"] == "7"
    await inject_fault(web, "status", value=503, path="/v5/pins")
    read_refusal(await web.post(f"{V5}/pins", json=PIN), 503, 503)
    assert await list_writes(web) == []
