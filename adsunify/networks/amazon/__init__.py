"""Amazon Ads: Sponsored Products campaigns that advertise a listing by keywords."""

from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, settings, tables

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    authorization=reads,
)
