"""The simulated OpenAI Advertiser API over real HTTP: keys, the documented example, lists, catalogs, changes."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import make_body
from tests.sandbox.chatgpt_calls import (
    AD,
    CAMPAIGN,
    PARIS,
    TOKYO,
    V1,
    Clock,
    create_ad,
    create_ad_group,
    create_campaign,
    create_example,
    list_writes,
    post,
    read,
    read_data,
    read_refusal,
    use_key,
)

# The whole way


async def test_the_example_of_the_documentation(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    kinds = {"files": "file", "campaigns": "campaign", "ad_groups": "ad_group", "ads": "ad"}
    assert await list_writes(web) == [(kinds[word], example[word]) for word in kinds]
    for word in ("ads", "ad_groups", "campaigns"):
        assert read_data(await post(web, f"{word}/{example[word]}/activate"))["status"] == "active"
    ad = await read(web, f"ads/{example['ads']}", {"include[]": "serving_issues"})
    assert ad["review_status"] == ad["review"]["status"] == "in_review"
    assert ad["serving_issues"] == [{"code": "campaign_not_started"}, {"code": "ad_in_review"}]
    assert {*ad["creative"]} == {"type", "title", "body", "target_url", "file_id", "image_url"}
    clock.instant += timedelta(days=12)
    ad = await read(web, f"ads/{example['ads']}", {"include[]": "serving_issues"})
    assert (ad["review_status"], ad["serving_issues"]) == ("approved", [])


async def test_answers_do_not_name_their_parent(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    assert "campaign_id" not in await read(web, f"ad_groups/{example['ad_groups']}")
    assert "ad_group_id" not in await read(web, f"ads/{example['ads']}")


# Keys and the headers of every request


async def test_keys(web: httpx.AsyncClient) -> None:
    assert (await read(web, "ad_account"))["currency_code"] == "USD"
    use_key(web, TOKYO)
    account = await read(web, "ad_account")
    assert (account["currency_code"], account["timezone"], account["status"]) == ("JPY", "Asia/Tokyo", "active")
    use_key(web, PARIS)
    account = await read(web, "ad_account")
    assert (account["review"], "status" in account) == ({"status": "in_review", "reason": "missing_favicon"}, False)
    use_key(web, "another")
    read_refusal(await web.get(f"{V1}/ad_account"), 401)
    use_key(web, "sandbox-chatgpt-key-without-access")
    read_refusal(await web.get(f"{V1}/ad_account"), 403)
    del web.headers["Authorization"]
    read_refusal(await web.get(f"{V1}/ad_account"), 401)


async def test_headers(web: httpx.AsyncClient) -> None:
    read_refusal(await web.get(f"{V1}/ad_account", headers={"Accept": "*/*"}), 400, "Accept")
    body = {"OpenAI-Ad-Account": "adacct_1"}
    read_refusal(await web.get(f"{V1}/ad_account", headers=body), 400, "OpenAI-Ad-Account")
    blocked = await web.get(f"{V1}/ad_account", headers={"User-Agent": "python-httpx/0.27"})
    assert (blocked.status_code, blocked.text) == (403, "error code: 1010")
    unknown = await web.get(f"{V1}/bulk_mutation_jobs")
    assert read_refusal(unknown, 404) == "Invalid URL (GET /v1/bulk_mutation_jobs)"
    assert (await web.patch(f"{V1}/campaigns/cmpn_1", json={})).status_code == 405


async def test_what_is_of_another_account_is_not_there(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    use_key(web, TOKYO)
    read_refusal(await web.get(f"{V1}/campaigns/{native_id}"), 404)
    read_refusal(await post(web, f"campaigns/{native_id}/activate"), 404)


# The same request again


async def test_idempotency_keys(web: httpx.AsyncClient) -> None:
    first = read_data(await post(web, "campaigns", CAMPAIGN, **{"Idempotency-Key": "k1"}))
    assert read_data(await post(web, "campaigns", CAMPAIGN, **{"Idempotency-Key": "k1"})) == first
    assert [kind for kind, _ in await list_writes(web)] == ["campaign"]
    other = make_body(CAMPAIGN, name="Another")
    read_refusal(await post(web, "campaigns", other, **{"Idempotency-Key": "k1"}), 409, "Idempotency-Key")
    assert read_data(await post(web, "campaigns", other, **{"Idempotency-Key": "k2"}))["id"] != first["id"]
    assert read_data(await post(web, "campaigns", CAMPAIGN))["id"] != first["id"]
    for key in ("", "k" * 256):
        read_refusal(await post(web, "campaigns", CAMPAIGN, **{"Idempotency-Key": key}), 400, "Idempotency-Key")
    for path, body in (("upload", {"image_url": "https://a.example/a.png"}), (f"campaigns/{first['id']}", {})):
        read_refusal(await post(web, path, body, **{"Idempotency-Key": "k3"}), 400, "Idempotency-Key")


async def test_a_key_is_needed_to_maximize(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web, budget={"daily_spend_limit_micros": 40000000})
    body = {
        "campaign_id": campaign_id,
        "name": "Most clicks",
        "status": "paused",
        "bidding_config": {"billing_event_type": "click", "strategy": "maximize_clicks"},
    }
    read_refusal(await post(web, "ad_groups", body), 400, "Idempotency-Key")
    created = read_data(await post(web, "ad_groups", body, **{"Idempotency-Key": "k1"}))
    assert created["bidding_config"] == {"strategy": "maximize_clicks", "billing_event_type": "click"}


# Lists


async def test_pages(web: httpx.AsyncClient) -> None:
    seeded = [row["id"] for row in (await read(web, "campaigns"))["data"]]
    ids = seeded + [await create_campaign(web, name=f"Campaign {number}") for number in range(25)]
    first = await read(web, "campaigns")
    assert (first["object"], len(first["data"]), first["has_more"]) == ("list", 20, True)
    assert (first["first_id"], first["last_id"]) == (ids[0], ids[19])
    second = await read(web, "campaigns", {"after": first["last_id"], "limit": 500})
    assert ([row["id"] for row in second["data"]], second["has_more"]) == (ids[20:], False)
    previous_page = await read(web, "campaigns", {"before": ids[20], "limit": 3})
    assert ([row["id"] for row in previous_page["data"]], previous_page["has_more"]) == (ids[17:20], True)
    newest = await read(web, "campaigns", {"order": "desc", "limit": 1})
    assert newest["data"][0]["id"] == ids[-1]
    matches = await read(web, "campaigns", {"name": "CAMPAIGN 7"})
    assert [row["name"] for row in matches["data"]] == ["Campaign 7"]
    assert await read(web, "ad_groups", {"campaign_id": ids[-1]}) == {
        "object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "query", "param"),
    [
        ("campaigns", {"limit": "501"}, "limit"),
        ("campaigns", {"limit": "0"}, "limit"),
        ("campaigns", {"after": "cmpn_no"}, "after"),
        ("campaigns", {"name": "ab"}, "name"),
        ("campaigns", {"include": "serving_issues"}, "include"),
        ("campaigns", {"include[]": "bid_too_low"}, "include"),
        ("campaigns", {"status": "active"}, "status"),
        ("ad_groups", {}, "campaign_id"),
        ("ads", {"campaign_id": "cmpn_1"}, "campaign_id"),
    ],
)
async def test_queries_that_are_refused(web: httpx.AsyncClient, path: str, query: dict[str, str], param: str) -> None:
    read_refusal(await web.get(f"{V1}/{path}", params=query), 400, param)


async def test_bids_that_are_too_low(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web)
    bidding = {"billing_event_type": "click", "max_bid_micros": 1}
    native_id = await create_ad_group(web, campaign_id, bidding_config=bidding)
    ad_group_row = await read(web, f"ad_groups/{native_id}", {"include[]": "bid_too_low"})
    assert (ad_group_row["bid_too_low"], ad_group_row["bidding_config"]) == (True, {"strategy": "fixed_bid", **bidding})


# Catalogs


async def test_catalogs(web: httpx.AsyncClient) -> None:
    places = await read(web, "geo_lookup/search", {"q": "new york", "limit": "2"})
    assert (places["query"], places["count"]) == ("new york", 2)
    assert {"id", "canonical_name", "type", "country_code", "region_code", "name"} < {*places["results"][0]}
    read_refusal(await web.get(f"{V1}/geo_lookup/search"), 400, "q")
    events = (await read(web, "conversions/event_settings", {"limit": 500}))["data"]
    assert [(event["id"], event["archived"], bool(event["sources"])) for event in events] == [
        ("ces_501", False, True),
        ("ces_lead1", False, True),
        ("ces_archived1", True, True),
        ("ces_custom1", False, True),
        ("ces_unlinked1", False, False),
    ]
    assert [pixel["id"] for pixel in (await read(web, "conversions/pixels"))["data"]] == ["cds_1"]
    assert events[0]["sources"] == [{"id": "cds_1", "name": "Web shop"}]
    assert len((await read(web, "custom_audiences"))["data"]) == 3
    assert len((await read(web, "custom_audiences", {"intended_use": "exclusion"}))["data"]) == 2
    read_refusal(await web.get(f"{V1}/custom_audiences", params={"intended_use": "x"}), 400, "intended_use")
    use_key(web, TOKYO)
    read_refusal(await web.get(f"{V1}/conversions/pixels"), 404)


# Changing


async def test_only_what_is_sent_changes(web: httpx.AsyncClient, clock: Clock) -> None:
    native_id = await create_campaign(web)
    before = await read(web, f"campaigns/{native_id}")
    clock.instant += timedelta(hours=1)
    after = read_data(await post(web, f"campaigns/{native_id}", {"name": "Winter boots", "end_time": None}))
    assert after == {**before, "name": "Winter boots", "end_time": None, "updated_at": before["updated_at"] + 3600}


async def test_targeting_is_replaced(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web, targeting={"locations": {"include": [{"id": "geo_us_ny"}]}})
    path = f"campaigns/{native_id}"
    place = {"id": "geo_us_ny", "name": "New York", "type": "region", "country_code": "US", "region_code": "NY"}
    assert (await read(web, path))["targeting"] == {"locations": {"include": [place]}}
    only = {"platforms": {"included": ["ios_app", "web"]}}
    assert read_data(await post(web, path, {"targeting": only}))["targeting"] == {
        "locations": {"include": [place]},
        **only,
    }
    japan = {"locations": {"countries": ["JP"]}}
    assert read_data(await post(web, path, {"targeting": japan}))["targeting"] == japan
    assert read_data(await post(web, path, {"targeting": None}))["targeting"] == {}


async def test_platforms_are_cleared(web: httpx.AsyncClient) -> None:
    whole = {"locations": {"countries": ["JP"]}, "platforms": {"included": ["web"]}}
    native_id = await create_campaign(web, targeting=whole)
    after = read_data(await post(web, f"campaigns/{native_id}", {"targeting": {"platforms": None}}))
    assert after["targeting"] == {"locations": {"countries": ["JP"]}}


async def test_budgets_change_one_way(web: httpx.AsyncClient) -> None:
    path = f"campaigns/{await create_campaign(web)}"
    daily, lifetime = {"daily_spend_limit_micros": 20000000}, {"lifetime_spend_limit_micros": 900000000}
    assert read_data(await post(web, path, {"budget": lifetime}))["budget"] == lifetime
    assert read_data(await post(web, path, {"budget": daily}))["budget"] == daily
    read_refusal(await post(web, path, {"budget": lifetime}), 422, "budget.lifetime_spend_limit_micros")


async def test_a_budget_is_not_below_what_is_spent(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign_id = await create_campaign(web)
    group = await create_ad_group(web, campaign_id)
    for path in (f"ads/{await create_ad(web, group)}", f"ad_groups/{group}", f"campaigns/{campaign_id}"):
        read_data(await post(web, f"{path}/activate"))
    clock.instant += timedelta(days=15)
    message = read_refusal(
        await post(web, f"campaigns/{campaign_id}", {"budget": {"lifetime_spend_limit_micros": 1000000}}),
        422,
        "budget.lifetime_spend_limit_micros",
    )
    assert "spent so far" in message


@pytest.mark.parametrize(
    ("word", "change", "status", "param"),
    [
        ("campaigns", {"bidding_type": "clicks"}, 400, "bidding_type"),
        ("campaigns", {"mode": None}, 400, "mode"),
        ("campaigns", {"name": None}, 400, "name"),
        ("campaigns", {"end_time": 1796083200}, 422, "end_time"),
        ("campaigns", {"targeting": {"platforms": {}}}, 400, "targeting.platforms.included"),
        ("ad_groups", {"campaign_id": "cmpn_1"}, 400, "campaign_id"),
        ("ad_groups", {"bidding_config": {"max_bid_micros": 5}}, 400, "bidding_config.billing_event_type"),
        ("ad_groups", {"bidding_config": {"billing_event_type": "click"}}, 422, "bidding_config.max_bid_micros"),
        ("ads", {"ad_group_id": "adgrp_1"}, 400, "ad_group_id"),
        ("ads", {"creative": {"title": "New title"}}, 400, "creative.type"),
        ("ads", {"creative": {**AD["creative"], "image_url": "https://a.example/a.png"}}, 400, "creative.image_url"),
    ],
)
async def test_updates_that_are_refused(
    web: httpx.AsyncClient, word: str, change: dict[str, Any], status: int, param: str
) -> None:
    example = await create_example(web)
    read_refusal(await post(web, f"{word}/{example[word]}", change), status, param)


async def test_a_changed_creative_is_reviewed_again(web: httpx.AsyncClient, clock: Clock) -> None:
    native_id = await create_ad(web)
    clock.instant += timedelta(minutes=10)
    assert (await read(web, f"ads/{native_id}"))["review_status"] == "approved"
    assert read_data(await post(web, f"ads/{native_id}", {"name": "Boots"}))["review_status"] == "approved"
    creative = {**AD["creative"], "title": "Boots"}
    assert read_data(await post(web, f"ads/{native_id}", {"creative": creative}))["review_status"] == "in_review"


async def test_archived_is_final(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    path = f"campaigns/{example['campaigns']}"
    assert read_data(await post(web, f"{path}/archive"))["status"] == "archived"
    for verb in ("activate", "pause", "archive"):
        read_refusal(await post(web, f"{path}/{verb}"), 422, "status")
    read_refusal(await post(web, path, {"name": "Boots"}), 422, "status")
    assert (await read(web, f"ads/{example['ads']}"))["status"] == "paused"
    other = await create_campaign(web)
    assert read_data(await post(web, f"campaigns/{other}", {"status": "archived"}))["status"] == "archived"


async def test_status_calls_have_no_body(web: httpx.AsyncClient) -> None:
    read_refusal(await post(web, f"campaigns/{await create_campaign(web)}/activate", {}), 400)
