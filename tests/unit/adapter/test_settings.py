"""Settings: which of them a bulk edit changes, and which values they refuse."""

from __future__ import annotations

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, apply_edit
from adsunify.adapter.network import NativeEntity, Setting, get_level, unify_status
from adsunify.adapter.settings import add_common_lock, find_lock_reason, list_bulk_fields, list_settings
from adsunify.errors import InvalidInput
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Kind

META, PINTEREST = (get_adapter(code).network for code in ("meta", "pinterest"))
ACCOUNT = Account("pinterest", "1", "EUR", "Europe/Berlin")
KIND: Kind = "adGroup"


def test_a_field_may_be_editable_but_not_in_bulk() -> None:
    settings = tuple(evolve(setting, is_bulk_editable=setting.field != "budget") for setting in META.settings)
    network = evolve(META, settings=settings)
    assert "budget" in list_bulk_fields(META, KIND) and "budget" not in list_bulk_fields(network, KIND)
    assert set(list_bulk_fields(network, KIND)) == set(list_bulk_fields(META, KIND)) - {"budget"}
    assert [setting.field for setting in list_settings(network, KIND)] == [
        setting.field for setting in list_settings(META, KIND)
    ]


def test_a_setting_refuses_a_value_that_is_wrong_and_clears_without_a_check() -> None:
    url = next(setting for setting in PINTEREST.settings if setting.field == "clickTrackingUrl")
    network = evolve(PINTEREST, settings=(evolve(url, find_error=lambda value: "it is wrong"),))
    entity = {"status": "ACTIVE", "click_tracking_url": "https://example.com/1"}
    cleared = apply_edit(network, ACCOUNT, "ad", entity, Edit({"clickTrackingUrl": ""}), None)
    assert cleared.native_object == {"click_tracking_url": None}
    with pytest.raises(InvalidInput) as refused:
        apply_edit(network, ACCOUNT, "ad", entity, Edit({"clickTrackingUrl": "https://example.com/2"}), None)
    (issue,) = refused.value.issues
    assert (issue.path, issue.code, issue.message) == ("fields.clickTrackingUrl", "invalid", "Pinterest: it is wrong.")


def test_a_common_lock_locks_every_setting_that_is_not_always_locked() -> None:
    settings = add_common_lock(
        lambda entity, now: "common" if entity.get("closed") else None,
        Setting(KIND, "fixed", "/fixed", lock="always"),
        Setting(KIND, "name", "/name"),
        Setting(KIND, "bid", "/bid", lock=lambda entity, now: "own" if entity.get("automatic") else None),
    )

    def list_reasons(entity: NativeEntity) -> list[str | None]:
        return [find_lock_reason(META, setting, entity, None) for setting in settings]

    assert list_reasons({"closed": True, "automatic": True}) == ["always", "common", "common"]
    assert list_reasons({"automatic": True}) == ["always", None, "own"]
    assert list_reasons({}) == ["always", None, None]


@pytest.mark.parametrize("status", ["ARCHIVED", "DELETED"])
def test_a_status_in_which_the_network_refuses_edits_locks_every_setting(status: str) -> None:
    for setting in list_settings(META, KIND):
        own = find_lock_reason(META, setting, {"status": "PAUSED"}, None)
        expected = own or f"it is {unify_status(get_level(META, KIND), status)}"
        assert find_lock_reason(META, setting, {"status": status}, None) == expected
