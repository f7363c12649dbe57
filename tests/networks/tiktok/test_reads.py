"""The TikTok adapter: connecting, accounts, lists, reports, catalogs."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.errors import InvalidInput, TokenRefused
from adsunify.http.messages import Request
from adsunify.networks.tiktok import reads
from tests.networks.calls import run

from .calls import ACCOUNT, BASE, REGIONS, make_page, make_response

APP = OAuthClient("app-1", "app-secret")
NOW = datetime(2026, 11, 20, tzinfo=UTC)
GROUP = {"adgroup_id": "2", "campaign_id": "1", "adgroup_name": "Shoes", "operation_status": "DISABLE"}


# -- reads ------------------------------------------------------------------------------------------------------------


def test_connecting_asks_in_tiktoks_way() -> None:
    url = reads.build_authorization_url(APP, "https://me.example/cb", "s1", "")
    assert url == (
        "https://business-api.tiktok.com/portal/auth?app_id=app-1&state=s1&redirect_uri=https%3A%2F%2Fme.example%2Fcb"
    )
    tokens = make_response({"access_token": "T", "advertiser_ids": ["7"], "scope": [1, 2, 4]})
    credentials, requests = run(
        reads.fetch_credentials(APP, "https://me.example/cb", {"auth_code": "C"}, "", 0), tokens
    )
    assert credentials == Credentials("T")
    assert requests[0].body == {"app_id": "app-1", "secret": "app-secret", "auth_code": "C"}
    assert requests[0].kind == "read_once" and not requests[0].is_signed
    assert run(reads.refresh_credentials(APP, credentials, 0)) == (credentials, [])
    with pytest.raises(TokenRefused):
        run(reads.fetch_credentials(APP, "", {"auth_code": "C"}, "", 0), make_response(code=40110))


def test_signing_adds_the_token_and_for_the_accounts_the_app() -> None:
    signed = reads.sign_request(Request("GET", f"{BASE}/ad/get/"), Credentials("T"), APP, 0, "n")
    assert (signed.headers, signed.query) == ({"Access-Token": "T"}, {})
    accounts_request = reads.sign_request(Request("GET", reads.ADVERTISERS_URL), Credentials("T"), APP, 0, "n")
    assert accounts_request.query == {"app_id": "app-1", "secret": "app-secret"}
    assert reads.sign_request(Request("GET", "https://else.example/"), Credentials("T"), APP, 0, "n").headers == {}


def test_accounts_prefer_the_displayed_time_zone() -> None:
    row = {
        "advertiser_id": "7",
        "name": "Shop",
        "currency": "JPY",
        "timezone": "Etc/GMT-9",
        "display_timezone": "Asia/Tokyo",
        "status": "STATUS_LIMIT",
        "can_use_custom_identity": False,
        "owner_bc_id": "70",
    }
    (shop,), _ = run(reads.discover_accounts(), make_page({"advertiser_id": "7"}), make_page(row))
    assert (shop.timezone, shop.native_status) == ("Asia/Tokyo", "STATUS_LIMIT")
    assert shop.extras == {"canUseCustomIdentity": "false", "ownerBcId": "70"}


def test_lists_page_and_filter() -> None:
    query = ListQuery(limit=2, parent_id="1", status="ADGROUP_STATUS_DISABLE", search="Sho")
    page, requests = run(reads.list_entities(ACCOUNT, "adGroup", query), make_page(GROUP, page=1, pages=3))
    assert page.cursor == "2:2"
    assert requests[0].query["filtering"] == (
        '{"campaign_ids":["1"],"adgroup_name":"Sho","secondary_status":"ADGROUP_STATUS_DISABLE"}'
    )
    _, requests = run(
        reads.list_entities(ACCOUNT, "adGroup", ListQuery(limit=50, cursor="2:2")), make_page(page=2, pages=2)
    )
    assert (requests[0].query["page"], requests[0].query["page_size"]) == ("2", "2")
    for wrong in (ListQuery(parent_id="1"), ListQuery(status="PAUSED"), ListQuery(status="AD_STATUS_DISABLE")):
        with pytest.raises(InvalidInput):
            run(reads.list_entities(ACCOUNT, "campaign", wrong))
    deleted = {"campaign_id": "1", "operation_status": "ENABLE", "secondary_status": "CAMPAIGN_STATUS_DELETE"}
    entity, _ = run(reads.fetch_entity(ACCOUNT, "campaign", "1"), make_page(deleted))
    assert entity.status == "deleted"


def test_reports_are_split_into_30_days_and_a_dash_is_not_zero() -> None:
    metrics = {"spend": "1.20", "impressions": "30", "clicks": "2", "conversion": "-", "video_play_actions": "9"}
    row = {"dimensions": {"stat_time_day": "2026-11-03 00:00:00"}, "metrics": metrics}
    flow = reads.fetch_insights(ACCOUNT, date(2026, 10, 1), date(2026, 11, 5), None, NOW)
    insights, requests = run(flow, make_page(), make_page(row))
    assert [(request.query["start_date"], request.query["end_date"]) for request in requests] == [
        ("2026-10-01", "2026-10-30"),
        ("2026-10-31", "2026-11-05"),
    ]
    (only,) = insights.rows
    assert only.to_json() == {
        "date": "2026-11-03",
        "impressions": 30,
        "clicks": 2,
        "spend": "1.2",
        "conversions": None,
        "conversionValue": None,
        "videoViews": 9,
        "reach": None,
    }


def test_locations_are_those_of_a_country() -> None:
    page, _ = run(
        reads.fetch_catalog_page(ACCOUNT, "locations:GB", ListQuery(search="lon")),
        make_response({"region_info": list(REGIONS)}),
    )
    assert [(row.id, row.name) for row in page.rows] == [("2643743", "London")]
