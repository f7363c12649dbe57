"""The amounts that a reviewer sees: those of every money setting, and members that sound like money."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review import amounts
from tests.networks.samples import get_samples

ACCOUNT = {"nativeId": "1", "currency": "USD", "timezone": "America/New_York", "extras": {}}


def find_pointers(network: str, body: Any) -> list[str]:
    step = {"path": "https://ads.example/v1/campaigns", "body": body}
    return [amount.pointer for amount in amounts.find_amounts({"network": network, **ACCOUNT}, step)]


@pytest.mark.parametrize("network", ADAPTER_PACKAGES)
def test_the_amounts_of_settings_are_found(network: str) -> None:
    assert get_samples(network).native_amounts
    for name in get_samples(network).native_amounts:
        leaf = name.rpartition(".")[2]
        assert find_pointers(network, {"outer": [{leaf: 5}]}) == [f"outer.0.{leaf}"]


def test_a_setting_whose_name_does_not_sound_like_money_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = get_adapter("reddit")
    setting = next(candidate for candidate in adapter.network.settings if candidate.unit == "money")
    network = evolve(adapter.network, settings=(evolve(setting, native="/data/ceiling_minor"),))
    monkeypatch.setattr(amounts, "get_adapter", lambda code: evolve(adapter, tables=Tables(network)))
    assert find_pointers("reddit", {"ceiling_minor": 120, "ceiling": 120}) == ["ceiling_minor"]


class Tables:
    def __init__(self, network: Any) -> None:
        self.NETWORK = network


@pytest.mark.parametrize("name", ["bidModifier", "latitudeInMicroDegrees", "bid_strategy", "cpcAdjustment", "bidId"])
def test_what_only_sounds_like_money_is_no_amount(name: str) -> None:
    assert find_pointers("google", {name: Decimal(5)}) == []


def test_an_amount_that_no_setting_edits_is_found_by_its_name() -> None:
    assert find_pointers("google", {"cpvBidMicros": "2000000"}) == ["cpvBidMicros"]
