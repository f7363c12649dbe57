"""The simulated Pinterest API over real HTTP: updates, archiving and lists."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes, make_body
from tests.sandbox.pinterest_calls import (
    AD,
    AD_GROUP,
    CAMPAIGN,
    NEW_YORK,
    TOKYO,
    V5,
    Clock,
    create_ad_group,
    create_example,
    inject_fault,
    patch,
    post,
    read,
    read_data,
    read_failure,
    read_refusal,
)


async def create_campaign(web: httpx.AsyncClient, **change: Any) -> dict[str, Any]:
    return read_data(await post(web, "campaigns", [make_body(CAMPAIGN, **change)]))


async def patch_campaign(web: httpx.AsyncClient, native: str, **change: Any) -> httpx.Response:
    return await patch(web, "campaigns", [{"id": native, "ad_account_id": NEW_YORK, **change}])


async def test_updates_are_sparse(web: httpx.AsyncClient, clock: Clock) -> None:
    before = await create_campaign(web)
    clock.instant += timedelta(minutes=1)
    after = read_data(await patch_campaign(web, before["id"], name="Winter kit", daily_spend_cap=30000000))
    assert {name for name in after if after[name] != before[name]} == {"name", "daily_spend_cap", "updated_time"}
    assert (await list_writes(web))[1:] == [("PATCH", "campaign", before["id"])]


async def test_each_member_has_its_own_way_to_be_cleared(web: httpx.AsyncClient) -> None:
    tracking = {"tracking_urls": {"click": ["https://t.example/"]}, "order_line_id": "12"}
    campaign_id = (await create_campaign(web, **tracking))["id"]
    campaign = read_data(await patch_campaign(web, campaign_id, end_time=None, order_line_id=None, tracking_urls=None))
    assert (campaign["end_time"], campaign["order_line_id"]) == (CAMPAIGN["end_time"], "12")
    cleared = read_data(await patch_campaign(web, campaign_id, end_time=-1, order_line_id="0", tracking_urls={}))
    assert [cleared[name] for name in ("end_time", "order_line_id", "tracking_urls")] == [None, None, None]
    lifetime = (await create_campaign(web, daily_spend_cap=NOTHING, lifetime_spend_cap=90000000))["id"]
    assert read_failure(await patch_campaign(web, lifetime, end_time=-1)).startswith("end_time: ")


CAMPAIGN_CHANGES_THAT_ARE_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"objective_type": "AWARENESS"}, "objective_type"),
    ({"is_campaign_budget_optimization": False}, "is_campaign_budget_optimization"),
    ({"is_performance_plus": True}, "is_performance_plus"),
    ({"intended_promotion_type": "CATALOG"}, "intended_promotion_type"),
    ({"lifetime_spend_cap": 90000000}, "lifetime_spend_cap"),
    ({"daily_spend_cap": None}, "daily_spend_cap"),
    ({"daily_spend_cap": 25999999}, "daily_spend_cap"),
    ({"end_time": 1793510000}, "end_time"),
    ({"status": "DRAFT"}, "status"),
    ({"status": "DELETED_DRAFT"}, "status"),
]


async def test_campaign_changes_that_are_refused(web: httpx.AsyncClient) -> None:
    campaign_id = (await create_campaign(web))["id"]
    for change, field in CAMPAIGN_CHANGES_THAT_ARE_REFUSED:
        assert read_failure(await patch_campaign(web, campaign_id, **change)).startswith(f"{field}: ")
    assert len(await list_writes(web)) == 1


async def test_the_start_is_locked_once_it_has_passed(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign_id = (await create_campaign(web))["id"]
    read_data(await patch_campaign(web, campaign_id, start_time=1793606400))
    clock.instant += timedelta(days=3)
    assert read_failure(await patch_campaign(web, campaign_id, start_time=1793692800)).startswith("start_time: ")
    read_data(await patch_campaign(web, campaign_id, start_time=1793606400, name="the same start"))


async def test_updates_of_the_wrong_shape(web: httpx.AsyncClient) -> None:
    campaign_id = (await create_campaign(web))["id"]
    for body in (
        [{"id": campaign_id, "status": "PAUSED"}],  # without the ad account
        [{"ad_account_id": NEW_YORK, "status": "PAUSED"}],
        {"id": campaign_id, "ad_account_id": NEW_YORK, "status": "PAUSED"},
        [{"id": campaign_id, "ad_account_id": NEW_YORK, "status": "DELETED"}],
        [{"id": campaign_id, "ad_account_id": NEW_YORK, "summary_status": "PAUSED"}],
    ):
        read_refusal(await patch(web, "campaigns", body), 400, 1)
    read_failure(await patch(web, "campaigns", [{"id": campaign_id, "ad_account_id": TOKYO, "status": "PAUSED"}]))
    read_failure(await patch(web, "campaigns", [{"id": "1", "ad_account_id": NEW_YORK, "status": "PAUSED"}]), 404)
    read_failure(await patch(web, "ads", [{"id": campaign_id, "status": "PAUSED"}]), 404)


async def test_archived_objects_are_locked(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    for what, kind in (("ads", "ad"), ("ad_groups", "ad_group")):
        archived = read_data(await patch(web, what, [{"id": example[kind], "status": "ARCHIVED"}]))
        assert archived["summary_status"] == "ARCHIVED"
        assert read_failure(await patch(web, what, [{"id": example[kind], "status": "PAUSED"}])).startswith("status: ")
    read_failure(await post(web, "ads", [{**AD, "ad_group_id": example["ad_group"]}]))


async def test_drafts(web: httpx.AsyncClient) -> None:
    campaign_id = (await create_campaign(web, status="DRAFT"))["id"]
    assert (
        read_data(await patch_campaign(web, campaign_id, objective_type="AWARENESS"))["objective_type"] == "AWARENESS"
    )
    assert read_failure(await patch_campaign(web, campaign_id, status="ARCHIVED")).startswith("status: ")
    assert (
        read_data(await patch_campaign(web, campaign_id, status="DELETED_DRAFT"))["summary_status"] == "DELETED_DRAFT"
    )
    assert read_failure(await patch_campaign(web, campaign_id, status="DRAFT")).startswith("status: ")
    other = (await create_campaign(web, status="DRAFT"))["id"]
    assert read_data(await patch_campaign(web, other, status="PAUSED"))["status"] == "PAUSED"
    read_failure(await patch_campaign(web, other, objective_type="AWARENESS"))


async def test_ad_group_changes(web: httpx.AsyncClient) -> None:
    ad_group_id = await create_ad_group(web)

    async def patch_ad_group(**change: Any) -> httpx.Response:
        return await patch(web, "ad_groups", [{"id": ad_group_id, **change}])

    whole = {"LOCATION": ["JP"], "GENDER": ["female"]}
    assert read_data(await patch_ad_group(targeting_spec=whole))["targeting_spec"] == whole  # replaced as a whole
    assert read_data(await patch_ad_group(bid_in_micro_currency=900000))["bid_in_micro_currency"] == 900000
    automatic = read_data(await patch_ad_group(bid_strategy_type="AUTOMATIC_BID", bid_in_micro_currency=None))
    assert (automatic["bid_strategy_type"], automatic["bid_in_micro_currency"]) == ("AUTOMATIC_BID", None)
    for change, field in (
        ({"bid_strategy_type": "MAX_BID"}, "bid_in_micro_currency"),
        ({"bid_in_micro_currency": 900000}, "bid_in_micro_currency"),
        ({"billable_event": "IMPRESSION"}, "billable_event"),
        ({"budget_type": "DAILY"}, "budget_type"),
        ({"budget_in_micro_currency": 5000000}, "budget_in_micro_currency"),
        ({"end_time": 1794729600}, "end_time"),
        ({"targeting_spec": {"GENDER": ["male"]}}, "targeting_spec"),
        ({"campaign_id": "626735565838"}, "campaign_id"),
    ):
        answer = await patch_ad_group(**change)
        if field == "campaign_id":  # the same campaign: nothing changes
            assert read_data(answer)["campaign_id"] == "626735565838"
        else:
            assert read_failure(answer).startswith(f"{field}: ")


async def test_the_end_of_the_campaign_wins_silently(web: httpx.AsyncClient) -> None:
    old_kind = {"objective_type": "WEB_CONVERSION", "is_campaign_budget_optimization": False}
    campaign_id = (await create_campaign(web, daily_spend_cap=NOTHING, **old_kind))["id"]
    body = make_body(
        AD_GROUP, campaign_id=campaign_id, budget_type="DAILY", budget_in_micro_currency=5000000, end_time=1794700000
    )
    child = read_data(await post(web, "ad_groups", [body]))["id"]
    read_data(await patch_campaign(web, campaign_id, end_time=1794600000))
    assert (await read(web, f"ad_accounts/{NEW_YORK}/ad_groups/{child}"))["end_time"] == 1794600000
    assert (await list_writes(web))[-1] == ("PATCH", "campaign", campaign_id)


async def test_ad_changes(web: httpx.AsyncClient) -> None:
    ad_id = (await create_example(web))["ad"]
    ad = read_data(
        await patch(web, "ads", [{"id": ad_id, "name": "Other", "destination_url": "https://shop.example/b"}])
    )
    assert (ad["name"], ad["destination_url"]) == ("Other", "https://shop.example/b")
    for change in ({"pin_id": "394205773611545004"}, {"creative_type": "IDEA"}, {"ad_group_id": "600000000002"}):
        assert read_failure(await patch(web, "ads", [{"id": ad_id, **change}])).startswith(f"{next(iter(change))}: ")


async def test_keywords_are_archived(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    page = await read(web, f"ad_accounts/{NEW_YORK}/keywords", ad_group_id=example["ad_group"])
    assert [row["id"] for row in page["items"]] == [example["keyword"]]
    answer = await patch(web, "keywords", {"keywords": [{"id": example["keyword"], "archived": True}, {"id": "1"}]})
    assert [row["archived"] for row in answer.json()["keywords"]] == [True]
    assert [row["data"]["id"] for row in answer.json()["errors"]] == ["1"]
    assert (await read(web, f"ad_accounts/{NEW_YORK}/keywords", ad_group_id=example["ad_group"]))["items"] == []


# Lists


async def test_lists_show_what_is_active_or_paused(web: httpx.AsyncClient) -> None:
    path = f"ad_accounts/{NEW_YORK}/campaigns"
    assert [row["status"] for row in (await read(web, path))["items"]] == ["ACTIVE", "PAUSED"]
    archived = await read(web, path, entity_statuses=["ARCHIVED", "DRAFT"])
    assert [(row["status"], row["objective_type"]) for row in archived["items"]] == [("ARCHIVED", "LEADS")]
    assert len((await read(web, path, entity_statuses=["ACTIVE", "PAUSED", "ARCHIVED"]))["items"]) == 3


async def test_paging_over_many(web: httpx.AsyncClient) -> None:
    await post(web, "campaigns", [make_body(CAMPAIGN, name=f"Number {n}") for n in range(30)])
    path, rows, bookmark = f"ad_accounts/{NEW_YORK}/campaigns", [], None
    for _ in range(9):
        page = await read(web, path, **({"bookmark": bookmark} if bookmark else {}))
        rows += [row["id"] for row in page["items"]]
        if (bookmark := page["bookmark"]) is None:
            break
        await create_campaign(web)  # a campaign that is created between two pages moves no row to another page
    assert (len(rows), len(set(rows))) == (33, 33)
    down = [row["id"] for row in (await read(web, path, page_size=250, order="DESCENDING"))["items"]]
    assert down == sorted(down, key=int, reverse=True)


async def test_filters_by_parent(web: httpx.AsyncClient) -> None:
    first, second = await create_example(web), await create_example(web)
    path = f"ad_accounts/{NEW_YORK}"
    groups = await read(web, f"{path}/ad_groups", campaign_ids=[first["campaign"], second["campaign"]])
    assert [row["id"] for row in groups["items"]] == [first["ad_group"], second["ad_group"]]
    for name, kind in (("ad_ids", "ad"), ("ad_group_ids", "ad_group"), ("campaign_ids", "campaign")):
        assert [row["id"] for row in (await read(web, f"{path}/ads", **{name: first[kind]}))["items"]] == [first["ad"]]
    keywords = await read(web, f"{path}/keywords", ad_group_ids=[first["ad_group"], second["ad_group"]], page_size=1)
    assert [row["id"] for row in keywords["items"]] == [first["keyword"]]
    rest = await read(
        web, f"{path}/keywords", ad_group_ids=[first["ad_group"], second["ad_group"]], bookmark=keywords["bookmark"]
    )
    assert [row["id"] for row in rest["items"]] == [second["keyword"]]
    assert (await read(web, f"{path}/keywords"))["items"] == []  # none hangs on the ad account itself


LISTS_THAT_ARE_REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("campaigns", {"entity_statuses": "ACTIVE,PAUSED"}),
    ("campaigns", {"entity_statuses": "DELETED"}),
    ("campaigns", {"campaign_ids": "1,2"}),
    ("campaigns", {"campaign_ids": [str(n) for n in range(251)]}),
    ("campaigns", {"page_size": 251}),
    ("campaigns", {"bookmark": "bm90"}),
    ("campaigns", {"name": "Autumn"}),
    ("campaigns", {"order": "DESC"}),
    ("ad_groups", {"campaign_ids": "1", "ad_group_ids": "2"}),
    ("ads", {"campaign_ids": "1", "ad_ids": "2"}),
    ("keywords", {"ad_group_id": "1", "ad_group_ids": "2"}),
]


async def test_lists_that_are_refused(web: httpx.AsyncClient) -> None:
    for what, query in LISTS_THAT_ARE_REFUSED:
        read_refusal(await web.get(f"{V5}/ad_accounts/{NEW_YORK}/{what}", params=query), 400, 400)


async def test_objects_of_other_accounts_are_not_found(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    for what, kind in (("campaigns", "campaign"), ("ad_groups", "ad_group"), ("ads", "ad")):
        read_refusal(await web.get(f"{V5}/ad_accounts/{TOKYO}/{what}/{example[kind]}"), 404, 404)


async def test_what_has_grown_can_be_read_and_changed(web: httpx.AsyncClient) -> None:
    groups = (await read(web, f"ad_accounts/{TOKYO}/ad_groups"))["items"]
    old = next(row for row in groups if row["budget_type"] == "DAILY")
    assert (old["bid_strategy_type"], old["status"]) == ("TARGET_AVG", "PAUSED")
    body = [{"id": old["id"], "budget_in_micro_currency": 2000000000}]
    assert read_data(await patch(web, "ad_groups", body, TOKYO))["budget_in_micro_currency"] == 2000000000


async def test_told_failures_of_updates(web: httpx.AsyncClient) -> None:
    campaign_id = (await create_campaign(web))["id"]
    for fault in ("error_in_200", "partial"):
        await inject_fault(web, fault)
        read_failure(await patch_campaign(web, campaign_id, status="ACTIVE"))
    await inject_fault(web, "reset_after", method="PATCH")
    with pytest.raises(httpx.RemoteProtocolError):
        await patch_campaign(web, campaign_id, status="ACTIVE")
    assert (await read(web, f"ad_accounts/{NEW_YORK}/campaigns/{campaign_id}"))["status"] == "ACTIVE"
