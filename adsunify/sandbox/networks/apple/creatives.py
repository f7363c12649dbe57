"""The creatives of the ad account. Any other well-formed id is a creative made elsewhere."""

import uuid
from typing import Any

from adsunify.sandbox.networks.apple.answers import INSTANT
from adsunify.sandbox.networks.apple.tables import CUSTOM_PRODUCT_PAGE, DEMO_APP
from adsunify.sandbox.world import Account, StoredEntity, World


def find_creative(world: World, account: Account, native_id: int) -> dict[str, Any] | None:
    """A creative by its id.

    An unknown id is a creative that was made elsewhere; it promotes the demo app (our choice).
    """
    entity = world.find("creative", str(native_id))
    if entity is not None and (entity.account == account.id or "_seeded" not in entity.data):
        return render_creative(entity) if entity.account == account.id else None
    return {
        "id": native_id,
        "adAccountId": int(account.id),
        "name": "Creative from elsewhere",
        "creativeType": CUSTOM_PRODUCT_PAGE,
        "creativeSpec": {},
        "destination": make_destination(DEMO_APP, str(native_id)),
        "systemStatus": "VALID",
        "deleted": False,
        "creationTime": "2026-08-03T10:00:00.000",
        "modificationTime": "2026-08-03T10:00:00.000",
    }


def make_destination(app: str, name: str) -> dict[str, Any]:
    """The destination of a tap: a product page of an app."""
    page = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{app}/{name}"))
    return {"destinationType": "APP_STORE_PRODUCT_PAGE", "parameters": {"adamId": app, "productPageId": page}}


def render_creative(entity: StoredEntity) -> dict[str, Any]:
    """A known creative in a response."""
    return {
        "id": int(entity.id),
        "adAccountId": int(entity.account),
        **{name: value for name, value in entity.data.items() if not name.startswith("_")},
        "deleted": "_deleted" in entity.data,
        "creationTime": INSTANT.format(entity.created_at),
        "modificationTime": INSTANT.format(entity.updated_at),
    }
