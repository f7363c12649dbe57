"""Meta (Facebook, Instagram): Marketing API v26.0."""

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
    authorization=reads,
)
