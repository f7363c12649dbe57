"""X Ads: promoted posts for website clicks."""

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
    request_tokens=reads,
)
