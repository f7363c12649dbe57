"""Reads and lists of campaigns, ad groups and ads."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, json_text, one_of, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok import entities, shapes
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.members import OPTIMIZATION_GOALS, STORED_MEMBERS
from adsunify.sandbox.networks.tiktok.places import OBJECTIVES
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, split_words
from adsunify.sandbox.world import StoredEntity

_ACCOUNT_FIELDS = split_words(
    "advertiser_id name currency timezone display_timezone status role country company balance owner_bc_id"
    " advertiser_account_type can_use_custom_identity ads_only_mode"
)
_FIELDS_ON_REQUEST = ("can_use_custom_identity", "ads_only_mode")
_COMPUTED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "campaign": split_words("""
        advertiser_id campaign_id create_time modify_time secondary_status objective campaign_automation_type
        is_smart_performance_campaign is_new_structure
    """),
    "adgroup": split_words("""
        advertiser_id campaign_id campaign_name adgroup_id create_time modify_time secondary_status
        campaign_automation_type is_smart_performance_campaign is_new_structure
    """),
    "ad": split_words("""
        advertiser_id campaign_id campaign_name adgroup_id adgroup_name ad_id create_time modify_time secondary_status
        campaign_automation_type smart_plus_ad_id is_aco is_new_structure
    """),
}
_PRIMARY_STATUSES = (
    "STATUS_ALL STATUS_DELETE STATUS_DELIVERY_CATALOG STATUS_DELIVERY_OK STATUS_DELIVERY_PARTIAL STATUS_DISABLE"
    " STATUS_FROZEN STATUS_NOT_DELETE STATUS_NOT_DELIVERY STATUS_RF_CLOSED STATUS_TIME_DONE"
)
_IDS_CHECK = array(shapes.ID_CHECK, 1, 100)
_FILTER_CHECKS: Mapping[str, Check] = {
    "primary_status": one_of(_PRIMARY_STATUSES),
    **fill_keys(shapes.check_instant, "creation_filter_start_time creation_filter_end_time modified_after"),
    **fill_keys(_IDS_CHECK, "campaign_ids adgroup_ids ad_ids smart_plus_ad_ids"),
    **fill_keys(text(), "campaign_name adgroup_name ad_name"),
    "objective_type": one_of(OBJECTIVES),
    "optimization_goal": one_of(OPTIMIZATION_GOALS),
    "billing_events": array(one_of("CPC CPM CPV GD OCPC OCPM"), 1),
    "buying_types": array(one_of("AUCTION RESERVATION_RF RESERVATION_TOP_VIEW"), 1),
}
_COMMON_FILTERS = "primary_status secondary_status creation_filter_start_time creation_filter_end_time objective_type"
# The simulated filters; others are refused.
_FILTERS_BY_KIND: Mapping[tuple[str, bool], str] = {
    ("campaign", False): f"{_COMMON_FILTERS} campaign_ids campaign_name buying_types",
    (
        "adgroup",
        False,
    ): f"{_COMMON_FILTERS} campaign_ids adgroup_ids adgroup_name optimization_goal billing_events buying_types",
    (
        "ad",
        False,
    ): f"{_COMMON_FILTERS} campaign_ids adgroup_ids ad_ids ad_name modified_after optimization_goal buying_types",
    ("campaign", True): f"{_COMMON_FILTERS} campaign_ids campaign_name",
    ("adgroup", True): f"{_COMMON_FILTERS} campaign_ids adgroup_ids adgroup_name optimization_goal",
    ("ad", True): f"{_COMMON_FILTERS} campaign_ids adgroup_ids smart_plus_ad_ids modified_after optimization_goal",
}


def get_advertiser_info(request: Request) -> Response:
    """GET /advertiser/info/: two fields only if requested; an id of another account refuses the call."""
    query = request.parse_query(
        {"advertiser_ids": json_text(array(shapes.ADVERTISER_CHECK, 1, 100))},
        {"fields": shapes.field_names(_ACCOUNT_FIELDS)},
    )
    fields = query.get("fields", [name for name in _ACCOUNT_FIELDS if name not in _FIELDS_ON_REQUEST])
    accounts = [require_account_by_id(request, advertiser_id) for advertiser_id in query["advertiser_ids"]]
    return build_response({"list": [{name: account.extra["native"][name] for name in fields} for account in accounts]})


def list_entities(request: Request, *, kind: str, smart: bool) -> Response:
    """GET /{kind}/get/ of everything, and /smart_plus/{kind}/get/ of Upgraded Smart+; newest first (our choice)."""
    shape = {"secondary_status": _secondary_status_check(kind), **_FILTER_CHECKS}
    filtering = {name: shape[name] for name in _FILTERS_BY_KIND[kind, smart].split()}
    query = request.parse_query(
        {"advertiser_id": shapes.ADVERTISER_CHECK},
        {
            **shapes.paging_checks(1000),
            "filtering": json_text(record(optional=filtering)),
            "fields": shapes.field_names(
                (*_COMPUTED_FIELDS[kind], *STORED_MEMBERS[kind], *(_SMART_FIELDS if smart else ()))
            ),
        },
    )
    account = require_account_by_id(request, query["advertiser_id"])
    filters = query.get("filtering", {})
    rows = []
    for entity in reversed(request.world.list_entities(kind, account.id)):
        if smart and entity.data["campaign_automation_type"] != entities.SMART_FLOW:
            continue
        row = render_entity(request, entity, smart)
        if _matches_filters(request, entity, row, filters):
            rows.append({name: row.get(name) for name in query["fields"]} if "fields" in query else row)
    return build_response(shapes.paginate(rows, query))


def render_entity(request: Request, entity: StoredEntity, smart: bool) -> dict[str, Any]:
    """An entity in the shape of one flow: the manual flow has null for absent members."""
    members = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    parents = entities.list_ancestors(request.world, entity)
    common: dict[str, Any] = {
        "advertiser_id": entity.account,
        entities.get_id_name(entity.kind, smart): entity.data.get("_ad_id", entity.id) if not smart else entity.id,
        **{f"{parent.kind}_id": parent.id for parent in parents},
        **{f"{parent.kind}_name": parent.data[f"{parent.kind}_name"] for parent in parents},
        "create_time": shapes.format_instant(entity.created_at),
        "modify_time": shapes.format_instant(entity.updated_at),
        "secondary_status": entities.get_secondary_status(request, entity),
    }
    if entity.kind != "ad":
        members.setdefault("budget", Decimal(0))
    if smart:
        return {**common, **members}
    automation = members["campaign_automation_type"]
    if automation == entities.SMART_FLOW and entity.kind == "ad":
        common["smart_plus_ad_id"] = entity.id
        members = _flatten_ad(members)
    elif entity.kind == "adgroup":
        members |= members.get("targeting_spec", {})
    if entity.kind == "campaign":
        common["objective"] = "LANDING_PAGE"
    every = (*_COMPUTED_FIELDS[entity.kind], *STORED_MEMBERS[entity.kind])
    defaults = {"is_smart_performance_campaign": automation == "SMART_PLUS", "is_new_structure": True, "is_aco": False}
    return dict.fromkeys(every) | {
        name: value for name, value in (defaults | members | common).items() if name in every
    }


_SMART_FIELDS = split_words("""
    targeting_spec targeting_optimization_mode creative_list ad_text_list call_to_action_list landing_page_url_list
    ad_configuration page_list deeplink_list min_budget ad_name
""")


def _flatten_ad(members: Mapping[str, Any]) -> dict[str, Any]:
    info = members["creative_list"][0]["creative_info"]
    flat = {name: value for name, value in members.items() if not name.endswith("_list")}
    flat |= {name: value for name, value in info.items() if not name.endswith("_info")}
    flat |= {"video_id": info.get("video_info", {}).get("video_id")}
    flat |= {"image_ids": [image["web_uri"] for image in info.get("image_info", ())]}
    for name in ("ad_text", "call_to_action", "landing_page_url"):
        flat |= members[f"{name}_list"][0] if members.get(f"{name}_list") else {}
    return {**flat, **members.get("ad_configuration", {})}


def _secondary_status_check(kind: str) -> Check:
    """The secondary statuses of one kind."""
    prefix = f"{kind.upper()}_STATUS_"

    def check(value: Any, where: str) -> str:
        if not str(text()(value, where)).startswith(prefix):
            raise InvalidRequest("value", where, f"must start with {prefix}")
        return str(value)

    return check


def _matches_filters(
    request: Request, entity: StoredEntity, row: Mapping[str, Any], filters: Mapping[str, Any]
) -> bool:
    state = str(row["secondary_status"])
    primary, status = entities.get_primary_status(state), filters.get("primary_status", "STATUS_NOT_DELETE")
    if status == "STATUS_NOT_DELETE" and primary == "STATUS_DELETE":  # hidden unless requested
        return False
    if status not in ("STATUS_ALL", "STATUS_NOT_DELETE", primary):
        return False
    chain = {ancestor.kind: ancestor for ancestor in (entity, *entities.list_ancestors(request.world, entity))}
    campaign, group = chain["campaign"].data, chain.get("adgroup", entity).data
    tests = {
        "secondary_status": lambda value: value.endswith(("_STATUS_ALL", "_STATUS_NOT_DELETE")) or value == state,
        "creation_filter_start_time": lambda value: entity.created_at >= shapes.parse_instant(value),
        "creation_filter_end_time": lambda value: entity.created_at <= shapes.parse_instant(value),
        "modified_after": lambda value: entity.updated_at >= shapes.parse_instant(value),
        "objective_type": lambda value: campaign["objective_type"] == value,
        "optimization_goal": lambda value: group.get("optimization_goal") == value,
        "billing_events": lambda value: group.get("billing_event") in value,
        "buying_types": lambda value: "AUCTION" in value,
        **{
            f"{kind}_ids": _contains_value(row, f"{kind}_id") for kind in ("campaign", "adgroup", "ad", "smart_plus_ad")
        },
        **{f"{kind}_name": _contains_text(row, f"{kind}_name") for kind in ("campaign", "adgroup", "ad")},
    }
    return all(tests[name](value) for name, value in filters.items() if name != "primary_status")


def _contains_value(row: Mapping[str, Any], name: str) -> Any:
    return lambda value: row.get(name) in value


def _contains_text(row: Mapping[str, Any], name: str) -> Any:
    return lambda value: value.lower() in str(row.get(name, "")).lower()  # a fuzzy search
