"""The Python client: ``Ads``, and ``AsyncAds`` with the same methods awaited.

Both call the endpoints of the API, either on a local store (``sqlite:///ads.db``, ``postgresql://...``) or at a server
(``https://...`` with a token)::

    with Ads("sqlite:///ads.db") as ads:
        account = ads.accounts("meta")[0]
        operation = ads.create(account, brief)            # prepared: nothing written yet
        receipt = ads.execute(operation, confirmed=True)
"""

from __future__ import annotations

from .asynchronous import AsyncAds
from .records import Account, Connection, Operation
from .synchronous import Ads

__all__ = ["Account", "Ads", "AsyncAds", "Connection", "Operation"]
