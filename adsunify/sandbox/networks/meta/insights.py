"""Insights, synchronous and by report runs.

Every account has delivered on every day up to today, whatever it contains, so a report always has rows. The account's
figures of a day are divided over its ads, deleted ones included, and an ad set and a campaign have the sums of their
ads. Only `reach` is invented for each row. The figures have every special case of the documentation. The 13th of a
month has no delivery and no row if it is more than a week ago. Saturdays have no purchase, and Sundays have no action.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, boolean, choice, integer_text, json_text, one_of, record, text
from adsunify.sandbox.figures import divide_figures, draw_bytes
from adsunify.sandbox.instants import date_check
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.meta import reads
from adsunify.sandbox.networks.meta.accounts import MINOR_UNITS_PER_MAJOR
from adsunify.sandbox.networks.meta.errors import build_response, not_found_error, require_account_by_id
from adsunify.sandbox.networks.meta.writes import FINAL_STATUSES, parse_form, require_entity
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, parse_json
from adsunify.sandbox.world import Account, Lineage, StoredEntity

LEVELS = ("account", "campaign", "adset", "ad")
# Results of successive polls. A run is done only when both status and percentage show it: at the third poll the run has
# 100 % and still runs.
RUN_STATES = (("Job Not Started", 0), ("Job Started", 0), ("Job Running", 100), ("Job Completed", 100))
MAX_SYNC_ROWS = 1000  # rows; more is too much data for one call (the limit is our choice)
RUN_LIFETIME = timedelta(days=30)
# these actions overlap: one purchase counts in each
PURCHASE_ACTIONS = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")
DATE_PRESETS: Mapping[str, tuple[int, int]] = {  # by preset: first and last day, in days before today
    "today": (0, 0),
    "yesterday": (1, 1),
    "last_3d": (3, 1),
    "last_7d": (7, 1),
    "last_14d": (14, 1),
    "last_28d": (28, 1),
    "last_30d": (30, 1),
    "last_90d": (90, 1),
}


def _check_field_names(value: Any, where: str) -> str:
    """Names with commas between, or a JSON list of them (the body form of a list)."""
    names = text()(value, where)
    return ",".join(array(text(), 1)(parse_json(names, where), where)) if names.startswith("[") else str(names)


def _check_increment(value: Any, where: str) -> str:
    if not re.fullmatch(r"all_days|[1-9]|[1-8][0-9]|90", value):
        raise InvalidRequest(
            "value", where, "must be all_days or a number of days from 1 to 90 (monthly is not simulated)"
        )
    return str(value)


_FILTERS_CHECK = array(
    record(
        {
            "field": choice(
                *(f"{level}.{name}" for level in LEVELS[1:] for name in ("id", "name", "effective_status"))
            ),
            "operator": choice("IN", "NOT_IN"),
            "value": array(text(), 1),
        }
    )
)


def _refuse_not_simulated(value: Any, where: str) -> Any:
    raise InvalidRequest("value", where, "is not simulated here", value)


PARAMETER_CHECKS: Mapping[str, Check] = {
    "fields": _check_field_names,
    "level": one_of("account ad adset campaign"),
    "time_increment": _check_increment,
    "time_range": json_text(record({"since": date_check(), "until": date_check()})),
    "date_preset": one_of(" ".join(DATE_PRESETS)),
    "limit": integer_text(1, 5000),
    "filtering": json_text(_FILTERS_CHECK),
    "action_attribution_windows": json_text(array(text())),  # these four parameters do not change the figures
    "action_report_time": one_of("conversion impression lifetime mixed"),
    **fill_keys(json_text(boolean), "use_account_attribution_setting use_unified_attribution_setting"),
    **fill_keys(
        _refuse_not_simulated,
        """
        action_breakdowns breakdowns cpas_only default_summary export_columns export_format export_name
        graph_cache product_id_limit sort summary summary_action_breakdowns time_ranges
    """,
    ),
}


def get_insights(request: Request) -> Response:
    """GET /{id}/insights of an account, campaign, ad set or ad, and of a report run that is completed."""
    if (run := _find_run(request)) is not None:
        if run.data["polls"] < len(RUN_STATES) or run.data["fails"]:
            raise InvalidRequest("value", "", "the report run is not completed")
        parameters, node = run.data["asked"], run.data["node"]
        paging_parameters = {
            **parameters,
            **reads.parse_query(request, {**reads.PAGING_CHECKS, "fields": _check_field_names}),
        }
    else:
        node = request.path_parameters["node"]
        parameters = paging_parameters = reads.parse_query(request, {**reads.PAGING_CHECKS, **PARAMETER_CHECKS})
        _check_request(request, node, parameters)
    rows = list(_build_rows(request, node, parameters))
    if run is None and len(rows) > MAX_SYNC_ROWS:
        raise InvalidRequest("too_much_data", "", "Please reduce the amount of data you're asking for, then retry")
    return reads.build_page_response(
        request, reads.render_rows("insights", rows, {"fields": _format_fields(paging_parameters)}), paging_parameters
    )


def create_run(request: Request) -> Response:
    """POST /{id}/insights: a report run.

    It writes nothing to the account. With the fault `error_in_200` the run fails.
    """
    parameters, node = parse_form(request, PARAMETER_CHECKS), request.path_parameters["node"]
    account = _check_request(request, node, parameters)
    reads.render_rows("insights", [], {"fields": _format_fields(parameters)})
    data = {"asked": parameters, "node": node, "polls": 0, "fails": request.get_fault("error_in_200") is not None}
    run = request.world.create("report", account.id, data, logged=False)
    return build_response(request, {"report_run_id": run.id})


def find_run_status(request: Request) -> Response | None:
    """GET /{report_run_id}: each poll finds the next state. None if the id is not a run."""
    if (run := _find_run(request)) is None:
        return None
    query = reads.parse_query(request, {})
    polls = min(run.data["polls"] + 1, len(RUN_STATES))
    request.world.replace(run, {**run.data, "polls": polls}, logged=False)
    status, percent = RUN_STATES[polls - 1]
    native = {
        "id": run.id,
        "account_id": run.account.removeprefix("act_"),
        "async_status": status,
        "async_percent_completion": percent,
        "is_running": status != RUN_STATES[-1][0],
        "time_ref": int(run.created_at.timestamp()),
    }
    if run.data["fails"] and polls == len(RUN_STATES):  # a failed run can show 100 % too
        native |= {"async_status": "Job Failed", "error_code": 2, "error_subcode": 1504018}
        native |= {"error_message": "The report could not be made", "error_user_msg": "Please ask for less data"}
    return build_response(request, reads.render_rows("report", [native], query)[0])


def _find_run(request: Request) -> StoredEntity | None:
    run = request.world.find("report", request.path_parameters["node"])
    if run is not None and request.now - run.created_at > RUN_LIFETIME:
        raise not_found_error(request, run.id)
    return run


def _check_request(request: Request, node: str, parameters: Mapping[str, Any]) -> Account:
    """The account of a request, after the checks of ranges and levels."""
    kind = "account" if node.startswith("act_") else require_entity(request, node).kind
    if kind not in LEVELS:
        raise not_found_error(request, node)
    if LEVELS.index(parameters.get("level", kind)) < LEVELS.index(kind):
        raise InvalidRequest("combination", "/level", f"must not lie above the {kind}")
    _check_filters(parameters.get("filtering", []), parameters.get("level", kind))
    if "time_range" in parameters and "date_preset" in parameters:
        raise InvalidRequest("combination", "/time_range", "goes without date_preset")
    account = require_account_by_id(request, node if kind == "account" else require_entity(request, node).account)
    since, until = _get_date_range(request.get_local_date(account), parameters)
    today = request.get_local_date(account)
    if since > until:
        raise InvalidRequest("combination", "/time_range", "since must not be after until")
    month = today.year * 12 + today.month - 1 - 37
    if since < date(month // 12, month % 12 + 1, 1) + timedelta(days=today.day - 1):  # the error code is unverified
        raise InvalidRequest("value", "/time_range", "the start must not lie more than 37 months back")
    return account


def _check_filters(filters: Sequence[Mapping[str, Any]], level: str) -> None:
    """Refuse filters of a level below the level of the rows, and statuses that the filter's level does not have."""
    for position, condition in enumerate(filters):
        where = f"/filtering/{position}"
        filtered, _, name = condition["field"].partition(".")
        if LEVELS.index(filtered) > LEVELS.index(level):
            raise InvalidRequest("value", where, f"{filtered} is below the level {level}")
        if name == "effective_status" and not {*condition["value"]} <= {*reads.EFFECTIVE_STATUSES[filtered]}:
            raise InvalidRequest("status_value", where, f"a {filtered} does not have this effective status")


def _format_fields(parameters: Mapping[str, Any]) -> str:
    """A row always has both dates (our choice; impressions and spend are the default fields)."""
    return ",".join(
        dict.fromkeys(["date_start", "date_stop", *parameters.get("fields", "impressions,spend").split(",")])
    )


def _get_date_range(today: date, parameters: Mapping[str, Any]) -> tuple[date, date]:
    if "time_range" in parameters:
        return parameters["time_range"]["since"], parameters["time_range"]["until"]
    first, last = DATE_PRESETS[parameters.get("date_preset", "last_30d")]
    return today - timedelta(days=first), today - timedelta(days=last)


def _build_rows(request: Request, node: str, parameters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = "account" if node.startswith("act_") else require_entity(request, node).kind
    account = require_account_by_id(request, node if kind == "account" else require_entity(request, node).account)
    since, until = _get_date_range(request.get_local_date(account), parameters)
    level, today = parameters.get("level", kind), request.get_local_date(account)
    subjects = list(_list_subjects(request, account, node, kind, level, parameters.get("filtering", [])))
    lineages = request.world.list_lineages(account.id, LEVELS[1:])
    increment = parameters.get("time_increment", "all_days")
    step = (until - since).days + 1 if increment == "all_days" else int(increment)
    for start in _list_days(since, min(until, today), step):
        stop = min(start + timedelta(days=step - 1), until)
        figures_by_subject: dict[str, list[Mapping[str, int]]] = {}
        for day in filter(request.world.delivers, _list_days(start, min(stop, today))):
            for subject, day_figures in _generate_level_figures(account, level, day, today, lineages).items():
                figures_by_subject.setdefault(subject, []).append(day_figures)
        for subject, naming in subjects:
            if subject in figures_by_subject:
                yield {
                    **naming,
                    "date_start": start.isoformat(),
                    "date_stop": stop.isoformat(),
                    **_render_figures(account, figures_by_subject[subject]),
                }


def _list_days(first: date, last: date, step: int = 1) -> Iterator[date]:
    return (first + timedelta(days=offset) for offset in range(0, (last - first).days + 1, step))


def _list_subjects(
    request: Request, account: Account, node: str, kind: str, level: str, filters: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id and naming members of everything that can have rows at this level.

    Deleted and archived entities are left out, unless a filter names the status of the level or the request is for the
    entity itself.
    """
    naming = {
        "account_id": account.id.removeprefix("act_"),
        "account_name": account.name,
        "account_currency": account.currency,
    }
    if level == "account":
        yield account.id, naming
        return
    has_status_filter = any(condition["field"] == f"{level}.effective_status" for condition in filters)
    for entity in request.world.list_entities(level, account.id):
        members, chain = dict(naming), {}
        for name in LEVELS[1 : LEVELS.index(level) + 1]:
            level_entity = entity if name == level else request.world.find(name, entity.data[f"{name}_id"])
            assert level_entity is not None
            status = reads.get_effective_status(request, level_entity)
            chain[name] = {"id": level_entity.id, "name": level_entity.data["name"], "effective_status": status}
            members |= {f"{name}_id": level_entity.id, f"{name}_name": level_entity.data["name"]}
        if kind != "account" and chain[kind]["id"] != node:
            continue
        is_hidden = chain[level]["effective_status"] in FINAL_STATUSES and entity.id != node
        if (has_status_filter or not is_hidden) and all(_passes_filter(chain, condition) for condition in filters):
            yield entity.id, members


def _passes_filter(chain: Mapping[str, Mapping[str, str]], condition: Mapping[str, Any]) -> bool:
    filtered, _, name = condition["field"].partition(".")
    is_named = chain[filtered][name] in condition["value"]
    return is_named if condition["operator"] == "IN" else not is_named


def _generate_level_figures(
    account: Account, level: str, day: date, today: date, lineages: Sequence[Lineage]
) -> Mapping[str, Mapping[str, int]]:
    """The figures of a level on one day, by the id of the entity. Entities without delivery are left out."""
    whole = _generate_daily_figures(account, account.id, day, today)
    if whole is None:
        return {}
    if level == "account":
        return {account.id: whole}
    additive = {name: value for name, value in whole.items() if name != "reach"}
    return {
        subject: {**part, "reach": part["impressions"] * (60 + draw_bytes(subject, day)[1] % 35) // 100}
        for (kind, subject), part in divide_figures(additive, lineages, day).items()
        if kind == level and any(part.values())
    }


def _generate_daily_figures(account: Account, subject: str, day: date, today: date) -> dict[str, int] | None:
    """The figures of one day; money in minor units. None without delivery."""
    if day.day == 13 and (today - day).days > 7:
        return None
    dice = draw_bytes(account.id, subject, day)
    impressions = 1500 + 10 * dice[0] + dice[1]
    clicks = impressions * (15 + dice[2] % 20) // 1000
    figures = {
        "impressions": impressions,
        "reach": impressions * (60 + dice[3] % 35) // 100,
        "clicks": clicks,
        "inline_link_clicks": clicks * 7 // 10,
        "spend": clicks * (25 + dice[4] % 50),
    }
    if day.weekday() != 6:
        figures |= {"link_click": clicks * 7 // 10, "video_view": impressions // 5 + dice[5]}
    if day.weekday() < 5:
        figures |= {"purchase": 1 + clicks // 20, "value": (1 + clicks // 20) * (1900 + dice[6])}
    return figures


def _render_figures(account: Account, days: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """Counts as strings of digits, money as decimals in major units, empty members left out."""
    total = {name: sum(day.get(name, 0) for day in days) for day in days for name in day}
    impressions, clicks, reach = (total[name] for name in ("impressions", "clicks", "reach"))
    native: dict[str, Any] = {
        name: str(total[name]) for name in ("impressions", "reach", "clicks", "inline_link_clicks")
    }
    native |= {
        "spend": _format_major_units(account, total["spend"]),
        "cpc": _compute_ratio(_to_major_units(account, total["spend"]), clicks),
        "cpm": _compute_ratio(1000 * _to_major_units(account, total["spend"]), impressions),
        "ctr": _compute_ratio(Decimal(100 * clicks), impressions),
        "frequency": _compute_ratio(Decimal(impressions), reach),
    }
    counted = [(name, str(total[name])) for name in ("link_click", "video_view") if total.get(name)]
    if total.get("purchase"):
        counted += [(name, str(total["purchase"])) for name in PURCHASE_ACTIONS]
    if total.get("value"):
        value = _format_major_units(account, total["value"])
        native["action_values"] = [{"action_type": name, "value": value} for name in PURCHASE_ACTIONS]
    if counted:
        native["actions"] = [{"action_type": name, "value": count} for name, count in counted]
    return native


def _to_major_units(account: Account, minor: int) -> Decimal:
    return Decimal(minor) / MINOR_UNITS_PER_MAJOR[account.currency]


def _format_major_units(account: Account, minor: int) -> str:
    return f"{_to_major_units(account, minor):.{len(str(MINOR_UNITS_PER_MAJOR[account.currency])) - 1}f}"


def _compute_ratio(above: Decimal, below: int) -> str | None:
    return f"{above / below:.6f}" if below else None
