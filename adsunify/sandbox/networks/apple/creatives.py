"""Creatives: those of the ad account, and whatever id is well-formed and not known here."""

import uuid
from typing import Any

from adsunify.sandbox.framework import Account, Entity, World
from adsunify.sandbox.networks.apple.answers import written
from adsunify.sandbox.networks.apple.tables import CUSTOM_PAGE, DEMO_APP


def creative(world: World, account: Account, native_id: int) -> dict[str, Any] | None:
    """A creative by its id. One that is not of here exists all the same and promotes the demo app (chosen)."""
    known = world.find("creative", str(native_id))
    if known is not None and (known.account == account.id or "_seeded" not in known.data):
        return shown(known) if known.account == account.id else None
    return {
        "id": native_id,
        "adAccountId": int(account.id),
        "name": "Creative from elsewhere",
        "creativeType": CUSTOM_PAGE,
        "creativeSpec": {},
        "destination": destination(DEMO_APP, str(native_id)),
        "systemStatus": "VALID",
        "deleted": False,
        "creationTime": "2026-08-03T10:00:00.000",
        "modificationTime": "2026-08-03T10:00:00.000",
    }


def destination(app: str, name: str) -> dict[str, Any]:
    """Where a tap leads: a product page of an app."""
    page = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{app}/{name}"))
    return {"destinationType": "APP_STORE_PRODUCT_PAGE", "parameters": {"adamId": app, "productPageId": page}}


def shown(entity: Entity) -> dict[str, Any]:
    """A known creative as it is answered."""
    return {
        "id": int(entity.id),
        "adAccountId": int(entity.account),
        **{name: value for name, value in entity.data.items() if not name.startswith("_")},
        "deleted": "_deleted" in entity.data,
        "creationTime": written(entity.created_at),
        "modificationTime": written(entity.updated_at),
    }
