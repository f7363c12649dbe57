"""The Python client: ``Ads``, and ``AsyncAds`` with the same methods awaited.

Both call the endpoints of the API, either on a local store (``sqlite:///ads.db``, ``postgresql://...``) or at a server
(``https://...`` with a token)::

    with Ads("sqlite:///ads.db") as client:
        account = client.accounts.list(network="meta").first()
        operation = client.campaigns.create(account, brief)               # prepared: nothing is written yet
        operation = client.operations.run(operation, confirmed=True)
        print(operation.created.campaign_id)
"""

from __future__ import annotations

from .asynchronous import AsyncAds
from .pages import AsyncPages, Pages
from .reports import AsyncReport, Report
from .synchronous import Ads

__all__ = ["Ads", "AsyncAds", "AsyncPages", "AsyncReport", "Pages", "Report"]
