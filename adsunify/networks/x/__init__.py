"""X Ads: promoted posts for website clicks."""

from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, settings, tables, targeting

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    native_targeting=targeting,
    request_tokens=reads,
)
