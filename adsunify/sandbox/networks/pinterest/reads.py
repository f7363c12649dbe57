"""Ad accounts, lists and single objects."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import Check, boolean_text, choice
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest import answers
from adsunify.sandbox.networks.pinterest.rules import get_review_status, get_summary_status
from adsunify.sandbox.networks.pinterest.tables import STATUSES, USER
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity, World

KIND_BY_COLLECTION = {"campaigns": "campaign", "ad_groups": "ad_group", "ads": "ad"}
_IDS_CHECK = answers.repeated_values(answers.DIGITS_CHECK)
# The id filters of each list: the parameter, and the member to compare. A request may use at most one filter.
MEMBER_BY_FILTER: Mapping[str, Mapping[str, str]] = {
    "campaign": {"campaign_ids": "id"},
    "ad_group": {"ad_group_ids": "id", "campaign_ids": "campaign_id"},
    "ad": {"ad_ids": "id", "ad_group_ids": "ad_group_id", "campaign_ids": "campaign_id"},
}
# Members of responses, null if unset.
_SHOWN_MEMBERS: Mapping[str, str] = {
    "campaign": """
        ad_account_id name status objective_type lifetime_spend_cap daily_spend_cap order_line_id tracking_urls
        start_time end_time is_flexible_daily_budgets is_campaign_budget_optimization is_performance_plus
        is_automated_campaign intended_promotion_type bid_options
    """,
    "ad_group": """
        campaign_id name status budget_in_micro_currency bid_in_micro_currency bid_strategy_type bid_multiplier
        billable_event budget_type start_time end_time lifetime_frequency_cap optimization_goal_metadata
        pacing_delivery_type placement_group auto_targeting_enabled is_creative_optimization targeting_spec
        targeting_template_ids tracking_urls promotion_id promotion_ids promotion_application_level
    """,
    "ad": """
        ad_group_id campaign_id pin_id creative_type name status destination_url click_tracking_url view_tracking_url
        android_deep_link ios_deep_link carousel_android_deep_links carousel_destination_urls carousel_ios_deep_links
        customizable_cta_type disclosure_type disclosure_url is_removable lead_form_id quiz_pin_data tracking_urls
    """,
}


def list_accounts(request: Request) -> Response:
    """GET /ad_accounts: the accounts that the person owns, and the accounts shared with the person."""
    query = answers.parse_query(request, include_shared_accounts=boolean_text, **answers.PAGING_CHECKS)
    rows = [account.extra["native"] for account in request.world.accounts.values()]
    if not query.get("include_shared_accounts", True):
        rows = [row for row in rows if row["owner"]["id"] == USER["id"]]
    return answers.build_page_response(rows, query)


def get_account(request: Request) -> Response:
    """GET /ad_accounts/{id}."""
    answers.parse_query(request)
    return Response(200, answers.require_account(request).extra["native"])


def list_entities(request: Request) -> Response:
    """GET /ad_accounts/{account}/campaigns, /ad_groups, /ads: by default ACTIVE and PAUSED ones."""
    kind, account = KIND_BY_COLLECTION[request.path_parameters["entities"]], answers.require_account(request)
    more: dict[str, Check] = {"translate_interests_to_names": boolean_text} if kind == "ad_group" else {}
    query = answers.parse_query(
        request,
        **answers.PAGING_CHECKS,
        **more,
        entity_statuses=answers.repeated_values(choice(*STATUSES)),
        order=choice("ASCENDING", "DESCENDING"),
        **dict.fromkeys(MEMBER_BY_FILTER[kind], _IDS_CHECK),
    )
    used = [name for name in MEMBER_BY_FILTER[kind] if name in query]
    if len(used) > 1:
        raise InvalidRequest("value", f"/{used[1]}", f"provide only one of {', '.join(MEMBER_BY_FILTER[kind])}")
    statuses = query.get("entity_statuses", ("ACTIVE", "PAUSED"))
    rows = [
        render_entity(request.world, entity)
        for entity in request.world.list_entities(kind, account.id)
        if entity.data["status"] in statuses
    ]
    for name in used:
        rows = [row for row in rows if row[MEMBER_BY_FILTER[kind][name]] in query[name]]
    rows.sort(key=lambda row: int(row["id"]), reverse=query.get("order") == "DESCENDING")
    return answers.build_page_response(rows, query)


def get_entity(request: Request) -> Response:
    """GET .../campaigns/{id}, .../ad_groups/{id}, .../ads/{id}: the object itself, of any status."""
    answers.parse_query(request)
    kind, account = KIND_BY_COLLECTION[request.path_parameters["entities"]], answers.require_account(request)
    if (entity := request.world.find(kind, request.path_parameters["id"], account.id)) is None:
        raise answers.not_found_error(kind.replace("_", " ").capitalize())
    return Response(200, render_entity(request.world, entity))


def render_entity(world: World, entity: StoredEntity) -> dict[str, Any]:
    """A campaign, ad group or ad in a response."""
    view = {
        "id": entity.id,
        "ad_account_id": entity.account,
        **{name: entity.data.get(name) for name in _SHOWN_MEMBERS[entity.kind].split()},
        "created_time": int(entity.created_at.timestamp()),
        "updated_time": int(entity.updated_at.timestamp()),
        "summary_status": get_summary_status(world, entity),
        "type": entity.kind.replace("_", ""),
    }
    if entity.kind == "ad_group":
        view |= {"feed_profile_id": "0", "dca_assets": None, "conversion_learning_mode_type": None}
    if entity.kind == "ad":
        view |= {"review_status": get_review_status(world, entity), "rejected_reasons": [], "rejection_labels": []}
        view |= {"grid_click_type": "DIRECT_TO_DESTINATION", "is_pin_deleted": False}
    return view
