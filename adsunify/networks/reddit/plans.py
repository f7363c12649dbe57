"""Changes at Reddit as plans: one entity per write. A POST creates a paused entity, a PATCH changes its members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from attrs import evolve

from adsunify.adapter import lifecycle
from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import collect_minor_unit_warnings
from adsunify.adapter.edit_members import EditPart, check_edit
from adsunify.adapter.edits import Edit, assess_risk
from adsunify.adapter.flows import fetch_or_none, fetch_rows
from adsunify.adapter.lifecycle import ID_OUTPUT, bind_parent, build_plan, build_schedule, completed_plan
from adsunify.adapter.native_money import to_native_amount
from adsunify.adapter.network import Level, NativeEntity, get_level
from adsunify.errors import Issue, ProviderError
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Expectation, Kind, Output, Plan, Risk, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id

from . import native as reddit
from .reads import fetch_editable_entity
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, NETWORK
from .targeting import find_native_targeting_error, is_worldwide, merge_targeting

CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/data/id",), is_text_only=True),)
STATUS_MEMBER = lifecycle.get_status_member(CAMPAIGN)
WORLDWIDE_WARNING = "The targeting names no geolocations: the ads are shown everywhere."
Body = dict[str, Json]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(account: Account, level: Level, does: str, members: Body, *bindings: Binding) -> Step:
    """Build a step that creates one entity under the account. The step's key is the entity's kind."""
    path = f"ad_accounts/{{account}}/{level.path}"
    request = reddit.build_write_request("POST", path, members, account=account.native_id)
    return Step(level.kind, level.kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(account: Account, level: Level, entity_id: str, does: str, members: Mapping[str, Json]) -> Step:
    """Build a step that changes members of one entity. The response has to have the same ID."""
    id_ = reddit.ensure_valid_id(entity_id)
    request = reddit.build_write_request("PATCH", f"{level.path}/{{id}}", members, id=id_)
    same = (Expectation("/body/data/id", entity_id),)
    return Step(level.kind, level.kind, does, request, "update", entity_id, expectations=same)


_build_status_step = partial(lifecycle.build_status_step, _build_update_step)


# -- create -------------------------------------------------------------------------------------------------------


def _build_paused_campaign(brief: CampaignBrief) -> Body:
    # The default status is ACTIVE. Without a funding instrument the campaign would be PENDING_BILLING_INFO.
    return {
        "name": brief.name,
        "objective": reddit.CLICKS,
        STATUS_MEMBER: CAMPAIGN.initial_status,
        "funding_instrument_id": brief.platform.funding_instrument_id,
    }


def _build_ad_group(account: Account, brief: CampaignBrief) -> Body:
    unit = reddit.get_money_unit(account)
    bid: Body = {"bid_strategy": reddit.MAXIMIZE_VOLUME, "bid_type": reddit.CPC}
    if brief.bid is not None:
        amount = to_native_amount(unit, brief.bid, "bid")
        bid = {"bid_strategy": reddit.MANUAL_BIDDING, "bid_type": reddit.CPC, "bid_value": amount}
    return {
        "name": brief.name,
        STATUS_MEMBER: AD_GROUP.initial_status,
        "conversion_pixel_id": brief.platform.pixel_id,  # required since 2026-07-13 (notice of 2026-04-13)
        "optimization_goal": reddit.CLICKS,
        **bid,
        "goal_type": reddit.DAILY_SPEND,
        "goal_value": to_native_amount(unit, brief.budget.amount, "budget.amount"),
        **build_schedule(reddit.TIME, brief),
        "targeting": dict(brief.targeting.native or {}),
    }


def _collect_warnings(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[str]:
    yield from collect_minor_unit_warnings(NETWORK.title, account, brief)
    if now is not None and brief.schedule.start <= now:
        yield "The start lies in the past: Reddit may refuse it, else the ads run at once when they are activated."
    if is_worldwide(brief.targeting.native or {}):
        yield WORLDWIDE_WARNING


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Plan a campaign, an ad group with the budget, and an ad with the existing post, all paused."""
    does = "Create the ad group with budget, schedule, pixel and targeting, paused."
    ad = {"name": brief.name, STATUS_MEMBER: AD.initial_status, "post_id": brief.creative.existing_id}
    in_campaign, in_ad_group = bind_parent(AD_GROUP, "/body/data"), bind_parent(AD, "/body/data")
    steps = (
        _build_create_step(account, CAMPAIGN, "Create the campaign, paused.", _build_paused_campaign(brief)),
        _build_create_step(account, AD_GROUP, does, _build_ad_group(account, brief), in_campaign),
        _build_create_step(account, AD, "Create the ad over the existing post, paused.", ad, in_ad_group),
    )
    warnings = tuple(_collect_warnings(account, brief, now))
    return (yield from completed_plan(NETWORK, account, "create", *steps, warnings=warnings))


# -- activate and status ------------------------------------------------------------------------------------------


plan_activate = partial(lifecycle.plan_activate, NETWORK, _build_status_step)
plan_status = partial(lifecycle.plan_status, NETWORK, _build_status_step)


# -- native -------------------------------------------------------------------------------------------------------


def _check_native_targeting(kind: Kind, payload: Mapping[str, Json]) -> Iterator[Issue]:
    targeting = payload.get("targeting")
    if targeting is not None and kind == AD_GROUP.kind:
        is_object = isinstance(targeting, Mapping)
        error = find_native_targeting_error(targeting) if is_object else "targeting is an object"
        if error:
            yield Issue("payload.targeting", "invalid", f"Reddit: {error}.")


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """Plan the creation of one entity from native members. It is paused unless they name a status."""
    level = get_level(NETWORK, kind)
    create = lifecycle.prepare_native_create(NETWORK, level, payload, parent_id, _check_native_targeting(kind, payload))
    does = f"Create the {level.label} from native members, {'active' if create.is_active else 'not serving'}."
    step = evolve(_build_create_step(account, level, does, create.members), parent=create.parent_id)
    return (yield from completed_plan(NETWORK, account, "create", step, risk=create.risk))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Plan a change of native members of one entity. Each is replaced as a whole."""
    issues = _check_native_targeting(kind, payload)
    return lifecycle.plan_update(NETWORK, _build_update_step, account, kind, entity_id, payload, parent_id, issues)


# unverified: only archived entities can be deleted, and not for three hours; one integration reports both.
ARCHIVE_WARNING = (
    "Reddit deletes only what is archived: this archives it, which ends its delivery for good. To delete it, delete it"
    " again; Reddit may refuse that within three hours of the last change."
)


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Plan the deletion of an archived entity, or the archiving of any other entity."""
    current = yield from fetch_editable_entity(account, kind, entity_id)
    step = lifecycle.build_deletion_step(_build_update_step, account, get_level(NETWORK, kind), current)
    warnings = () if current.native_status == reddit.ARCHIVED else (ARCHIVE_WARNING,)
    return build_plan(NETWORK, account, "delete", step, risk="destructive", warnings=warnings)


# -- edit ---------------------------------------------------------------------------------------------------------


def _edit_targeting(kind: Kind, entity: NativeEntity, edit: Edit) -> EditPart:
    """Return the whole targeting, since a write replaces all of it (Ads API v3)."""
    targeting, changes = merge_targeting(kind, entity.get("targeting"), edit.targeting)
    return {"targeting": targeting}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Plan one write that changes fields, targeting and post of one entity, after a read of the entity."""
    level = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = (yield from fetch_editable_entity(account, kind, entity_id)).native
    members, changes = lifecycle.merge_edit(
        *(NETWORK, account, kind, entity, edit, now, check_conflicts), merge_targeting=_edit_targeting
    )
    warnings = [WORLDWIDE_WARNING] if "targeting" in members and is_worldwide(members["targeting"]) else []
    warnings += ["The ad goes to review again with its new post."] if "post_id" in members else []
    has_no_bid = members.get("bid_strategy") == reddit.MAXIMIZE_VOLUME  # the price of a click has no limit
    risk: Risk = "spend" if has_no_bid else assess_risk(NETWORK, kind, changes)
    step = lifecycle.build_edit_step(_build_update_step, account, level, entity_id, members, changes)
    return build_plan(NETWORK, account, "edit", step, risk=risk, warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def _check_post(post_id: str) -> Flow[list[Issue]]:
    """Check that the post exists, as a plain or a structured post. A post that can be read is complete."""
    for path in ("posts", "structured_posts"):
        if (yield from fetch_or_none(NETWORK, reddit.build_get_request(f"{path}/{{id}}", id=post_id))) is not None:
            return []
    return [Issue("creative.existingId", "not_found", "Reddit has no such post, or it is still being made.")]


def _find_row(request: Request, row_id: str | None) -> Flow[Mapping[str, Json] | None]:
    """Return the row with this ID; None if the list has none."""
    rows = yield from fetch_rows(NETWORK, request, reddit.build_next_request, reddit.parse_rows)
    return next((row for row in rows if parse_id(get_value(row, "/id")) == row_id), None)


def _check_funding_instrument(account: Account, instrument_id: str | None) -> Flow[list[Issue]]:
    """Check that the funding instrument can pay in the currency of the account."""
    path = "platform.fundingInstrumentId"
    # With all modes, the list also has the instruments that cannot pay, with their reasons.
    request = reddit.build_account_get_request(account, "funding_instruments", mode="ALL")
    instrument = yield from _find_row(request, instrument_id)
    if instrument is None:
        return [Issue(path, "not_found", "Reddit: the account has no such funding instrument.")]
    issues: list[Issue] = []
    if get_value(instrument, "/is_servable") is not True:
        reasons = get_value(instrument, "/reasons_not_servable")
        named = ", ".join(map(str, reasons))[:300] if isinstance(reasons, list) else ""
        message = f"Reddit: this funding instrument cannot pay: {named or 'Reddit says no reason'}."
        issues.append(Issue(path, "ineligible", message))
    currency = get_text(instrument, "/currency")
    if currency != account.currency:
        message = f"The funding instrument counts in {currency}; no conversion is made."
        issues.append(Issue(path, "currency_mismatch", message))
    return issues


def _check_pixel(account: Account, pixel_id: str | None) -> Flow[list[Issue]]:
    pixel = yield from _find_row(reddit.build_account_get_request(account, "pixels"), pixel_id)
    return [] if pixel else [Issue("platform.pixelId", "not_found", "Reddit: the account has no such pixel.")]


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Check that the post is complete, that the funding instrument can pay, and that the account has the pixel.

    A failed look-up is only a warning, since it proves nothing about the brief.
    """
    checks = {
        "the post is complete": _check_post(brief.creative.existing_id or ""),
        "the funding instrument can pay": _check_funding_instrument(account, brief.platform.funding_instrument_id),
        "the account has the pixel": _check_pixel(account, brief.platform.pixel_id),
    }
    issues: list[Issue] = []
    warnings: list[str] = []
    for statement, check in checks.items():
        try:
            issues += yield from check
        except ProviderError as problem:
            warnings.append(f"Whether {statement} could not be checked: {problem.message}")
    return issues, warnings
