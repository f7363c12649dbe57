"""Outbrain: budgets, campaigns and promoted links over the Amplify API."""

from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, reports, settings, tables, targeting

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    reports,
    native_targeting=targeting,
    editable_targeting=targeting,
    credentials=reads,
)
