"""TikTok: API for Business v1.3, one video ad at a time, in the manual and the Upgraded Smart+ flow."""

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
