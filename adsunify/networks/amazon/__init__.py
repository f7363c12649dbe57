"""Amazon Ads: Sponsored Products campaigns that advertise a listing by keywords."""

from adsunify.adapter.oauth import AuthorizationCodeLogin
from adsunify.adapter.protocols import Adapter

from . import native, plans, reads, reports, settings, tables

ADAPTER = Adapter(
    native,
    settings,
    tables,
    reads,
    plans,
    reports,
    authorization=AuthorizationCodeLogin(tables.NETWORK, native.LOGIN),
)
