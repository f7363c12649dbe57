"""What can be read of campaigns, ad groups and ads, and their lists."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import (
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    json_text,
    listing,
    record,
    text,
)
from adsunify.sandbox.networks.tiktok.answers import account_of, answer
from adsunify.sandbox.networks.tiktok.entities import (
    SMART,
    above,
    id_name,
    primary_status,
    secondary_status,
)
from adsunify.sandbox.networks.tiktok.members import GOALS, KEPT
from adsunify.sandbox.networks.tiktok.places import OBJECTIVES
from adsunify.sandbox.networks.tiktok.shapes import (
    ADVERTISER,
    ID,
    each,
    instant,
    listed,
    moment,
    names,
    one_of,
    page,
    paged,
    written,
)

_INFO = listed(
    "advertiser_id name currency timezone display_timezone status role country company balance owner_bc_id"
    " advertiser_account_type can_use_custom_identity ads_only_mode"
)
_ON_REQUEST = ("can_use_custom_identity", "ads_only_mode")
_COMPUTED: Mapping[str, tuple[str, ...]] = {
    "campaign": (
        "advertiser_id", "campaign_id", "create_time", "modify_time", "secondary_status", "objective",
        "campaign_automation_type", "is_smart_performance_campaign", "is_new_structure",
    ),
    "adgroup": (
        "advertiser_id", "campaign_id", "campaign_name", "adgroup_id", "create_time", "modify_time",
        "secondary_status", "campaign_automation_type", "is_smart_performance_campaign", "is_new_structure",
    ),
    "ad": (
        "advertiser_id", "campaign_id", "campaign_name", "adgroup_id", "adgroup_name", "ad_id", "create_time",
        "modify_time", "secondary_status", "campaign_automation_type", "smart_plus_ad_id", "is_aco",
        "is_new_structure",
    ),
}  # fmt: skip
_PRIMARY = (
    "STATUS_ALL STATUS_DELETE STATUS_DELIVERY_CATALOG STATUS_DELIVERY_OK STATUS_DELIVERY_PARTIAL STATUS_DISABLE"
    " STATUS_FROZEN STATUS_NOT_DELETE STATUS_NOT_DELIVERY STATUS_RF_CLOSED STATUS_TIME_DONE"
)
_IDS = listing(ID, 1, 100)
_FILTERS: Mapping[str, Check] = {
    "primary_status": one_of(_PRIMARY),
    **each(instant, "creation_filter_start_time creation_filter_end_time modified_after"),
    **each(_IDS, "campaign_ids adgroup_ids ad_ids smart_plus_ad_ids"),
    **each(text(), "campaign_name adgroup_name ad_name"),
    "objective_type": one_of(OBJECTIVES),
    "optimization_goal": one_of(GOALS),
    "billing_events": listing(one_of("CPC CPM CPV GD OCPC OCPM"), 1),
    "buying_types": listing(one_of("AUCTION RESERVATION_RF RESERVATION_TOP_VIEW"), 1),
}
_ALWAYS = "primary_status secondary_status creation_filter_start_time creation_filter_end_time objective_type"
# Filters that the documentation names; other ones are not simulated and refused.
_FILTERED: Mapping[tuple[str, bool], str] = {
    ("campaign", False): f"{_ALWAYS} campaign_ids campaign_name buying_types",
    (
        "adgroup",
        False,
    ): f"{_ALWAYS} campaign_ids adgroup_ids adgroup_name optimization_goal billing_events buying_types",
    ("ad", False): f"{_ALWAYS} campaign_ids adgroup_ids ad_ids ad_name modified_after optimization_goal buying_types",
    ("campaign", True): f"{_ALWAYS} campaign_ids campaign_name",
    ("adgroup", True): f"{_ALWAYS} campaign_ids adgroup_ids adgroup_name optimization_goal",
    ("ad", True): f"{_ALWAYS} campaign_ids adgroup_ids smart_plus_ad_ids modified_after optimization_goal",
}


def advertiser_info(request: Request) -> Answer:
    """GET /advertiser/info/: two fields come only when they are asked for; a foreign id refuses the call."""
    given = request.query({"advertiser_ids": json_text(listing(ADVERTISER, 1, 100))}, {"fields": names(_INFO)})
    fields = given.get("fields", [name for name in _INFO if name not in _ON_REQUEST])
    accounts = [account_of(request, one) for one in given["advertiser_ids"]]
    return answer({"list": [{name: one.extra["native"][name] for name in fields} for one in accounts]})


def list_entities(request: Request, *, kind: str, smart: bool) -> Answer:
    """GET /{kind}/get/ of everything, and /smart_plus/{kind}/get/ of Upgraded Smart+; newest first (chosen)."""
    shape = {"secondary_status": _state(kind), **_FILTERS}
    filtering = {name: shape[name] for name in _FILTERED[kind, smart].split()}
    given = request.query(
        {"advertiser_id": ADVERTISER},
        {
            **paged(1000),
            "filtering": json_text(record(optional=filtering)),
            "fields": names((*_COMPUTED[kind], *KEPT[kind], *(_SMART_FIELDS if smart else ()))),
        },
    )
    account = account_of(request, given["advertiser_id"])
    wanted = given.get("filtering", {})
    rows = []
    for entity in reversed(request.world.entities(kind, account.id)):
        if smart and entity.data["campaign_automation_type"] != SMART:
            continue
        row = native(request, entity, smart)
        if _matches(request, entity, row, wanted):
            rows.append({name: row.get(name) for name in given["fields"]} if "fields" in given else row)
    return answer(page(rows, given))


def native(request: Request, entity: Entity, smart: bool) -> dict[str, Any]:
    """An entity in the words of one flow: in the manual one every member it does not have is null."""
    kept = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    parents = above(request.world, entity)
    shown: dict[str, Any] = {
        "advertiser_id": entity.account,
        id_name(entity.kind, smart): entity.data.get("_ad_id", entity.id) if not smart else entity.id,
        **{f"{one.kind}_id": one.id for one in parents},
        **{f"{one.kind}_name": one.data[f"{one.kind}_name"] for one in parents},
        "create_time": written(entity.created_at),
        "modify_time": written(entity.updated_at),
        "secondary_status": secondary_status(request, entity),
    }
    if entity.kind != "ad":
        kept.setdefault("budget", Decimal(0))
    if smart:
        return {**shown, **kept}
    automation = kept["campaign_automation_type"]
    if automation == SMART and entity.kind == "ad":
        shown["smart_plus_ad_id"] = entity.id
        kept = _flat_ad(kept)
    elif entity.kind == "adgroup":
        kept |= kept.get("targeting_spec", {})
    if entity.kind == "campaign":
        shown["objective"] = "LANDING_PAGE"
    every = (*_COMPUTED[entity.kind], *KEPT[entity.kind])
    more = {"is_smart_performance_campaign": automation == "SMART_PLUS", "is_new_structure": True, "is_aco": False}
    return dict.fromkeys(every) | {name: value for name, value in (more | kept | shown).items() if name in every}


_SMART_FIELDS = (
    "targeting_spec", "targeting_optimization_mode", "creative_list", "ad_text_list", "call_to_action_list",
    "landing_page_url_list", "ad_configuration", "page_list", "deeplink_list", "min_budget", "ad_name",
)  # fmt: skip


def _flat_ad(kept: Mapping[str, Any]) -> dict[str, Any]:
    info = kept["creative_list"][0]["creative_info"]
    flat = {name: value for name, value in kept.items() if not name.endswith("_list")}
    flat |= {name: value for name, value in info.items() if not name.endswith("_info")}
    flat |= {"video_id": info.get("video_info", {}).get("video_id")}
    flat |= {"image_ids": [one["web_uri"] for one in info.get("image_info", ())]}
    for name in ("ad_text", "call_to_action", "landing_page_url"):
        flat |= kept[f"{name}_list"][0] if kept.get(f"{name}_list") else {}
    return {**flat, **kept.get("ad_configuration", {})}


def _state(kind: str) -> Check:
    """The secondary statuses of one kind."""
    prefix = f"{kind.upper()}_STATUS_"

    def check(value: Any, where: str) -> str:
        if not str(text()(value, where)).startswith(prefix):
            raise Problem("value", where, f"must start with {prefix}")
        return str(value)

    return check


def _matches(request: Request, entity: Entity, row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    state = str(row["secondary_status"])
    primary, asked = primary_status(state), wanted.get("primary_status", "STATUS_NOT_DELETE")
    if asked == "STATUS_NOT_DELETE" and primary == "STATUS_DELETE":  # hidden unless asked for
        return False
    if asked not in ("STATUS_ALL", "STATUS_NOT_DELETE", primary):
        return False
    chain = {one.kind: one for one in (entity, *above(request.world, entity))}
    campaign, group = chain["campaign"].data, chain.get("adgroup", entity).data
    tests = {
        "secondary_status": lambda value: value.endswith(("_STATUS_ALL", "_STATUS_NOT_DELETE")) or value == state,
        "creation_filter_start_time": lambda value: entity.created_at >= moment(value),
        "creation_filter_end_time": lambda value: entity.created_at <= moment(value),
        "modified_after": lambda value: entity.updated_at >= moment(value),
        "objective_type": lambda value: campaign["objective_type"] == value,
        "optimization_goal": lambda value: group.get("optimization_goal") == value,
        "billing_events": lambda value: group.get("billing_event") in value,
        "buying_types": lambda value: "AUCTION" in value,
        **{f"{kind}_ids": _among(row, f"{kind}_id") for kind in ("campaign", "adgroup", "ad", "smart_plus_ad")},
        **{f"{kind}_name": _named(row, f"{kind}_name") for kind in ("campaign", "adgroup", "ad")},
    }
    return all(tests[name](value) for name, value in wanted.items() if name != "primary_status")


def _among(row: Mapping[str, Any], name: str) -> Any:
    return lambda value: row.get(name) in value


def _named(row: Mapping[str, Any], name: str) -> Any:
    return lambda value: value.lower() in str(row.get(name, "")).lower()  # fuzzy
