"""Pages of daily figures: of all accounts, of one account, and of its campaigns, ad groups and ads."""

from __future__ import annotations

from adsunify_server.pages.request import PageRouter

from .account import show_account
from .overview import show_overview


def add_pages(router: PageRouter) -> None:
    """Add ``/insights`` and ``/accounts/<id>/insights``."""
    router.add_get("/insights", show_overview)
    router.add_get("/accounts/{accountId}/insights", show_account)
