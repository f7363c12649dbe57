"""The simulated networks: their enums, codes and figures are those of the same published tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pytest

from adsunify.sandbox.networks.apple import figures as apple_figures
from adsunify.sandbox.networks.apple import tables as apple
from adsunify.sandbox.networks.chatgpt import tables as chatgpt
from adsunify.sandbox.networks.linkedin import tables as linkedin
from adsunify.sandbox.networks.outbrain import figures as outbrain_figures
from adsunify.sandbox.networks.outbrain import places
from adsunify.sandbox.networks.outbrain import tables as outbrain
from adsunify.sandbox.networks.reddit import tables as reddit
from adsunify.sandbox.networks.snapchat import figures as snapchat_figures
from adsunify.sandbox.networks.snapchat import tables as snapchat
from adsunify.sandbox.networks.x import tables as x
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

SimulatedValues = Mapping[str, Collection[str]]

EQUAL: Mapping[str, SimulatedValues] = {
    "x/enums-errors-metrics.json": {
        "/enums/entity_status": x.STATUSES,
        "/enums/objective": x.GOALS,
        "/enums/goal": x.ALL_GOALS,
        "/enums/bid_strategy": x.BID_STRATEGIES,
        "/enums/pay_by": x.PAY_BY_OPTIONS,
        "/enums/product_type": x.PLACEMENTS,
        "/enums/placements": x.ALL_PLACEMENTS,
        "/enums/operator_type": x.OPERATORS,
        "/enums/age_bucket": x.AGES,
        "/enums/targeting_type": x.TARGETING_VALUE_PATTERNS,
        "/metricGroups": x.METRICS,
        **{f"/metricGroups/{name}": x.METRICS[name] for name in ("ENGAGEMENT", "BILLING", "VIDEO", "WEB_CONVERSION")},
    },
    "linkedin/enums.json": {
        "/campaignGroup.status": linkedin.STATUSES["campaignGroup"],
        "/campaign.status": linkedin.STATUSES["campaign"],
        "/creative.intendedStatus": linkedin.STATUSES["creative"],
        "/account.status": linkedin.ACCOUNT_STATUSES,
        "/campaignGroup.status.onCreate": linkedin.CREATION_STATUSES["campaignGroup"],
        "/campaign.type": linkedin.CAMPAIGN_TYPES,
        "/campaign.objectiveType": linkedin.OBJECTIVES,
        "/campaign.optimizationTargetType": linkedin.OPTIMIZATION_TARGETS,
        **{
            f"/campaign.optimizationTargetType.byObjective/{name}": linkedin.COST_TYPES_BY_TARGET[name]
            for name in ("BRAND_AWARENESS", "WEBSITE_VISIT", "ENGAGEMENT")
        },
        "/campaign.format.sponsoredUpdates": linkedin.FORMATS,
        "/campaign.politicalIntent": linkedin.POLITICAL_INTENTS,
        "/targetingFacets": linkedin.FACETS,
    },
    "snapchat/enums.json": {
        "/status": snapchat.STATUSES,
        "/objective_v2_type": snapchat.OBJECTIVES,
        "/promotion_type": snapchat.PROMOTIONS,
        "/conversion_location": snapchat.CONVERSION_LOCATIONS,
        "/legacy_objective": snapchat.LEGACY_OBJECTIVES,
        "/goals_by_objective/AWARENESS_AND_ENGAGEMENT": snapchat.GOALS_BY_OBJECTIVE["AWARENESS_AND_ENGAGEMENT"],
        "/optimization_goal": snapchat.ALL_GOALS,
        "/bid_strategy": snapchat.BID_STRATEGIES,
        "/placement_v2.snapchat_positions": snapchat.POSITIONS,
        "/ad_type": snapchat.AD_TYPES,
        "/creative_type": snapchat.CREATIVE_TYPES,
        "/stats.fields_daily": snapchat_figures.DAILY_METRICS,
        "/stats.fields_total_only": snapchat_figures.TOTAL_ONLY_METRICS,
    },
    "reddit/enums.json": {
        "/enums/configured_status": reddit.STATUSES,
        "/enums/effective_status": reddit.EFFECTIVE_STATUSES,
        "/enums/ad_group.optimization_goal": reddit.OPTIMIZATION_GOALS,
        "/enums/targeting.languages": reddit.LANGUAGES,
        "/enums/targeting.platforms": {*reddit.PLATFORMS, "DESKTOP_LEGACY"},  # listed, and not supported
        "/enums/targeting.view_modes": reddit.VIEW_MODES,
        "/enums/post.type": reddit.POST_TYPES,
        "/enums/funding_instrument.currency": reddit.FUNDING_CURRENCIES,
    },
    "apple/platform-v1-tables.json": {
        "/enums/status": apple.STATUSES,
        "/enums/promotedObjectType": apple.SUPPLY_SOURCES,
        "/enums/billingEvent": apple.BILLING_EVENTS,
        "/enums/pricingModel": apple.PRICING_MODELS,
        "/enums/bidStrategyPairs": apple.BID_STRATEGIES,
        "/enums/supplySource": apple.SUPPLY_SOURCES.values(),
        "/enums/supplyPlacement": [
            placement for placements in apple.SUPPLY_PLACEMENTS.values() for placement in placements
        ],
        "/enums/keywordMatchType/appstore": apple.MATCH_TYPES[apple.APP_PROMOTION],
        "/enums/keywordMatchType/maps": apple.MATCH_TYPES[apple.BRAND_PROMOTION],
        "/enums/creativeType": apple.CREATIVE_TYPES,
        "/enums/destinationType": apple.DESTINATIONS,
    },
    "outbrain/amplify-v0.1-tables.json": {
        "/enums/budgetType": outbrain.BUDGET_TYPES,
        "/enums/pacing": outbrain.PACINGS,
        "/enums/objective": outbrain.OPTIMIZATIONS_BY_OBJECTIVE,
        **{f"/enums/objective/{name}": types for name, types in outbrain.OPTIMIZATIONS_BY_OBJECTIVE.items()},
        "/enums/creativeFormat": outbrain.CREATIVE_FORMATS,
        "/enums/platform": outbrain.PLATFORMS,
        "/enums/operatingSystems": outbrain.OPERATING_SYSTEMS,
        "/enums/browsers": outbrain.BROWSERS,
        "/enums/onAirType": outbrain.ON_AIR_TYPES,
        "/enums/playMode": outbrain.PLAY_MODES,
        "/enums/cropType": outbrain.CROP_TYPES,
        "/enums/campaignExtraFields": outbrain.CAMPAIGN_EXTRA_FIELDS,
        "/enums/promotedLinkExtraFields": outbrain.LINK_EXTRA_FIELDS,
        "/enums/geoType": places.LOCATION_TYPES,
    },
    "chatgpt/delta-2026-09.json": {
        "/enums/CampaignBiddingTypeParam": chatgpt.BIDDING_TYPES,
        "/enums/BiddingStrategy": chatgpt.BID_STRATEGIES,
        "/enums/PlatformTarget": chatgpt.PLATFORMS,
    },
}
"""What a simulated network holds, by the file and the place of the same table in it."""

PARTS: Mapping[str, SimulatedValues] = {
    "x/enums-errors-metrics.json": {f"/metricGroups/{name}": values for name, values in x.METRICS.items()},
    "apple/platform-v1-tables.json": {
        "/objects/AppsMetrics": (*apple_figures.COUNT_METRICS, apple_figures.SPEND_METRIC)
    },
    "outbrain/amplify-v0.1-tables.json": {"/objects/Metrics": set(outbrain_figures.NO_FIGURES) - {"videoPlays"}},
}
"""Where it holds only a part."""

Spec = Callable[[str], Json]


def differences(data: Json, simulated: SimulatedValues, *, whole: bool = True) -> list[str]:
    """The values that only one of them has; with ``whole`` False, those that only the simulated network has."""
    messages = []
    for at, values in simulated.items():
        known = get_value(data, at)
        assert known, f"{at} is not in the table"
        messages += sorted(
            f"{at}: {value}" for value in (set(values) ^ set(known) if whole else set(values) - set(known))
        )
    return messages


@pytest.mark.parametrize("name", EQUAL)
def test_a_simulated_network_is_its_tables(name: str, spec: Spec) -> None:
    assert differences(spec(name), EQUAL[name]) == []


@pytest.mark.parametrize("name", PARTS)
def test_a_simulated_network_has_nothing_else(name: str, spec: Spec) -> None:
    assert differences(spec(name), PARTS[name], whole=False) == []


@pytest.mark.parametrize("name", EQUAL)
def test_what_is_wrong_is_found(name: str, spec: Spec) -> None:
    """One value more, and one less, in each of them."""
    data = spec(name)
    for at, values in EQUAL[name].items():
        assert differences(data, {at: {*values, "another"}}) == [f"{at}: another"]
        assert differences(data, {at: {*values, "another"}}, whole=False) == [f"{at}: another"]
        assert len(differences(data, {at: sorted(set(values))[1:]})) == 1


def test_codes_and_currencies_of_x_are_the_tables(spec: Spec) -> None:
    data = spec("x/enums-errors-metrics.json")
    code_rows = {(row["code"], row["http"]) for row in data["errorCodes"]}
    known_codes = {code for code, _ in code_rows}
    assert {(code, http) for code, http in x.STATUS_BY_CODE.items() if code in known_codes} <= code_rows
    digits = {code: int(number) for number, codes in data["enums"]["currency_decimals"].items()
              if number != "default" for code in codes}  # fmt: skip
    assert digits == x.CURRENCY_DECIMALS


def test_pairs_of_types_of_snapchat_are_the_tables(spec: Spec) -> None:
    pairs = spec("snapchat/enums.json")["creative_type_to_ad_type"]
    assert {
        creative_type: snapchat.AD_TYPE_BY_CREATIVE_TYPE.get(creative_type, creative_type) for creative_type in pairs
    } == pairs


def test_goals_of_bidding_of_apple_are_the_tables(spec: Spec) -> None:
    pairs = spec("apple/platform-v1-tables.json")["enums"]["bidStrategyPairs"]
    assert {name: goal for name, (goal, _) in apple.BID_STRATEGIES.items()} == pairs


def test_objectives_of_reddit_are_those_before_and_after(spec: Spec) -> None:
    enums = spec("reddit/enums.json")["enums"]
    assert set(reddit.OBJECTIVES) == {*enums["campaign.objective"], *enums["campaign.objective.added_2026_09_30"]}
