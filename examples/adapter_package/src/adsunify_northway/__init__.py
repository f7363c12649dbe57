"""Northway Ads: campaigns, ad sets and image ads, through the Northway Ads API v3."""

from adsunify.adapter.oauth import AuthorizationCodeLogin
from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, settings, tables, targeting

API_VERSION = 1
"""The version of adsunify's adapter API for which this adapter is written."""

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    native_targeting=targeting,
    editable_targeting=targeting,
    authorization=AuthorizationCodeLogin(tables.NETWORK, native.LOGIN),
)
"""mypy compares the modules with the Protocols in this call."""
