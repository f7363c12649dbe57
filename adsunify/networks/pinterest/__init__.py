"""Pinterest: image pins and existing pins."""

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
