"""Settings: which of them a bulk edit changes."""

from __future__ import annotations

from attrs import evolve

from adsunify.adapter.settings import list_bulk_fields, list_settings
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Kind

META = get_adapter("meta").network
KIND: Kind = "adGroup"


def test_a_field_may_be_editable_but_not_in_bulk() -> None:
    settings = tuple(evolve(one, is_bulk_editable=one.field != "budget") for one in META.settings)
    network = evolve(META, settings=settings)
    assert "budget" in list_bulk_fields(META, KIND) and "budget" not in list_bulk_fields(network, KIND)
    assert set(list_bulk_fields(network, KIND)) == set(list_bulk_fields(META, KIND)) - {"budget"}
    assert [one.field for one in list_settings(network, KIND)] == [one.field for one in list_settings(META, KIND)]
