"""The simulated TikTok API for Business v1.3: a strict, independent reading of its documentation.

"our choice" marks what the documentation leaves open. Not simulated: TikTok's own sandbox host, rate limits (only as
requested faults), the five seconds between writes to one Smart+ ad, spend (so "105 % of the spend" never binds), and
the announced end of manual creation, for which the documentation gives no response.

Sources, as of 2026-11-23: business-api.tiktok.com/portal/docs (authentication, budget, currencies, ad groups, ads,
Upgraded Smart+, reports, return codes, rate limits); fields and types of the PyPI package
tiktok-business-api-sdk-official 1.1.3 and of github.com/bububa/tiktok-business v1.5.7.
"""

from collections.abc import Callable
from functools import partial

from adsunify.sandbox.network import Network, Request, Response, Route
from adsunify.sandbox.networks.tiktok import answers, catalogs, identities, login, media, places, reports, writes
from adsunify.sandbox.networks.tiktok.accounts import ACCOUNTS, LEGACY_ACCOUNT
from adsunify.sandbox.networks.tiktok.entities import KINDS, LEGACY_SMART_FLOW
from adsunify.sandbox.networks.tiktok.reads import get_advertiser_info, list_entities
from adsunify.sandbox.networks.tiktok.status import update_status
from adsunify.sandbox.oauth import consent_routes
from adsunify.sandbox.world import World

Handler = Callable[[Request], Response]


def _get_route(path: str, handler: Handler) -> Route:
    return Route("GET", answers.HOSTS, f"{answers.API_PATH}{path}", handler, faults=frozenset({"error_in_200"}))


def _post_route(path: str, handler: Handler, *faults: str) -> Route:
    return Route(
        "POST", answers.HOSTS, f"{answers.API_PATH}{path}", handler, faults=frozenset({"error_in_200", *faults})
    )


def _flow_routes(root: str, smart: bool) -> tuple[Route, ...]:
    """The routes of lists and status changes of one flow."""
    lists = (_get_route(f"{root}/{kind}/get/", partial(list_entities, kind=kind, smart=smart)) for kind in KINDS)
    switches = (
        _post_route(f"{root}/{kind}/status/update/", partial(update_status, kind=kind, smart=smart), "partial")
        for kind in KINDS
    )
    return (
        *lists,
        *switches,
        _post_route(f"{root}/campaign/create/", partial(writes.create_campaign, smart=smart)),
        _post_route(f"{root}/campaign/update/", partial(writes.update_campaign, smart=smart)),
        _post_route(f"{root}/adgroup/create/", partial(writes.create_ad_group, smart=smart)),
        _post_route(f"{root}/adgroup/update/", partial(writes.update_ad_group, smart=smart)),
        _post_route(f"{root}/ad/create/", writes.create_smart_ad if smart else writes.create_ads, "slow_media"),
        _post_route(f"{root}/ad/update/", writes.update_smart_ad if smart else writes.update_ads),
    )


def _seed_world(world: World) -> None:
    """Create a campaign of the old Smart+, which can only be read."""
    defaults = {"campaign_automation_type": LEGACY_SMART_FLOW, "operation_status": "ENABLE"}
    campaign = world.create(
        "campaign",
        LEGACY_ACCOUNT,
        {
            **defaults,
            "campaign_name": "Summer shoes (Smart+)",
            "objective_type": "TRAFFIC",
            "budget_mode": "BUDGET_MODE_INFINITE",
            "budget_optimize_on": False,
        },
        id="1780000000000001",
    )
    group = world.create(
        "adgroup",
        LEGACY_ACCOUNT,
        {
            **defaults,
            "adgroup_name": "Summer shoes (Smart+)",
            "optimization_goal": "CLICK",
            "billing_event": "CPC",
            "schedule_type": "SCHEDULE_FROM_NOW",
            "schedule_start_time": "2026-06-01 08:00:00",
            "bid_type": "BID_TYPE_NO_BID",
            "budget_mode": "BUDGET_MODE_DYNAMIC_DAILY_BUDGET",
            "budget": 40,
            "location_ids": ["6252001"],
        },
        parent=campaign.id,
        id="1780000000000002",
    )
    world.create(
        "ad",
        LEGACY_ACCOUNT,
        {
            **defaults,
            "ad_name": "Summer shoes (Smart+)",
            "ad_format": "SINGLE_VIDEO",
            "_review_from": "2026-06-01 08:00:00",
        },
        parent=group.id,
        id="1780000000000003",
    )


NETWORK = Network(
    code="tiktok",
    first_id=17900001,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(login.LOGIN),
        Route(
            "POST", answers.HOSTS, f"{answers.API_PATH}/oauth2/access_token/", login.issue_access_token, role="login"
        ),
        Route("POST", answers.HOSTS, f"{answers.API_PATH}/oauth2/revoke_token/", login.revoke_token, role="login"),
        _get_route("/oauth2/advertiser/get/", login.list_advertisers),
        _get_route("/advertiser/info/", get_advertiser_info),
        *_flow_routes("", smart=False),
        *_flow_routes("/smart_plus", smart=True),
        _get_route("/file/video/ad/info/", media.get_video_info),
        _get_route("/file/video/ad/search/", media.search_videos),
        _get_route("/file/video/suggestcover/", media.suggest_covers),
        _post_route("/file/image/ad/upload/", media.upload_image),
        _get_route("/file/image/ad/search/", media.search_images),
        _get_route("/identity/get/", identities.list_identities),
        _get_route("/bc/get/", identities.list_business_centers),
        _get_route("/tool/region/", places.list_regions),
        _post_route("/tool/targeting/search/", places.search_locations),
        _post_route("/tool/targeting/info/", places.get_location_info),
        _get_route("/tool/language/", catalogs.list_languages),
        _get_route("/tool/interest_category/", catalogs.list_interests),
        _get_route("/dmp/custom_audience/list/", catalogs.list_audiences),
        _get_route("/pixel/list/", catalogs.list_pixels),
        _get_route("/app/list/", catalogs.list_apps),
        _get_route("/report/integrated/get/", reports.get_integrated_report),
        _post_route("/report/task/create/", reports.create_task),
        _get_route("/report/task/check/", reports.check_task),
        _post_route("/report/task/cancel/", reports.cancel_task),
        _get_route("/report/task/download/", reports.download_task),
        Route("GET", (reports.DOWNLOAD_HOST,), "/reports/{task:[0-9]+}.csv", reports.download_file, role="download"),
    ),
    format_error=answers.format_error,
    format_status_error=answers.format_status_error,
    authorize_request=answers.authorize_request,
    seed_world=_seed_world,
)
