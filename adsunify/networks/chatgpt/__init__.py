"""OpenAI Advertiser API: ads in ChatGPT."""

from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, settings, tables, targeting

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    native_targeting=targeting,
    editable_targeting=targeting,
    credentials=reads,
)
