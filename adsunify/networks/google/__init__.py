"""Google Ads: responsive search ads with keywords."""

from adsunify.adapter.oauth import AuthorizationCodeLogin
from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, settings, tables, targeting

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    native_targeting=targeting,
    authorization=AuthorizationCodeLogin(tables.NETWORK, native.LOGIN),
)
