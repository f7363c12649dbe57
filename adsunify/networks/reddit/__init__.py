"""Reddit: campaigns, ad groups and ads over existing posts, through the Reddit Ads API v3."""

from adsunify.adapter.oauth import AuthorizationCodeLogin
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
    authorization=AuthorizationCodeLogin(tables.NETWORK, native.LOGIN),
)
